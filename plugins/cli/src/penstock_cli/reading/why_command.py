"""`penstock why`: its options and help. `main` adds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from penstock_cli.access_options import access_options
from penstock_cli.exit_codes import EXIT_CODES
from penstock_cli.options import import_option, json_option, side_option, subgraph_option
from penstock_cli.running_command import RunningCommand
from penstock_cli.runs.manner import read_manner
from penstock_cli.runs.run_options import refuse_nan, run_options


@click.command(
    "why",
    cls=RunningCommand,
    short_help="Run a graph file, and tell why it ended or stands still.",
    epilog=EXIT_CODES,
)
@click.argument("graph", type=click.Path(path_type=Path))
@click.option(
    "--after",
    "still_s",
    type=click.FloatRange(min=0, min_open=True),
    callback=refuse_nan,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="The run stands still when for so long no call returned and no packet was written or dropped.",
)
@side_option
@json_option("the answer as a JSON object")
@import_option
@subgraph_option
@run_options
@access_options(writes=True)
def why_command(graph: Path, still_s: float, sides: tuple[str, ...], **manner: Any) -> None:
    """Run a graph file; tell why it ended or stands still, and what was dropped and cut.

    GRAPH is a file as of `penstock run`, and its other options are the same. A run that stands still is
    cancelled. stdout shows what it waited for, down to the cause: a node that did not settle its output, a
    call that has not returned, a full queue. Below are the nodes that never ran, the packets that were
    dropped, and what limits cut from lists, with node, option and count. Ctrl-C ends the run, and shows what
    it waited for at that moment.

    Exits with 1 if the run stood still, failed or took longer than --timeout.

    \b
    Examples:
      penstock why graph.pbtxt --side input_video=in.mp4
      penstock why graph.pbtxt --after 2
      penstock why graph.pbtxt --json
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_cli.reading.why import explain_file
    from penstock_cli.runs.side_values import read_sides  # on demand, as in `main`

    explain_file(graph, read_sides(sides), read_manner(**manner), still_s)
