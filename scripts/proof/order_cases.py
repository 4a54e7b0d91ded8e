"""Small graphs of which `every_order.py` takes all orders: one for each input policy, and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from order_case import Case, begins, join, line, registry, swap
from order_cases_more import MORE

from penstock_testing.every_order.stepping import Deed

if TYPE_CHECKING:
    from penstock_testing import ScheduleHarness

__all__ = ["CASES", "Case", "registry"]


def _time_out(harness: ScheduleHarness) -> None:
    harness.time_out("Newest")


def _waits(harness: ScheduleHarness) -> bool:
    return harness.node("Newest").id in harness.schedule.waiting()


_DIAMOND: Final = (
    'input_stream: "a" node { calculator: "Double" input_stream: "a" output_stream: "b" } '
    'node { calculator: "Odd" input_stream: "a" output_stream: "c" } '
    'node { calculator: "Both" input_stream: "b" input_stream: "c" output_stream: "out" }'
)
_SOURCE: Final = """
    node { calculator: "Two" output_stream: "b" }
    node { calculator: "Double" input_stream: "b" output_stream: "out" }"""


def _in_turn(came: list[Any]) -> bool:
    """Return whether each input's packets came in order, and none twice; old policies may replace some."""
    for position in (0, 1):
        mine = [one[position] for one in came if one[position] is not None]
        if mine != sorted(set(mine)):
            return False
    return True


def _swapped(came: list[Any]) -> bool:
    """Return whether there is one moment from which the swapped node wrote."""
    return came in [[2, 4, 6][:count] + [-1, -2, -3][count:] for count in range(4)]


_AB: Final = {"a": [0, 2], "b": [0, 1]}
_THREE: Final = {"a": [0, 1, 2]}
_NEAREST: Final = "[penstock.NearestOptions.ext] { tolerance: 1 }"
_TIMEOUT: Final = "[penstock.TimeoutOptions.ext] { timeout_ms: 10 }"
_FAILING: Final = ("FailsAtOne", "a", "b")
_LAST: Final = ("Double", "b", "out")
_TWO: Final = (("Double", "a", "b"), _LAST)
CASES: Final[tuple[Case, ...]] = (
    Case("a line of two nodes", line(*_TWO), {"a": [0, 1]}),
    Case("two ways that meet", _DIAMOND, {"a": [0]}),
    Case("two ways that meet, two packets", _DIAMOND, {"a": [0, 1]}, is_long=True),
    Case("two calls of a node at a time", line(("Double", "a", "out", "max_in_flight: 2")), _THREE),
    Case("queues of one packet", line(*_TWO, more="max_queue_size: 1"), _THREE),
    Case("a source", _SOURCE, {}),
    Case("DefaultInputStreamHandler", join("DefaultInputStreamHandler"), _AB),
    Case("SyncSetInputStreamHandler", join("SyncSetInputStreamHandler", calculator="Newest"), _AB),
    Case("InnerJoin", join("InnerJoin"), _AB),
    Case("Nearest", join("Nearest", _NEAREST), _AB),
    Case("Latest", join("Latest"), _AB),
    Case("BarrierInputStreamHandler", join("BarrierInputStreamHandler", calculator="Newest"), _AB),
    Case("EarlyCloseInputStreamHandler", join("EarlyCloseInputStreamHandler"), _AB),
    Case("FixedSizeInputStreamHandler", join("FixedSizeInputStreamHandler"), _AB, _in_turn),
    Case(
        "ImmediateInputStreamHandler",
        join("ImmediateInputStreamHandler", calculator="Newest"),
        {"a": [0], "b": [1]},
        _in_turn,
    ),
    Case(
        "Timeout, which expires at any moment or not",
        join("Timeout", _TIMEOUT, "Newest"),
        _AB,
        _in_turn,
        (Deed("time-out", _time_out, _waits),),
    ),
    Case("a node that returns STOP", line(("StopsAtOne", "a", "b"), _LAST), _THREE, begins(2, 4, 6)),
    Case("a call that fails", line(_FAILING, _LAST), _THREE, begins(2)),
    Case("a failed call: SKIP", line((*_FAILING, "failure { on_error: SKIP }"), _LAST), _THREE),
    Case("a failed call: RESTART", line((*_FAILING, "failure { on_error: RESTART }"), _LAST), _THREE),
    Case("a failed call: retry", line((*_FAILING, "failure { on_error: SKIP retry: 1 }"), _LAST), _THREE),
    Case(
        "a cancel at any moment",
        line(*_TWO),
        {"a": [0, 1]},
        begins(4, 8),
        (Deed("cancel", lambda harness: harness.cancel()),),
    ),
    Case(
        "a swap at any moment",
        line(("Double", "a", "out")),
        _THREE,
        _swapped,
        (Deed("swap", swap),),
        may_move=True,
    ),
    *MORE,
)
