"""The command `penstock lint`: its options and help. What it needs is imported when it runs."""

from __future__ import annotations

from pathlib import Path

import click

from penstock_cli.api import EXIT_CODES, debug_option, import_option, subgraph_option


def _explain(context: click.Context, parameter: click.Parameter, code: str | None) -> None:
    """Print what a rule is about, with both graphs, and exit."""
    if code is None:
        return
    from penstock_lint.lint import all_rules
    from penstock_lint.rule import examples  # on demand

    rule = all_rules().get(code.upper())
    if rule is None:
        raise click.BadParameter(f"no lint rule is called {code!r}; see --list", context, parameter)
    click.echo(f"{rule.code} {rule.name}\n\n{rule.summary}\nWhat to do: {rule.cure}.")
    for heading, graph in zip(("With it:", "Without it:"), examples(rule), strict=True):
        if graph:
            shown = "\n".join(f"    {line}".rstrip() for line in graph.strip().splitlines())
            click.echo(f"\n{heading}\n\n{shown}")
    context.exit()


def _list(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Print all rules, a line each, and exit."""
    if is_wanted:
        from penstock_lint.lint import all_rules  # on demand

        for rule in all_rules().values():
            click.echo(f"{rule.code}  {rule.name:22}  {rule.summary}")
        context.exit()


@click.command("lint", short_help="Find traps in graph files that can run.", epilog=EXIT_CODES)
@click.argument("graphs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="GRAPH...")
@click.option("--select", multiple=True, metavar="CODES", help="Only these rules: PS2,PS406.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option(
    "--measured",
    type=click.Path(path_type=Path),
    metavar="TRACE",
    help="A trace by `penstock run --trace`: it says which nodes are slow, and how long queues were.",
)
@click.option(
    "--fix", is_flag=True, help="Mend in the files what can be mended safely, and show what is left."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    help="How to write the findings.  [default: text]",
)
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Say what a rule is about, with a graph that has the trap, and exit.",
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list,
    help="List the rules, and exit.",
)
@import_option
@subgraph_option
@debug_option
def lint_command(  # noqa: PLR0913, PLR0917  # one for each option
    graphs: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    measured: Path | None,
    fix: bool,  # noqa: FBT001
    form: str | None,
) -> None:
    """Find traps in graph files: graphs that load and run, but not as they were meant to.

    Each finding says where it is, what will happen, and what to do. A comment above a node silences a rule
    there, with the reason: # penstock: ignore[PS205] the file stands for a camera

    Defaults of --select, --ignore and --format are taken from [tool.penstock.lint] of the first
    pyproject.toml that has it, in the current directory or above. Exit code 1: something was found.

    \b
    Examples:
      penstock lint graph.pbtxt
      penstock lint --explain PS103
      penstock lint graphs/*.pbtxt --select PS1,PS2 --format github
      penstock run graph.pbtxt --trace trace.json && penstock lint graph.pbtxt --measured trace.json
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_lint.files import lint_files  # on demand

    found = lint_files(graphs, select, ignore, measured=measured, fix=fix, form=form)
    if found:
        click.get_current_context().exit(1)
