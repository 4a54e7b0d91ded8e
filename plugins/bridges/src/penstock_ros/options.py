"""The options of the calculators of this pack."""

from __future__ import annotations

from enum import Enum

import attrs

from penstock.errors import InvalidArgumentError


class Times(Enum):
    """Which timestamps packets get."""

    #: The stamp of the message's header; the log time where it has none.
    HEADER = 0
    #: When the message was written into the bag.
    LOG = 1


class Late(Enum):
    """What becomes of a message whose stamp is not after the one before in its stream."""

    #: It is dropped; the graph's ledger counts it.
    DROP = 0
    #: It gets its log time; where that is not after the one before either, it is dropped.
    LOG_TIME = 1


class Storage(Enum):
    """How a bag is kept."""

    #: By the ending of the path: .bag is ROS 1, .mcap one MCAP file, .db3 one SQLite file, none a folder for
    #: `ros2 bag` with a SQLite file.
    BY_ENDING = 0
    #: A folder for `ros2 bag`, with an MCAP file.
    FOLDER_OF_MCAP = 1


@attrs.frozen
class RosBagSourceCalculatorOptions:
    """Which topics are read, and with which times.

    Attributes:
        path: a .bag of ROS 1, a folder of ROS 2, or one .mcap or .db3 file of such a folder.
        topic: for each output, in order, the topic, such as "/camera/image_raw".
        times: which timestamps packets get.
        late: what becomes of a message whose stamp is not after the one before in its stream.
        reorder_ms: how much later than its stamp a message may stand in the bag, beside others. The source
            reads so far ahead, and keeps that in memory.
        start_s: seconds of the bag that are left out at its beginning.
        duration_s: seconds of the bag that are read; 0: all.
        speed: 0 sends as fast as the graph takes packets, 1 at the pace of the bag, 2 at twice that.
        max_message_bytes: a larger message, and a chunk of the bag more than 4 times as large, is an error.
    """

    path: str = ""
    topic: tuple[str, ...] = ()
    times: Times = Times.HEADER
    late: Late = Late.DROP
    reorder_ms: int = 500
    start_s: float = 0.0
    duration_s: float = 0.0
    speed: float = 0.0
    max_message_bytes: int = 256 * 1024 * 1024

    def __attrs_post_init__(self) -> None:
        for name in ("reorder_ms", "start_s", "duration_s", "speed"):
            if not 0 <= getattr(self, name) < 1e9:  # noqa: PLR2004  # 30 years, and no NaN
                raise InvalidArgumentError(
                    f"ROS option {name} is {getattr(self, name)}; it must be from 0 to 1e9"
                )
        if self.max_message_bytes <= 0:
            raise InvalidArgumentError(
                f"ROS option max_message_bytes is {self.max_message_bytes}; it must be above 0"
            )


@attrs.frozen
class BagTopic:
    """A topic that is written.

    Attributes:
        name: such as "/camera/image_raw".
        type: of its messages, such as "sensor_msgs/msg/CompressedImage"; by default what the payloads are.
        frame_id: of images, and of payloads whose own is "".
        format: of compressed images: "jpeg" or "png".
        quality: of JPEG, from 1 to 100.
    """

    name: str = ""
    type: str = ""
    frame_id: str = ""
    format: str = "jpeg"
    quality: int = 90

    def __attrs_post_init__(self) -> None:
        if not self.name.strip("/"):
            raise InvalidArgumentError(
                'ROS option topic has an entry without a name; set it, such as name: "/imu"'
            )
        if self.format not in ("jpeg", "png"):
            raise InvalidArgumentError(
                f'ROS option format of topic {self.name} is {self.format!r}; it must be "jpeg" or "png"'
            )
        if not 1 <= self.quality <= 100:  # noqa: PLR2004  # as documented
            raise InvalidArgumentError(
                f"ROS option quality of topic {self.name} is {self.quality}; it must be 1 to 100"
            )


@attrs.frozen
class RosBagSinkCalculatorOptions:
    """Where a bag is written, and its topics.

    Attributes:
        path: a file or folder that does not exist yet; see `storage`.
        topic: for each input, in order; without any, "/" and the name of the stream.
        storage: how the bag is kept.
        start_us: is added to every timestamp, in microseconds: for streams that begin at 0.
    """

    path: str = ""
    topic: tuple[BagTopic, ...] = ()
    storage: Storage = Storage.BY_ENDING
    start_us: int = 0
