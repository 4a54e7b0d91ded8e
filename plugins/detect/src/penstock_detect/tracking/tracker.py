"""Tracks: objects that are followed from the detections of one time to the next ones.

Sources of the methods: Y. Zhang et al., "ByteTrack: Multi-Object Tracking by Associating Every Detection
Box", ECCV 2022; J. Cao et al., "Observation-Centric SORT: Rethinking SORT for Robust Multi-Object Tracking",
CVPR 2023. Here time is in seconds, not in frames.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs
import numpy as np

from penstock_detect.tracking.association import overlaps, pairs
from penstock_detect.tracking.motion import Motion, begun, centred, observed, predicted, seen_again, unseen
from penstock_detect.tracking.options import Algorithm

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from penstock_detect.tracking.options import TrackerCalculatorOptions

    Numbers = NDArray[np.float64]
    Places = NDArray[np.intp]

#: Over how many seconds the direction of a track is measured, where it was seen so long.
_DIRECTION_SECONDS: Final = 0.2
#: What the agreement of directions counts beside the overlap, 0 to 1.
_DIRECTION_WEIGHT: Final = 0.2
#: Of a line over the time in which a track was covered, at most so many points are used.
_LINE_POINTS: Final = 30
_NO_BOXES: Final = np.zeros((0, 4))


class Seen(NamedTuple):
    """The detections of one time, n of them."""

    #: (n, 4): left, top, right, bottom.
    boxes: Numbers
    #: (n,): 0 to 1.
    scores: Numbers
    #: What each is.
    kinds: Sequence[Hashable]


class Followed(NamedTuple):
    """What became of the detections of one time."""

    #: (n,): the id of each detection's track, 0 where it has none.
    ids: NDArray[np.int64]
    #: Tracks without a detection that are to be filled in: id, and (left, top, right, bottom).
    filled: list[tuple[int, Numbers]]
    #: How many detections began no track, since there were too many.
    too_many: int


@attrs.define(eq=False)
class _Track:
    """One object. Where it is is in the row of `Tracker._motion` with its number."""

    kind: Hashable
    #: When it was last seen, in seconds.
    seen: float
    #: (4,): the box that was seen then.
    box: Numbers
    #: 0 until it has enough detections.
    id: int = 0
    hits: int = 1
    #: Times since it was last seen at which it could have been.
    missed: int = 0
    #: Of a track that is covered: what was known of it when it was last seen.
    motion: Motion | None = None
    #: When and where it was seen lately: seconds, x and y of its centre.
    recent: deque[tuple[float, float, float]] = attrs.field(factory=deque)


class Tracker:
    """Follows objects. Its state depends on the calls alone; the same calls give the same ids."""

    def __init__(self, options: TrackerCalculatorOptions) -> None:
        self._options = options
        self._is_oc = options.algorithm is Algorithm.OC_SORT
        self._last_id = 0
        self.forget()

    def forget(self) -> None:
        """End all tracks. Ids go on: none is given twice."""
        self._tracks: list[_Track] = []
        self._motion = begun(_NO_BOXES)
        self._time: float | None = None

    def update(self, seconds: float, seen: Seen) -> Followed:
        """Give the detections of a time to tracks.

        Args:
            seconds: the time, later than in the call before.
            seen: what was found then.
        """
        options = self._options
        is_first = self._time is None
        before = self._motion
        if self._time is not None:
            self._motion = predicted(self._motion, seconds - self._time)
        self._time = seconds
        is_kept = [seconds - track.seen <= options.lost_seconds for track in self._tracks]
        before = before.chosen(np.array(is_kept, bool))
        self._keep(is_kept)
        tracks = [-1] * len(seen.scores)
        high = np.flatnonzero(seen.scores >= options.high_score)
        low = np.flatnonzero((seen.scores >= options.low_score) & (seen.scores < options.high_score))
        kinds = self._same_kinds(seen.kinds)
        self._give(tracks, seen, self._free(tracks, sure=True), high, kinds)
        self._give(tracks, seen, self._free(tracks, sure=True, lost=False), low, kinds, is_low=True)
        if self._is_oc:
            self._recover(tracks, seen, self._free(tracks, sure=True), high, kinds)
        self._give(tracks, seen, self._free(tracks, sure=False), high, kinds)
        self._see(seconds, seen, tracks, before)
        begun_at = [at for at in high.tolist() if tracks[at] < 0 and seen.scores[at] >= options.new_score]
        room = max(0, options.max_tracks - len(self._tracks))
        self._begin(seconds, seen, begun_at[:room], tracks)
        self._number(tracks, is_first=is_first)
        ids = np.array([self._tracks[one].id if one >= 0 else 0 for one in tracks], np.int64)
        return Followed(ids, self._filled(seconds, tracks), max(0, len(begun_at) - room))

    # --- who may be given what -----------------------------------------------------------------------

    def _free(self, tracks: Sequence[int], *, sure: bool, lost: bool = True) -> Places:
        """Return the tracks without a detection: with an id (sure) or without one, lost ones too or not."""
        taken = set(tracks)
        return np.array(
            [
                number
                for number, track in enumerate(self._tracks)
                if number not in taken and (track.id > 0) == sure and (lost or not track.missed)
            ],
            np.intp,
        )

    def _same_kinds(self, kinds: Sequence[Hashable]) -> NDArray[np.bool_]:
        """Return which track may be given which detection, (tracks, detections)."""
        if not self._options.class_aware:
            return np.ones((len(self._tracks), len(kinds)), bool)
        numbers: dict[Hashable, int] = {}
        own = np.array([numbers.setdefault(track.kind, len(numbers)) for track in self._tracks], np.intp)
        found = np.array([numbers.setdefault(kind, len(numbers)) for kind in kinds], np.intp)
        same: NDArray[np.bool_] = own[:, None] == found[None, :]
        return same

    def _give(  # noqa: PLR0913  # one step of the method: the tracks, the detections, and how
        self,
        tracks: list[int],
        seen: Seen,
        rows: Places,
        columns: Places,
        kinds: NDArray[np.bool_],
        *,
        is_low: bool = False,
    ) -> None:
        """Give detections without a track to tracks, by where these should be."""
        columns = columns[[tracks[at] < 0 for at in columns.tolist()]] if len(columns) else columns
        if not len(rows) or not len(columns):
            return
        shared = overlaps(self._motion.chosen(rows).corners(), seen.boxes[columns])
        least = self._options.min_overlap_low if is_low else self._options.min_overlap
        allowed = (shared >= max(least, 1e-9)) & kinds[np.ix_(rows, columns)]
        worth = shared if is_low else shared * seen.scores[columns]
        if self._is_oc and not is_low:
            worth = worth + _DIRECTION_WEIGHT * self._agreement(rows, seen.boxes[columns])
        for row, column in zip(*pairs(worth, allowed), strict=True):
            tracks[columns[column]] = int(rows[row])

    def _recover(
        self, tracks: list[int], seen: Seen, rows: Places, columns: Places, kinds: NDArray[np.bool_]
    ) -> None:
        """Give detections without a track to tracks that were last seen there: objects that stood still."""
        columns = columns[[tracks[at] < 0 for at in columns.tolist()]] if len(columns) else columns
        if not len(rows) or not len(columns):
            return
        shared = overlaps(np.stack([self._tracks[row].box for row in rows.tolist()]), seen.boxes[columns])
        allowed = (shared >= max(self._options.min_overlap, 1e-9)) & kinds[np.ix_(rows, columns)]
        for row, column in zip(*pairs(shared, allowed), strict=True):
            tracks[columns[column]] = int(rows[row])

    def _agreement(self, rows: Places, boxes: Numbers) -> Numbers:
        """Return how well a track's direction fits the way to a box, (tracks, boxes): 1 equal, 0 opposite."""
        centres = centred(boxes)[:, :2]
        ends = [(self._tracks[row].recent[0], self._tracks[row].recent[-1]) for row in rows.tolist()]
        before = np.array([first[1:] for first, _ in ends])
        own = np.array([last[1:] for _, last in ends]) - before
        to = centres[None] - before[:, None]
        lengths = np.linalg.norm(to, axis=2) * np.linalg.norm(own, axis=1)[:, None]
        cosine = np.divide(
            (to * own[:, None]).sum(axis=2), lengths, out=np.zeros_like(lengths), where=lengths > 0
        )
        found: Numbers = 1 - np.arccos(np.clip(cosine, -1, 1)) / np.pi
        return found

    # --- what happens to tracks ----------------------------------------------------------------------

    def _keep(self, is_kept: list[bool]) -> None:
        if not all(is_kept):
            self._motion = self._motion.chosen(np.array(is_kept, bool))
            self._tracks = [track for track, kept in zip(self._tracks, is_kept, strict=True) if kept]

    def _see(self, seconds: float, seen: Seen, tracks: list[int], before: Motion) -> None:
        """Tell tracks what was seen of them, and end those without an id of which nothing was."""
        given = [(track, at) for at, track in enumerate(tracks) if track >= 0]
        rows = np.array([track for track, _ in given], np.intp)
        boxes = seen.boxes[[at for _, at in given]]
        if given:
            part = observed(self._motion.chosen(rows), boxes)
            if self._is_oc:
                part = self._straightened(seconds, rows, boxes, part)
            self._motion = self._motion.changed(rows, part)
        missed = np.setdiff1d(np.arange(len(self._tracks)), rows)
        self._motion = unseen(self._motion, missed)
        for row in missed.tolist():
            track = self._tracks[row]
            if self._is_oc and not track.missed:
                track.motion = before.chosen(np.array([row]))
            track.missed += 1
        for row, box in zip(rows.tolist(), boxes, strict=True):
            track = self._tracks[row]
            track.hits, track.missed = track.hits + 1, 0
            track.seen, track.box = seconds, box
            self._remember(track)
        is_kept = [track.id > 0 or not track.missed for track in self._tracks]
        places = np.cumsum(is_kept) - 1
        tracks[:] = [int(places[one]) if one >= 0 else -1 for one in tracks]
        self._keep(is_kept)

    def _remember(self, track: _Track) -> None:
        """Keep what the direction is measured by, of OC-SORT."""
        if not self._is_oc:
            return
        left, top, right, bottom = track.box.tolist()
        track.recent.append((track.seen, (left + right) / 2, (top + bottom) / 2))
        while len(track.recent) > 2 and track.seen - track.recent[1][0] >= _DIRECTION_SECONDS:  # noqa: PLR2004  # a direction has two ends
            track.recent.popleft()

    def _straightened(self, seconds: float, rows: Places, boxes: Numbers, part: Motion) -> Motion:
        """Return what is known of tracks that are seen; covered ones went straight on since."""
        for i, row in enumerate(rows.tolist()):
            track = self._tracks[row]
            if track.missed and track.motion is not None:
                steps = min(track.missed + 1, _LINE_POINTS)
                again = seen_again(
                    track.motion, track.box[None], boxes[i : i + 1], seconds - track.seen, steps
                )
                part = part.changed(np.array([i]), again)
        return part

    def _begin(self, seconds: float, seen: Seen, begun_at: list[int], tracks: list[int]) -> None:
        if not begun_at:
            return
        boxes = seen.boxes[begun_at]
        self._motion = self._motion.joined(begun(boxes))
        for at, box in zip(begun_at, boxes, strict=True):
            track = _Track(seen.kinds[at], seconds, box)
            tracks[at] = len(self._tracks)
            self._tracks.append(track)
            self._remember(track)

    def _number(self, tracks: Sequence[int], *, is_first: bool) -> None:
        """Give an id to each track that has enough detections, in the order of these."""
        for one in tracks:
            track = self._tracks[one] if one >= 0 else None
            if track is not None and not track.id and (is_first or track.hits >= self._options.min_hits):
                self._last_id += 1
                track.id = self._last_id

    def _filled(self, seconds: float, tracks: Sequence[int]) -> list[tuple[int, Any]]:
        if not self._options.fill_seconds:
            return []
        corners = self._motion.corners()
        rows = self._free(tracks, sure=True).tolist()
        found = [(self._tracks[row], corners[row]) for row in rows]
        return [(track.id, box) for track, box in found if seconds - track.seen <= self._options.fill_seconds]
