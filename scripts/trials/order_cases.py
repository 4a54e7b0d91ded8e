"""Small graphs of which `every_order.py` takes all orders: one for each input policy, and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from unittest import mock

import attrs

from penstock import STOP, Calculator
from penstock.config import build_plan
from penstock.lowlevel import Layer
from penstock.packs import default_registry
from penstock_testing.every_order.stepping import Deed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock import CalculatorContext, CalculatorContract, Registry
    from penstock.lowlevel import Plan, Stop
    from penstock_testing import ScheduleHarness
    from penstock_testing.every_order.search import Orders


class Numbers(Calculator):
    """Ports that take and give ints or tuples, at the timestamps of the inputs."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.set_timestamp_offset(0)


class Double(Numbers):
    """Doubles."""

    def process(self, cc: CalculatorContext) -> None:
        """Write twice the number."""
        cc.output.add(2 * cc.input.payload, cc.input_timestamp)


class Odd(Numbers):
    """Passes odd numbers, and writes nothing for others."""

    def process(self, cc: CalculatorContext) -> None:
        """Write the number if it is odd."""
        if cc.input.payload % 2:
            cc.output.add(cc.input.payload, cc.input_timestamp)


class Both(Numbers):
    """Writes what came on each input, None for nothing."""

    def process(self, cc: CalculatorContext) -> None:
        """Write a tuple."""
        came = tuple(None if port.is_empty() else port.payload for port in cc.inputs)
        cc.output.add(came, cc.input_timestamp)


class Newest(Both):
    """As `Both`, for policies with which timestamps may come again or go back: it counts its own."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Promise no timestamps."""
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Begin at 0."""
        self.count = 0

    def process(self, cc: CalculatorContext) -> None:
        """Write a tuple at the next timestamp."""
        came = tuple(None if port.is_empty() else port.payload for port in cc.inputs)
        cc.output.add(came, self.count)
        self.count += 1


class FailsAtOne(Numbers):
    """Fails at timestamp 1."""

    def process(self, cc: CalculatorContext) -> None:
        """Write the number, or raise."""
        if cc.input_timestamp == 1:
            raise ValueError("one")
        cc.output.add(cc.input.payload, cc.input_timestamp)


class StopsAtOne(Numbers):
    """Ends the sources of the run at timestamp 1."""

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write the number."""
        cc.output.add(cc.input.payload, cc.input_timestamp)
        return STOP if cc.input_timestamp == 1 else None


class Two(Calculator):
    """A source of two numbers."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the output."""
        cc.outputs[0].set_any()

    def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Begin at 0."""
        self.count = 0

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write the next number."""
        if self.count == 2:  # noqa: PLR2004
            return STOP
        cc.output.add(self.count, self.count)
        self.count += 1
        return None


_OWN: Final = (Double, Odd, Both, Newest, FailsAtOne, StopsAtOne, Two)


@attrs.frozen
class Case:
    """A graph, and what all its orders must show."""

    name: str
    #: The text of the graph; its last output stream is the observed one.
    text: str
    #: Input → timestamps; the payloads are 1, 2, ...
    feeds: dict[str, list[int]]
    #: Whether the observed packets of a run may be these; None where each order must give the same.
    fits: Callable[[list[Any]], bool] | None = None
    deeds: tuple[Deed, ...] = ()
    may_move: bool = False
    #: Whether it takes some seconds: left out of the short form.
    is_long: bool = False

    def plan(self, registry: Registry) -> Plan:
        """Return the graph, checked."""
        return build_plan(self.text, registry)

    def fed(self) -> dict[str, list[tuple[int, object]]]:
        """Return what is fed."""
        return {name: [(at, n + 1) for n, at in enumerate(stamps)] for name, stamps in self.feeds.items()}

    def orders(self, registry: Registry, **arguments: Any) -> Orders:
        """Take all orders."""
        from penstock_testing.every_order.search import every_order

        given: dict[str, Any] = {
            "deeds": self.deeds,
            "may_move": self.may_move,
            "observe": ["out"],
        } | arguments
        with mock.patch(
            "penstock_failures.guard.monotonic", return_value=0.0
        ):  # else no two states are equal
            return every_order(self.plan(registry), self.fed(), **given)

    def fault(self, orders: Orders) -> str:
        """Say what is wrong with the results of all orders; "" where nothing is."""
        if self.fits is None:
            return "" if len(orders.outcomes) == 1 else f"the order shows: {orders.outcomes[:2]}"
        for outcome, choices in orders.outcomes:
            if not self.fits([payload for _, payload in outcome.carried["out"]]):
                return f"the order {choices} gives {outcome}"
        return ""


def registry() -> Registry:
    """Return the installed components and the calculators of the cases."""
    made = default_registry().child()
    for calculator in _OWN:
        made.add("calculator", calculator.__name__, calculator)
    return made


class Negated(Layer):
    """A layer that a swap puts around `Double`: it writes the negated number."""

    def __init__(self) -> None:
        super().__init__(4, (1,))

    def process(self, step: Any) -> object:
        """Write in place of the calculator."""
        step.outputs[0].add(-step.inputs[0].payload, step.stamp)
        return None


def _swap(harness: ScheduleHarness) -> None:
    harness.change(lambda schedule: schedule.put_around(harness.node("Double"), Negated()))


def _time_out(harness: ScheduleHarness) -> None:
    harness.time_out("Newest")


def _waits(harness: ScheduleHarness) -> bool:
    return harness.node("Newest").id in harness.schedule.waiting()


def join(policy: str, options: str = "", calculator: str = "Both") -> str:
    """Return the text of a node with two inputs and a policy."""
    given = f"options {{ {options} }}" if options else ""
    return (
        f'input_stream: "a" input_stream: "b" node {{ calculator: "{calculator}" input_stream: "a" '
        f'input_stream: "b" output_stream: "out" '
        f'input_stream_handler {{ input_stream_handler: "{policy}" {given} }} }}'
    )


_LINE: Final = 'node {{ calculator: "{}" input_stream: "{}" output_stream: "{}" {} }}'


def line(*nodes: Sequence[str], more: str = "") -> str:
    """Return the text of a graph with one input, `a`, of nodes: calculator, input, output, other fields."""
    parts = [_LINE.format(*node, *[""] * (4 - len(node))) for node in nodes]
    return f'input_stream: "a" {more} {" ".join(parts)}'


_DIAMOND: Final = (
    'input_stream: "a" node { calculator: "Double" input_stream: "a" output_stream: "b" } '
    'node { calculator: "Odd" input_stream: "a" output_stream: "c" } '
    'node { calculator: "Both" input_stream: "b" input_stream: "c" output_stream: "out" }'
)
_SOURCE: Final = """
    node { calculator: "Two" output_stream: "b" }
    node { calculator: "Double" input_stream: "b" output_stream: "out" }"""


def _begins(*payloads: int) -> Callable[[list[Any]], bool]:
    return lambda came: came == list(payloads)[: len(came)]


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
    Case("a node that returns STOP", line(("StopsAtOne", "a", "b"), _LAST), _THREE, _begins(2, 4, 6)),
    Case("a call that fails", line(_FAILING, _LAST), _THREE, _begins(2)),
    Case("a failed call: SKIP", line((*_FAILING, "failure { on_error: SKIP }"), _LAST), _THREE),
    Case("a failed call: RESTART", line((*_FAILING, "failure { on_error: RESTART }"), _LAST), _THREE),
    Case("a failed call: retry", line((*_FAILING, "failure { on_error: SKIP retry: 1 }"), _LAST), _THREE),
    Case(
        "a cancel at any moment",
        line(*_TWO),
        {"a": [0, 1]},
        _begins(4, 8),
        (Deed("cancel", lambda harness: harness.cancel()),),
    ),
    Case(
        "a swap at any moment",
        line(("Double", "a", "out")),
        _THREE,
        _swapped,
        (Deed("swap", _swap),),
        may_move=True,
    ),
)
