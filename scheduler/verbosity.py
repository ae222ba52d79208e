"""V2: klog's V(2) as a level of Python's logging, between INFO and DEBUG.

For what is said again and again: of every pod, of every health check that fails. A cluster that places hundreds of pods a second does
not want a line for each unless somebody asks for it (``-v=2``), as in kube-scheduler.
"""

import logging
from typing import Final

V2: Final = (logging.DEBUG + logging.INFO) // 2
