"""TensorConverterCalculator and TfLiteConverterCalculator: whole images and matrices as tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import cv2
import numpy as np

import penstock
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame, Matrix, Tensor
from penstock_tensors.inputs.input_frames import frame_of
from penstock_tensors.messages.tensor_converter_pb2 import (
    TensorConverterCalculatorOptions,
    TfLiteConverterCalculatorOptions,
)
from penstock_tensors.ports import only_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock.ports import PortSpec

_INPUTS: Final = ("IMAGE", "IMAGE_GPU", "MATRIX")
_FORMATS: Final = (ImageFormat.SRGBA, ImageFormat.SRGB, ImageFormat.GRAY8, ImageFormat.VEC32F1)
_BYTES: Final = _FORMATS[:-1]
_CHANNELS: Final = (1, 3, 4)
_MOST: Final = np.float32(255)


class _Converter(penstock.Calculator):
    """Makes a tensor of each image or matrix; subclasses say what leaves where."""

    #: The output tags of which one is connected.
    output_tags: ClassVar[Sequence[str]]
    #: The sizes of a tensor before height, width and channels.
    leading: ClassVar[tuple[int, ...]]

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> Any:
        raise NotImplementedError

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one input and one output; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cls._options_of(cc)
        _check(options)
        source = only_one(cc.inputs, _INPUTS)
        if source.tag == "IMAGE":
            source.set_one_of(ImageFrame, Image, description="the image")
        elif source.tag == "MATRIX":
            source.set(Matrix, "the matrix")
        else:
            source.set_any("the image, on the GPU")
        cls._declare_output(only_one(cc.outputs, cls.output_tags, "output"))
        cc.set_timestamp_offset(0)

    @staticmethod
    def _declare_output(port: PortSpec) -> None:
        port.set(list[Tensor], "one tensor")

    def open(self, cc: CalculatorContext) -> None:
        """Compute the table of values."""
        options = self._options_of(cc)
        low, high = _range(options)
        scale, self._bias = (high - low) / _MOST, low
        #: What each value of a byte becomes.
        self._table = np.arange(256, dtype=np.float32) * scale + self._bias
        # the reference divides floats like bytes, but for images on the GPU, whose texture it reads as it is
        self._float_scale = high - low if "IMAGE_GPU" in cc.inputs else scale
        self._is_flipped = options.flip_vertically
        self._channels = options.max_num_channels
        self._by_rows = options.row_major_matrix
        self._is_matrix = "MATRIX" in cc.inputs
        self._is_list = "TENSOR" not in cc.outputs

    def process(self, cc: CalculatorContext) -> None:
        """Convert one image or matrix."""
        source = cc.input
        if source.is_empty():
            return
        array = self._of_matrix(source.payload) if self._is_matrix else self._of_image(source)
        tensor = Tensor(array.reshape(*self.leading, *array.shape))
        # the packet's timestamp is newer than the call's where the input policy has dropped packets
        cc.output.add([tensor] if self._is_list else tensor, source.packet.stamp)

    def _of_matrix(self, matrix: Matrix) -> NDArray[Any]:
        """Return the elements as (rows, columns, 1)."""
        rows, columns = matrix.array.shape
        laid = matrix.array if self._by_rows else matrix.array.T
        return np.ascontiguousarray(laid).reshape(rows, columns, 1)

    def _of_image(self, source: Any) -> NDArray[Any]:
        """Return the values as (height, width, channels)."""
        return self._scaled(self._pixels(source, _FORMATS))

    def _pixels(self, source: Any, formats: Sequence[ImageFormat]) -> NDArray[Any]:
        """Return the channels that are kept."""
        pixels = frame_of(source.payload, source.name, formats).array
        return pixels[:, :, None] if pixels.ndim == 2 else pixels[:, :, : self._channels]  # noqa: PLR2004

    def _scaled(self, pixels: NDArray[Any]) -> NDArray[np.float32]:
        if self._is_flipped:
            pixels = pixels[::-1]
        if pixels.dtype == np.float32:
            return np.asarray(pixels * self._float_scale + self._bias)
        made = cv2.LUT(np.ascontiguousarray(pixels), self._table)
        return np.asarray(made, np.float32).reshape(pixels.shape)


class TensorConverterCalculator(_Converter):
    """Makes a tensor of each image as it is, or of each matrix: no region, no other size.

    Inputs, exactly one: IMAGE (ImageFrame or Image; SRGB, SRGBA, GRAY8 or VEC32F1), IMAGE_GPU (an image on
    the GPU, which is copied to main memory), MATRIX (Matrix). Outputs: TENSORS (a list of one Tensor) or
    TENSOR (the Tensor), exactly one: float32, 1 x height x width x channels, in new memory; of a matrix 1 x
    rows x columns x 1. Timestamp offset 0. OpenCV scales bytes without the GIL.

    Options `TensorConverterCalculatorOptions`: `zero_center` (true: 0 to 255 become -1 to 1, otherwise 0 to
    1); `output_tensor_float_range { min, max }` goes before it, `use_custom_normalization` before both:
    values are divided by `custom_div`, then `custom_sub` is subtracted. `flip_vertically` (false);
    `max_num_channels` (3; 1 or 4): further channels are left out; `row_major_matrix` (false: the tensor has
    the elements column after column, one long row of memory in its own shape). `gpu_origin` and
    `use_quantized_tensors` have no effect. Values of VEC32F1 are scaled like bytes; with IMAGE_GPU 1 is to
    them what 255 is to bytes.

    Raises in `get_contract`: InvalidArgumentError for other ports, a range whose min is not below its max,
    another number of channels and custom_div 0; FailedPreconditionError for both flip_vertically and
    gpu_origin. In `process`: InvalidArgumentError for an image of another format.

    Source of the behaviour: MediaPipe `calculators/tensor/tensor_converter_calculator.cc`; images are equal
    to its tensors bit by bit.

    Config::

        node {
          calculator: "TensorConverterCalculator"
          input_stream: "IMAGE:image"
          output_stream: "TENSORS:tensors"
          options { [penstock.TensorConverterCalculatorOptions.ext] { zero_center: false } }
        }
    """

    output_tags: ClassVar = ("TENSORS", "TENSOR")
    leading: ClassVar = (1,)

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> TensorConverterCalculatorOptions:
        return cc.options(TensorConverterCalculatorOptions)

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cls._options_of(cc)
        if options.HasField("flip_vertically") and options.HasField("gpu_origin"):
            raise FailedPreconditionError(
                "both flip_vertically and gpu_origin of the converter are set; leave out one of them"
            )
        super().get_contract(cc)
        cc.declare(may_skip=False, stateless=True)

    @staticmethod
    def _declare_output(port: PortSpec) -> None:
        if port.tag == "TENSOR":
            port.set(Tensor, "the tensor")
        else:
            port.set(list[Tensor], "one tensor")


class TfLiteConverterCalculator(_Converter):
    """Makes a tensor of each image or matrix, for a TfLiteInferenceCalculator.

    As TensorConverterCalculator, with these differences. The tensor is height x width x channels, of a
    matrix rows x columns x 1. Outputs: TENSORS or TENSORS_GPU (a list of one Tensor, in main memory in both
    cases), exactly one. With `use_quantized_tensors` it is uint8 and has the values of the image as they are,
    not flipped; a VEC32F1 image is refused then.

    The node asks for FixedSizeInputStreamHandler, as in the reference: where two packets wait, the older one
    is dropped. `input_stream_handler { input_stream_handler: "DefaultInputStreamHandler" }` in the node keeps
    all.

    Options `TfLiteConverterCalculatorOptions`: those of TensorConverterCalculator without `gpu_origin`.

    Raises as TensorConverterCalculator.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_converter_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteConverterCalculator"
          input_stream: "IMAGE:image"
          output_stream: "TENSORS:image_tensor"
          options { [penstock.TfLiteConverterCalculatorOptions.ext] { zero_center: true } }
        }
    """

    output_tags: ClassVar = ("TENSORS", "TENSORS_GPU")
    leading: ClassVar = ()

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> TfLiteConverterCalculatorOptions:
        return cc.options(TfLiteConverterCalculatorOptions)

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options; ask for the input policy of the reference.

        Raises:
            InvalidArgumentError: as the class says.
        """
        super().get_contract(cc)
        cc.set_input_stream_handler("FixedSizeInputStreamHandler")
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Compute the table of values."""
        super().open(cc)
        # the reference uses no quantized tensors on the GPU
        self._is_quantized = self._options_of(cc).use_quantized_tensors and "IMAGE_GPU" not in cc.inputs

    def _of_image(self, source: Any) -> NDArray[Any]:
        if self._is_quantized:
            return self._pixels(source, _BYTES).copy()
        return super()._of_image(source)


def _range(options: Any) -> tuple[np.float32, np.float32]:
    """Return what 0 and 255 become."""
    if options.use_custom_normalization:
        low = np.float32(-options.custom_sub)
        return low, np.float32(float(low) + 255.0 / options.custom_div)
    if options.HasField("output_tensor_float_range"):
        given = options.output_tensor_float_range
        return np.float32(given.min), np.float32(given.max)
    return np.float32(-1 if options.zero_center else 0), np.float32(1)


def _check(options: Any) -> None:
    """Refuse options that no tensor can be made by."""
    given = options.output_tensor_float_range
    if options.HasField("output_tensor_float_range") and not given.min < given.max:
        raise InvalidArgumentError(
            f"the converter's output_tensor_float_range is from {given.min:g} to {given.max:g}, but min must "
            "be below max; change it in the options"
        )
    if options.max_num_channels not in _CHANNELS:
        raise InvalidArgumentError(
            f"the converter's max_num_channels is {options.max_num_channels}, but must be 1, 3 or 4; change "
            "it in the options"
        )
    if options.use_custom_normalization and options.custom_div == 0:
        raise InvalidArgumentError(
            "the converter's custom_div is 0, but values are divided by it; change it in the options, or "
            "leave out use_custom_normalization"
        )
