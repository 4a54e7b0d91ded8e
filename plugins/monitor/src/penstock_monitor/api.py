"""What the packages beside this one share with it: `name_in_host` reads the `Host` header of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_monitor.hosts import name_in_host as name_in_host

#: Module → the names that it has.
_HOMES: Final = {"penstock_monitor.hosts": "name_in_host"}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
