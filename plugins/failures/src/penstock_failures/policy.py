"""What the field `failure` of a node says, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from penstock.lowlevel import Plan

#: Numbers of `FailurePolicy.Action` in the graph's messages.
FAIL: Final = 0
SKIP: Final = 1
RESTART: Final = 2
FALL_BACK: Final = 3


class Policy(NamedTuple):
    """The failure policy of one node."""

    #: `on_error`, `then`: FAIL, SKIP, RESTART or FALL_BACK.
    on_error: int
    then: int
    #: How often a call is made again for one input set.
    retry: int
    #: `max_restarts`, `within_s`: at most so many new objects in any so many seconds.
    max_restarts: int
    within_s: float
    #: The first pause before a call is made again.
    backoff_s: float
    #: Method of the calculator → how long a call of it may take, in seconds; no entry for no limit.
    limits: dict[str, float]
    #: Its name, or "".
    error_stream: str
    #: The plan of a graph of the node alone, with the other calculator; None without one.
    fallback: Plan | None
