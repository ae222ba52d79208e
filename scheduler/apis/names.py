"""What Kubernetes accepts as a label key, a label value, a DNS name.

Each check returns the list of what is wrong (empty when nothing is), in the words of apimachinery `api/validate/content`
and `util/validation`, so that a refused selector or configuration reads like the API server's own refusal.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LABEL_FMT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_DNS_LABEL_FMT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN_FMT: Final = _DNS_LABEL_FMT + r"(\." + _DNS_LABEL_FMT + ")*"
_LABEL_RE = re.compile(_LABEL_FMT)
_DNS_LABEL_RE = re.compile(_DNS_LABEL_FMT)
_DNS_SUBDOMAIN_RE = re.compile(_DNS_SUBDOMAIN_FMT)

_MAX_LABEL: Final = 63
_MAX_SUBDOMAIN: Final = 253

_LABEL_KEY_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    f" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_LABEL_FMT}')"
)
_LABEL_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character"
    f" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_LABEL_FMT})?')"
)
_DNS_LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    f" an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL_FMT}')"
)
_DNS_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    f" end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_DNS_SUBDOMAIN_FMT}')"
)


@lru_cache(maxsize=16384)
def label_key_faults(key: str) -> tuple[str, ...]:
    """What is wrong with `key` as a label key (a "qualified name"): `[dns-subdomain/]name`."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return (
            f"a valid label key {_LABEL_KEY_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    faults = []
    if slash:
        reasons = dns_subdomain_faults(prefix) if prefix else ("must be non-empty",)
        faults += [f"prefix part {reason}" for reason in reasons]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > _MAX_LABEL:
        faults.append(f"name part must be no more than {_MAX_LABEL} bytes")
    if not _LABEL_RE.fullmatch(name):
        faults.append(f"name part {_LABEL_KEY_RULE}")
    return tuple(faults)


@lru_cache(maxsize=16384)
def label_value_faults(value: str) -> tuple[str, ...]:
    """What is wrong with `value` as a label value."""
    faults = []
    if len(value.encode()) > _MAX_LABEL:
        faults.append(f"must be no more than {_MAX_LABEL} bytes")
    if value and not _LABEL_RE.fullmatch(value):
        faults.append(_LABEL_VALUE_RULE)
    return tuple(faults)


def dns_label_faults(value: str) -> tuple[str, ...]:
    """What is wrong with `value` as a DNS label (RFC 1123), e.g. a namespace."""
    faults = []
    if len(value.encode()) > _MAX_LABEL:
        faults.append(f"must be no more than {_MAX_LABEL} bytes")
    if not _DNS_LABEL_RE.fullmatch(value):
        faults.append("must not contain dots" if _DNS_SUBDOMAIN_RE.fullmatch(value) else _DNS_LABEL_RULE)
    return tuple(faults)


def dns_subdomain_faults(value: str) -> tuple[str, ...]:
    """What is wrong with `value` as a DNS subdomain (RFC 1123), e.g. an object's name."""
    faults = []
    if len(value.encode()) > _MAX_SUBDOMAIN:
        faults.append(f"must be no more than {_MAX_SUBDOMAIN} bytes")
    if not _DNS_SUBDOMAIN_RE.fullmatch(value):
        faults.append(_DNS_SUBDOMAIN_RULE)
    return tuple(faults)
