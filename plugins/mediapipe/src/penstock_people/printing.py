"""Results on stdout: a row for each hand, face or person of each frame, or a JSON object for each frame."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import Packet

_COLUMNS: Final = ("seconds", "number", "label", "score", "left", "top", "right", "bottom")


def json_lines(what: str) -> Callable[[Packet], None]:
    """Return what prints each packet of results as a line of JSON, and flushes it; `picture` is its file.

    Args:
        what: the key of the results, such as "hands".
    """

    def write(packet: Packet) -> None:
        picture = {"picture": packet.payload.picture} if hasattr(packet.payload, "picture") else {}
        line = {"timestamp": int(packet.timestamp), **picture, what: packet.payload}
        sys.stdout.write(f"{json.dumps(line, separators=(',', ':'))}\n")
        sys.stdout.flush()

    return write


def rows() -> Callable[[Packet], None]:
    """Return what prints each result as a row of columns with tabs between them, after a heading.

    The first column is the name of the picture, where pictures are read.
    """
    is_first = [True]

    def write(packet: Packet) -> None:
        results: Any = packet.payload
        picture = [results.picture] if hasattr(results, "picture") else []
        if is_first[0]:
            is_first[0] = False
            sys.stdout.write("\t".join([*(["picture"] if picture else []), *_COLUMNS]) + "\n")
        for number, result in enumerate(results):
            cells = [*picture, *_cells(int(packet.timestamp), number, result)]
            sys.stdout.write("\t".join(cells) + "\n")
        sys.stdout.flush()

    return write


def _cells(timestamp: int, number: int, result: dict[str, Any]) -> list[str]:
    xs, ys = ([point[i] for point in result["landmarks"]] for i in (0, 1))
    score = f"{result['score']:.3f}" if "score" in result else "-"
    sides = [f"{side:.4f}" for side in (min(xs), min(ys), max(xs), max(ys))]
    return [f"{timestamp / 1e6:.3f}", str(number), result.get("label", "-"), score, *sides]
