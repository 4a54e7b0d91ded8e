"""Lints files: what `penstock lint` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import InvalidArgumentError, PenstockError
from penstock_cli.api import (
    FileMissing,
    GraphInvalid,
    WrongUsage,
    existing_file,
    registry_with_subgraphs,
    rewrite_file,
)
from penstock_lint.edit import edited
from penstock_lint.formats import FORMATS
from penstock_lint.lint import all_rules, chosen, lint_graph
from penstock_lint.measured import read_measured
from penstock_lint.settings import settings_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Registry
    from penstock_lint.finding import Finding
    from penstock_lint.measured import Measured
    from penstock_lint.rule import Rule

#: How often a file is mended before we give up: what is found after an edit may have one of its own.
_ROUNDS: Final = 10


def lint_files(  # noqa: PLR0913  # one for each option
    graphs: Sequence[Path],
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    *,
    measured: Path | None = None,
    fix: bool = False,
    form: str | None = None,
) -> list[Finding]:
    """Lint files, print what is found, and return it.

    Args:
        graphs: graph files.
        select: codes of rules or beginnings of codes, with commas between them; empty for all rules.
        ignore: of rules that are left out, in the same form.
        measured: the trace of a run, or None.
        fix: whether to mend the files first, as far as that is safe.
        form: name of a format; None for that of the settings, or text.

    Raises:
        WrongUsage: a code, the settings, or the trace.
        FileMissing: a file cannot be read; the files before it are linted.
        GraphInvalid: at least one graph cannot be loaded; the others are linted, and their findings printed.
    """
    try:
        settings = settings_at(Path())
        wanted = _codes(select) or _codes(settings.select)
        unwanted = [*_codes(ignore), *_codes(settings.ignore)]
        rules = chosen(all_rules(), wanted, unwanted) if wanted or unwanted else None
        shown = None if measured is None else read_measured(existing_file(measured, "trace"))
    except InvalidArgumentError as error:
        raise WrongUsage(str(error)) from error
    found: list[Finding] = []
    invalid: list[str] = []
    mended = 0
    for graph in graphs:
        registry = registry_with_subgraphs(existing_file(graph, "graph file"))
        try:
            mended += mend(graph, rules, shown, registry) if fix else 0
            found += lint_graph(graph, rules, registry=registry, measured=shown)
        except PenstockError as error:
            invalid.append(str(error))
        except OSError as error:
            raise FileMissing(f"{graph}: {error}") from error
    _tell(found, form or settings.format or "text", len(graphs) - len(invalid), mended)
    if invalid:
        raise GraphInvalid("\n".join(invalid))
    return found


def _codes(values: Sequence[str]) -> list[str]:
    return [code.strip() for value in values for code in value.split(",") if code.strip()]


def mend(
    graph: Path, rules: Sequence[Rule] | None, measured: Measured | None, registry: Registry | None = None
) -> int:
    """Edit a file until nothing is left that can be mended safely; return how many findings that were.

    Raises:
        PenstockError: the graph cannot be loaded, or could not be with an edit; it stays as it was.
        InvalidArgumentError: its lines end with carriage returns too.
    """
    mended = 0
    for _ in range(_ROUNDS):
        findings = [
            one
            for one in lint_graph(graph, rules, registry=registry, measured=measured)
            if one.edit is not None
        ]
        if not findings:
            break
        with graph.open(encoding="utf-8", newline="") as file:
            before = file.read()
        if "\r" in before:
            raise InvalidArgumentError(f"{graph}: lint --fix mends only files whose lines end with \\n")
        rewrite_file(graph, edited(before, [one.edit for one in findings if one.edit is not None]))
        try:
            lint_graph(graph, rules, registry=registry, measured=measured)
        except PenstockError:
            rewrite_file(graph, before)
            raise
        mended += len(findings)
    return mended


def _tell(found: list[Finding], form: str, files: int, mended: int) -> None:
    """Print the findings on stdout; as text, their number on stderr."""
    written = FORMATS[form](found)
    if written:
        click.echo(written)
    if form == "text" and files:
        of_files = "1 file" if files == 1 else f"{files} files"
        findings = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        of_mended = f", {mended} mended" if mended else ""
        click.echo(f"{of_files}, {findings if found else 'nothing found'}{of_mended}", err=True)
