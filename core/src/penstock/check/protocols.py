"""What the checks need of the parts of a graph that they do not read themselves.

`penstock.config` has the classes. The checks know these protocols only, and so nothing of protobuf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

M = TypeVar("M")


class Places(Protocol):
    """The places of one graph, in words."""

    @property
    def file(self) -> str | None:
        """The name of the graph's file, or None."""

    def where(self, at: int) -> str:
        """Return how a message about a place begins: "graph.pbtxt:12:5: ", or ""."""

    def parts(self, at: int) -> tuple[str | None, int | None, int | None]:
        """Return the file, line and column of a place, each None where there is none."""


class Options(Protocol):
    """The options of a node, an executor or a handler."""

    def get(self, message_type: type[M]) -> M:
        """Return the options of a class: what the graph gives, or the defaults."""

    def names(self) -> list[str]:
        """Return the full names of the options messages that the graph gives."""

    def are_given(self) -> bool:
        """Return whether there are any options."""


class OptionPlaces(Protocol):
    """Where the options of one node stand."""

    def at(self, options: str, path: tuple[tuple[str, int], ...]) -> int:
        """Return the place of a field of an options message, or of the nearest one above it.

        Args:
            options: full name of the message.
            path: from the message to the field.
        """


#: Makes `Options` of options that are given in code: a message, an instance of an attrs class, or None.
OptionsFactory: TypeAlias = "Callable[[object | None], Options]"
