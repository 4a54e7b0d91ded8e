"""Claim: an image calculator costs no more than the OpenCV calls that do its work.

Each case is a calculator of penstock-image, or one that warps, with usual options, at 1280 x 720. In one
process the bare OpenCV calls and a graph of that one node, on the application thread, take the same frames
in turns: some frames of the one, as many of the other, and the next time in the other order. The figures are
CPU milliseconds per frame of both, the median ratio of neighbouring turns, which the bar limits, and the
microseconds that the graph adds. Where the calls take less than 0.2 ms the ratio would tell what a step of a
graph costs, so there the bar limits these microseconds. OpenCV works on one thread, so that one thread does
all the work and its CPU time is the time. The last results are compared.

    python benchmarks/image.py [--size 1280x720] [--turns 15] [--rounds 5] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

import penstock as host
from penstock_formats import ImageFrame, NormalizedRect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Picture = NDArray[Any]

FIGURE, BARE, RATIO, ADDED = "CPU ms a frame", "bare CPU ms a frame", "x bare", "CPU us added a frame"
OURS: Final = "penstock"
LIMIT: Final = 1.1
#: Of the microseconds that a graph adds to calls of less than 0.2 ms.
SHORT_LIMIT: Final = 40
#: A turn lasts about this long, or one frame.
TURN_S: Final = 0.02
#: Frames that go round, so that they are not all in the processor's cache.
ROUND: Final = 4
#: How much a value of the result may differ, where rounding is the calculator's own.
NEAR: Final = 1
ORANGE: Final = (255, 180, 0)
_ORB: Final = cv2.ORB.create(200, 1.2, 4, 31, 0, 2, cv2.ORB_FAST_SCORE)
LUMINANCE: Final = np.array([[0.2125, 0.7154, 0.0721]])


@dataclass(frozen=True)
class Work:
    """The work of a calculator, and the same by hand."""

    #: Graph text, from the streams of `inputs` to "out".
    node: str
    #: Stream → its payload for a picture.
    inputs: Mapping[str, Callable[[Pictures], object]]
    #: The OpenCV calls for a picture; returns the result, or the file.
    bare: Callable[[Pictures], Any]
    #: Takes what `bare` returns from a payload of "out".
    result: Callable[[Any], Any] = lambda frame: frame.array
    #: Whether `bare` takes less than 0.2 ms for a frame of 1280 x 720.
    is_short: bool = False


@dataclass(frozen=True)
class Pictures:
    """One scene as colours, mirrored, grey, a mask, a mask of floats, and a JPEG."""

    rgb: Picture
    mirrored: Picture
    gray: Picture
    mask: Picture
    shares: Picture
    jpeg: bytes


def pictures(width: int, height: int, seed: int) -> Pictures:
    """Return a scene of blurred noise."""
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    blurred = np.asarray(cv2.GaussianBlur(noise, (15, 15), 0))
    rgb = np.asarray(cv2.addWeighted(blurred, 8, blurred, 0, -7 * 128))  # the contrast that blurring took
    gray = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY))
    mask = np.where(gray > 128, np.uint8(255), np.uint8(0))  # noqa: PLR2004  # half of the range
    shares = (gray / np.float32(255)).astype(np.float32)
    return Pictures(
        rgb,
        np.ascontiguousarray(rgb[:, ::-1]),
        gray,
        mask,
        shares,
        cv2.imencode(".jpg", rgb[..., ::-1])[1].tobytes(),
    )


def colours(scene: Pictures) -> ImageFrame:
    """Return the frame in colours."""
    return ImageFrame(scene.rgb)


def grey(scene: Pictures) -> ImageFrame:
    """Return the grey frame."""
    return ImageFrame(scene.gray)


def masked(scene: Pictures) -> ImageFrame:
    """Return the mask of bytes."""
    return ImageFrame(scene.mask)


def shared(scene: Pictures) -> ImageFrame:
    """Return the mask of floats."""
    return ImageFrame(scene.shares)


def node(name: str, ports: str, options: str = "") -> str:
    """Return the text of a node; `ports` as in "IMAGE:in MASK:mask > IMAGE:out"."""
    inputs, outputs = (side.split() for side in ports.split(">"))
    lines = [
        *(f'input_stream: "{port}"' for port in inputs),
        *(f'output_stream: "{port}"' for port in outputs),
    ]
    if options:
        kind = f"type.googleapis.com/penstock.{name}Options"
        lines.append(f"node_options {{ [{kind}] {{ {options} }} }}")
    return f'node {{ calculator: "{name}" {" ".join(lines)} }}'


# --- the same by hand ---------------------------------------------------------------------------------


def painted(scene: Pictures) -> Picture:
    """Paint orange where the mask is, on a copy."""
    image = scene.rgb.copy()
    cv2.copyTo(_plane(scene.rgb.shape, ORANGE), scene.mask, image)
    return image


def cut_out(scene: Pictures) -> Picture:
    """Warp half of the frame, turned by 0.3 radians about the middle."""
    height, width = scene.gray.shape
    box = ((width / 2, height / 2), (width // 2, height // 2), float(np.degrees(np.float32(0.3))))
    corners = np.array([[0, height // 2], [0, 0], [width // 2, 0], [width // 2, height // 2]], np.float32)
    back, forth = np.eye(3), np.eye(3)
    back[:2, 2], forth[:2, 2] = -0.5, 0.5
    matrix = back @ cv2.getPerspectiveTransform(cv2.boxPoints(box), corners) @ forth
    return np.asarray(
        cv2.warpPerspective(scene.rgb, matrix, (width // 2, height // 2), flags=cv2.INTER_NEAREST)
    )


def upright(scene: Pictures) -> Picture:
    """Copy the middle half of the frame."""
    height, width = scene.gray.shape
    part = scene.rgb[height // 4 : height // 4 + height // 2, width // 4 : width // 4 + width // 2]
    return part.copy()


def warped(scene: Pictures) -> Picture:
    """Warp the frame, turned by a few degrees about the middle."""
    height, width = scene.gray.shape
    return np.asarray(
        cv2.warpAffine(
            scene.rgb,
            _turn_of_pixels(width, height),
            (width, height),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
    )


def with_alpha(scene: Pictures) -> Picture:
    """Add the mask as alpha channel."""
    image = np.asarray(cv2.cvtColor(scene.rgb, cv2.COLOR_RGB2RGBA))
    cv2.insertChannel(scene.mask, image, 3)
    return image


def recolored(scene: Pictures) -> Picture:
    """Blend orange in, by mask and luminance."""
    channels = cv2.split(scene.rgb)
    light = cv2.addWeighted(channels[0], 0.299 / 255, channels[1], 0.587 / 255, 0, dtype=cv2.CV_32F)
    light = cv2.addWeighted(light, 1, channels[2], 0.114 / 255, 0, dst=light, dtype=cv2.CV_32F)
    share = cv2.multiply(scene.shares, light, dst=light)
    rest = np.float32(1) - share
    return np.asarray(
        cv2.merge(
            [
                cv2.add(cv2.multiply(one, rest, dtype=cv2.CV_8U), cv2.convertScaleAbs(share, alpha=part))
                for one, part in zip(channels, ORANGE, strict=True)
            ]
        )
    )


def mixed(scene: Pictures) -> Picture:
    """Mix the scene with its mirror image, by a mask."""
    rest = np.float32(1) - scene.shares
    return np.asarray(cv2.blendLinear(scene.rgb, scene.mirrored, rest, scene.shares))


def coloured(scene: Pictures) -> Picture:
    """Show shares as colours; a share that is not finite would be black."""
    finite = np.isfinite(scene.shares)
    steps = cv2.convertScaleAbs(scene.shares, alpha=255)
    shown = np.asarray(cv2.cvtColor(cv2.applyColorMap(steps, cv2.COLORMAP_TURBO), cv2.COLOR_BGR2RGB))
    if not finite.all():
        shown[~finite] = 0
    return shown


def edges(scene: Pictures) -> Picture:
    """Compute the Sobel gradient."""
    across = cv2.Sobel(scene.gray, cv2.CV_32F, 1, 0, borderType=cv2.BORDER_REPLICATE)
    down = cv2.Sobel(scene.gray, cv2.CV_32F, 0, 1, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.convertScaleAbs(cv2.magnitude(across, down)))


def corners(scene: Pictures) -> int:
    """Find corners, and count them."""
    return len(_ORB.detect(cv2.cvtColor(scene.rgb, cv2.COLOR_RGB2GRAY))[:200])


def encoded(scene: Pictures) -> bytes:
    """Write a JPEG."""
    image = cv2.cvtColor(scene.rgb, cv2.COLOR_RGB2BGR)
    return cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, 80))[1].tobytes()


def decoded(scene: Pictures) -> Picture:
    """Read a JPEG."""
    image = cv2.imdecode(np.frombuffer(scene.jpeg, np.uint8), cv2.IMREAD_UNCHANGED)
    assert image is not None  # noqa: S101  # for type checkers
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))


def halved(scene: Pictures) -> Picture:
    """Shrink to half of the sides."""
    height, width = scene.gray.shape
    return np.asarray(cv2.resize(scene.rgb, (width // 2, height // 2), interpolation=cv2.INTER_AREA))


def turned(scene: Pictures) -> Picture:
    """Shrink to half of the sides, and turn by a quarter."""
    return np.asarray(cv2.rotate(halved(scene), cv2.ROTATE_90_COUNTERCLOCKWISE))


@cache
def _plane(shape: tuple[int, ...], color: tuple[int, ...]) -> Picture:
    """Return an image of one colour, made once."""
    return np.broadcast_to(np.array(color, np.uint8), shape).copy()


@cache
def _turn(width: int, height: int) -> tuple[float, ...]:
    """Return a turn by 5 degrees about the middle, which maps the result to the frame.

    It has 4 x 4 numbers, row after row, in shares of width and height.
    """
    (a, b, x), (c, d, y) = cv2.getRotationMatrix2D((width / 2, height / 2), 5, 1.0).tolist()
    rows = ((a, b * height / width, 0.0, x / width), (c * width / height, d, 0.0, y / height))
    return (*rows[0], *rows[1], 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@cache
def _turn_of_pixels(width: int, height: int) -> NDArray[np.float32]:
    """Return the same as 2 x 3 numbers, in pixels; a last digit of them moves pixels."""
    shares = np.array(_turn(width, height), np.float32).reshape(4, 4)
    pixels = shares[:2][:, [0, 1, 3]] * np.array([[width], [height]], np.float32)
    pixels[:, :2] *= np.float32(1) / np.array([width, height], np.float32)
    return np.asarray(pixels)


def _middle(_: Pictures) -> NormalizedRect:
    return NormalizedRect(x_center=0.5, y_center=0.5, width=0.5, height=0.5)


def _region(_: Pictures) -> NormalizedRect:
    return NormalizedRect(x_center=0.5, y_center=0.5, width=0.5, height=0.5, rotation=0.3)


def works(width: int, height: int) -> dict[str, Work]:
    """Return case → work, for frames of this size."""
    size = f"output_width: {width // 2} output_height: {height // 2}"
    quarter = f"output_width: {height // 2} output_height: {width // 2} rotation_mode: ROTATION_90"
    jpeg = "OpenCvImageEncoderCalculator"
    frame = {"in": colours}
    return {
        "bilateral filter": Work(
            node("BilateralFilterCalculator", "IMAGE:in > IMAGE:out", "sigma_color: 0.1 sigma_space: 2.5"),
            frame,
            lambda scene: cv2.bilateralFilter(scene.rgb, 5, float(np.float32(0.1)) * 255, 2.5),
        ),
        "Canny": Work(
            node("CannyEdgeCalculator", "VIDEO:in > VIDEO:out"),
            {"in": grey},
            lambda scene: cv2.Canny(scene.gray, 100, 200),
        ),
        "colour map": Work(
            node("ColorMapCalculator", "in > out", "minimum: 0 maximum: 1"),
            {"in": shared},
            coloured,
        ),
        "colours to grey": Work(
            node("ColorConvertCalculator", "RGB_IN:in > GRAY_OUT:out"),
            frame,
            lambda scene: cv2.cvtColor(scene.rgb, cv2.COLOR_RGB2GRAY),
        ),
        "colours to BGRA": Work(
            node("ColorConvertCalculator", "RGB_IN:in > BGRA_OUT:out"),
            frame,
            lambda scene: cv2.cvtColor(scene.rgb, cv2.COLOR_RGB2BGRA),
            is_short=True,
        ),
        "grey to colours": Work(
            node("ColorConvertCalculator", "GRAY_IN:in > RGB_OUT:out"),
            {"in": grey},
            lambda scene: cv2.cvtColor(scene.gray, cv2.COLOR_GRAY2RGB),
            is_short=True,
        ),
        "cropping, upright": Work(
            node("ImageCroppingCalculator", "IMAGE:in NORM_RECT:rect > IMAGE:out"),
            {**frame, "rect": _middle},
            upright,
            is_short=True,
        ),
        "cropping, rotated": Work(
            node("ImageCroppingCalculator", "IMAGE:in NORM_RECT:rect > IMAGE:out"),
            {**frame, "rect": _region},
            cut_out,
        ),
        "decoding JPEG": Work(
            node("OpenCvEncodedImageToImageFrameCalculator", "in > out"),
            {"in": lambda scene: scene.jpeg},
            decoded,
        ),
        "encoding JPEG": Work(
            node(jpeg, "in > out", "quality: 80"), frame, encoded, lambda made: made.encoded_image
        ),
        "features": Work(node("FeatureDetectorCalculator", "IMAGE:in > FEATURES:out"), frame, corners, len),
        "luminance": Work(
            node("LuminanceCalculatorCpu", "VIDEO:in > VIDEO:out"),
            frame,
            lambda scene: cv2.transform(scene.rgb, LUMINANCE),
        ),
        "mixing by a mask": Work(
            node("MaskOverlayCalculatorCpu", "VIDEO:0:in VIDEO:1:other MASK:mask > OUTPUT:out"),
            {**frame, "other": lambda scene: ImageFrame(scene.mirrored), "mask": shared},
            mixed,
        ),
        "overlay": Work(
            node(
                "ImageOverlayCalculator",
                "VIDEO:in MASK:mask > VIDEO:out",
                f"color {{ r: {ORANGE[0]} g: {ORANGE[1]} b: {ORANGE[2]} }}",
            ),
            {**frame, "mask": masked},
            painted,
        ),
        "recolouring": Work(
            node(
                "RecolorCalculator",
                "IMAGE:in MASK:mask > IMAGE:out",
                f"color {{ r: {ORANGE[0]} g: {ORANGE[1]} b: {ORANGE[2]} }}",
            ),
            {**frame, "mask": shared},
            recolored,
        ),
        "scaling by proportions": Work(
            node("ScaleImageCalculator", "in > out", f"target_width: {width // 2}"), frame, halved
        ),
        "setting alpha": Work(
            node("SetAlphaCalculator", "IMAGE:in ALPHA:mask > IMAGE:out"),
            {**frame, "mask": masked},
            with_alpha,
        ),
        "Sobel edges": Work(node("SobelEdgesCalculatorCpu", "VIDEO:in > VIDEO:out"), {"in": grey}, edges),
        "transformation, scaled": Work(
            node("ImageTransformationCalculator", "IMAGE:in > IMAGE:out", size), frame, halved
        ),
        "transformation, turned": Work(
            node("ImageTransformationCalculator", "IMAGE:in > IMAGE:out", quarter), frame, turned
        ),
        "transformation, mirrored": Work(
            node("ImageTransformationCalculator", "IMAGE:in > IMAGE:out", "flip_horizontally: true"),
            frame,
            lambda scene: cv2.flip(scene.rgb, 1),
            is_short=True,
        ),
        "warping": Work(
            node("WarpAffineCalculatorCpu", "IMAGE:in MATRIX:matrix OUTPUT_SIZE:size > IMAGE:out"),
            {**frame, "matrix": lambda _: _turn(width, height), "size": lambda _: (width, height)},
            warped,
        ),
    }


# --- measuring ----------------------------------------------------------------------------------------


class Running:
    """A graph of one node, which runs on the thread that feeds it."""

    def __init__(self, work: Work) -> None:
        streams = "\n".join(f'input_stream: "{name}"' for name in work.inputs)
        self._graph = host.CalculatorGraph(
            f'{streams}\n{work.node}\nexecutor {{ type: "ApplicationThreadExecutor" }}'
        )
        self._last: Any = None
        self._count = self._fed = 0
        self._graph.observe_output_stream("out", self._notice)
        self._graph.start_run()

    def _notice(self, _: str, packet: host.Packet) -> None:
        self._last = packet.payload
        self._count += 1

    def feed(self, payloads: list[dict[str, object]]) -> None:
        """Feed a few frames, and return when they are through."""
        for named in payloads:
            for name, payload in named.items():
                self._graph.add_packet_to_input_stream(name, host.Packet(payload, self._fed))
            self._fed += 1
        self._graph.wait_until_idle()

    def end(self) -> Any:
        """End the run. Return the last result."""
        self._graph.close()
        expect(self._count, self._fed, "frames that came out")
        return self._last


def in_turns(case: str, width: int, height: int, turns: int) -> dict[str, float]:
    """Time the OpenCV calls and the graph in turns."""
    cv2.setNumThreads(1)
    work = works(width, height)[case]
    scenes = [pictures(width, height, seed) for seed in range(ROUND)]
    payloads = [{name: make(scene) for name, make in work.inputs.items()} for scene in scenes]
    running = Running(work)
    wanted: Any = None
    for scene, payload in zip(scenes, payloads, strict=True):  # warm up
        start = thread_time()
        wanted = work.bare(scene)
        alone = thread_time() - start
        running.feed([payload])
    rounds = max(1, round(TURN_S / alone / ROUND))

    def by_hand() -> None:
        nonlocal wanted
        for scene in scenes * rounds:
            wanted = work.bare(scene)

    def by_graph() -> None:
        running.feed(payloads * rounds)

    bare: list[float] = []
    ours: list[float] = []
    order = [(by_hand, bare), (by_graph, ours)]
    for _ in range(turns):
        for turn, times in order:
            start = thread_time()
            turn()
            times.append((thread_time() - start) / rounds / ROUND)
        order.reverse()
    expect(
        _difference(work.result(running.end()), wanted), "", f"the last result of {case}, beside that by hand"
    )
    return {
        FIGURE: median(ours) * 1e3,
        BARE: median(bare) * 1e3,
        RATIO: median(mine / theirs for mine, theirs in zip(ours, bare, strict=True)),
        ADDED: median(mine - theirs for mine, theirs in zip(ours, bare, strict=True)) * 1e6,
    }


def _difference(made: Any, wanted: Any) -> str:
    """Return in words how a result differs from that by hand, or ""."""
    if not isinstance(wanted, np.ndarray):
        return "" if made == wanted else f"{made!r} instead of {wanted!r}"
    if made.shape != wanted.shape:
        return f"{made.shape} instead of {wanted.shape}"
    most = int(cv2.absdiff(made, wanted).max())
    return "" if most <= NEAR else f"values differ by up to {most}"


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--size", default="1280x720", help="of the frames; 320x180 with --short")
    options.add_argument("--turns", type=int, help="default 15; 2 with --short")
    given = options.parse_args()
    width, height = map(int, ("320x180" if given.short else given.size).split("x"))
    turns = given.turns or (2 if given.short else 15)

    def bar(case: str, work: Work) -> Bar:
        def value(measured: Measurements) -> float | None:
            return measured.median(case, OURS, ADDED if work.is_short else RATIO)

        if work.is_short:
            return Bar(f"{case}, us added to the bare OpenCV calls", "at most", SHORT_LIMIT, value)
        return Bar(f"{case}, x the bare OpenCV calls", "at most", LIMIT, value)

    cases = works(width, height)
    settings = {"width": width, "height": height, "turns": turns}
    return Benchmark(
        claim="An image calculator costs no more than the OpenCV calls that do its work.",
        figure=FIGURE,
        base=OURS,
        cases=[Case(name, {"case": name, **settings}) for name in cases],
        contestants=[Contestant(OURS, "image:in_turns")],
        bars=[bar(name, work) for name, work in cases.items()],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
