"""What the bridges share: the libraries of their extras, and whether packets have been delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_bridges.needs import check_needs as check_needs
    from penstock_bridges.sweep import Sweep as Sweep

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_bridges.needs": "check_needs",
    "penstock_bridges.sweep": "Sweep",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
