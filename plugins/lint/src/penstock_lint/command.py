"""`penstock lint`: finds traps in graph files."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import InvalidArgumentError, PenstockError
from penstock_lint.edit import edited
from penstock_lint.finding import examples
from penstock_lint.formats import FORMATS
from penstock_lint.lint import all_rules, chosen, lint_graph
from penstock_lint.measured import read_trace
from penstock_lint.settings import settings_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_lint.finding import Finding, Rule
    from penstock_lint.measured import Measured

#: Exit codes, beside 0: something was found; a graph cannot be loaded.
FOUND: Final = 1
INVALID: Final = 3
#: How often a file is mended before we give up: what is found after an edit may have one of its own.
_ROUNDS: Final = 10


def _codes(values: Sequence[str]) -> list[str]:
    return [code.strip() for value in values for code in value.split(",") if code.strip()]


def _explain(context: click.Context, parameter: click.Parameter, code: str | None) -> None:
    """Print what a rule is about, with both graphs, and exit."""
    if code is None:
        return
    rule = all_rules().get(code.upper())
    if rule is None:
        raise click.BadParameter(f"no rule is called {code!r}; see --list", context, parameter)
    click.echo(f"{rule.code} {rule.name}\n\n{rule.summary}\nWhat to do: {rule.cure}.")
    for heading, graph in zip(("With it:", "Without it:"), examples(rule), strict=True):
        if graph:
            click.echo(f"\n{heading}\n\n{_indented(graph)}")
    context.exit()


def _list(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Print all rules, a line each, and exit."""
    if is_wanted:
        for rule in all_rules().values():
            click.echo(f"{rule.code}  {rule.name:22}  {rule.summary}")
        context.exit()


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip().splitlines())


@click.command("lint")
@click.argument("graphs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="GRAPH...")
@click.option("--select", multiple=True, metavar="CODES", help="Only these rules: PS2, PS406 ...")
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option(
    "--measured",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="TRACE",
    help="A trace by `penstock run --trace`: it says which nodes are slow, and how long queues were.",
)
@click.option(
    "--fix", is_flag=True, help="Mend what can be mended safely in the files, and show what is left."
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="How to write the findings.  [default: text]"
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
def lint_command(  # noqa: PLR0913, PLR0917  # one for each option
    graphs: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    measured: Path | None,
    fix: bool,  # noqa: FBT001
    form: str | None,
) -> None:
    """Find traps in graph files: what loads and runs, but not as it was meant to.

    A comment above a node silences a rule there: # penstock: ignore[PS205] reason

    Defaults of --select, --ignore and --format are taken from [tool.penstock.lint] of pyproject.toml, in the
    current directory or above it.

    Exit status: 0 nothing found, 1 findings, 2 wrong usage, 3 a graph cannot be loaded.
    """
    try:
        settings = settings_at(Path())
        wanted = _codes(select) or _codes(settings.select)
        unwanted = [*_codes(ignore), *_codes(settings.ignore)]
        form = form or settings.format or "text"
        rules = chosen(all_rules(), wanted, unwanted) if wanted or unwanted else None
        shown = None if measured is None else read_trace(measured)
    except (InvalidArgumentError, OSError) as error:
        raise click.UsageError(str(error)) from error
    found: list[Finding] = []
    is_invalid, mended = False, 0
    for graph in graphs:
        try:
            if fix:
                mended += _mend(graph, rules, shown)
            found += lint_graph(graph, rules, measured=shown)
        except (PenstockError, OSError) as error:
            is_invalid = True
            click.echo(f"{graph}: the graph cannot be linted: {error}", err=True)
    _tell(found, form, None if is_invalid else len(graphs), mended)
    if is_invalid:
        sys.exit(INVALID)
    if found:
        sys.exit(FOUND)


def _mend(graph: Path, rules: Sequence[Rule] | None, measured: Measured | None) -> int:
    """Edit a file until nothing is left that can be mended safely; return how many findings that were.

    A graph that would not load any more stays as it is.
    """
    mended = 0
    for _ in range(_ROUNDS):
        findings = [one for one in lint_graph(graph, rules, measured=measured) if one.edit is not None]
        if not findings:
            break
        with graph.open(encoding="utf-8", newline="") as file:
            before = file.read()
        if "\r" in before:
            raise InvalidArgumentError("--fix needs lines that end with \\n only")
        _write(graph, edited(before, [one.edit for one in findings if one.edit is not None]))
        try:
            lint_graph(graph, rules, measured=measured)
        except PenstockError:
            _write(graph, before)
            raise
        mended += len(findings)
    return mended


def _write(file: Path, text: str) -> None:
    """Replace a file as a whole: whoever reads it finds the old text or the new one."""
    mode = file.stat().st_mode
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as new:
        new.write(text)
    try:
        Path(new.name).chmod(mode)
        Path(new.name).replace(file.resolve())
    except OSError:
        Path(new.name).unlink()
        raise


def _tell(found: list[Finding], form: str, files: int | None, mended: int) -> None:
    """Print the findings, and how many they are where all files could be read."""
    written = FORMATS[form](found)
    if written:
        click.echo(written)
    if form == "text" and files is not None:
        of_files = "1 file" if files == 1 else f"{files} files"
        findings = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        of_mended = f", {mended} mended" if mended else ""
        click.echo(f"{of_files}, {findings if found else 'nothing found'}{of_mended}", err=True)
