"""The command `penstock room`: what the sensors of a room said, from a file of readings.

A pack adds a command by the hook `penstock_cli`. What it may use of the command line is in
`penstock_cli.api`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock_cli.api import EXIT_CODES, FileMissing, debug_option, existing_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_room_sensors.room_state import RoomState

_GRAPH: Final = """
input_stream: "loudness" input_stream: "brightness" input_stream: "tick"
output_stream: "state" output_stream: "presence"
node {
  calculator: "RoomSubgraph"
  input_stream: "LOUDNESS:loudness" input_stream: "BRIGHTNESS:brightness" input_stream: "TICK:tick"
  output_stream: "STATE:state" output_stream: "PRESENCE:presence"
}
"""
_COLUMNS: Final = ("seconds", "loudness", "brightness")


@click.command("room", short_help="Say when a room was loud, dark or occupied.", epilog=EXIT_CODES)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@debug_option
def room_command(file: Path) -> None:
    """Say from a file of readings when a room was loud, dark or occupied.

    FILE is a CSV file with the columns seconds, loudness (dB) and brightness (lux), in order of time. A line
    is printed for each change.

    \b
    Examples:
      penstock room readings.csv
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    import penstock  # only where the command runs
    from penstock_room_sensors.room_presence import RoomPresence
    from penstock_room_sensors.room_state import RoomState

    rows = list(_readings(existing_file(file, "the file of readings")))
    streams: dict[str, list[tuple[int, object]]] = {
        "loudness": [(at, loudness) for at, loudness, _ in rows],
        "brightness": [(at, brightness) for at, _, brightness in rows],
        "tick": [(at, at) for at, _, _ in rows],
    }
    said = penstock.run(_GRAPH, streams)
    changes = {packet.timestamp: _words(packet.get(RoomState)) for packet in said["state"]}
    was_occupied: bool | None = None
    for packet in said["presence"]:
        words = changes.get(packet.timestamp, [])
        is_occupied = packet.get(RoomPresence).is_occupied
        if is_occupied != was_occupied:
            was_occupied = is_occupied
            words.append("occupied" if was_occupied else "empty")
        if words:
            click.echo(f"{int(packet.timestamp) / 1e6:8.2f} s  {', '.join(words)}")


def _words(state: RoomState) -> list[str]:
    return ["loud" if state.is_loud else "quiet", "dark" if state.is_dark else "bright"]


def _readings(file: Path) -> Iterator[tuple[int, float, int]]:
    """Yield microseconds, loudness and brightness of each row.

    Raises:
        FileMissing: a column is missing, or a value is no number; names file and line.
    """
    with file.open(encoding="utf-8", newline="") as opened:
        rows = csv.DictReader(opened)
        if missing := set(_COLUMNS) - set(rows.fieldnames or ()):
            raise FileMissing(
                f"{file}:1: `penstock room` lacks the column {min(missing)!r}; expected {_COLUMNS}"
            )
        for row in rows:
            try:
                seconds, loudness, brightness = (float(row[name]) for name in _COLUMNS)
            except (TypeError, ValueError) as error:
                raise FileMissing(
                    f"{file}:{rows.line_num}: {error}; `penstock room` expects three numbers"
                ) from error
            yield round(seconds * 1e6), loudness, round(brightness)
