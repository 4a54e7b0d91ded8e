"""What a step shows of its call, and how it shows another method while a layer calls that one within it.

A layer may close a calculator, or open another one, in the middle of a call of `process`. Both get the step
of that call, and `show_method` lets the step show their method: the context has the timestamp of the method
and no inputs, ports allow what the method may write, and errors name it. `ShownCall.again` brings back what
the step showed before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.engine.methods import CLOSE, OPEN
from penstock.timestamp import DONE, PRESTREAM, UNSTARTED

if TYPE_CHECKING:
    from penstock.engine.output_port import Output
    from penstock.engine.packet import Packet
    from penstock.engine.step import Step

#: The input timestamps of the methods that a step may show.
_STAMPS: Final = {OPEN: UNSTARTED, CLOSE: DONE}


class ShownCall:
    """What a step shows of its call at one moment."""

    __slots__ = ("_step", "method", "packets", "stamp", "written")

    def __init__(self, step: Step) -> None:
        self._step: Final = step
        #: `method`, `stamp`: of the call.
        self.method: Final = step.method
        self.stamp: Final = step.stamp
        #: One for each input.
        self.packets: Final[list[Packet]] = [port.packet for port in step.in_ports]
        #: For each output the number of packets that wait in it, and its bound.
        self.written: Final = [(len(output.packets), output.bound) for output in step.out_ports]

    def again(self) -> None:
        """Let the step show method, timestamp and inputs as they were."""
        self.method_again()
        self.inputs_again()

    def method_again(self) -> None:
        """Let the step show method and timestamp as they were, but no inputs. Runs no user code."""
        self._step.method, self._step.stamp = self.method, self.stamp

    def inputs_again(self) -> None:
        """Give the step the inputs that it had."""
        for port, packet in zip(self._step.in_ports, self.packets, strict=True):
            port.packet = packet

    def take_back(self) -> None:
        """Drop what was written since, and what was promised."""
        for output, (count, bound) in zip(self._step.out_ports, self.written, strict=True):
            del output.packets[count:]
            output.bound = bound
            output.will_close = False


def show_method(step: Step, method: int, *, promises_anew: bool = False) -> ShownCall:
    """Let a step show another method, and no inputs; return what it showed before.

    Args:
        step: not called by another thread meanwhile.
        method: OPEN or CLOSE.
        promises_anew: whether the method may write and promise what was written and promised already; the
            caller takes it back afterwards.
    """
    before = ShownCall(step)
    step.method, step.stamp = method, _STAMPS[method]
    step.clear_inputs()
    if promises_anew:
        for output in step.out_ports:
            output.bound = _first_bound(output)
    return before


def _first_bound(output: Output) -> int:
    return DONE if output.stream.is_closed else PRESTREAM
