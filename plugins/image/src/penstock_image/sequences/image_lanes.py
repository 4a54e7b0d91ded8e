"""Images, their labels and masks, on their way into a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from penstock.errors import InvalidArgumentError, PenstockError, StatusCode
from penstock_formats import Detection, LocationData
from penstock_image.messages.image_encoder_pb2 import OpenCvImageEncoderCalculatorResults
from penstock_image.sequences import keys
from penstock_image.sequences.lane import Lane
from penstock_image.sequences.media_sequence import BYTES, FLOATS, INTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_image.sequences.lane import Moment
    from penstock_image.sequences.media_sequence import MediaSequence

_MASK: Final = LocationData.MASK
#: Pixels of a mask, at most. Two numbers in a message make a mask so large.
_LARGEST_MASK: Final = 1 << 30


class Images(Lane):
    """Encoded images."""

    accepts = (OpenCvImageEncoderCalculatorResults,)
    description = "encoded images"
    has_images = True
    __slots__ = ()

    def clear(self, sequence: MediaSequence) -> None:
        """Remove images and times."""
        sequence.drop_steps(self.key(keys.IMAGE_ENCODED), self.key(keys.IMAGE_TIMESTAMP))

    def add(self, payload: Any, moment: Moment) -> None:
        """Add an image."""
        if not payload.HasField("encoded_image"):
            raise InvalidArgumentError(
                f"the image sequence's input {self.tag} holds a message without encoded_image; look at the "
                "node that made it"
            )
        moment.sequence.add_step(self.key(keys.IMAGE_TIMESTAMP), INTS, [moment.stamp])
        moment.sequence.add_step(self.key(keys.IMAGE_ENCODED), BYTES, [payload.encoded_image])
        if self.has_images:
            moment.height, moment.width = payload.height, payload.width


class ForwardFlow(Images):
    """Encoded optical flow: images with a prefix of their own, whose size says nothing of the others'."""

    description = "encoded optical flow"
    has_images = False
    __slots__ = ()


class ImageLabels(Lane):
    """Labels of whole images."""

    accepts = (Detection,)
    description = "labels and scores of an image"
    has_images = True  # before the boxes, as in the reference
    __slots__ = ()

    def clear(self, sequence: MediaSequence) -> None:
        """Remove labels, and times that are not the images'."""
        sequence.drop_steps(
            *map(self.key, (keys.IMAGE_LABEL_STRING, keys.IMAGE_LABEL_CONFIDENCE, keys.IMAGE_LABEL_INDEX))
        )
        if self._has_times(sequence):
            sequence.drop_steps(self.key(keys.IMAGE_TIMESTAMP))

    def add(self, payload: Any, moment: Moment) -> None:
        """Add the labels; a detection without labels adds nothing."""
        labels, scores, ids = payload.label, payload.score, payload.label_id
        if not labels:
            return
        if len(labels) != len(scores) or (ids and len(ids) != len(labels)):
            raise InvalidArgumentError(
                f"an image's lane {self.tag} gets {len(labels)} labels, {len(scores)} scores and {len(ids)} "
                "label ids, but each label has a score, and ids are as many or none; correct the detection"
            )
        if self._has_times(moment.sequence):
            moment.sequence.add_step(self.key(keys.IMAGE_TIMESTAMP), INTS, [moment.stamp])
        moment.sequence.add_step(self.key(keys.IMAGE_LABEL_STRING), BYTES, labels)
        moment.sequence.add_step(self.key(keys.IMAGE_LABEL_CONFIDENCE), FLOATS, scores)
        if ids:
            moment.sequence.add_step(self.key(keys.IMAGE_LABEL_INDEX), INTS, ids)

    def _has_times(self, sequence: MediaSequence) -> bool:
        return bool(self.prefix) or bool(sequence.steps(keys.IMAGE_ENCODED))


class Masks(Lane):
    """Masks of classes, stored as PNG files."""

    accepts = (list[Detection],)
    description = "one detection with a mask"
    __slots__ = ()

    def add(self, payload: Any, moment: Moment) -> None:
        """Add the mask of one timestamp, and keep its label for the whole sequence."""
        if not payload:
            return
        if any(one.location_data.format != _MASK for one in payload):
            raise PenstockError(
                f"the image lane {self.tag} of a sequence got a detection without a mask, but can only "
                "store masks; filter them before",
                code=StatusCode.UNIMPLEMENTED,
            )
        if len(payload) > 1 or not payload[0].label:
            raise InvalidArgumentError(
                f"the image sequence's input {self.tag} holds {len(payload)} masks, but can store one at a "
                "timestamp, with a label; merge them, or filter them before"
            )
        _, file = cv2.imencode(".png", _pixels(payload[0].location_data, self.tag))
        moment.sequence.add_step(self.key(keys.IMAGE_ENCODED), BYTES, [file.tobytes()])
        moment.sequence.add_step(self.key(keys.IMAGE_TIMESTAMP), INTS, [moment.stamp])
        moment.sequence.set(self.key(keys.IMAGE_CLASS_LABEL_STRING), BYTES, payload[0].label[:1])


def _pixels(location: LocationData, tag: str) -> NDArray[np.uint8]:
    """Return a mask as (height, width): 255 in it, 0 elsewhere."""
    height, width = location.mask.height, location.mask.width
    if not (height > 0 and width > 0 and height * width <= _LARGEST_MASK):
        raise InvalidArgumentError(
            f"the image sequence's input {tag} holds a mask of {width}x{height} pixels, but it must have 1 "
            f"to {_LARGEST_MASK}"
        )
    pixels = np.zeros((height, width), np.uint8)
    for run in location.mask.rasterization.interval:
        if not (0 <= run.y < height and run.left_x >= 0 and run.right_x < width):
            raise InvalidArgumentError(
                f"the image lane {tag} of a sequence got a mask of {width}x{height} pixels with a run from "
                f"{run.left_x} to {run.right_x} in row {run.y}, outside of it; look at the node that made it"
            )
        pixels[run.y, run.left_x : run.right_x + 1] = 255
    return pixels
