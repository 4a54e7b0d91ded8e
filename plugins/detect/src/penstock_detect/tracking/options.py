"""The options of the calculators that follow objects."""

from __future__ import annotations

from enum import Enum
from typing import Final

import attrs


class Algorithm(Enum):
    """How detections are given to tracks."""

    #: By overlap with where a track should be; what scores little is used for tracks that lack a detection.
    BYTE_TRACK = 0
    #: Likewise, but a track keeps its direction, and starts again at what was seen when it was covered.
    OC_SORT = 1


_IS_SHARE: Final = (attrs.validators.ge(0.0), attrs.validators.le(1.0))
#: 0 s to an hour.
_IS_TIME: Final = (attrs.validators.ge(0.0), attrs.validators.le(3600.0))


@attrs.frozen(kw_only=True)
class TrackerCalculatorOptions:
    """How objects are followed.

    Attributes:
        algorithm: BYTE_TRACK or OC_SORT.
        high_score: detections from this score on are given to tracks first, 0 to 1.
        low_score: detections below it are not looked at; those between it and `high_score` are given to
            tracks that have none yet, but begin none.
        new_score: a detection without a track begins one from this score on, 0 to 1.
        min_overlap: least overlap, as a share of the union, of a detection and where its track should be.
        min_overlap_low: the same for detections below `high_score`.
        min_hits: a track gets its id when it has had so many detections without a gap, 1 to 1000;
            at the first timestamp each gets one at once.
        lost_seconds: a track without detections ends after this time of the timestamps, 0 to 3600.
        fill_seconds: where a track has no detection its box is sent where it should be, for at most this
            time, 0 to 3600; 0: it is not.
        class_aware: a track takes detections of its own class only.
        keep_untracked: detections without a track are sent too, without an id.
        max_tracks: so many objects are followed at most; further ones begin no track.
    """

    algorithm: Algorithm = Algorithm.BYTE_TRACK
    high_score: float = attrs.field(default=0.5, validator=_IS_SHARE)
    low_score: float = attrs.field(default=0.1, validator=_IS_SHARE)
    new_score: float = attrs.field(default=0.5, validator=_IS_SHARE)
    min_overlap: float = attrs.field(default=0.2, validator=_IS_SHARE)
    min_overlap_low: float = attrs.field(default=0.5, validator=_IS_SHARE)
    min_hits: int = attrs.field(default=2, validator=[attrs.validators.ge(1), attrs.validators.le(1000)])
    lost_seconds: float = attrs.field(default=2.0, validator=_IS_TIME)
    fill_seconds: float = attrs.field(default=0.0, validator=_IS_TIME)
    class_aware: bool = True
    keep_untracked: bool = False
    max_tracks: int = attrs.field(
        default=1000, validator=[attrs.validators.ge(1), attrs.validators.le(10_000)]
    )
