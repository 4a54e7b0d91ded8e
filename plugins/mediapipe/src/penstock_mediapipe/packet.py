"""`Packet`, as programs for MediaPipe's framework know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, SupportsIndex

import numpy as np
from google.protobuf.message import Message

import penstock
from penstock_formats import Image, ImageFrame, Matrix
from penstock_mediapipe.timestamp import Timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN: Final[Mapping[type, str]] = {
    bool: "bool",
    np.bool_: "bool",
    int: "int",
    float: "float",
    str: "string",
    bytes: "string",
    ImageFrame: "::mediapipe::ImageFrame",
    Image: "::mediapipe::Image",
    Matrix: "Eigen::Matrix<float, -1, -1, 0, -1, -1>",
}


class Packet:
    """A value under a timestamp; `Packet()` is empty.

    Packets are made by `packet_creator` and read by `packet_getter`.
    """

    __slots__ = ("_core", "_type_name")

    def __init__(self) -> None:
        self._core = penstock.Packet()
        self._type_name = ""

    @classmethod
    def of(cls, core: penstock.Packet, type_name: str = "") -> Packet:
        """Return the packet for one of Penstock's.

        Args:
            core: the packet.
            type_name: the C++ type of its value, as MediaPipe writes it; "" where the value tells.
        """
        made = cls()
        made._core = core
        made._type_name = type_name
        return made

    @property
    def core(self) -> penstock.Packet:
        """The same packet as Penstock has it."""
        return self._core

    @property
    def type_name(self) -> str:
        """The C++ type of the value, as MediaPipe writes it; "" in an empty packet."""
        if self._core.is_empty():
            return ""
        return self._type_name or type_name_of(self._core.payload)

    @property
    def is_of_unknown_size(self) -> bool:
        """Whether it holds an int whose C++ type nothing says: one that a graph has made."""
        return not self._type_name and type(self._core.payload) is int

    @property
    def timestamp(self) -> Timestamp:
        """When; UNSET where nothing was said."""
        return Timestamp(int(self._core.timestamp))

    @timestamp.setter
    def timestamp(self, timestamp: SupportsIndex) -> None:
        self._core = self._core.at(timestamp)

    def at(self, timestamp: SupportsIndex) -> Packet:
        """Return a packet with the same value at a timestamp, a `Timestamp` or an int.

        Raises:
            TypeError: it is neither.
        """
        return Packet.of(self._core.at(timestamp), self._type_name)

    def is_empty(self) -> bool:
        """Return whether there is no value."""
        return self._core.is_empty()

    def __repr__(self) -> str:
        holds = f"C++ type: {self.type_name}" if not self.is_empty() else "no data"
        time = repr(self.timestamp).rpartition(" ")[2].rstrip(">")
        return f"<mediapipe.Packet with timestamp: {time} and {holds}>"


def type_name_of(value: Any) -> str:
    """Return the C++ type that a value stands for, as MediaPipe writes it."""
    found = _PLAIN.get(type(value))
    if found is not None:
        return found
    if isinstance(value, Message):
        return f"::mediapipe::{type(value).__name__}"
    if isinstance(value, dict):
        return "::std::map<std::string,::mediapipe::Packet>"
    if isinstance(value, list):
        inner = type_name_of(value[0]) if value else "?"
        return f"::std::vector<{'std::string' if inner == 'string' else inner}>"
    if isinstance(value, penstock.Packet):
        return "::mediapipe::Packet"
    return f"{type(value).__module__}.{type(value).__qualname__}"
