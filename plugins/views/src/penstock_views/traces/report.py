"""A report of a run as one HTML page that needs nothing else: no script, no network, no other file."""

from __future__ import annotations

import math
from collections import defaultdict
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import PenstockError, UnavailableError
from penstock_views.draw.reading import drawing
from penstock_views.draw.svg import svg
from penstock_views.traces.critical_paths import paths_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock_views.traces.critical_paths import Leg, Path
    from penstock_views.traces.reading import ReadRun, ReadTrace

_PARTS: Final = (
    ("work", "work", "work_us"),
    ("own queue", "own", "own_queue_us"),
    ("thread", "thread", "thread_us"),
    ("other input", "other", "other_input_us"),
)


def report(trace: ReadTrace, title: str) -> str:
    """Return the page.

    Args:
        trace: of `read_trace`. With what `penstock run --trace` adds, the page has the picture of the graph,
            the error of the run, and what nodes still waited for at its end.
        title: of the page, such as the name of the file.
    """
    about = trace.about
    parts = [f"<h1>{escape(title)}</h1>"]
    lost = about.get("lost_records", 0)
    if lost:
        parts.append(
            f"<p class=bad>{lost:,} older records were dropped: the page shows the end of the run only.</p>"
        )
    if about.get("error"):
        parts.append(f"<h2>Error</h2><pre class=bad>{escape(str(about['error']))}</pre>")
    for run in trace.runs:
        parts += [f"<h2>{escape(run.name)}</h2>", *_run(run, about if len(trace.runs) == 1 else {})]
    if about.get("why"):
        parts.append(f"<h2>How it ended</h2><pre>{escape(str(about['why']))}</pre>")
    body = "\n".join(parts)
    style = (files("penstock_views") / "traces" / "report.css").read_text(encoding="utf-8")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n<meta '
        'name="viewport" content="width=device-width">\n<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<style>\n{style}</style></head><body>\n{body}\n</body></html>\n"
    )


def _run(run: ReadRun, about: Any) -> Iterable[str]:
    nodes = _nodes(run)
    whole = sum(node.busy_us for node in nodes)
    yield (
        f"<p>{_time(run.ended_us)} in all; {sum(node.calls for node in nodes):,} calls took {_time(whole)}, "
        f"{whole / max(run.ended_us, 1e-9):.1f} at once in the mean.</p>"
    )
    if about.get("graph"):
        yield f"<div class=picture>{_picture(str(about['graph']), run, nodes)}</div>"
    paths = paths_of(run)
    if paths:
        keys = "".join(f"<span class={kind}></span>{name}" for name, kind, _ in _PARTS)
        yield f"<h2>From sources to ends</h2><p class=key>{keys}</p>"
        for path in paths:
            yield from _path(path)
    yield "<h2>Nodes</h2>"
    yield _table(
        ("node", "calls", "time", "mean", "p99", "worst", "of the run"),
        (
            (
                node.name,
                f"{node.calls:,}",
                *map(_time, (node.busy_us, node.busy_us / node.calls, node.p99_us, node.worst_us)),
                f"{node.busy_us / max(run.ended_us, 1e-9):.0%}",
            )
            for node in sorted(nodes, key=lambda node: -node.busy_us)
        ),
    )
    if run.longest:
        yield "<h2>Queues</h2>"
        throttled = {key: sum(end - begin for begin, end in spans) for key, spans in run.queues.items()}
        yield _table(
            ("stream", "read by", "most packets", "sources were throttled for"),
            (
                (stream, reader, f"{most:,}", _time(throttled.get((stream, reader), 0.0)))
                for (stream, reader), most in sorted(run.longest.items(), key=lambda one: (-one[1], one[0]))
            ),
            numbers_from=2,
        )
    if run.dropped:
        yield "<h2>Dropped packets</h2>"
        yield _table(
            ("stream", "at", "why", "packets"),
            (
                (stream, node, reason, f"{count:,}")
                for (stream, node, reason), count in sorted(run.dropped.items(), key=lambda one: -one[1])
            ),
            numbers_from=3,
        )


# --- nodes ----------------------------------------------------------------------------------------


@attrs.frozen
class _Node:
    """The calls of `process` of a node, in microseconds."""

    name: str
    calls: int
    busy_us: float
    p99_us: float
    worst_us: float


def _nodes(run: ReadRun) -> list[_Node]:
    times: defaultdict[str, list[float]] = defaultdict(list)
    for step in run.steps:
        if step.method == "process":
            times[step.node].append(step.ended_us - step.began_us)
    found = []
    for name, taken in times.items():
        taken.sort()
        p99 = taken[math.ceil(len(taken) * 0.99) - 1]
        found.append(_Node(name, len(taken), sum(taken), p99, taken[-1]))
    return found


def _picture(graph: str, run: ReadRun, nodes: Sequence[_Node]) -> str:
    """Return the drawing of a graph with times and queues in its boxes; words where it cannot be drawn."""
    by_name = {node.name: node for node in nodes}
    notes: defaultdict[str, list[str]] = defaultdict(list)
    for name, node in by_name.items():
        share = node.busy_us / max(run.ended_us, 1e-9)
        notes[name].append(f"{node.calls:,} x {_time(node.busy_us / node.calls)}, {share:.0%}")
    for (stream, reader), most in run.longest.items():
        if most > 1:
            notes[reader].append(f"{most:,} packets of {stream} waited")
    for (stream, name, _), count in run.dropped.items():
        notes[name].append(f"{count:,} packets of {stream} dropped")
    try:
        plain = drawing(graph)
        drawn = attrs.evolve(
            plain,
            nodes=tuple(attrs.evolve(node, notes=tuple(notes.get(node.name, ()))) for node in plain.nodes),
        )
        return svg(drawn)
    except UnavailableError as error:
        return f"<p>There is no picture: {escape(str(error))}</p>"
    except PenstockError as error:
        return f"<p>The graph cannot be drawn: {escape(str(error))}</p>"


# --- paths ----------------------------------------------------------------------------------------


def _path(path: Path) -> Iterable[str]:
    yield (
        f"<h3>{escape(path.source)} to {escape(path.end)}: {len(path.journeys):,} packets, median "
        f"{_time(path.median.latency_us)}, p99 {_time(path.p99.latency_us)}, worst "
        f"{_time(path.worst.latency_us)}</h3>"
    )
    for heading, legs in (("mean", path.mean_legs()), (f"worst, at {path.worst.timestamp}", path.worst.legs)):
        yield f"{heading}<div class=bar>{_bar(legs)}</div>"
        yield _table(
            ("node", *(name for name, _, _ in _PARTS), "in all"),
            (
                (leg.node, *(_time(getattr(leg, of)) for _, _, of in _PARTS), _time(leg.total_us))
                for leg in legs
            ),
        )


def _bar(legs: Sequence[Leg]) -> str:
    whole = sum(leg.total_us for leg in legs) or 1.0
    parts = []
    for leg in legs:
        for name, kind, of in (*_PARTS[1:], _PARTS[0]):  # the waits come before the work
            share = getattr(leg, of) / whole
            if share > 0:
                title = escape(f"{leg.node}, {name}: {_time(getattr(leg, of))}", quote=True)
                parts.append(f'<span class={kind} style="width:{share:.3%}" title="{title}"></span>')
    return "".join(parts)


# --- markup ---------------------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers_from: int = 1) -> str:
    """Return a table whose columns from `numbers_from` on are aligned as numbers."""

    def line(cell: str, values: Sequence[str]) -> str:
        cells = (
            f"<{cell}{' class=n' if i >= numbers_from else ''}>{escape(value)}</{cell}>"
            for i, value in enumerate(values)
        )
        return f"<tr>{''.join(cells)}</tr>"

    return "\n".join(["<table>", line("th", heads), *(line("td", row) for row in rows), "</table>"])


def _time(us: float) -> str:
    """Return a time in three digits."""
    if us <= 0:
        return "0"
    for limit, unit, digits in ((1e6, 1e6, 2), (1e5, 1e3, 0), (1e4, 1e3, 1), (1e3, 1e3, 2), (0, 1.0, 1)):
        if us >= limit:
            return f"{us / unit:.{digits}f} {({1e6: 's', 1e3: 'ms', 1.0: 'us'})[unit]}"
    return f"{us:.1f} us"
