"""DetectionTransformationCalculator: boxes of fractions become boxes in pixels, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, DetectionList, LocationData
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import f32
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

_PIXEL: Final = LocationData.BOUNDING_BOX
_RELATIVE: Final = LocationData.RELATIVE_BOUNDING_BOX
_SINGLE: Final = "DETECTION"
#: The end of an output's tag → its type.
_OUTPUTS: Final[dict[str, Any]] = {
    _SINGLE: Detection,
    "DETECTIONS": list[Detection],
    "DETECTION_LIST": DetectionList,
}
#: The begin of an output's tag → the format of what leaves there.
_FORMATS: Final = {"PIXEL_": _PIXEL, "RELATIVE_": _RELATIVE}
_FIELDS: Final = ("xmin", "ymin", "width", "height")
_MOST_INT: Final = 1 << 31
_ONE: Final = f32(1)


class DetectionTransformationCalculator(penstock.Calculator):
    """Converts the boxes of detections: from fractions of the image's sides to pixels, or from pixels.

    Inputs: exactly one of DETECTION (Detection) and DETECTIONS (list[Detection] or DetectionList), and
    IMAGE_SIZE (tuple of width and height in pixels). Outputs, new messages: for relative boxes
    PIXEL_DETECTION (Detection, the first), PIXEL_DETECTIONS (list[Detection]) and PIXEL_DETECTION_LIST
    (DetectionList); for boxes in pixels RELATIVE_DETECTION, RELATIVE_DETECTIONS and
    RELATIVE_DETECTION_LIST; one or more, all of one kind. Of an empty list, and of a DETECTION without a
    location, each output gets an empty one. Timestamp offset 0.

    x, y, width and height are cut to 0 and the side of the image, each alone; pixels are rounded down.
    Keypoints stay as they are.

    Raises in the contract: InvalidArgumentError for no input or both, no output, outputs of both kinds, and
    DETECTIONS without an output for several. In `process`: the same for a location in another format than
    the outputs need, and for no size of the image.

    Source of the behaviour: MediaPipe `calculators/util/detection_transformation_calculator.cc`.

    Config::

        node {
          calculator: "DetectionTransformationCalculator"
          input_stream: "DETECTIONS:detections"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "PIXEL_DETECTIONS:detections_in_pixels"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out.

        Raises:
            InvalidArgumentError: the ports do not fit together.
        """
        tag = only_one(cc.inputs, (_SINGLE, "DETECTIONS"), "input")
        cc.inputs[_SINGLE].set(Detection, "a detection").optional()
        cc.inputs["DETECTIONS"].set_one_of(
            list[Detection], DetectionList, description="detections"
        ).optional()
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        for begin in _FORMATS:
            for end, kind in _OUTPUTS.items():
                cc.outputs[begin + end].set(kind, "with the other kind of boxes").optional()
        tags = cc.outputs.tags()
        begins = [begin for begin in _FORMATS if any(one.startswith(begin) for one in tags)]
        if len(begins) != 1:
            raise InvalidArgumentError(
                f"the transformed detections go to {', '.join(tags) or 'no output'}, but all must be of one "
                "kind, PIXEL_... or RELATIVE_..., and one at least is needed; change the graph"
            )
        if tag == "DETECTIONS" and tags == (begins[0] + _SINGLE,):
            raise InvalidArgumentError(
                f"the only output is {tags[0]}, but DETECTIONS may hold several; connect "
                f"{begins[0]}DETECTIONS or {begins[0]}DETECTION_LIST"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look which outputs there are."""
        self._input = next(tag for tag in (_SINGLE, "DETECTIONS") if tag in cc.inputs)
        self._outputs = [
            (end, begin + end) for begin in _FORMATS for end in _OUTPUTS if begin + end in cc.outputs
        ]
        begin = next(begin for begin in _FORMATS for end in _OUTPUTS if begin + end in cc.outputs)
        self._wanted = _FORMATS[begin]

    def process(self, cc: CalculatorContext) -> None:
        """Convert the detections of one timestamp."""
        port = cc.inputs[self._input]
        if port.is_empty():
            return
        given: list[Detection] = _detections(port.payload)
        if isinstance(port.payload, Detection) and not port.payload.HasField("location_data"):
            given = []
        size = _size(cc.inputs["IMAGE_SIZE"], port) if given else None
        made = [] if size is None else [self._converted(one, size) for one in given]
        for end, tag in self._outputs:
            output = cc.outputs[tag]
            if end == _SINGLE:
                output.add(made[0] if made else Detection(), cc.stamp)
            else:
                output.add(made if end == "DETECTIONS" else DetectionList(detection=made), cc.stamp)

    def _converted(self, detection: Detection, size: ImageSize) -> Detection:
        place = detection.location_data
        from_pixels = self._wanted == _RELATIVE
        if not detection.HasField("location_data") or place.format != (_PIXEL if from_pixels else _RELATIVE):
            name = LocationData.Format.Name
            found = name(place.format) if detection.HasField("location_data") else "none"
            raise InvalidArgumentError(
                f"detection transformation: a location has format {found}, but for the node's outputs it "
                f"must be {name(_PIXEL if from_pixels else _RELATIVE)}; connect the outputs of the other "
                "kind, or other detections"
            )
        made = Detection()
        made.CopyFrom(detection)
        to = made.location_data
        box: Any = place.bounding_box if from_pixels else place.relative_bounding_box
        other: Any = to.relative_bounding_box if from_pixels else to.bounding_box
        for field, side in zip(_FIELDS, (*size, *size), strict=True):
            number = getattr(box, field)
            setattr(other, field, _fraction(number, side) if from_pixels else _pixels(number, side))
        to.format = self._wanted
        to.ClearField("bounding_box" if from_pixels else "relative_bounding_box")
        return made


def _detections(payload: Detection | DetectionList | list[Detection]) -> list[Detection]:
    if isinstance(payload, Detection):
        return [payload]
    found: Iterable[Detection] = payload.detection if isinstance(payload, DetectionList) else payload
    return list(found)


def _size(port: Input, detections: Input) -> ImageSize:
    if port.is_empty():
        raise InvalidArgumentError(
            f"input {port.name!r} has no packet, but detections of {detections.name!r} are transformed by "
            "the size of the image; send it with them"
        )
    return image_size(port)


def _pixels(number: float, side: Float32) -> int:
    """Return a fraction of a side in whole pixels, 0 to the side."""
    found = f32(number) * side
    # what no int of 32 bits holds becomes the least one in the reference, and that 0
    return min(max(int(found), 0), int(side)) if abs(found) < _MOST_INT else 0


def _fraction(number: int, side: Float32) -> float:
    """Return pixels as a fraction of a side, 0 to 1."""
    return float(max(min(f32(number) / side, _ONE), f32(0)))
