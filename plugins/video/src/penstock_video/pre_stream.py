"""VideoPreStreamCalculator: the header of a stream of frames, from its first frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import PRESTREAM
from penstock_formats import ImageFrame, VideoHeader
from penstock_video.messages.pre_stream_pb2 import VideoPreStreamCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class VideoPreStreamCalculator(penstock.Calculator):
    """Writes a VideoHeader that fits frames which other nodes have cropped or scaled.

    Inputs: FRAME (ImageFrame) and VIDEO_PRESTREAM (VideoHeader at PRESTREAM, of the original video), or one
    untagged input (ImageFrame). Output 0: the header (VideoHeader, at PRESTREAM, once, when the first frame
    comes): format, width and height are those of the frame; frame rate and duration those of the original
    header, or the rate of the options and a duration of 0 (unknown)::

        VIDEO_PRESTREAM   PRESTREAM 640x480 30/s
        FRAME                              0 320x240  1 320x240
        output            PRESTREAM 320x240 30/s      (at frame 0)

    There is no timestamp offset. A VideoEncoderCalculator reads the header.

    Options `VideoPreStreamCalculatorOptions`: `fps` with `value` or `ratio { numerator denominator }`: frames
    per second, required with the untagged input, without effect otherwise.

    Raises in the contract: InvalidArgumentError for other inputs. In `process`: the same for a rate of 0, a
    header at another timestamp than PRESTREAM, and a frame there.

    Source of the behaviour: MediaPipe `calculators/video/video_pre_stream_calculator.cc`.

    Config::

        node {
          calculator: "VideoPreStreamCalculator"
          input_stream: "FRAME:small_frames"
          input_stream: "VIDEO_PRESTREAM:video_header"
          output_stream: "small_video_header"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare frames in, a header out.

        Raises:
            InvalidArgumentError: the inputs are neither one untagged nor FRAME and VIDEO_PRESTREAM.
        """
        tags = cc.inputs.tags()
        if tags not in {("",), ("FRAME", "VIDEO_PRESTREAM")} or len(cc.inputs) != len(tags):
            raise InvalidArgumentError(
                "the inputs for a header at PRESTREAM are "
                f"{', '.join(tag or 'untagged' for tag in tags) or 'none'}, but must be one untagged, or "
                "FRAME and VIDEO_PRESTREAM; change the graph"
            )
        frames = cc.inputs["FRAME" if "FRAME" in cc.inputs else 0]
        frames.set(ImageFrame, "frames")
        cc.inputs["VIDEO_PRESTREAM"].set(VideoHeader, "the header of the original video").optional()
        cc.outputs[0].set(VideoHeader, "the header of these frames")
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the rate that is set."""
        self._has_header = "VIDEO_PRESTREAM" in cc.inputs
        self._frames = cc.inputs["FRAME" if self._has_header else 0]
        self._header = VideoHeader()
        if not self._has_header:
            self._header = VideoHeader(frame_rate=_rate(cc.options(VideoPreStreamCalculatorOptions)))
        self._is_sent = False

    def process(self, cc: CalculatorContext) -> None:
        """Take the header of the original video, or write that of the first frame."""
        if self._is_sent:
            return
        is_before = cc.stamp == PRESTREAM
        if self._has_header and not cc.inputs["VIDEO_PRESTREAM"].is_empty():
            if not is_before:
                raise InvalidArgumentError(
                    f"the pre-stream's input {cc.inputs['VIDEO_PRESTREAM'].name!r} has a packet at timestamp "
                    f"{cc.input_timestamp}, but a header comes at PRESTREAM; connect the VIDEO_PRESTREAM of "
                    "a VideoDecoderCalculator"
                )
            self._header = cc.inputs["VIDEO_PRESTREAM"].payload
        if self._frames.is_empty():
            return
        if is_before:
            raise InvalidArgumentError(
                f"the pre-stream's input {self._frames.name!r} has a frame at PRESTREAM, where only headers "
                "are; send frames later"
            )
        if not self._header.frame_rate:
            raise InvalidArgumentError(
                "the frame rate is 0, but must be known; set fps in the options of a node with one input, "
                "or connect a header with a rate to VIDEO_PRESTREAM"
            )
        frame: ImageFrame = self._frames.payload
        made = attrs.evolve(self._header, format=frame.format, width=frame.width, height=frame.height)
        cc.outputs[0].add(made, PRESTREAM)
        self._is_sent = True


def _rate(options: VideoPreStreamCalculatorOptions) -> float:
    """Return frames per second; 0 where the options do not say."""
    if options.fps.HasField("value"):
        return options.fps.value
    ratio = options.fps.ratio
    if ratio.numerator > 0 and ratio.denominator > 0:
        return ratio.numerator / ratio.denominator
    return 0.0
