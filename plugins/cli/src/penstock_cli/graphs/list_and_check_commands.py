"""The commands that run no graph: list, validate, doctor, completion. `main` adds them."""

from __future__ import annotations

from typing import Final, NoReturn

import click

from penstock_cli.access_options import access_options
from penstock_cli.completion import SHELLS, complete_pack, script, shell_in_use
from penstock_cli.exit_codes import EXIT_CODES
from penstock_cli.options import IMPORTED, debug_option, import_option, json_option, subgraph_option
from penstock_cli.saying import say

#: As the registry has them, with "-" for blanks.
_KINDS: Final = (
    "calculator",
    "input-stream-handler",
    "output-stream-handler",
    "executor",
    "tracer",
    "subgraph",
    "service",
    "graph-reader",
    "layer",
    "codec",
    "adapter",
)


@click.command(
    "list", short_help="List the calculators, policies and executors that graphs can name.", epilog=EXIT_CODES
)
@click.argument("words", metavar="[WORD] | --missing GRAPH...", nargs=-1)
@click.option(
    "--kind", "kinds", type=click.Choice(_KINDS), multiple=True, help="Only of this kind; may be repeated."
)
@click.option(
    "--pack", metavar="NAME", shell_complete=complete_pack, help="Only of this plugin or distribution."
)
@click.option("--long", "in_full", is_flag=True, help="Add a sentence on each; this imports them.")
@click.option(
    "--missing",
    "for_graphs",
    is_flag=True,
    help="List the calculators of graph files that no installed pack has, and the official pack of each.",
)
@json_option("a JSON list of objects")
@import_option
@subgraph_option
@debug_option
@click.pass_context
def list_command(  # noqa: PLR0913, PLR0917  # an argument for each option
    ctx: click.Context,
    words: tuple[str, ...],
    kinds: tuple[str, ...],
    pack: str | None,
    in_full: bool,  # noqa: FBT001  # click's
    for_graphs: bool,  # noqa: FBT001
    as_text: bool,  # noqa: FBT001
) -> None:
    """List calculators, input stream handlers, executors and subgraphs, and who provides them.

    WORD is a part of the name, in upper or lower case. Only --long imports components. On a terminal
    names are printed in columns; in a pipe one per line, with distribution and kind. Names that are
    missing because a plugin is broken, blocked or not installed are reported on stderr.

    With --missing each GRAPH is a .pbtxt, .textproto, .binarypb, .pb or .json file, or - for graph text
    from standard input. A line for each node whose calculator or subgraph is not installed says where it is
    and what to install, and the command exits with 1 if there is one. A graph that another of the files
    defines, by its type, is there.

    \b
    Examples:
      penstock list
      penstock list image --long
      penstock list --kind executor --kind input-stream-handler
      penstock list --pack video --json
      penstock list --import ./gate.py gate
      penstock list --missing one.pbtxt two.binarypb
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    if for_graphs:
        _list_missing(ctx, words, as_text=as_text, others=bool(kinds or pack or in_full))
    if len(words) > 1:
        raise click.UsageError(
            f"penstock list: {len(words)} words are given, but names are listed by one; or add --missing"
        )
    from penstock.plugins.default_registry import default_registry  # loads the plugins
    from penstock_cli.graphs import components  # on demand

    word = words[0] if words else None
    registry = default_registry()
    wanted = [components.KIND_OF[kind] for kind in kinds]
    there = components.components(registry, ctx.meta.get(IMPORTED, {}))
    found = components.chosen(there, registry, word, wanted, pack)
    if in_full:
        found = components.described(found, registry)
    if as_text:
        click.echo(components.as_json(found))
        return
    components.print_components(found)
    if pack is None and not kinds:
        components.print_notes(registry, word)
    if word is not None and pack is None and components.is_pack(word, there):
        say(f"these are the names with {word!r} in them; all of the pack: penstock list --pack {word}")


def _list_missing(ctx: click.Context, graphs: tuple[str, ...], *, as_text: bool, others: bool) -> NoReturn:
    """Print what graph files lack, and end the command."""
    if others:
        raise click.UsageError(
            "penstock list --missing is for the names of graph files; leave out --kind, --pack and --long"
        )
    if not graphs:
        raise click.UsageError("penstock list --missing needs a graph file; name one or more")
    from penstock.plugins.default_registry import default_registry  # loads the plugins
    from penstock_cli.graphs import checking, missing  # on demand

    if graphs.count(checking.STDIN) > 1:
        raise click.UsageError("penstock list can read standard input once; give - once")
    registry = default_registry()
    looked = missing.look(graphs, registry)
    found = missing.missing(looked, registry)
    missing.print_errors(looked)
    if as_text:
        click.echo(missing.as_json(found))
    else:
        missing.print_missing(looked, found)
    ctx.exit(missing.exit_code(looked, found))


@click.command(
    "validate", short_help="Check that graph files can run, without running them.", epilog=EXIT_CODES
)
@click.argument("graphs", metavar="GRAPH...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--side",
    "sides",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="A side packet that a run would get; may be repeated. With at least one, missing and "
    "misspelt ones are faults, and the type of each VALUE is checked.",
)
@json_option("a JSON list of objects, one for each file")
@import_option
@subgraph_option
@access_options(writes=False)
@debug_option
@click.pass_context
def validate_command(
    ctx: click.Context,
    graphs: tuple[str, ...],
    sides: tuple[str, ...],
    as_text: bool,  # noqa: FBT001  # click's
) -> None:
    """Check graph files: report every fault with file, line and column, and what to do about it.

    GRAPH is a .pbtxt, .textproto, .binarypb, .pb or .json file, or - for graph text from standard
    input. The calculators that it names are imported and their contracts are read; nothing is run. So options
    have the right names and types, and values that calculators refuse at load are refused; what a policy,
    an executor or a calculator checks when a run begins is not. A warning is no fault: the graph can run, and
    the exit code is 0. `penstock lint` looks for traps in graphs that can run.

    \b
    Examples:
      penstock validate graph.pbtxt
      penstock validate one.pbtxt two.pbtxt --json
      penstock validate graph.pbtxt --side input_video --side threshold=0.5
      penstock validate graph.pbtxt --import ./gate.py
    """  # noqa: D301
    from penstock_cli.graphs import checking  # on demand
    from penstock_cli.runs.side_values import read_given

    if graphs.count(checking.STDIN) > 1:
        raise click.UsageError("penstock validate can read standard input once; give - once")
    given = read_given(sides)
    verdicts = [checking.check(graph, given) for graph in graphs]
    if as_text:
        click.echo(checking.as_json(verdicts))
    else:
        checking.print_verdicts(verdicts)
    ctx.exit(checking.exit_code(verdicts))


@click.command("doctor", short_help="Check the installation.", epilog=EXIT_CODES)
@json_option("a JSON object instead of a page")
@debug_option
@click.pass_context
def doctor_command(ctx: click.Context, as_text: bool) -> None:  # noqa: FBT001  # click's
    """Check Python, this machine, the installed distributions and the plugins, and report problems.

    Versions are those that pip shows. Plugins may add checks, such as of libraries and devices. Exits
    with 1 if a check failed.

    \b
    Examples:
      penstock doctor
      penstock doctor --json
    """  # noqa: D301
    from penstock.plugins.default_registry import default_plugin_host, default_registry  # loads the plugins
    from penstock_cli.machine import doctor  # on demand
    from penstock_cli.machine.health import areas

    found = list(areas(default_plugin_host(), default_registry()))
    if as_text:
        click.echo(doctor.as_json(found))
    else:
        doctor.print_areas(found)
    ctx.exit(0 if doctor.are_well(found) else 1)


@click.command("completion", short_help="Print the script for completion in a shell.", epilog=EXIT_CODES)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@debug_option
@click.pass_context
def completion_command(ctx: click.Context, shell: str | None) -> None:
    """Print a script that lets a shell complete commands, options, and names of components.

    SHELL is the session's shell if not given. Put the line into the shell's start file.

    \b
    Examples:
      eval "$(penstock completion bash)"                                  (~/.bashrc)
      eval "$(penstock completion zsh)"                                   (~/.zshrc)
      penstock completion fish > ~/.config/fish/completions/penstock.fish
    """  # noqa: D301
    click.echo(script(shell or shell_in_use(), ctx.find_root().command))


#: In the order of the help page.
COMMANDS: Final = (list_command, validate_command, doctor_command, completion_command)
