"""Plugins of other packages: what loading them takes, and what a broken one says."""

import sys
from pathlib import Path

import pytest

from scheduler.framework.registry import PluginLoadError, Registry


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """An importable module of a name of its own, with the parametrized source."""
    name = f"foreign_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(request.param)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


BARE = "class Bare:\n    name = 'Simple'\n"
FULL = "class Full:\n    def __init__(self, args, handle):\n        self.given = (args, handle)\n"


@pytest.mark.parametrize("module", [BARE], indirect=True)
def test_a_class_without_a_constructor_is_built_without_arguments(module: str) -> None:
    registry = Registry()
    assert registry.load(f"{module}:Bare") == "Simple"
    factory = registry.get("Simple")
    assert factory is not None
    assert type(factory(None, None)).__name__ == "Bare"  # type: ignore[arg-type]


@pytest.mark.parametrize("module", [FULL], indirect=True)
def test_a_class_with_a_constructor_gets_arguments_and_handle(module: str) -> None:
    registry = Registry()
    factory = registry.get(registry.load(f"{module}:Full"))
    assert factory is not None
    assert factory("args", "handle").given == ("args", "handle")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        pytest.param("raise RuntimeError('no luck')", "RuntimeError: no luck", id="raises"),
        pytest.param("class", "SyntaxError: invalid syntax", id="is no Python"),
        pytest.param(
            "import not_to_be_found", "No module named 'not_to_be_found'", id="needs what is missing"
        ),
    ],
    indirect=["module"],
)
def test_a_module_that_cannot_be_imported_is_one_clear_error(module: str, reason: str) -> None:
    with pytest.raises(PluginLoadError) as caught:
        Registry().load(f"{module}:Any")
    assert f"plugin '{module}:Any': " in str(caught.value)
    assert reason in str(caught.value)
