"""The result of a check of a pack, as data and in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping


@attrs.frozen
class PackFault:
    """One thing that is wrong with a pack.

    Attributes:
        subject: "plugin 'gates'", "distribution 'penstock-gates'", "calculator 'Gate'".
        text: the fault, and what to do.
        is_warning: whether the pack works in spite of the fault.
    """

    subject: str
    text: str
    is_warning: bool = False

    def __str__(self) -> str:
        return f"{self.subject}: {self.text}"


@attrs.frozen
class PackReport:
    """All that a check found.

    Attributes:
        plugin: name of the entry point.
        distribution: that it belongs to, as pip knows it.
        version: of the distribution.
        module: that the entry point names.
        components: kind → how many names of it the pack brings, "option" included.
        loading_ms: milliseconds that loading its plugin module took in a fresh interpreter; None where that
            was not measured.
        faults: in the order in which they were looked for; warnings among them.
    """

    plugin: str
    distribution: str
    version: str
    module: str
    components: Mapping[str, int] = attrs.field(factory=lambda: MappingProxyType({}))
    loading_ms: float | None = None
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
