"""``wharfinger explain``: would the pod fit, where, and why.

* ``command``: arguments and exit codes
* ``subject``: the pod that is asked about
* ``bulk``: files of scenarios
* ``report``, ``nodes``: the answer for people
"""
