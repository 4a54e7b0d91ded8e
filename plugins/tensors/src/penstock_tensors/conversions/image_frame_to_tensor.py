"""ImageFrameToTensorCalculator: the pixels of a frame as a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame, Tensor
from penstock_tensors.messages.data_type_pb2 import DT_FLOAT, DataType
from penstock_tensors.messages.image_frame_to_tensor_pb2 import ImageFrameToTensorCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


class ImageFrameToTensorCalculator(penstock.Calculator):
    """Make a tensor of the pixels of each frame, as they are or with mean and deviation.

    The only input (ImageFrame) to the only output (Tensor: height x width x channels; uint8, uint16 or
    float32 as the frame has it, and then the same memory where its rows have no gaps). With
    `data_type: DT_FLOAT` it is float32: (value - mean) / stddev. Timestamp offset 0.

    Options `ImageFrameToTensorCalculatorOptions`: `data_type` (DT_FLOAT, or none); `mean` (0), `stddev`: one
    number, or one for each channel; they count only with data_type, and stddev is needed then.

    Raises in `open`: InvalidArgumentError for another data_type, and a missing stddev or one that is not
    above 0. In `process`: the same for a number of means or deviations that are not as many as the channels,
    and frames that have no bytes where data_type is set.

    Source of the behaviour: MediaPipe `calculators/tensorflow/image_frame_to_tensor_calculator.cc`.

    Config::

        node {
          calculator: "ImageFrameToTensorCalculator"
          input_stream: "frame"
          output_stream: "tensor"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frame and the tensor."""
        cc.inputs[0].set(ImageFrame, "the frame")
        cc.outputs[0].set(Tensor, "its pixels")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options.

        Raises:
            InvalidArgumentError: they do not fit together.
        """
        options = cc.options(ImageFrameToTensorCalculatorOptions)
        self._maps = options.HasField("data_type")
        self._mean = np.array(options.mean or [0], np.float32)
        self._deviation = np.array(options.stddev, np.float32)
        if not self._maps:
            return
        if options.data_type != DT_FLOAT:
            raise InvalidArgumentError(
                f"the tensor's data_type is {DataType.Name(options.data_type)}, but must be DT_FLOAT; change "
                "it in the options, or leave it out"
            )
        if not options.stddev or not min(options.stddev) > 0:
            raise InvalidArgumentError(
                f"the tensor's stddev is {list(options.stddev)}, but with data_type it must be one number "
                "above 0, or one for each channel; set it in the options"
            )

    def process(self, cc: CalculatorContext) -> None:
        """Convert one frame."""
        frame: ImageFrame | None = cc.input.payload
        if frame is None:
            return
        pixels = frame.array[:, :, None] if frame.array.ndim == 2 else frame.array  # noqa: PLR2004  # no channels
        array = self._mapped(frame, pixels, cc.input.name) if self._maps else pixels
        cc.output.add(Tensor(array), cc.stamp)

    def _mapped(self, frame: ImageFrame, pixels: NDArray[Any], name: str) -> NDArray[np.float32]:
        if pixels.dtype != np.uint8:
            raise InvalidArgumentError(
                f"input {name!r} holds {frame!r}, but data_type is for image frames of bytes; leave it out "
                "of the options"
            )
        for field, values in (("mean", self._mean), ("stddev", self._deviation)):
            self._check(field, values, pixels.shape, name)
        return np.asarray((pixels - self._mean) / self._deviation, np.float32)

    @staticmethod
    def _check(field: str, values: NDArray[np.float32], shape: Sequence[int], name: str) -> None:
        if len(values) not in {1, shape[2]}:
            raise InvalidArgumentError(
                f"{field} has {len(values)} numbers, but image frames of {name!r} have {shape[2]} channels; "
                "give one number, or one for each channel"
            )
