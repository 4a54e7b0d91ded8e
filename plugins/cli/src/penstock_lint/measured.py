"""What the trace of a run tells about a graph: `penstock lint --measured TRACE`."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Mean time of a call, in microseconds, from which a node is slow.
SLOW_US: Final = 1000.0
_QUEUE, _AT = "queue of ", " at "


@attrs.frozen
class Measured:
    """What a run has shown."""

    #: Nodes whose calls took a millisecond or more in the mean.
    slow: frozenset[str] = frozenset()
    #: Nodes that had a call with packets that wrote nothing, after one that wrote something.
    skips: frozenset[str] = frozenset()
    #: (stream, reader) → the most packets that lay in the queue.
    longest: Mapping[tuple[str, str], int] = attrs.field(factory=dict)


def read_measured(file: Path) -> Measured:
    """Return what a trace of `penstock run --trace` tells.

    Raises:
        OSError: the file cannot be read.
        InvalidArgumentError: it is no such trace.
    """
    try:
        events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
        return _measured(events)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        words = f"{file} is no trace of `penstock run --trace FILE`: {type(error).__name__}: {error}"
        raise InvalidArgumentError(words) from error


def _measured(events: list[dict[str, Any]]) -> Measured:
    times: defaultdict[str, list[float]] = defaultdict(list)
    wrote: set[str] = set()
    skips: set[str] = set()
    longest: defaultdict[tuple[str, str], int] = defaultdict(int)
    for event in events:
        if event["ph"] == "X" and event.get("cat") == "process":
            times[event["name"]].append(event["dur"])
            if "outputs" in event["args"]:
                wrote.add(event["name"])
            elif "inputs" in event["args"] and event["name"] in wrote:
                skips.add(event["name"])
        elif event["ph"] == "C" and event["name"].startswith(_QUEUE):
            stream, _, reader = event["name"].removeprefix(_QUEUE).partition(_AT)
            key = stream, reader
            longest[key] = max(longest[key], event["args"]["packets"])
    slow = frozenset(name for name, taken in times.items() if sum(taken) / len(taken) >= SLOW_US)
    return Measured(slow, frozenset(skips), dict(longest))
