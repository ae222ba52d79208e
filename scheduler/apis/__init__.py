"""What Kubernetes calls API machinery: the objects, and the small languages in their fields.

* ``objects``: typed, partial, decoded straight from JSON; ``config``: KubeSchedulerConfiguration v1
* ``quantity``, ``duration``, ``names``: exact readings of texts
* ``selectors``, ``node_selectors``, ``selector_text``, ``requirements``: which objects are meant
* ``fielderror``: one wrong field, in Kubernetes' words

Values and functions on them. Only ``config`` reads files, those that a configuration names.
"""
