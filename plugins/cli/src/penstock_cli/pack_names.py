"""What a new pack is called: distribution, package, entry point and classes, derived from one name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from penstock.lowlevel import official_packs
from penstock_cli.failures import WrongUsage

#: Packs are found by it, on the index and by `penstock validate-pack`.
PREFIX: Final = "penstock-"
#: Distributions of ours that no name of a component leads to.
_OURS: Final = frozenset({"penstock-cli", "penstock-core", "penstock-formats"})
_WORDS: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class PackNames:
    """The names of one pack.

    Attributes:
        plugin: of the entry point, by which switches know it: "my-pack".
    """

    plugin: str

    @property
    def distribution(self) -> str:
        """As pip knows it: "penstock-my-pack"."""
        return PREFIX + self.plugin

    @property
    def package(self) -> str:
        """As it is imported: "penstock_my_pack"."""
        return self.distribution.replace("-", "_")

    @property
    def camel(self) -> str:
        """What the names of its calculators begin with: "MyPack"."""
        return "".join(word.capitalize() for word in self.plugin.split("-"))


def pack_names(name: str) -> PackNames:
    """Return the names of a pack.

    Args:
        name: with or without the prefix, words joined by "-", "_" or ".", in any case.

    Raises:
        WrongUsage: no distribution and module can be called so, or one of ours is.
    """
    plugin = re.sub(r"[-_.]+", "-", name.lower()).removeprefix(PREFIX)
    if not _WORDS.fullmatch(plugin):
        raise WrongUsage(
            f"pack name {name!r}: must be words of letters and digits joined by '-', the first letter first, "
            "as in 'my-pack'"
        )
    names = PackNames(plugin)
    ours = {distribution for packs in official_packs().values() for distribution in packs.values()}
    if names.distribution in ours | _OURS:
        raise WrongUsage(f"pack name {name!r}: {names.distribution} is an official pack; choose another name")
    return names
