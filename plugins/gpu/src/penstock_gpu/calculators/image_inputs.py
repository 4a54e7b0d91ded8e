"""Ports of this pack's calculators: names, stream headers, checks of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import Input, Output
    from penstock.ports import Ports, PortSpecs
    from penstock_gpu.buffers.buffer import GpuBuffer


def video(ports: PortSpecs | Ports[Input] | Ports[Output]) -> str | int:
    """Return the port of the images: VIDEO if a graph connects it, else the first untagged one."""
    return "VIDEO" if "VIDEO" in ports else 0


def image_at(port: Input) -> GpuBuffer:
    """Return the input image.

    Raises:
        InvalidArgumentError: it is an empty buffer, without a size.
    """
    image: GpuBuffer = port.payload
    if not image:
        raise InvalidArgumentError(
            f"input {port.name!r} holds an empty GpuBuffer, but an image at an input has a size; the node "
            "before must write only buffers with an image"
        )
    return image


def size_of(buffer: GpuBuffer) -> tuple[int, int]:
    """Return (width, height) in pixels."""
    return buffer.width, buffer.height


def expect_size(buffer: GpuBuffer, port: str, other: GpuBuffer, other_port: str) -> None:
    """Refuse an image whose size differs from that of the image to combine it with.

    Raises:
        InvalidArgumentError: the sizes differ; names both ports and both images.
    """
    if size_of(buffer) != size_of(other):
        raise InvalidArgumentError(
            f"input {port!r} holds {buffer!r}, but input {other_port!r} {other!r}; make both images the same "
            "size, with a GlScalerCalculator, say"
        )
