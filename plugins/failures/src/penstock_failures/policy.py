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
    """The failure policy of one node.

    Attributes:
        on_error, then: FAIL, SKIP, RESTART or FALL_BACK.
        retry: how often a call is made again for one input set.
        max_restarts, within_s: at most so many new objects in any so many seconds.
        backoff_s: the first pause before a call is made again.
        timeout_s: of a call; 0 for none.
        error_stream: its name, or "".
        fallback: the plan of a graph of the node alone, with the other calculator; None without one.
    """

    on_error: int
    then: int
    retry: int
    max_restarts: int
    within_s: float
    backoff_s: float
    timeout_s: float
    error_stream: str
    fallback: Plan | None
