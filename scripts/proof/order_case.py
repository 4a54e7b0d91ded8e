"""A small graph whose orders are all taken: its text, what is fed, what orders must show; calculators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from unittest import mock

import attrs

from penstock import STOP, Calculator
from penstock.config import build_plan
from penstock.lowlevel import Layer
from penstock.packs import default_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock import CalculatorContext, CalculatorContract, Registry
    from penstock.lowlevel import Plan, Stop
    from penstock_testing import ScheduleHarness
    from penstock_testing.every_order.search import Orders
    from penstock_testing.every_order.stepping import Deed


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


class Late(Odd):
    """As `Odd`, without a promise about timestamps: what meets it waits for its next packet."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Promise no timestamps."""
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()


class Again(Late):
    """The way back of a cycle: writes at the next timestamp, and for the first one in its `open`."""

    def open(self, cc: CalculatorContext) -> None:
        """Write what there is before anything has come."""
        cc.output.add(0, 0)

    def process(self, cc: CalculatorContext) -> None:
        """Write how many packets have gone round so far; nothing where no packet of the input was there."""
        came, before = cc.input.payload
        if came is not None:
            cc.output.add(1 if before is None else 1 + before, cc.input_timestamp + 1)


class FailsToOpenOnce(Numbers):
    """Its first object fails in `open`."""

    def open(self, cc: CalculatorContext) -> None:
        """Count, and fail the first time."""
        calls = cc.counter("opened")
        calls.increment()
        if calls.get() == 1:
            raise ValueError("not yet")

    def process(self, cc: CalculatorContext) -> None:
        """Write the number."""
        cc.output.add(cc.input.payload, cc.input_timestamp)


class FailsToClose(Double):
    """Fails in `close`."""

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Raise."""
        raise ValueError("it stays open")


class BadSource(Two):
    """A source of two numbers that fails at its second call; its next object goes on where it was."""

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write a number, or raise."""
        calls = cc.counter("calls")
        calls.increment()
        if calls.get() == 2:  # noqa: PLR2004
            raise ValueError("no number")
        if calls.get() == 4:  # noqa: PLR2004
            return STOP
        cc.output.add(calls.get(), calls.get())
        return None


_OWN: Final = (
    Double, Odd, Both, Newest, FailsAtOne, StopsAtOne, Two, Late, Again, FailsToOpenOnce, FailsToClose,
    BadSource,
)  # fmt: skip


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
    #: What a run gets besides: services and such.
    given: Mapping[str, Any] = attrs.field(factory=dict)
    #: How many errors each run has; None where any are right.
    errors: int | None = None

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
            **self.given,
            **arguments,
        }
        with mock.patch(
            "penstock_failures.guard.monotonic", return_value=0.0
        ):  # else no two states are equal
            return every_order(self.plan(registry), self.fed(), **given)

    def fault(self, orders: Orders) -> str:
        """Say what is wrong with the results of all orders; "" where nothing is."""
        for outcome, choices in orders.outcomes:
            if self.errors is not None and len(outcome.errors) != self.errors:
                return f"the order {choices} gives the errors {outcome.errors}"
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


def swap(harness: ScheduleHarness) -> None:
    """Let another calculator take over from `Double`."""
    harness.change(lambda schedule: schedule.put_around(harness.node("Double"), Negated()))


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


def begins(*payloads: int) -> Callable[[list[Any]], bool]:
    """Return whether the packets of a run are the first of these."""
    return lambda came: came == list(payloads)[: len(came)]
