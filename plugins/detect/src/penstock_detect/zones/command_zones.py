"""What `--zones` and `--events` add to the graph of `penstock detect`, and what it prints at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import PenstockError
from penstock_cli.api import WrongUsage, run_over_video, say
from penstock_detect.command_graph import written
from penstock_detect.zones.event_files import kind_of
from penstock_detect.zones.zones_file import MAX_FILE_BYTES, read_places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock import Packet
    from penstock_cli.api import Manner, OverVideo
    from penstock_detect.zones.counts import LineCount, ZoneCounts
    from penstock_detect.zones.lines_and_zones import Places

#: The stream of track.pbtxt whose detections have tracks' IDs.
TRACKED: Final = "results"
#: The node's line in track.pbtxt whose output is drawn on further.
_DRAWN: Final = 'output_stream: "IMAGE:drawn"'
#: Side packets of the graph.
ON_COUNTS, EVENTS_PATH = "on_counts", "events_path"

_ZONES: Final = """
# Lines and zones: what crosses, enters and leaves them.
node {
  calculator: "ImagePropertiesCalculator"
  input_stream: "IMAGE:frame"
  output_stream: "SIZE:frame_size"
}
node {
  calculator: "ZonesCalculator"
  input_stream: "DETECTIONS:TRACKED"
  input_stream: "IMAGE_SIZE:frame_size"SPEEDS
  output_stream: "COUNTS:counts"
  output_stream: "EVENTS:events"
  node_options { [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] { zones_path: FILE } }
}
input_side_packet: "on_counts"
node { calculator: "CallbackCalculator" input_stream: "counts" input_side_packet: "CALLBACK:on_counts" }
node {
  calculator: "ZonesToRenderDataCalculator"
  input_stream: "COUNTS:counts"
  output_stream: "RENDER_DATA:counts_to_draw"
}
node {
  calculator: "AnnotationOverlayCalculator"
  input_stream: "IMAGE:drawn_boxes"
  input_stream: "counts_to_draw"
  output_stream: "IMAGE:drawn"
  options { [penstock.AnnotationOverlayCalculatorOptions.ext] { height_of_thickness_px: 480 } }
}
"""
_SPEEDS: Final = """
node {
  calculator: "TrackSpeedCalculator"
  input_stream: "DETECTIONS:TRACKED"
  input_stream: "IMAGE_SIZE:frame_size"
  output_stream: "SPEEDS:speeds"
  node_options { [type.googleapis.com/penstock_detect.TrackSpeedCalculatorOptions] { zones_path: FILE } }
}
"""
_EVENTS: Final = """
input_side_packet: "events_path"
node {
  calculator: "EventFileSinkCalculator"
  input_stream: "EVENTS:events"
  input_side_packet: "PATH:events_path"
}
"""


def with_zones(graph: str, file: str, places: Places, *, has_events: bool, tracked: str = TRACKED) -> str:
    """Return the text of the graph with the nodes for lines and zones.

    Args:
        graph: text of track.pbtxt.
        file: the path of the zones file, as graph text writes it, with quotes.
        places: its contents.
        has_events: whether events are written to the file that the side packet EVENTS_PATH names.
        tracked: the stream of detections with tracks' IDs.
    """
    speeds = '\n  input_stream: "SPEEDS:speeds"' if places.ground else ""
    added = _ZONES.replace("SPEEDS\n", f"{speeds}\n", 1) + (_SPEEDS if places.ground else "")
    added = added.replace("TRACKED", tracked).replace("FILE", file) + (_EVENTS if has_events else "")
    return graph.replace(_DRAWN, 'output_stream: "IMAGE:drawn_boxes"', 1) + added


class LastCounts:
    """Keeps the counts of the last frame. The graph calls it."""

    def __init__(self) -> None:
        self._last: ZoneCounts | None = None

    def __call__(self, packet: Packet) -> None:
        """Take in the counts of a frame."""
        payload: Any = packet.payload
        self._last = payload

    def lines(self) -> Iterator[str]:
        """Yield a line of text for each line and zone; none where no frame was finished."""
        if self._last is None:
            return
        for line in self._last.lines:
            classes = [f"{label or 'no class'} {_ways(line, ways)}" for label, ways in line.by_label.items()]
            said = f" ({'; '.join(classes)})" if classes else ""
            yield f"{line.name}: {_ways(line, line.totals)}{said}"
        for zone in self._last.zones:
            present, entered = sum(zone.present.values()), sum(zone.entered.values())
            stay = zone.mean_dwell_s
            said = "" if stay is None else f", {stay:.1f} s inside on average"
            yield f"{zone.name}: {entered} entered, {present} there at the end{said}"


def _ways(line: LineCount, counts: tuple[int, int]) -> str:
    return f"{counts[0]} {line.directions[0]}, {counts[1]} {line.directions[1]}"


def run_with_zones(wanted: OverVideo, manner: Manner, zones: Path, events: Path | None) -> None:
    """Run the graph of the command with lines and zones, and print the counts on stderr at the end.

    Args:
        wanted: the command without zones.
        manner: how the run is shown.
        zones: the zones file, which exists.
        events: the file for events, or None.

    Raises:
        click.ClickException: a file is wrong, or as `run_over_video`.
        click.exceptions.Exit: as `run_over_video`.
    """
    counts = LastCounts()
    sides: dict[str, object] = {ON_COUNTS: counts}
    try:
        with zones.open("rb") as file:
            places = read_places(str(zones), file.read(MAX_FILE_BYTES + 1))
        if events is not None:
            kind_of(str(events))
            sides[EVENTS_PATH] = events
    except PenstockError as error:
        raise WrongUsage(str(error)) from error
    graph = with_zones(wanted.graph, written(str(zones.absolute())), places, has_events=events is not None)
    try:
        run_over_video(replace(wanted, graph=graph, sides=sides), manner)
    finally:  # Ctrl-C is the usual end of a camera's run
        if not manner.quiet:
            for line in counts.lines():
                say(line)
