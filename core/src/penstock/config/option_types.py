"""Which options messages a graph may name, and the import of those that it does name.

Plugins declare their options messages as data (`Components.options`), so that reading a graph imports
just what that graph needs.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.registry import OptionEntry, Registry


class OptionTypes:
    """The options messages of one registry. Made for reading one graph."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        #: What was loaded already, so that a graph of many nodes asks once for each.
        self._loaded = set[str]()

    def load(self, name: str) -> bool:
        """Import the message that `name` means, where a plugin declares it.

        Args:
            name: full name of a message, or of an extension field inside it ("penstock.X.ext").

        Returns:
            Whether there is such a message.

        Raises:
            NameClashError, PluginError: as `OptionEntry.load`.
        """
        entry = self._entries.get(name) or self._entries.get(name.rpartition(".")[0])
        return entry is not None and self._import(entry)

    def load_number(self, extendee: str, number: int) -> bool:
        """Import the message that extends `extendee` with field `number`, likewise."""
        entry = self._by_number.get((extendee, number))
        return entry is not None and self._import(entry)

    def why_unknown(self, name: str, written: str) -> str:
        """Return the words for a name that nothing provides: what is near, what to install.

        Args:
            name: as `load` takes it.
            written: as the file has it.
        """
        message = name.rpartition(".")[0] if name.endswith(".ext") else name
        words = f"no options message {written!r} is known"
        distribution = self._registry.install_hint("option", message)
        near = get_close_matches(message, self._entries, n=3)
        if distribution is not None:
            words += f"; install it: pip install {distribution}"
        elif near:
            words += f" (did you mean {', '.join(map(repr, near))}?)"
        else:
            words += "; no plugin that is loaded declares it"
        failed = [f"{plugin} ({why})" for plugin, why in sorted(self._registry.failures.items())]
        return f"{words}; plugins that are not loaded: {', '.join(failed)}" if failed else words

    def _import(self, entry: OptionEntry) -> bool:
        if entry.full_name not in self._loaded:
            entry.load()
            self._loaded.add(entry.full_name)
        return True

    @cached_property
    def _entries(self) -> Mapping[str, OptionEntry]:
        return self._registry.options()

    @cached_property
    def _by_number(self) -> Mapping[tuple[str, int], OptionEntry]:
        return {(entry.extendee, entry.number): entry for entry in self._entries.values()}
