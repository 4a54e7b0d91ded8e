"""`Feedback`: loops as the application gets them, and memories made of the standard calculators.

A memory names calculators as a graph file would; where they are not installed it raises the same error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_builder.interfaces import component
from penstock_builder.loops import LoopStream
from penstock_builder.wires import SidePacket, Stream

if TYPE_CHECKING:
    from penstock_builder.draft import Draft

#: Gives each packet of MAIN what LOOP had for the packet before.
_MEMORY: Final = "PreviousLoopbackCalculator"
#: For the first tick: a value, at that tick, merged with the later ones of the memory.
_VALUE: Final = "ConstantSidePacketCalculator"
_AT_TICK: Final = "SidePacketToStreamCalculator"
_EITHER: Final = "MergeCalculator"

#: Type of an initial value → the field of the constant that holds it without loss.
_FIELDS: Final = {bool: "bool_value", int: "int64_value", float: "double_value", str: "string_value"}


class Feedback:
    """A loop. Made by `Graph.feedback`."""

    def __init__(self, stream: Stream, back: LoopStream) -> None:
        #: What nodes read of it.
        self.stream = stream
        self._back = back

    def connect(self, stream: Stream) -> Stream:
        """Say which stream goes round; return it. Inputs that read the loop become back edges.

        Raises:
            InvalidArgumentError: it belongs to another graph, is a loop's own, or has a type that a
                reader does not take.
            AlreadyExistsError: the loop is connected. Nothing changes.
        """
        return self._back.connect(stream)


def unremembered(graph: Draft, initial: object) -> Feedback:
    """Return a loop without a memory. Arguments and errors as `Graph.feedback`."""
    if initial is not None:
        raise InvalidArgumentError(
            f"feedback(initial={initial!r}) of the builder's loop needs tick=: the stream at whose first "
            "packet the loop begins"
        )
    back = LoopStream(graph)
    return Feedback(back, back)


def remembered(graph: Draft, tick: Stream, initial: object) -> Feedback:
    """Return a loop with a memory. Arguments and errors as `Graph.feedback`."""
    graph.check_own(tick, Stream)
    field = _FIELDS.get(type(initial))
    if initial is not None and field is None and not isinstance(initial, SidePacket):
        kind = type(initial).__name__
        raise InvalidArgumentError(
            f"feedback(initial={initial!r}) of the builder's loop: {kind!r} is none of bool, int, float and "
            "str; pass a side packet of the graph: g.side_packet(name)"
        )
    # Before the first node is made: a call that raises changes nothing.
    for name in (_MEMORY, *((_VALUE, _AT_TICK, _EITHER) if initial is not None else ())):
        component(name, graph.registry, graph.settings.package)
    if isinstance(initial, SidePacket):
        graph.check_own(initial, SidePacket)
        side = initial
    elif initial is not None:
        value = graph.node(_VALUE, packet=[{field: initial}])
        side = value.output_side_packets["PACKET"]
    back = LoopStream(graph)
    memory = graph.node(_MEMORY, {"MAIN": tick, "LOOP": back}).outputs["PREV_LOOP"]
    if initial is None:
        return Feedback(memory, back)
    first = graph.node(_AT_TICK, {"TICK": tick}, side).outputs["AT_FIRST_TICK"]
    return Feedback(graph.node(_EITHER, [first, memory]).outputs[0], back)
