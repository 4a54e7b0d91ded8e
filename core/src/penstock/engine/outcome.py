"""What a calculator's methods may return: `Outcome`, with `STOP`; and the errors of other outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, final

from penstock.engine.methods import METHODS
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from concurrent.futures import Future

    from penstock.engine.step import Step


@final
class Stop:
    """The type of `STOP`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "penstock.STOP"

    def __reduce__(self) -> str:
        return "STOP"


#: What `process` returns to end a source, or, from a calculator with inputs, the run.
STOP: Final = Stop()

#: What `process` may return; `open` and `close` likewise, but for STOP.
Outcome: TypeAlias = "Stop | Awaitable[Stop | None] | Future[Stop | None] | None"


def wrong_outcome(step: Step, outcome: object, *, awaited: bool = False) -> InvalidArgumentError:
    """Return the error of a call that returned something else, or whose awaitable or future did."""
    node, call = step.node.name, f"{METHODS[step.method]}()"
    if awaited:
        return InvalidArgumentError(
            f"node {node!r}: the awaited outcome of {call} is {outcome!r}; it must be None or penstock.STOP",
            node=node,
        )
    return InvalidArgumentError(
        f"node {node!r}: {call} returned {outcome!r}; it must return None, penstock.STOP, an awaitable or a "
        "concurrent.futures.Future",
        node=node,
    )
