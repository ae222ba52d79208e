"""``wharfinger demo``, which ``make run`` runs: a whole cluster's worth of scheduling on one machine.

The demo is an onlooker. It starts two processes as anybody would, through their command lines, and then learns everything over HTTP::

    demo ──starts──> sandbox     an API server with the sample cluster in memory
      │                 ^
      │                 │ list, watch, bind, events
      ├──starts──> scheduler     the real process, with a kubeconfig
      │
      ├── watches the sandbox's pods          (ledger)    and shows them        (live)
      ├── asks the scheduler for /decisions   (decisions) and tells the outcome (summary, paste)
      └── compares with what was expected     (verdict)   which is the exit code of --once

* ``command``: the arguments, the signals, the exit code
* ``settings``: places, ports, command lines
* ``stage``: the two processes; ``children``: a process with a log file and a clean end; ``directory``: one demo at a time
* ``onlooker``: the order of everything that is shown
"""
