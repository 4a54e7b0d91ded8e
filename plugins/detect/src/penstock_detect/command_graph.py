"""The graph of `penstock detect`, and its results as lines of JSON."""

from __future__ import annotations

import json
import sys
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock import Packet
    from penstock_formats import Detection

#: Options of the command that are names of an enum.
_NAMES: Final = ("layout", "resize", "scores")
#: What the options take the place of in detect.pbtxt.
_OPTIONS: Final = 'model_path: "best.onnx"'
#: The graph of `--track`, and what the name of the algorithm takes the place of in it.
_TRACKED, _ALGORITHM = "track.pbtxt", "BYTE_TRACK"


def graph_text(options: Mapping[str, Any], tracker: str | None = None) -> str:
    """Return the graph for options of DetectorSubgraph; None is left out, `size` is width and height.

    Args:
        options: name → value.
        tracker: "byte-track" or "oc-sort", where objects are followed.
    """
    lines = []
    for name, value in options.items():
        if value is None or value == "":
            continue
        if name == "size":
            lines += [f"width: {value[0]}", f"height: {value[1]}"]
        elif name in _NAMES:
            lines.append(f"{name}: {value.upper().replace('-', '_')}")
        else:
            each = value if isinstance(value, tuple) else (value,)
            lines += [f"{name}: {written(one)}" for one in each]
    name = "detect.pbtxt" if tracker is None else _TRACKED
    file = resources.files("penstock_detect").joinpath(name).read_text(encoding="utf-8")
    if tracker is not None:
        file = file.replace(_ALGORITHM, tracker.upper().replace("-", "_"))
    return file.replace(_OPTIONS, "\n      ".join(lines))


def written(value: object) -> str:
    """Return a value as graph text has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"  # noqa: PLR2004  # ASCII's printable ones
        for byte in value.encode()
    )
    return f'"{plain}"'


def json_lines(*, is_tracked: bool = False) -> Callable[[Packet], None]:
    """Return what prints the detections of each packet as a line of JSON, and flushes it."""

    def write(packet: Packet) -> None:
        payload: Any = packet.payload
        found = [as_data(one, is_tracked=is_tracked) for one in payload]
        line = {"timestamp": int(packet.timestamp), "detections": found}
        sys.stdout.write(f"{json.dumps(line, separators=(',', ':'))}\n")
        sys.stdout.flush()

    return write


def as_data(detection: Detection, *, is_tracked: bool = False) -> dict[str, object]:
    """Return a detection of this pack as JSON has it: places in fractions of the image.

    Args:
        detection: with a relative box.
        is_tracked: whether its detection_id stands for an object, and not for the row of a mask.
    """
    location = detection.location_data
    box = location.relative_bounding_box
    edges = (box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height)
    made: dict[str, object] = {"id": detection.detection_id} if is_tracked else {}
    made |= {"label": detection.label[0]} if detection.label else {}
    made |= {
        "class": detection.label_id[0],
        "score": round(detection.score[0], 4),
        "box": [round(edge, 5) for edge in edges],
    }
    if location.relative_keypoints:
        made["keypoints"] = [
            [
                round(point.x, 5),
                round(point.y, 5),
                *([round(point.score, 4)] if point.HasField("score") else []),
            ]
            for point in location.relative_keypoints
        ]
    return made
