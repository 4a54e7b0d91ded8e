"""The graph of `penstock detect`, which depends on the model."""

from __future__ import annotations

import sys
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.errors import PenstockError
from penstock_detect.detector_options import DetectorSubgraphOptions
from penstock_detect.detector_subgraph import told_of
from penstock_detect.outputs.layouts import WITH_MASKS, Layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock import Packet

#: Options of the command that are names of an enum.
_NAMES: Final = ("layout", "resize", "interpolation", "scores")
#: What the options take the place of in detect.pbtxt.
_OPTIONS: Final = 'model_path: "best.onnx"'
#: What the name of the algorithm takes the place of in track.pbtxt.
_ALGORITHM: Final = "BYTE_TRACK"
#: What the connections of key points stand behind.
_DOTS: Final = "show_keypoints: true"
#: Streams that are there where they are wanted: the masks to draw, and lines of JSON.
MASKS, LINES = "masks", "lines"
#: Key points of a person in COCO, and which of them lines join: arms, legs, the trunk, and the face.
_BODY_POINTS: Final = 17
_BODY: Final = (
    5, 7, 7, 9, 6, 8, 8, 10, 11, 13, 13, 15, 12, 14, 14, 16, 5, 6, 5, 11, 6, 12, 11, 12, 0, 1, 0, 2, 1, 3, 2,
    4, 3, 5, 4, 6,
)  # fmt: skip


class Making(NamedTuple):
    """What a model makes, as far as it changes the graph of the command."""

    is_classifier: bool = False
    has_masks: bool = False
    #: Pairs of numbers of key points, which lines join.
    connections: tuple[int, ...] = ()


def making_of(options: Mapping[str, Any]) -> Making:
    """Return what the model of some options of the command makes.

    A model that cannot be used is said to make boxes: the graph's own error tells what is wrong with it.
    """
    given = {name: options[name] for name in ("width", "height", "label", "labels_path") if options.get(name)}
    if options.get("size"):
        given["width"], given["height"] = options["size"]
    layout = (options.get("layout") or "auto").upper().replace("-", "_")
    try:
        told = told_of(DetectorSubgraphOptions(
            model_path=options["model_path"], layout=Layout[layout], **given
        ))  # fmt: skip
    except PenstockError:
        return Making()
    is_body = told.keypoints == _BODY_POINTS
    return Making(told.layout == Layout.CLASSES, told.layout in WITH_MASKS, _BODY if is_body else ())


def graph_text(
    options: Mapping[str, Any],
    tracker: str | None = None,
    making: Making = Making(),  # noqa: B008  # never changed
    *,
    as_lines: bool = False,
) -> str:
    """Return the graph for options of DetectorSubgraph; None is left out, `size` is width and height.

    Args:
        options: name → value.
        tracker: "byte-track" or "oc-sort", where objects are followed.
        making: what the model makes.
        as_lines: whether the stream LINES has what is found as lines of JSON.
    """
    text = _template(tracker, making).replace(_OPTIONS, "\n      ".join(_fields(options)))
    if tracker is not None:
        text = text.replace(_ALGORITHM, tracker.upper().replace("-", "_"))
    if making.has_masks:
        text = _with_masks(text, is_tracked=tracker is not None)
    if making.connections:
        pairs = " ".join(f"keypoint_connections: {one}" for one in making.connections)
        text = text.replace(_DOTS, f"{_DOTS} {pairs}", 1)
    return text + (_lines_node(making) if as_lines else "")


def _template(tracker: str | None, making: Making) -> str:
    name = "detect.pbtxt" if tracker is None else "track.pbtxt"
    if making.is_classifier:
        name = "classify.pbtxt"
    return resources.files("penstock_detect").joinpath(name).read_text(encoding="utf-8")


def _fields(options: Mapping[str, Any]) -> list[str]:
    """Return the options of DetectorSubgraph, a line for each."""
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
    return lines


def _with_masks(text: str, *, is_tracked: bool) -> str:
    """Return the graph with masks from the model to the drawing, through the tracker."""
    found = "DETECTIONS:detections" if is_tracked else "DETECTIONS:results"
    first = "found_masks" if is_tracked else MASKS
    text = _beside(text, f'output_stream: "{found}"', f'output_stream: "MASKS:{first}"')
    if is_tracked:
        text = _beside(text, f'input_stream: "{found}"', f'input_stream: "MASKS:{first}"')
        text = _beside(text, 'output_stream: "DETECTIONS:results"', f'output_stream: "MASKS:{MASKS}"')
    overlay = text.index('calculator: "DetectionOverlayCalculator"')
    head, tail = text[:overlay], text[overlay:]
    return head + _beside(tail, 'input_stream: "DETECTIONS:results"', f'input_stream: "MASKS:{MASKS}"')


def _beside(text: str, line: str, added: str) -> str:
    """Return the text with a line more behind the first one of its kind."""
    assert line in text  # both graphs are files of this package  # noqa: S101
    return text.replace(line, f"{line}\n  {added}", 1)


def _lines_node(making: Making) -> str:
    tag = "CLASSIFICATIONS" if making.is_classifier else "DETECTIONS"
    masks = f'  input_stream: "MASKS:{MASKS}"\n' if making.has_masks else ""
    return f"""
node {{
  calculator: "DetectionsToJsonCalculator"
  input_stream: "{tag}:results"
{masks}  output_stream: "JSON:{LINES}"
}}
output_stream: "{LINES}"
"""


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


def write_line(packet: Packet) -> None:
    """Print a packet of text as a line, and flush it."""
    payload: Any = packet.payload
    sys.stdout.write(f"{payload}\n")
    sys.stdout.flush()
