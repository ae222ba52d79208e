"""The serving port: health, metrics, configuration and whatever is mounted on it, over HTTPS in threads of this process.

* ``http``: the seam, `Server`; behind it ``worker`` and ``connection``, gunicorn's threaded worker run in-process
* ``app``: the Flask application; ``limits`` bounds bodies below it
* ``access``: who may ask what: ``authentication``, ``authorization``; ``refusals``: 401, 403
* ``health``: named checks; ``tls`` and ``ciphers``: certificates and what connections negotiate

docs/design/serving.md tells why it is built so.
"""
