"""Stream headers that nodes hand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from penstock_formats.video_header import VideoHeader

if TYPE_CHECKING:
    from penstock import Input, Output


def pass_header(source: Input, target: Output, **changes: object) -> None:
    """Give `target` the stream header of `source`, with fields changed where it is a VideoHeader.

    Call it in `open`. Without a header nothing happens; a header of another type is forwarded unchanged.
    """
    packet = source.header
    if packet.is_empty():
        return
    header = packet.payload
    if isinstance(header, VideoHeader) and changes:
        packet = type(packet)(attrs.evolve(header, **changes))  # type: ignore[arg-type]  # attrs checks names
    target.set_header(packet)
