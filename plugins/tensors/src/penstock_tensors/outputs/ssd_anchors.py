"""SsdAnchorsCalculator: the boxes that a detection model measures from."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import check_size_limit
from penstock_tensors.messages.ssd_anchors_pb2 import Anchor, SsdAnchorsCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock import CalculatorContext, CalculatorContract

#: Fields that must not be set beside fixed_anchors.
_GENERATING: Final = ("input_size_width", "input_size_height", "min_scale", "max_scale", "num_layers")
#: The boxes of the first layer with reduce_boxes_in_lowest_layer: width over height; the first has scale 0.1.
_REDUCED_RATIOS: Final = (1.0, 2.0, 0.5)
_SMALLEST: Final = 0.1
_ONE: Final = np.float32(1)


class SsdAnchorsCalculator(penstock.Calculator):
    """Computes the anchors of a detection model: one box for each of its results, cell by cell.

    Output side packet 0 (list[Anchor]): in the order of the model's results: by layer, rows, columns, boxes
    of a cell. Layers with the same stride that follow each other count as one.

    Options `SsdAnchorsCalculatorOptions`: `input_size_width`, `input_size_height` (pixels of the model's
    input); `num_layers`, and for each a number in `strides` (pixels of a cell), and in `feature_map_width`
    and `feature_map_height` (cells) where they are not the size over the stride, rounded up; `min_scale`,
    `max_scale` (size of the boxes of the first and the last layer); `aspect_ratios` (width over height);
    `interpolated_scale_aspect_ratio` (1; one more box of this ratio, 0 for none);
    `reduce_boxes_in_lowest_layer` (false); `fixed_anchor_size` (false; width and height are 1);
    `anchor_offset_x`, `anchor_offset_y` (0.5; fractions of a cell). With `multiscale_anchor_generation` a
    feature pyramid: `min_level` (3), `max_level` (7), `anchor_scale` (4), `scales_per_octave` (2),
    `normalize_coordinates` (true). Or `fixed_anchors`: the boxes themselves.

    Raises InvalidArgumentError in `get_contract`: fixed_anchors beside fields that generate; no strides; a
    number of strides or sizes that is not that of the layers; a stride or an input size below 1.

    Source of the behaviour: MediaPipe `calculators/tflite/ssd_anchors_calculator.cc`.

    Config::

        node {
          calculator: "SsdAnchorsCalculator"
          output_side_packet: "palm_anchors"
          options {
            [penstock.SsdAnchorsCalculatorOptions.ext] {
              num_layers: 4
              min_scale: 0.1484375
              max_scale: 0.75
              input_size_width: 192
              input_size_height: 192
              strides: 8
              strides: 16
              strides: 16
              strides: 16
              aspect_ratios: 1.0
              fixed_anchor_size: true
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the output; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        _check(cc.options(SsdAnchorsCalculatorOptions))
        cc.output_side_packets[0].set(list[Anchor], "the boxes")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Compute the boxes."""
        options = cc.options(SsdAnchorsCalculatorOptions)
        cc.output_side_packets[0].set(anchors(options))

    def process(self, cc: CalculatorContext) -> None:
        """Do nothing: the node has no streams."""


def anchors(options: SsdAnchorsCalculatorOptions) -> list[Anchor]:
    """Return the boxes that valid options describe."""
    if options.fixed_anchors:
        return [
            Anchor(x_center=one.x_center, y_center=one.y_center, h=one.h, w=one.w)
            for one in options.fixed_anchors
        ]
    made = _pyramid(options) if options.multiscale_anchor_generation else _layers(options)
    return [Anchor(x_center=x, y_center=y, w=w, h=h) for x, y, w, h in made]


#: The most boxes; models have some ten thousand.
_MOST: Final = 1_000_000
#: x of the centre, y of it, width, height.
_Box = tuple[float, float, float, float]


def _layers(options: SsdAnchorsCalculatorOptions) -> Iterator[_Box]:
    strides = options.strides
    first = made = 0
    while first < options.num_layers:
        last = first
        while last + 1 < len(strides) and strides[last + 1] == strides[first]:
            last += 1
        sizes = [size for layer in range(first, last + 1) for size in _sizes(options, layer)]
        if options.fixed_anchor_size:
            sizes = [(1.0, 1.0)] * len(sizes)
        columns, rows = _cells(options, first)
        made += columns * rows * len(sizes)
        check_size_limit(made, "the size of the input and its layers", _MOST)
        across = _centres(columns, options.anchor_offset_x)
        for y in _centres(rows, options.anchor_offset_y):
            for x in across:
                for width, height in sizes:
                    yield x, y, width, height
        first = last + 1


def _sizes(options: SsdAnchorsCalculatorOptions, layer: int) -> Iterator[tuple[float, float]]:
    """Return width and height of the boxes that a layer gives each of its cells."""
    scale = _scale(options, layer)
    if layer == 0 and options.reduce_boxes_in_lowest_layer:
        shapes = list(zip(_REDUCED_RATIOS, (np.float32(_SMALLEST), scale, scale), strict=True))
    else:
        shapes = [(ratio, scale) for ratio in options.aspect_ratios]
        if options.interpolated_scale_aspect_ratio > 0:
            is_last = layer == len(options.strides) - 1
            following = _ONE if is_last else _scale(options, layer + 1)
            shapes.append((options.interpolated_scale_aspect_ratio, np.sqrt(scale * following)))
    for ratio, size in shapes:
        root = np.sqrt(np.float32(ratio))
        yield float(size * root), float(size / root)


def _scale(options: SsdAnchorsCalculatorOptions, layer: int) -> np.float32:
    low, high = np.float32(options.min_scale), np.float32(options.max_scale)
    count = len(options.strides)
    if count == 1:
        return (low + high) * np.float32(0.5)
    return np.float32(float(low) + float(high - low) * layer / (count - 1))


def _cells(options: SsdAnchorsCalculatorOptions, layer: int) -> tuple[int, int]:
    """Return the columns and rows of a feature map."""
    if options.feature_map_height:
        return options.feature_map_width[layer], options.feature_map_height[layer]
    stride = np.float32(options.strides[layer])
    return (
        math.ceil(np.float32(options.input_size_width) / stride),
        math.ceil(np.float32(options.input_size_height) / stride),
    )


def _centres(cells: int, offset: float) -> list[float]:
    found: list[float] = (
        (np.arange(cells, dtype=np.float32) + np.float32(offset)) / np.float32(cells)
    ).tolist()
    return found


def _pyramid(options: SsdAnchorsCalculatorOptions) -> Iterator[_Box]:
    octave = options.scales_per_octave
    check_size_limit(octave * len(options.aspect_ratios), "scales_per_octave", _MOST)
    made = 0
    scales = [np.float32(2.0 ** (k / octave)) for k in range(octave)]
    width, height = np.float32(options.input_size_width), np.float32(options.input_size_height)
    for layer, level in enumerate(range(options.min_level, options.max_level + 1)):
        stride = np.float32(2.0**level)
        base = stride * np.float32(options.anchor_scale)
        columns, rows = _cells(options, layer)
        sizes = []
        for ratio, scale in product(options.aspect_ratios, scales):
            root = np.sqrt(np.float32(ratio))
            sizes.append((scale * root * base, scale * base / root))
        made += columns * rows * len(sizes)
        check_size_limit(made, "the size of the input and its levels", _MOST)
        shift_x = _shift(options.input_size_width, level, stride)
        shift_y = _shift(options.input_size_height, level, stride)
        for y, x in product(range(rows), range(columns)):
            centre_x, centre_y = np.float32(x) * stride + shift_x, np.float32(y) * stride + shift_y
            for own_width, own_height in sizes:
                if options.normalize_coordinates:
                    box = (centre_x / width, centre_y / height, own_width / width, own_height / height)
                else:
                    box = (centre_x, centre_y, own_width, own_height)
                yield tuple(map(float, box))  # type: ignore[misc]  # four, as before


def _shift(size: int, level: int, stride: np.float32) -> np.float32:
    return stride / np.float32(2) if size % 2**level == 0 or size == 1 else np.float32(0)


def _check(options: SsdAnchorsCalculatorOptions) -> None:
    if options.fixed_anchors:
        others = [field for field in _GENERATING if options.HasField(field)]
        others += ["multiscale_anchor_generation"] * options.multiscale_anchor_generation
        if others:
            raise InvalidArgumentError(
                f"fixed_anchors are given beside {', '.join(others)}, which generate SSD anchors; leave out "
                "the one or the other in the options"
            )
    else:
        _check_layers(options)


def _check_layers(options: SsdAnchorsCalculatorOptions) -> None:
    if not options.feature_map_height and not options.strides:
        raise InvalidArgumentError(
            "neither strides nor feature_map_height of the anchors is set; set strides in the options"
        )
    is_pyramid = options.multiscale_anchor_generation
    if not options.strides and not is_pyramid:
        raise InvalidArgumentError("no strides of the anchors are set; set one for each layer in the options")
    layers = options.max_level - options.min_level + 1 if is_pyramid else options.num_layers
    lists: dict[str, Sequence[int]] = {}
    if options.strides and not (is_pyramid and options.feature_map_height):
        lists["strides"] = options.strides
    if options.feature_map_height:
        lists |= {
            "feature_map_height": options.feature_map_height,
            "feature_map_width": options.feature_map_width,
        }
    for field, given in lists.items():
        if len(given) != layers:
            raise InvalidArgumentError(
                f"{field} has {len(given)} numbers, but there are {layers} layers of anchors; set one for "
                "each in the options"
            )
        if any(number < 1 for number in given):
            raise InvalidArgumentError(
                f"the anchors' {field} is {list(given)}, but must be 1 or more; change it in the options"
            )
    _check_sizes(options)


def _check_sizes(options: SsdAnchorsCalculatorOptions) -> None:
    for field in ("input_size_width", "input_size_height"):
        if getattr(options, field) < 1:
            raise InvalidArgumentError(
                f"the anchors' {field} is {getattr(options, field)}, but must be 1 or more; set it in the "
                "options"
            )
    if options.multiscale_anchor_generation and options.scales_per_octave < 1:
        raise InvalidArgumentError(
            f"the anchors' scales_per_octave is {options.scales_per_octave}, but must be 1 or more; change "
            "it in the options"
        )
