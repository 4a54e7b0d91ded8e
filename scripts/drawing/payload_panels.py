"""How payloads are drawn: images as they are, numbers as heat maps and curves, things over what they are in.

`panel` draws what a stream carried, and says in a line under it what it is. Pixels are those of the payload,
as PNG data; nothing is scaled but by the viewer. Equal payloads give equal bytes.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from drawing.panels import Panel, at
from drawing.shapes import shapes_of

from penstock_formats import Image, ImageFrame, Matrix, RenderData, Tensor
from penstock_formats.preview import preview
from penstock_gpu import GpuBuffer
from penstock_image.messages.image_encoder_pb2 import OpenCvImageEncoderCalculatorResults
from penstock_views.draw.markup import element, number, rules, shortened, words
from penstock_vision.drawing.annotation_renderer import AnnotationRenderer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drawing.shapes import Shapes
    from numpy.typing import NDArray

#: How wide a panel is at most, in pixels: two stand beside each other on a page.
WIDEST: Final = 330.0
_HIGHEST: Final = 200.0
#: Images of fewer pixels a side are drawn with larger pixels.
_SMALL: Final = 60
_LINE: Final = 16.0
_GRAY_DIMENSIONS: Final = 2
_RGBA: Final = 4
#: Matrices of at most so many rows and at least so many columns are curves.
_CHANNELS, _LONG = 2, 40
#: The heights of a curve, and of a bar of a heat map, in pixels.
_CURVE: Final = 80.0
#: Powers whose largest is so many times their middle are shown by their logarithm.
_STEEP: Final = 200.0
_DECIBELS: Final = 60.0
#: How many images of one tensor are shown.
_TILES: Final = 8
_CHECK: Final = 8

STYLE: Final = rules(
    fixed={
        ".caption": "font-size: 12px; font-weight: 600",
        ".small": "font-size: 10.5px",
        ".label": "font-size: 10px; font-weight: 600; fill: #ffffff; stroke: #17212b; stroke-width: 2.5px; "
        "paint-order: stroke",
        ".outline": "fill: none; stroke-width: 1px",
        ".shape": "fill: none; stroke: #ffd400; stroke-width: 2px",
        ".dot": "fill: #e0457b; stroke: #ffffff; stroke-width: 0.8px",
        ".curve": "fill: none; stroke: #4a78ad; stroke-width: 1px",
        ".pixels": "image-rendering: pixelated",
    },
    light={
        ".caption": "fill: #17212b",
        ".small": "fill: #66737f",
        ".outline, .grid": "stroke: #b9c0c9",
        ".ground": "fill: #dfe5ea",
    },
    dark={
        ".caption": "fill: #eef3f8",
        ".small": "fill: #9aa7b4",
        ".outline, .grid": "stroke: #4a5663",
        ".ground": "fill: #2a323b",
    },
)


def panel(payloads: Sequence[object], scene: NDArray[np.uint8] | None) -> Panel:
    """Return a drawing of what a stream carried, with lines of text under it.

    Args:
        payloads: all that it carried until the moment that is shown, which is the last one's.
        scene: (H, W, 3), RGB: what detections and rectangles are drawn over; None for a plain ground.
    """
    drawn = _drawn(payloads, scene)
    if drawn is None:
        return _lines(_text(payloads[-1]))
    inner, text = drawn
    lines = _lines(text)
    content = inner.content + at(0, inner.height, lines)
    return Panel(max(inner.width, WIDEST), inner.height + lines.height, content)


def _lines(text: str) -> Panel:
    """Return lines of text, each shortened to the width of a panel."""
    parts = [
        words(shortened(line, 10.5, WIDEST), 0, _LINE * (i + 1) - 4, class_="small")
        for i, line in enumerate(text.split("\n"))
    ]
    return Panel(WIDEST, _LINE * len(parts), "".join(parts))


def is_drawn(payloads: Sequence[object]) -> bool:
    """Return whether these are shown by more than text."""
    return _drawn(payloads, None) is not None


def _drawn(payloads: Sequence[object], scene: NDArray[np.uint8] | None) -> tuple[Panel, str] | None:
    """Return the drawing and its text; None for what is text only."""
    last = payloads[-1]
    if isinstance(last, Matrix):
        return _of_series([one for one in payloads if isinstance(one, Matrix)])
    if isinstance(last, GpuBuffer):
        last = last.frame()
    if isinstance(last, (ImageFrame, Image)):
        text = f"{last.format.name}, {last.width} x {last.height} pixels"
        return _of_pixels(preview(last.array, last.format)), text
    if isinstance(last, OpenCvImageEncoderCalculatorResults):
        last = last.encoded_image
    if isinstance(last, bytes):
        return _of_file(last)
    return _of_things(last if isinstance(last, list) else [last], scene)


def _of_things(things: Sequence[Any], scene: NDArray[np.uint8] | None) -> tuple[Panel, str] | None:
    """Return the drawing of what comes alone or in lists, and its text; None for what is text only."""
    if things and isinstance(things[0], Tensor):
        return _of_tensor(things[0])
    if things and isinstance(things[0], RenderData):
        return _of_drawings(things, scene)
    shapes = shapes_of(things, _size(scene))
    return None if shapes is None else (_of_shapes(shapes, scene), shapes.text)


def _text(payload: object) -> str:
    """Return a payload in words."""
    if isinstance(payload, float):
        return f"{payload:.4g}"
    if isinstance(payload, (tuple, list)):
        inner = ", ".join(map(_text, payload))
        return f"({inner})" if isinstance(payload, tuple) else f"[{inner}]"
    return " ".join(str(payload).split())


# --- pixels ---------------------------------------------------------------------------------------


def _of_pixels(pixels: NDArray[np.uint8]) -> Panel:
    """Return an image: (H, W), (H, W, 3) in RGB or (H, W, 4) in RGBA."""
    height, width = pixels.shape[:2]
    factor = min(WIDEST / width, _HIGHEST / height)
    shown = min(factor, max(1.0, min(8.0, factor // 1)) if max(width, height) < _SMALL else 1.0)
    size = (width * shown, height * shown)
    return Panel(
        *size, png(pixels, *size) + element("rect", x=0, y=0, width=size[0], height=size[1], class_="outline")
    )


def png(pixels: NDArray[np.uint8], width: float, height: float) -> str:
    """Return an SVG element with all pixels of an image, this many pixels of the page wide and high."""
    if pixels.ndim > _GRAY_DIMENSIONS and pixels.shape[2] == _RGBA:
        pixels = _over_checks(pixels)
    ordered = pixels if pixels.ndim == _GRAY_DIMENSIONS else np.ascontiguousarray(pixels[..., ::-1])
    data = base64.b64encode(cv2.imencode(".png", ordered)[1].tobytes()).decode()
    return element(
        "image",
        width=width,
        height=height,
        preserveAspectRatio="none",
        class_="pixels",
        href=f"data:image/png;base64,{data}",
    )


def _over_checks(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return an image with an alpha channel over grey squares."""
    rows, columns = np.indices(pixels.shape[:2]) // _CHECK
    ground = np.where((rows + columns) % 2, 200.0, 240.0)[..., None]
    alpha = pixels[..., 3:] / 255
    return np.rint(pixels[..., :3] * alpha + ground * (1 - alpha)).astype(np.uint8)


def _of_file(data: bytes) -> tuple[Panel, str] | None:
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB) if data else None
    if image is None:
        return None
    return _of_pixels(np.asarray(image, np.uint8)), f"a file of {len(data)} bytes"


def _size(scene: NDArray[np.uint8] | None) -> tuple[int, int]:
    return (320, 180) if scene is None else (scene.shape[1], scene.shape[0])


# --- numbers --------------------------------------------------------------------------------------


def _of_series(series: Sequence[Matrix]) -> tuple[Panel, str] | None:
    """Return a series as curves or as a heat map; None where it is only a few numbers."""
    same = [one.array for one in series if one.array.shape[0] == series[-1].array.shape[0]]
    whole = np.concatenate(same, axis=1)
    rows, columns = whole.shape
    packets = f"{len(same)} packet{'s' * (len(same) != 1)}, {rows} x {columns} numbers in all"
    if rows <= _CHANNELS and columns >= _LONG:
        curves = _of_curves(whole, np.cumsum([one.shape[1] for one in same[:-1]]))
        return curves, f"{packets}\ncurves from {whole.min():.3g} to {whole.max():.3g}"
    if whole.size <= _CHANNELS:
        return None
    return _of_heat(whole[::-1], packets)


def _of_curves(whole: NDArray[Any], borders: Sequence[int] | NDArray[Any] = ()) -> Panel:
    """Return each row as a curve over its columns, and lines where a packet begins: before these columns."""
    largest = float(np.abs(whole).max()) or 1.0
    height, scale = _CURVE * len(whole), WIDEST / whole.shape[1]
    parts = [
        element("line", x1=column * scale, y1=0, x2=column * scale, y2=height, class_="grid")
        for column in borders
    ]
    for row, values in enumerate(whole):
        middle = _CURVE * (row + 0.5)
        parts.append(element("line", x1=0, y1=middle, x2=WIDEST, y2=middle, class_="grid"))
        points = " ".join(
            f"{number(x)},{number(middle - y / largest * _CURVE * 0.46)}" for x, y in _outline(values)
        )
        parts.append(element("polyline", points=points, class_="curve"))
    return Panel(WIDEST, height, "".join(parts))


def _outline(values: NDArray[Any]) -> Iterator[tuple[float, float]]:
    """Yield points of a curve: for each pixel of the page the least and the largest value."""
    columns = int(WIDEST)
    if len(values) <= 2 * columns:
        step = WIDEST / max(1, len(values) - 1)
        yield from ((i * step, float(value)) for i, value in enumerate(values))
        return
    for x, part in enumerate(np.array_split(values, columns)):
        yield x, float(part.min())
        yield x, float(part.max())


def _of_heat(values: NDArray[Any], what: str) -> tuple[Panel, str]:
    """Return a matrix as colours: dark is low, yellow is high."""
    scaled, scale = _heights(values.astype(np.float64))
    colours = cv2.applyColorMap(np.rint(scaled * 255).astype(np.uint8), cv2.COLORMAP_VIRIDIS)[..., ::-1]
    height = min(_HIGHEST, max(24.0, 6.0 * len(values)))
    image = png(np.ascontiguousarray(colours), WIDEST, height)
    outline = element("rect", x=0, y=0, width=WIDEST, height=height, class_="outline")
    text = f"{what}\n{values.min():.3g} (dark) to {values.max():.3g} (yellow){scale}"
    return Panel(WIDEST, height, image + outline), text


def _heights(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], str]:
    """Return numbers as 0 to 1, and how: by their logarithm where few are much larger than most."""
    least, largest = float(values.min()), float(values.max())
    if least >= 0 and largest > _STEEP * float(np.median(values)):
        decibels = 10 * np.log10(np.maximum(values / largest, 10 ** (-_DECIBELS / 10)))
        return decibels / _DECIBELS + 1, ", logarithmic"
    return (values - least) / ((largest - least) or 1.0), ""


def _of_tensor(tensor: Tensor) -> tuple[Panel, str]:
    """Return a tensor as an image, as several of them, or as a heat map."""
    array = np.asarray(tensor.array, np.float32)
    what = f"tensor {'x'.join(map(str, tensor.array.shape))} {tensor.array.dtype}"
    images = array[None] if array.ndim == 3 else array  # noqa: PLR2004  # an image without batch
    if images.ndim == 4 and min(images.shape[1:3]) > 1 and images.shape[3] in {1, 3}:  # noqa: PLR2004  # a batch of images
        tiles = np.concatenate(list(images[:_TILES]), axis=1)
        spread = f"{tiles.min():.3g} to {tiles.max():.3g}"
        first = f", the first {_TILES} of them" if len(images) > _TILES else ""
        scaled = (tiles - tiles.min()) / ((tiles.max() - tiles.min()) or 1.0)
        pixels = np.rint(scaled * 255).astype(np.uint8)
        return _of_pixels(pixels[..., 0] if pixels.shape[2] == 1 else pixels), f"{what}{first}\n{spread}"
    flat = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array[None]
    if len(flat) <= _CHANNELS and flat.shape[1] >= _LONG:
        return _of_curves(flat), f"{what}\ncurves from {flat.min():.3g} to {flat.max():.3g}"
    return _of_heat(flat, what)


# --- shapes ---------------------------------------------------------------------------------------


def _of_drawings(drawings: Sequence[RenderData], scene: NDArray[np.uint8] | None) -> tuple[Panel, str]:
    """Return what AnnotationOverlayCalculator would draw on the scene."""
    width, height = _size(scene)
    ground = np.full((height, width, 3), 70, np.uint8) if scene is None else scene.copy()
    renderer = AnnotationRenderer(ground)
    kinds = []
    for one in drawings:
        renderer.draw(one)
        kinds += [annotation.WhichOneof("data") for annotation in one.render_annotations]
    said = ", ".join(
        f"{kinds.count(kind)} x {kind.replace('_', ' ')}" for kind in sorted({one for one in kinds if one})
    )
    return _of_pixels(ground), f"RenderData, drawn: {said or 'nothing'}"


def _of_shapes(shapes: Shapes, scene: NDArray[np.uint8] | None) -> Panel:
    """Return shapes over the scene or a plain ground."""
    width, height = _size(scene)
    size = {"x": 0, "y": 0, "width": width, "height": height}
    plain = element("rect", **size, class_="ground")
    parts = [plain if scene is None else png((scene // 2 + 100).astype(np.uint8), width, height)]
    for corners in shapes.lines:
        points = " ".join(f"{number(x * width)},{number(y * height)}" for x, y in corners)
        parts.append(element("polyline", points=points, class_="shape"))
    for x, y in shapes.dots:
        parts.append(element("circle", cx=x * width, cy=y * height, r=2.8, class_="dot"))
    for text, x, y in shapes.labels:
        parts.append(words(text, x * width + 3, y * height + 11, class_="label"))
    # A drawing within the drawing: what lies outside of the image is cut off.
    inside = element("svg", "".join(parts), **size, viewBox=f"0 0 {width} {height}")
    return Panel(width, height, inside + element("rect", **size, class_="outline"))
