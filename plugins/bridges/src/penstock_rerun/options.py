"""The options of the calculator of this pack."""

from __future__ import annotations

from enum import Enum

import attrs

from penstock.errors import InvalidArgumentError


class Kind(Enum):
    """How a stream is shown."""

    #: As the payloads ask for.
    AUTO = 0
    #: Images of one channel: classes, each in a colour.
    SEGMENTATION = 1
    #: Images of one channel: distances; GRAY16 in millimetres, floats in metres.
    DEPTH = 2
    #: Anything, as a line of text.
    TEXT = 3


@attrs.frozen
class LoggedStream:
    """What is said of one input.

    Attributes:
        entity: its path in the viewer, such as "camera/boxes"; by default the name of the stream.
        kind: how it is shown.
        jpeg_quality: images of 8 bits are compressed with it, from 1 to 100; 0: they are not.
    """

    entity: str = ""
    kind: Kind = Kind.AUTO
    jpeg_quality: int = 0

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.jpeg_quality <= 100:  # noqa: PLR2004  # as documented
            raise InvalidArgumentError(
                f"Rerun option jpeg_quality is {self.jpeg_quality}; it must be from 0 to 100"
            )


@attrs.frozen
class RerunSinkCalculatorOptions:
    """Where streams are logged, and how.

    Attributes:
        path: a .rrd file; one that exists is replaced.
        address: of a viewer, as "127.0.0.1:9876".
        stream: for each input, in order; without any, all by their names.
        application_id: groups recordings in the viewer.
        timeout_ms: how long the viewer or the disk may take no data.
    """

    path: str = ""
    address: str = ""
    stream: tuple[LoggedStream, ...] = ()
    application_id: str = "penstock"
    timeout_ms: int = 5000

    def __attrs_post_init__(self) -> None:
        if self.timeout_ms <= 0:
            raise InvalidArgumentError(f"Rerun option timeout_ms is {self.timeout_ms}; it must be above 0")
        if self.path and self.address:
            raise InvalidArgumentError(
                "the Rerun options path and address are both set; leave out one of them"
            )
