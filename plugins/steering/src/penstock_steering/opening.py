"""A calculator that is opened beside that of a node, in a context of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.errors import CalculatorError, InvalidArgumentError, NotFoundError
from penstock.lowlevel import CLOSE, OPEN, show, show_method
from penstock.runs import checked_side_packets, find_services, new_run

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from penstock import Packet, ServiceKey
    from penstock.lowlevel import Invoker, Node, Plan
    from penstock.runs import Counters


class Beside:
    """A calculator beside that of a node. What it writes in `open` and `close` goes nowhere.

    Args:
        plan: of a graph of the node alone, with the calculator and options.
        live: the node.
        side_packet: returns a side packet of the run by its name, or None.
        counters: of the graph.

    Raises:
        CalculatorError: it cannot be made.
    """

    def __init__(
        self, plan: Plan, live: Node, side_packet: Callable[[str], Packet | None], counters: Counters
    ) -> None:
        node_plan = plan.nodes[0]
        given = {port.name: side_packet(port.name) for port in node_plan.input_side_packets}
        services: dict[ServiceKey[Any], object] = {}
        for key in node_plan.contract.services:
            try:
                services[key] = live.services.service(live, key)
            except NotFoundError:  # an optional one, which is not there
                continue
        run = new_run(
            plan,
            checked_side_packets(plan, {name: one for name, one in given.items() if one is not None}),
            find_services(plan, services),
            counters=counters,
        )
        run.services.change = lambda event: event(run.schedule)
        self._live: Final = live
        self._kind: Final = node_plan.calculator
        self._node: Final = run.schedule.nodes[0]
        for reader, header in zip(self._node.inputs, live.inputs, strict=True):
            reader.header = header.header
        #: Made, not opened.
        self.calculator: Final[Invoker] = self._node.calculator
        #: Whether it has opened, and was not closed.
        self.is_open = False

    def open(self) -> Generator[Any, Any, None]:
        """Open it; yields what `open` returns.

        Raises:
            CalculatorError: `open` failed; or it wrote packets, headers or offsets other than the node has.
                It is then closed.
        """
        step = self._node.step
        show_method(step, OPEN)
        try:
            yield self._node.open(step)
        except Exception as error:
            raise CalculatorError(self._live.name, self._kind, "open", error) from error
        self.is_open = True
        try:
            self._check()
        except InvalidArgumentError as error:
            yield self.close()
            raise CalculatorError(self._live.name, self._kind, "open", error) from error

    def close(self) -> Any:
        """Close it; returns what its `close` returns."""
        step = self._node.step
        show_method(step, CLOSE)
        self.is_open = False
        return self.calculator.close(step)

    def _check(self) -> None:
        live = self._live
        for output, mine in zip(self._node.step.out_ports, live.outputs, strict=True):
            stream = output.stream
            if output.packets or (output.will_close and not mine.is_closed):
                raise InvalidArgumentError(
                    f"open() of the calculator that takes over wrote to stream {mine.name!r}, whose readers "
                    "have what the first open() wrote; it may not write there",
                    stream=mine.name,
                )
            if not _is_same(stream.header, mine.header):
                raise InvalidArgumentError(
                    f"open() of the calculator that takes over set another header on stream {mine.name!r} "
                    "than its readers have; set the same",
                    stream=mine.name,
                )
            if stream.offset != mine.offset:
                raise InvalidArgumentError(
                    f"open() of the calculator that takes over left stream {mine.name!r} with the timestamp "
                    f"offset {_offset(stream.offset)}, but it has {_offset(mine.offset)}; it must be the "
                    "same",
                    stream=mine.name,
                )
        if self._node.policy.process_bounds != live.policy.process_bounds:
            raise InvalidArgumentError(
                "open() of the calculator that takes over set process timestamp bounds to "
                f"{self._node.policy.process_bounds}, but the node has {live.policy.process_bounds}; it must "
                "be the same"
            )


def _offset(offset: int | None) -> str:
    return "none" if offset is None else show(offset)


def _is_same(one: Packet, other: Packet) -> bool:
    """Return whether two headers are equal; where their classes cannot tell, they are not."""
    if one.is_empty() or other.is_empty():
        return one.is_empty() and other.is_empty()
    if one.payload is other.payload:
        return True
    try:
        return bool(one.payload == other.payload)
    except Exception:  # noqa: BLE001  # an array, say
        return False
