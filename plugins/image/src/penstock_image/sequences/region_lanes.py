"""Boxes and points in images, on their way into a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData
from penstock_image.sequences import keys
from penstock_image.sequences.lane import Lane
from penstock_image.sequences.media_sequence import BYTES, FLOATS, INTS, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_image.sequences.lane import Moment
    from penstock_image.sequences.media_sequence import Kind, MediaSequence

_ABSOLUTE: Final = LocationData.BOUNDING_BOX
_RELATIVE: Final = LocationData.RELATIVE_BOUNDING_BOX


class Keypoints(Lane):
    """Named points of images, as a dict from name to pairs (y, x) in fractions of the image."""

    accepts = (dict,)
    description = "name to list of (y, x)"
    __slots__ = ("_replaces",)

    def __init__(self, tag: str, prefix: str) -> None:
        super().__init__(tag, prefix)
        #: Names get known with the first packet only.
        self._replaces = False

    def clear(self, sequence: MediaSequence) -> None:  # noqa: ARG002  # the names are not known
        """Remove the points of the names that the first packet has."""
        self._replaces = True

    def add(self, payload: Any, moment: Moment) -> None:
        """Add the points of one timestamp."""
        for name, points in payload.items():
            prefix = key_of(self.prefix, name)
            parts = [key_of(prefix, part) for part in keys.REGION_PARTS]
            y_key, x_key = key_of(prefix, keys.REGION_POINT_Y), key_of(prefix, keys.REGION_POINT_X)
            if self._replaces:
                moment.sequence.drop_steps(y_key, x_key, *parts)
            moment.sequence.add_step(key_of(prefix, keys.REGION_TIMESTAMP), INTS, [moment.stamp])
            moment.sequence.add_step(y_key, FLOATS, [y for y, _ in points])
            moment.sequence.add_step(x_key, FLOATS, [x for _, x in points])
        self._replaces = False


class Boxes(Lane):
    """Boxes with a label and a score each."""

    accepts = (list[Detection],)
    description = "detections with boxes"
    __slots__ = ()

    def clear(self, sequence: MediaSequence) -> None:
        """Remove the boxes and all that belongs to them."""
        box = (keys.REGION_XMIN, keys.REGION_YMIN, keys.REGION_XMAX, keys.REGION_YMAX)
        sequence.drop_steps(*map(self.key, (*box, *keys.REGION_PARTS)))

    def add(self, payload: Any, moment: Moment) -> None:
        """Add the boxes of one timestamp; other locations are left out, and no box adds nothing."""
        found = [one for one in payload if one.location_data.format in (_ABSOLUTE, _RELATIVE)]
        if not found:
            return
        height, width = self._size(moment)
        boxes = np.stack([self._box(one.location_data, height, width) for one in found])
        for name, column in (
            (keys.REGION_XMIN, boxes[:, 0]),
            (keys.REGION_YMIN, boxes[:, 1]),
            (keys.REGION_XMAX, boxes[:, 0] + boxes[:, 2]),
            (keys.REGION_YMAX, boxes[:, 1] + boxes[:, 3]),
        ):
            moment.sequence.add_step(self.key(name), FLOATS, column.tolist())
        moment.sequence.add_step(self.key(keys.REGION_TIMESTAMP), INTS, [moment.stamp])
        self._add_firsts(moment.sequence, keys.REGION_LABEL_STRING, BYTES, [one.label for one in found])
        self._add_firsts(moment.sequence, keys.REGION_LABEL_INDEX, INTS, [one.label_id for one in found])
        self._add_firsts(moment.sequence, keys.REGION_LABEL_CONFIDENCE, FLOATS, [one.score for one in found])

    def _add_firsts(self, sequence: MediaSequence, name: str, kind: Kind, lists: list[Sequence[Any]]) -> None:
        firsts = [values[0] for values in lists if values]
        if firsts:
            sequence.add_step(self.key(name), kind, firsts)

    @staticmethod
    def _size(moment: Moment) -> tuple[int, int]:
        """Return height and width of the image: from the context, else of this timestamp."""
        sequence = moment.sequence
        if sequence.has(keys.IMAGE_HEIGHT) and sequence.has(keys.IMAGE_WIDTH):
            return sequence.first(keys.IMAGE_HEIGHT), sequence.first(keys.IMAGE_WIDTH)
        return moment.height, moment.width

    def _box(self, location: LocationData, height: int, width: int) -> NDArray[np.float32]:
        """Return left, top, width and height in fractions of the image."""
        if location.format == _RELATIVE:
            box: Any = location.relative_bounding_box
            return np.array([box.xmin, box.ymin, box.width, box.height], np.float32)
        if height <= 0 or width <= 0:
            raise InvalidArgumentError(
                f"input {self.tag} holds a region with its box in pixels, but the size of the image is not "
                f"known; connect an input IMAGE, or set {keys.IMAGE_HEIGHT!r} and {keys.IMAGE_WIDTH!r} in "
                "the context"
            )
        box = location.bounding_box
        pixels = np.array([box.xmin, box.ymin, box.width, box.height], np.float32)
        return np.asarray(pixels / np.array([width, height, width, height], np.float32))
