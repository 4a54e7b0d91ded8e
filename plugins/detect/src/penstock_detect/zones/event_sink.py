"""EventFileSinkCalculator: events into a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock_detect.zones.event_files import kind_of, open_events
from penstock_detect.zones.events import ZoneEvent
from penstock_detect.zones.sink_options import EventFileSinkCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class EventFileSinkCalculator(penstock.Calculator):
    """Writes events into a file: lines of JSON (.jsonl), a table (.csv) or a SQLite database (.sqlite, .db).

    Input: EVENTS (list[ZoneEvent]). Input side packet: PATH (str or Path), which replaces the option `path`.
    There are no outputs.

    The events of a packet are in the file when the call has returned, so that nothing is lost if the process
    is killed later; other programs may read the file meanwhile. A call that fails leaves nothing of its
    events. A database gets a transaction for each packet, in its table `events`, and one that exists is added
    to: its column `run` is the time when the run began. A file of lines that exists is replaced, unless
    `append` is set. With `Access(overwrites=False)`, as `penstock run` without --force, no file that exists
    is touched.

    Options `EventFileSinkCalculatorOptions`: `path`; `append` (false).

    Raises in `get_contract`: InvalidArgumentError for an ending that is unknown. In `open`: the same without
    a path, for a folder that is missing, and a database that is none or has another table `events`;
    PermissionDeniedError and AlreadyExistsError where the file may not be written. In `process`:
    ResourceExhaustedError for a full disk, UnavailableError for a database that another program holds for 5
    s, PenstockError where writing fails otherwise.

    Config::

        node {
          calculator: "EventFileSinkCalculator"
          input_stream: "EVENTS:events"
          node_options {
            [type.googleapis.com/penstock_detect.EventFileSinkCalculatorOptions] { path: "events.jsonl" }
          }
        }
    """

    Options = EventFileSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the events and the file.

        Raises:
            InvalidArgumentError: the ending of the path is unknown.
        """
        cc.inputs["EVENTS"].set(list[ZoneEvent], "what happened")
        cc.input_side_packets["PATH"].set_one_of(str, Path, description="the file").optional()
        path = cc.options(EventFileSinkCalculatorOptions).path
        if path:
            kind_of(path)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False, writes=[path, cc.input_side_packets["PATH"]])

    def open(self, cc: CalculatorContext) -> None:
        """Open the file.

        Raises:
            PenstockError: as the class says.
        """
        options = cc.options(EventFileSinkCalculatorOptions)
        path = options.path
        if "PATH" in cc.input_side_packets and not cc.input_side_packets["PATH"].is_empty():
            path = str(cc.input_side_packets["PATH"].payload)
        if not path:
            raise InvalidArgumentError(
                "the event sink has no path; set it in the options, or connect the side packet PATH"
            )
        kind_of(path)
        self._file = open_events(cc.service(ACCESS).writing(path), append=options.append)

    def process(self, cc: CalculatorContext) -> None:
        """Write the events of one timestamp.

        Raises:
            PenstockError: as the class says.
        """
        events: list[ZoneEvent] | None = cc.inputs["EVENTS"].payload
        if events:
            self._file.write(events)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Close the file."""
        self._file.close()
