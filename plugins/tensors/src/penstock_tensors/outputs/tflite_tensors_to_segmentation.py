"""TfLiteTensorsToSegmentationCalculator: the mask that a model made, as an image of bytes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame, Tensor
from penstock_tensors.inputs.input_frames import frame_of
from penstock_tensors.messages.tflite_tensors_to_segmentation_pb2 import (
    TfLiteTensorsToSegmentationCalculatorOptions,
)
from penstock_tensors.outputs.tensor_numbers import floats_of, softmax_of_two
from penstock_tensors.ports import only_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

_TENSORS: Final = ("TENSORS", "TENSORS_GPU")
_MASKS: Final = ("MASK", "MASK_GPU")
_PREVIOUS: Final = ("PREV_MASK", "PREV_MASK_GPU")
_SIZES: Final = ("REFERENCE_IMAGE", "REFERENCE_IMAGE_GPU")
_FORMATS: Final = (ImageFormat.GRAY8, ImageFormat.SRGB, ImageFormat.SRGBA)
_FIELDS: Final = ("tensor_width", "tensor_height", "tensor_channels")
_CHANNELS: Final = 2
_DIMENSIONS: Final = 3
_ONE: Final = np.float32(1)
#: Keeps the logarithm of 0 finite.
_TINY: Final = np.float32(0.001)
_MOST: Final = np.float32(255)


class TfLiteTensorsToSegmentationCalculator(penstock.Calculator):
    """Makes a mask of a tensor of two channels: after softmax, mixed with the mask before, in bytes.

    Inputs: TENSORS or TENSORS_GPU (list of one Tensor, float32 of `tensor_height` x `tensor_width` x 2, in
    main memory in both cases), exactly one; PREV_MASK or PREV_MASK_GPU (an image; its first channel is the
    mask before, optional, also at single timestamps); REFERENCE_IMAGE or REFERENCE_IMAGE_GPU (an image whose
    size the mask gets, optional). Output: MASK (ImageFrame, SRGBA, new memory: the mask in red and alpha, 0
    to 255, rounded down; green and blue are 0) or MASK_GPU (a GpuBuffer of penstock-gpu with the same
    pixels), exactly one. Without a tensor, or without the reference image, nothing is sent. Timestamp offset
    0. OpenCV scales with bilinear interpolation, without the GIL.

    With a mask before, each number is the more of it the less certain the new one is: with the entropy h of
    the new number in bits, a = 1 - h and b = a (2 - a), it is b new + (1 - b) old; of this and the new number
    `combine_with_previous_ratio` is the share of the first.

    Options `TfLiteTensorsToSegmentationCalculatorOptions`: `tensor_width`, `tensor_height`,
    `tensor_channels` (required; 2 channels), `combine_with_previous_ratio` (1), `output_layer_index` (1: the
    channel that is the mask, or 0), `flip_vertically` (false).

    Raises in `get_contract`: InvalidArgumentError for other ports or options; FailedPreconditionError in
    `open` for MASK_GPU without penstock-gpu. In `process`: InvalidArgumentError for another number of
    tensors, size or element type, and for images of another format.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_tensors_to_segmentation_calculator.cc`, its
    path on the CPU. A number that is a whole one up to the last bit may be rounded down to one less than
    there.

    Config::

        node {
          calculator: "TfLiteTensorsToSegmentationCalculator"
          input_stream: "TENSORS:segmentation_tensor"
          input_stream: "PREV_MASK:hair_mask_before"
          output_stream: "MASK:hair_mask"
          options {
            [penstock.TfLiteTensorsToSegmentationCalculatorOptions.ext] {
              tensor_width: 512
              tensor_height: 512
              tensor_channels: 2
              combine_with_previous_ratio: 0.9
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        _check(cc.options(TfLiteTensorsToSegmentationCalculatorOptions))
        only_one(cc.inputs, _TENSORS).set(list[Tensor], "what a model said: one tensor")
        for tags, what in ((_PREVIOUS, "the mask before"), (_SIZES, "has the size of the mask")):
            if all(tag in cc.inputs for tag in tags):
                raise InvalidArgumentError(
                    f"the TfLite segmentation's inputs {' and '.join(tags)} are connected; leave out one"
                )
            cc.inputs[tags[0]].set_one_of(ImageFrame, Image, description=what).optional()
            cc.inputs[tags[1]].set_any(f"{what}, on the GPU").optional()
        only_one(cc.outputs, _MASKS, "output")
        cc.outputs["MASK"].set(ImageFrame, "the mask in red and alpha").optional()
        cc.outputs["MASK_GPU"].set_any("the mask in red and alpha, a GpuBuffer").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options and ports.

        Raises:
            FailedPreconditionError: MASK_GPU is connected, and penstock-gpu is not installed.
        """
        self._options = cc.options(TfLiteTensorsToSegmentationCalculatorOptions)
        self._size = (self._options.tensor_width, self._options.tensor_height)
        self._ratio = np.float32(self._options.combine_with_previous_ratio)
        self._to_gpu = _gpu_buffer().of_frame if "MASK_GPU" in cc.outputs else None

    def process(self, cc: CalculatorContext) -> None:
        """Make the mask of one tensor."""
        source, before, like = (
            next((cc.inputs[tag] for tag in tags if tag in cc.inputs), None)
            for tags in (_TENSORS, _PREVIOUS, _SIZES)
        )
        if source is None or source.is_empty() or (like is not None and like.is_empty()):
            return
        mask = softmax_of_two(self._pixels(source), self._options.output_layer_index)
        if before is not None and not before.is_empty():
            mask = self._mixed(mask, before)
        small = np.zeros((*mask.shape, 4), np.uint8)
        small[:, :, 0] = small[:, :, 3] = (mask * _MOST).astype(np.uint8)
        if self._options.flip_vertically:
            small = np.ascontiguousarray(small[::-1])
        size = self._size
        if like is not None:
            image = frame_of(like.payload, like.name, tuple(ImageFormat))
            size = (image.width, image.height)
        large = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_LINEAR), np.uint8)
        frame = ImageFrame(large, ImageFormat.SRGBA)
        cc.output.add(frame if self._to_gpu is None else self._to_gpu(frame), cc.stamp)

    def _pixels(self, port: Input) -> NDArray[np.float32]:
        """Return the tensor as (height, width, 2)."""
        tensors: list[Tensor] = port.payload
        if len(tensors) != 1:
            raise InvalidArgumentError(
                f"input {port.name!r} holds {len(tensors)} tensors, but a TfLite segmentation takes one; "
                "split the list before"
            )
        values = floats_of(tensors[0], port)
        width, height = self._size
        if values.size != width * height * _CHANNELS:
            raise InvalidArgumentError(
                f"input {port.name!r} holds a tensor of shape {values.shape}, but by the options it is "
                f"{height}x{width}x{_CHANNELS}; tensor_height and tensor_width must be the model's"
            )
        return values.reshape(height, width, _CHANNELS)

    def _mixed(self, new: NDArray[np.float32], before: Input) -> NDArray[np.float32]:
        """Return the mask mixed with the one before, rounded to 32 bits where the reference does."""
        pixels = frame_of(before.payload, before.name, _FORMATS).array
        first = np.ascontiguousarray(pixels if pixels.ndim < _DIMENSIONS else pixels[:, :, 0])
        resized = cv2.resize(first, self._size, interpolation=cv2.INTER_LINEAR)
        old = np.asarray(resized, np.float32) / _MOST
        rest = 1.0 - new.astype(np.float64)
        entropy = (new * np.log(new + _TINY)).astype(np.float64) + rest * np.log(rest + float(_TINY))
        certain = np.clip((1.0 + entropy / float(np.log(np.float32(2)))).astype(np.float32), 0, 1)
        share = (certain * (2.0 - certain.astype(np.float64))).astype(np.float32)
        mixed = new * share + old * (_ONE - share)
        return np.asarray(mixed * self._ratio + (_ONE - self._ratio) * new, np.float32)


def _check(options: TfLiteTensorsToSegmentationCalculatorOptions) -> None:
    for name in _FIELDS:
        if getattr(options, name) < 1:
            raise InvalidArgumentError(
                f"the TfLite segmentation's {name} is {getattr(options, name)}, but must be 1 or more; set "
                "the size of the model's tensor"
            )
    if options.tensor_channels != _CHANNELS:
        raise InvalidArgumentError(
            f"the TfLite segmentation's tensor_channels is {options.tensor_channels}, but only 2 are "
            "possible; use a model with two"
        )
    if not 0 <= options.output_layer_index < _CHANNELS:
        raise InvalidArgumentError(
            f"the TfLite segmentation's output_layer_index is {options.output_layer_index}, but there are "
            "the channels 0 and 1; change it in the options"
        )
    if not 0 <= options.combine_with_previous_ratio <= 1:
        raise InvalidArgumentError(
            "the TfLite segmentation's combine_with_previous_ratio is "
            f"{options.combine_with_previous_ratio:g}, but must be 0 to 1; change it in the options"
        )


def _gpu_buffer() -> Any:
    try:
        module: Any = import_module("penstock_gpu")
    except ImportError as error:
        raise FailedPreconditionError(
            "the TfLite segmentation's MASK_GPU is connected, but penstock-gpu, which has images on the "
            "GPU, is not installed; run pip install penstock-gpu, or connect MASK"
        ) from error
    return module.GpuBuffer
