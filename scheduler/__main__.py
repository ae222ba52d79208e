"""``python -m scheduler``: the command ``wharfinger``."""

import sys

from scheduler.app.main import main

sys.exit(main())
