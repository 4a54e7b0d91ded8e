"""TrackerCalculator: detections with the ids of the objects that they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_detect.tracking.options import TrackerCalculatorOptions
from penstock_detect.tracking.tracker import Followed, Seen, Tracker
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from penstock import CalculatorContext, CalculatorContract

_MASKS: Final = "MASKS"


class TrackerCalculator(penstock.Calculator):
    """Follows objects through time: gives each detection the id of the object that it is.

    Inputs: DETECTIONS (list[Detection] with places RELATIVE_BOUNDING_BOX or BOUNDING_BOX, one score and one
    label or label_id each; without a score it counts as 1, an empty list says that nothing was seen), RESET
    (optional, bool: true ends all tracks before the detections of its timestamp, as at a cut of a film),
    MASKS (optional, list[ImageFrame], a mask for each detection). Outputs: DETECTIONS (list[Detection], new
    messages in the order of the input, `detection_id` from 1 on: one number for each object of a run, and
    none is given twice), and with MASKS also MASKS (list[ImageFrame], a mask for each of these, borrowed).
    Detections without a track are left out. A timestamp without DETECTIONS sends nothing, and says nothing
    about the objects: time goes on, and no track is looked for. Timestamp offset 0.

    Time is read off the timestamps, in microseconds, so frames may be missing or come at changing rates. A
    track that is covered goes on with the speed that it had; what is found near there within `lost_seconds`
    has its id. The state depends on the packets alone: ids are the same in each run, on any number of
    threads.

    Options `TrackerCalculatorOptions`: `algorithm` (BYTE_TRACK; OC_SORT), `high_score` (0.5), `low_score`
    (0.1), `new_score` (0.5), `min_overlap` (0.2), `min_overlap_low` (0.5), `min_hits` (2: one detection alone
    is no object, but each of the first timestamp is one), `lost_seconds` (2), `fill_seconds` (0: above, a
    track without a detection is sent for so long where it should be, behind the others in the order of ids,
    with a score of 0, without key points and with an empty mask), `class_aware` (true), `keep_untracked`
    (false: true, detections without a track are sent without an id), `max_tracks` (1000;
    `graph.ledger().cuts` says how many it left out).

    Raises when the graph is loaded: OptionsError for numbers out of range, InvalidArgumentError where one of
    the ports MASKS is connected and the other is not. In `process`: InvalidArgumentError for a detection
    without a box, or whose box or score is not finite, and for another number of masks than detections.

    Config::

        node {
          calculator: "TrackerCalculator"
          input_stream: "DETECTIONS:detections"
          output_stream: "DETECTIONS:followed"
          node_options {
            [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {
              algorithm: OC_SORT lost_seconds: 2
            }
          }
        }
    """

    Options = TrackerCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: as the class says.
        """
        cc.inputs["DETECTIONS"].set(list[Detection], "what was found")
        cc.inputs["RESET"].set(bool, "true: all tracks end").optional()
        cc.inputs[_MASKS].set(list[ImageFrame], "a mask for each detection").optional()
        cc.outputs["DETECTIONS"].set(list[Detection], "what is followed, with ids")
        cc.outputs[_MASKS].set(list[ImageFrame], "a mask for each of these").optional()
        if (_MASKS in cc.inputs) != (_MASKS in cc.outputs):
            given, other = ("input", "output") if _MASKS in cc.inputs else ("output", "input")
            raise InvalidArgumentError(
                f"the tracker's {given} MASKS is connected, but the {other} MASKS is not; connect both, or "
                "none"
            )
        cc.options(TrackerCalculatorOptions)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin without tracks."""
        self._options = cc.options(TrackerCalculatorOptions)
        self._tracker = Tracker(self._options)
        self._has_reset, self._has_masks = "RESET" in cc.inputs, _MASKS in cc.inputs
        self._last: dict[int, Detection] = {}

    def process(self, cc: CalculatorContext) -> None:
        """Follow the objects of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if self._has_reset and not cc.inputs["RESET"].is_empty() and cc.inputs["RESET"].payload:
            self._tracker.forget()
            self._last.clear()
        port = cc.inputs["DETECTIONS"]
        if port.is_empty():
            return
        detections: list[Detection] = port.payload
        followed = self._tracker.update(cc.stamp / 1e6, seen_of(detections, port.name))
        if followed.too_many:
            port.count_cut(f"max_tracks is {self._options.max_tracks}", followed.too_many)
        sent = self._sent(detections, followed)
        cc.outputs["DETECTIONS"].add(sent, cc.stamp)
        if self._has_masks and not cc.inputs[_MASKS].is_empty():
            masks = self._masks(cc.inputs[_MASKS].payload, followed)
            masks += [_empty_mask(masks)] * (len(sent) - len(masks))
            cc.outputs[_MASKS].add(masks, cc.stamp)

    def _masks(self, masks: Sequence[ImageFrame], followed: Followed) -> list[ImageFrame]:
        """Return the masks of the detections that are sent.

        Raises:
            InvalidArgumentError: there are not as many as detections.
        """
        if len(masks) != len(followed.ids):
            raise InvalidArgumentError(
                f"there are {len(masks)} masks for the tracker, but {len(followed.ids)} detections; give one "
                "for each"
            )
        keeps_all = self._options.keep_untracked
        return [mask for mask, number in zip(masks, followed.ids, strict=True) if number or keeps_all]

    def _sent(self, detections: Sequence[Detection], followed: Followed) -> list[Detection]:
        """Return the detections that are followed, then the filled-in ones."""
        sent = []
        for one, number in zip(detections, followed.ids.tolist(), strict=True):
            if number or self._options.keep_untracked:
                made = Detection()
                made.CopyFrom(one)
                made.ClearField("detection_id")
                if number:
                    made.detection_id = number
                sent.append(made)
        if self._options.fill_seconds:
            filled = [_moved(self._last[number], box.tolist()) for number, box in followed.filled]
            self._last = {one.detection_id: one for one in (*sent, *filled) if one.detection_id}
            sent += filled
        return sent


def _empty_mask(others: Sequence[ImageFrame]) -> ImageFrame:
    """Return a mask of nothing, of the size of others, GRAY8; of one pixel where there are none."""
    shape = others[0].array.shape if others else (1, 1)
    return ImageFrame(np.zeros(shape, np.uint8), ImageFormat.GRAY8)


def seen_of(detections: Sequence[Detection], port: str) -> Seen:
    """Return the numbers of detections.

    Args:
        detections: with boxes.
        port: the name of their stream, for messages.

    Raises:
        InvalidArgumentError: one has no box, or a number that is not finite.
    """
    boxes = [_corners(one, port) for one in detections]
    scores = [one.score[0] if one.score else 1.0 for one in detections]
    for box, score in zip(boxes, scores, strict=True):
        if not all(map(math.isfinite, (*box, score))):
            raise InvalidArgumentError(
                f"input {port!r}: a detection has the box {box} and the score {score}, but all of these "
                "numbers must be finite; leave it out before the tracker"
            )
    return Seen(
        np.array(boxes, np.float64).reshape(-1, 4), np.array(scores), [_kind(one) for one in detections]
    )


def _kind(one: Detection) -> Hashable:
    """Return what an object is: its label_id, or its label."""
    if one.label_id:
        return int(one.label_id[0])
    return str(one.label[0]) if one.label else None


def _corners(one: Detection, port: str) -> tuple[float, float, float, float]:
    """Return left, top, right, bottom."""
    place = one.location_data
    if place.format == LocationData.RELATIVE_BOUNDING_BOX:
        found = place.relative_bounding_box
        return found.xmin, found.ymin, found.xmin + found.width, found.ymin + found.height
    if place.format == LocationData.BOUNDING_BOX:
        box = place.bounding_box
        return box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height
    raise InvalidArgumentError(
        f"input {port!r}: a detection has a place of format {LocationData.Format.Name(place.format)}, but a "
        "box is followed by the tracker; give it a RELATIVE_BOUNDING_BOX or BOUNDING_BOX"
    )


def _moved(last: Detection, box: Sequence[float]) -> Detection:
    """Return an object that was not found, where it should be: without key points, which are not known."""
    left, top, right, bottom = box
    made = Detection()
    made.CopyFrom(last)
    made.score[:] = [0.0]
    place = made.location_data
    place.ClearField("relative_keypoints")
    made.ClearField("mask_row")
    if place.format == LocationData.RELATIVE_BOUNDING_BOX:
        place.relative_bounding_box.MergeFrom(
            LocationData.RelativeBoundingBox(xmin=left, ymin=top, width=right - left, height=bottom - top)
        )
    else:
        sides = [round(one) for one in (left, top, right - left, bottom - top)]
        place.bounding_box.MergeFrom(
            LocationData.BoundingBox(xmin=sides[0], ymin=sides[1], width=sides[2], height=sides[3])
        )
    return made
