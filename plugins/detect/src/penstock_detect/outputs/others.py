"""The outputs of transformers, SSD, RTMDet and of models that draw heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock_detect.outputs.found import Found, corners, sigmoid, softmax
from penstock_detect.outputs.layouts import Scores
from penstock_detect.outputs.output_arrays import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_detect.outputs.found import Reading

_BOX: Final = 4
#: CenterFace: outputs per image, and channels of each.
_CENTERFACE: Final = (1, 2, 2, 10)
_POINTS: Final = 5
#: CenterFace: pixels between the cells of its maps.
_STRIDE: Final = 4


def detr(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read logits (1, N, classes) and boxes (1, N, 4): centre and size in fractions of the input."""
    wanted = "two outputs: logits 1 x N x classes, and boxes 1 x N x 4"
    if len(arrays) != 2:  # noqa: PLR2004  # logits, boxes
        refuse(reading.layout, arrays, wanted)
    logits, boxes = _flat(arrays[0]), _flat(arrays[1])
    if logits.ndim != 2 or boxes.shape != (len(logits), _BOX) or not logits.shape[1]:  # noqa: PLR2004  # rows
        refuse(reading.layout, arrays, wanted)
    if reading.scores == Scores.SOFTMAX:
        scores = softmax(logits)[:, :-1]
    else:
        scores = logits if reading.scores == Scores.GIVEN else sigmoid(logits)
    # A box may stand for several classes; as many detections as boxes, the best ones.
    places = np.flatnonzero(scores >= reading.min_score)
    found = scores.ravel()[places]
    order = np.argsort(-found, kind="stable")[: len(boxes)]
    places = places[order]
    rows, classes = np.divmod(places, max(scores.shape[1], 1))
    return Found(corners(boxes)[rows], found[order], classes, None, rows)


def detr_rows(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read (1, N, 4 + classes): centre and size in fractions of the input, and the score of each class."""
    if len(arrays) != 1 or arrays[0].ndim != 3 or len(arrays[0]) != 1 or arrays[0].shape[2] <= _BOX:  # noqa: PLR2004  # batch, rows, columns
        refuse(reading.layout, arrays, "one output 1 x N x (4 + classes)")
    table: NDArray[np.float32] = arrays[0][0]
    scores = sigmoid(table[:, _BOX:]) if reading.scores == Scores.SIGMOID else table[:, _BOX:]
    classes = scores.argmax(axis=1)
    best = scores[np.arange(len(scores)), classes]
    near = np.flatnonzero(best >= reading.min_score)
    return Found(corners(table[near, :_BOX]), best[near], classes[near], None, near)


def detr_end_to_end(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read (1, N, 6): centre and size in fractions of the input, the score and the class."""
    if len(arrays) != 1 or arrays[0].ndim != 3 or len(arrays[0]) != 1 or arrays[0].shape[2] != _BOX + 2:  # noqa: PLR2004  # batch, rows, columns
        refuse(reading.layout, arrays, "one output 1 x N x 6")
    table: NDArray[np.float32] = arrays[0][0]
    near = np.flatnonzero(table[:, _BOX] >= reading.min_score)
    chosen = table[near]
    return Found(corners(chosen[:, :_BOX]), chosen[:, _BOX], _whole(chosen[:, _BOX + 1]), None, near)


def labels_boxes_scores(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read labels (1, N), boxes (1, N, 4) in pixels, left, top, right, bottom, and scores (1, N)."""
    wanted = "three outputs: labels 1 x N, boxes 1 x N x 4 and scores 1 x N"
    if len(arrays) != 3:  # noqa: PLR2004  # labels, boxes, scores
        refuse(reading.layout, arrays, wanted)
    labels, boxes, scores = map(_flat, arrays)
    count = len(boxes)
    if boxes.shape != (count, _BOX) or labels.shape != (count,) or scores.shape != (count,):
        refuse(reading.layout, arrays, wanted)
    near = np.flatnonzero(scores >= reading.min_score)
    return Found(boxes[near] * reading.scale, scores[near], _whole(labels[near]), None, near)


def rtmdet(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read dets (1, N, 5) in pixels, left, top, right, bottom and the score, and labels (1, N)."""
    wanted = "two outputs: dets 1 x N x 5, and labels 1 x N"
    if len(arrays) != 2:  # noqa: PLR2004  # dets, labels
        refuse(reading.layout, arrays, wanted)
    dets, labels = map(_flat, arrays)
    if dets.shape != (len(labels), _BOX + 1) or labels.ndim != 1:
        refuse(reading.layout, arrays, wanted)
    near = np.flatnonzero(dets[:, _BOX] >= reading.min_score)
    return Found(dets[near, :_BOX] * reading.scale, dets[near, _BOX], _whole(labels[near]), None, near)


def ssd(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read boxes (1, N, 4): top, left, bottom, right in fractions; classes and scores (1, N); a count (1)."""
    wanted = "four outputs: boxes 1 x N x 4, classes 1 x N, scores 1 x N, and their count"
    if len(arrays) != 4:  # noqa: PLR2004  # boxes, classes, scores, count
        refuse(reading.layout, arrays, wanted)
    boxes, classes, scores = map(_flat, arrays[:3])
    most = len(boxes)
    if boxes.shape != (most, _BOX) or classes.shape != (most,) or scores.shape != (most,):
        refuse(reading.layout, arrays, wanted)
    if arrays[3].size != 1 or not 0 <= float(arrays[3].reshape(())) <= most:
        refuse(reading.layout, arrays, f"{wanted}, from 0 to {most}, not {arrays[3].ravel()[:3].tolist()}")
    count = int(arrays[3].reshape(()))
    near = np.flatnonzero(scores[:count] >= reading.min_score)
    return Found(boxes[near][:, [1, 0, 3, 2]], scores[near], _whole(classes[near]), None, near)


def centernet(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read a heat map (1, classes, h, w), sizes (1, 2, h, w) and offsets (1, 2, h, w), in cells."""
    wanted = "three outputs: a heat map 1 x classes x h x w, sizes 1 x 2 x h x w and offsets 1 x 2 x h x w"
    maps = _maps(arrays, (None, 2, 2))
    if maps is None:
        refuse(reading.layout, arrays, wanted)
    heat, sizes, offsets = maps
    if reading.scores == Scores.SIGMOID:
        heat = sigmoid(heat)
    classes, rows, columns = _peaks(heat, reading.min_score)
    places = np.stack([columns, rows], axis=1).astype(np.float32)
    centres = places + offsets[:, rows, columns].T
    boxes = corners(np.concatenate([centres, sizes[:, rows, columns].T], axis=1))
    cells = np.array([heat.shape[2], heat.shape[1]] * 2, np.float32)
    return Found(boxes / cells, heat[classes, rows, columns], classes)


def _peaks(heat: NDArray[np.float32], least: float) -> tuple[NDArray[np.intp], ...]:
    """Return class, row and column of each cell that none of its eight neighbours exceeds."""
    classes, rows, columns = np.nonzero(heat >= least)
    around = np.pad(heat, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    best = np.full(len(classes), -np.inf, np.float32)
    for down in range(3):
        for right in range(3):
            np.maximum(best, around[classes, rows + down, columns + right], out=best)
    is_peak = heat[classes, rows, columns] == best
    return classes[is_peak], rows[is_peak], columns[is_peak]


def centerface(arrays: Sequence[NDArray[Any]], reading: Reading) -> Found:
    """Read CenterFace's heat map, logarithms of sizes, offsets and five key points, in cells of 4 pixels."""
    maps = _maps(arrays, _CENTERFACE)
    if maps is None:
        refuse(
            reading.layout, arrays,
            "four outputs: a heat map 1 x 1 x h x w, sizes 1 x 2 x h x w, offsets 1 x 2 x h x w and key "
            "points 1 x 10 x h x w",
        )  # fmt: skip
    heat, sizes, offsets, points = maps
    rows, columns = np.nonzero(heat[0] >= reading.min_score)
    with np.errstate(over="ignore"):
        extents = np.exp(sizes[::-1, rows, columns].T) * _STRIDE  # width, height
    places = np.stack([columns, rows], axis=1).astype(np.float32)
    centres = (places + offsets[::-1, rows, columns].T + np.float32(0.5)) * _STRIDE
    boxes = corners(np.concatenate([centres, extents], axis=1))
    found = points[:, rows, columns].T.reshape(-1, _POINTS, 2)[..., ::-1]  # x, y
    found = found * extents[:, None] + boxes[:, None, :2]
    nothing = np.zeros(len(rows), np.intp)
    scale = reading.pixel_scale
    return Found(boxes * scale, heat[0, rows, columns], nothing, found * scale[:2])


def _maps(
    arrays: Sequence[NDArray[Any]], channels: tuple[int | None, ...]
) -> list[NDArray[np.float32]] | None:
    """Return maps (channels, h, w) of one size; None where the outputs are no such maps."""
    if len(arrays) != len(channels) or any(one.ndim != 4 or one.shape[0] != 1 for one in arrays):  # noqa: PLR2004  # NCHW
        return None
    if len({one.shape[2:] for one in arrays}) != 1:
        return None
    if any(wanted not in (None, one.shape[1]) for one, wanted in zip(arrays, channels, strict=True)):
        return None
    return [one[0] for one in arrays]


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """Return an output without its dimension of batches, where it has one of size 1."""
    is_batch = array.ndim > 1 and array.shape[0] == 1 and not (array.ndim == 2 and array.shape[1] == _BOX)  # noqa: PLR2004  # one box
    return array[0] if is_batch else array


def _whole(numbers: NDArray[Any]) -> NDArray[np.intp]:
    """Return the numbers of classes as whole ones."""
    found: NDArray[np.intp] = np.rint(numbers).astype(np.intp)
    return found
