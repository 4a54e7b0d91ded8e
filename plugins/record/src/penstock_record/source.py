"""McapSourceCalculator: plays the streams of a recording."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import penstock
from penstock import Packet
from penstock.access import ACCESS
from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import next_allowed
from penstock.packs import default_registry
from penstock_record.options import McapSourceCalculatorOptions
from penstock_record.recording_reader import RecordingReader
from penstock_record.recording_writer import DONE, HEADER, PACKET, SETTLED

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop

#: Events that one call sends at most: full queues stop the source between calls.
_AT_ONCE: Final = 16


class McapSourceCalculator(penstock.Calculator):
    """Sends what a recording has of its outputs' streams: packets, settled timestamps, headers and ends.

    Outputs: any number, of any types. Input side packet: PATH (str or Path), which replaces the option
    `path`. A stream has the name of the output's stream, or that of the option `streams`. Packets leave in
    the order of the recording.

    Options: `path`; `streams`; `speed`: 0 (default) sends as fast as the graph takes packets, 1 at the pace
    of the recording, by the wall clock of its packets.

    Raises in `open`: InvalidArgumentError if there is no path, if the file is none of ours, or has not all of
    the streams; OSError if it cannot be read. In `process`: InvalidArgumentError where the file is broken or
    cut.

    Example config::

        node {
          calculator: "McapSourceCalculator"
          output_stream: "frames"
          node_options { [type.googleapis.com/penstock_record.McapSourceCalculatorOptions] { path: "run.mcap"
          } }
        }
    """

    Options = McapSourceCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept everything.

        Raises:
            InvalidArgumentError: `streams` has not as many names as there are outputs.
        """
        for port in cc.outputs:
            port.set_any("a recorded stream")
        cc.input_side_packets["PATH"].set_one_of(str, Path, description="the file").optional()
        options = cc.options(McapSourceCalculatorOptions)
        if options.streams and len(options.streams) != len(cc.outputs):
            raise InvalidArgumentError(
                f"streams has {len(options.streams)} names, but the recording's source has {len(cc.outputs)} "
                "outputs"
            )
        cc.declare(may_skip=True, stateless=False, is_live=options.speed > 0)
        cc.declare(reads=[options.path, cc.input_side_packets["PATH"]])

    def open(self, cc: CalculatorContext) -> None:
        """Open the file, and send the headers."""
        options = cc.options(McapSourceCalculatorOptions)
        path = options.path
        if "PATH" in cc.input_side_packets and not cc.input_side_packets["PATH"].is_empty():
            path = str(cc.input_side_packets["PATH"].payload)
        if not path:
            raise InvalidArgumentError(
                "the recording's source has no path; set it in the options, or connect the side packet PATH"
            )
        file = cc.service(ACCESS).reading(path)
        names = options.streams or [port.name for port in cc.outputs]
        self._speed = options.speed
        with RecordingReader(file, default_registry()) as reader:
            known = reader.about.streams
            for name in names:
                if name not in known:
                    meant = did_you_mean(name, known, 1)
                    raise InvalidArgumentError(
                        f"the source's recording {path} has no stream {name!r}{meant}; it has "
                        f"{', '.join(known) or 'none'}"
                    )
            self._outputs = dict(zip(names, cc.outputs, strict=True))
            waiting = set(names)
            for event in reader.events(decoded=(HEADER,)):
                if event.kind == HEADER and event.stream in waiting:
                    self._outputs[event.stream].set_header(Packet(event.payload))
                waiting.discard(event.stream)  # a header comes before all else of its stream
                if not waiting:
                    break
        self._reader = RecordingReader(file, default_registry())
        self._events = self._reader.events()
        self._began: tuple[int, float] | None = None

    def process(self, cc: CalculatorContext) -> Stop | None:  # noqa: ARG002  # the interface
        """Send some events.

        Raises:
            InvalidArgumentError: the file is broken or cut.
        """
        sent = 0
        for event in self._events:
            output = self._outputs.get(event.stream)
            if output is None:
                continue
            if event.kind == PACKET:
                self._wait(event.at_ns)
                output.add_packet(Packet(event.payload, event.timestamp))
            elif event.kind == SETTLED:
                bound = next_allowed(event.timestamp)
                if bound > output.bound:
                    output.set_next_timestamp_bound(bound)
                    return None  # bounds are delivered when a call ends; a packet behind would hide this one
            elif event.kind == DONE:
                output.close()
            sent += 1
            if sent == _AT_ONCE:
                return None
        return penstock.STOP

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Close the file."""
        self._reader.__exit__()

    def _wait(self, at_ns: int) -> None:
        """Wait until a packet's time has come."""
        if not self._speed:
            return
        if self._began is None:
            self._began = (at_ns, time.monotonic())
        first_ns, began = self._began
        left = began + (at_ns - first_ns) / 1e9 / self._speed - time.monotonic()
        if left > 0:
            time.sleep(left)
