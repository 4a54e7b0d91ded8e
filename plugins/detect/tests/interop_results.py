"""Detections, and a Results of Ultralytics, for the tests of both libraries."""

from __future__ import annotations

import types

import numpy as np

from penstock_formats import Detection

WIDTH, HEIGHT = 200, 100
SIZE = (WIDTH, HEIGHT)
MISSING = 'no supervision: pip install "penstock-detect[supervision]"'


def found(left=0.1, top=0.2, width=0.3, height=0.4, label="cat", number=2, score=0.75, **given):  # noqa: PLR0913, PLR0917  # of one
    made = Detection(label=[label] if label else [], label_id=[number], score=[score], **given)
    made.location_data.format = made.location_data.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = left, top, width, height
    return made


def plain(one):
    """Return a detection as numbers and texts."""
    box = one.location_data.relative_bounding_box
    points = [
        (round(point.x, 5), round(point.y, 5), round(point.score, 5))
        for point in one.location_data.relative_keypoints
    ]
    edges = [round(edge, 5) for edge in (box.xmin, box.ymin, box.width, box.height)]
    number = one.detection_id if one.HasField("detection_id") else None
    return edges, list(one.label), list(one.label_id), round(one.score[0], 5), number, points


TWO = [found(detection_id=7), found(0.5, 0.5, 0.25, 0.5, "dog", 1, 0.5, detection_id=9)]


class Results:
    """A Results as its documentation says: columns of `boxes` are box, perhaps id, score and class."""

    def __init__(self, orig_img, path, names, boxes=None, keypoints=None, kind=np.asarray):  # noqa: PLR0913, PLR0917  # as there
        self.orig_img, self.orig_shape, self.path, self.names = orig_img, orig_img.shape[:2], path, names
        self.boxes = self.keypoints = None
        if boxes is not None:
            is_track = boxes.shape[1] == 7
            self.boxes = types.SimpleNamespace(
                data=kind(boxes), xyxy=kind(boxes[:, :4]), conf=kind(boxes[:, -2]), cls=kind(boxes[:, -1]),
                id=kind(boxes[:, -3]) if is_track else None,
            )  # fmt: skip
        if keypoints is not None:
            self.keypoints = types.SimpleNamespace(data=kind(keypoints))


PIXELS = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
NAMES = {1: "dog", 2: "cat"}
