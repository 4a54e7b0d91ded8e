"""DetectionLabelIdToTextCalculator: gives detections the names of their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LabelMapItem
from penstock_vision.detections.label_file import RESOURCES, labels_of
from penstock_vision.messages.detection_label_id_to_text_pb2 import DetectionLabelIdToTextCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class DetectionLabelIdToTextCalculator(penstock.Calculator):
    """Adds to each detection the labels that its label ids stand for, and removes the ids.

    Input 0 and output 0 (list[Detection]); detections are copied. Timestamp offset 0. Each known id of a
    detection gives a `label`, and a `display_name` where there is one. The ids of a detection with a known
    id are removed; one without keeps them.

    Options `DetectionLabelIdToTextCalculatorOptions`, at most one of: `label_map_path`, a text file with the
    label of id 0, 1, ... in each line, found as models are (service `penstock-tensors.resources`);
    `label`, the labels of id 0, 1, ...; `label_items`, labels by id. And `keep_label_id` (false): ids stay.

    Raises in the contract: InvalidArgumentError for more than one of these. In `open`: NotFoundError for a
    file that is not found; InvalidArgumentError for one without text;
    FailedPreconditionError for a file without penstock-tensors.

    Source of the behaviour: MediaPipe `calculators/util/detection_label_id_to_text_calculator.cc`.

    Config::

        node {
          calculator: "DetectionLabelIdToTextCalculator"
          input_stream: "detections"
          output_stream: "labeled_detections"
          options {
            [penstock.DetectionLabelIdToTextCalculatorOptions.ext] { label: "background" label: "cup" }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out.

        Raises:
            InvalidArgumentError: labels are given in several ways.
        """
        options = cc.options(DetectionLabelIdToTextCalculatorOptions)
        ways = {
            "label_map_path": options.HasField("label_map_path"),
            "label": bool(options.label),
            "label_items": bool(options.label_items),
        }
        given = [name for name, is_given in ways.items() if is_given]
        if len(given) > 1:
            raise InvalidArgumentError(
                f"{' and '.join(given)} are set, but labels as text are given in one way only; remove the "
                "others from the options"
            )
        if options.HasField("label_map_path"):
            cc.use_service(RESOURCES)
            cc.declare(reads=[Searched(options.label_map_path)])
        cc.inputs[0].set(list[Detection], "detections with label ids")
        cc.outputs[0].set(list[Detection], "the same with labels")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the labels."""
        options = cc.options(DetectionLabelIdToTextCalculatorOptions)
        self._keeps_ids = options.keep_label_id
        labels = list(options.label)
        if options.HasField("label_map_path"):
            labels = labels_of(cc.service(RESOURCES), options.label_map_path, cc.service(ACCESS))
        self._items = dict(options.label_items.items())
        self._items.update((i, LabelMapItem(name=label)) for i, label in enumerate(labels))

    def process(self, cc: CalculatorContext) -> None:
        """Label the detections of one list."""
        if cc.input.is_empty():
            return
        cc.output.add([self._labeled(one) for one in cc.input.payload], cc.stamp)

    def _labeled(self, detection: Detection) -> Detection:
        labeled = Detection()
        labeled.CopyFrom(detection)
        found = [self._items[one] for one in detection.label_id if one in self._items]
        labeled.label.extend(item.name for item in found)
        labeled.display_name.extend(item.display_name for item in found if item.HasField("display_name"))
        if found and not self._keeps_ids:
            labeled.ClearField("label_id")
        return labeled
