"""RerunSinkCalculator: logs streams into a file of the viewer Rerun, or into the viewer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock_rerun.options import LoggedStream, RerunSinkCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class RerunSinkCalculator(penstock.Calculator):
    """Logs its inputs on the timeline of their packets, for the viewer Rerun.

    Inputs: any number, without tags: ImageFrame and Image (on the CPU), masks among them, as images;
    Detection, DetectionList and lists as boxes with labels and scores; NormalizedLandmarkList and lists as
    points in the image, LandmarkList as points in space; Rect and NormalizedRect as outlines;
    ClassificationList and str as text; bool, int and float as a curve, NumPy arrays of one dimension as
    several; Tensor, Matrix and other arrays as tensors; of `penstock_ros`, PointCloud as points in space,
    Imu as curves, CameraInfo as a camera, Transforms as transforms. Input side packet: PATH (str or Path),
    which replaces the option `path`. There are no outputs.

    Each input is an entity with the name of its stream. Boxes, landmarks and rectangles in fractions are
    drawn in pixels of the latest image; before the first image they wait for it. An empty list clears what
    was shown. The timeline "time" has the packets' timestamps, as dates where they are of 1973 or later,
    else as durations. The log is written by a process of its own, so a viewer that stands still does not
    hold the run for longer than `timeout_ms`.

    Options: `path`, a .rrd file, or `address` of a viewer; `stream`: for each input, in order, `entity`,
    `kind`: AUTO (default), SEGMENTATION (classes in colours), DEPTH or TEXT, and `jpeg_quality`;
    `application_id`; `timeout_ms`.

    Raises in `open`: FailedPreconditionError without rerun-sdk, the extra `rerun`; InvalidArgumentError if
    there is neither path nor address; UnavailableError if no viewer is there or the file cannot be made. In
    `process`: InvalidArgumentError for a payload that cannot be shown; says which stream. UnavailableError
    where viewer or disk take no data.

    Example config::

        node {
          calculator: "RerunSinkCalculator"
          input_stream: "frames"
          input_stream: "detections"
          node_options {
            [type.googleapis.com/penstock_rerun.RerunSinkCalculatorOptions] { path: "run.rrd" }
          }
        }
    """

    Options = RerunSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept everything.

        Raises:
            InvalidArgumentError: `stream` has not as many entries as there are inputs, or an input has a tag.
        """
        for port in cc.inputs:
            port.set_any("a stream to show")
        cc.input_side_packets["PATH"].set_one_of(str, Path, description="the file").optional()
        options = cc.options(RerunSinkCalculatorOptions)
        if wrong := set(cc.inputs.tags()) - {""}:
            raise InvalidArgumentError(
                f"the Rerun sink has an input with the tag {min(wrong)}; its inputs have none"
            )
        if options.stream and len(options.stream) != len(cc.inputs):
            raise InvalidArgumentError(
                f"stream has {len(options.stream)} entries, but the Rerun sink has {len(cc.inputs)} inputs; "
                "describe each input, in their order"
            )
        cc.declare(may_skip=False, stateless=False)
        cc.declare(writes=[options.path, cc.input_side_packets["PATH"]], connects=[options.address])

    def open(self, cc: CalculatorContext) -> None:
        """Make the log."""
        from penstock_bridges import check_needs

        check_needs("RerunSinkCalculator", "rerun")
        from penstock_rerun.entries import Entries
        from penstock_rerun.log import RerunLog, host_and_port

        options = cc.options(RerunSinkCalculatorOptions)
        path = options.path
        if "PATH" in cc.input_side_packets and not cc.input_side_packets["PATH"].is_empty():
            path = str(cc.input_side_packets["PATH"].payload)
        if path:
            target, address = cc.service(ACCESS).writing(path), ""
        elif options.address:
            host, port = host_and_port(options.address)
            cc.service(ACCESS).connecting(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
            target, address = None, options.address
        else:
            raise InvalidArgumentError(
                "the Rerun sink has neither path nor address; set one in the options, or connect the side "
                "packet PATH"
            )
        self._streams = options.stream or (LoggedStream(),) * len(cc.inputs)
        self._entries = Entries()
        self._log = RerunLog(
            "RerunSinkCalculator", target, address, options.application_id, options.timeout_ms / 1000
        )

    def process(self, cc: CalculatorContext) -> None:
        """Log the packets of a timestamp, images first.

        Raises:
            InvalidArgumentError: a payload cannot be shown.
            UnavailableError: viewer or disk take no data.
        """
        from penstock_formats import Image, ImageFrame

        there = [
            (port, stream)
            for port, stream in zip(cc.inputs, self._streams, strict=True)
            if not port.is_empty()
        ]
        for port, stream in sorted(there, key=lambda one: not isinstance(one[0].payload, Image | ImageFrame)):
            try:
                entries = self._entries.of(port.payload, int(cc.input_timestamp), stream, port.name)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(
                    f"stream {port.name!r}: {error}", stream=port.name, timestamp=int(cc.input_timestamp)
                ) from error
            self._log.write(entries)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """End the log.

        Raises:
            UnavailableError: not all of it is written.
        """
        try:
            self._log.write(self._entries.rest())
            self._log.close()
        except BaseException:
            self._log.abandon()
            raise
