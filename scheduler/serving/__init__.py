"""The serving port: health, metrics, configuration and whatever is mounted on it, over HTTPS in threads of this process.

* ``http``: the seam, `Server`; behind it ``worker`` and ``connection``, gunicorn's threaded worker run in-process
* ``app``: the Flask application; ``limits`` bounds bodies below it, ``access`` decides who may ask what
* ``health``: named checks; ``tls`` and ``ciphers``: the serving certificate and what connections negotiate

docs/design/serving.md tells why it is built so.
"""
