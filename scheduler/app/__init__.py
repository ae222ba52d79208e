"""The program: Options -> Config -> Run.

* ``main``: a sub-command of ``cli``, or ``server``: the scheduler, from its arguments to its exit code
* ``flags``: the command line; ``options``, ``checks``, ``compatibility``: what it means, and what is wrong with it
* ``config``, ``build``, ``setup``: ready things, then the parts tied together; ``process`` runs them
* ``logs``: log lines; ``decisions``: ``GET /decisions``
"""
