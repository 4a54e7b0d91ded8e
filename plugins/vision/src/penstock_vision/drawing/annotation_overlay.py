"""Drawings, as RenderData, laid over images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame, RenderData, check_frame_size
from penstock_vision.drawing.annotation_renderer import AnnotationRenderer
from penstock_vision.drawing.drawable import drawable, pass_drawn_header
from penstock_vision.messages.annotation_overlay_pb2 import AnnotationOverlayCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_VECTOR: Final = "VECTOR"
#: Tag of the image → what its packets hold.
_IMAGES: Final[dict[str, type[ImageFrame | Image]]] = {"IMAGE": ImageFrame, "UIMAGE": Image}


class AnnotationOverlayCalculator(penstock.Calculator):
    """Draw RenderData over each image.

    Inputs: at most one of IMAGE (ImageFrame) and UIMAGE (Image), of SRGB, SRGBA or GRAY8; any number of
    untagged streams (RenderData); any number of streams VECTOR:0, VECTOR:1, ... (list[RenderData]). Output,
    exactly one, of the image's tag: IMAGE (ImageFrame) or UIMAGE (Image, on the CPU), new memory, of the
    image's size and format, but SRGB for GRAY8. The drawings of a timestamp are drawn in order, those of the
    untagged streams first; an image without any is copied. Nothing is sent for drawings without an image.

    Without IMAGE and UIMAGE the node draws on a canvas of its own, for each timestamp that has a drawing.
    The stream header of the image is forwarded, with format SRGB for GRAY8. Timestamp offset 0. OpenCV runs
    without the GIL.

    Colours are written as they are, and the alpha of SRGBA becomes 0 where something is drawn, as in the
    reference. A filled shape has the annotation's color; its fill_color is not used. A scribble is a row of
    points, and a line is solid whatever its line_type. Thickness is the radius of a point, and is at least
    1.

    Options `AnnotationOverlayCalculatorOptions`: `canvas_width_px` and `canvas_height_px` (pixels, both
    required without an image), `canvas_color` (black), `flip_text_vertically` (false; true for images whose
    first row is the lowest one), `gpu_uses_top_left_origin` and `gpu_scale_factor` (for images on the GPU
    only; ignored), `height_of_thickness_px` (0: every thickness is in pixels of the image, as in the
    reference; else it is meant for images of this height, and scaled in others).

    Raises when the graph is loaded: InvalidArgumentError for IMAGE beside UIMAGE, no such output or another
    one than the input, IMAGE_GPU, or a canvas whose size is missing or below 1. In `open`:
    ResourceExhaustedError for a canvas with too many pixels, InvalidArgumentError for a negative
    `height_of_thickness_px`. In `process`: InvalidArgumentError for an image of another format, or an
    annotation that cannot be drawn: without a shape, with an unknown font,
    an oval turned inside out.

    Source of the behaviour: MediaPipe `calculators/util/annotation_overlay_calculator.cc`.

    Config::

        node {
          calculator: "AnnotationOverlayCalculator"
          input_stream: "IMAGE:frames"
          input_stream: "boxes_to_draw"
          input_stream: "VECTOR:landmarks_to_draw"
          output_stream: "IMAGE:drawn"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the image on both sides, and all drawings.

        Raises:
            InvalidArgumentError: as the class says.
        """
        tag, has_image = _image_tag(cc)
        kind = _IMAGES[tag]
        if has_image:
            cc.inputs[tag].set(kind, "images to draw on (SRGB, SRGBA, GRAY8)")
        else:
            _canvas_size(cc.options(AnnotationOverlayCalculatorOptions))
        for place in cc.inputs.ids():
            if place[0] == _VECTOR:
                cc.inputs[place].set(list[RenderData], "drawings, in order")
            elif not place[0]:
                cc.inputs[place].set(RenderData, "a drawing")
        cc.outputs[tag].set(kind, "images with the drawings")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Make the canvas; forward the stream header.

        Raises:
            ResourceExhaustedError: the canvas has too many pixels.
            InvalidArgumentError: height_of_thickness_px is negative.
        """
        options = cc.options(AnnotationOverlayCalculatorOptions)
        self._flip_text = options.flip_text_vertically
        self._height_of_thickness = options.height_of_thickness_px
        if self._height_of_thickness < 0:
            raise InvalidArgumentError(
                f"the annotation overlay's height_of_thickness_px is {self._height_of_thickness}, but must "
                "be 0 or more; change it in the options"
            )
        self._tag = next(tag for tag in _IMAGES if tag in cc.outputs)
        self._has_image = self._tag in cc.inputs
        self._drawings = [place for place in cc.inputs.ids() if place[0] != self._tag]
        if self._has_image:
            pass_drawn_header(cc, self._tag)
            return
        width, height = _canvas_size(options)
        check_frame_size(width, height, "canvas_width_px and canvas_height_px")
        color = options.canvas_color
        self._canvas = np.empty((height, width, 3), np.uint8)
        self._canvas[...] = np.clip((color.r, color.g, color.b), 0, 255)

    def process(self, cc: CalculatorContext) -> None:
        """Draw on a copy of one image.

        Raises:
            InvalidArgumentError: the image has another format, or an annotation cannot be drawn.
        """
        if not self._has_image:
            pixels, image_format = self._canvas.copy(), ImageFormat.SRGB
        elif cc.inputs[self._tag].is_empty():
            return
        else:
            pixels, image_format = drawable(cc.inputs[self._tag].payload, self._tag)
        scale = pixels.shape[0] / self._height_of_thickness if self._height_of_thickness else 1.0
        renderer = AnnotationRenderer(pixels, flip_text=self._flip_text, thickness_scale=scale)
        for place in self._drawings:
            port = cc.inputs[place]
            if port.is_empty():
                continue
            try:
                for data in port.payload if place[0] == _VECTOR else (port.payload,):
                    renderer.draw(data)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"input {port.name!r}: {error}") from None
        frame = ImageFrame(pixels, image_format)
        cc.outputs[self._tag].add(frame if self._tag == "IMAGE" else Image(frame), cc.stamp)


def _image_tag(cc: CalculatorContract) -> tuple[str, bool]:
    """Return the tag of the image, and whether one comes in."""
    given = [tag for tag in ("IMAGE", "UIMAGE", "IMAGE_GPU") if tag in cc.inputs]
    sent = [tag for tag in ("IMAGE", "UIMAGE", "IMAGE_GPU") if tag in cc.outputs]
    if "IMAGE_GPU" in (*given, *sent):
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: IMAGE_GPU is connected, but this overlay draws on the CPU; use "
            "IMAGE, with a GpuBufferToImageFrameCalculator before and an ImageFrameToGpuBufferCalculator "
            "behind"
        )
    if len(sent) != 1 or given not in ([], sent):
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: the annotation overlay's image inputs are {', '.join(given) or 'none'} "
            f"and image outputs {', '.join(sent) or 'none'}; connect one output IMAGE or UIMAGE, and no "
            "image input or one of that tag"
        )
    return sent[0], bool(given)


def _canvas_size(options: AnnotationOverlayCalculatorOptions) -> tuple[int, int]:
    """Return width and height of the canvas.

    Raises:
        InvalidArgumentError: one of them is not set, or below 1.
    """
    for name in ("canvas_width_px", "canvas_height_px"):
        if not options.HasField(name):
            raise InvalidArgumentError(
                f"{name} is not set, but the overlay has no image to draw on; connect IMAGE, or set the "
                "canvas's size in the options"
            )
        if getattr(options, name) < 1:
            raise InvalidArgumentError(
                f"the annotation overlay's {name} is {getattr(options, name)}, but must be 1 or more; "
                "change it in the options"
            )
    return options.canvas_width_px, options.canvas_height_px
