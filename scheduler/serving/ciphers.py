"""Go's names for TLS versions, cipher suites and key exchange groups, and what OpenSSL calls them.

The suites are those that Go's ``crypto/tls`` has and OpenSSL still has; RC4 and 3DES are gone there. TLS 1.3's are always on, in Go as here.
"""

from collections.abc import Sequence

from OpenSSL import SSL

VERSIONS = {
    "": SSL.TLS1_2_VERSION,
    "VersionTLS10": SSL.TLS1_VERSION,
    "VersionTLS11": SSL.TLS1_1_VERSION,
    "VersionTLS12": SSL.TLS1_2_VERSION,
    "VersionTLS13": SSL.TLS1_3_VERSION,
}
"""``--tls-min-version``; nothing means TLS 1.2."""

PREFERRED = {
    "TLS_AES_128_GCM_SHA256": "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384": "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256": "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
}
"""Suites that Go calls secure, in its order of preference; those for TLS up to 1.2 are what is on when no flag says otherwise."""

INSECURE = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
}
"""Suites that Go has and warns of."""

OPENSSL_NAMES = PREFERRED | INSECURE
"""``--tls-cipher-suites``."""

GROUPS = {
    23: "P-256",
    24: "P-384",
    25: "P-521",
    29: "X25519",
    4587: "SecP256r1MLKEM768",
    4588: "X25519MLKEM768",
    4589: "SecP384r1MLKEM1024",
}
"""``--tls-curve-preferences``, by Go's ``CurveID``."""

_OLD_NEEDS = "@SECLEVEL=0"
"""OpenSSL speaks TLS 1.0 and 1.1 on its lowest security level only."""


def cipher_list(suites: Sequence[str], min_version: int) -> str:
    """OpenSSL's list for TLS up to 1.2; empty when the suites allow none of these versions."""
    legacy = [OPENSSL_NAMES[name] for name in suites or PREFERRED]
    chosen = [name for name in dict.fromkeys(legacy) if not name.startswith("TLS_")]
    if chosen and min_version < SSL.TLS1_2_VERSION:
        chosen.append(_OLD_NEEDS)
    return ":".join(chosen)
