"""TensorToVectorFloatCalculator, TensorToVectorIntCalculator, TensorToVectorStringCalculator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors.messages.tensor_to_vector_pb2 import (
    TensorToVectorFloatCalculatorOptions,
    TensorToVectorIntCalculatorOptions,
    TensorToVectorStringCalculatorOptions,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock.types import PayloadType

_ROWS_AND_COLUMNS: Final = 2


class _ToList(penstock.Calculator):
    """Makes a list of each tensor, or a list of rows; subclasses say of which elements."""

    #: The class of the options.
    options_class: ClassVar[Any]
    #: What comes in.
    takes: ClassVar[PayloadType] = Tensor
    #: A list and a list of rows of the elements.
    lists: ClassVar[tuple[PayloadType, PayloadType]]
    #: The element types, as an error says them.
    named: ClassVar[str]

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the tensor and the list.

        Raises:
            InvalidArgumentError: both tensor_is_2d and flatten_nd are set.
        """
        options = cc.options(cls.options_class)
        if options.tensor_is_2d and options.flatten_nd:
            raise InvalidArgumentError(
                "for a tensor to become a vector, tensor_is_2d asks for a list of rows and flatten_nd for "
                "one list; leave out one of them"
            )
        cc.inputs[0].set(cls.takes, f"a tensor of {cls.named}")
        cc.outputs[0].set(cls.lists[options.tensor_is_2d], "its elements, row by row")
        cc.set_timestamp_offset(0)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        options = cc.options(self.options_class)
        self._has_rows, self._flattens = options.tensor_is_2d, options.flatten_nd

    def process(self, cc: CalculatorContext) -> None:
        """Convert one tensor."""
        source = cc.input
        if source.is_empty():
            return
        given = source.payload
        array: NDArray[Any] = given.array if isinstance(given, Tensor) else given
        if not self.fits(array.dtype):
            raise InvalidArgumentError(
                f"input {source.name!r} holds a tensor of {array.dtype}, but to become a vector it must be "
                f"of {self.named}; convert it before"
            )
        wanted = _ROWS_AND_COLUMNS if self._has_rows else 1
        if not self._flattens and array.ndim != wanted:
            raise InvalidArgumentError(
                f"input {source.name!r} holds a tensor of {array.ndim} dimensions, but the calculator reads "
                f"{wanted}; set flatten_nd to get one list of any number of dimensions"
            )
        rows = array if self._has_rows else array.reshape(1, -1)
        made = [self.made_of(row) for row in rows]
        cc.output.add(made if self._has_rows else made[0], cc.stamp)

    @staticmethod
    def fits(kind: np.dtype[Any]) -> bool:
        """Return whether tensors of this element type are read."""
        raise NotImplementedError

    def made_of(self, row: NDArray[Any]) -> list[Any]:
        """Return the list of one row."""
        found: list[Any] = row.tolist()
        return found


class TensorToVectorFloatCalculator(_ToList):
    """Make a list of floats of a tensor, or a list of rows of floats.

    The only input (Tensor, float32) to the only output (list of float; list of lists of float with
    `tensor_is_2d`). Timestamp offset 0.

    Options `TensorToVectorFloatCalculatorOptions`: `tensor_is_2d` (false: the tensor has one dimension; true:
    two); `flatten_nd` (false; true: any number of dimensions, row by row in one list).

    Raises in `get_contract`: InvalidArgumentError where both are set. In `process`: the same for another
    number of dimensions, and another element type.

    Source of the behaviour: MediaPipe `calculators/tensorflow/tensor_to_vector_float_calculator.cc`, which
    reads bfloat16 too; NumPy has no such type.

    Config::

        node {
          calculator: "TensorToVectorFloatCalculator"
          input_stream: "tensor"
          output_stream: "numbers"
          options { [penstock.TensorToVectorFloatCalculatorOptions.ext] { flatten_nd: true } }
        }
    """

    options_class = TensorToVectorFloatCalculatorOptions
    lists = (list[float], list[list[float]])
    named = "float32"

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the tensor and the list.

        Raises:
            InvalidArgumentError: both tensor_is_2d and flatten_nd are set.
        """
        super().get_contract(cc)
        cc.declare(may_skip=False, stateless=True)

    @staticmethod
    def fits(kind: np.dtype[Any]) -> bool:
        """Return whether it is float32."""
        return kind == np.float32


class TensorToVectorIntCalculator(_ToList):
    """Make a list of whole numbers of a tensor, or a list of rows of them.

    The only input (Tensor, int32 or int64) to the only output (list of int; list of lists of int with
    `tensor_is_2d`). Timestamp offset 0.

    Options `TensorToVectorIntCalculatorOptions`: `tensor_is_2d` (false: the tensor has one dimension; true:
    two); `flatten_nd` (false; true: any number of dimensions, row by row in one list); `tensor_is_token`
    (false; true: the places, counted from 1, of the numbers above `token_threshold`, 0.5); `overlap` (0): so
    many numbers are left out at the beginning of every list but the first of the run.

    Raises in `get_contract`: InvalidArgumentError where both tensor_is_2d and flatten_nd are set. In
    `process`: the same for another number of dimensions, and another element type.

    Source of the behaviour: MediaPipe `calculators/tensorflow/tensor_to_vector_int_calculator.cc`.

    Config::

        node {
          calculator: "TensorToVectorIntCalculator"
          input_stream: "tensor"
          output_stream: "numbers"
        }
    """

    options_class = TensorToVectorIntCalculatorOptions
    lists = (list[int], list[list[int]])
    named = "int32 or int64"

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the tensor and the list.

        Raises:
            InvalidArgumentError: both tensor_is_2d and flatten_nd are set.
        """
        super().get_contract(cc)
        cc.declare(may_skip=False, stateless=cc.options(TensorToVectorIntCalculatorOptions).overlap <= 0)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        super().open(cc)
        options = cc.options(TensorToVectorIntCalculatorOptions)
        self._is_token, self._threshold = options.tensor_is_token, options.token_threshold
        self._overlap = max(options.overlap, 0)
        self._is_first = True

    @staticmethod
    def fits(kind: np.dtype[Any]) -> bool:
        """Return whether it is int32 or int64."""
        return kind in {np.dtype(np.int32), np.dtype(np.int64)}

    def made_of(self, row: NDArray[Any]) -> list[Any]:
        """Return the numbers of a row, or their places, without what overlaps."""
        if self._is_token:
            row = np.flatnonzero(row > self._threshold) + 1
        left_out = 0 if self._is_first else self._overlap
        if self._overlap:
            self._is_first = False
        found: list[Any] = row[left_out:].tolist()
        return found


class TensorToVectorStringCalculator(_ToList):
    """Make a list of texts of an array, or a list of rows of texts.

    The only input (numpy.ndarray of texts, of the type `<U...`, as VectorStringToTensorCalculator makes it)
    to the only output (list of str; list of lists of str with `tensor_is_2d`). Timestamp offset 0.

    Options `TensorToVectorStringCalculatorOptions`: `tensor_is_2d` (false: the array has one dimension; true:
    two); `flatten_nd` (false; true: any number of dimensions, row by row in one list).

    Raises in `get_contract`: InvalidArgumentError where both are set. In `process`: the same for another
    number of dimensions, and another element type.

    Source of the behaviour: MediaPipe `calculators/tensorflow/tensor_to_vector_string_calculator.cc`.

    Config::

        node {
          calculator: "TensorToVectorStringCalculator"
          input_stream: "array"
          output_stream: "texts"
        }
    """

    options_class = TensorToVectorStringCalculatorOptions
    takes = np.ndarray
    lists = (list[str], list[list[str]])
    named = "texts"

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the array and the list.

        Raises:
            InvalidArgumentError: both tensor_is_2d and flatten_nd are set.
        """
        super().get_contract(cc)
        cc.declare(may_skip=False, stateless=True)

    @staticmethod
    def fits(kind: np.dtype[Any]) -> bool:
        """Return whether it is a type of texts."""
        return kind.kind == "U"
