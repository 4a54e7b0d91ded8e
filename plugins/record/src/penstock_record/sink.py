"""McapSinkCalculator: records streams into an MCAP file."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Final

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError, ResourceExhaustedError, UnavailableError
from penstock.log import get_logger, place
from penstock.lowlevel import MAX
from penstock.packs import default_registry
from penstock_record.options import McapSinkCalculatorOptions
from penstock_record.recording_writer import RecordingWriter
from penstock_steering import CHANGES

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock.errors import PenstockError

_logger = get_logger(__name__)

#: What the system answers where there is no room: on the disk, in the user's quota, under a limit of sizes.
_FULL: Final = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}


class McapSinkCalculator(penstock.Calculator):
    """Records its inputs: packets, settled timestamps, headers, ends, and side packets, in order of arrival.

    Inputs: any number, under any tags, of any types that a codec takes. Input side packets: PATH (str or
    Path), which replaces the option `path`; SIDE, any number, which are recorded under the names of the
    option `side_packets`. There are no outputs. The file has the names of the streams.

    Where nodes are changed while the graph runs (`graph.set_options`, `graph.swap`), the file has the changes
    too, for `replay_changes`; not where this node works in another process. Once the inputs have ended, no
    other node can be changed in the run: the change could not be kept.

    The node takes packets as they come, and a slow disk throttles the sources like every full queue: nothing
    is dropped. Where a run fails or is cancelled, packets that still wait for this node are written when it
    closes, so that a replay fails in the same call. Where the file cannot be written any more, as on a full
    disk, the call fails, and each one after it; the file is ended behind its last whole chunk, and plays so
    far. A policy `failure { on_error: SKIP }` lets the run go on, and the ledger counts what is not recorded.

    Images are written without loss by default, a quarter as large or less. They are compressed in this node,
    while other nodes work. JPEG and H.264 are smaller and lossy, which the file says.

    Options: `path`; `graph`, text of the graph, which is kept in the file; `side_packets`; `compression`;
    `pictures` (LOSSLESS, RAW, JPEG, H264).

    Raises in `open`: InvalidArgumentError if there is no path, or PyAV is missing for JPEG or H.264; OSError
    if the file cannot be made. In `process`: InvalidArgumentError if no codec takes a payload; says which
    stream. ResourceExhaustedError if the disk is full, UnavailableError if it fails otherwise; with path and
    size.

    Example config::

        node {
          calculator: "McapSinkCalculator"
          input_stream: "frames"
          input_stream: "detections"
          node_options { [type.googleapis.com/penstock_record.McapSinkCalculatorOptions] { path: "run.mcap" }
          }
        }
    """

    Options = McapSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept everything."""
        for port in cc.inputs:
            port.set_any("a stream to record")
        cc.input_side_packets["PATH"].set_one_of(str, Path, description="the file").optional()
        for i in range(cc.input_side_packets.count("SIDE")):
            cc.input_side_packets["SIDE", i].set_any("a side packet to record")
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.set_process_timestamp_bounds()
        cc.use_service(CHANGES)
        path = cc.options(McapSinkCalculatorOptions).path
        cc.declare(may_skip=False, stateless=False, writes=[path, cc.input_side_packets["PATH"]])

    def open(self, cc: CalculatorContext) -> None:
        """Open the file, and write side packets and headers."""
        options = cc.options(McapSinkCalculatorOptions)
        path = options.path
        if "PATH" in cc.input_side_packets and not cc.input_side_packets["PATH"].is_empty():
            path = str(cc.input_side_packets["PATH"].payload)
        if not path:
            raise InvalidArgumentError(
                "the recording sink has no path; set it in the options, or connect the side packet PATH"
            )
        self._path = path
        #: What ended the file early, and its size then.
        self._error = OSError()
        self._size = 0
        names = [port.name for port in cc.inputs]
        about = {"graph": options.graph, "penstock": penstock.__version__}
        file = cc.service(ACCESS).writing(path)
        try:
            self._writer: RecordingWriter | None = RecordingWriter(
                file, default_registry(), names, about, options.compression, options.pictures
            )
        except OSError as error:
            if error.filename is not None:  # it cannot be opened, and says so itself
                raise
            words = f"the recording {path} cannot be begun"
            raise _error_of(error, words, "make room, or let the sink record on another disk") from error
        #: For each input: whether its header was written, and whether it has ended.
        self._headers = [False] * len(names)
        self._changes = cc.service(CHANGES)
        self._changes_written = 0
        self._done = [False] * len(names)
        try:
            for i, name in enumerate(options.side_packets):
                side = cc.input_side_packets["SIDE", i]
                if not side.is_empty():
                    self._writer.side_packet(name, side.payload)
            self._write_changes(self._writer)
        except OSError as error:
            raise self._give_up(error) from error
        except BaseException:  # close() is not called after a failed open()
            self._writer.abandon()
            raise

    def process(self, cc: CalculatorContext) -> None:
        """Write what has come.

        Raises:
            InvalidArgumentError: no codec takes a payload.
            ResourceExhaustedError: the disk is full; has path and size.
            UnavailableError: the file cannot be written for another reason.
        """
        writer = self._writer
        if writer is None:
            raise self._failed()
        try:
            self._write_changes(writer)
            for i, port in enumerate(cc.inputs):
                packet = port.packet
                if packet.stamp != cc.stamp:
                    continue
                self._write_header(writer, i, port)
                if not packet.is_empty():
                    self._write(writer, i, port)
                elif packet.stamp >= MAX:
                    self._end(writer, i)
                else:
                    writer.settled(i, packet.stamp)
        except OSError as error:
            raise self._give_up(error) from error

    def close(self, cc: CalculatorContext) -> None:
        """Finish the file."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        self._changes.seal()
        try:
            self._write_changes(writer)
            self._write_waiting(writer, cc)
            for i, port in enumerate(cc.inputs):
                self._write_header(writer, i, port)
                self._end(writer, i)
            writer.close()
        except OSError as error:
            self._writer = writer
            raise self._give_up(error) from error

    def _write_waiting(self, writer: RecordingWriter, cc: CalculatorContext) -> None:
        """Write the packets that a failed or cancelled run has left in the queues, in order of time.

        Other nodes may have been given them already, and one of them may be why the run has failed.
        """
        left = [
            (packet.stamp, i, packet) for i, port in enumerate(cc.inputs) for packet in port.take_waiting()
        ]
        for stamp, i, packet in sorted(left, key=lambda one: one[:2]):
            port = cc.inputs.items[i]
            self._write_header(writer, i, port)
            try:
                writer.packet(i, stamp, packet.payload)
            except InvalidArgumentError as error:  # the run has ended with its own error
                _logger.warning(
                    "a packet is not in the recording %s: %s",
                    self._path,
                    error,
                    extra=place(cc.node_name, port.name, stamp),
                )

    def _write_changes(self, writer: RecordingWriter) -> None:
        """Write the changes of nodes that were made since the last call."""
        if len(self._changes) > self._changes_written:
            made = self._changes.made
            for change in made[self._changes_written :]:
                writer.change(change)
            self._changes_written = len(made)

    def _write_header(self, writer: RecordingWriter, i: int, port: Input) -> None:
        """Write the header of a stream, once, before all else of the stream."""
        if not self._headers[i]:
            self._headers[i] = True
            if not port.header.is_empty():
                writer.header(i, port.header.payload)

    @staticmethod
    def _write(writer: RecordingWriter, i: int, port: Input) -> None:
        packet = port.packet
        try:
            writer.packet(i, packet.stamp, packet.payload)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                f"stream {port.name!r}: {error}", stream=port.name, timestamp=packet.stamp
            ) from error

    def _end(self, writer: RecordingWriter, i: int) -> None:
        if not self._done[i]:
            self._done[i] = True
            writer.done(i)

    def _give_up(self, error: OSError) -> PenstockError:
        """End the file where it is; return the error of this call."""
        writer, self._writer = self._writer, None
        if writer is not None:
            self._size = writer.abandon()
        self._error = error
        return self._failed()

    def _failed(self) -> PenstockError:
        words = f"the recording {self._path} ends at {self._size} bytes"
        return _error_of(self._error, words, "it plays so far; make room, or record on another disk")


def _error_of(error: OSError, words: str, cure: str) -> PenstockError:
    kind = ResourceExhaustedError if error.errno in _FULL else UnavailableError
    return kind(f"{words}: {error.strerror or error}; {cure}")
