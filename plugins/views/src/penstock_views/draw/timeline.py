"""What streams carried, as a drawing: streams are rows, times are columns, packets and bounds are marks.

A packet is a mark with its payload in a few words. A dot is a time that is settled and has no packet. A
bar is the stream's bound: up to it the row is a solid line, beyond it a dotted one, where packets may still
come. A thick end is a stream that has ended. Columns are as wide as their content: they show the order of
times, not their distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from penstock.error_text import shown
from penstock.lowlevel import DONE, show
from penstock_views.draw.markup import document, element, rules, shortened, text_width, title, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SIZE: Final = 11.0
_TIME_SIZE: Final = 10.0
_WIDEST_NAME: Final = 200.0
_WIDEST_MARK: Final = 110.0
_NARROWEST: Final = 44.0
_ROW: Final = 32.0
_MARK: Final = 20.0
_HEADER: Final = 24.0
_MARGIN: Final = 14.0
_GAP: Final = 14.0
_BLOCK_GAP: Final = 16.0
_LEGEND: Final = 26.0
_BAR: Final = 9.0
#: Room behind the last time, for the dotted line of packets that may still come.
_REST: Final = 30.0

_STYLE: Final = rules(
    fixed={
        ".pk-name": f"font-size: {_SIZE:g}px; font-weight: 600; text-anchor: end",
        ".pk-time, .pk-key": f"font-size: {_TIME_SIZE:g}px",
        ".pk-time, .pk-payload": "text-anchor: middle",
        ".pk-payload": f"font-size: {_SIZE:g}px",
        ".pk-row": "stroke-width: 1.4px",
        ".pk-open": "stroke-width: 1.4px; stroke-dasharray: 1 5; stroke-linecap: round",
        ".pk-bar": "stroke-width: 2px",
        ".pk-packet": "stroke-width: 1.2px",
        ".pk-late": "stroke-dasharray: 3 2",
        ".pk-grid": "stroke-width: 1px",
    },
    light={
        ".pk-name": "fill: #17212b",
        ".pk-time, .pk-key": "fill: #66737f",
        ".pk-payload": "fill: #17324f",
        ".pk-row": "stroke: #6b7a89",
        ".pk-open": "stroke: #a9b3bd",
        ".pk-bar": "stroke: #c4622d",
        ".pk-end": "fill: #6b7a89",
        ".pk-dot": "fill: #6b7a89",
        ".pk-packet": "fill: #dceafa; stroke: #4a78ad",
        ".pk-packet.pk-late": "fill: #ffffff; stroke: #4a78ad",
        ".pk-grid": "stroke: #eef1f4",
    },
    dark={
        ".pk-name": "fill: #eef3f8",
        ".pk-time, .pk-key": "fill: #9aa7b4",
        ".pk-payload": "fill: #dbe9f8",
        ".pk-row": "stroke: #8594a3",
        ".pk-open": "stroke: #55616d",
        ".pk-bar": "stroke: #e58a56",
        ".pk-end": "fill: #8594a3",
        ".pk-dot": "fill: #8594a3",
        ".pk-packet": "fill: #20364e; stroke: #6f9fd8",
        ".pk-packet.pk-late": "fill: #14181d; stroke: #6f9fd8",
        ".pk-grid": "stroke: #1f252c",
    },
)


@attrs.frozen
class Track:
    """One stream of a run."""

    #: The name of the stream.
    name: str
    #: (timestamp in microseconds, payload), in order.
    packets: tuple[tuple[int, object], ...]
    #: Its bound in the end; `Timestamp.DONE` where the stream has ended.
    bound: int
    #: Further timestamps that were settled without a packet, and reported so.
    settled: tuple[int, ...] = ()
    #: How many of the last packets came only when the inputs had closed; they are drawn hollow.
    late: int = 0


def timeline_svg(
    tracks: Sequence[Track], *, label: str = "", width: float = 900.0, legend: bool = True
) -> str:
    """Return an SVG document, in pixels, with light and dark colours. Equal tracks give equal text.

    Args:
        tracks: rows, from above.
        label: what it is, for screen readers.
        width: of the drawing, roughly; longer runs continue below, in blocks.
        legend: whether a line below says what the marks are.
    """
    return _Picture(tracks, width).document(label or "timeline of a run", legend=legend)


class _Picture:
    def __init__(self, tracks: Sequence[Track], width: float) -> None:
        self._tracks: Final = tracks
        self._width: Final = width
        self._payloads: Final = _Payloads()
        self._stamps: Final = sorted({t for track in tracks for t in _stamps(track)})
        cells = {(i, t): words_ for i, track in enumerate(tracks) for t, words_ in self._cells(track)}
        self._cell_words: Final = cells
        names = [shortened(track.name, _SIZE, _WIDEST_NAME, bold=True) for track in tracks]
        self._names: Final = names
        self._left: Final = _MARGIN + max((text_width(n, _SIZE, bold=True) for n in names), default=0) + _GAP
        self._widths: Final = [self._column(t) for t in self._stamps]
        self._blocks: Final = list(_blocks(self._widths, width - self._left - _REST - _MARGIN))

    def _cells(self, track: Track) -> Iterator[tuple[int, str]]:
        """Yield the words for each time of a track; packets of one time are side by side."""
        by_time: dict[int, list[str]] = {}
        for t, payload in track.packets:
            by_time.setdefault(t, []).append(self._payloads.words(payload))
        for t, several in by_time.items():
            yield t, shortened(" ".join(several), _SIZE, _WIDEST_MARK)

    def _column(self, t: int) -> float:
        cells = [self._cell_words[i, t] for i in range(len(self._tracks)) if (i, t) in self._cell_words]
        widest = max((text_width(cell, _SIZE) + 14 for cell in cells), default=0.0)
        return max(_NARROWEST, widest, text_width(show(t), _TIME_SIZE)) + 10

    # --- the drawing ------------------------------------------------------------------------------

    def document(self, label: str, *, legend: bool) -> str:
        content: list[str] = []
        top = _MARGIN
        right = 0.0
        for block in self._blocks:
            content += self._draw_block(block, top)
            right = max(right, self._left + sum(self._widths[i] for i in block) + _REST)
            top += _HEADER + _ROW * len(self._tracks) + _BLOCK_GAP
        if legend:
            joined = "".join(content)
            keys = [(kind, text) for kind, text in _KEYS.items() if f"pk-{kind}" in joined]
            widths = [_key_width(text) for _, text in keys]
            for line in _blocks(widths, self._width - 2 * _MARGIN):
                content += _legend(keys[line.start : line.stop], _MARGIN, top)
                right = max(right, _MARGIN + sum(widths[line.start : line.stop]))
                top += _LEGEND
        return document(right + _MARGIN, top - _BLOCK_GAP + _MARGIN, label, _STYLE, content)

    def _draw_block(self, block: range, top: float) -> Iterator[str]:
        bottom = top + _HEADER + _ROW * len(self._tracks)
        x = self._left
        centres = {}
        for i in block:
            centre = centres[i] = x + self._widths[i] / 2
            yield element("line", x1=centre, y1=top + _HEADER - 6, x2=centre, y2=bottom - 6, class_="pk-grid")
            yield words(show(self._stamps[i]), centre, top + _HEADER - 12, class_="pk-time")
            x += self._widths[i]
        for row, track in enumerate(self._tracks):
            y = top + _HEADER + _ROW * (row + 0.5) - 3
            yield element("g", "".join(self._draw_row(row, track, block, centres, y)), class_="pk-track")

    def _draw_row(
        self, row: int, track: Track, block: range, centres: dict[int, float], y: float
    ) -> Iterator[str]:
        yield title(track.name)
        yield words(self._names[row], self._left - _GAP, y + _SIZE * 0.35, class_="pk-name")
        yield from self._draw_line(track, block, y)
        settled = self._settled(track)
        packets = dict(track.packets)
        late = {t for t, _ in track.packets[len(track.packets) - track.late :]} if track.late else set()
        for i in block:
            t = self._stamps[i]
            if (row, t) in self._cell_words:
                yield _packet(self._cell_words[row, t], centres[i], y, packets[t], is_late=t in late)
            elif i < settled:
                yield element("circle", cx=centres[i], cy=y, r=2.4, class_="pk-dot")

    def _draw_line(self, track: Track, block: range, y: float) -> Iterator[str]:
        """Draw what is settled, what may still come, and the bound between the two."""
        settled = self._settled(track)
        edge = self._left + sum(self._widths[i] for i in block if i < settled)
        right = self._left + sum(self._widths[i] for i in block)
        if edge > self._left:
            yield element("line", x1=self._left, y1=y, x2=edge, y2=y, class_="pk-row")
        stands_here = block.start <= settled < block.stop or (
            settled == block.stop and block.stop == len(self._stamps)
        )
        if track.bound == DONE:
            if stands_here:
                yield element("rect", x=edge, y=y - _BAR, width=4, height=2 * _BAR, class_="pk-end")
            return
        if settled < block.stop or stands_here:
            yield element("line", x1=edge, y1=y, x2=right + _REST, y2=y, class_="pk-open")
        if stands_here:
            mark = element("line", x1=edge, y1=y - _BAR, x2=edge, y2=y + _BAR, class_="pk-bar")
            yield element("g", title(f"bound {show(track.bound)}") + mark)

    def _settled(self, track: Track) -> int:
        """Return how many of the times lie before a track's bound."""
        return sum(t < track.bound for t in self._stamps)


def _stamps(track: Track) -> Iterator[int]:
    yield from (t for t, _ in track.packets)
    yield from track.settled


def _blocks(widths: Sequence[float], room: float) -> Iterator[range]:
    """Yield the positions of columns that fit side by side; at least one block."""
    start, used = 0, 0.0
    for i, width in enumerate(widths):
        if i > start and used + width > room:
            yield range(start, i)
            start, used = i, 0.0
        used += width
    yield range(start, len(widths))


def _packet(text: str, x: float, y: float, payload: object, *, is_late: bool) -> str:
    width = max(_MARK, text_width(text, _SIZE) + 12)
    classes = f"pk-packet{' pk-late' if is_late else ''}"
    size = {"x": x - width / 2, "y": y - _MARK / 2, "width": width, "height": _MARK}
    parts = (
        title(shown(payload)),
        element("rect", rx=_MARK / 2, class_=classes, **size),
        words(text, x, y + _SIZE * 0.35, class_="pk-payload"),
    )
    return element("g", "".join(parts), class_="pk-mark")


class _Payloads:
    """Writes payloads. One that is no plain value has a number: the same one has the same everywhere."""

    def __init__(self) -> None:
        #: The payloads live as long as the tracks, so that no other object gets the address of one.
        self._numbers: dict[int, int] = {}

    def words(self, payload: object) -> str:
        """Return a payload in a word or two."""
        if payload is None or isinstance(payload, (bool, int, float, str, list, tuple, dict)):
            return shown(payload, 16).strip("'")
        name = type(payload).__name__
        return f"{name} #{self._numbers.setdefault(id(payload), len(self._numbers) + 1)}"


# --- the legend -----------------------------------------------------------------------------------

#: Last part of the class of a mark → what it means.
_KEYS: Final = {
    "packet": "packet",
    "dot": "settled, no packet",
    "bar": "bound: packets may come from here on",
    "end": "ended",
    "late": "came when the inputs closed",
}
_KEY: Final = 26.0


def _key_width(text: str) -> float:
    return _KEY + text_width(text, _TIME_SIZE) + _GAP


def _legend(keys: Sequence[tuple[str, str]], x: float, top: float) -> Iterator[str]:
    y = top + 6
    for kind, text in keys:
        yield from _key(kind, x, y)
        yield words(text, x + _KEY, y + _TIME_SIZE * 0.35, class_="pk-key")
        x += _key_width(text)


def _key(kind: str, x: float, y: float) -> Iterator[str]:
    middle = x + 10
    if kind in ("packet", "late"):
        classes = "pk-packet pk-late" if kind == "late" else "pk-packet"
        yield element("rect", x=x, y=y - 6, width=20, height=12, rx=6, class_=classes)
        return
    if kind != "end":
        yield element("line", x1=x, y1=y, x2=middle if kind == "bar" else x + 20, y2=y, class_="pk-row")
    else:
        yield element("line", x1=x, y1=y, x2=middle, y2=y, class_="pk-row")
        yield element("rect", x=middle, y=y - 6, width=4, height=12, class_="pk-end")
    if kind == "dot":
        yield element("circle", cx=middle, cy=y, r=2.4, class_="pk-dot")
    if kind == "bar":
        yield element("line", x1=middle, y1=y, x2=x + 20, y2=y, class_="pk-open")
        yield element("line", x1=middle, y1=y - 6, x2=middle, y2=y + 6, class_="pk-bar")
