"""Which lane an input of PackMediaSequenceCalculator has, by its tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_image.sequences import keys
from penstock_image.sequences.image_lanes import ForwardFlow, ImageLabels, Images, Masks
from penstock_image.sequences.region_lanes import Boxes, Keypoints
from penstock_image.sequences.value_lanes import (
    ClipLabels,
    ContextBytes,
    ContextFloats,
    ContextInts,
    FeatureBytes,
    FeatureFloats,
    FeatureInts,
    Media,
    MediaStart,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock_image.sequences.lane import Lane

#: Beginning of a tag → its lane; what follows is the prefix of the keys. The first that fits counts.
_BEGINNINGS: Final[Mapping[str, type[Lane]]] = {
    "IMAGE_LABEL_": ImageLabels,
    "CLIP_LABEL_": ClipLabels,
    "FLOAT_CONTEXT_FEATURE_": ContextFloats,
    "INTS_CONTEXT_FEATURE_": ContextInts,
    "BYTES_CONTEXT_FEATURE_": ContextBytes,
    "FLOAT_FEATURE_": FeatureFloats,
    "INT_FEATURE_": FeatureInts,
    "BYTES_FEATURE_": FeatureBytes,
}
#: Tag → its lane; the tag may go on with "_" and the prefix of the keys. The first that fits counts.
_TAGS: Final[Mapping[str, type[Lane]]] = {
    "ENCODED_MEDIA_START_TIMESTAMP": MediaStart,
    "ENCODED_MEDIA": Media,
    "IMAGE": Images,
    "KEYPOINTS": Keypoints,
    "BBOX": Boxes,
}
#: Tag → its lane, and the prefix of its keys.
_WHOLE: Final[Mapping[str, tuple[type[Lane], str]]] = {
    "FORWARD_FLOW_ENCODED": (ForwardFlow, keys.FORWARD_FLOW),
    "CLASS_SEGMENTATION": (Masks, keys.CLASS_SEGMENTATION),
}
#: What an error names.
KNOWN: Final = tuple(
    sorted([*(f"{beginning}NAME" for beginning in _BEGINNINGS), *(f"{tag}[_NAME]" for tag in _TAGS), *_WHOLE])
)


def lane_of(tag: str) -> Lane | None:
    """Return the lane of the input with this tag, or None where there is none."""
    if tag in _WHOLE:
        lane, prefix = _WHOLE[tag]
        return lane(tag, prefix)
    return next(_lanes_of(tag), None)


def _lanes_of(tag: str) -> Iterator[Lane]:
    for beginning, lane in _BEGINNINGS.items():
        if tag.startswith(beginning):
            yield lane(tag, tag.removeprefix(beginning))
    for name, lane in _TAGS.items():
        if tag == name or tag.startswith(f"{name}_"):
            yield lane(tag, tag.removeprefix(name).removeprefix("_"))
