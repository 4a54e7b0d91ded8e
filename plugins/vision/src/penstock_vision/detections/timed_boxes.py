"""Timed boxes, which trackers read: made of detections, and given labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, DetectionList, TimedBoxProtoList
from penstock_vision.detections.label_file import RESOURCES, labels_of
from penstock_vision.geometry.single_precision import f32
from penstock_vision.messages.timed_boxes_pb2 import TimedBoxListIdToLabelCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract

_INPUTS: Final = {
    "DETECTION_LIST": (DetectionList, "detections with boxes of fractions"),
    "DETECTIONS": (list[Detection], "detections with boxes of fractions"),
}
_MICROSECONDS: Final = 1000
_INT32: Final = 1 << 32
_MOST_INT32: Final = (1 << 31) - 1


class DetectionsToTimedBoxListCalculator(penstock.Calculator):
    """Makes a timed box of each detection, for a tracker to follow.

    Inputs, one or both: DETECTION_LIST (DetectionList), DETECTIONS (list[Detection]); output BOXES
    (TimedBoxProtoList): the edges of the relative bounding boxes, `id` of `detection_id` (its lower 32
    bits), `time_msec` of the timestamp. Those of DETECTION_LIST come first. Without a packet on either
    input nothing is sent. Timestamp offset 0.

    Raises in the contract: InvalidArgumentError if neither input is connected.

    Source of the behaviour: MediaPipe `calculators/util/detections_to_timed_box_list_calculator.cc`.

    Config::

        node {
          calculator: "DetectionsToTimedBoxListCalculator"
          input_stream: "DETECTIONS:detections_with_ids"
          output_stream: "BOXES:boxes"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in, boxes out.

        Raises:
            InvalidArgumentError: no input is connected.
        """
        connected = [tag for tag in _INPUTS if tag in cc.inputs]
        if not connected:
            raise InvalidArgumentError(
                f"timed boxes come in by none of the inputs {', '.join(_INPUTS)}, but at least one is "
                "needed; connect it"
            )
        for tag in connected:
            cc.inputs[tag].set(*_INPUTS[tag])
        cc.outputs["BOXES"].set(TimedBoxProtoList, "a box for each detection")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Convert the detections of one timestamp."""
        ports = [cc.inputs[tag] for tag in _INPUTS if tag in cc.inputs]
        if all(port.is_empty() for port in ports):
            return
        made = TimedBoxProtoList()
        for port in ports:
            if not port.is_empty():
                _add_boxes(port.payload, cc.stamp, made)
        cc.outputs["BOXES"].add(made, cc.stamp)


def _add_boxes(payload: Any, time: int, made: TimedBoxProtoList) -> None:
    detections: Iterable[Detection] = payload.detection if isinstance(payload, DetectionList) else payload
    for detection in detections:
        place = detection.location_data.relative_bounding_box
        number = detection.detection_id % _INT32
        made.box.add(
            left=place.xmin,
            right=f32(place.xmin) + f32(place.width),
            top=place.ymin,
            bottom=f32(place.ymin) + f32(place.height),
            id=number - _INT32 if number > _MOST_INT32 else number,
            time_msec=time // _MICROSECONDS if time >= 0 else -(-time // _MICROSECONDS),  # towards 0
        )


class TimedBoxListIdToLabelCalculator(penstock.Calculator):
    """Gives timed boxes the label of their id.

    Input 0 and output 0 (TimedBoxProtoList); boxes are copied. A box whose id has no label stays as it is.
    Timestamp offset 0.

    Options `TimedBoxListIdToLabelCalculatorOptions`: `label_map_path` (required): a text file with the label
    of id 0, 1, ... in each line, found as models are (service `penstock-tensors.resources`).

    Raises in the contract: InvalidArgumentError without label_map_path. In `open`: NotFoundError for a file
    that is not found; InvalidArgumentError for one without text; FailedPreconditionError without
    penstock-tensors.

    Source of the behaviour: MediaPipe `calculators/util/timed_box_list_id_to_label_calculator.cc`.

    Config::

        node {
          calculator: "TimedBoxListIdToLabelCalculator"
          input_stream: "boxes"
          output_stream: "labeled_boxes"
          options {
            [penstock.TimedBoxListIdToLabelCalculatorOptions.ext] { label_map_path: "labels.txt" }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare boxes in and out.

        Raises:
            InvalidArgumentError: no file is named.
        """
        if not cc.options(TimedBoxListIdToLabelCalculatorOptions).label_map_path:
            raise InvalidArgumentError(
                "label_map_path is empty, but names the file with the labels of timed boxes; set it in the "
                "options"
            )
        cc.use_service(RESOURCES)
        cc.declare(reads=[Searched(cc.options(TimedBoxListIdToLabelCalculatorOptions).label_map_path)])
        cc.inputs[0].set(TimedBoxProtoList, "boxes with ids")
        cc.outputs[0].set(TimedBoxProtoList, "the same with labels")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the labels."""
        path = cc.options(TimedBoxListIdToLabelCalculatorOptions).label_map_path
        self._labels = labels_of(cc.service(RESOURCES), path, cc.service(ACCESS))

    def process(self, cc: CalculatorContext) -> None:
        """Label the boxes of one list."""
        if cc.input.is_empty():
            return
        made = TimedBoxProtoList()
        made.CopyFrom(cc.input.payload)
        for box in made.box:
            if 0 <= box.id < len(self._labels):
                box.label = self._labels[box.id]
        cc.output.add(made, cc.stamp)
