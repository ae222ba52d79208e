"""Logging as Kubernetes components do it: klog's text or JSON, verbosity by ``-v`` and ``--vmodule``, changed while the process runs.

* ``formats``: a record as text, or as JSON
* ``verbosity``: which records are written
* ``buffers``: lines that may wait (``--log-…-info-buffer-size``, ``--log-flush-frequency``)
* ``setup``: all of it from flags, and what can be wrong with these

Libraries stay at WARNING whatever is asked for: some of them would log bodies and credentials.
"""

from scheduler.app.logs.formats import FORMATS, JSONFormatter, TextFormatter
from scheduler.app.logs.setup import set_level, setup, validate
from scheduler.app.logs.verbosity import Verbosity

__all__ = ["FORMATS", "JSONFormatter", "TextFormatter", "Verbosity", "set_level", "setup", "validate"]
