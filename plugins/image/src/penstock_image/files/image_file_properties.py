"""What a photo's file says of its size and of the lens."""

from __future__ import annotations

import io
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_formats import ImageFileProperties

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: Numbers of tags. Source: CIPA DC-008, Exif 2.32, tables 4 and 7.
_EXIF_TAGS: Final = 0x8769
_FOCAL_LENGTH: Final = 0x920A
_WIDTH: Final = 0xA002
_HEIGHT: Final = 0xA003
_FOCAL_LENGTH_35MM: Final = 0xA405
#: Of a picture on film of 35 mm, in mm: 36 x 24.
_DIAGONAL_35MM: Final = math.hypot(36, 24)


class ImageFilePropertiesCalculator(penstock.Calculator):
    """Read size and focal length from the EXIF data of a photo's file.

    Input, exactly one: an untagged stream, or an untagged side packet (bytes, a JPEG or another file that
    Pillow reads). Output, exactly one: an untagged stream, if the input is one, or an untagged side packet
    (ImageFileProperties: width and height in pixels as the EXIF data say, or else those of the image; focal
    length in mm, the same for film of 35 mm, and in pixels: by how many pixels the image is away from the
    lens). Timestamp offset 0.

    Raises when the graph is loaded: InvalidArgumentError for other ports. In `open`: UnavailableError without
    Pillow. In `process`, or in `open` for a side packet: InvalidArgumentError for bytes that are no image, or
    one whose file does not say both focal lengths; AlreadyExistsError for a second packet, if the output is a
    side packet.

    Source of the behaviour: MediaPipe `calculators/image/image_file_properties_calculator.cc`.

    Config::

        node {
          calculator: "ImageFilePropertiesCalculator"
          input_stream: "photo"
          output_stream: "properties"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one input and one output.

        Raises:
            InvalidArgumentError: there are others, or a stream is to come of a side packet.
        """
        ports = (cc.inputs, cc.input_side_packets, cc.outputs, cc.output_side_packets)
        streams_in, sides_in, streams_out, sides_out = map(len, ports)
        if (streams_in + sides_in, streams_out + sides_out) != (1, 1) or streams_out > streams_in:
            raise InvalidArgumentError(
                f"node {cc.node_name!r} has {streams_in} input streams, {sides_in} input side packets, "
                f"{streams_out} output streams and {sides_out} output side packets, but for the properties "
                "of a file needs one input and one output; a stream comes only of a stream"
            )
        (cc.inputs if streams_in else cc.input_side_packets)[0].set(bytes, "an image file")
        found = (cc.outputs if streams_out else cc.output_side_packets)[0]
        found.set(ImageFileProperties, "what it says of size and lens")
        if streams_out:
            cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Find Pillow; read a side packet."""
        self._pillow = _pillow()
        if len(cc.input_side_packets):
            cc.output_side_packets[0].set(_read(self._pillow, cc.input_side_packets[0].get(bytes)))

    def process(self, cc: CalculatorContext) -> None:
        """Read one file."""
        if cc.input.is_empty():
            return
        properties = _read(self._pillow, cc.input.payload)
        if len(cc.outputs):
            cc.output.add(properties, cc.stamp)
        else:
            cc.output_side_packets[0].set(properties)


def _pillow() -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise UnavailableError(
            f"image file properties are read by Pillow, which is not there ({error}); pip install pillow"
        ) from error


def _read(pillow: Any, file: bytes) -> ImageFileProperties:
    """Return what a file says.

    Raises:
        InvalidArgumentError: it is no image, or does not say both focal lengths.
    """
    try:
        with pillow.open(io.BytesIO(file)) as image:
            size = image.size
            tags = image.getexif().get_ifd(_EXIF_TAGS)
        focal, focal_35mm = (float(tags.get(tag, 0)) for tag in (_FOCAL_LENGTH, _FOCAL_LENGTH_35MM))
        said = (int(tags.get(_WIDTH, 0)), int(tags.get(_HEIGHT, 0)))
    except Exception as error:  # a broken file may end in any error of Pillow's code
        raise InvalidArgumentError(
            f"image file properties: {len(file)} bytes that begin with {file[:8]!r} are no image with EXIF "
            f"data that Pillow reads ({error}); look at what made them"
        ) from error
    if not (0 < focal < math.inf and 0 < focal_35mm < math.inf):
        raise InvalidArgumentError(
            f"image file properties: the file says focal length {focal:g} mm, and {focal_35mm:g} mm for "
            "film of 35 mm, but both must be above 0; take a photo whose EXIF data have them"
        )
    width, height = (side if side > 0 else own for side, own in zip(said, size, strict=True))
    return ImageFileProperties(
        image_width=width,
        image_height=height,
        focal_length_mm=focal,
        focal_length_35mm=focal_35mm,
        focal_length_pixels=math.hypot(width, height) * focal_35mm / _DIAGONAL_35MM,
    )
