"""The result of a check of a pack, as data and in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping


@attrs.frozen
class PackFault:
    """One thing that is wrong with a pack."""

    #: "plugin 'gates'", "distribution 'penstock-gates'", "calculator 'Gate'".
    subject: str
    #: The fault, and what to do.
    text: str
    #: Whether the pack works in spite of the fault.
    is_warning: bool = False

    def __str__(self) -> str:
        return f"{self.subject}: {self.text}"


@attrs.frozen
class PackReport:
    """All that a check found."""

    #: Name of the entry point.
    plugin: str
    #: That it belongs to, as pip knows it.
    distribution: str
    #: The version of the distribution.
    version: str
    #: That the entry point names.
    module: str
    #: Kind → how many names of it the pack brings, "option" included.
    components: Mapping[str, int] = attrs.field(factory=lambda: MappingProxyType({}))
    #: Milliseconds that loading its plugin module took in a fresh interpreter; None where that was not
    #: measured.
    loading_ms: float | None = None
    #: In the order in which they were looked for; warnings among them.
    faults: tuple[PackFault, ...] = ()

    @property
    def errors(self) -> tuple[PackFault, ...]:
        """The faults that are no warnings."""
        return tuple(fault for fault in self.faults if not fault.is_warning)

    @property
    def warnings(self) -> tuple[PackFault, ...]:
        """The faults that a pack works in spite of."""
        return tuple(fault for fault in self.faults if fault.is_warning)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as dicts, lists and plain values, as JSON can hold."""
        faults = [attrs.asdict(fault) for fault in self.faults]
        return {**attrs.asdict(self), "components": dict(self.components), "faults": faults}
