"""LappedTensorBufferCalculator: the newest tensors, put together into one."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock import Timestamp
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors.messages.lapped_tensor_buffer_pb2 import LappedTensorBufferCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_OPTIONS: Final = "CALCULATOR_OPTIONS"
#: Side packet → the option that it goes before.
_SIDES: Final = {"BUFFER_SIZE": "buffer_size", "OVERLAP": "overlap", "TIMESTAMP_OFFSET": "timestamp_offset"}
#: The largest buffer. Its tensors are all kept.
_LARGEST: Final = 100_000


class LappedTensorBufferCalculator(penstock.Calculator):
    """Put tensors of successive timestamps together into one, along the first dimension, again and again.

    Input: untagged (Tensor; all of the same type, and of the same size but for the first dimension). Outputs:
    0 (Tensor); 1 (list of Timestamp, optional: when its tensors came). An output has the timestamp of the
    first of its tensors, or of the one that `timestamp_offset` says. Input side packets, each optional and
    before the option of its name: BUFFER_SIZE, OVERLAP, TIMESTAMP_OFFSET (int); CALCULATOR_OPTIONS
    (LappedTensorBufferCalculatorOptions) instead of all options.

    Options `LappedTensorBufferCalculatorOptions`: `buffer_size` (required): so many tensors become one.
    `overlap` (0): so many of them are in the next one too; below 0, so many tensors are left out between two.
    `add_batch_dim_to_tensors` (false): each tensor first gets a dimension of size 1. `timestamp_offset` (0).
    `padding` (0): the first tensor is repeated so often before it; where it is above 0, the last one is
    repeated at the end until the next output is due, and so often after that, and then sent if the output's
    timestamp is later than the one before. Repeated tensors have the timestamp of the one that they repeat,
    so with a large overlap `timestamp_offset` must be at least `padding`.

    Raises in `open`: InvalidArgumentError unless buffer_size is 1 to 100000, overlap is below it, and
    timestamp_offset and padding are from 0 to below it. In `process`: the same for tensors that do not fit
    together.

    Source of the behaviour: MediaPipe `calculators/tensorflow/lapped_tensor_buffer_calculator.cc`. There
    padding may repeat an older tensor at the end, and its output have the timestamp of the end of all
    streams.

    Config::

        node {
          calculator: "LappedTensorBufferCalculator"
          input_stream: "frame_tensor"
          output_stream: "clip_tensor"
          options {
            [penstock.LappedTensorBufferCalculatorOptions.ext] {
              buffer_size: 2 overlap: 1 add_batch_dim_to_tensors: true
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare tensors in and out."""
        cc.inputs[0].set(Tensor, "tensors")
        cc.outputs[0].set(Tensor, "some of them together")
        cc.outputs[1].set(list[Timestamp], "when they came").optional()
        for tag in _SIDES:
            cc.input_side_packets[tag].set(int, "before the option of this name").optional()
        cc.input_side_packets[_OPTIONS].set(LappedTensorBufferCalculatorOptions, "all options").optional()
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options.

        Raises:
            InvalidArgumentError: a number is out of its range.
        """
        sides = cc.input_side_packets
        options = LappedTensorBufferCalculatorOptions()
        options.CopyFrom(
            sides[_OPTIONS].get(LappedTensorBufferCalculatorOptions)
            if _OPTIONS in sides
            else cc.options(LappedTensorBufferCalculatorOptions)
        )
        for tag, field in _SIDES.items():
            if tag in sides:
                setattr(options, field, sides[tag].get(int))
        _check(options)
        self._options = options
        #: Timestamp and elements of the newest tensors.
        self._kept: deque[tuple[int, NDArray[Any]]] = deque(maxlen=options.buffer_size)
        self._until_output = options.buffer_size - options.padding
        #: The timestamp of the last output.
        self._sent: int | None = None

    def process(self, cc: CalculatorContext) -> None:
        """Keep one tensor, and send all that are kept if it is time."""
        tensor: Tensor | None = cc.input.payload
        if tensor is None:
            return
        array = tensor.array[None] if self._options.add_batch_dim_to_tensors else tensor.array
        self._check_fits(tensor, array, cc.input.name)
        if not self._kept:
            self._kept.extend([(cc.stamp, array)] * self._options.padding)
        self._kept.append((cc.stamp, array))
        self._until_output -= 1
        if self._until_output <= 0:
            self._send(cc)

    def close(self, cc: CalculatorContext) -> None:
        """Send what is kept, with the last tensor repeated, if there is padding."""
        if not self._kept or not self._options.padding:
            return
        last = self._kept[-1]
        self._kept.extend([last] * (self._until_output + self._options.padding))
        stamp = self._kept[self._options.timestamp_offset][0] if self._is_full() else None
        if stamp is not None and (self._sent is None or stamp > self._sent):
            self._send(cc)

    def _is_full(self) -> bool:
        return len(self._kept) == self._options.buffer_size

    def _send(self, cc: CalculatorContext) -> None:
        arrays = [array for _, array in self._kept]
        joined = np.concatenate(arrays)
        stamp = self._kept[self._options.timestamp_offset][0]
        cc.outputs[0].add(Tensor(joined, double=joined.dtype == np.float64), stamp)
        if 1 in cc.outputs:
            cc.outputs[1].add([Timestamp.of(time) for time, _ in self._kept], stamp)
        self._sent = stamp
        self._until_output = self._options.buffer_size - self._options.overlap

    def _check_fits(self, tensor: Tensor, array: NDArray[Any], name: str) -> None:
        if array.ndim == 0:
            raise InvalidArgumentError(
                f"input {name!r} holds {tensor!r}, but the buffer puts tensors together along their first "
                "dimension; set add_batch_dim_to_tensors"
            )
        before = self._kept[-1][1] if self._kept else array
        if (before.shape[1:], before.dtype) != (array.shape[1:], array.dtype):
            raise InvalidArgumentError(
                f"input {name!r} holds {tensor!r}, but the tensor before was {before.dtype} "
                f"{'x'.join(map(str, before.shape))}; in a buffer only their first dimensions may differ"
            )


def _check(options: LappedTensorBufferCalculatorOptions) -> None:
    size = options.buffer_size
    if not 1 <= size <= _LARGEST:
        raise InvalidArgumentError(
            f"buffer_size is {size}, but must be 1 to {_LARGEST}; change it in the options"
        )
    if options.overlap >= size:
        raise InvalidArgumentError(
            f"the buffer's overlap is {options.overlap}, but must be below buffer_size, {size}"
        )
    if options.overlap < size - _LARGEST:
        raise InvalidArgumentError(
            f"the buffer's overlap is {options.overlap}, but must be at least {size - _LARGEST}"
        )
    for field in ("timestamp_offset", "padding"):
        if not 0 <= getattr(options, field) < size:
            raise InvalidArgumentError(
                f"{field} is {getattr(options, field)}, but must be at least 0 and below buffer_size, "
                f"{size}, for tensors to be lapped"
            )
