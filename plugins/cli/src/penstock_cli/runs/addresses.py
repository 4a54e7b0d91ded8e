"""Where commands take a VIDEO: files, addresses such as rtsp://HOST/PATH, and cameras of Linux."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from penstock.access import redacted

if TYPE_CHECKING:
    from penstock.config import CalculatorGraphConfig

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CAMERA: Final = re.compile(r"/dev/video\d+")
#: Endings of files on servers, which are read to their end.
_RECORDINGS: Final = frozenset(
    (".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ogv", ".ts", ".webm")
)
_SIDE: Final = "input_address"
_DECODER: Final = "VideoDecoderCalculator"


class Address(str):
    """An address, or the device file of a camera."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        """The address without passwords."""
        return redacted(self)

    @property
    def is_recording(self) -> bool:
        """Whether it is a file on a server, which has an end and can wait for the graph."""
        parts = urlsplit(self)
        return parts.scheme.lower() in {"http", "https", "ftp", "sftp"} and (
            PurePosixPath(parts.path).suffix.lower() in _RECORDINGS
        )


class FileOrAddress(click.Path):
    """A parameter whose value is a `Path` for a file, or an `Address`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what a user has named; a path would make one slash of two."""
        if isinstance(value, str) and (_ADDRESS.match(value) or _CAMERA.fullmatch(value)):
            return Address(value)
        return super().convert(value, param, ctx)


def is_live_address(video: object) -> bool:
    """Return whether the frames of a VIDEO come in real time."""
    return isinstance(video, Address) and not video.is_recording


def address_sides(address: Address) -> dict[str, object]:
    """Return the side packet by which a graph that `read_address` has changed gets the address."""
    return {_SIDE: str(address)}


def read_address(config: CalculatorGraphConfig, address: Address) -> None:
    """Let the decoder of a graph read an address, which `address_sides` gives to the graph.

    A recording is read by the decoder as a file is, all else by a `LiveVideoCalculator`. No sound is copied:
    it would be read from a connection of its own, at other times.
    """
    source = next(node for node in config.node if node.calculator == _DECODER)
    if address.is_recording:
        entries = [f"INPUT_FILE_PATH:{_SIDE}"]
    else:
        entries = [f"SOURCE:{_SIDE}"]
        source.calculator = "LiveVideoCalculator"
        del source.node_options[:]
    del source.input_side_packet[:]
    source.input_side_packet.extend(entries)
