"""Frames cropped to a range of aspect ratios and scaled to a size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import PRESTREAM
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.geometry.scaling_rules import Scaling, check, scaling_of
from penstock_image.messages.scale_image_pb2 import ScaleImageCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input


class ScaleImageCalculator(penstock.Calculator):
    """Crop each frame to a range of aspect ratios, and scale it to a size.

    Inputs:
        FRAMES, or a single untagged one: ImageFrame, SRGB or SRGBA.
        VIDEO_HEADER (optional): VideoHeader, at PRESTREAM.
        OVERRIDE_OPTIONS (optional): ScaleImageCalculatorOptions, at PRESTREAM; its fields replace those of
            the node. If it is connected it must have a packet before the first frame.
    Outputs:
        FRAMES or untagged: ImageFrame, new memory; the frame itself where there is nothing to do.
        VIDEO_HEADER (optional): at PRESTREAM, sent with the first frame: the VideoHeader, or an empty one,
            with the size and format of the results.

    A stream header that has size and format is forwarded with those of the results; all frames must then be
    as it says. Without one the size may change from frame to frame.

    Options `ScaleImageCalculatorOptions`: first the frame is cropped about its middle to `min_aspect_ratio`
    ("9/16") to `max_aspect_ratio` ("16/9"; "0/1" for none), then scaled to `target_width` and
    `target_height` (that of the cropped frame, or by its proportions, where not set).
    `preserve_aspect_ratio` (true) makes it fit into the target with its proportions and even sides;
    otherwise sides are rounded down to multiples of `scale_to_multiple_of` (2). A frame of more pixels than
    `target_max_area` is shrunk to that instead. `algorithm` for frames that grow on either side: CUBIC
    (default), LINEAR, AREA, LANCZOS, in linear light; DEFAULT_WITHOUT_UPSCALE leaves them as they are. A
    frame that shrinks gets means of areas. `input_format` and `output_format`: SRGB or SRGBA. The other
    fields change nothing here: rows of arrays have no padding, and the reference does not sharpen either.

    Frames in YCbCr are not taken. Frames are sent at the timestamps of the input, with offset 0 on the output
    of frames. The GIL is released.

    Raises in `open`: InvalidArgumentError for options that contradict each other or name another format, or
    for OVERRIDE_OPTIONS with a stream header. In `process`: the same for a frame of another format or size
    than was said, for one in SRGBA that would grow, or where nothing would be left; ResourceExhaustedError
    for more than 2**27 pixels, see `penstock_formats.check_frame_size`.

    Source of the behaviour: MediaPipe `calculators/image/scale_image_calculator.cc`.

    Config::

        node {
          calculator: "ScaleImageCalculator"
          input_stream: "FRAMES:frame"
          output_stream: "FRAMES:scaled"
          node_options {
            [type.googleapis.com/penstock.ScaleImageCalculatorOptions] {
              target_width: 320
              target_height: 320
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare frames, headers and options."""
        cc.inputs["FRAMES" if "FRAMES" in cc.inputs else 0].set(ImageFrame, "frames (SRGB, SRGBA)")
        cc.outputs["FRAMES" if "FRAMES" in cc.outputs else 0].set(ImageFrame, "scaled frames")
        cc.inputs["VIDEO_HEADER"].set(VideoHeader, "header of the frames, at PRESTREAM").optional()
        cc.outputs["VIDEO_HEADER"].set(VideoHeader, "header of the scaled frames, at PRESTREAM").optional()
        cc.inputs["OVERRIDE_OPTIONS"].set(
            ScaleImageCalculatorOptions, "replace the node's, at PRESTREAM"
        ).optional()
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; forward the stream header if it says enough."""
        self._from: str | int = "FRAMES" if "FRAMES" in cc.inputs else 0
        self._to: str | int = "FRAMES" if "FRAMES" in cc.outputs else 0
        cc.outputs[self._to].set_offset(0)
        self._options = ScaleImageCalculatorOptions()
        self._options.CopyFrom(cc.options(ScaleImageCalculatorOptions))
        self._lacks_options = "OVERRIDE_OPTIONS" in cc.inputs
        self._has_more = len(cc.inputs) > 1
        self._header = VideoHeader()
        #: Width, height and format of the frames, and whether they are promised.
        self._known: tuple[int, int, ImageFormat] | None = None
        self._is_promised = False
        self._scaling: Scaling | None = None
        if not self._lacks_options:
            check(self._options)
        header = cc.inputs[self._from].header.payload
        if isinstance(header, VideoHeader):
            self._take_stream_header(cc, header)

    def process(self, cc: CalculatorContext) -> None:
        """Scale one frame, or take what came before the first."""
        if self._has_more:
            self._take_prestream(cc)
        frame: ImageFrame | None = cc.inputs[self._from].payload
        if frame is None:
            return
        if self._lacks_options:
            raise InvalidArgumentError(
                "the scaling's input 'OVERRIDE_OPTIONS' is connected, but had no packet at PRESTREAM; send "
                "one before the first frame, or leave the input out"
            )
        cc.outputs[self._to].add(self._scaling_of(cc, frame).apply(frame), cc.stamp)

    def _take_prestream(self, cc: CalculatorContext) -> None:
        """Take options and the header of the frames, where they are there."""
        if "OVERRIDE_OPTIONS" in cc.inputs and not cc.inputs["OVERRIDE_OPTIONS"].is_empty():
            _check_time(cc, cc.inputs["OVERRIDE_OPTIONS"])
            self._options.MergeFrom(cc.inputs["OVERRIDE_OPTIONS"].payload)
            check(self._options)
            self._lacks_options = False
        if "VIDEO_HEADER" in cc.inputs and not cc.inputs["VIDEO_HEADER"].is_empty():
            _check_time(cc, cc.inputs["VIDEO_HEADER"])
            self._header = cc.inputs["VIDEO_HEADER"].payload

    def _take_stream_header(self, cc: CalculatorContext, header: VideoHeader) -> None:
        if self._lacks_options:
            raise InvalidArgumentError(
                f"input {cc.inputs[self._from].name!r} has a header, and OVERRIDE_OPTIONS is connected, but "
                "the header of the scaled frames must be known before; send the header to VIDEO_HEADER "
                "instead"
            )
        self._header = header
        if header.width > 0 and header.height > 0 and header.format is not ImageFormat.UNKNOWN:
            self._is_promised = True
            self._learn(cc, (header.width, header.height, header.format))
            cc.outputs[self._to].set_header(penstock.Packet(self._scaled_header()))

    def _scaling_of(self, cc: CalculatorContext, frame: ImageFrame) -> Scaling:
        """Return what is done to a frame; the first one, and each of another size, says what."""
        height, width = frame.array.shape[:2]
        found = (width, height, frame.format)
        if self._is_promised and found != self._known:
            raise InvalidArgumentError(
                f"input {cc.inputs[self._from].name!r} holds {frame!r} to scale, but its header says "
                f"{self._header.width}x{self._header.height} {self._header.format.name}; correct the header, "
                "or leave its size out"
            )
        if self._scaling is None or found != self._known:
            return self._learn(cc, found)
        return self._scaling

    def _learn(self, cc: CalculatorContext, found: tuple[int, int, ImageFormat]) -> Scaling:
        """Make the scaling for frames of another size or format; the first time, send the header."""
        options = self._options
        if options.HasField("input_format") and found[2] is not ImageFormat(options.input_format):
            raise InvalidArgumentError(
                f"frames to scale, of input {cc.inputs[self._from].name!r}, have format {found[2].name}, but "
                f"input_format is {ImageFormat(options.input_format).name}; correct it in the options, or "
                "leave it out"
            )
        is_first = self._scaling is None
        self._scaling = scaling_of(options, *found)
        self._known = found
        if is_first and "VIDEO_HEADER" in cc.outputs:
            cc.outputs["VIDEO_HEADER"].add(self._scaled_header(), PRESTREAM)
        return self._scaling

    def _scaled_header(self) -> VideoHeader:
        scaling = self._scaling
        assert scaling is not None  # noqa: S101  # for type checkers: `_learn` has made it
        return attrs.evolve(self._header, width=scaling.width, height=scaling.height, format=scaling.format)


def _check_time(cc: CalculatorContext, port: Input) -> None:
    """Refuse a packet that does not come before the first frame."""
    if cc.input_timestamp != PRESTREAM:
        raise InvalidArgumentError(
            f"input {port.name!r} has a packet at {cc.input_timestamp}, but must say how to scale at "
            "PRESTREAM; look at the node that made it"
        )
