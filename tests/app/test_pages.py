"""What the process tells about itself holds no secret."""

import json

import pytest
import yaml

from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.apis.config.types import Extender, ExtenderTLSConfig
from scheduler.app.pages import configz, shown_configuration

SECRET = KubeSchedulerConfiguration(
    extenders=(
        Extender(
            url_prefix="https://me:pa55word@extender.example/v1",
            weight=1,
            tls_config=ExtenderTLSConfig(key_data=b"pa55word", server_name="extender.example"),
        ),
    )
)


@pytest.mark.parametrize("shown", [configz, shown_configuration], ids=["/configz", "the log"])
def test_a_configuration_is_shown_without_keys_and_passwords(shown: object) -> None:
    assert callable(shown)
    text = str(shown(SECRET))
    assert "pa55word" not in text
    assert "cGE1NXdvcmQ" not in text
    assert "https://REDACTED@extender.example/v1" in text


def test_all_else_of_an_extender_is_shown() -> None:
    (in_json,) = json.loads(configz(SECRET))["componentconfig"]["extenders"]
    (in_yaml,) = yaml.safe_load(shown_configuration(SECRET))["extenders"]
    assert in_json == in_yaml
    assert in_json["tlsConfig"]["serverName"] == "extender.example"
    assert in_json["tlsConfig"]["keyData"] == "REDACTED"
