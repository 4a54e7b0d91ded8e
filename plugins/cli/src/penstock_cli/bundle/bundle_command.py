"""`penstock bundle`: its arguments, what it does in order, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock_cli.exit_codes import EXIT_CODES
from penstock_cli.options import IMPORTS, debug_option, import_option, json_option, subgraph_option
from penstock_cli.saying import say
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

#: So many files and programs outside of the bundle are listed.
_TOLD: Final = 5
_MB: Final = 1e6


@click.command("bundle", short_help="Pack a graph file with all that it needs.", epilog=EXIT_CODES)
@click.argument("graph", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="What to write: an archive if the name ends with .pyz, else a folder.  [default: GRAPH's name .pyz]",
)
@click.option(
    "--with",
    "more",
    multiple=True,
    metavar="NAME",
    help="Take an installed distribution along too, such as 'penstock-monitor[prometheus]'; may be repeated.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    help="Leave out a distribution that something requires; may be repeated.",
)
@click.option("--force", is_flag=True, help="Replace what is there.")
@json_option("what was written as a JSON object")
@import_option
@subgraph_option
@debug_option
@click.pass_context
def bundle_command(  # noqa: PLR0913, PLR0917  # an argument for each option
    ctx: click.Context,
    graph: Path,
    out: Path | None,
    more: tuple[str, ...],
    without: tuple[str, ...],
    force: bool,  # noqa: FBT001  # click's
    as_text: bool,  # noqa: FBT001
) -> None:
    """Pack a graph file with its packs, models, subgraphs and calculators, to run without an install.

    The bundle has copies of packages as installed here, which its requirements.lock lists. It
    needs the same version of Python on the same kind of machine, and nothing else; it says so where they
    differ. Packs that the graph does not name stay out, and so do files that it reads by a path: give them
    to the run. A model is named relative to the graph file, or as MediaPipe's models are.

    The archive runs by `python3 OUT.pyz [OPTIONS]`, a folder by `python3 OUT [OPTIONS]`, with the options of
    `penstock run`. An archive is unpacked once, into the user's cache or the folder that PENSTOCK_BUNDLES
    names. `--bundle-info` prints what is in it, `penstock doctor` in place of the options runs that command.

    \b
    Examples:
      penstock bundle graph.pbtxt -o app.pyz
      python3 app.pyz --side input_video=in.mp4 --side output_video=out.mp4
      penstock bundle graph.pbtxt -o app --import ./gate.py
      penstock bundle graph.pbtxt -o app.pyz --with 'penstock-monitor[prometheus]' --force
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_cli.bundle.distributions import closure  # on demand, as in `main`
    from penstock_cli.bundle.needs import needs_of
    from penstock_cli.bundle.own_code import own_code
    from penstock_cli.bundle.writing import ARCHIVE, check_target, write_bundle

    target = Path(f"{graph.stem}{ARCHIVE}") if out is None else out
    check_target(target, force=force)
    needs = needs_of(graph)
    own = own_code(ctx.meta.get(IMPORTS, ()))
    found = closure(needs.distributions, [*more, *sorted(own.distributions)], without)
    size = write_bundle(target, graph, needs, found, own.files, own.imports)
    if as_text:
        versions = {name: one.version for name, one in found.items()}
        about = {
            "file": str(target),
            "bytes": size,
            "distributions": versions,
            "models": sorted(needs.models),
        }
        click.echo(json.dumps(about, indent=2))
        return
    _tell_outside(needs.outside)
    parts = [plural(len(found), "distribution"), plural(len(needs.models), "model")]
    click.echo(f"written: {target} ({size / _MB:.1f} MB): {', '.join(parts)}")


def _tell_outside(outside: Iterable[str]) -> None:
    """Say which files and programs the graph needs that are not in the bundle."""
    lines = list(outside)
    for line in lines[:_TOLD]:
        say(line)
    if len(lines) > _TOLD:
        say(f"and {len(lines) - _TOLD} more: penstock show GRAPH --access")
