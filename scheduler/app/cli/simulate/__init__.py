"""``wharfinger simulate``: where would all of these pods go, and how many more would fit?

* ``command``: arguments and exit codes
* ``stage``: the scheduler itself, with nobody outside
* ``memory``: the API server that it sees: a few dictionaries
* ``storage``: what volume controllers would do about claims
* ``copies``: many pods out of one
* ``usage``: how full the nodes are
* ``report``: the result for people
"""
