"""A reading as tables for a terminal, or for a page of text. For `top`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text  # names are not markup

from penstock_cli.wording import amount, clock, duration, plural, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from rich.console import RenderableType

    from penstock_monitor import LatencyReading, NodeReading, Reading, StallReading, StreamReading

    T = TypeVar("T")

#: Rows of each table where the height is not limited.
_ROWS: Final = 40
#: Below so many columns the tables lack what takes most room.
_NARROW: Final = 90
#: Lines of the story of a stall, at most.
_STORY: Final = 12
#: Lines that are no rows: the title, five of each table, and the one where the cursor is.
_FIXED_LINES: Final = 12
_LEAST_ROWS: Final = 3
_BLAMED: Final = "bold red"
_FULL: Final = "yellow"
_DIM: Final = "dim"


def tables(reading: Reading, title: str, width: int, height: int | None = None) -> RenderableType:
    """Return the tables of a reading.

    Args:
        reading: what is shown.
        title: of which graph.
        width: columns of the terminal or page.
        height: lines of the terminal, which the tables do not exceed if they can; None for no limit.
    """
    extra = [*_latencies(reading.latencies), *_stall(reading.stall), *_errors(reading.errors)]
    rows = _ROWS if height is None else max(_LEAST_ROWS, (height - _FIXED_LINES - len(extra)) // 2)
    return Group(
        _headline(reading, title),
        *_nodes(reading, width, rows),
        *_streams(reading, width, rows),
        *extra,
    )


def _headline(reading: Reading, title: str) -> Text:
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(title, style="bold")
    line.append(f"  {reading.state}  {clock(reading.elapsed_s)}")
    packets = sum(stream.packets for stream in reading.streams)
    dropped = sum(stream.dropped for stream in reading.streams)
    line.append(f"  {plural(packets, 'packet')}, {dropped:,} dropped")
    if reading.throttled:
        line.append(f"  throttled: {', '.join(reading.throttled)}", style=_FULL)
    return line


# --- nodes ------------------------------------------------------------------------------------


def _nodes(reading: Reading, width: int, rows: int) -> list[RenderableType]:
    blamed = {one.node for one in reading.stall.culprits} if reading.stall is not None else set()
    shown = _chosen(
        reading.nodes, rows, lambda node: (node.name in blamed, bool(node.running), node.steps_per_s)
    )
    rows_of = []
    for node in shown:
        style = _BLAMED if node.name in blamed else "" if node.running or node.steps_per_s else _DIM
        cells = (
            node.name,
            rate(node.steps_per_s),
            f"{node.steps:,}",
            "-" if node.busy is None else f"{node.busy:.0%}",
            f"{node.running}+{node.ready}" if node.ready else str(node.running or "-"),
            _now(node),
        )
        rows_of.append((cells, style))
    table = _table(("node", "steps/s", "steps", "busy", "calls", "now"), rows_of, width)
    return [table, *_left_out(len(reading.nodes) - len(shown), "node")]


def _now(node: NodeReading) -> str:
    """Return what a node does or waits for, and where it works."""
    words = ""
    if node.lost_s is not None:
        words = f"has lost its source for {duration(node.lost_s)}"
    elif node.running:
        words = f"runs for {duration(node.running_s)}" if node.running_s >= 1 else "runs"
    elif node.ready:
        words = "waits for a thread"
    elif node.state != "opened":
        words = node.state
    elif node.waits_for:
        words = f"waits for {node.waits_for}"
    where = node.place or (f"executor {node.executor}" if node.executor else "")
    return f"{words} ({where})" if where else words


# --- streams ----------------------------------------------------------------------------------


def _streams(reading: Reading, width: int, rows: int) -> list[RenderableType]:
    blamed = {one.stream for one in reading.stall.culprits} if reading.stall is not None else set()
    shown = _chosen(
        reading.streams, rows, lambda one: (one.name in blamed, _fullness(one), one.dropped, one.per_s)
    )
    rows_of = []
    for one in shown:
        is_full = one.limit is not None and one.queued >= one.limit
        style = _BLAMED if one.name in blamed else _FULL if is_full else "" if one.per_s else _DIM
        cells = (
            one.name,
            rate(one.per_s),
            f"{one.packets:,}",
            _queue(one),
            "-" if one.age_s is None else duration(one.age_s),
            _drops(one),
        )
        rows_of.append((cells, style))
    table = _table(("stream", "packets/s", "packets", "queue", "age", "dropped"), rows_of, width)
    return [table, *_left_out(len(reading.streams) - len(shown), "stream")]


def _queue(stream: StreamReading) -> str:
    if not stream.readers:
        return "-"
    limit = "" if stream.limit is None else f"/{stream.limit}"
    size = f" ({amount(stream.queued_bytes)})" if stream.queued else ""
    return f"{stream.queued}{limit}{size}"


def _drops(stream: StreamReading) -> str:
    return ", ".join(f"{count:,}: {reason}" for reason, count in stream.drops.items())


def _fullness(stream: StreamReading) -> float:
    return stream.queued / stream.limit if stream.limit else float(stream.queued)


# --- the rest ---------------------------------------------------------------------------------


def _latencies(latencies: Sequence[LatencyReading]) -> list[Text]:
    return [
        Text(
            f"latency to {one.stream!r}: median {_ms(one.median_ms)}, 99 of 100 below {_ms(one.p99_ms)}, "
            f"worst {_ms(one.worst_ms)} ({plural(one.count, 'sample')})",
            no_wrap=True,
            overflow="ellipsis",
        )
        for one in latencies
    ]


def _stall(stall: StallReading | None) -> list[Text]:
    if stall is None:
        return []
    lines = [Text(f"nothing has moved for {duration(stall.since_s)}", style="bold")]
    for one in stall.culprits:
        style = _BLAMED if one.node else ""
        lines.append(Text(f"  {one.words}", style=style))
    told = {one.words for one in stall.culprits}
    story = [line for line in stall.story.splitlines()[1:] if not any(line.endswith(words) for words in told)]
    lines += [Text(line, style=_DIM, no_wrap=True, overflow="ellipsis") for line in story[:_STORY]]
    if len(story) > _STORY:
        lines.append(Text(f"  ({plural(len(story) - _STORY, 'more line')})", style=_DIM))
    return lines


def _errors(errors: Sequence[str]) -> list[Text]:
    return [Text(f"error: {error}", style="red") for error in errors]


def _ms(milliseconds: float) -> str:
    return duration(milliseconds / 1e3)


def _table(headings: Sequence[str], rows: Sequence[tuple[Sequence[str], str]], width: int) -> Table:
    """Return a table: a name, numbers, and on a wide terminal words, which get the room that is left.

    Args:
        headings: of the columns.
        rows: the cells of each row, and its style.
        width: of the terminal.
    """
    is_wide = width >= _NARROW
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    last = len(headings) - 1
    used = 0
    for place, heading in enumerate(headings[: last + is_wide]):
        longest = max(len(heading), *(len(cells[place]) for cells, _ in rows)) if rows else len(heading)
        if place == last:
            longest = min(longest, max(width - used, len(heading)))
        elif not place:
            longest = min(longest, width // 3)
        used += longest + 3  # what is between two columns
        table.add_column(
            heading,
            justify="right" if 0 < place < last else "left",
            width=longest,
            no_wrap=True,
            overflow="ellipsis",
        )
    for cells, style in rows:
        table.add_row(*map(Text, cells[: last + is_wide]), style=style)
    return table


def _chosen(items: Sequence[T], rows: int, weight: Callable[[T], object]) -> Sequence[T]:
    """Return the items of most weight, in their order, as many as there are rows."""
    if len(items) <= rows:
        return items
    heaviest = {id(one) for one in sorted(items, key=weight, reverse=True)[:rows]}  # type: ignore[arg-type]  # tuples
    return [one for one in items if id(one) in heaviest]


def _left_out(count: int, noun: str) -> list[Text]:
    return [Text(f"{plural(count, 'more ' + noun)}", style=_DIM)] if count > 0 else []
