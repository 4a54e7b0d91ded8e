"""VectorFloatToTensorCalculator, VectorIntToTensorCalculator, VectorStringToTensorCalculator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors.conversions.rows import check_list, check_rows
from penstock_tensors.messages import data_type_pb2 as types
from penstock_tensors.messages.typed_vector_to_tensor_pb2 import (
    VectorFloatToTensorCalculatorOptions,
    VectorIntToTensorCalculatorOptions,
    VectorStringToTensorCalculatorOptions,
)
from penstock_tensors.ports import only_one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

#: The values of INPUT_1D and INPUT_2D, the same in all options.
_1D: Final = int(VectorFloatToTensorCalculatorOptions.INPUT_1D)
_2D: Final = int(VectorFloatToTensorCalculatorOptions.INPUT_2D)
_FLOATS: Final[Mapping[int, Any]] = {types.DT_FLOAT: np.float32, types.DT_DOUBLE: np.float64}
_INTS: Final[Mapping[int, Any]] = {
    types.DT_INT32: np.int32,
    types.DT_INT64: np.int64,
    types.DT_UINT8: np.uint8,
    types.DT_UINT32: np.uint32,
}


class VectorFloatToTensorCalculator(penstock.Calculator):
    """Make a tensor of a list of floats, or of a list of rows of floats.

    The only input (list of float; list of lists of float for INPUT_2D) to the only output (Tensor: float32,
    or float64 for DT_DOUBLE; one dimension, or rows x columns). Timestamp offset 0.

    Options `VectorFloatToTensorCalculatorOptions`: `input_size` (INPUT_1D, INPUT_2D); `transpose` (false:
    rows become columns; only for INPUT_2D); `tensor_data_type` (DT_FLOAT, DT_DOUBLE).

    Raises in `get_contract`: InvalidArgumentError for another input_size or type. In `process`: the same for
    a list without elements, and rows of different lengths.

    Source of the behaviour: MediaPipe `calculators/tensorflow/vector_float_to_tensor_calculator.cc`.

    Config::

        node {
          calculator: "VectorFloatToTensorCalculator"
          input_stream: "numbers"
          output_stream: "tensor"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the list and the tensor.

        Raises:
            InvalidArgumentError: the options name no size or type that there is.
        """
        options = cc.options(VectorFloatToTensorCalculatorOptions)
        has_rows = _has_rows(options.input_size)
        _type_of(options.tensor_data_type, _FLOATS)
        cc.inputs[0].set(list[list[float]] if has_rows else list[float], "the numbers")
        cc.outputs[0].set(Tensor, "the same numbers")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        options = cc.options(VectorFloatToTensorCalculatorOptions)
        self._has_rows, self._transposes = _has_rows(options.input_size), options.transpose
        self._type = _type_of(options.tensor_data_type, _FLOATS)

    def process(self, cc: CalculatorContext) -> None:
        """Convert one list."""
        if cc.input.is_empty():
            return
        array = _array(
            cc.input, cc.input.payload, self._type, has_rows=self._has_rows, transposes=self._transposes
        )
        cc.output.add(Tensor(array, double=self._type is np.float64), cc.stamp)


class VectorIntToTensorCalculator(penstock.Calculator):
    """Make a tensor of a whole number, a list of them, or a list of rows of them.

    Inputs, exactly one: SINGLE_INT (int), VECTOR_INT (list of int; list of lists of int for INPUT_2D).
    Output: TENSOR_OUT (Tensor: int32, int64, uint8 or uint32; no, one or two dimensions).

    Options `VectorIntToTensorCalculatorOptions`: `input_size` (INPUT_1D; INPUT_2D for rows);
    `tensor_data_type` (DT_INT32, DT_INT64, DT_UINT8, DT_UINT32; numbers keep their lowest bits);
    `transpose` (false: rows become columns; only for INPUT_2D); `scalar_output` (false: one number becomes a
    tensor without dimensions; only for INPUT_1D).

    Raises in `get_contract`: InvalidArgumentError for both inputs or none, another input_size or type, and
    scalar_output or SINGLE_INT with INPUT_2D. In `process`: the same for a list without elements, rows of
    different lengths, a number of more than 64 bits, and scalar_output with several numbers.

    Source of the behaviour: MediaPipe `calculators/tensorflow/vector_int_to_tensor_calculator.cc`, which has
    no timestamp offset either.

    Config::

        node {
          calculator: "VectorIntToTensorCalculator"
          input_stream: "VECTOR_INT:numbers"
          output_stream: "TENSOR_OUT:tensor"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the number or the list, and the tensor.

        Raises:
            InvalidArgumentError: the options name no size or type that there is, or contradict each other.
        """
        options = cc.options(VectorIntToTensorCalculatorOptions)
        has_rows = _has_rows(options.input_size)
        _type_of(options.tensor_data_type, _INTS)
        source = only_one(cc.inputs, ("SINGLE_INT", "VECTOR_INT"))
        if has_rows and (options.scalar_output or source.tag == "SINGLE_INT"):
            raise InvalidArgumentError(
                "the typed vector's input_size is INPUT_2D, but scalar_output and the input SINGLE_INT are "
                "for INPUT_1D; change one of them"
            )
        if source.tag == "SINGLE_INT":
            source.set(int, "the number")
        else:
            source.set(list[list[int]] if has_rows else list[int], "the numbers")
        cc.outputs["TENSOR_OUT"].set(Tensor, "the same numbers")
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        options = cc.options(VectorIntToTensorCalculatorOptions)
        self._has_rows, self._transposes = _has_rows(options.input_size), options.transpose
        self._is_scalar = options.scalar_output
        self._type = _type_of(options.tensor_data_type, _INTS)
        self._is_single = "SINGLE_INT" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Convert one number or list."""
        source = cc.input
        if source.is_empty():
            return
        values = [source.payload] if self._is_single else source.payload
        try:
            array = _array(source, values, np.int64, has_rows=self._has_rows, transposes=self._transposes)
        except OverflowError as error:
            raise InvalidArgumentError(
                f"input {source.name!r} holds a number of more than 64 bits, which no typed vector can "
                f"hold: {error}"
            ) from error
        if self._is_scalar:
            if array.size != 1:
                raise InvalidArgumentError(
                    f"input {source.name!r} holds a vector of {array.size} numbers, but scalar_output takes "
                    "one; leave out scalar_output"
                )
            array = array.reshape(())
        cc.outputs["TENSOR_OUT"].add(Tensor(array.astype(self._type)), cc.stamp)


class VectorStringToTensorCalculator(penstock.Calculator):
    """Make an array of a list of texts, or of a list of rows of texts.

    The only input (list of str; list of lists of str for INPUT_2D) to the only output (numpy.ndarray of
    texts, of the type `<U...`; one dimension, or rows x columns). A Tensor holds numbers only. Timestamp
    offset 0.

    Options `VectorStringToTensorCalculatorOptions`: `input_size` (INPUT_1D, INPUT_2D); `transpose` (false:
    rows become columns; only for INPUT_2D).

    Raises in `get_contract`: InvalidArgumentError for another input_size. In `process`: the same for a list
    without elements, rows of different lengths, and a text that ends with a NUL, which NumPy cannot keep.

    Source of the behaviour: MediaPipe `calculators/tensorflow/vector_string_to_tensor_calculator.cc`.

    Config::

        node {
          calculator: "VectorStringToTensorCalculator"
          input_stream: "texts"
          output_stream: "array"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the list and the array.

        Raises:
            InvalidArgumentError: the options name no size that there is.
        """
        has_rows = _has_rows(cc.options(VectorStringToTensorCalculatorOptions).input_size)
        cc.inputs[0].set(list[list[str]] if has_rows else list[str], "the texts")
        cc.outputs[0].set(np.ndarray, "the same texts")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        options = cc.options(VectorStringToTensorCalculatorOptions)
        self._has_rows, self._transposes = _has_rows(options.input_size), options.transpose

    def process(self, cc: CalculatorContext) -> None:
        """Convert one list."""
        source = cc.input
        if source.is_empty():
            return
        texts = source.payload
        for text in (text for row in texts for text in row) if self._has_rows else texts:
            if text.endswith("\0"):
                raise InvalidArgumentError(
                    f"input {source.name!r} holds a text that ends with a NUL, which no tensor of a typed "
                    "vector can keep; strip it before"
                )
        array = _array(source, texts, np.str_, has_rows=self._has_rows, transposes=self._transposes)
        array.setflags(write=False)
        cc.output.add(array, cc.stamp)


def _has_rows(input_size: int) -> bool:
    if input_size not in (_1D, _2D):
        raise InvalidArgumentError(
            "the typed vector's input_size is UNKNOWN, but must be INPUT_1D or INPUT_2D; change it in the "
            "options"
        )
    return input_size == _2D


def _type_of(data_type: types.DataType, known: Mapping[int, Any]) -> Any:
    if data_type not in known:
        raise InvalidArgumentError(
            f"tensor_data_type is {types.DataType.Name(data_type)}, but must be one of "
            f"{', '.join(types.DataType.Name(one) for one in known)}; change it in the options"
        )
    return known[data_type]


def _array(port: Input, values: Any, kind: Any, *, has_rows: bool, transposes: bool) -> NDArray[Any]:
    """Return a list, or a list of rows, as a new array.

    Raises:
        InvalidArgumentError: the list has no elements, or rows of different lengths.
    """
    if has_rows:
        check_rows(port, values)
    else:
        check_list(port, values)
    array = np.array(values, kind)
    return np.ascontiguousarray(array.T) if has_rows and transposes else array
