"""Name to object: what graphs may name, its provider, and the import on first use.

A registry is an object, not a global: each graph may have its own. Nothing is imported to list
names; a target is imported when its name is used.

Invariants: owners of one name are all kept, and using a name that has two raises; the lock of a
table is never held while foreign code (a fill, an import) runs, so that an import which registers
something cannot wait for a look-up that waits for that import.

`plugins/catalog.json`, read here when a name is not found, is the one place where the core knows
the official packs: name to distribution, for the error that says what to install.
"""

from __future__ import annotations

import threading
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from penstock.entry_points import canonical
from penstock.errors import AlreadyExistsError, InvalidArgumentError, UnknownNameError
from penstock.registry_entries import (
    KINDS,
    Claim,
    OptionEntry,
    Origin,
    check_entry_name,
    check_option,
    check_target,
    clash,
    entry_spelling,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["OptionEntry", "Origin", "Registry", "official_packs"]

#: Kinds that graphs name in the same field: a miss in one suggests names of both.
_NAMED_ALIKE: Final[Mapping[str, tuple[str, ...]]] = {"calculator": ("calculator", "subgraph")}


@cache
def official_packs() -> Mapping[str, Mapping[str, str]]:
    """Return what the official packs bring: kind to name to distribution.

    Beside the kinds of `KINDS` there are "option" (an options message), "command" (a console script)
    and "subcommand" (of the command `penstock`).
    """
    import importlib.resources  # only a name that nobody has needs it
    import json

    file = importlib.resources.files("penstock") / "plugins" / "catalog.json"
    packs: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return MappingProxyType(packs)


def _check_kind(kind: object) -> None:
    """Accept a kind of `KINDS`.

    Raises:
        InvalidArgumentError: it is no kind.
    """
    if kind not in KINDS:
        raise InvalidArgumentError(
            f"the registry's kind {kind!r}: must be one of {', '.join(map(repr, KINDS))}"
        )


class Registry:
    """What one graph, or a whole process, can name.

    All methods may be called from any thread. Look-ups fill the registry first.
    """

    def __init__(self, fill: Callable[[Registry], None] | None = None) -> None:
        """Make an empty registry.

        Args:
            fill: called once with this registry before its first look-up is answered. Where it
                raises, that look-up raises and the next one calls it again.
        """
        self._table = _Table()
        self._filling = _Filling(self, fill)
        self._parent: Registry | None = None
        #: What readers of graphs keep for this registry, and lose with it: name of the keeper → its object.
        self.kept: dict[str, Any] = {}

    def child(self) -> Registry:
        """Return an empty registry that answers with its own entries first, then with this one's."""
        child = Registry()
        child._parent = self
        return child

    # --- putting in ---------------------------------------------------------------------------

    def add(
        self,
        kind: str,
        name: str,
        target: object,
        *,
        distribution: str | None = None,
        plugin: str | None = None,
    ) -> None:
        """Let `name` stand for `target`.

        The same owner may say it again where the target has the same module and qualified name: the
        newer object counts, so that notebook cells can be run again. Another owner may claim the
        name too; then using it raises.

        Args:
            kind: one of `KINDS`.
            name: may be qualified by a package, "x.y.Name".
            target: "module:attribute", or the object.
            distribution: that provides it; None for the application itself.
            plugin: name of its entry point, or None.

        Raises:
            InvalidArgumentError: kind, name or target is not what it must be.
            AlreadyExistsError: this owner has given the name to something else. Nothing changes.
        """
        _check_kind(kind)
        check_entry_name(kind, name)
        check_target(f"{kind} {name!r}", target)
        self._table.add(kind, name, Claim(Origin(distribution, plugin, entry_spelling(target)), target))

    def add_option(  # noqa: PLR0913  # what a protobuf extension consists of, and its owner
        self,
        full_name: str,
        extendee: str | None,
        number: int | None,
        target: str | type,
        *,
        distribution: str | None = None,
        plugin: str | None = None,
    ) -> None:
        """Declare options; see `OptionEntry`.

        The same owner may declare an attrs class again that was defined again: the newer one counts.

        Raises:
            InvalidArgumentError: one of the values is not what it must be.
            AlreadyExistsError: this owner has declared the name otherwise. Nothing changes.
        """
        check_option(full_name, extendee, number, target)
        origin = Origin(distribution, plugin, entry_spelling(target))
        self._table.add_option(OptionEntry(full_name, extendee, number, target, origin))

    def restore(
        self, claims: dict[tuple[str, str], list[tuple[str, str, str]]], options: list[tuple[Any, ...]]
    ) -> None:
        """Put in the entries of another registry, which has checked them. Called once.

        Args:
            claims: kind and name → distribution, plugin and target of each owner.
            options: full name, extendee, number, target, distribution and plugin of each. The registry takes
                over both.
        """
        self._table.restore(claims, options)

    def fail(self, plugin: str, reason: str, *, distribution: str | None = None) -> None:
        """Note that a plugin is not loaded, and why: an unknown name's error says so."""
        self._table.fail(plugin, reason, distribution)

    # --- looking up ---------------------------------------------------------------------------

    def find(self, kind: str, name: str, package: str = "") -> object:
        """Return what a name stands for, imported on first use.

        Args:
            kind: one of `KINDS`.
            name: as the graph writes it; one that begins with a dot is looked up as it is.
            package: the graph's namespace "x.y": x.y.name, x.name and name are tried in this order.

        Raises:
            UnknownNameError: nothing has that name; says what is near and what to install.
            NameClashError: two owners claim it; names both.
            PluginError: its import failed, the original exception being the `__cause__`. A later
                call tries again.
        """
        full_name, claim = self._claim(kind, name, package)
        return claim.load(kind, full_name)

    def has(self, kind: str, name: str, package: str = "") -> bool:
        """Return whether `find` would find something, were it also a clash or a failing import."""
        _check_kind(kind)
        return any(self._claims(kind, candidate) for candidate in _candidates(name, package))

    def origin(self, kind: str, name: str, package: str = "") -> Origin:
        """Return the provider of a name, without importing what it stands for.

        Raises:
            UnknownNameError, NameClashError: as `find`.
        """
        return self._claim(kind, name, package)[1].origin

    def names(self, kind: str) -> list[str]:
        """Return all names of a kind, sorted."""
        _check_kind(kind)
        return sorted({name for table in self._tables() for name in table.names(kind)})

    def option(self, full_name: str) -> OptionEntry | None:
        """Return the options message of this full name, or None where no plugin declares it."""
        return self.options().get(full_name)

    def options(self) -> Mapping[str, OptionEntry]:
        """Return all declared options messages by full name."""
        found: dict[str, OptionEntry] = {}
        for table in reversed(self._tables()):
            found.update(table.copy_of_options())
        return MappingProxyType(found)

    def loaded(self, kind: str) -> Mapping[str, object]:
        """Return what names of a kind stand for, of those that are imported; imports nothing."""
        _check_kind(kind)
        found: dict[str, object] = {}
        for table in reversed(self._tables()):
            found.update(table.loaded(kind))
        return MappingProxyType(found)

    @property
    def failures(self) -> Mapping[str, str]:
        """The plugins that are not loaded, each with its reason."""
        found: dict[str, str] = {}
        for table in reversed(self._tables()):
            found.update(table.copy_of_failures())
        return MappingProxyType(found)

    def install_hint(self, kind: str, name: str, package: str = "") -> str | None:
        """Return the distribution to install for a name that an official pack has.

        Args:
            kind: one of the kinds of `official_packs`.
            name: as for `find`; for "option" the full name of the message.
            package: as for `find`.

        Returns:
            None where no official pack has the name, and where the pack is installed already.
        """
        tables = self._tables()
        for alike in _NAMED_ALIKE.get(kind, (kind,)):
            pack = official_packs().get(alike, {})
            for candidate in _candidates(name, package):
                distribution = pack.get(candidate)
                if distribution and not any(table.has_distribution(distribution) for table in tables):
                    return distribution
        return None

    @property
    def changes(self) -> int:
        """A number that grows with each entry of this registry, or of one above it."""
        return sum([table.changes for table in self._tables()])

    # --- inside -------------------------------------------------------------------------------

    def _claim(self, kind: str, name: str, package: str) -> tuple[str, Claim]:
        _check_kind(kind)
        for candidate in _candidates(name, package):
            claims = self._claims(kind, candidate)
            if len(claims) > 1:
                raise clash(f"{kind} {candidate!r}", claims[0].origin, claims[1].origin)
            if claims:
                return candidate, claims[0]
        known = {known for alike in _NAMED_ALIKE.get(kind, (kind,)) for known in self.names(alike)}
        install = self.install_hint(kind, name, package)
        if kind == "calculator" and (name.endswith("Subgraph") or name in official_packs()["subgraph"]):
            kind = "subgraph"
        raise UnknownNameError(kind, name, sorted(known), self.failures, install=install)

    def _claims(self, kind: str, name: str) -> tuple[Claim, ...]:
        found = (table.claims(kind, name) for table in self._tables())
        return next((claims for claims in found if claims), ())

    def _tables(self) -> tuple[_Table, ...]:
        """Return this registry's table, then those of the registries above it, all filled."""
        self._filling.ensure()
        above = () if self._parent is None else self._parent._tables()  # noqa: SLF001  # own class
        return (self._table, *above)


class _Filling:
    """Calls a registry's fill once. Threads that come meanwhile wait."""

    def __init__(self, registry: Registry, fill: Callable[[Registry], None] | None) -> None:
        self._registry = registry
        self._fill = fill
        self._is_running = False
        # Re-entrant: a look-up from inside the fill, on its own thread, sees what is there so far.
        self._lock = threading.RLock()

    def ensure(self) -> None:
        if self._fill is not None:
            with self._lock:
                if not self._is_running:
                    self._run()

    def _run(self) -> None:
        if self._fill is None:  # another thread was first
            return
        self._is_running = True
        try:
            self._fill(self._registry)
            self._fill = None
        finally:
            self._is_running = False


class _Table:
    """What one registry itself holds. Each method takes the lock and calls no foreign code."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: dict[tuple[str, str], list[Claim]] = {}
        #: Claims of names that nobody has asked for yet: distribution, plugin and target.
        self._restored: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
        #: Options that nobody has asked for yet.
        self._restored_options: list[tuple[Any, ...]] = []
        self._options: dict[str, OptionEntry] = {}
        #: (extendee, number) to the full name that had it first.
        self._option_names: dict[tuple[str | None, int | None], str] = {}
        self._failures: dict[str, str] = {}
        #: Distributions that are installed: telling people to install them would not help.
        self._distributions: set[str] = set()
        #: How often something was added.
        self.changes = 0

    def restore(
        self, claims: dict[tuple[str, str], list[tuple[str, str, str]]], options: list[tuple[Any, ...]]
    ) -> None:
        with self._lock:
            self._restored, self._restored_options = claims, options
            self.changes += 1
            owners = {one[0] for claimed in claims.values() for one in claimed} | {one[-2] for one in options}
            self._distributions |= {canonical(owner) for owner in owners}

    def add(self, kind: str, name: str, new: Claim) -> None:
        with self._lock:
            self._note(new.origin.distribution)
            _put(new, self._all_claims(kind, name), f"{kind} {name!r}")

    def add_option(self, new: OptionEntry) -> None:
        with self._lock:
            self._add_restored_options()
            self._note(new.origin.distribution)
            self._add_option(new)

    def _add_restored_options(self) -> None:
        """Add the restored options; called under the lock."""
        for full_name, extendee, number, target, distribution, plugin in self._restored_options:
            origin = Origin(distribution, plugin, target)
            self._add_option(OptionEntry(full_name, extendee, number, target, origin))
        self._restored_options = []

    def _add_option(self, new: OptionEntry) -> None:
        place = (new.extendee, new.number)
        of_place = new.full_name
        if new.number is not None:
            of_place = self._option_names.setdefault(place, of_place)
        rival = self._options.get(new.full_name) or self._options.get(of_place)
        if rival is None:
            self._options[new.full_name] = new
        elif rival.full_name != new.full_name or not rival.origin.is_same_owner(new.origin):
            self._options[rival.full_name] = rival._replace(rival=new)
            self._options.setdefault(new.full_name, new._replace(rival=rival))
        elif (rival.extendee, rival.number, rival.origin) != (*place, new.origin):
            owner = rival.origin.owner
            raise AlreadyExistsError(
                f"the registry has option {new.full_name!r} otherwise already, of {owner}"
            )
        elif rival.rival is None:
            self._options[new.full_name] = new

    def fail(self, plugin: str, reason: str, distribution: str | None) -> None:
        with self._lock:
            self._note(distribution)
            self._failures[plugin] = reason

    def claims(self, kind: str, name: str) -> tuple[Claim, ...]:
        with self._lock:
            if (kind, name) in self._restored:
                self._all_claims(kind, name)
            return tuple(self._claims.get((kind, name), ()))

    def names(self, kind: str) -> set[str]:
        with self._lock:
            places = (*self._claims, *self._restored)
            return {name for of_kind, name in places if of_kind == kind}

    def loaded(self, kind: str) -> dict[str, object]:
        with self._lock:
            return {
                name: claims[0].target
                for (of_kind, name), claims in self._claims.items()
                if of_kind == kind and not isinstance(claims[0].target, str)
            }

    def copy_of_options(self) -> dict[str, OptionEntry]:
        with self._lock:
            self._add_restored_options()
            return dict(self._options)

    def copy_of_failures(self) -> dict[str, str]:
        with self._lock:
            return dict(self._failures)

    def has_distribution(self, distribution: str) -> bool:
        with self._lock:
            return canonical(distribution) in self._distributions

    def _all_claims(self, kind: str, name: str) -> list[Claim]:
        """Return the list of a name's claims, with the restored ones; called under the lock."""
        claims = self._claims.setdefault((kind, name), [])
        for one in self._restored.pop((kind, name), ()):
            _put(Claim(Origin(*one), one[2]), claims, f"{kind} {name!r}")
        return claims

    def _note(self, distribution: str | None) -> None:
        """Note a change, and who makes it; called before it, under the lock."""
        self.changes += 1
        if distribution is not None:
            self._distributions.add(canonical(distribution))


def _put(new: Claim, claims: list[Claim], what: str) -> None:
    """Add a claim to the others of its name, or put it in place of the owner's earlier one."""
    # Not inside of `with lock`: an interrupt between two turns of a loop there leaves Python 3.13 with the
    # lock held (gh-130279).
    for position, old in enumerate(claims):
        if old.origin.is_same_owner(new.origin):
            _check_again(what, old.origin, new.origin)
            claims[position] = new
            return
    claims.append(new)


def _check_again(what: str, old: Origin, new: Origin) -> None:
    if old.target != new.target:
        raise AlreadyExistsError(
            f"the registry has {what} for {old.target} already, not for {new.target}; rename one of them"
        )


def _candidates(name: str, package: str) -> tuple[str, ...]:
    """Return the full names that `name` may mean, innermost package first."""
    if name.startswith("."):
        return (name[1:],)
    parts = package.split(".") if package else []
    return tuple(".".join((*parts[:depth], name)) for depth in range(len(parts), -1, -1))
