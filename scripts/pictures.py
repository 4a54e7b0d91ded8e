"""Make the pictures of the README and of the gallery, each from a real run: `docs/images/*.svg`.

    python scripts/pictures.py [NAME ...]

`overview` moves: the graph of the demo, its frames before and after, and its calls in a trace, slowed down.
Each other picture is a file of `examples/`: its graph, frames that it made, and what its streams carried. The
film of `overview` is drawn here, those of the examples are drawn by the examples.

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
from drawing.moving import COLOURS, Call, Reel, of_calls, of_film, of_work
from drawing.panels import GAP, Panel, above, beside, captioned, picture
from drawing.street import street_with_car
from members import ROOT

import penstock
from penstock_formats import Detection, ImageFrame
from penstock_testing.traces import read_trace
from penstock_views import draw
from penstock_views.draw.markup import element, rules
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


def of_frame(frame: ImageFrame, width: float, scale: float = 1.5) -> Panel:
    """Return a panel with an image, `width` pixels wide; a `scale` above 1 is for fine screens."""
    pixels = frame.array[..., :3] if frame.array.ndim > 2 else np.dstack([frame.array] * 3)  # noqa: PLR2004  # grey
    height = round(width * pixels.shape[0] / pixels.shape[1])
    size = (round(width * scale), round(height * scale))
    way = cv2.INTER_AREA if size[0] < pixels.shape[1] else cv2.INTER_LINEAR
    small = cv2.resize(np.ascontiguousarray(pixels[..., ::-1]), size, interpolation=way)
    _, jpeg = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])
    data = "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode()
    image = element("image", width=width, height=height, href=data)
    outline = element("rect", x=0, y=0, width=width, height=height, class_="outline")
    return Panel(width, height, image + outline)


_STYLE: Final = rules(
    fixed={
        ".caption": "font-size: 12px; font-weight: 600",
        ".small": "font-size: 10.5px",
        ".row": "font-size: 11px; font-weight: 600; text-anchor: end",
        ".inside": "font-size: 10px; font-weight: 600; text-anchor: middle; fill: #ffffff",
        ".outline": "fill: none; stroke-width: 1px",
        ".grid": "stroke-width: 1px",
        ".light": "fill: none; fill-opacity: 0.35",
        ".now": "stroke-width: 1.5px; opacity: 0",
        **{f".frame-{i}": f"fill: {colour}" for i, colour in enumerate(COLOURS)},
    },
    light={
        ".caption, .row": "fill: #17212b",
        ".small": "fill: #66737f",
        ".outline": "stroke: #b9c0c9",
        ".grid": "stroke: #e4e8ec",
        ".now": "stroke: #17212b",
    },
    dark={
        ".caption, .row": "fill: #eef3f8",
        ".small": "fill: #9aa7b4",
        ".outline": "stroke: #4a5663",
        ".grid": "stroke: #2a323b",
        ".now": "stroke: #eef3f8",
    },
)


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

#: The frames whose encoding begins and ends what is shown.
_FIRST, _LAST = 20, 29
#: How long a round of the picture takes.
_SECONDS: Final = 12.0


def overview() -> str:
    """Run the demo's graph on the film, and return its picture, which moves."""
    path = EXAMPLES / "edge_overlay.pbtxt"
    (before, after), slices = _traced(path)
    stamps = [time for time, _ in before.packets]
    rows = [node.name for node in draw.drawing(path).nodes]
    calls = _window(_calls(slices, stamps), rows[-1])
    reel = Reel(max(call.end for call in calls), _SECONDS)
    changes = [call.start for call in calls if call.node == rows[-1]]
    frames = above(
        captioned(_film_of(before, changes, reel), "before: a frame of the video"),
        captioned(_film_of(after, changes, reel), "after: the same frame as the graph wrote it"),
    )
    top = beside(captioned(of_work(of_graph(path), calls, reel), "the graph"), frames)
    what = f"which node worked on which frame, and when; {reel.slowness:.0f} times slower than the run was"
    return picture(
        above(top, captioned(of_calls(calls, rows, top.width, reel), what)),
        "the demo: its graph, frames of a video before and after, and a timeline of the calls of its nodes",
        _STYLE + reel.style(),
    )


def _traced(path: Path) -> tuple[tuple[draw.Track, ...], Sequence[Slice]]:
    """Run the demo's graph on the film; return two of its streams, and its calls."""
    with tempfile.TemporaryDirectory() as folder:
        edges, trace = str(Path(folder) / "edges.mp4"), str(Path(folder) / "trace.json")
        graph = penstock.CalculatorGraph(path)
        recorder = draw.Recorder(graph, ("frame", "painted"))
        tracer = ChromeTracer()
        graph.set_tracer(tracer)
        graph.start_run({"input_video": film(folder, frames=45, width=640), "output_video": edges})
        graph.wait_until_done(timeout=300)
        tracer.write(trace)
        return tuple(recorder.tracks()), read_trace(trace).slices


def _film_of(track: draw.Track, changes: Sequence[float], reel: Reel) -> Panel:
    """Return a panel with the frames `_FIRST` to `_LAST` of a stream, each from its moment on."""
    images = [of_frame(_image(track, at), 388, scale=1) for at in range(_FIRST, _LAST + 1)]
    return of_film(images, changes, reel)


def _calls(slices: Sequence[Slice], stamps: Sequence[int]) -> Iterator[Call]:
    """Yield the calls of a trace that worked on a frame: `stamps` are the timestamps of the frames."""
    for one in slices:
        written = [time for times in one.about.get("outputs", {}).values() for time in times]
        read = [time for times in one.about.get("inputs", {}).values() for time in times]
        frames = [stamps.index(time) for time in (*read, *written) if time in stamps]
        if one.kind == "process" and frames:
            yield Call(one.name, frames[0], one.start / 1000, one.end / 1000)


def _window(calls: Iterator[Call], node: str) -> list[Call]:
    """Return the calls of the time in which `node` worked on the frames `_FIRST` to `_LAST`, from 0 on."""
    all_calls = list(calls)
    its = {call.frame: call for call in all_calls if call.node == node}
    begin, end = its[_FIRST].start, its[_LAST].end
    return [
        attrs.evolve(call, start=call.start - begin, end=call.end - begin)
        for call in all_calls
        if call.start >= begin and call.end <= end
    ]


# --- the gallery: the examples ------------------------------------------------------------------------


@attrs.frozen
class Recipe:
    """What is shown of an example."""

    #: Those in the timeline, from above; none leaves the timeline out.
    streams: tuple[str, ...] = ()
    #: Caption → stream and number of a packet that is an image.
    frames: Mapping[str, tuple[str, int]] = {}
    #: Whether the graph gets the film, as side packet "input_video".
    film: bool = False


GALLERY: Final[Mapping[str, Recipe]] = {
    "edge_overlay": Recipe((), {"frame": ("frame", 5), "painted": ("painted", 5)}, film=True),
    "motion": Recipe(
        ("frame", "frame_before", "mask", "painted"), {"painted, at 200000": ("painted", 5)}, film=True
    ),
    "picture_in_picture": Recipe(("front", "small", "joined"), {"joined, at 80000": ("joined", 2)}),
    "thermometer": Recipe(("celsius", "frame", "shown"), {"shown, at 160000": ("shown", 4)}),
    "imu_camera_lidar": Recipe((), {"shown, after 0.1 s": ("shown", 3), "shown, after 0.9 s": ("shown", 27)}),
    "keep_up": Recipe(("camera", "chosen", "boxes", "last_boxes", "shown")),
    "batch_loop": Recipe(("frame", "crops", "labels", "marked"), {"marked, at 120000": ("marked", 3)}),
    "track_blobs": Recipe((), {"drawn, at 1200000": ("drawn", 30), "drawn, at 4000000": ("drawn", 100)}),
    "count_cars": Recipe((), {"drawn, at 2600000": ("drawn", 65), "drawn, at 4000000": ("drawn", 100)}),
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
