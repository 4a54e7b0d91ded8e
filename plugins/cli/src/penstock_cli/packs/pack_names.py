"""The names of a new pack: distribution, package, entry point and classes, derived from one name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from penstock.packs import official_packs
from penstock_cli.failures import WrongUsage

#: The names of all packs begin so, on the package index and for `penstock validate-pack`.
PREFIX: Final = "penstock-"
#: Penstock's own distributions that provide no components.
_OURS: Final = frozenset({"penstock-cli", "penstock-core", "penstock-formats"})
_WORDS: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class PackNames:
    """The names of one pack."""

    #: Name of the entry point, which switches such as PENSTOCK_BLOCK_PLUGINS use: "my-pack".
    plugin: str

    @property
    def distribution(self) -> str:
        """Its name for pip: "penstock-my-pack"."""
        return PREFIX + self.plugin

    @property
    def package(self) -> str:
        """Its name for `import`: "penstock_my_pack"."""
        return self.distribution.replace("-", "_")

    @property
    def camel(self) -> str:
        """The beginning of its calculators' names: "MyPack"."""
        return "".join(word.capitalize() for word in self.plugin.split("-"))


def pack_names(name: str) -> PackNames:
    """Return the names of a pack.

    Args:
        name: with or without the prefix, words joined by "-", "_" or ".", in any case.

    Raises:
        WrongUsage: it is not a valid name for a distribution and a module, or it is an official pack's.
    """
    plugin = re.sub(r"[-_.]+", "-", name.lower()).removeprefix(PREFIX)
    if not _WORDS.fullmatch(plugin):
        raise WrongUsage(
            f"pack name {name!r}: must begin with a letter and be words of letters and digits joined by '-', "
            "as in 'my-pack'"
        )
    names = PackNames(plugin)
    ours = {distribution for packs in official_packs().values() for distribution in packs.values()}
    if names.distribution in ours | _OURS:
        raise WrongUsage(f"pack name {name!r}: {names.distribution} is an official pack; choose another name")
    return names
