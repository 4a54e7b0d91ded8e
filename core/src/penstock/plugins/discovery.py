"""Find the installed plugins and load them.

A plugin is an entry point of the group `penstock`. Each is loaded on its own, in the order of their
names, and leaves one record, whatever happens to it: one that is broken never takes another down,
and none is fatal. Name order, because distributions come in the order of `sys.path`, and names
that clash must clash in the same way on every machine. A frozen program may have a table in place of
metadata; see `penstock.freezing`.

Three switches, as arguments or as environment variables; an argument counts more:

- `PENSTOCK_BLOCK_PLUGINS=gpu,video`: load all but these;
- `PENSTOCK_PLUGINS=image,video`: load only these;
- `PENSTOCK_NO_PLUGINS=1`: load none.

Plugins are known by the name of their entry point. One that a switch keeps out is not imported.

Needs pluggy 1.7: before it, a plugin that failed validation stayed half registered and its other
hooks went on being called.
"""

from __future__ import annotations

import os
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal

import pluggy

from penstock.entry_points import canonical, ordinary_points, table_points
from penstock.errors import InvalidArgumentError, NotFoundError, PluginError, text_of, traceback_of
from penstock.frozen_children import is_frozen
from penstock.late_log import LateLogger
from penstock.near_names import near_names
from penstock.plugins import BLOCK_VARIABLE, NONE_VARIABLE, ONLY_VARIABLE, hookspecs
from penstock.plugins.plugin_components import Components, Implementation, option_data
from penstock.record import NamedTuple

if TYPE_CHECKING:
    import importlib.metadata
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from penstock.entry_points import OrdinaryPoint
    from penstock.registry import Registry

#: What pluggy takes for a hook where it has the mark.
_CALLED: Final = (FunctionType, MethodType, classmethod, staticmethod)

_logger = LateLogger("plugins")


class Discovered(NamedTuple):
    """What happened to one entry point."""

    #: The name of the entry point, by which switches and errors know the plugin.
    name: str
    #: That it belongs to, as pip knows it.
    distribution: str
    #: The version of the distribution.
    version: str
    #: That it names.
    module: str
    #: "loaded"; "failed"; "blocked", by name; "ignored", because none or only others were to be loaded.
    state: Literal["loaded", "failed", "blocked", "ignored"]
    #: Why it is not loaded, in one line; "" where it is.
    reason: str = ""
    #: The traceback of the exception that it failed with, or "".
    traceback: str = ""
    #: How many names of each kind it brings; empty where it is not loaded.
    components: Mapping[str, int] = MappingProxyType({})

    def __repr__(self) -> str:
        """Return all but the traceback, which has many lines."""
        shown = [f"{name}={value!r}" for name, value in self._asdict().items() if name != "traceback"]
        return f"Discovered({', '.join(shown)})"


class Switches(NamedTuple):
    """Which plugins to load; see the module's docstring."""

    #: Names that are not loaded.
    block: frozenset[str] = frozenset()
    #: The only names that are loaded; None for all.
    only: frozenset[str] | None = None
    #: Whether to load none at all.
    none: bool = False

    @classmethod
    def from_environment(cls) -> Switches:
        """Read the switches from environment variables.

        Raises:
            InvalidArgumentError: PENSTOCK_NO_PLUGINS is neither 1 nor 0.
        """
        only = os.environ.get(ONLY_VARIABLE)
        none = os.environ.get(NONE_VARIABLE, "")
        if none not in ("", "0", "1"):
            raise InvalidArgumentError(f"{NONE_VARIABLE}={none!r}: must be 1 (load no plugins) or 0")
        block = _split(os.environ.get(BLOCK_VARIABLE, ""))
        return cls(block, None if only is None else _split(only), none == "1")

    def verdict(self, name: str) -> tuple[Literal["blocked", "ignored"], str] | None:
        """Return state and reason where a plugin of this name is not to be loaded, else None."""
        if name in self.block:
            return "blocked", f"blocked by name, see {BLOCK_VARIABLE}"
        if self.none:
            return "ignored", f"no plugins are loaded, see {NONE_VARIABLE}"
        if self.only is not None and name not in self.only:
            return "ignored", f"only other plugins are loaded, see {ONLY_VARIABLE}"
        return None


class _Manager(pluggy.PluginManager):
    """Looks only at what can be a hook in a module; to look at all names takes a third of loading plugins."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        """Return the mark of a hook, or None."""
        if isinstance(plugin, ModuleType) and not isinstance(vars(plugin).get(name), _CALLED):
            return None
        return super().parse_hookimpl_opts(plugin, name)


class PluginHost:
    """The plugins of this process, loaded: their records, what they bring, and their hooks.

    Immutable once made, so any thread may read it. Entry points are read once, when it is made.
    """

    def __init__(
        self,
        *,
        block: Collection[str] | None = None,
        only: Collection[str] | None = None,
        none: bool | None = None,
    ) -> None:
        """Find and load the plugins.

        Args:
            block: names not to load; None for what the environment says.
            only: the only names to load; None for what the environment says.
            none: whether to load none; None for what the environment says.

        Raises:
            InvalidArgumentError: a switch is not what it must be. A plugin never makes it raise.
        """
        switches = _switches(block, only, none=none)
        self._manager = _Manager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._components: dict[str, Components] = {}
        points, broken = _with_table(*_entry_points())
        records = [*broken, *self._load_all(points, switches)]
        #: One for each entry point, by name, then distribution.
        self.records = tuple(sorted(records, key=lambda record: (record.name, record.distribution)))
        #: `run_prepared`, `run_started`, `run_ended`: implementations of these hooks. Empty tuples where no
        #: plugin has one, so that a run without them pays one truth test.
        self.run_prepared = self.implementations("penstock_run_prepared")
        self.run_started = self.implementations("penstock_run_started")
        self.run_ended = self.implementations("penstock_run_ended")
        _report(self.records, switches)

    def implementations(self, hook: str) -> tuple[Implementation, ...]:
        """Return the implementations of a hook, in the order in which pluggy calls them.

        The plugin loaded last comes first, unless one asks for its place (tryfirst, trylast).

        Raises:
            InvalidArgumentError: there is no such hook.
        """
        caller = getattr(self._manager.hook, hook, None)
        if caller is None or caller.spec is None:
            raise InvalidArgumentError(f"plugin hook {hook!r}: must be one of {', '.join(_hook_names())}")
        arguments = caller.spec.argnames
        return tuple(
            Implementation(
                found.plugin_name, found.function, tuple(arguments.index(name) for name in found.argnames)
            )
            for found in reversed(caller.get_hookimpls())
        )

    def components(self, plugin: str) -> Components:
        """Return what a loaded plugin brings.

        Raises:
            NotFoundError: no plugin of that name is loaded.
        """
        if plugin not in self._components:
            loaded = ", ".join(map(repr, self._components)) or "none"
            raise NotFoundError(f"plugin discovery has loaded no {plugin!r}; there are: {loaded}")
        return self._components[plugin]

    def fill(self, registry: Registry) -> None:
        """Put all that the plugins bring into a registry, and why some bring nothing."""
        for record in self.records:
            if record.state != "loaded":
                registry.fail(self._failure_name(record), record.reason, distribution=record.distribution)
                continue
            distribution, plugin = record.distribution, record.name
            components = self._components[record.name]
            for kind, name, target in components.by_kind():
                registry.add(kind, name, target, distribution=distribution, plugin=plugin)
            for full_name, said in components.options.items():
                data = option_data(said)
                registry.add_option(full_name, *data, distribution=distribution, plugin=plugin)

    def _failure_name(self, record: Discovered) -> str:
        """Return the plugin's name, with its distribution where another one has that name too."""
        namesakes = sum(other.name == record.name for other in self.records)
        return record.name if namesakes == 1 else f"{record.name} of {record.distribution}"

    def _load_all(self, points: Iterable[_Point], switches: Switches) -> Iterator[Discovered]:
        holders: dict[str, str] = {}
        for point in points:
            verdict = switches.verdict(point.name)
            if verdict is not None:
                yield point.record(*verdict)
            elif point.name in holders:
                yield point.record(
                    "failed",
                    f"the plugin name {point.name!r} of {point.distribution} is taken by "
                    f"{holders[point.name]}; rename the entry point of one, or uninstall one",
                )
            else:
                holders[point.name] = point.distribution
                yield self._load(point)

    def _load(self, point: _Point) -> Discovered:
        plugin: object = None
        try:
            plugin = point.entry_point.load()
            components = self._register(plugin, point.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # what a plugin raises is its record
            if plugin is not None and self._manager.get_plugin(point.name) is plugin:
                self._manager.unregister(plugin)
            return point.record("failed", _reason(error), traceback_of(error))
        self._components[point.name] = components
        return point.record("loaded")._replace(components=MappingProxyType(components.counts()))

    def _register(self, plugin: object, name: str) -> Components:
        """Register one plugin and return its components. If this raises, it may be left registered."""
        if self._manager.is_registered(plugin):
            other = self._manager.get_name(plugin)
            raise PluginError(
                f"the plugin's module is loaded already, as plugin {other!r}; give each plugin its own"
            )
        self._manager.register(plugin, name=name)
        for caller in self._manager.get_hookcallers(plugin) or ():
            for found in caller.get_hookimpls():
                if found.plugin is plugin:
                    _check_hook(caller, found)
        return self._components_of(plugin)

    def _components_of(self, plugin: object) -> Components:
        for found in self._manager.hook.penstock_components.get_hookimpls():
            if found.plugin is plugin:
                components = found.function()
                if not isinstance(components, Components):
                    kind = type(components).__name__
                    raise PluginError(f"discovery: penstock_components returned {kind}, not Components")
                return components
        return Components()


class _Point(NamedTuple):
    """One entry point and its distribution."""

    name: str
    distribution: str
    version: str
    entry_point: importlib.metadata.EntryPoint | OrdinaryPoint

    def record(
        self, state: Literal["loaded", "failed", "blocked", "ignored"], reason: str = "", trace: str = ""
    ) -> Discovered:
        """Return the record that says what happened to it."""
        module = self.entry_point.value
        return Discovered(self.name, self.distribution, self.version, module, state, reason, trace)


def _entry_points() -> tuple[list[_Point], list[Discovered]]:
    """Return the entry points of our group in name order, and records of what cannot be read.

    Only the files of distributions that have the group are parsed: a malformed one elsewhere in the
    environment does not matter here. A distribution that `sys.path` leads to twice counts once,
    as the first one found, which is the one that imports come from.
    """
    ordinary = ordinary_points(hookspecs.PROJECT)
    if ordinary is not None:
        ours = [_Point(point.name, point.distribution, point.version, point) for point in ordinary]
        return sorted(ours, key=lambda point: (point.name, point.distribution)), []
    import importlib.metadata  # brings 40 modules

    points: list[_Point] = []
    broken: list[Discovered] = []
    seen: set[str] = set()
    for distribution in importlib.metadata.distributions():
        try:
            if f"[{hookspecs.PROJECT}]" not in (distribution.read_text("entry_points.txt") or ""):
                continue
            name = _field(distribution, "Name")
            if canonical(name) not in seen:
                points += _points_of(distribution, name)
                seen.add(canonical(name))
        except Exception as error:  # noqa: BLE001  # one that cannot be read is a record
            broken.append(_unreadable(distribution, error))
    points.sort(key=lambda point: (point.name, point.distribution))
    return points, broken


def _with_table(points: list[_Point], broken: list[Discovered]) -> tuple[list[_Point], list[Discovered]]:
    """Add what the table of a frozen program has, of distributions without metadata.

    Elsewhere the table counts only where no distribution has a plugin: one that was left beside a program's
    source may name packs that are gone.
    """
    if points and not is_frozen():
        return points, broken
    there = {canonical(point.distribution) for point in points}
    added = [
        _Point(point.name, point.distribution, point.version, point)
        for point in table_points(hookspecs.PROJECT)
        if canonical(point.distribution) not in there
    ]
    return sorted([*points, *added], key=lambda point: (point.name, point.distribution)), broken


def _field(distribution: importlib.metadata.Distribution, field: str) -> str:
    metadata = distribution.metadata
    if field not in metadata:
        raise PluginError(f"the plugin's METADATA has no {field}; install it again")
    return metadata[field]


def _points_of(distribution: importlib.metadata.Distribution, name: str) -> list[_Point]:
    version = _field(distribution, "Version")
    found = distribution.entry_points.select(group=hookspecs.PROJECT)
    return [_Point(point.name, name, version, point) for point in found]


def _unreadable(distribution: importlib.metadata.Distribution, error: Exception) -> Discovered:
    try:
        name = _field(distribution, "Name")
    except Exception:  # noqa: BLE001  # then it is as unreadable as the rest of it
        name = "a distribution without a name"
    return Discovered(name, name, "", "", "failed", f"cannot be read: {_reason(error)}", traceback_of(error))


def _switches(block: Collection[str] | None, only: Collection[str] | None, *, none: bool | None) -> Switches:
    said = Switches.from_environment()
    for names in (block, only):
        if isinstance(names, str):
            raise InvalidArgumentError(f"plugin names {names!r}: must be a collection of names, not a str")
    return Switches(
        said.block if block is None else frozenset(block),
        said.only if only is None else frozenset(only),
        said.none if none is None else none,
    )


def _split(names: str) -> frozenset[str]:
    return frozenset(name.strip() for name in names.split(",") if name.strip())


def _hook_names() -> list[str]:
    return sorted(name for name in vars(hookspecs) if name.startswith("penstock_"))


def _check_hook(caller: pluggy.HookCaller, found: pluggy.HookImpl) -> None:
    """Refuse a hook that pluggy would accept and nothing would ever call."""
    if caller.spec is None and not found.optionalhook:
        near = near_names(caller.name, _hook_names())
        meant = f"did you mean {near[0]!r}?" if near else f"hooks are {', '.join(_hook_names())}"
        raise PluginError(f"it implements {caller.name!r}, a hook that discovery does not know; {meant}")
    if found.hookwrapper or found.wrapper:
        raise PluginError(
            f"its {caller.name} is a hook wrapper; implementations of plugins are called one by one"
        )


def _reason(error: BaseException) -> str:
    """Return an exception as one line."""
    text = " ".join(text_of(error).split())
    if isinstance(error, PluginError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _report(records: Iterable[Discovered], switches: Switches) -> None:
    for record in records:
        if record.state == "failed":
            _logger.warning("plugin %r of %s failed: %s", record.name, record.distribution, record.reason)
        else:
            _logger.debug(
                "plugin %r of %s %s is %s", record.name, record.distribution, record.version, record.state
            )
    mentioned = switches.block | (switches.only or frozenset())
    for name in sorted(mentioned - {record.name for record in records}):
        _logger.warning("no plugin is named %r; it is mentioned in a switch", name)
