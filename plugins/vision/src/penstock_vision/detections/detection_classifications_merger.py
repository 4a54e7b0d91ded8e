"""DetectionClassificationsMergerCalculator: a detection with the classes that a second model found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, Detection

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class DetectionClassificationsMergerCalculator(penstock.Calculator):
    """Replaces what a detection is by what a classifier says of it.

    Inputs INPUT_DETECTION (Detection) and CLASSIFICATION_LIST (ClassificationList), both at each timestamp;
    output OUTPUT_DETECTION (Detection, a new message): label ids, scores, labels and display names are those
    of the classes, in their order; an empty list of classes changes nothing. Timestamp offset 0.

    Raises in `process`: InvalidArgumentError if only one of the inputs has a packet, if a class has no index
    or no score, or if only some of the classes have a label or a display name.

    Source of the behaviour: MediaPipe `calculators/util/detection_classifications_merger_calculator.cc`.

    Config::

        node {
          calculator: "DetectionClassificationsMergerCalculator"
          input_stream: "INPUT_DETECTION:animal"
          input_stream: "CLASSIFICATION_LIST:breeds"
          output_stream: "OUTPUT_DETECTION:animal_of_a_breed"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a detection and its classes in, a detection out."""
        cc.inputs["INPUT_DETECTION"].set(Detection, "the detection")
        cc.inputs["CLASSIFICATION_LIST"].set(ClassificationList, "what it is")
        cc.outputs["OUTPUT_DETECTION"].set(Detection, "the detection with these classes")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Join one detection with its classes."""
        detection, classes = cc.inputs["INPUT_DETECTION"], cc.inputs["CLASSIFICATION_LIST"]
        if detection.is_empty() and classes.is_empty():
            return
        for port, other in ((detection, classes), (classes, detection)):
            if port.is_empty():
                raise InvalidArgumentError(
                    f"input {port.name!r} has no packet at timestamp {cc.stamp}, so there is nothing to "
                    f"merge with {other.name!r}; send both"
                )
        made = Detection()
        made.CopyFrom(detection.payload)
        if classes.payload.classification:
            _replace(made, classes.payload)
        cc.outputs["OUTPUT_DETECTION"].add(made, cc.stamp)


def _replace(detection: Detection, classes: ClassificationList) -> None:
    found = classes.classification
    for field in ("index", "score"):
        without = sum(not one.HasField(field) for one in found)
        if without:
            raise InvalidArgumentError(
                f"{without} of {len(found)} classes to merge have no {field}, but each needs one; look at "
                "the node that made them"
            )
    for field in ("label", "display_name"):
        count = sum(one.HasField(field) for one in found)
        if count not in (0, len(found)):
            raise InvalidArgumentError(
                f"{count} of {len(found)} classes to merge have a {field}, but either all or none must have "
                "one; look at the node that made them"
            )
        detection.ClearField(field)
    del detection.label_id[:], detection.score[:]
    detection.label_id.extend(one.index for one in found)
    detection.score.extend(one.score for one in found)
    detection.label.extend(one.label for one in found if one.HasField("label"))
    detection.display_name.extend(one.display_name for one in found if one.HasField("display_name"))
