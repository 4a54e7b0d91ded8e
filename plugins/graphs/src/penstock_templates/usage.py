"""What the templates of one graph have cost so far, against the limits of `penstock.limits`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from google.protobuf.message import Message as AnyMessage

from penstock import limits
from penstock_templates.expression_values import DICT_DEPTH

if TYPE_CHECKING:
    from penstock.readers import Faults
    from penstock_templates.expression_values import Value

#: Steps that a copy of a message counts as, and a reported mistake: each takes about ten times as long.
_HEAVY: Final = 10


class Usage:
    """Counts steps and text.

    All methods raise ResourceExhaustedError where a limit is passed, and whenever they are called after that.
    """

    def __init__(self) -> None:
        self._limits: Final = limits.current()
        self._steps = self._text = 0

    def step(self, count: int = 1) -> None:
        """Count steps."""
        self._steps += count
        if self._steps > self._limits.steps:
            limits.check("steps", self._steps, "the templates of this graph take too many steps")

    def mistake(self) -> None:
        """Count a mistake that is reported."""
        self.step(_HEAVY)

    def write(self, size: int) -> None:
        """Count characters or bytes."""
        self._text += size
        if self._text > self._limits.text:
            limits.check("text", self._text, "the templates of this graph make too much text")

    def counted(self, value: Value | None) -> Value | None:
        """Count the text of a value, and return the value."""
        if isinstance(value, str):
            self.write(len(value))
        return value

    def made(self, value: Any) -> None:
        """Count a value that a field gets."""
        if isinstance(value, AnyMessage):
            self.step(_HEAVY)
            self.write(
                len(value.SerializePartialToString())
            )  # `ByteSize` refuses what lacks a required field
        elif isinstance(value, (str, bytes)):
            self.write(len(value))

    def weigh(self, value: Value, depth: int = 1) -> None:
        """Count all that is inside of a value: what is there twice becomes two messages."""
        self.step()
        if isinstance(value, (list, dict)):
            if depth > self._limits.depth:
                limits.check("depth", depth, f"lists and dicts are nested {depth} deep")
            for one in value.values() if isinstance(value, dict) else value:
                self.weigh(one, depth + (DICT_DEPTH if isinstance(value, dict) else 1))


_OF_GRAPH: Final[WeakKeyDictionary[Faults, Usage]] = WeakKeyDictionary()


def usage_of(faults: Faults) -> Usage:
    """Return the usage of the graph that has these faults: of all its templates together."""
    return _OF_GRAPH.setdefault(faults, Usage())
