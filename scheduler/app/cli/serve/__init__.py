"""``wharfinger serve``: the extender's verbs over manifests, for integration tests in any language.

* ``command``: arguments, signals, exit codes
* ``address``: where to listen: on this machine only; ``signals``: how the main thread waits to be told something
"""

from scheduler.app.cli.serve.command import main

__all__ = ["main"]
