"""Checks of frames and ports, and forwarding of stream headers, shared by the calculators of this pack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_formats.api import format_converter

if TYPE_CHECKING:
    from penstock import CalculatorContract
    from penstock_formats import ImageFormat, ImageFrame


def expect_format(frame: ImageFrame, allowed: tuple[ImageFormat, ...], port: str, cure: str) -> None:
    """Refuse a frame whose format is not among `allowed`.

    Raises:
        InvalidArgumentError: the message names the port, the frame, the allowed formats, and `cure`; for
            frames of numbers that are no colours, such as depth, what makes colours of them.
    """
    if frame.format not in allowed:
        if (converter := format_converter(frame.format)) != "ColorConvertCalculator":
            cure = f"put a {converter} before"
        names = " or ".join(kind.name for kind in allowed)
        raise InvalidArgumentError(f"input {port!r} holds {frame!r}, but takes frames of {names}; {cure}")


def expect_same_size(frame: ImageFrame, port: str, other: ImageFrame, other_port: str) -> None:
    """Refuse two frames of which one is larger.

    Raises:
        InvalidArgumentError: the message names ports and frames, and a calculator that scales.
    """
    if frame.array.shape[:2] != other.array.shape[:2]:
        raise InvalidArgumentError(
            f"input {port!r} holds {frame!r}, but input {other_port!r} {other!r}; make both frames the same "
            "size, for example with an ImageTransformationCalculator"
        )


def refuse_gpu(cc: CalculatorContract) -> None:
    """Refuse ports of images on the GPU, whose tags end in _GPU. Call it in `get_contract`.

    Raises:
        InvalidArgumentError: the message names the ports and the calculators that copy images.
    """
    tags = {tag: "" for ports in (cc.inputs, cc.outputs) for tag in ports.tags() if tag.endswith("_GPU")}
    if tags:
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: {' and '.join(tags)} {'is' if len(tags) == 1 else 'are'} connected, but "
            "this calculator works in main memory; use "
            f"{' and '.join(tag.removesuffix('_GPU') for tag in tags)}, with a "
            "GpuBufferToImageFrameCalculator before it"
        )
