"""The loop: what becomes of a pod, from the queue to its node or back.

* ``scheduler``: the parts, wired, and the loop; ``turns``: its fair lock; ``world``: how others decide over the same state
* ``events``, ``handlers``: what watched changes do to cluster state and queue, and how they get there
* ``cycle``, ``binding``, ``failure``: the three ways of an ``attempt``
* ``port``, ``workers``, ``status_writer``, ``conditions``: what is told to the API server, and who waits for it
* ``decisions``: the last attempt of each pod
"""
