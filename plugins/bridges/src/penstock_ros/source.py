"""RosBagSourceCalculator: plays topics of a bag."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.access import ACCESS
from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place
from penstock_bridges import check_needs
from penstock_ros.options import Late, RosBagSourceCalculatorOptions, Times
from penstock_ros.order import Reorder, Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock import CalculatorContext, CalculatorContract
    from penstock.access import Access
    from penstock.lowlevel import Stop
    from penstock_ros.client.bag_reader import Bag, Entry

_logger = get_logger(__name__)

#: Messages that one call sends at most: full queues stop the source between calls.
_AT_ONCE: Final = 16
#: How long a call waits for the time of a message; the run can end in between.
_WAIT_S: Final = 0.05
#: The tag of an output that gets messages as they are.
_MESSAGE: Final = "MESSAGE"
_LATE: Final = "not after the message before"
#: A path with another ending is a folder.
_FILES: Final = (".bag", ".mcap", ".db3")


class RosBagSourceCalculator(penstock.Calculator):
    """Sends topics of a bag of ROS 1 or ROS 2, each message at the time of its header.

    Outputs: one for each `topic`, in their order: outputs without a tag first, then outputs with the tag
    MESSAGE. Images (`sensor_msgs/Image`, `CompressedImage` as JPEG or PNG) are ImageFrames: mono8 and 8UC1
    GRAY8, mono16 and 16UC1 GRAY16, rgb8 and bgr8 SRGB, rgba8 SRGBA, bgra8 SBGRA, 32FC1 VEC32F1; 16UC1 keeps
    its millimetres. Of `penstock_ros` are Imu (`sensor_msgs/Imu`), PointCloud (`PointCloud2`), CameraInfo,
    and Transforms (`tf2_msgs/TFMessage`). Scalars and strings of `std_msgs` are bool, int, float and str. All
    other messages come as rosbags makes them: objects with the fields of the message; so do all at an output
    with the tag MESSAGE. Input side packet: PATH (str or Path), which replaces the option `path`.

    Timestamps are microseconds since 1970: the stamp of the message's header (of transforms, the latest); the
    log time where there is none, or 0. Packets leave in the order of their timestamps over all outputs, and
    the bounds of all outputs follow: a node that joins an IMU with a camera waits for nothing that does not
    come. For that the source reads `reorder_ms` ahead. A message that comes later than that, or has no later
    stamp than the one before in its topic, is dropped, and the graph's ledger counts it.

    Options: `path`; `topic`; `times`: HEADER (default) or LOG, the time when each was written into the bag;
    `late`: DROP (default) or LOG_TIME, which gives a late message its log time; `reorder_ms` (500);
    `start_s`, `duration_s`: a part of the bag; `speed`: 0 (default) sends as fast as the graph takes
    packets, 1 at the pace of the bag; `max_message_bytes` (256 MiB).

    Raises in `open`: FailedPreconditionError without rosbags, the extra `ros`; InvalidArgumentError if
    there is no path, the file is no bag, or has not all topics; OSError if it cannot be opened. In
    `process`: InvalidArgumentError where the bag is damaged or a message cannot become its payload, with
    topic and time; ResourceExhaustedError for a message that is too large.

    Example config::

        node {
          calculator: "RosBagSourceCalculator"
          input_side_packet: "PATH:bag"
          output_stream: "frames"
          output_stream: "imu"
          node_options {
            [type.googleapis.com/penstock_ros.RosBagSourceCalculatorOptions] {
              topic: "/camera/image_raw" topic: "/imu/data"
            }
          }
        }
    """

    Options = RosBagSourceCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Offer any number of outputs.

        Raises:
            InvalidArgumentError: `topic` has not as many names as there are outputs, or one twice; or a tag
                is another one.
        """
        for port in cc.outputs:
            port.set_any("a topic of the bag")
        cc.input_side_packets["PATH"].set_one_of(str, Path, description="the bag").optional()
        options = cc.options(RosBagSourceCalculatorOptions)
        if wrong := set(cc.outputs.tags()) - {"", _MESSAGE}:
            raise InvalidArgumentError(
                f"the ROS source has an output with the tag {min(wrong)}; an output has none, or MESSAGE for "
                "messages as they are"
            )
        if len(options.topic) != len(cc.outputs):
            raise InvalidArgumentError(
                f"topic has {len(options.topic)} names, but the ROS source has {len(cc.outputs)} outputs; "
                "name a topic for each output, in their order"
            )
        if twice := [one for one in options.topic if options.topic.count(one) > 1]:
            raise InvalidArgumentError(
                f"the ROS source names topic {twice[0]} twice; connect its stream to several nodes"
            )
        path = options.path
        if path and not path.endswith(_FILES):
            path = f"{path}/metadata.yaml"
        cc.declare(may_skip=True, stateless=False, is_live=options.speed > 0)
        cc.declare(reads=[path, cc.input_side_packets["PATH"]])

    def open(self, cc: CalculatorContext) -> None:
        """Open the bag, and find the topics."""
        check_needs("RosBagSourceCalculator", "ros")
        from penstock_ros.client.bag_reader import Bag

        options = self._options = cc.options(RosBagSourceCalculatorOptions)
        path = options.path
        if "PATH" in cc.input_side_packets and not cc.input_side_packets["PATH"].is_empty():
            path = str(cc.input_side_packets["PATH"].payload)
        if not path:
            raise InvalidArgumentError(
                "the ROS source has no path; set it in the options, or connect the side packet PATH"
            )
        self._path, self._name = path, cc.node_name
        self._bag: Bag = Bag(readable(cc.service(ACCESS), path), options.max_message_bytes)
        try:
            self._entries = self._chosen()
        except BaseException:  # close() is not called after a failed open()
            self._bag.close()
            raise
        self._outputs = list(cc.outputs)
        self._is_raw = [tag == _MESSAGE for tag, _ in cc.outputs.ids()]
        self._reorder = Reorder(options.reorder_ms * 1_000_000)
        self._at_end = False
        #: The message that leaves next, where that had to wait.
        self._next: Waiting | None = None
        #: The latest timestamp of all that has left.
        self._frontier = 0
        self._last = [-1] * len(self._outputs)
        self._dropped = 0
        self._began: tuple[int, float] | None = None

    def process(self, cc: CalculatorContext) -> Stop | None:  # noqa: ARG002  # the interface
        """Send some messages, and move the bounds of all outputs behind them.

        Raises:
            InvalidArgumentError: the bag is damaged, or a message cannot become its payload.
            ResourceExhaustedError: a message is too large.
        """
        for _ in range(_AT_ONCE):
            one = self._next or self._following()
            if one is None:
                return penstock.STOP
            if self._must_wait(one):
                self._next = one
                break
            self._next = None
            self._send(one)
        for output in self._outputs:
            if output.bound < self._frontier:
                output.set_next_timestamp_bound(self._frontier)
        return None

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Close the bag, and log how many messages were dropped."""
        self._bag.close()
        if self._dropped:
            _logger.warning(
                "%s: dropped %d messages whose stamps are not after the one before in their topic, or that "
                "stand more than reorder_ms behind others",
                self._path,
                self._dropped,
                extra=place(node=self._name),
            )

    # --- what is read -----------------------------------------------------------------------------

    def _chosen(self) -> Iterator[Entry]:
        """Return the messages of the topics, from `start_s` on.

        Raises:
            InvalidArgumentError: the bag lacks a topic.
        """
        known = self._bag.topics
        for name in self._options.topic:
            if name not in known:
                meant = did_you_mean(name, known, 1)
                raise InvalidArgumentError(
                    f"ROS source: the bag {self._path} has no topic {name!r}{meant}; it has "
                    f"{', '.join(sorted(known)) or 'none'}"
                )
        begin = end = None
        if self._options.start_s or self._options.duration_s:
            begin = self._bag.span_ns[0] + round(self._options.start_s * 1e9)
            end = begin + round(self._options.duration_s * 1e9) if self._options.duration_s else None
        return self._bag.messages(self._options.topic, begin, end)

    def _following(self) -> Waiting | None:
        """Return the message that comes next in time; None at the end of the bag."""
        while True:
            one = self._reorder.take(at_end=self._at_end)
            if one is not None:
                return one
            if self._at_end:
                return None
            entry = next(self._entries, None)
            if entry is None:
                self._at_end = True
            else:
                index = self._options.topic.index(entry.topic)
                self._reorder.put(Waiting(self._stamp_of(entry), entry.log_ns, index, entry.message))

    def _stamp_of(self, entry: Entry) -> int:
        from penstock_ros.client.from_ros import stamp_us

        own = stamp_us(entry.message) if self._options.times is Times.HEADER else None
        return entry.log_ns // 1000 if own is None else own

    # --- what is sent -----------------------------------------------------------------------------

    def _send(self, one: Waiting) -> None:
        """Send a message, or drop it where it is late."""
        if self._is_late(one, one.stamp):
            log_us = one.log_ns // 1000
            if self._options.late is Late.DROP or self._is_late(one, log_us):
                self._dropped += 1
                self._outputs[one.place].count_dropped(_LATE)
                return
            if log_us > one.stamp:
                self._reorder.put_again(Waiting(log_us, one.log_ns, one.place, one.message))
                return
            one.stamp = log_us
        self._frontier = max(self._frontier, one.stamp)
        self._last[one.place] = one.stamp
        self._outputs[one.place].add(self._payload(one), one.stamp)

    def _is_late(self, one: Waiting, stamp: int) -> bool:
        return stamp < self._frontier or stamp <= self._last[one.place]

    def _payload(self, one: Waiting) -> Any:
        from penstock_ros.client.from_ros import payload_of

        if self._is_raw[one.place]:
            return one.message
        try:
            return payload_of(one.message)
        except InvalidArgumentError as error:
            topic = self._options.topic[one.place]
            raise InvalidArgumentError(
                f"the ROS source cannot take topic {topic} at {one.log_ns / 1e9:.6f} s of {self._path}: "
                f"{error}",
                stream=self._outputs[one.place].name,
                timestamp=one.stamp,
            ) from error

    def _must_wait(self, one: Waiting) -> bool:
        """Wait a little until a message's time has come; return whether it has not."""
        if not self._options.speed:
            return False
        if self._began is None:
            self._began = (one.stamp, time.monotonic())
        first, began = self._began
        left = began + (one.stamp - first) / 1e6 / self._options.speed - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, _WAIT_S))
        return left > _WAIT_S


def readable(access: Access, path: str) -> Path:
    """Return the path of a bag that may be read; of a folder, every file in it.

    Raises:
        PermissionDeniedError: it may not be read.
        FileNotFoundError: it does not exist.
    """
    if not Path(path).is_dir():
        found = access.reading(path)
        if not found.exists():
            raise FileNotFoundError(f"the ROS source's bag {path!r} does not exist")
        return found
    folder = access.folder(path)
    for file in folder.iterdir():
        access.reading(file)
    return folder
