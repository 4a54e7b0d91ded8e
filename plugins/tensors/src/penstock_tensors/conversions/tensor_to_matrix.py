"""TensorToMatrixCalculator: the numbers of a tensor as a matrix, one column for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock_formats import Matrix, Tensor, TimeSeriesHeader
from penstock_tensors.conversions.series_header import complete_header
from penstock_tensors.messages.tensor_to_matrix_pb2 import TensorToMatrixCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class TensorToMatrixCalculator(penstock.Calculator):
    """Make a matrix of a tensor: each row of the tensor becomes a column, a sample of all channels.

    Inputs: TENSOR (Tensor, float32, one dimension or two); REFERENCE (Matrix, optional: its header is what
    counts; where it has a packet, TENSOR needs one at the same timestamp). Output: MATRIX (Matrix). A tensor
    of n numbers becomes n x 1, one of m x n becomes n x m. Timestamp offset 0.

    The output has the TimeSeriesHeader of REFERENCE, if that has a sample_rate and num_channels, with the
    fields of the option `time_series_header_overrides`. Where that is given without a sample_rate, the header
    must say one sample for each packet, and the packet_rate becomes the sample_rate. Matrices must fit the
    num_channels and num_samples of the header.

    Options `TensorToMatrixCalculatorOptions`: `time_series_header_overrides`.

    Raises in `open`: InvalidArgumentError where the overrides are given and the header has no packet_rate, or
    neither a sample_rate there nor one sample for each packet. In `process`: the same for another element
    type or number of dimensions, a matrix that does not fit the header, and a missing TENSOR.

    Source of the behaviour: MediaPipe `calculators/tensorflow/tensor_to_matrix_calculator.cc`, which without
    a REFERENCE sets an empty header.

    Config::

        node {
          calculator: "TensorToMatrixCalculator"
          input_stream: "TENSOR:tensor"
          output_stream: "MATRIX:features"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the tensor, the stream with the header, and the matrix."""
        cc.inputs["TENSOR"].set(Tensor, "the numbers")
        cc.inputs["REFERENCE"].set(Matrix, "whose header counts").optional()
        cc.outputs["MATRIX"].set(Matrix, "the same numbers, rows as columns")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Make the header."""
        self._header = self._made_header(cc)
        if self._header is not None:
            cc.outputs["MATRIX"].set_header(Packet(self._header))

    def process(self, cc: CalculatorContext) -> None:
        """Convert one tensor."""
        source = cc.inputs["TENSOR"]
        if source.is_empty():
            if "REFERENCE" in cc.inputs and not cc.inputs["REFERENCE"].is_empty():
                raise InvalidArgumentError(
                    f"input {source.name!r} has no packet where REFERENCE has one, but needs one at each of "
                    "its timestamps; look at the node that makes the tensors"
                )
            return
        tensor: Tensor = source.payload
        if tensor.array.dtype != np.float32 or tensor.array.ndim not in (1, 2):
            raise InvalidArgumentError(
                f"input {source.name!r} holds {tensor!r}, but a matrix is made of a tensor of float32 of one "
                "dimension or two; convert the tensor before"
            )
        matrix = np.atleast_2d(tensor.array).T
        self._check(source.name, matrix.shape)
        cc.outputs["MATRIX"].add(Matrix(matrix, copy=True), cc.stamp)

    @staticmethod
    def _made_header(cc: CalculatorContext) -> TimeSeriesHeader | None:
        header = complete_header(cc.inputs["REFERENCE"]) if "REFERENCE" in cc.inputs else None
        options = cc.options(TensorToMatrixCalculatorOptions)
        given = options.time_series_header_overrides
        if not options.HasField("time_series_header_overrides") or (
            "REFERENCE" in cc.inputs and header is None
        ):
            return header
        made = TimeSeriesHeader()
        if header is not None:
            made.CopyFrom(header)
        made.MergeFrom(given)
        if not made.HasField("packet_rate"):
            raise InvalidArgumentError(
                "for a tensor to become a matrix, its series needs a packet_rate; set it in "
                "time_series_header_overrides, or in the header of REFERENCE"
            )
        if not given.HasField("sample_rate"):
            if made.num_samples != 1:
                raise InvalidArgumentError(
                    f"for a tensor to become a matrix, its series has {made.num_samples} samples in each "
                    "packet, but without a sample_rate in time_series_header_overrides it must have 1; set "
                    "one of them"
                )
            made.sample_rate = made.packet_rate
        return made

    def _check(self, name: str, shape: tuple[int, ...]) -> None:
        header = self._header
        if header is None:
            return
        for what, found in zip(("num_channels", "num_samples"), shape, strict=True):
            if header.HasField(what) and getattr(header, what) != found:
                raise InvalidArgumentError(
                    f"input {name!r} holds a tensor that becomes a matrix of {shape[0]}x{shape[1]}, but the "
                    f"header of the series says {what} {getattr(header, what)}; correct the header or "
                    "the tensor"
                )
