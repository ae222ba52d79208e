"""``python -m scheduler``: the command ``wharfinger``."""

import sys

from scheduler.app.server import main

sys.exit(main())
