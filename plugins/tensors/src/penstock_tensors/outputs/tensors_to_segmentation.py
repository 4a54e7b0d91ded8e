"""TensorsToSegmentationCalculator: the mask that a model made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame, Tensor
from penstock_tensors.messages.tensors_to_segmentation_pb2 import TensorsToSegmentationCalculatorOptions
from penstock_tensors.outputs.tensor_numbers import first_of, floats_of, softmax_of_two

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

_Options: Final = TensorsToSegmentationCalculatorOptions
_TAGS: Final = ("TENSORS", "TENSOR")
_DIMENSIONS: Final = 3
_SOFTMAX_CHANNELS: Final = 2


class TensorsToSegmentationCalculator(penstock.Calculator):
    """Make a mask of a tensor: a number for each pixel, 0 to 1 with an activation.

    Inputs: exactly one of TENSORS (list[Tensor]; the first is read) and TENSOR (Tensor), float32 of 1 x
    height x width x channels, the 1 may be missing; OUTPUT_SIZE (optional: tuple of width and height in
    pixels; by default the mask has the tensor's size). Output: MASK (Image on the CPU, VEC32F1, new memory,
    scaled with bilinear interpolation). Timestamp offset 0. Where an input has no packet, nothing is sent.
    OpenCV runs without the GIL.

    Options `TensorsToSegmentationCalculatorOptions`: `activation` (NONE: the one channel is the mask;
    SIGMOID, of one channel; SOFTMAX, of two), `output_layer_index` (1: the channel that is the mask after
    SOFTMAX, 0 or 1), `gpu_origin` (does not count).

    Raises in `get_contract`: InvalidArgumentError unless exactly one of TENSORS and TENSOR is connected,
    and for another output_layer_index with SOFTMAX. In `process`: the same for an empty list, another
    shape, number of channels or element type, and a size that is none.

    Source of the behaviour: MediaPipe `calculators/tensor/tensors_to_segmentation_calculator.cc`.

    Config::

        node {
          calculator: "TensorsToSegmentationCalculator"
          input_stream: "TENSORS:segmentation_tensors"
          input_stream: "OUTPUT_SIZE:image_size"
          output_stream: "MASK:mask"
          options { [penstock.TensorsToSegmentationCalculatorOptions.ext] { activation: SIGMOID } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: the tensor comes in two ways or none, or the layer does not exist.
        """
        if ("TENSORS" in cc.inputs) == ("TENSOR" in cc.inputs):
            raise InvalidArgumentError(
                "for a segmentation connect exactly one of the inputs TENSORS and TENSOR"
            )
        if "TENSORS" in cc.inputs:
            cc.inputs["TENSORS"].set(list[Tensor], "what a model said; the first is read")
        else:
            cc.inputs["TENSOR"].set(Tensor, "what a model said")
        cc.inputs["OUTPUT_SIZE"].set(tuple, "width and height of the mask in pixels").optional()
        cc.outputs["MASK"].set(Image, "a number for each pixel (VEC32F1)")
        options = cc.options(_Options)
        if options.activation == _Options.SOFTMAX and not 0 <= options.output_layer_index < _SOFTMAX_CHANNELS:
            raise InvalidArgumentError(
                f"the segmentation's output_layer_index is {options.output_layer_index}, but SOFTMAX has the "
                "channels 0 and 1; change it in the options"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        self._options = cc.options(_Options)
        self._tag = next(tag for tag in _TAGS if tag in cc.inputs)
        self._is_sized = "OUTPUT_SIZE" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Make the mask of one tensor."""
        source = cc.inputs[self._tag]
        if source.is_empty() or (self._is_sized and cc.inputs["OUTPUT_SIZE"].is_empty()):
            return
        values = first_of(source) if self._tag == "TENSORS" else floats_of(source.payload, source)
        mask = self._activated(self._pixels(values, source))
        height, width = mask.shape
        size = _size(cc.inputs["OUTPUT_SIZE"]) if self._is_sized else (width, height)
        if size != (width, height):
            mask = np.asarray(cv2.resize(mask, size, interpolation=cv2.INTER_LINEAR), np.float32)
        elif self._options.activation == _Options.NONE:
            mask = mask.copy()  # the tensor's memory is not ours
        cc.outputs["MASK"].add(Image(ImageFrame(mask, ImageFormat.VEC32F1)), cc.stamp)

    def _pixels(self, values: NDArray[np.float32], port: Input) -> NDArray[np.float32]:
        """Return the numbers as (height, width, channels)."""
        is_softmax = self._options.activation == _Options.SOFTMAX
        channels = _SOFTMAX_CHANNELS if is_softmax else 1
        shape = values.shape
        if len(shape) == _DIMENSIONS + 1 and shape[0] == 1:
            shape = shape[1:]
        if len(shape) != _DIMENSIONS or shape[2] != channels or 0 in shape:
            name = _Options.Activation.Name(self._options.activation)
            raise InvalidArgumentError(
                f"input {port.name!r} holds a tensor of shape {values.shape}, but activation {name} takes "
                f"(1, height, width, {channels}); connect the right tensor, or change the activation"
            )
        return values.reshape(shape)

    def _activated(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the mask as (height, width)."""
        activation = self._options.activation
        if activation == _Options.NONE:
            return pixels[:, :, 0]
        with np.errstate(over="ignore"):  # infinity gives 0
            if activation == _Options.SIGMOID:
                # only the exponential is in single precision
                return (1.0 / (np.exp(-pixels[:, :, 0]).astype(np.float64) + 1.0)).astype(np.float32)
        return softmax_of_two(pixels, self._options.output_layer_index)


def _size(port: Input) -> tuple[int, int]:
    size = port.payload
    try:
        width, height = size
        is_size = width > 0 and height > 0
    except (TypeError, ValueError):
        is_size = False
    if not is_size:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {size!r}, but the size of a segmentation is (width, height), both "
            "above 0; connect the SIZE of an ImagePropertiesCalculator"
        )
    return int(width), int(height)
