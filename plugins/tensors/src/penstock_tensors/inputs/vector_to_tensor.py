"""VectorToTensorCalculator: a row of numbers as a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors.messages.vector_to_tensor_pb2 import VectorToTensorCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_TYPES: Final = frozenset(np.dtype(name) for name in ("float32", "uint8", "int8", "int32", "bool"))
_INT32: Final = np.iinfo(np.int32)


class VectorToTensorCalculator(penstock.Calculator):
    """Makes a tensor of a list or an array of numbers.

    Input: VECTOR: an array of one dimension (float32, uint8, int8, int32 or bool), or a list of numbers: of
    bools it becomes bool, of other ints int32, else float32; or bytes, which become int8. Output: TENSOR
    (Tensor, 1 x numbers, of that element type, in new memory). Timestamp offset 0.

    Options `VectorToTensorCalculatorOptions`: `output_dynamic_tensor_shape` has no effect: a model whose
    sizes are open takes tensors of each size.

    Raises in `process`: InvalidArgumentError for no numbers, an array of another shape or element type, what
    is no number, and an int that int32 does not hold.

    Source of the behaviour: MediaPipe `calculators/tensor/vector_to_tensor_calculator.cc`.

    Config::

        node {
          calculator: "VectorToTensorCalculator"
          input_stream: "VECTOR:numbers"
          output_stream: "TENSOR:tensor"
        }
    """

    Options = VectorToTensorCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare numbers in, a tensor out."""
        cc.inputs["VECTOR"].set_one_of(list, np.ndarray, bytes, description="numbers")
        cc.outputs["TENSOR"].set(Tensor, "the same numbers")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Make one tensor."""
        source = cc.inputs["VECTOR"]
        if source.is_empty():
            return
        try:
            array = _array(source.payload)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"input {source.name!r} {error}") from error
        cc.outputs["TENSOR"].add(Tensor(array[None], copy=True), cc.stamp)


def _array(payload: Any) -> NDArray[Any]:
    """Return the numbers, in one dimension."""
    if isinstance(payload, bytes):
        array: NDArray[Any] = np.frombuffer(payload, np.int8)
    else:
        array = payload if isinstance(payload, np.ndarray) else _of_list(payload)
    if array.ndim != 1 or array.dtype not in _TYPES:
        raise InvalidArgumentError(
            f"holds an array of {array.dtype} and shape {array.shape}, but a vector has one dimension and "
            "the type float32, uint8, int8, int32 or bool; convert it before"
        )
    if not array.size:
        raise InvalidArgumentError("holds no numbers, but a tensor has one at least; send nothing instead")
    return array


def _of_list(numbers: list[Any]) -> NDArray[Any]:
    try:
        array = np.array(numbers)
    except ValueError as error:  # it has lists of several lengths
        raise InvalidArgumentError(
            f"holds a list that is no vector of numbers for a tensor: {error}"
        ) from error
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    if array.dtype.kind == "i" and array.size and _INT32.min <= array.min() and array.max() <= _INT32.max:
        return array.astype(np.int32)
    return array.astype(np.float32) if not array.size else array
