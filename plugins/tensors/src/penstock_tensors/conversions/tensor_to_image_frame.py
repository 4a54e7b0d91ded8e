"""TensorToImageFrameCalculator: the numbers of a tensor as pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame, Tensor
from penstock_tensors.messages.tensor_to_image_frame_pb2 import TensorToImageFrameCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_CHANNELS: Final = (1, 3)
_MOST: Final = np.float32(255)
#: Keeps a tensor of equal numbers from a division by 0.
_LITTLE: Final = 1e-9


class TensorToImageFrameCalculator(penstock.Calculator):
    """Make a frame of each tensor of pixels.

    Input: TENSOR (Tensor, float32 or uint8: height x width x 3, height x width x 1, or height x width).
    Output: IMAGE (ImageFrame, SRGB or GRAY8). float32 numbers are multiplied by `scale_factor`, limited to 0
    to 255, and their fractions cut off; bytes stay as they are. Timestamp offset 0.

    Options `TensorToImageFrameCalculatorOptions`: `scale_factor` (1.0); `scale_per_frame_min_max` (false;
    true: the least number of each tensor becomes 0 and the greatest 255).

    Raises in `process`: InvalidArgumentError for another shape or element type, and for bytes with a
    scale_factor or scale_per_frame_min_max.

    Source of the behaviour: MediaPipe `calculators/tensorflow/tensor_to_image_frame_calculator.cc`. There
    scale_factor counts with scale_per_frame_min_max for the limits and not for the numbers.

    Config::

        node {
          calculator: "TensorToImageFrameCalculator"
          input_stream: "TENSOR:tensor"
          output_stream: "IMAGE:image"
          options { [penstock.TensorToImageFrameCalculatorOptions.ext] { scale_factor: 255.0 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the tensor and the frame."""
        cc.inputs["TENSOR"].set(Tensor, "pixels")
        cc.outputs["IMAGE"].set(ImageFrame, "the frame")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        options = cc.options(TensorToImageFrameCalculatorOptions)
        self._factor = np.float32(options.scale_factor)
        self._stretches = options.scale_per_frame_min_max

    def process(self, cc: CalculatorContext) -> None:
        """Convert one tensor."""
        source = cc.inputs["TENSOR"]
        tensor: Tensor | None = source.payload
        if tensor is None:
            return
        array = tensor.array
        channels = array.shape[2:] or (1,)
        if array.ndim not in (2, 3) or channels[0] not in _CHANNELS or 0 in array.shape:
            raise InvalidArgumentError(
                f"input {source.name!r} holds {tensor!r}, but a frame is height x width, alone or x 1 or x "
                "3; reshape the tensor"
            )
        pixels = array.reshape(array.shape[:2]) if channels == (1,) else array
        cc.outputs["IMAGE"].add(ImageFrame(self._bytes(pixels, tensor, source.name)), cc.stamp)

    def _bytes(self, pixels: NDArray[Any], tensor: Tensor, name: str) -> NDArray[np.uint8]:
        if pixels.dtype == np.float32:
            return self._stretched(pixels) if self._stretches else self._scaled(pixels)
        if pixels.dtype != np.uint8:
            raise InvalidArgumentError(
                f"input {name!r} holds {tensor!r}, but an image frame is made of float32 and uint8; convert "
                "the tensor"
            )
        if self._stretches or self._factor != 1:
            raise InvalidArgumentError(
                f"input {name!r} holds {tensor!r}, but scale_factor and scale_per_frame_min_max are for "
                "float32; leave them out of the options"
            )
        return pixels

    def _scaled(self, pixels: NDArray[np.float32]) -> NDArray[np.uint8]:
        with np.errstate(over="ignore"):
            scaled = np.clip(pixels * self._factor, 0, _MOST)
        return np.asarray(np.nan_to_num(scaled), np.uint8)

    @staticmethod
    def _stretched(pixels: NDArray[np.float32]) -> NDArray[np.uint8]:
        least, most = pixels.min(), pixels.max()
        with np.errstate(over="ignore", invalid="ignore"):
            shares = (_MOST * (pixels - least)).astype(np.float64) / (float(most - least) + _LITTLE)
        return np.asarray(np.nan_to_num(shares.astype(np.float32), posinf=0.0), np.uint8)
