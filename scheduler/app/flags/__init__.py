"""The command line, in kube-scheduler's spelling.

argparse cannot read it: a bare boolean would swallow the next word, ``--secure_port`` means ``--secure-port``, lists replace their default
first and grow afterwards, booleans and numbers are Go's. So the flags are one declarative table, read by a small parser.

* ``values``: the types of values and their grammar
* ``table``: `flag`, which declares a flag as a field of a section, and the sections' common base
* ``sections``: every flag
* ``parser``: arguments -> values, and every error
* ``usage``: ``--help``
"""

from scheduler.app.flags.parser import Parsed, parse
from scheduler.app.flags.sections import SECTIONS
from scheduler.app.flags.table import Flag
from scheduler.app.flags.usage import help_text, usage_line

__all__ = ["SECTIONS", "Flag", "Parsed", "help_text", "parse", "usage_line"]
