"""PER_POD: the log level of what is said of every pod.

klog's V(2), between Python's INFO and DEBUG: a cluster that places hundreds of pods a second does not want a line for each unless
somebody asks for it (``-v=2``), as in kube-scheduler.
"""

import logging
from typing import Final

PER_POD: Final = (logging.DEBUG + logging.INFO) // 2
