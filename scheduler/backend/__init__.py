"""What the scheduler remembers between decisions.

* ``cluster``: the state of the cluster, assumed pods included
* ``nominator``: pods that wait for a node to become free
* ``queue``: pods that wait for a decision, with its parts ``queued``, ``sorting``, ``heap``, ``gates``, ``backoff``, ``unschedulable``,
  ``inflight``, ``hints``
* ``consistency``: whether the cluster's table says what its pods add up to
* ``changes``: which cluster events an update of a pod or node amounts to
* ``inbox``: how other threads hand over what they have seen or done

All but the inbox are plain data structures of one owner: whoever holds the scheduler's lock. They have no locks, no threads
and no clock of their own.
"""
