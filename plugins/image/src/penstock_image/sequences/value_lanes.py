"""Labels, features and the file of a clip, on their way into a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from penstock import Timestamp
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import POSTSTREAM, show
from penstock_formats import Detection
from penstock_image.sequences import keys
from penstock_image.sequences.lane import Lane
from penstock_image.sequences.media_sequence import BYTES, FLOATS, INTS

if TYPE_CHECKING:
    from penstock_image.sequences.lane import Moment
    from penstock_image.sequences.media_sequence import Kind, MediaSequence


class ClipLabels(Lane):
    """Labels of the whole clip."""

    accepts = (Detection,)
    description = "labels and scores of the clip"
    __slots__ = ("adds_empty",)

    def __init__(self, tag: str, prefix: str) -> None:
        super().__init__(tag, prefix)
        #: Whether a detection without scores leaves empty lists.
        self.adds_empty = False

    def clear(self, sequence: MediaSequence) -> None:
        """Remove the labels."""
        sequence.drop(
            *map(self.key, (keys.CLIP_LABEL_INDEX, keys.CLIP_LABEL_STRING, keys.CLIP_LABEL_CONFIDENCE))
        )

    def add(self, payload: Any, moment: Moment) -> None:
        """Add the labels; a detection without scores adds nothing, or empty lists."""
        scores = payload.score
        if not scores:
            if self.adds_empty:
                moment.sequence.set(self.key(keys.CLIP_LABEL_STRING), BYTES, ())
                moment.sequence.set(self.key(keys.CLIP_LABEL_CONFIDENCE), FLOATS, ())
            return
        self._check(payload)
        if payload.label_id:
            moment.sequence.extend(self.key(keys.CLIP_LABEL_INDEX), INTS, payload.label_id)
        if payload.label:
            moment.sequence.extend(self.key(keys.CLIP_LABEL_STRING), BYTES, payload.label)
        moment.sequence.extend(self.key(keys.CLIP_LABEL_CONFIDENCE), FLOATS, scores)

    def _check(self, detection: Detection) -> None:
        scores = len(detection.score)
        if not (detection.label or detection.label_id):
            raise InvalidArgumentError(
                f"the sequence's values at input {self.tag} have {scores} scores, but neither labels nor "
                "label ids; set one of them"
            )
        for name, found in (("labels", detection.label), ("label ids", detection.label_id)):
            if found and len(found) != scores:
                raise InvalidArgumentError(
                    f"the sequence's values at input {self.tag} have {len(found)} {name} and {scores} "
                    "scores, but each score has one; correct the detection"
                )


class ContextValues(Lane):
    """A list of values for the whole sequence, in one packet after all others."""

    name: ClassVar[str]
    kind: ClassVar[Kind]
    __slots__ = ()

    def clear(self, sequence: MediaSequence) -> None:
        """Remove the list."""
        sequence.drop(self.key(self.name))

    def add(self, payload: Any, moment: Moment) -> None:
        """Add the list."""
        if moment.stamp != POSTSTREAM:
            raise InvalidArgumentError(
                f"the sequence's values at input {self.tag} have a packet at {show(moment.stamp)}, but are "
                "of the whole sequence; send them once, at Timestamp.POSTSTREAM"
            )
        if payload:
            moment.sequence.extend(self.key(self.name), self.kind, payload)


class ContextFloats(ContextValues):
    """Floats for the whole sequence."""

    name, kind, accepts, description = keys.CONTEXT_FEATURE_FLOATS, FLOATS, (list[float],), "at POSTSTREAM"
    __slots__ = ()


class ContextInts(ContextValues):
    """Whole numbers for the whole sequence."""

    name, kind, accepts, description = keys.CONTEXT_FEATURE_INTS, INTS, (list[int],), "at POSTSTREAM"
    __slots__ = ()


class ContextBytes(ContextValues):
    """Bytes or texts for the whole sequence."""

    name, kind, description = keys.CONTEXT_FEATURE_BYTES, BYTES, "at POSTSTREAM"
    accepts = (list[bytes], list[str])
    __slots__ = ()


class FeatureValues(Lane):
    """A list of values for each timestamp."""

    name: ClassVar[str]
    kind: ClassVar[Kind]
    __slots__ = ()

    def clear(self, sequence: MediaSequence) -> None:
        """Remove values and times."""
        sequence.drop_steps(self.key(self.name), self.key(keys.FEATURE_TIMESTAMP))

    def add(self, payload: Any, moment: Moment) -> None:
        """Add the list of one timestamp."""
        moment.sequence.add_step(self.key(keys.FEATURE_TIMESTAMP), INTS, [moment.stamp])
        moment.sequence.add_step(self.key(self.name), self.kind, payload)


class FeatureFloats(FeatureValues):
    """Floats for each timestamp."""

    name, kind, accepts, description = keys.FEATURE_FLOATS, FLOATS, (list[float],), "a feature"
    __slots__ = ()


class FeatureInts(FeatureValues):
    """Whole numbers for each timestamp."""

    name, kind, accepts, description = keys.FEATURE_INTS, INTS, (list[int],), "a feature"
    __slots__ = ()


class FeatureBytes(FeatureValues):
    """Bytes or texts for each timestamp."""

    name, kind, description = keys.FEATURE_BYTES, BYTES, "a feature"
    accepts = (list[bytes], list[str])
    __slots__ = ()


class Media(Lane):
    """The bytes of the clip's own file."""

    accepts = (bytes,)
    description = "the file of the clip"
    __slots__ = ()

    def add(self, payload: Any, moment: Moment) -> None:
        """Keep the bytes; they replace others."""
        moment.sequence.set(self.key(keys.CLIP_MEDIA), BYTES, [payload])


class MediaStart(Lane):
    """When the clip's own file begins."""

    accepts = (Timestamp,)
    description = "when the file of the clip begins"
    __slots__ = ()

    def add(self, payload: Any, moment: Moment) -> None:
        """Keep the time; it replaces another."""
        moment.sequence.set(self.key(keys.CLIP_MEDIA_START), INTS, [int(payload)])
