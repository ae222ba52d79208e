"""What handlers are told when the copy changes."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.objects.meta import Namespace, ObjectMeta
from scheduler.client.store import Handler, Store


class Journal:
    """A handler that writes down what it is told."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def on_add(self, obj: Namespace, initial: bool) -> None:
        self.entries.append(f"add {_text(obj)}{' initially' if initial else ''}")

    def on_update(self, old: Namespace, new: Namespace) -> None:
        self.entries.append(f"update {_text(old)} to {_text(new)}")

    def on_delete(self, obj: Namespace) -> None:
        self.entries.append(f"delete {_text(obj)}")


def _text(obj: Namespace) -> str:
    return f"{obj.metadata.name}@{obj.metadata.resource_version}"


def objects(*texts: str) -> dict[str, Namespace]:
    """``name@version`` texts as a list would give them."""
    pairs = (text.split("@") for text in texts)
    return {n: Namespace(metadata=ObjectMeta(name=n, resource_version=v)) for n, v in pairs}


def one(text: str) -> Namespace:
    return objects(text)[text.split("@", maxsplit=1)[0]]


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def store(journal: Journal) -> Store[Namespace]:
    def notify(tell: Callable[[Handler[Namespace]], None]) -> None:
        tell(journal)

    return Store(notify)


def test_the_first_list_is_told_as_initial_adds(store: Store[Namespace], journal: Journal) -> None:
    store.replace(objects("a@1", "b@2"), initial=True)
    assert journal.entries == ["add a@1 initially", "add b@2 initially"]


def test_a_relist_is_told_as_its_difference(store: Store[Namespace], journal: Journal) -> None:
    store.replace(objects("same@1", "changed@2", "gone@3"), initial=True)
    journal.entries.clear()
    store.replace(objects("same@1", "changed@5", "new@6"), initial=False)
    assert journal.entries == ["delete gone@3", "update changed@2 to changed@5", "add new@6"]
    assert sorted(obj.metadata.name for obj in store) == ["changed", "new", "same"]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        pytest.param("a@1", [], id="seen before"),
        pytest.param("a@2", ["update a@1 to a@2"], id="newer"),
        pytest.param("b@2", ["add b@2"], id="unknown"),
    ],
)
def test_put(store: Store[Namespace], journal: Journal, event: str, told: list[str]) -> None:
    store.put(one("a@1"))
    journal.entries.clear()
    store.put(one(event))
    assert journal.entries == told


def test_remove_tells_the_final_state(store: Store[Namespace], journal: Journal) -> None:
    store.put(one("a@1"))
    store.remove("a", one("a@9"))
    store.remove("a")
    assert journal.entries == ["add a@1", "delete a@9"]
    assert len(store) == 0
    assert store.get("a") is None


class Mirror:
    """A handler that rebuilds the cluster from what it is told, and insists on a possible history."""

    def __init__(self) -> None:
        self.state: dict[str, Namespace] = {}

    def on_add(self, obj: Namespace, initial: bool) -> None:
        assert obj.metadata.name not in self.state
        self.state[obj.metadata.name] = obj

    def on_update(self, old: Namespace, new: Namespace) -> None:
        assert self.state[new.metadata.name] is old
        assert old.metadata.resource_version != new.metadata.resource_version
        self.state[new.metadata.name] = new

    def on_delete(self, obj: Namespace) -> None:
        del self.state[obj.metadata.name]


snapshots = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4))
steps = st.lists(st.one_of(snapshots, st.tuples(st.sampled_from("abcdef"), st.integers(0, 4))), max_size=12)


@given(steps)
def test_handlers_can_rebuild_the_store_from_any_mix_of_lists_and_events(
    steps: list[dict[str, int] | tuple[str, int]],
) -> None:
    mirror = Mirror()
    store: Store[Namespace] = Store(lambda tell: tell(mirror))
    for step in steps:
        if isinstance(step, dict):
            store.replace(objects(*(f"{name}@{version}" for name, version in step.items())), initial=False)
            assert {obj.metadata.name: int(obj.metadata.resource_version) for obj in store} == step
        elif step[1] == 0:
            store.remove(step[0])
        else:
            store.put(one(f"{step[0]}@{step[1]}"))
        assert {obj.metadata.name: obj for obj in store} == mirror.state
