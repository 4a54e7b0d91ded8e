"""The commands about trace files: paths, report. `main` adds them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from penstock_cli.exit_codes import EXIT_CODES
from penstock_cli.options import debug_option, json_option


@click.command("paths", short_help="Show where packets of a run lost their time.", epilog=EXIT_CODES)
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="END=TIME",
    help="Exit with 1 if more than 1 of 100 packets took longer to an end: out=80ms, or in>out=80ms; may be "
    "repeated.",
)
@json_option("a JSON object instead of tables, with times in milliseconds")
@debug_option
def paths_command(trace: Path, budgets: tuple[str, ...], as_text: bool) -> None:  # noqa: FBT001  # click's
    """Show how long packets took from each source to each end of the graph, and what they waited for.

    TRACE is a file that `penstock run --trace FILE.json` has written. An end is a stream that no node reads,
    or a node that writes none. For each path there are the median, the 99th percentile and the worst packet,
    and where the time went: the work of each node, and before it the wait for the node's own earlier packets,
    for a thread, and for other inputs.

    \b
    Examples:
      penstock run graph.pbtxt --trace trace.json
      penstock paths trace.json
      penstock paths trace.json --budget painted=80ms
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_cli.runs.packet_paths import show_paths  # on demand, as in `main`

    show_paths(trace, budgets, is_json=as_text)


@click.command("report", short_help="Write a report of a run as one HTML page.", epilog=EXIT_CODES)
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The page; an existing file is replaced.  [default: TRACE with the ending .html]",
)
@debug_option
def report_command(trace: Path, out: Path | None) -> None:
    """Write what a trace tells as one HTML page, which needs no network and no script.

    TRACE is a file that `penstock run --trace FILE.json` has written. The page has the picture of the graph
    with times and queues, the paths of packets and where their time went, the calls of each node, full
    queues, dropped packets, and how the run ended. The picture needs penstock-views[draw].

    \b
    Examples:
      penstock run graph.pbtxt --trace trace.json
      penstock report trace.json -o run.html
    """  # noqa: D301
    from penstock_cli.reading.report import write_report  # on demand, as in `main`

    write_report(trace, out)


#: In the order of the help page.
TRACE_COMMANDS: Final = (paths_command, report_command)
