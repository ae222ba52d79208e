"""Reload: another configuration comes into force while the program runs, between two scheduling cycles.

::

    SIGHUP ────────────────┐                    bad: one line per fault, counted; the old configuration stays
    the file is another ───┴─> load ── validate ──┤
    (--reload)                 as at start        good ─> build profiles ─> watch and sync new kinds ─> exchange under the lock
                                                                            │ not in time: as bad, tried again

* ``watching``: notices that the file is another
* ``fixed``: what cannot change while the process runs
* ``exchange``: builds what a configuration asks for, and has the scheduler go on with it
* ``reloader``: the thread that does all that, one reload at a time

docs/design/reload.md tells what becomes of pods, plugins and watches, and why.
"""
