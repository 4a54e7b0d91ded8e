"""Make the pictures of the README and of the gallery, each from a real run: `docs/images/*.svg`.

    python scripts/pictures.py [NAME ...]

`overview` is the graph of the demo, one of its frames before and after, and its calls in a trace. Each other
picture is a file of `examples/`: its graph, frames that it made, and what its streams carried. The film of
`overview` is drawn here, those of the examples are drawn by the examples.

The pictures are SVG text with frames inside as JPEG data, and git holds them, so that a code host shows them
in a fresh clone. Where a run depends on time (`overview`, `keep_up`), so does its picture. `shader` needs
OpenGL, and layouts of graphs need `penstock-views[draw]`.
"""

from __future__ import annotations

import argparse
import base64
import functools
import runpy
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np
from members import ROOT
from panels import GAP, Panel, above, beside, captioned, picture
from street import street_with_car

import penstock
from penstock_formats import Detection, ImageFrame
from penstock_testing.traces import read_trace
from penstock_views import draw
from penstock_views.draw.markup import element, rules, text_width, words
from penstock_views.traces import ChromeTracer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock_testing.traces import Slice

IMAGES: Final = ROOT / "docs" / "images"
EXAMPLES: Final = ROOT / "examples"

#: The width of a page of the documentation, in pixels.
_PAGE: Final = 720.0


# --- the parts of a picture ---------------------------------------------------------------------------


def of_graph(graph: object) -> Panel:
    """Return a panel with the drawing of a graph: what `draw.drawing` takes."""
    return _inner("graph", draw.svg(draw.drawing(graph)))


def of_streams(tracks: Sequence[draw.Track]) -> Panel:
    """Return a panel with what streams carried, each payload in a word."""
    stamps = {time for one in tracks for time, _ in one.packets}
    short = [
        attrs.evolve(
            one,
            packets=tuple((time, _word(payload)) for time, payload in one.packets),
            settled=tuple(time for time in one.settled if time in stamps),
        )
        for one in tracks
    ]
    timeline = _inner("streams", draw.timeline_svg(short, width=_PAGE))
    return captioned(timeline, "the streams at each timestamp, in microseconds")


def _inner(kind: str, svg: str) -> Panel:
    """Return a drawing of `penstock_views` as a panel; `kind` keeps its styles apart from those of others."""
    head = svg[: svg.index(">")]
    width, height = (float(head.split(f' {side}="')[1].split('"')[0]) for side in ("width", "height"))
    scoped = svg.replace(".pk ", f".of-{kind} ").replace('class="pk"', f'class="of-{kind}"', 1)
    return Panel(width, height, scoped)


def _word(payload: object) -> object:
    """Return a payload in a word."""
    if isinstance(payload, ImageFrame):
        return "image"
    if isinstance(payload, Detection):
        return payload.label[0]
    if isinstance(payload, list):
        if all(isinstance(one, ImageFrame) for one in payload):
            return f"{len(payload)} image{'s' * (len(payload) != 1)}"
        return " ".join(str(_word(one)) for one in payload)
    return payload


def of_frame(frame: ImageFrame, width: float) -> Panel:
    """Return a panel with an image, `width` pixels wide."""
    pixels = frame.array[..., :3] if frame.array.ndim > 2 else np.dstack([frame.array] * 3)  # noqa: PLR2004  # grey
    height = round(width * pixels.shape[0] / pixels.shape[1])
    size = (round(width * 1.5), round(height * 1.5))  # for screens of high resolution
    way = cv2.INTER_AREA if size[0] < pixels.shape[1] else cv2.INTER_LINEAR
    small = cv2.resize(np.ascontiguousarray(pixels[..., ::-1]), size, interpolation=way)
    _, jpeg = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])
    data = "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode()
    image = element("image", width=width, height=height, href=data)
    outline = element("rect", x=0, y=0, width=width, height=height, class_="outline")
    return Panel(width, height, image + outline)


_COLOURS: Final = ("#4a78ad", "#c4622d", "#3f8f5f", "#7a5fb5", "#a08d2a", "#b5446e")
_STYLE: Final = rules(
    fixed={
        ".caption": "font-size: 12px; font-weight: 600",
        ".small": "font-size: 10.5px",
        ".row": "font-size: 11px; font-weight: 600; text-anchor: end",
        ".inside": "font-size: 10px; font-weight: 600; text-anchor: middle; fill: #ffffff",
        ".outline": "fill: none; stroke-width: 1px",
        ".grid": "stroke-width: 1px",
        **{f".frame-{i}": f"fill: {colour}" for i, colour in enumerate(_COLOURS)},
    },
    light={
        ".caption, .row": "fill: #17212b",
        ".small": "fill: #66737f",
        ".outline": "stroke: #b9c0c9",
        ".grid": "stroke: #e4e8ec",
    },
    dark={
        ".caption, .row": "fill: #eef3f8",
        ".small": "fill: #9aa7b4",
        ".outline": "stroke: #4a5663",
        ".grid": "stroke: #2a323b",
    },
)


@attrs.frozen
class Call:
    """A call of a node.

    Attributes:
        node: its name.
        frame: the number of the frame that it worked on.
        start, end: milliseconds.
    """

    node: str
    frame: int
    start: float
    end: float


def of_calls(calls: Sequence[Call], rows: Sequence[str], width: float) -> Panel:
    """Return a panel with calls as bars over time: a row for each node, a colour for each frame.

    Args:
        calls: what is drawn; the axis begins with the first and ends with the last of them.
        rows: names of nodes, from above.
        width: in pixels.
    """
    begin, end = min(call.start for call in calls), max(call.end for call in calls)
    left = max(text_width(name, 11, bold=True) for name in rows) + 12
    scale = (width - left) / (end - begin)
    height = 26.0 * len(rows) + 22
    parts = list(_milliseconds(end - begin, left, width, height))
    for row, name in enumerate(rows):
        parts.append(words(name, left - 12, 26 * row + 15, class_="row"))
        for call in calls:
            if call.node == name:
                parts += _bar(call, left + (call.start - begin) * scale, 26.0 * row, scale)
    return Panel(width, height, element("g", "".join(parts), class_="of-calls"))


def _bar(call: Call, x: float, y: float, scale: float) -> Iterator[str]:
    long = max((call.end - call.start) * scale, 1.5)
    colour = f"frame-{call.frame % len(_COLOURS)}"
    yield element("rect", x=x, y=y + 1, width=long, height=20, rx=min(2, long / 2), class_=colour)
    if long > 16:  # noqa: PLR2004  # room for two digits
        yield words(str(call.frame), x + long / 2, y + 15, class_="inside")


def _milliseconds(long_ms: float, left: float, width: float, height: float) -> Iterator[str]:
    """Yield the lines of a time axis, about eight of them."""
    step = next(one for one in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**6) if long_ms / one <= 8)  # noqa: PLR2004
    for line in range(int(long_ms / step) + 1):
        x = left + line * step * (width - left) / long_ms
        yield element("line", x1=x, y1=0, x2=x, y2=height - 16, class_="grid")
        if x + text_width("000 ms", 10.5) <= width:
            yield words(f"{line * step} ms", x + 2, height - 4, class_="small")


# --- a film ---------------------------------------------------------------------------------------------


@penstock.register_calculator
@penstock.calculator
def street(
    *, frames: penstock.SidePacket[int], width: penstock.SidePacket[int]
) -> Iterator[tuple[penstock.Timestamp, ImageFrame]]:
    """Yield a film of a car that passes a house: SRGB, 16:9, 25 frames a second."""
    for i in range(frames):
        image = cv2.resize(
            street_with_car(180 + 14 * i), (width, width * 9 // 16), interpolation=cv2.INTER_AREA
        )
        yield penstock.Timestamp(40_000 * i), ImageFrame(image)


_FILM: Final = """
node {
  calculator: "Street"
  input_side_packet: "FRAMES:frames"
  input_side_packet: "WIDTH:width"
  output_stream: "OUT:frame"
}
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:frame"
  input_side_packet: "OUTPUT_FILE_PATH:film"
}
"""


def film(folder: str, *, frames: int, width: int) -> str:
    """Write the film into a folder; return its path."""
    path = str(Path(folder) / "film.mp4")
    penstock.run(_FILM, side_packets={"frames": frames, "width": width, "film": path})
    return path


# --- the overview: the demo on the film -------------------------------------------------------------------

#: The number of the frame that is shown, and those whose encoding begins and ends the timeline.
_SHOWN: Final = 14
_FIRST, _LAST = 12, 17


def overview() -> str:
    """Run the demo's graph on the film, and return its picture."""
    path = EXAMPLES / "edge_overlay.pbtxt"
    with tempfile.TemporaryDirectory() as folder:
        edges, trace = str(Path(folder) / "edges.mp4"), str(Path(folder) / "trace.json")
        graph = penstock.CalculatorGraph(path)
        recorder = draw.Recorder(graph, ("frame", "painted"))
        tracer = ChromeTracer()
        graph.set_tracer(tracer)
        graph.start_run({"input_video": film(folder, frames=30, width=640), "output_video": edges})
        graph.wait_until_done(timeout=300)
        tracer.write(trace)
        slices = read_trace(trace).slices
    before, after = recorder.tracks()
    stamps = [time for time, _ in before.packets]
    rows = [node.name for node in draw.drawing(path).nodes]
    frames = above(
        captioned(of_frame(_image(before, _SHOWN), 388), "before: a frame of the video"),
        captioned(of_frame(_image(after, _SHOWN), 388), "after: the same frame as the graph wrote it"),
    )
    top = beside(captioned(of_graph(path), "the graph"), frames)
    what = "a part of the run: which node worked on which frame, and when"
    timeline = of_calls(_window(_calls(slices, stamps), rows[-1]), rows, top.width)
    return picture(
        above(top, captioned(timeline, what)),
        "the demo: its graph, a frame of a video before and after, and a timeline of the calls of its nodes",
        _STYLE,
    )


def _calls(slices: Sequence[Slice], stamps: Sequence[int]) -> Iterator[Call]:
    """Yield the calls of a trace that worked on a frame: `stamps` are the timestamps of the frames."""
    for one in slices:
        written = [time for times in one.about.get("outputs", {}).values() for time in times]
        read = [time for times in one.about.get("inputs", {}).values() for time in times]
        frames = [stamps.index(time) for time in (*read, *written) if time in stamps]
        if one.kind == "process" and frames:
            yield Call(one.name, frames[0], one.start / 1000, one.end / 1000)


def _window(calls: Iterator[Call], node: str) -> list[Call]:
    """Return the calls that lie in the time in which `node` worked on the frames `_FIRST` to `_LAST`."""
    all_calls = list(calls)
    its = {call.frame: call for call in all_calls if call.node == node}
    begin, end = its[_FIRST].start, its[_LAST].end
    return [call for call in all_calls if call.start >= begin and call.end <= end]


# --- the gallery: the examples ------------------------------------------------------------------------


@attrs.frozen
class Recipe:
    """What is shown of an example.

    Attributes:
        streams: those in the timeline, from above; none leaves the timeline out.
        frames: caption → stream and number of a packet that is an image.
        film: whether the graph gets the film, as side packet "input_video".
    """

    streams: tuple[str, ...] = ()
    frames: Mapping[str, tuple[str, int]] = {}
    film: bool = False


GALLERY: Final[Mapping[str, Recipe]] = {
    "edge_overlay": Recipe((), {"frame": ("frame", 5), "painted": ("painted", 5)}, film=True),
    "motion": Recipe(
        ("frame", "frame_before", "mask", "painted"), {"painted, at 200000": ("painted", 5)}, film=True
    ),
    "picture_in_picture": Recipe(("front", "small", "joined"), {"joined, at 80000": ("joined", 2)}),
    "thermometer": Recipe(("celsius", "frame", "shown"), {"shown, at 160000": ("shown", 4)}),
    "keep_up": Recipe(("camera", "chosen", "boxes", "last_boxes", "shown")),
    "batch_loop": Recipe(("frame", "crops", "labels", "marked"), {"marked, at 120000": ("marked", 3)}),
    "track_blobs": Recipe((), {"drawn, at 1200000": ("drawn", 30), "drawn, at 4000000": ("drawn", 100)}),
    "spectrogram": Recipe((), {"shown, at 1960000": ("shown", 49)}),
    "shader": Recipe((), {"frame": ("frame", 5), "bent": ("bent", 5)}, film=True),
    "live": Recipe(("microphone", "light", "alarm")),
}


def of_example(name: str) -> str:
    """Run a file of `examples/`, and return its picture.

    The example has a graph text `GRAPH`, and a function `play(graph)` if the application feeds the graph.
    """
    recipe = GALLERY[name]
    module: Mapping[str, Any] = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    graph = penstock.CalculatorGraph(module["GRAPH"])
    wanted = {*recipe.streams, *(stream for stream, _ in recipe.frames.values())}
    recorder = draw.Recorder(graph, sorted(wanted))
    if recipe.film:
        with tempfile.TemporaryDirectory() as folder:
            graph.start_run({"input_video": film(folder, frames=8, width=480)})
            graph.wait_until_done(timeout=300)
    else:
        module.get("play", penstock.CalculatorGraph.run)(graph)
    tracks = {track.name: track for track in recorder.tracks()}
    frames = [
        captioned(of_frame(_image(tracks[stream], at), 300), text)
        for text, (stream, at) in recipe.frames.items()
    ]
    panel = of_graph(module["GRAPH"])
    if frames and panel.width + frames[0].width + GAP <= _PAGE + 20:
        panel = beside(panel, above(*frames))
    elif frames:
        panel = above(panel, beside(*frames))
    if recipe.streams:
        panel = above(panel, of_streams([tracks[stream] for stream in recipe.streams]))
    return picture(panel, f"the graph of examples/{name}.py, and what it did", _STYLE)


def _image(track: draw.Track, at: int) -> ImageFrame:
    payload = track.packets[at][1]
    if not isinstance(payload, ImageFrame):
        raise TypeError(f"packet {at} of {track.name!r} is a {type(payload).__name__!r}, not an ImageFrame")
    return payload


#: Name → function that makes the picture.
PICTURES: Final[Mapping[str, Callable[[], str]]] = {
    "overview": overview,
    **{name: functools.partial(of_example, name) for name in GALLERY},
}


def main(arguments: Sequence[str]) -> None:
    """Write the pictures that the command line names, or all."""
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation from real runs.")
    parser.add_argument("name", nargs="*", help=f"which: {', '.join(PICTURES)}; all if none is named")
    parser.add_argument("--to", type=Path, default=IMAGES, help="the directory to write to")
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.name) - set(PICTURES)):
        parser.error(f"no picture is called {unknown}, expected some of {sorted(PICTURES)}")
    given.to.mkdir(parents=True, exist_ok=True)
    for name in given.name or PICTURES:
        (given.to / f"{name}.svg").write_text(PICTURES[name](), encoding="utf-8")
        print(given.to / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
