"""The `penstock` command: its commands, their options and help. Other modules implement them.

Each module is imported when its command runs, which keeps `--help` and `--version` fast.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

import penstock
from penstock_cli.access_options import access_options
from penstock_cli.bundle.bundle_command import bundle_command
from penstock_cli.completion import complete_component
from penstock_cli.exit_codes import EXIT_CODES, INTERRUPTED
from penstock_cli.failures import RunFailed, as_failure
from penstock_cli.graphs.list_and_check_commands import COMMANDS
from penstock_cli.graphs.viewer import VIEWER
from penstock_cli.group import PenstockGroup
from penstock_cli.options import (
    DEBUG,
    IMPORTED,
    debug_option,
    import_option,
    json_option,
    side_option,
    subgraph_option,
)
from penstock_cli.packs.pack_commands import PACK_COMMANDS
from penstock_cli.reading.top_command import top_command
from penstock_cli.reading.trace_commands import TRACE_COMMANDS
from penstock_cli.reading.why_command import why_command
from penstock_cli.running_command import RunningCommand
from penstock_cli.runs.addresses import Address, FileOrAddress
from penstock_cli.runs.interrupts import let_ctrl_c_kill
from penstock_cli.runs.manner import read_manner
from penstock_cli.runs.run_options import run_options

_DEMO_OUT: Final = "penstock-demo.mp4"
_HELP: Final = {"help_option_names": ["-h", "--help"]}


def main() -> None:
    """Run the command with the process's arguments, and exit with its code.

    Afterwards Ctrl-C ends the process at once: no Python code is left that could answer it, and Python would
    print a traceback of its own last steps.

    A crash in native code, as of a library that a calculator calls, prints where each thread was in Python.
    """
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # it has no file that could be written to then
            faulthandler.enable()
    try:
        penstock_command(prog_name="penstock")
    except OSError as error:  # the output of --version or --help could not be written
        as_failure(error).show()
        sys.exit(RunFailed.exit_code)
    except KeyboardInterrupt:  # while another error was reported
        sys.exit(INTERRUPTED)
    finally:
        let_ctrl_c_kill()
        _discard_unwritten_output()


def _discard_unwritten_output() -> None:
    """Discard output that cannot be written: Python would retry at exit, and change the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _show_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's
    if value and not ctx.resilient_parsing:
        import platform  # slow to import, and only needed here

        python = f"{platform.python_implementation()} {platform.python_version()}"
        click.echo(f"penstock {penstock.__version__} ({python}, {platform.system()})")
        ctx.exit()


@click.group(cls=PenstockGroup, context_settings=_HELP, epilog=EXIT_CODES)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
@debug_option
def penstock_command() -> None:
    """Run graphs of calculators over streams of timestamped packets.

    \b
    Examples:
      penstock demo
      penstock run graph.pbtxt --side input_video=in.mp4
      penstock validate graph.pbtxt
      penstock list face              (names with this word in them)
      penstock show GateCalculator
    """  # noqa: D301  # \b is click's mark for text that stays as it is


def _refuse_with_each(ctx: click.Context) -> None:
    if ctx.params["each"]:
        from penstock_cli.runs.each import refuse_what_is_for_one

        refuse_what_is_for_one(ctx)


@penstock_command.command(
    "run",
    cls=RunningCommand,
    short_help="Run a graph file.",
    epilog=EXIT_CODES,
    preparations=[_refuse_with_each],
)
@click.argument("graph", type=click.Path(path_type=Path))
@side_option
@click.option(
    "--each",
    multiple=True,
    metavar="FILES",
    help="Run the graph once for each file that the pattern matches, such as --each 'videos/*.mp4' (with "
    "quotes), each in a process of its own; may be repeated. In the values of --side, {file}, {name}, {stem} "
    "and {folder} stand for the file's path and its parts.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --each: how many runs at a time.  [default: 1]",
)
@json_option("the summary as a JSON object; with --each, a list of objects, one for each file")
@import_option
@subgraph_option
@run_options
@access_options(writes=True)
def run_command(
    graph: Path, sides: tuple[str, ...], each: tuple[str, ...], jobs: int | None, **manner: Any
) -> None:
    """Run a graph file to its end.

    GRAPH is a .pbtxt, .textproto, .binarypb, .pb or .json file. While it runs stderr shows packets,
    their rate on the busiest stream, the packets in queues, and dropped packets; at the end stdout
    shows the time of each node, and notes: nodes that never ran, and packets that were dropped, with
    stream, place, reason and count.

    The graph brings its own data: nodes of it read files and cameras, and write results. One with an
    input_stream is fed from Python, by penstock.run(). Packets of an output_stream are not printed: look
    at them with --serve, record them with `penstock record`, or read them in Python, by graph.rows().

    Ctrl-C closes the graph's sources; packets under way are still processed, and files are finished.
    Pressed again it cancels the run, and a third time it exits at once.

    \b
    Examples:
      penstock run examples/edge_overlay.pbtxt --side input_video=in.mp4 --side output_video=out.mp4
      penstock run graph.pbtxt --side threshold=0.5 --timeout 60 --quiet
      penstock run graph.pbtxt --json --no-progress
      penstock run graph.pbtxt --trace trace.json
      penstock run graph.pbtxt --import ./gate.py --import my_package.calculators
      penstock run strange.pbtxt --sandbox --allow-read clips --allow-write out
      penstock run graph.pbtxt --each 'in/*.mp4' --jobs 4 --side input={file} --side output=out/{stem}.mp4
    """  # noqa: D301
    if each or jobs is not None:
        from penstock_cli.runs.each import run_each

        run_each(graph, each, jobs, sides, read_manner(**manner))
        return
    from penstock_cli.runs.run import run_file  # on demand, as the module says
    from penstock_cli.runs.side_values import read_sides

    run_file(graph, read_sides(sides), read_manner(**manner))


@penstock_command.command(
    "demo", cls=RunningCommand, short_help="Draw the edges of a video over it.", epilog=EXIT_CODES
)
@click.argument("video", type=FileOrAddress(path_type=Path), required=False)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write; its ending chooses the container, or the kind of picture. A name without an "
    "ending is a folder for pictures. Existing files are replaced.  "
    f"[default: {_DEMO_OUT}; none with --show]",
)
@click.option(
    "--frames",
    type=click.IntRange(min=0),
    metavar="N",
    help="Length of the test pattern; 0 for endless, until Ctrl-C. Not with VIDEO or --camera.",
)
@click.option(
    "--camera",
    type=click.IntRange(min=0),
    metavar="N",
    help="Read camera N until Ctrl-C; 0 is the first one. Not with VIDEO.",
)
@click.option(
    "--gpu/--no-gpu",
    default=None,
    help="Require OpenGL, of a software renderer too, or do without it; by default the demo uses OpenGL only "
    "if a graphics card draws.",
)
@click.option(
    "--show",
    is_flag=True,
    help="Show the frames in a window, at their times; needs penstock-cli[show] installed.",
)
@run_options
def demo_command(  # noqa: PLR0913  # an argument for each option
    *,
    video: Path | Address | None,
    out: Path | None,
    frames: int | None,
    camera: int | None,
    gpu: bool | None,
    show: bool,
    **manner: Any,
) -> None:
    """Draw the edges of a video over its right half, and write the result to a file or show it.

    Each frame is decoded, made grey, and reduced to its edges (Canny); the edges are joined with their
    frame by timestamp, painted over its right half, and encoded. All of these steps run at once, on all
    cores. Without VIDEO a moving test pattern is used. The sound of a file is copied, without encoding it
    again, if the new file can hold it. VIDEO may be an address, such as rtsp://HOST/PATH or http://HOST/PATH,
    which is read until Ctrl-C and connected again when it is lost; or pictures: one, a folder, a list of
    paths (.txt), or a pattern as 'shot_%04d.png'.

    If a graphics card draws with OpenGL, a shader paints the edges and the graph is
    examples/edge_overlay_gpu.pbtxt; else OpenCV does, and it is examples/edge_overlay.pbtxt. stderr reports
    which was chosen, and why.

    \b
    Examples:
      penstock demo
      penstock demo holiday.mp4 -o edges.mp4
      penstock demo photos -o edges   (two folders of pictures)
      penstock demo --frames 0        (endless; Ctrl-C finishes the file)
      penstock demo --camera 0 --show
      penstock demo rtsp://ann:secret@10.0.0.5/cam --show
      penstock demo --no-gpu
    """  # noqa: D301
    from penstock_cli.demo.demo import Demo, run_demo  # on demand, as the module says

    target = out if out is not None or show else Path(_DEMO_OUT)
    run_demo(Demo(video, camera, frames, target, gpu, show), read_manner(**manner))


@penstock_command.command(
    "plugins", short_help="List the plugins, and why some are missing.", epilog=EXIT_CODES
)
@json_option("a JSON list instead of a table")
@debug_option
@click.pass_context
def plugins_command(ctx: click.Context, as_text: bool) -> None:  # noqa: FBT001  # click's
    """List every plugin that was found: loaded, failed, or blocked, and why.

    Plugins are found by their entry points. PENSTOCK_BLOCK_PLUGINS=a,b blocks those plugins,
    PENSTOCK_PLUGINS=a,b blocks all others, PENSTOCK_NO_PLUGINS=1 blocks all. A broken plugin does not
    stop the others.

    \b
    Examples:
      penstock plugins
      penstock plugins --debug        (how the broken ones failed)
      PENSTOCK_BLOCK_PLUGINS=video penstock plugins --json
    """  # noqa: D301
    from penstock.plugins.default_registry import default_plugin_host  # loads the plugins
    from penstock_cli.graphs.plugin_list import as_json, print_records

    records = default_plugin_host().records
    if as_text:
        click.echo(as_json(records))
    else:
        print_records(records, tracebacks=ctx.meta.get(DEBUG, False))


@penstock_command.command("show", short_help="Show what a component is, or draw a graph.", epilog=EXIT_CODES)
@click.argument("name", shell_complete=complete_component)
@click.option(
    "--format",
    "kind",
    type=click.Choice(("text", "mermaid", "dot", "svg", "json")),
    help="How to show a graph; by default text, or the format of the ending of --out. svg needs "
    "penstock-views[draw] installed.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the graph to this file; an existing one is replaced.",
)
@click.option("--expand", is_flag=True, help="Show the nodes inside of a graph's subgraphs.")
@click.option(
    "--access",
    is_flag=True,
    help="Show what the nodes of a graph touch: files, addresses, devices, programs.",
)
@json_option("a JSON object instead")
@import_option
@subgraph_option
@debug_option
@click.pass_context
def show_command(  # noqa: PLR0913, PLR0917  # an argument for each option
    ctx: click.Context,
    name: str,
    kind: str | None,
    out: Path | None,
    expand: bool,  # noqa: FBT001  # click's
    access: bool,  # noqa: FBT001
    as_text: bool,  # noqa: FBT001
) -> None:
    """Show a calculator: its ports, options, policy, and an example to paste. Or draw a graph.

    NAME is a registered calculator, input stream handler, executor or subgraph; for an unknown one the
    message suggests similar names or what to install. Ports are those of the calculator's example and
    all others that it declares; nothing is run.

    A NAME that ends with .pbtxt, .textproto, .binarypb, .pb or .json, or contains a directory, is a
    graph file. It is drawn even if it cannot run: stderr reports its faults and missing packs.

    \b
    Examples:
      penstock show GateCalculator
      penstock show ThreadPoolExecutor --json
      penstock show graph.pbtxt
      penstock show graph.pbtxt --format mermaid
      penstock show graph.pbtxt --expand -o graph.svg
      penstock show graph.pbtxt --access
      penstock show graph.pbtxt --watch
      penstock show --import ./gate.py Gate
    """  # noqa: D301
    from penstock_cli.graphs.show_graph import check_component, is_graph, show_graph  # on demand

    if access:
        from penstock_cli.graphs.show_access import show_access

        show_access(name, as_text=as_text)
        return
    viewer = ctx.meta.get(VIEWER)
    if viewer is not None:
        from penstock.plugins.default_registry import default_registry  # loads the plugins

        viewer.check(name, {"--format": kind, "--out": out, "--json": as_text or None})
        viewer.show(Path(name), default_registry(), expand)
        return
    if is_graph(name):
        from penstock.plugins.default_registry import default_registry  # loads the plugins

        kind = "json" if as_text else kind
        show_graph(Path(name), default_registry(), kind, out, expand=expand)
        return
    check_component(name, kind=kind, out=out, expand=expand)
    from penstock.plugins.default_registry import default_plugin_host, default_registry  # loads the plugins
    from penstock_cli.graphs.show_component import as_json, find, print_description

    description = find(name, default_registry())
    versions = {record.distribution: record.version for record in default_plugin_host().records}
    version = versions.get(description.distribution or "")
    if as_text:
        click.echo(as_json(description, version))
    else:
        source = ctx.meta.get(IMPORTED, {}).get((description.kind, description.name))
        print_description(description, version, source)


for _command in (top_command, why_command, bundle_command, *COMMANDS, *TRACE_COMMANDS, *PACK_COMMANDS):
    penstock_command.add_command(_command)
