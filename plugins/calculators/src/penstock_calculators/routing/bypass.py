"""BypassCalculator: replaces a part of the graph that is switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import next_allowed
from penstock.ports import parse_tag_index, port_name
from penstock_calculators.messages.bypass_pb2 import BypassCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract
    from penstock.ports import PortSpecs

    PortId = tuple[str, int]


class BypassCalculator(penstock.Calculator):
    """Takes all inputs, forwards some of them, and settles every other output.

    It accepts the ports of the part that it replaces, of any type, so a switch such as SwitchContainer
    can choose between the two. The options name the inputs to forward and the outputs that get them; all
    other inputs are dropped, all other outputs have bounds only::

        VIDEO       a b . d
        FACES:0     . . . .        (bounds at 1, 2, 4)
        VIDEO_OUT   a b . d        (pass_input_stream "VIDEO", pass_output_stream "VIDEO_OUT")

    Packets of inputs that are not forwarded appear in the ledger as "bypassed". Side packets are ignored,
    output side packets are never made. The timestamp offset is 0, headers are not forwarded, and the
    output does not depend on the order of arrival.

    Options: `pass_input_stream` and `pass_output_stream`, equally many: ports as "TAG", "TAG:index", or
    ":index" without a tag.

    Source of the behaviour: MediaPipe `calculators/core/bypass_calculator.cc`.

    Example config::

        node {
          calculator: "BypassCalculator"
          input_stream: "VIDEO:frames"
          input_stream: "ENABLE:is_wanted"
          output_stream: "VIDEO:annotated_frames"
          output_stream: "FACES:faces"
          options {
            [penstock.BypassCalculatorOptions.ext] {
              pass_input_stream: "VIDEO"
              pass_output_stream: "VIDEO"
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept all ports, and give each output that gets an input's packets the input's type.

        Raises:
            InvalidArgumentError: the two options differ in length, name a port twice, or name a port that
                is not connected.
        """
        options = cc.options(BypassCalculatorOptions)
        sources = _ports(cc.inputs, options.pass_input_stream, "pass_input_stream", "input")
        targets = _ports(cc.outputs, options.pass_output_stream, "pass_output_stream", "output")
        if len(sources) != len(targets):
            raise InvalidArgumentError(
                f"bypass: pass_input_stream names {len(sources)} inputs, but pass_output_stream "
                f"{len(targets)} outputs; name an output for each input"
            )
        for ports in (cc.inputs, cc.outputs, cc.input_side_packets, cc.output_side_packets):
            for port in ports:
                port.set_any("accepted as every other port")
        for source, target in zip(sources, targets, strict=True):
            cc.outputs[target].set_same_as(cc.inputs[source], f"the packets of {port_name(*source)}")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Pair the ports."""
        options = cc.options(BypassCalculatorOptions)
        #: Input → the output that gets its packets.
        self._targets = dict(
            zip(
                map(parse_tag_index, options.pass_input_stream),
                map(parse_tag_index, options.pass_output_stream),
                strict=True,
            )
        )
        passed = set(self._targets.values())
        self._empty = [key for key in cc.outputs.ids() if key not in passed]

    def process(self, cc: CalculatorContext) -> None:
        """Forward the inputs that the options name, and settle the other outputs."""
        for key, port in zip(cc.inputs.ids(), cc.inputs, strict=True):
            if port.is_empty():
                continue  # the offset settles its output
            if key in self._targets:
                cc.outputs[self._targets[key]].add_packet(port.packet)
            else:
                port.count_dropped("bypassed")
        bound = next_allowed(
            cc.stamp
        )  # after PRESTREAM this is past the offset's bound: the stream has ended
        for key in self._empty:
            if bound > cc.outputs[key].bound:
                cc.outputs[key].set_next_timestamp_bound(bound)


def _ports(specs: PortSpecs, names: Iterable[str], option: str, what: str) -> list[PortId]:
    """Return the ports that an option names, each of which must be connected."""
    found: list[PortId] = []
    for name in names:
        key = parse_tag_index(name)
        if key not in specs.ids():
            connected = ", ".join(port_name(*one) for one in specs.ids()) or "none"
            raise InvalidArgumentError(
                f"bypass: {option} names {name!r}, but there is no such {what}; connected are: {connected}"
            )
        if key in found:
            raise InvalidArgumentError(f"bypass: {option} names {name!r} twice; name each {what} once")
        found.append(key)
    return found
