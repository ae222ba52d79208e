"""Between bytes and requests: HTTP, media types, bodies in JSON, YAML and protobuf, paths, replies."""
