"""What a run did, drawn as text or SVG: streams are rows, packets are at their timestamps, bounds are bars.

::

    timestamp   0  10  20  30
    frames      1  2   .   4 |
    allow       T  .   F   T |
    allowed     1  .   .   4 |
    on_the_way  1 |

A dot is a timestamp that is settled and has no packet. A bar is a stream's bound when the
inputs have been fed: packets right of it may still come. It is `]` where the stream has ended by then.
Packets that a stream carries only after the inputs have closed are in brackets.

`picture` draws the same as SVG, from graph text and its inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from penstock import Packet
from penstock.config import build_plan
from penstock.errors import NotFoundError
from penstock.lowlevel import DONE, show
from penstock_testing.schedules import ScheduleHarness
from penstock_views.draw import Track, timeline_svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock import Registry
    from penstock.lowlevel import Plan

_LONGEST: Final = 12
#: A list of at most this many elements is written out; of a longer one the first few are.
_MOST: Final = 8
_FEW: Final = 3


@attrs.frozen
class Row:
    """One stream."""

    name: str
    #: (timestamp, payload), in order.
    packets: tuple[tuple[int, object], ...]
    #: How many of them it had when the inputs had been fed.
    before_end: int
    #: Its bound then; `DONE` where it had ended.
    bound: int


def record(
    plan: Plan,
    feed: Mapping[str, Iterable[tuple[int, object]]],
    side_packets: Mapping[str, object] | None = None,
    headers: Mapping[str, object] | None = None,
) -> list[Row]:
    """Run a plan on one thread and return a row for each of its streams, in the order of the plan.

    Packets are fed in the order of their timestamps, those of one timestamp in the order of the plan's
    graph inputs; after each, the run goes on until it is idle. So the same feed gives the same rows.

    Args:
        plan: whose calculators need neither event loop nor threads.
        feed: graph input → timestamps and payloads.
        side_packets: name → payload.
        headers: graph input → payload of its stream's header.

    Raises:
        GraphConfigError: side packets are missing or wrong.
        GraphRunError: the run failed.
        InternalError: it does not end, or a source has no end.
    """
    harness = ScheduleHarness(plan, side_packets=side_packets)
    harness.start(headers)
    harness.run()
    inputs = [stream.name for stream in plan.streams[: plan.graph_inputs]]
    events = [(t, i, payload) for i, name in enumerate(inputs) for t, payload in feed.get(name, ())]
    for t, i, payload in sorted(events, key=lambda event: event[:2]):
        if not harness.is_over:
            harness.add(inputs[i], payload, t)
            harness.run()
    names = [stream.name for stream in plan.streams]
    bounds = {name: _bound(harness, name) for name in names}
    before = {name: len(harness.carried(name)) for name in names}
    harness.finish()
    return [Row(name, tuple(harness.carried(name)), before[name], bounds[name]) for name in names]


def _bound(harness: ScheduleHarness, name: str) -> int:
    stream = harness.stream(name)
    return DONE if stream.is_closed else stream.bound


def tracks(rows: Iterable[Row]) -> list[Track]:
    """Return rows in the form that `penstock_views.draw.timeline_svg` draws."""
    return [Track(row.name, row.packets, row.bound, late=len(row.packets) - row.before_end) for row in rows]


def picture(  # noqa: PLR0913  # a run, and how it is shown
    graph: object,
    feed: Mapping[str, Iterable[tuple[int, object]]],
    side_packets: Mapping[str, object] | None = None,
    *,
    streams: Iterable[str] | None = None,
    registry: Registry | None = None,
    label: str = "",
    width: float = 900.0,
) -> str:
    """Run a graph on one thread, as `record` does, and return its timeline as an SVG document.

    The same graph and feed give the same SVG, byte for byte.

    Args:
        graph: what `CalculatorGraph` takes.
        feed: graph input → timestamps and payloads.
        side_packets: name → payload.
        streams: which to show, from above; None for all, in the order of the plan.
        registry: where names are looked up; None for what the installed plugins provide.
        label: what it is, for screen readers.
        width: in pixels, roughly; longer runs continue below.

    Raises:
        NotFoundError: there is no such stream.
        GraphParseError, GraphConfigError, GraphRunError, InternalError: as `CalculatorGraph` and `record`.
    """
    if registry is None:
        from penstock.packs import default_registry  # loads the plugins

        registry = default_registry()
    rows = {row.name: row for row in record(build_plan(graph, registry), feed, side_packets)}
    names = list(rows) if streams is None else list(streams)
    missing = next((name for name in names if name not in rows), None)
    if missing is not None:
        there = ", ".join(map(repr, rows))
        raise NotFoundError(f"the timeline has no stream {missing!r}; there are: {there}", stream=missing)
    return timeline_svg(tracks(rows[name] for name in names), label=label, width=width)


def draw(rows: Sequence[Row], columns: int = 100) -> str:
    """Return rows as text, see the module's docstring. Wider runs continue below, in blocks.

    A payload that is no number, str, bool, None or list of these has a mark, "#1", by its identity,
    which shows where it is forwarded.
    """
    stamps = sorted({t for row in rows for t, _ in row.packets})
    words = _Words()
    table = [["timestamp", *map(show, stamps)]]
    table += [[row.name, *(words.cell(row, t) for t in stamps)] for row in rows]
    bars = [_bar(row, stamps) for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(stamps) + 1)]
    blocks = []
    for part in _parts(widths, columns):
        lines = [_line(table[0], widths, part, None)]
        lines += [_line(line, widths, part, bar) for line, bar in zip(table[1:], bars, strict=True)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _parts(widths: Sequence[int], columns: int) -> Iterator[range]:
    """Yield the timestamps of each block, as positions in `widths`."""
    start, used = 1, widths[0] + 1
    for i in range(1, len(widths)):
        if i > start and used + widths[i] + 3 > columns:
            yield range(start, i)
            start, used = i, widths[0] + 1
        used += widths[i] + 3
    yield range(start, len(widths))


def _line(cells: Sequence[str], widths: Sequence[int], part: range, bar: tuple[int, str] | None) -> str:
    """Return one line of a block. A bar is in the gap before the timestamp with its position."""
    text = cells[0].ljust(widths[0]) + "  "
    for i in part:
        text += (bar[1] if bar is not None and bar[0] == i else " ") + cells[i].ljust(widths[i]) + " "
    if bar is not None and part and bar[0] == part[-1] + 1 == len(widths):
        text += bar[1]
    return text.rstrip()


def _bar(row: Row, stamps: Sequence[int]) -> tuple[int, str]:
    """Return the column that the bound is before, and its mark."""
    settled = sum(t < row.bound for t in stamps)
    return settled + 1, "]" if row.bound == DONE else "|"


class _Words:
    """Writes payloads, and remembers which marks it has given."""

    def __init__(self) -> None:
        self._marks: dict[int, str] = {}

    def cell(self, row: Row, t: int) -> str:
        """Return what a row has at a timestamp."""
        for position, (stamp, payload) in enumerate(row.packets):
            if stamp == t:
                words = self._words(payload)
                return words if position < row.before_end else f"({words})"
        return "." if t < row.bound else ""

    def _words(self, payload: object) -> str:
        if isinstance(payload, Packet):
            return self._words(payload.payload)
        if isinstance(payload, (list, tuple)):
            shown = payload if len(payload) <= _MOST else payload[:_FEW]
            inner = " ".join(map(self._words, shown)) + " …" * (len(shown) < len(payload))
            return f"[{inner}]" if isinstance(payload, list) else f"({inner})"
        # Marked by its address: rows keep their payloads alive, so that no other object has the same one.
        return _plain(payload) or self._marks.setdefault(id(payload), f"#{len(self._marks) + 1}")


def _plain(payload: object) -> str:
    """Return a value that is written as it is, or "" for one that gets a mark."""
    if isinstance(payload, bool):
        return "T" if payload else "F"
    if isinstance(payload, float):
        return f"{payload:.6g}"
    if isinstance(payload, (str, int, type(None))):
        return _short(str(payload)) or "''"
    return ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
