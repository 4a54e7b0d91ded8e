"""What the calculators of this pack ask of the frames that they are given, and of stream headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame, VideoHeader

if TYPE_CHECKING:
    from penstock import Input, Output
    from penstock_formats import ImageFormat


def expect_format(frame: ImageFrame, allowed: tuple[ImageFormat, ...], port: str, cure: str) -> None:
    """Refuse a frame whose format is none of those `allowed`.

    Raises:
        InvalidArgumentError: names the port, the format, those allowed, and `cure`.
    """
    if frame.format not in allowed:
        names = " or ".join(kind.name for kind in allowed)
        raise InvalidArgumentError(f"input {port!r} holds {frame!r}, but it takes {names}; {cure}")


def pass_header(source: Input, target: Output, **changes: object) -> None:
    """Give `target` the stream header of `source`, with fields changed where it is a VideoHeader.

    To be called in `open`. Without a header nothing happens; one of another type is passed on as it
    is, since its maker and its reader know more about it.
    """
    packet = source.header
    if packet.is_empty():
        return
    header = packet.payload
    if isinstance(header, VideoHeader) and changes:
        packet = type(packet)(attrs.evolve(header, **changes))  # type: ignore[arg-type]  # attrs checks names
    target.set_header(packet)
