"""What a profile is made of, and how it decides; nothing here knows a plugin, a queue or an API server.

* ``interface``, ``status``, ``events``, ``rejections``: the contracts of plugins
* ``nodes``, ``node_table`` over ``columns``, ``facts`` and ``interning``: the table; ``node_info``: one row of it
* ``pods``, ``resources``, ``resource_names``, ``integers``: what a pod asks for, in exact units
* ``registry``, ``profile``, ``per_node``: from names in a configuration to plugins
* ``runtime`` (the points that decide) over ``lifecycle`` (those that act) over ``runner`` (one call)
* ``algorithm``: an attempt; ``cycle`` is its notebook, ``outcome`` what came of it; ``waiting``: pods that Permit holds
"""
