"""RosBagSinkCalculator: writes streams into a bag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock_bridges import check_needs
from penstock_ros.options import BagTopic, RosBagSinkCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_ros.client.bag_writer import BagWriter


class RosBagSinkCalculator(penstock.Calculator):
    """Writes its inputs as topics of a bag of ROS 1 or ROS 2, which RViz, Foxglove and `ros2 bag play` open.

    Inputs: any number, without tags, of ImageFrame or Image (`sensor_msgs/Image`: GRAY8 as mono8, GRAY16 as
    16UC1, SRGB as rgb8, SRGBA as rgba8, SBGRA as bgra8, VEC32F1 as 32FC1; with the type
    `sensor_msgs/msg/CompressedImage` as JPEG or PNG); `penstock_ros` Imu, PointCloud, CameraInfo and
    Transforms; bool, int, float and str (`std_msgs` Bool, Int64, Float64, String, or the scalar type that
    the topic names); and messages of rosbags of ROS's own types. Input side packet: PATH (str or Path),
    which replaces the option `path`. There are no outputs.

    A path that ends in .bag is a file of ROS 1; .mcap or .db3 one file of ROS 2; without an ending it is a
    folder as `ros2 bag` makes it. Packets are written in the order in which they come, and each message has
    its packet's timestamp (plus `start_us`) in its header and as its log time, in microseconds since 1970.
    A disk that is slow throttles the sources; nothing is dropped. What is written bears the name with
    `.partial` until the run has ended, failed and cancelled runs too; then it takes the place of a file
    that is there, but of no folder.

    Options: `path`; `topic`: for each input, in order, `name`, `type`, `frame_id`, and for compressed
    images `format` and `quality`; without any, the topics are called as the streams; `storage`; `start_us`.

    Raises in `open`: FailedPreconditionError without rosbags, the extra `ros`; InvalidArgumentError if
    there is no path, or it has another ending; AlreadyExistsError if a folder is there; OSError if it
    cannot be made. In `process`: InvalidArgumentError if no message can be made of a payload; says which
    stream. UnavailableError if the file cannot be written.

    Example config::

        node {
          calculator: "RosBagSinkCalculator"
          input_stream: "frames"
          input_stream: "imu"
          node_options {
            [type.googleapis.com/penstock_ros.RosBagSinkCalculatorOptions] {
              path: "drive.mcap" topic { name: "/camera/image/compressed" type:
              "sensor_msgs/msg/CompressedImage" frame_id: "camera" } topic { name: "/imu/data" }
            }
          }
        }
    """

    Options = RosBagSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept everything.

        Raises:
            InvalidArgumentError: `topic` has not as many entries as there are inputs, or a name twice; or
                an input has a tag.
        """
        for port in cc.inputs:
            port.set_any("a topic of the bag")
        cc.input_side_packets["PATH"].set_one_of(str, Path, description="the bag").optional()
        options = cc.options(RosBagSinkCalculatorOptions)
        if wrong := set(cc.inputs.tags()) - {""}:
            raise InvalidArgumentError(
                f"the ROS sink has an input with the tag {min(wrong)}; its inputs have none"
            )
        if options.topic and len(options.topic) != len(cc.inputs):
            raise InvalidArgumentError(
                f"topic has {len(options.topic)} entries, but the ROS sink has {len(cc.inputs)} inputs; "
                "describe a topic for each input, in their order"
            )
        names = [one.name for one in options.topic]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InvalidArgumentError(
                f"the ROS sink describes topic {twice[0]} twice; each input has a topic of its own"
            )
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.declare(may_skip=False, stateless=False, writes=[options.path, cc.input_side_packets["PATH"]])

    def open(self, cc: CalculatorContext) -> None:
        """Make the file."""
        check_needs("RosBagSinkCalculator", "ros")
        from penstock_ros.client.bag_writer import BagWriter

        options = cc.options(RosBagSinkCalculatorOptions)
        path = options.path
        if "PATH" in cc.input_side_packets and not cc.input_side_packets["PATH"].is_empty():
            path = str(cc.input_side_packets["PATH"].payload)
        if not path:
            raise InvalidArgumentError(
                "the ROS sink has no path; set it in the options, or connect the side packet PATH"
            )
        self._start = options.start_us
        self._topics = options.topic or tuple(BagTopic(f"/{port.name}") for port in cc.inputs)
        self._writer: BagWriter = BagWriter(cc.service(ACCESS).writing(path), options.storage)

    def process(self, cc: CalculatorContext) -> None:
        """Write what has come.

        Raises:
            InvalidArgumentError: no message can be made of a payload.
            UnavailableError: the file cannot be written.
        """
        for port, topic in zip(cc.inputs, self._topics, strict=True):
            packet = port.packet
            if packet.is_empty() or packet.stamp != cc.stamp:
                continue
            try:
                self._writer.write(topic, packet.payload, packet.stamp + self._start)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(
                    f"stream {port.name!r}: {error}", stream=port.name, timestamp=packet.stamp
                ) from error

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Make the bag whole.

        Raises:
            UnavailableError: the file cannot be written.
        """
        self._writer.close()
