"""Penstock as `run_cases.py` wants an implementation, for the recorded runs of the reference.

A case gives timestamps as ints or names ("MIN+1", "POSTSTREAM"), values as a kind and plain data, and
wants both back as plain data. Everything goes through the public names, with the installed packs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import Message

import penstock_formats
from penstock import CalculatorGraph, Packet, Timestamp
from penstock_formats import Matrix

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "penstock"
SPECIAL = {
    "UNSET": Timestamp.UNSET,
    "UNSTARTED": Timestamp.UNSTARTED,
    "PRESTREAM": Timestamp.PRESTREAM,
    "MIN": Timestamp.MIN,
    "MAX": Timestamp.MAX,
    "POSTSTREAM": Timestamp.POSTSTREAM,
    "DONE": Timestamp.DONE,
}
NAMES = {value: name for name, value in SPECIAL.items()} | {
    Timestamp.ONE_OVER_POSTSTREAM: "ONEOVERPOSTSTREAM"
}
#: How far from MIN and MAX a timestamp is still written relative to them.
NEAR = 1000
#: Seconds after which a wait of a case counts as failed; a case itself has a limit beyond that.
PATIENCE_S = 3.0
PLAIN = {
    "bool": bool,
    "str": str,
    **dict.fromkeys(("int", "int32", "int64", "uint", "uint32", "uint64"), int),
    **dict.fromkeys(("float", "double"), float),
    **dict.fromkeys(("int_vector", "float_vector", "bool_vector", "str_vector"), list),
}


def timestamp_in(value: int | str) -> Timestamp:
    """Return the timestamp that a case means."""
    if not isinstance(value, str):
        return Timestamp(value)
    name, _, offset = value.partition("+")
    return SPECIAL[name] + int(offset) if offset else SPECIAL[name]


def timestamp_out(timestamp: Timestamp) -> int | str:
    """Return how a case writes a timestamp."""
    number = int(timestamp)
    if timestamp in NAMES:
        return NAMES[timestamp]
    if number - Timestamp.MIN < NEAR:
        return f"MIN+{number - int(Timestamp.MIN)}"
    if int(Timestamp.MAX) - number < NEAR:
        return f"MAX-{int(Timestamp.MAX) - number}"
    return number


def make(kind: str, value: Any) -> Packet:
    """Return a packet of plain data.

    Raises:
        NotImplementedError: a kind whose payload type no pack has yet.
    """
    if kind == "empty":
        return Packet()
    if kind == "matrix":
        return Packet(Matrix(np.array(value, np.float32)))
    if kind == "packet_vector":
        return Packet([make(*one) for one in value])
    family, _, name = kind.partition(":mediapipe.")
    if family == "proto" and name in penstock_formats.__all__:
        return Packet(text_format.Parse(value, getattr(penstock_formats, name)()))
    if kind not in PLAIN:
        raise NotImplementedError(f"value of kind {kind!r}: no payload type stands for it yet")
    return Packet(PLAIN[kind](value))


def read(packet: Packet) -> Any:
    """Return a packet's payload as a case writes it."""
    return "EMPTY" if packet.is_empty() else plain(packet.payload)


def plain(value: Any) -> Any:
    """Return a payload as a case writes it: a list by the type of its first element."""
    if isinstance(value, list):
        if value and isinstance(value[0], Message):
            return {"protos": [one_line(one) for one in value]}
        items = [plain(one) for one in value]
        return {"packets": items} if value and isinstance(value[0], Packet) else items
    written = next((write for kind, write in WRITTEN if isinstance(value, kind)), None)
    return {"opaque": type(value).__name__} if written is None else written(value)


def one_line(message: Message) -> str:
    """Return a message's text as the wheel writes it."""
    return text_format.MessageToString(message, as_one_line=True)


#: The first that fits counts. Python cannot read a timestamp that is a payload out of the reference.
WRITTEN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Timestamp, lambda _: {"opaque": "::mediapipe::Timestamp"}),
    (Packet, read),
    (Message, lambda value: {"proto": one_line(value)}),
    (Matrix, lambda value: {"matrix": value.array.tolist()}),
    (bytes, lambda value: {"bytes": value.hex()}),
    (float, lambda value: round(value, 6)),
    (bool | int | str, lambda value: value),
)


class Graph:
    """A graph under test, driven by the steps of a case."""

    def __init__(self, pbtxt: str) -> None:
        self.graph = CalculatorGraph(pbtxt)

    def observe(self, stream: str, callback: Callable[[str, Any, Any], None], bounds: bool) -> None:
        def seen(name: str, packet: Packet) -> None:
            callback(name, timestamp_out(packet.timestamp), read(packet))

        self.graph.observe_output_stream(stream, seen, bounds)

    def start(self, side: dict[str, list[Any]]) -> None:
        self.graph.start_run({name: make(*value) for name, value in side.items()})

    def add(self, stream: str, kind: str, value: Any, t: int | str) -> None:
        self.graph.add_packet_to_input_stream(stream, make(kind, value).at(timestamp_in(t)))

    def idle(self) -> None:
        self.graph.wait_until_idle(PATIENCE_S)

    def close(self, stream: str) -> None:
        self.graph.close_input_stream(stream)

    def close_all(self) -> None:
        self.graph.close_all_packet_sources()

    def done(self) -> None:
        self.graph.wait_until_done(PATIENCE_S)

    def has_error(self) -> bool:
        return self.graph.has_error()

    def combined_error(self) -> str:
        return self.graph.get_combined_error_message()

    def side_out(self, name: str) -> Any:
        return read(self.graph.get_output_side_packet(name))

    def add_mode(self, name: str) -> None:
        self.graph.graph_input_stream_add_mode = name

    def max_queue_size(self) -> int:
        return self.graph.max_queue_size
