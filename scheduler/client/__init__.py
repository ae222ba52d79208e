"""Everything that talks to the Kubernetes API server.

The official ``kubernetes`` package says *where* the server is and *who* we are (:mod:`.access`); its models, its watch
and its leader election cost milliseconds per object or lack what a scheduler needs, so bytes are ours from there on::

    access ── rest ─┬─ reflector ── informers    what the cluster looks like, kept current
                    ├─ leases ── leaderelection  who may schedule
                    ├─ series ── events          what happened, told to users
                    └─ actions                   bind, patch a status, delete

Pure halves (``reflector``, ``leaderelection.Election``, ``series``) decide; the halves with threads and sockets only
carry out. Nothing here knows about scheduling.
"""
