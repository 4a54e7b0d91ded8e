"""DetectionLetterboxRemoval, LandmarkLetterboxRemoval: coordinates without the padding of a letterbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, NormalizedLandmarkList
from penstock_vision.landmarks.landmark_table import LandmarkTable, Z

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

_ONE = np.float32(1)


class DetectionLetterboxRemovalCalculator(penstock.Calculator):
    """Map detections in a padded image to the image without its padding.

    Inputs: DETECTIONS (list[Detection] with relative bounding boxes); LETTERBOX_PADDING (tuple of left, top,
    right, bottom, parts of the padded image). Output: DETECTIONS (new messages; boxes and keypoints are
    mapped). Timestamp offset 0; where one of the inputs is empty nothing is sent.

    Raises in `process`: InvalidArgumentError for a padding that leaves nothing of the image.

    Source of the behaviour: MediaPipe `calculators/util/detection_letterbox_removal_calculator.cc`.

    Config::

        node {
          calculator: "DetectionLetterboxRemovalCalculator"
          input_stream: "DETECTIONS:detections"
          input_stream: "LETTERBOX_PADDING:padding"
          output_stream: "DETECTIONS:detections_in_image"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out, and the padding."""
        cc.inputs["DETECTIONS"].set(list[Detection], "in the padded image")
        cc.inputs["LETTERBOX_PADDING"].set(tuple, "left, top, right, bottom, parts of the padded image")
        cc.outputs["DETECTIONS"].set(list[Detection], "in the image itself")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Map the detections of one image."""
        source, padding = cc.inputs["DETECTIONS"], cc.inputs["LETTERBOX_PADDING"]
        if source.is_empty() or padding.is_empty():
            return
        offset, size = (part[:Z] for part in _parts(padding))
        cc.outputs["DETECTIONS"].add([_mapped(one, offset, size) for one in source.payload], cc.stamp)


class LandmarkLetterboxRemovalCalculator(penstock.Calculator):
    """Map landmarks in a padded image to the image without its padding.

    Inputs: one or more LANDMARKS (NormalizedLandmarkList); LETTERBOX_PADDING (tuple of left, top, right,
    bottom, parts of the padded image). Outputs: as many LANDMARKS (new messages: x, y and z are mapped, z
    as x is; visibility and presence stay). Timestamp offset 0; without a padding nothing is sent, and for
    an input without a packet its output stays empty.

    Raises in `get_contract`: InvalidArgumentError if there are not as many outputs as inputs. In `process`:
    the same for a padding that leaves nothing of the image.

    Source of the behaviour: MediaPipe `calculators/util/landmark_letterbox_removal_calculator.cc`.

    Config::

        node {
          calculator: "LandmarkLetterboxRemovalCalculator"
          input_stream: "LANDMARKS:landmarks"
          input_stream: "LETTERBOX_PADDING:padding"
          output_stream: "LANDMARKS:landmarks_in_crop"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in and out, and the padding.

        Raises:
            InvalidArgumentError: there are not as many outputs as inputs.
        """
        count = cc.inputs.count("LANDMARKS")
        if not count or count != cc.outputs.count("LANDMARKS"):
            raise InvalidArgumentError(
                f"the letterbox removal has {count} inputs and {cc.outputs.count('LANDMARKS')} outputs "
                "LANDMARKS, but each input has an output; connect as many, one at least"
            )
        for i in range(count):
            cc.inputs["LANDMARKS", i].set(NormalizedLandmarkList, "in the padded image")
            cc.outputs["LANDMARKS", i].set(NormalizedLandmarkList, "in the image itself")
        cc.inputs["LETTERBOX_PADDING"].set(tuple, "left, top, right, bottom, parts of the padded image")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Count the ports."""
        self._lanes = range(cc.inputs.count("LANDMARKS"))
        self._padding: tuple[float, ...] | None = None

    def process(self, cc: CalculatorContext) -> None:
        """Map the landmarks of one timestamp."""
        padding = cc.inputs["LETTERBOX_PADDING"]
        if padding.is_empty():
            return
        if padding.payload != self._padding:  # most images have the size of the one before
            self._parts, self._padding = _parts(padding), padding.payload
        offset, size = self._parts
        for i in self._lanes:
            source = cc.inputs["LANDMARKS", i]
            if source.is_empty():
                continue
            table = LandmarkTable.of(source.payload)
            places = table.values[:, : Z + 1]
            places -= offset
            places /= size
            table.have(*range(Z + 1))
            cc.outputs["LANDMARKS", i].add(table.make(NormalizedLandmarkList), cc.stamp)


def _parts(port: Input) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return what is to be taken from x, y and z, and by what they are then to be divided.

    That is left and top of the padding, and the width and height that are left, as parts of the padded image.
    """
    try:
        left, top, right, bottom = (np.float32(part) for part in port.payload)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"input {port.name!r} holds {port.payload!r}, but the padding of a letterbox is four numbers: "
            "left, top, right, bottom"
        ) from None
    width, height = _ONE - (left + right), _ONE - (top + bottom)
    if not (width > 0 and height > 0):
        raise InvalidArgumentError(
            f"input {port.name!r} holds {port.payload!r}, a letterbox that leaves nothing of the image; the "
            "sums of left and right and of top and bottom must be below 1"
        )
    return np.array((left, top, 0), np.float32), np.array((width, height, width), np.float32)


def _mapped(detection: Detection, offset: NDArray[np.float32], size: NDArray[np.float32]) -> Detection:
    made = Detection()
    made.CopyFrom(detection)
    location: Any = made.location_data
    box = location.relative_bounding_box
    points = location.relative_keypoints
    places = np.array([(box.xmin, box.ymin), *((one.x, one.y) for one in points)], np.float32)
    (box.xmin, box.ymin), *rest = ((places - offset) / size).tolist()
    box.width, box.height = (np.array((box.width, box.height), np.float32) / size).tolist()
    for point, (x, y) in zip(points, rest, strict=True):
        point.x, point.y = x, y
    return made
