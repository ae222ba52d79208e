"""ObjectReference: how an event or a message points at an object."""

import msgspec


class ObjectReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A pointer to one object, as in ``v1.ObjectReference``; hashable."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""
