"""Which options a graph may name, and the import of those that it does name.

Plugins declare their options as data (`Components.options`), so that reading a graph imports only what that
graph needs. A name that no plugin declares is looked for in the `Options` of the graph's calculators, then in
those of all calculators that are imported.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from penstock.attrs_options import attrs_name, is_attrs_options, options_classes
from penstock.errors import (
    InvalidArgumentError,
    NameClashError,
    PenstockError,
    PluginError,
    UnknownNameError,
    not_loaded,
)
from penstock.near_names import did_you_mean, near_names
from penstock.registry_entries import OptionEntry, Origin, calculator_of_entry, entry_spelling
from penstock.shown import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from penstock.registry import Registry

#: Kinds of components whose classes may say which options they take.
_KINDS: Final = ("calculator", "subgraph", "input stream handler", "executor")

_TEMPLATE_OPTIONS: Final = "penstock.TemplateSubgraphOptions"
_THEIR_PLACE: Final = "penstock.config.calculator_graph_template_pb2:TemplateSubgraphOptions"
#: The options that the core itself declares: those of nodes that stand for templates.
_OWN: Final = {
    _TEMPLATE_OPTIONS: OptionEntry(
        full_name=_TEMPLATE_OPTIONS,
        extendee="penstock.CalculatorOptions",
        number=172998261,
        target=_THEIR_PLACE,
        origin=Origin("penstock-core", None, _THEIR_PLACE),
    )
}


class OptionTypes:
    """Finds options by name in one registry. Made for reading one graph.

    For protobuf it is a descriptor pool, which knows the messages of attrs classes besides those of the
    process.
    """

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        #: The files that the graph was read from, each with its bytes.
        self.files: Final[list[tuple[Path, bytes]]] = []
        #: Whether these files, the text and the registry alone say what the graph is.
        self.is_settled = True
        #: Name → attrs class or message class, of options that were loaded: each is looked up once.
        self._loaded: dict[str, Any] = {}
        #: Name → message class, of the same.
        self._messages: dict[str, Any] = {}
        #: Size and hash of the options of nodes that were read: a graph that is made of them has them again.
        self.read: Final[set[tuple[int, int]]] = set()
        self._used: tuple[object, ...] = ()
        self._look_up: Callable[[], Iterable[object]] | None = None

    def look_into(self, names: Callable[[], tuple[Iterable[str], str]] | None) -> None:
        """Look first at these calculators and subgraphs for options that no plugin declares.

        Args:
            names: returns their names, and the graph's package. Called for the first such name, and then the
                calculators are imported; the graph needs them anyway. None for no further graph.
        """
        self._look_up = None if names is None else lambda: self._components(*names())

    def load(self, name: str) -> bool:
        """Import the options of a name, where a plugin declares them or a calculator takes them.

        Args:
            name: full name of a message, or of an extension field inside it ("penstock.X.ext").

        Returns:
            Whether there are such options.

        Raises:
            NameClashError, PluginError: as `OptionEntry.load`; or two classes have that name.
        """
        if name in self._loaded:
            return True
        if name in self._entries:
            self._import(self._entries[name])
            return True
        around = self._entries.get(name.rpartition(".")[0])
        if around is not None and self._has_extension(around, name):
            return True
        found = self._of_components(name)
        if found is not None:
            self._note(name, found, found)
        return found is not None

    def load_number(self, extendee: str, number: int) -> bool:
        """Import the options that extend `extendee` with field `number`. As `load`."""
        entry = self._by_number.get((extendee, number))
        if entry is not None:
            self._import(entry)
        return entry is not None

    def options_class(self, name: str) -> Any:
        """Return the attrs class or the message class of this full name; None where there is none.

        Raises:
            NameClashError, PluginError: as `load`.
        """
        return self._loaded[name] if self.load(name) else None

    def message_class(self, name: str) -> Any:
        """Return the message class of options with this full name, derived from an attrs class or not.

        Returns:
            None where there are no such options.

        Raises:
            NameClashError, PluginError: as `load`.
        """
        return self._messages[name] if self.load(name) else None

    def FindMessageTypeByName(self, name: str) -> Any:  # noqa: N802  # protobuf's name; a Descriptor
        """Return the description of a message by its full name.

        Raises:
            KeyError: there is none.
        """
        if name in self._messages:
            return self._messages[name].DESCRIPTOR
        for message in self._messages.values():
            if name.startswith(f"{message.DESCRIPTOR.full_name}."):
                try:
                    return message.DESCRIPTOR.file.pool.FindMessageTypeByName(name)
                except KeyError:
                    continue  # a class inside this one, which has a message of its own
        from penstock.config.options.message_class import known_descriptor  # few graphs have options

        return known_descriptor(name)

    def why_unknown(self, name: str, written: str) -> str:
        """Return the error's words for a name that nothing provides: similar names, what to install.

        Args:
            name: as `load` takes it.
            written: as the file has it.
        """
        message = name.removesuffix(".ext")
        if message != name and self.load(message):
            line = f"node_options {{ [type.googleapis.com/{message}] {{ ... }} }}"
            return f"the options {quoted(message)} are no extension; write {line}"
        words = f"no options message {quoted(written)} is known"
        known = {*self.registry.options(), *self._names_of_components()}
        distribution = self.registry.install_hint("option", message)
        cure = f"; install it: pip install {distribution}" if distribution else did_you_mean(message, known)
        return words + (cure or "; no plugin that is loaded declares it") + not_loaded(self.registry.failures)

    def of_component(self, kind: str, name: str, extendee: str) -> dict[str, tuple[bool, list[str]]]:
        """Return the options that a component declares, and those named after it.

        Full name → whether they extend `extendee`, and their fields.
        """
        found = {}
        with suppress(PenstockError):  # the checks report it
            said = [options for options, _ in _said([self.registry.find(kind, name)])]
            for one in (*said, *near_names(f"{name}Options", self._entries)):
                fields = list(self.message_class(one).DESCRIPTOR.fields_by_name)
                found[one] = one in self._entries and self._entries[one].extendee == extendee, fields
        return found

    # --- what is declared -----------------------------------------------------------------------

    def _import(self, entry: OptionEntry) -> None:
        if entry.full_name in self._loaded:
            return
        found = entry.load()
        made = found
        if is_attrs_options(found) and entry.number is not None and entry.extendee is not None:
            from penstock.config.options.message_class import extension_class

            try:
                made = extension_class(found, entry.extendee, entry.number)
            except InvalidArgumentError as error:
                raise PluginError(f"{entry.origin.owner}: {error}") from error
        self._note(entry.full_name, found, made)

    def _has_extension(self, entry: OptionEntry, name: str) -> bool:
        self._import(entry)
        extensions = self._messages[entry.full_name].DESCRIPTOR.extensions
        return any(field.full_name == name for field in extensions)

    def _note(self, name: str, found: Any, made: Any) -> None:
        if is_attrs_options(made):
            from penstock.config.options.message_class import message_class

            try:
                made = message_class(made)
            except InvalidArgumentError as error:
                raise PluginError(str(error)) from error
        self._loaded[name] = found
        self._messages[name] = made

    @cached_property
    def _entries(self) -> Mapping[str, OptionEntry]:
        return {**_OWN, **self.registry.options()}

    @cached_property
    def _by_number(self) -> Mapping[tuple[str | None, int | None], OptionEntry]:
        entries = self._entries.values()
        return {(entry.extendee, entry.number): entry for entry in entries if entry.number is not None}

    # --- what components take -------------------------------------------------------------------

    def _components(self, names: Iterable[str], package: str) -> Iterator[object]:
        for name in dict.fromkeys(names):
            for kind in ("calculator", "subgraph"):
                try:
                    yield self.registry.find(kind, name, package)
                except (UnknownNameError, NameClashError, PluginError):
                    continue  # the checks report it, with the place

    def _of_components(self, name: str) -> Any:
        if self._look_up is not None:
            self._used, self._look_up = (*self._look_up(), *self._used), None
        everything = (one for kind in _KINDS for one in self.registry.loaded(kind).values())
        for components in (self._used, everything):
            found = dict.fromkeys(one for called, one in _said(components) if called == name)
            by_spelling = {entry_spelling(one): one for one in reversed(found)}
            if len(by_spelling) > 1:
                both = " and ".join(sorted(by_spelling)[:2])
                raise NameClashError(f"options {quoted(name)} are claimed by the classes {both}; rename one")
            if by_spelling:
                self.is_settled &= components is self._used  # else it depends on imported modules
                return by_spelling.popitem()[1]
        return None

    def _names_of_components(self) -> set[str]:
        everything = [one for kind in _KINDS for one in self.registry.loaded(kind).values()]
        return {name for name, _ in _said((*self._used, *everything))}


def _said(components: Iterable[object]) -> Iterator[tuple[str, Any]]:
    """Yield (full name, class) of the options that components take."""
    for component in components:
        try:
            classes = options_classes(calculator_of_entry(component))
        except InvalidArgumentError:
            continue  # the checks report it
        for one in classes:
            yield attrs_name(one) if is_attrs_options(one) else one.DESCRIPTOR.full_name, one
