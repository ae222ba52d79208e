"""The registry: name -> factory, for the plugins in this package and those of other packages.

In-tree plugins are a literal table (``scheduler.plugins.IN_TREE``). Others are found in two ways, and a name that is taken
twice is an error in both:

* the entry point group ``wharfinger.plugins`` of any installed package: ``my-plugin = "my_package:MyPlugin"``
* ``--plugin module:Class`` on the command line

The name that configuration uses is the class's ``name`` when it has one, otherwise the entry point's or the class's own. A class of
another package that has no constructor is built without arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import update_wrapper
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import Any

from scheduler.framework.interface import PluginFactory

ENTRY_POINT_GROUP = "wharfinger.plugins"


class PluginLoadError(ValueError):
    """A plugin of another package cannot be loaded; the text says which and why."""


class Registry:
    """Factories by plugin name.

    Args:
        factories: the plugins to begin with.
        planned: plugins of kube-scheduler that do not exist here yet. A profile that enables one is built without it, so
            that a configuration written for kube-scheduler loads; whoever builds the profile says so. A plugin of another
            package may take such a name.
    """

    def __init__(
        self, factories: Mapping[str, PluginFactory] | None = None, planned: Collection[str] = ()
    ) -> None:
        self._factories: dict[str, PluginFactory] = dict(factories or {})
        self._planned = frozenset(planned)

    @property
    def planned(self) -> frozenset[str]:
        """The planned plugins that nobody has registered."""
        return self._planned - self._factories.keys()

    def get(self, name: str) -> PluginFactory | None:
        """The factory of that name, None when there is none."""
        return self._factories.get(name)

    def names(self) -> list[str]:
        """All names, in order of registration."""
        return list(self._factories)

    def register(self, name: str, factory: PluginFactory) -> None:
        """Add a factory.

        Raises:
            PluginLoadError: the name is taken.
        """
        if name in self._factories:
            raise PluginLoadError(f"a plugin named {name!r} is registered already")
        self._factories[name] = factory

    def load(self, specification: str) -> str:
        """Import ``module:Class`` and register it; its name is returned.

        Raises:
            PluginLoadError: the specification is malformed, or the import fails, or the name is taken.
        """
        module, separator, attribute = specification.partition(":")
        if not (module and separator and attribute):
            raise PluginLoadError(f"{specification!r} is not of the form module:Class")
        factory = _imported(f"plugin {specification!r}", lambda: getattr(import_module(module), attribute))
        return self._adopt(factory, attribute, specification)

    def adopt(self, factory: PluginFactory) -> str:
        """Register a plugin's class, or a function that makes one, under its own name, which is returned.

        Raises:
            PluginLoadError: it is neither, or the name is taken.
        """
        fallback = getattr(factory, "__name__", "")
        return self._adopt(factory, fallback, fallback or repr(factory))

    def load_entry_points(self, found: Iterable[EntryPoint] | None = None) -> list[str]:
        """Register the plugins that installed packages offer; their names are returned.

        Args:
            found: these entry points instead of those that are installed.

        Raises:
            PluginLoadError: one cannot be imported, or a name is taken.
        """
        points = entry_points(group=ENTRY_POINT_GROUP) if found is None else found
        return [self._load_entry_point(point) for point in points]

    def _load_entry_point(self, point: EntryPoint) -> str:
        factory = _imported(f"plugin {point.name!r} of entry point {point.value!r}", point.load)
        return self._adopt(factory, point.name, point.value)

    def _adopt(self, factory: PluginFactory, fallback: str, source: str) -> str:
        if not callable(factory):
            raise PluginLoadError(f"plugin {source!r} is not a class or factory")
        name = getattr(factory, "name", fallback)
        chosen = name if isinstance(name, str) else fallback
        self.register(chosen, _without_arguments(factory) if _takes_nothing(factory) else factory)
        return chosen


def _imported(what: str, imported: Callable[[], Any]) -> Any:
    """What an import yields; whatever it raises becomes a PluginLoadError."""
    try:
        return imported()
    except (ImportError, AttributeError) as error:
        raise PluginLoadError(f"{what}: {error}") from error
    except Exception as error:  # a foreign module may raise anything while it is imported
        raise PluginLoadError(f"{what}: {type(error).__name__}: {error}") from error


def _takes_nothing(factory: PluginFactory) -> bool:
    try:
        return not signature(factory).parameters
    except (TypeError, ValueError):  # some callables do not tell
        return False


def _without_arguments(build: Callable[..., Any]) -> PluginFactory:
    """A factory that stays traceable to the class (``inspect.unwrap``): its points are read off it before it is built."""

    def factory(_args: object, _handle: object) -> Any:
        return build()

    return update_wrapper(factory, build, updated=())
