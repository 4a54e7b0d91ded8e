"""Scaling, turning and mirroring of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame, VideoHeader, check_frame_size
from penstock_formats.api import RotationMode, ScaleMode, pass_header
from penstock_image.frame_checks import refuse_gpu
from penstock_image.geometry.orientation import Transformation, quarter_turns
from penstock_image.messages.image_transformation_pb2 import ImageTransformationCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.ports import PortSpecs

_DEGREES: Final = {
    RotationMode.UNKNOWN: 0,
    RotationMode.ROTATION_0: 0,
    RotationMode.ROTATION_90: 90,
    RotationMode.ROTATION_180: 180,
    RotationMode.ROTATION_270: 270,
}


class ImageTransformationCalculator(penstock.Calculator):
    """Scale each frame, turn it by quarters, and flip it, in this order.

    Inputs:
        IMAGE: ImageFrame of any format.
        OUTPUT_DIMENSIONS (optional): (width, height) in pixels. If it is connected, a frame is dropped
            where this stream has no packet at its timestamp.
        ROTATION_DEGREES (optional): int, a multiple of 90, counterclockwise.
        FLIP_HORIZONTALLY, FLIP_VERTICALLY (optional): bool, applied after the rotation.
        VIDEO_PRESTREAM (optional): VideoHeader at PRESTREAM; only with the output of that tag, and
            not with streams that change the size.
    Input side packets: OUTPUT_DIMENSIONS, ROTATION_DEGREES, FLIP_HORIZONTALLY, FLIP_VERTICALLY, all
        optional, of the same types. A stream overrides a side packet, and a side packet overrides the
        options; the last value of a stream stays in effect until its next packet.
    Outputs:
        IMAGE: ImageFrame of the same format; the frame itself where there is nothing to do.
        LETTERBOX_PADDING (optional): (left, top, right, bottom), the parts of width and height
            that FIT fills, each 0 to 0.5; zeros in the other modes.
        VIDEO_PRESTREAM (optional): the VideoHeader with the new size.

    Options `ImageTransformationCalculatorOptions`: `output_width` and `output_height` (0: the frame's
    own size), `rotation_mode`, `flip_horizontally`, `flip_vertically`, `scale_mode`,
    `constant_padding` (true), `padding_color` (black; in SRGBA its alpha is 0), `interpolation_mode`.
    STRETCH (the default) gives exactly the requested size. FIT keeps the proportions and fills the
    rest. FILL_AND_CROP keeps the proportions too and, as in the reference, fills and crops nothing: the
    result is the largest that fits inside the requested size. Linear interpolation takes the mean of
    the area when it shrinks an image both ways.

    With a rotation and an explicit size the result is the whole image in that size, as on the reference's
    GPU; its CPU turns the scaled image about a point beside its middle, and loses a row and a column or
    more. Without a rotation results are those of its CPU.

    Timestamp offset 0. OpenCV runs without the GIL. IMAGE_GPU needs a GPU pack's calculator.

    Raises: InvalidArgumentError for a rotation that is not a multiple of 90, or a negative size;
    ResourceExhaustedError for a size of more than 2**27 pixels, see `penstock_formats.check_frame_size`.

    Config::

        node {
          calculator: "ImageTransformationCalculator"
          input_stream: "IMAGE:frame"
          output_stream: "IMAGE:scaled"
          output_stream: "LETTERBOX_PADDING:padding"
          node_options {
            [type.googleapis.com/penstock.ImageTransformationCalculatorOptions] {
              output_width: 256
              output_height: 256
              scale_mode: FIT
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports that are connected.

        Raises:
            InvalidArgumentError: IMAGE_GPU is connected; or VIDEO_PRESTREAM is connected at one side
                only, or together with a stream that changes the size.
        """
        refuse_gpu(cc)
        cc.inputs["IMAGE"].set(ImageFrame, "frames")
        cc.outputs["IMAGE"].set(ImageFrame, "transformed frames")
        cc.outputs["LETTERBOX_PADDING"].set(tuple, "left, top, right, bottom, 0 to 0.5").optional()
        for ports in (cc.inputs, cc.input_side_packets):
            _declare_settings(ports)
        _declare_prestream(cc)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read options and side packets; forward the stream header."""
        change = _from_options(cc.options(ImageTransformationCalculatorOptions))
        given = {tag: cc.input_side_packets[tag].payload for tag, _ in cc.input_side_packets.ids()}
        self._change = _changed(change, given)
        self._streams = [tag for tag in cc.inputs.tags() if tag not in ("IMAGE", "VIDEO_PRESTREAM")]
        self._has_header = "VIDEO_PRESTREAM" in cc.inputs
        self._has_padding = "LETTERBOX_PADDING" in cc.outputs
        header = cc.inputs["IMAGE"].header.payload
        if isinstance(header, VideoHeader) and not {"OUTPUT_DIMENSIONS", "ROTATION_DEGREES"} & {
            *self._streams
        }:
            width, height = self._change.size_of(header.width, header.height)
            pass_header(cc.inputs["IMAGE"], cc.outputs["IMAGE"], width=width, height=height)

    def process(self, cc: CalculatorContext) -> None:
        """Transform one frame, or update the header."""
        if self._has_header and not cc.inputs["VIDEO_PRESTREAM"].is_empty():
            header: VideoHeader = cc.inputs["VIDEO_PRESTREAM"].payload
            width, height = self._change.size_of(header.width, header.height)
            header = attrs.evolve(header, width=width, height=height)
            cc.outputs["VIDEO_PRESTREAM"].add(header, cc.stamp)
        if self._streams:
            given = {tag: cc.inputs[tag].payload for tag in self._streams if not cc.inputs[tag].is_empty()}
            self._change = _changed(self._change, given)
            if "OUTPUT_DIMENSIONS" in self._streams and "OUTPUT_DIMENSIONS" not in given:
                return
        frame: ImageFrame | None = cc.inputs["IMAGE"].payload
        if frame is not None:
            self._transform(cc, frame)

    def _transform(self, cc: CalculatorContext, frame: ImageFrame) -> None:
        given = frame.array
        image = self._change.apply(given)
        result = frame if image is given else ImageFrame(image, frame.format)
        cc.outputs["IMAGE"].add(result, cc.stamp)
        if self._has_padding:
            padding = self._change.letterbox(frame.width, frame.height)
            cc.outputs["LETTERBOX_PADDING"].add(padding, cc.stamp)


def _declare_settings(ports: PortSpecs) -> None:
    ports["OUTPUT_DIMENSIONS"].set_one_of(tuple, list, description="(width, height) in pixels").optional()
    ports["ROTATION_DEGREES"].set(int, "multiple of 90, counterclockwise").optional()
    ports["FLIP_HORIZONTALLY"].set(bool, "left and right change places").optional()
    ports["FLIP_VERTICALLY"].set(bool, "top and bottom change places").optional()


def _declare_prestream(cc: CalculatorContract) -> None:
    cc.inputs["VIDEO_PRESTREAM"].set(VideoHeader, "header of the frames").optional()
    cc.outputs["VIDEO_PRESTREAM"].set(VideoHeader, "header of the transformed frames").optional()
    if ("VIDEO_PRESTREAM" in cc.inputs) != ("VIDEO_PRESTREAM" in cc.outputs):
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: the transformation's VIDEO_PRESTREAM is connected at one side only; "
            "connect both, or none"
        )
    moving = [tag for tag in ("OUTPUT_DIMENSIONS", "ROTATION_DEGREES") if tag in cc.inputs]
    if "VIDEO_PRESTREAM" in cc.inputs and moving:
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: {' and '.join(moving)} may transform frames to changing sizes, "
            "which VIDEO_PRESTREAM promises to be constant; give it as a side packet or option instead"
        )


def _from_options(options: ImageTransformationCalculatorOptions) -> Transformation:
    color = options.padding_color
    mode = ScaleMode.STRETCH if options.scale_mode == ScaleMode.DEFAULT else options.scale_mode
    return Transformation(
        *_checked_size((options.output_width, options.output_height)),
        degrees=_DEGREES[options.rotation_mode],
        flip_horizontally=options.flip_horizontally,
        flip_vertically=options.flip_vertically,
        mode=mode,
        nearest=options.interpolation_mode == ImageTransformationCalculatorOptions.NEAREST,
        padding=(color.red, color.green, color.blue) if options.constant_padding else None,
    )


def _changed(change: Transformation, given: dict[str, object]) -> Transformation:
    """Return `change` with the values that side packets or streams give, by tag."""
    if not given:
        return change
    fields: dict[str, object] = {
        tag.lower(): bool(given[tag]) for tag in ("FLIP_HORIZONTALLY", "FLIP_VERTICALLY") if tag in given
    }
    if "ROTATION_DEGREES" in given:
        fields["degrees"] = quarter_turns(given["ROTATION_DEGREES"])  # type: ignore[arg-type]  # by contract
    if "OUTPUT_DIMENSIONS" in given:
        fields["width"], fields["height"] = _checked_size(given["OUTPUT_DIMENSIONS"])
    return attrs.evolve(change, **fields)  # type: ignore[arg-type]  # attrs checks names


def _checked_size(size: object) -> tuple[int, int]:
    """Return (width, height) as ints.

    Raises:
        InvalidArgumentError: `size` is not two whole numbers of 0 or more.
        ResourceExhaustedError: so large a frame would take too much memory.
    """
    sides = tuple(size) if isinstance(size, (tuple, list)) else ()
    if len(sides) != 2 or not all(isinstance(side, int) and side >= 0 for side in sides):  # noqa: PLR2004
        raise InvalidArgumentError(
            f"output dimensions of the transformation are {size!r}, but must be (width, height) in whole "
            "pixels, or 0 for the frame's own size"
        )
    check_frame_size(*sides, "output dimensions")
    return sides
