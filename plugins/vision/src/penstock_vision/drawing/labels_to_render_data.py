"""Labels as drawings: lines of text in a corner of the image."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

import penstock
from penstock import Timestamp
from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, RenderData, VideoHeader
from penstock_vision.messages.labels_to_render_data_pb2 import LabelsToRenderDataCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: Distance of two lines, as a multiple of the font's height.
_LINE_SPACING: Final = 1.25
_RED: Final = {"r": 255, "g": 0, "b": 0}
_BLACK: Final = {"r": 0, "g": 0, "b": 0}
_OPTIONS: Final = LabelsToRenderDataCalculatorOptions


class LabelsToRenderDataCalculator(penstock.Calculator):
    """Make a drawing of labels: lines of text in the top left or bottom left corner of the image.

    Inputs: either CLASSIFICATIONS (ClassificationList), or LABELS (list[str]) and optionally SCORES
    (list[float], as many); VIDEO_PRESTREAM (VideoHeader, optional), whose packet at PRESTREAM tells the
    size of the images. Output: RENDER_DATA (RenderData) for each packet of labels; the first
    `max_num_labels` of them are drawn. Scores stand behind their label, as "cat:0.87", with six digits at
    most. Timestamp offset 0.

    Options `LabelsToRenderDataCalculatorOptions`: `color` (used in turn; red), `thickness` (2, pixels),
    `font_height_px` (50), `max_num_labels` (1), `font_face` (0), `location` (TOP_LEFT; BOTTOM_LEFT),
    `horizontal_offset_px` and `vertical_offset_px` (0), `use_display_name` (false),
    `display_classification_score` (false), `outline_thickness` (none, pixels), `outline_color` (used in
    turn; black).

    Raises when the graph is loaded: InvalidArgumentError unless either CLASSIFICATIONS or LABELS is
    connected. In `process`: the same for another number of scores than labels, or for BOTTOM_LEFT before
    VIDEO_PRESTREAM told a size. (The reference ends the process for every BOTTOM_LEFT.)

    Source of the behaviour: MediaPipe `calculators/util/labels_to_render_data_calculator.cc`.

    Config::

        node {
          calculator: "LabelsToRenderDataCalculator"
          input_stream: "LABELS:labels"
          input_stream: "SCORES:scores"
          output_stream: "RENDER_DATA:labels_to_draw"
          options {
            [penstock.LabelsToRenderDataCalculatorOptions.ext] { font_height_px: 20 max_num_labels: 3 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the labels.

        Raises:
            InvalidArgumentError: there are none, or two kinds.
        """
        has_classes = "CLASSIFICATIONS" in cc.inputs
        if has_classes == ("LABELS" in cc.inputs):
            raise InvalidArgumentError(
                f"node {cc.node_name!r}: {'both' if has_classes else 'neither'} of CLASSIFICATIONS and "
                "LABELS are connected; connect exactly one of them"
            )
        if has_classes:
            cc.inputs["CLASSIFICATIONS"].set(ClassificationList, "labels with scores")
        else:
            cc.inputs["LABELS"].set(list[str], "labels")
            cc.inputs["SCORES"].set(list[float], "a score for each label").optional()
        cc.inputs["VIDEO_PRESTREAM"].set(VideoHeader, "the size of the images").optional()
        cc.outputs["RENDER_DATA"].set(RenderData, "the drawing")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self._options = cc.options(_OPTIONS)
        self._line_height = ceil(self._options.font_height_px * _LINE_SPACING)
        self._height = 0
        self._has_classes = "CLASSIFICATIONS" in cc.inputs
        self._tag = "CLASSIFICATIONS" if self._has_classes else "LABELS"
        self._has_scores = "SCORES" in cc.inputs
        self._has_size = "VIDEO_PRESTREAM" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Make one drawing, or read the size of the images.

        Raises:
            InvalidArgumentError: the numbers of labels and scores differ, or the size is missing.
        """
        if self._has_size and cc.stamp == Timestamp.PRESTREAM:
            if not cc.inputs["VIDEO_PRESTREAM"].is_empty():
                self._height = cc.inputs["VIDEO_PRESTREAM"].payload.height
            return
        if cc.inputs[self._tag].is_empty():
            return
        lines = self._lines(cc)[: max(self._options.max_num_labels, 0)]
        cc.outputs["RENDER_DATA"].add(self._drawing(lines), cc.stamp)

    def _lines(self, cc: CalculatorContext) -> list[str]:
        """Return a line of text for each label."""
        payload = cc.inputs[self._tag].payload
        options = self._options
        if self._has_classes:
            names = [
                found.display_name if options.use_display_name else found.label
                for found in payload.classification
            ]
            scores = [found.score for found in payload.classification]
        else:
            names = payload
            scores = [0.0] * len(names)
            if self._has_scores:
                port = cc.inputs["SCORES"]
                scores = [] if port.is_empty() else port.payload
                if len(scores) != len(names):
                    raise InvalidArgumentError(
                        f"input {port.name!r} has {len(scores)} scores, but there are {len(names)} labels "
                        f"to draw at timestamp {cc.stamp}; send a score for each label"
                    )
        if not self._has_scores and not options.display_classification_score:
            return list(names)
        return [f"{name}:{score:.6g}" for name, score in zip(names, scores, strict=True)]

    def _drawing(self, lines: list[str]) -> RenderData:
        options = self._options
        baseline = options.vertical_offset_px
        if options.location == _OPTIONS.TOP_LEFT:
            baseline += self._line_height
        elif self._height:
            baseline += self._height - self._line_height * (len(lines) - 1)
        else:
            raise InvalidArgumentError(
                "the labels' location is BOTTOM_LEFT, but the height of the images is not known; connect "
                "VIDEO_PRESTREAM to a stream that has a VideoHeader at PRESTREAM, or choose TOP_LEFT"
            )
        data = RenderData()
        colors, outlines = options.color, options.outline_color
        for i, words in enumerate(lines):
            annotation = data.render_annotations.add(
                thickness=options.thickness, color=colors[i % len(colors)] if colors else _RED
            )
            text = annotation.text
            text.display_text = words
            text.font_height = options.font_height_px
            text.left = options.horizontal_offset_px
            text.baseline = baseline + i * self._line_height
            text.font_face = options.font_face
            if options.outline_thickness > 0:
                text.outline_thickness = options.outline_thickness
                if outlines:
                    text.outline_color.CopyFrom(outlines[i % len(outlines)])
                else:
                    text.outline_color.MergeFrom(type(text.outline_color)(**_BLACK))
        return data
