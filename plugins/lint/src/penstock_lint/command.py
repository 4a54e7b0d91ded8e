"""`penstock lint`: finds traps in graph files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import InvalidArgumentError, PenstockError
from penstock_lint.formats import FORMATS
from penstock_lint.lint import RULES, chosen, lint_graph

if TYPE_CHECKING:
    from penstock_lint.finding import Finding

#: Exit codes, beside 0: something was found; a graph cannot be loaded.
FOUND: Final = 1
INVALID: Final = 3


def _codes(values: tuple[str, ...]) -> list[str]:
    return [code.strip() for value in values for code in value.split(",") if code.strip()]


def _explain(context: click.Context, parameter: click.Parameter, code: str | None) -> None:
    """Print what a rule is about, with both graphs, and exit."""
    if code is None:
        return
    rule = RULES.get(code.upper())
    if rule is None:
        raise click.BadParameter(f"no rule is called {code!r}; see --list", context, parameter)
    click.echo(
        f"{rule.code} {rule.name}\n\n{rule.summary}\nWhat to do: {rule.cure}.\n\n"
        f"With it:\n\n{_indented(rule.bad)}\n\nWithout it:\n\n{_indented(rule.good)}"
    )
    context.exit()


def _list(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Print all rules, a line each, and exit."""
    if is_wanted:
        for rule in RULES.values():
            click.echo(f"{rule.code}  {rule.name:22}  {rule.summary}")
        context.exit()


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip().splitlines())


@click.command("lint")
@click.argument("graphs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="GRAPH...")
@click.option("--select", multiple=True, metavar="CODES", help="Only these rules: PS2, PS406 ...")
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
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
def lint_command(
    graphs: tuple[Path, ...], select: tuple[str, ...], ignore: tuple[str, ...], form: str
) -> None:
    """Find traps in graph files: what loads and runs, but not as it was meant to.

    A comment above a node silences a rule there: # penstock: ignore[PS205] reason

    Exit status: 0 nothing found, 1 findings, 2 wrong usage, 3 a graph cannot be loaded.
    """
    try:
        rules = chosen(_codes(select), _codes(ignore)) if select or ignore else None
    except InvalidArgumentError as error:
        raise click.UsageError(str(error)) from error
    found: list[Finding] = []
    is_invalid = False
    for graph in graphs:
        try:
            found += lint_graph(graph, rules)
        except PenstockError as error:
            is_invalid = True
            click.echo(f"{graph}: the graph cannot be loaded: {error}", err=True)
    _tell(found, form, None if is_invalid else len(graphs))
    if is_invalid:
        sys.exit(INVALID)
    if found:
        sys.exit(FOUND)


def _tell(found: list[Finding], form: str, files: int | None) -> None:
    """Print the findings, and how many they are where all files could be read."""
    written = FORMATS[form](found)
    if written:
        click.echo(written)
    if form == "text" and files is not None:
        of_files = "1 file" if files == 1 else f"{files} files"
        findings = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        click.echo(f"{of_files}, {findings if found else 'nothing found'}", err=True)
