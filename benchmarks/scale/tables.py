"""What was simulated, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scale.failing import LATE_S
from scale.keys import PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scale.outlook import Cell, Curve, Kind, Scale

_THOUSAND: Final = 1e3
_MILLION: Final = 1e6


def text_of(scale: Scale) -> str:
    """Return tables of what was simulated."""
    lines: list[str] = []
    for kind, curves in scale.curves.items():
        lines += [*_of_kind(scale, kind, curves), ""]
    lines += [*_of_interruptions(scale), ""]
    for notice_s in scale.losses:
        lines += [*_of_losses(scale, notice_s), ""]
    lines.append(f"Costs of actors: {scale.actors_from}.")
    return "\n".join(lines)


def _of_kind(scale: Scale, kind: Kind, curves: Sequence[Curve]) -> Iterator[str]:
    asked = scale.asked
    yield (
        f"1 to {max(asked.drivers):,} drivers simulated, each on a host of its own: {kind.name}, "
        f"{kind.layout.compute_us:g} us of Python an event, {asked.keys:,} keys on {PARTITIONS:,} partitions"
    )
    heads = [f"skew {curve.skew:g}" for curve in curves]

    def rows(cell_text: Callable[[Curve, Cell], str]) -> list[list[str]]:
        return [
            [f"{drivers:,}", *(cell_text(curve, curve.cells[row]) for curve in curves)]
            for row, drivers in enumerate(asked.drivers)
        ]

    first = rows(lambda curve, cell: f"{short(cell.capacity.rate)} {curve.full_first(cell)}")
    idle = ["each does less than half of one alone, from", *(_count(curve.half_idle()) for curve in curves)]
    enough = ["more bring less than a tenth, from", *(_count(curve.enough()) for curve in curves)]
    yield from _table([["drivers: events/s, what is full first", *heads], *first, idle, enough])
    yield ""
    waits = rows(lambda _, cell: f"{_ms(cell.waits.median)} / {_ms(cell.waits.p99)}")
    yield from _table([[f"drivers: ms from log to result at {asked.load:.0%}, median / p99", *heads], *waits])
    yield ""
    hottest = rows(lambda _, cell: f"x {cell.capacity.part * cell.drivers:.2f}")
    yield from _table([["drivers: load of the busiest one, x the mean", *heads], *hottest])


def _of_interruptions(scale: Scale) -> Iterator[str]:
    rows = [["one driver, in which dies", "longest wait", "caught up after", "events done again"]]
    for name, one in scale.interruptions.items():
        rows.append([name, f"{one.longest_s:.2f} s", f"{one.caught_up_s:.2f} s", f"{one.again}"])
    yield from _table(rows)


def _of_losses(scale: Scale, notice_s: float) -> Iterator[str]:
    asked = scale.asked
    yield (
        f"Hosts of drivers that die every {asked.mtbf_days:g} days, noticed after {notice_s:g} s "
        f"(session.timeout.ms), at a load of {asked.load:.0%}"
    )
    late = f"later than {LATE_S:g} s"
    rows = [["drivers", "deaths a day", late, "longest wait", "caught up after", "done again", "keeps up"]]
    for drivers, one in zip(asked.groups, scale.losses[notice_s], strict=True):
        rows.append(
            [
                f"{drivers:,}",
                f"{one.deaths_a_day:.3g}",
                f"{one.late:.3%}",
                f"{one.longest_s:.0f} s",
                f"{one.caught_up_s:.0f} s",
                f"{one.again:.4%}",
                "yes" if one.keeps_up else "no",
            ]
        )
    yield from _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *cells])


def short(rate: float) -> str:
    """Return a rate with three significant digits at most."""
    if rate >= _MILLION:
        return f"{rate / _MILLION:.3g} M"
    return f"{rate / _THOUSAND:.3g} k" if rate >= _THOUSAND else f"{rate:.0f}"


def _count(drivers: int | None) -> str:
    return "never" if drivers is None else f"{drivers:,} drivers"


def _ms(seconds: float) -> str:
    return f"{seconds * _THOUSAND:.1f}"
