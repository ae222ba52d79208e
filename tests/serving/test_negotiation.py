"""Which representation of a z-page an Accept header gets."""

import pytest

from scheduler.serving.negotiation import JSON, PLAIN, YAML, negotiate

NEW = "v=v1beta1;g=config.k8s.io;as=Statusz"
OLD = "v=v1alpha1;g=config.k8s.io;as=Statusz"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", (PLAIN, "")),
        ("*/*", (PLAIN, "")),
        ("*", (PLAIN, "")),
        ("text/*", (PLAIN, "")),
        ("text/plain;charset=utf-8", (PLAIN, "")),
        ("text/html, application/xhtml+xml, */*;q=0.8", (PLAIN, "")),
        (f"application/json;{NEW}", (JSON, "v1beta1")),
        (f"application/json;{OLD}", (JSON, "v1alpha1")),
        (f"application/yaml;{NEW}", (YAML, "v1beta1")),
        (f"application/*;{NEW}", (JSON, "v1beta1")),
        (f"application/json;{OLD};q=0.5, application/json;{NEW}", (JSON, "v1beta1")),
        (f"application/json;{OLD}, application/json;{NEW}", (JSON, "v1alpha1")),
        (f"text/plain;q=0.1, application/yaml ; {NEW}", (YAML, "v1beta1")),
        ("application/json", None),
        ("application/*", None),
        (f"text/plain;{NEW}", None),
        ("application/json;v=v1;g=config.k8s.io;as=Statusz", None),
        ("application/json;v=v1beta1;g=config.k8s.io", None),
        ("application/json;v=v1beta1;g=config.k8s.io;as=Flagz", None),
        ("image/png", None),
        ("nonsense", None),
        ("text/plain;q=zero", (PLAIN, "")),
    ],
)
def test_choice(accept: str, chosen: tuple[str, str] | None) -> None:
    assert negotiate(accept, "config.k8s.io", ("v1beta1", "v1alpha1"), "Statusz") == chosen
