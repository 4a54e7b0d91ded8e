"""How well tracks follow the truth: CLEAR MOT and IDF1, exact.

Sources: K. Bernardin and R. Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The CLEAR MOT
Metrics", 2008; E. Ristani et al., "Performance Measures and a Data Set for Multi-Target, Multi-Camera
Tracking", 2016.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Boxes that share less of their union are not of one object.
LEAST_OVERLAP = 0.5


class Box(NamedTuple):
    """An object in a frame."""

    number: int
    #: Left, top, right, bottom.
    box: Sequence[float]


class Figures(NamedTuple):
    """What a tracker got right."""

    objects: int
    missed: int
    wrong: int
    switches: int
    #: 1 - (missed + wrong + switches) / objects.
    mota: float
    #: 2 * right / (objects + tracked), each id standing for the object that makes most right.
    idf1: float


def overlaps(some: Sequence[Box], others: Sequence[Box]) -> NDArray[np.float64]:
    """Return the intersection over the union of each pair."""
    made = np.zeros((len(some), len(others)))
    for i, one in enumerate(some):
        for j, other in enumerate(others):
            width = min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])
            height = min(one.box[3], other.box[3]) - max(one.box[1], other.box[1])
            shared = max(0.0, width) * max(0.0, height)
            areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one.box, other.box)]
            made[i, j] = shared / (sum(areas) - shared) if shared else 0.0
    return made


def figures(truth: Sequence[Sequence[Box]], tracked: Sequence[Sequence[Box]]) -> Figures:
    """Return the figures of the tracks of all frames.

    An object keeps the track that it had in its last frame where that still overlaps it enough; the others
    are paired so that as many as possible are found, and then by the overlap. A switch is counted where an
    object has another track than it had last.
    """
    had: dict[int, int] = {}
    missed = wrong = switches = objects = 0
    together: Counter[tuple[int, int]] = Counter()
    for here, found in zip(truth, tracked, strict=True):
        objects += len(here)
        shared = overlaps(here, found)
        together.update((here[i].number, found[j].number) for i, j in np.argwhere(shared >= LEAST_OVERLAP))
        pairs = _kept(here, found, shared, had) + _best(shared)
        for i, j in pairs:
            number, track = here[i].number, found[j].number
            switches += had.get(number, track) != track
            had[number] = track
        missed += len(here) - len(pairs)
        wrong += len(found) - len(pairs)
    all_tracked = sum(len(found) for found in tracked)
    return Figures(
        objects,
        missed,
        wrong,
        switches,
        1 - (missed + wrong + switches) / max(1, objects),
        2 * _right(together) / max(1, objects + all_tracked),
    )


def _kept(
    here: Sequence[Box], found: Sequence[Box], shared: NDArray[np.float64], had: dict[int, int]
) -> list[tuple[int, int]]:
    """Return the pairs that were pairs before, and take them out of `shared`."""
    columns = {one.number: j for j, one in enumerate(found)}
    kept: list[tuple[int, int]] = []
    for i, one in enumerate(here):
        j = columns.get(had.get(one.number, -1))
        if j is not None and shared[i, j] >= LEAST_OVERLAP and j not in {column for _, column in kept}:
            kept.append((i, j))
    for i, j in kept:
        shared[i, :] = 0
        shared[:, j] = 0
    return kept


def _best(shared: NDArray[np.float64]) -> list[tuple[int, int]]:
    worth = np.where(shared >= LEAST_OVERLAP, shared + shared.size, 0)
    rows, columns = linear_sum_assignment(worth, maximize=True)
    return [(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if worth[i, j]]


def _right(together: Counter[tuple[int, int]]) -> int:
    """Return in how many frames objects have the id that stands for them."""
    objects = sorted({one for one, _ in together})
    tracks = sorted({track for _, track in together})
    table = np.zeros((len(objects), len(tracks)))
    for (one, track), count in together.items():
        table[objects.index(one), tracks.index(track)] = count
    rows, columns = linear_sum_assignment(table, maximize=True)
    return int(table[rows, columns].sum())
