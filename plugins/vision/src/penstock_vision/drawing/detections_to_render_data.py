"""Detections as drawings: boxes, key points and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, DetectionList, LocationData, RenderData
from penstock_vision.messages.detections_to_render_data_pb2 import DetectionsToRenderDataCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract
    from penstock_formats import RenderAnnotation

_INPUTS: Final = {
    "DETECTION_LIST": (DetectionList, "detections"),
    "DETECTIONS": (list[Detection], "detections"),
    "DETECTION": (Detection, "a detection"),
}
#: Height of a line of text, as a share of the box's height.
_LINE_HEIGHT: Final = 0.1
#: Height of the letters, as a share of the line's height.
_FONT_HEIGHT: Final = 0.9


class DetectionsToRenderDataCalculator(penstock.Calculator):
    """Make a drawing of detections: box, key points, labels with scores, and feature_tag of each.

    Inputs, one or more: DETECTION_LIST (DetectionList), DETECTIONS (list[Detection]), DETECTION
    (Detection); their detections are drawn in this order. Output: RENDER_DATA (RenderData), at every
    timestamp at which an input has a packet. Timestamp offset 0.

    Boxes in pixels (BOUNDING_BOX) and relative ones (RELATIVE_BOUNDING_BOX) are drawn; a relative box is
    cut at the image's borders, and a box outside of the image has an empty rectangle. The labels stand
    below each other from the top left corner of the box downwards, each as "label,score," with the score
    rounded to two digits; the feature_tag stands at the bottom left corner. In relative boxes a line of
    text has a tenth of the box's height, or less if there are more than nine labels. The scene_tags are
    LABEL, FEATURE, LOCATION and KEYPOINT.

    Options `DetectionsToRenderDataCalculatorOptions`: `produce_empty_packet` (true; false: nothing is sent
    at a timestamp without detections), `text_delimiter` (","), `one_label_per_line` (false), `text` (the
    font), `thickness` (1, pixels), `color` (black), `scene_class` ("DETECTION"), `render_detection_id`
    (false).

    Raises when the graph is loaded: InvalidArgumentError if no input is connected. In `process`: the same
    for a detection with another format of location_data, or whose numbers of labels, label_ids and scores
    differ.

    Source of the behaviour: MediaPipe `calculators/util/detections_to_render_data_calculator.cc`.

    Config::

        node {
          calculator: "DetectionsToRenderDataCalculator"
          input_stream: "DETECTIONS:palms"
          output_stream: "RENDER_DATA:palms_to_draw"
          options {
            [penstock.DetectionsToRenderDataCalculatorOptions.ext] {
              thickness: 4
              color { r: 0 g: 255 b: 0 }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the inputs that are connected.

        Raises:
            InvalidArgumentError: none is.
        """
        connected = [tag for tag in _INPUTS if tag in cc.inputs]
        if not connected:
            raise InvalidArgumentError(
                f"node {cc.node_name!r}: no input with detections is connected; connect one of "
                f"{', '.join(_INPUTS)}"
            )
        for tag in connected:
            cc.inputs[tag].set(*_INPUTS[tag])
        cc.outputs["RENDER_DATA"].set(RenderData, "the drawing")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self._options = cc.options(DetectionsToRenderDataCalculatorOptions)
        self._tags = [tag for tag in _INPUTS if tag in cc.inputs]
        color = self._options.color
        self._style = {
            "thickness": self._options.thickness,
            "color": {"r": color.r, "g": color.g, "b": color.b},
        }

    def process(self, cc: CalculatorContext) -> None:
        """Make one drawing.

        Raises:
            InvalidArgumentError: a detection cannot be drawn.
        """
        detections: list[Detection] = []
        for tag in self._tags:
            port = cc.inputs[tag]
            if not port.is_empty():
                detections.extend(_detections(port.payload))
        if not detections and not self._options.produce_empty_packet:
            return
        data = RenderData(scene_class=self._options.scene_class)
        for detection in detections:
            self._add(detection, data)
        cc.outputs["RENDER_DATA"].add(data, cc.stamp)

    def _add(self, detection: Detection, data: RenderData) -> None:
        location = detection.location_data
        is_relative = location.format == LocationData.RELATIVE_BOUNDING_BOX
        if not is_relative and location.format != LocationData.BOUNDING_BOX:
            raise InvalidArgumentError(
                f"a detection's location_data has format {LocationData.Format.Name(location.format)}, but "
                "only BOUNDING_BOX and RELATIVE_BOUNDING_BOX are drawn; convert it before"
            )
        labels = max(len(detection.label), len(detection.label_id))
        if is_relative:
            line = location.relative_bounding_box.height * min(_LINE_HEIGHT, 1 / (labels + 1))
        else:
            line = self._options.text.font_height
        line = _f32(line)
        self._add_labels(detection, line, data, is_relative=is_relative)
        box = location.relative_bounding_box if is_relative else location.bounding_box
        annotation = data.render_annotations.add(scene_tag="FEATURE", **self._style)
        annotation.text.display_text = detection.feature_tag
        if is_relative:
            annotation.text.font_height = line * _FONT_HEIGHT
        bottom = box.ymin + box.height
        _place_text(
            annotation.text, box.xmin, _f32(bottom) if is_relative else bottom, is_relative=is_relative
        )
        annotation = data.render_annotations.add(scene_tag="LOCATION", **self._style)
        annotation.rectangle.SetInParent()
        _place_box(annotation.rectangle, box.xmin, box.ymin, box.width, box.height, is_relative=is_relative)
        if is_relative:
            for point in location.relative_keypoints:
                data.render_annotations.add(
                    scene_tag="KEYPOINT",
                    point={"x": point.x, "y": point.y, "normalized": True},
                    **self._style,
                )

    def _add_labels(self, detection: Detection, line: float, data: RenderData, *, is_relative: bool) -> None:
        location = detection.location_data
        box = location.relative_bounding_box if is_relative else location.bounding_box
        for number, words in enumerate(self._lines(detection), 1):
            annotation = data.render_annotations.add(
                scene_tag="LABEL", text=self._options.text, **self._style
            )
            annotation.text.display_text = words
            if is_relative:
                annotation.text.font_height = line * _FONT_HEIGHT
            baseline = _f32(box.ymin + _f32(number * line))
            _place_text(annotation.text, box.xmin, baseline, is_relative=is_relative)

    def _lines(self, detection: Detection) -> list[str]:
        """Return the lines of text at the top of the box."""
        names = list(detection.label) or [str(number) for number in detection.label_id]
        if detection.label and detection.label_id and len(detection.label) != len(detection.label_id):
            raise InvalidArgumentError(
                f"a detection has {len(detection.label)} labels and {len(detection.label_id)} label_ids, "
                "but must have as many of both, or one kind only, to be rendered"
            )
        if len(detection.score) != len(names):
            raise InvalidArgumentError(
                f"a detection has {len(detection.score)} scores and {len(names)} labels, but must have a "
                "score for each label, to be rendered"
            )
        after = self._options.text_delimiter
        words = [
            f"{name}{after}{_two_digits(score):.6g}{after}"
            for name, score in zip(names, detection.score, strict=True)
        ]
        lines = [f"Id: {detection.detection_id}"] if self._options.render_detection_id else []
        return [*lines, *words] if self._options.one_label_per_line else [*lines, "".join(words)]


def _detections(payload: Detection | DetectionList | list[Detection]) -> Iterable[Detection]:
    if isinstance(payload, Detection):
        return (payload,)
    return payload.detection if isinstance(payload, DetectionList) else payload


def _place_text(text: RenderAnnotation.Text, left: float, baseline: float, *, is_relative: bool) -> None:
    text.normalized = is_relative
    text.left = max(left, 0.0) if is_relative else left
    text.baseline = min(baseline, 1.0) if is_relative else baseline


def _place_box(  # noqa: PLR0913  # what a box is
    rectangle: RenderAnnotation.Rectangle,
    left: float,
    top: float,
    width: float,
    height: float,
    *,
    is_relative: bool,
) -> None:
    """Set the sides of a rectangle; none where it is outside of the image."""
    if left + width < 0 or top + height < 0 or (is_relative and (left > 1 or top > 1)):
        return
    rectangle.normalized = is_relative
    rectangle.left = max(left, 0.0) if is_relative else left
    rectangle.top = max(top, 0.0) if is_relative else top
    rectangle.right = min(left + width, 1.0) if is_relative else left + width
    rectangle.bottom = min(top + height, 1.0) if is_relative else top + height


def _two_digits(score: float) -> float:
    """Return a score rounded to hundredths, halves away from zero, in 32 bits."""
    hundredths = _f32(_f32(score) * 100)
    whole = np.trunc(hundredths)
    if abs(hundredths - whole) >= 0.5:  # noqa: PLR2004  # a half
        whole += np.copysign(1, hundredths)
    return _f32(whole / 100)


def _f32(value: float) -> float:
    return float(np.float32(value))
