"""The command `penstock top`. `main` adds it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from penstock_cli.access_options import access_options
from penstock_cli.exit_codes import EXIT_CODES
from penstock_cli.failures import FileMissing
from penstock_cli.options import import_option, json_option, side_option, subgraph_option
from penstock_cli.running_command import RunningCommand
from penstock_cli.runs.manner import read_manner
from penstock_cli.runs.run_options import run_options

#: What the argument begins with if it is no file.
_ADDRESSES: Final = ("http://", "https://")
#: The parameters that go with an address too.
_WITH_ADDRESS: Final = frozenset({"what", "once", "interval", "token_file", "as_text", "debug"})


@click.command(
    "top", cls=RunningCommand, short_help="Show the numbers of a running graph.", epilog=EXIT_CODES
)
@click.argument("what", metavar="GRAPH|URL")
@side_option
@click.option(
    "--once",
    is_flag=True,
    help="Print one reading, of the first second of the run, and close the graph's sources.",
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1, max=3600),
    metavar="SECONDS",
    help="Time between two updates.  [default: 0.5 on a terminal, else 5]",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With URL: the file that has the token, or - for standard input. So does the environment variable "
    "PENSTOCK_TOKEN. Other users of the machine can see a token in the command.",
)
@json_option("each reading as a line of JSON instead of tables, and no summary")
@import_option
@subgraph_option
@run_options
@access_options(writes=True)
def top_command(  # noqa: PLR0913, PLR0917  # an argument for each option
    what: str,
    sides: tuple[str, ...],
    once: bool,  # noqa: FBT001  # click's
    interval: float | None,
    token_file: Path | None,
    as_text: bool,  # noqa: FBT001
    **manner: Any,
) -> None:
    """Show what the nodes and streams of a running graph do, in tables that are updated in place.

    GRAPH is a graph file, which is run as `penstock run` runs it. URL is the address that
    `penstock run GRAPH --serve` prints, with its token: then that run is shown.

    The tables have steps and packets per second, calls under way, the share of time that a node is busy,
    queues with their limits, the age of the newest packet, packets dropped with the reason, where nodes work,
    and how long packets take to each output. When nothing has moved for a second, they say why, and mark what
    is to blame. Where stdout is no terminal, plain tables are printed one after the other.

    Ctrl-C is as in `penstock run`; with a URL it ends only the command.

    \b
    Examples:
      penstock top examples/edge_overlay.pbtxt --side input_video=in.mp4 --side output_video=out.mp4
      penstock top graph.pbtxt --once --json
      penstock top "http://127.0.0.1:8080/?token=..."
      PENSTOCK_TOKEN=... penstock top http://127.0.0.1:8080/
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_cli.reading.top import View, show_graph_file, show_served  # on demand, as in `main`

    view = View(once=once, is_json=as_text, interval_s=interval)
    if what.lower().startswith(_ADDRESSES):
        _refuse_options_of_runs(click.get_current_context())
        show_served(what, view, _token(token_file))
        return
    if token_file is not None:
        raise click.UsageError("--token-file is for a URL: penstock top runs a graph file itself")
    from penstock_cli.runs.side_values import read_sides

    shown = replace(read_manner(**manner), summary=not (once or as_text))
    show_graph_file(Path(what), read_sides(sides), shown, view)


def _refuse_options_of_runs(ctx: click.Context) -> None:
    """Raise UsageError if there are options for the run of a graph file."""
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if source is click.core.ParameterSource.COMMANDLINE and param.name not in _WITH_ADDRESS:
            raise click.UsageError(
                f"penstock top: {param.opts[0]} is for the run of a graph file; that of a URL is under way, "
                "so leave it out"
            )


def _token(file: Path | None) -> str:
    """Return the token of a file or the environment; "" where there is none."""
    if file is None:
        return os.environ.get("PENSTOCK_TOKEN", "")
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise FileMissing(f"penstock top: token file {str(file)!r} cannot be read: {error}") from error
    return text.strip()
