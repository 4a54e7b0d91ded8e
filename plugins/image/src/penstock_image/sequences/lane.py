"""What one input of PackMediaSequenceCalculator adds to a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from penstock_image.sequences.media_sequence import key_of

if TYPE_CHECKING:
    from penstock.types import PayloadType
    from penstock_image.sequences.media_sequence import MediaSequence


class Moment:
    """One timestamp of the streams.

    Args:
        sequence: what is packed.
        stamp: the timestamp, in microseconds.
    """

    __slots__ = ("height", "sequence", "stamp", "width")

    def __init__(self, sequence: MediaSequence, stamp: int) -> None:
        self.sequence = sequence
        self.stamp = stamp
        #: `height`, `width`: of the image at this timestamp, in pixels; 0 while there is none.
        self.height = 0
        self.width = 0


class Lane:
    """One input: how its packets get into the sequence.

    Args:
        tag: of the input.
        prefix: of the keys; "" for none.
    """

    #: The types of the packets.
    accepts: ClassVar[tuple[PayloadType, ...]]
    #: For people.
    description: ClassVar[str]
    #: Lanes of images come first at each timestamp: they tell the others the size of the image.
    has_images: ClassVar[bool] = False

    __slots__ = ("prefix", "tag")

    def __init__(self, tag: str, prefix: str) -> None:
        self.tag = tag
        self.prefix = prefix

    def key(self, name: str) -> str:
        """Return the key of a part, with the prefix."""
        return key_of(self.prefix, name)

    def clear(self, sequence: MediaSequence) -> None:
        """Remove what the sequence already has of this input."""

    def add(self, payload: Any, moment: Moment) -> None:
        """Add a packet to the sequence.

        Args:
            payload: of one of the accepted types.
            moment: when it is, and the sequence.

        Raises:
            InvalidArgumentError: the payload does not fit; half of it may be added.
        """
        raise NotImplementedError
