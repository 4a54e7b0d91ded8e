"""The driver's end of a remote node: what stands for its calculator, sends each call and writes each answer.

The engine stays in the driver. A node that an executor has placed elsewhere has a `RemoteCalculator` here,
whose methods send a `Call` and write what the `Answer` says. Order, bounds, throttling, offsets and the
ledger are those of any other node.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock import STOP, Packet
from penstock.lowlevel import NO_PAYLOAD, OPEN, PROCESS, StandIn, next_allowed
from penstock_remote.calls import Call, Opening
from penstock_remote.remote_payload import RemotePayload

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from penstock import CalculatorContext
    from penstock.lowlevel import Stop
    from penstock.runs import Step
    from penstock_remote.calls import Answer

    #: Writes an answer to the outputs of the call's step, and returns what the calculator's method returns.
    #: To be called once, on any thread.
    Write = Callable[[Answer], Stop | None]
    #: Sends a call; returns what `write` returns for its answer, or a future of that.
    Exchange = Callable[[Call, Write], Stop | Future[Stop | None] | None]


class End(Protocol):
    """Makes calls, and writes answers, as `call_of` and `write` do."""

    def call_of(self, step: Step) -> Call:
        """Return what a step asks for, as data."""

    def write(self, step: Step, answer: Answer) -> Stop | None:
        """Write what a call did at the other end; return what `process` returns."""


class RemoteCalculator(StandIn):
    """Stands for a calculator that is elsewhere.

    Args:
        exchange: sends a call to it, and writes the answer. A future that it returns may have a method
            `standing`, which says in words where the call is; `graph.why()` repeats it.
        end: makes the calls and writes the answers of a region; None where it stands for one calculator.
    """

    def __init__(self, exchange: Exchange, end: End | None = None) -> None:
        self._exchange: Final = exchange
        self._end: Final = end

    def works_at(self) -> str:
        """Return in words where the calculator is, as "worker 3 (pid 4711)"; "" where that is not known."""
        where: Callable[[], str] | None = getattr(self._exchange, "where", None)
        return "" if where is None else where()

    def open(self, cc: CalculatorContext) -> Any:
        """Open the calculator at the other end."""
        return self._do(cc)

    def process(self, cc: CalculatorContext) -> Any:
        """Call `process` at the other end."""
        return self._do(cc)

    def close(self, cc: CalculatorContext) -> Any:
        """Close the calculator at the other end."""
        return self._do(cc)

    def _do(self, cc: Any) -> Any:
        step: Step = cc
        end = self._end
        if end is not None:
            return self._exchange(end.call_of(step), partial(end.write, step))
        return self._exchange(call_of(step), partial(write, step))


def call_of(step: Step) -> Call:
    """Return what a step asks for, as data."""
    inputs: list[Any] = []
    for port in step.in_ports:
        packet = port.packet
        value = packet.value
        inputs.append((packet.stamp, port.done) if value is NO_PAYLOAD else (packet.stamp, port.done, value))
    bounds = [output.bound for output in step.outputs.items]
    if step.method != OPEN:
        return Call(step.method, step.stamp, inputs, bounds)
    ports = step.input_side_packets
    sides = [(tag, index, packet.payload) for (tag, index), packet in zip(ports.ids(), ports, strict=True)]
    headers = [() if port.header.is_empty() else (port.header.payload,) for port in step.in_ports]
    ordered = [output.stream.is_ordered for output in step.outputs.items]
    opening = Opening(sides, headers, ordered, step.node.services.copied_services(step.node))
    return Call(step.method, step.stamp, inputs, bounds, opening)


def write(step: Step, answer: Answer) -> Stop | None:
    """Write what a call did at the other end to the outputs of a step; return what `process` returns.

    Raises:
        PenstockError: the outputs refuse it, as they would refuse the calculator itself.
    """
    if step.method == PROCESS:
        step.node.busy_ns += answer.busy_ns
    if answer.more:
        _write_more(answer.more, step)
    for output, written in zip(step.outputs.items, answer.outputs, strict=True):
        if written is None:
            continue
        packets, bound, is_closed = written
        for stamp, payload in packets:
            if isinstance(payload, RemotePayload):  # the other end has checked it
                output.packets.append(Packet(payload, stamp))
                output.bound = max(output.bound, next_allowed(stamp))
            else:
                output.add_packet(Packet(payload, stamp))
        if is_closed:
            output.close()
        elif bound > output.bound:
            output.set_next_timestamp_bound(bound)
    return STOP if answer.is_stop else None


def _write_more(more: dict[str, Any], step: Step) -> None:
    node = step.node
    for number, offset in more.get("offsets", {}).items():
        step.outputs.items[number].stream.offset = offset
    for number, payload in more.get("headers", {}).items():
        step.outputs.items[number].set_header(Packet(payload))
    if "process_bounds" in more:
        step.set_process_timestamp_bounds(more["process_bounds"])
    for name, payload in more.get("side_packets", {}).items():
        next(port for port in step.output_side_packets if port.name == name).set(payload)
    for name, increase in more.get("counters", {}).items():
        node.services.counter(node, name).increment_by(increase)
    for number, reason, count in more.get("dropped", ()):
        step.in_ports[number].count_dropped(reason, count)
    for number, reason, count in more.get("unwritten", ()):
        step.outputs.items[number].count_dropped(reason, count)
    for number, reason, count in more.get("cut", ()):
        step.in_ports[number].count_cut(reason, count)
