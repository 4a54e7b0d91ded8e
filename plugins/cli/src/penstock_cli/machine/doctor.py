"""`penstock doctor`: prints the checks of `health` as a page or as JSON."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import TYPE_CHECKING, Final

import attrs
import click

from penstock_cli.machine.environment import in_this_environment
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock import DoctorCheck

#: Wider lines are hard to read.
_WIDEST: Final = 120
#: Where the text of a check begins: after "  ok  ".
_MARGIN: Final = 6


def are_well(areas: Iterable[tuple[str, list[DoctorCheck]]]) -> bool:
    """Return whether every check passed."""
    return all(check.is_well for _, checks in areas for check in checks)


def as_json(areas: Iterable[tuple[str, list[DoctorCheck]]]) -> str:
    """Return an object: `is_well`, and `checks`, each with its area and the fields of `DoctorCheck`."""
    areas = list(areas)
    checks = [{"area": area, **attrs.asdict(_here(check))} for area, checks in areas for check in checks]
    return json.dumps({"is_well": are_well(areas), "checks": checks}, indent=2)


def print_areas(areas: Iterable[tuple[str, list[DoctorCheck]]]) -> None:
    """Print a page: a line or two for each check, and the cure for each one that failed."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    count = bad = 0
    for area, checks in areas:
        click.secho(area, bold=True, fg="cyan")
        column = max((len(check.what) for check in checks), default=0)
        for check in checks:
            for line in _lines(_here(check), column, width):
                click.echo(line)
        count += len(checks)
        bad += sum(not check.is_well for check in checks)
        click.echo()
    click.echo(f"{bad} of {plural(count, 'check')} failed" if bad else f"all checks passed ({count})")


def _here(check: DoctorCheck) -> DoctorCheck:
    """Return a check whose commands work in this environment."""
    return attrs.evolve(check, detail=in_this_environment(check.detail), cure=in_this_environment(check.cure))


def _lines(check: DoctorCheck, column: int, width: int) -> Iterator[str]:
    """Yield the lines of a check; details and cure begin `column` characters after its name begins."""
    mark = click.style("ok", fg="green") if check.is_well else click.style("!!", fg="red", bold=True)
    details = _wrapped(check.detail, column, width) or [""]
    yield f"  {mark}  {check.what:{column}}  {details[0]}".rstrip()
    indent = " " * (_MARGIN + column + 2)
    yield from (f"{indent}{line}" for line in details[1:])
    if check.cure and not check.is_well:
        cure = _wrapped(f"do: {check.cure}", column, width)
        yield from (click.style(f"{indent}{line}", fg="yellow") for line in cure)


def _wrapped(text: str, column: int, width: int) -> list[str]:
    """Return lines that fit beside a column; paths and other long words are not broken."""
    left = max(width - _MARGIN - column - 2, 20)
    return textwrap.wrap(text, left, break_long_words=False, break_on_hyphens=False)
