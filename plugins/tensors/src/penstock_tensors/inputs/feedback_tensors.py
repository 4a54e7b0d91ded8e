"""FeedbackTensorsCalculator: what a model has made last beside its next inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor, check_size_limit
from penstock_tensors.messages.feedback_tensors_pb2 import FeedbackTensorsCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input


class FeedbackTensorsCalculator(penstock.Calculator):
    """Joins the inputs of a recurrent model and the tensors that it has made before; zeros at first.

    Inputs: INPUT_TENSORS and FEEDBACK_TENSORS (list[Tensor]); FEEDBACK_TENSORS is a loop of the graph, from a
    PreviousLoopbackCalculator, say. Output: TENSORS (list[Tensor]). At the first packet of INPUT_TENSORS the
    feedback is zeros (float32) of `feedback_tensor_shape`, whatever FEEDBACK_TENSORS has. Where INPUT_TENSORS
    has no packet, nothing is sent.

    Options `FeedbackTensorsCalculatorOptions`: `feedback_tensor_shape { dims }`, `num_feedback_tensors` (1),
    `location`: APPENDED (the feedback stands behind the inputs), PREPENDED (before), or NONE (it is left out,
    and the options above and FEEDBACK_TENSORS do not count).

    Raises in `get_contract`: InvalidArgumentError for a size or number below 0; ResourceExhaustedError for
    more elements than allowed. In `process`: InvalidArgumentError where after the first time FEEDBACK_TENSORS
    has no packet, or another number of tensors, or one of another shape.

    Source of the behaviour: MediaPipe `calculators/tensor/feedback_tensors_calculator.cc`, which fails where
    INPUT_TENSORS has no packet.

    Config::

        node {
          calculator: "FeedbackTensorsCalculator"
          input_stream: "INPUT_TENSORS:inputs"
          input_stream: "FEEDBACK_TENSORS:last_state"
          output_stream: "TENSORS:model_inputs"
          options {
            [penstock.FeedbackTensorsCalculatorOptions.ext] { feedback_tensor_shape { dims: 1 dims: 64 } }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: a size or number is below 0.
            ResourceExhaustedError: they ask for too many elements.
        """
        options = cc.options(FeedbackTensorsCalculatorOptions)
        shape, count = tuple(options.feedback_tensor_shape.dims), options.num_feedback_tensors
        if min(shape, default=0) < 0 or count < 0:
            raise InvalidArgumentError(
                f"feedback_tensor_shape is {list(shape)} and num_feedback_tensors {count}, but none may be "
                "below 0; change them in the options"
            )
        check_size_limit(count * max(math.prod(shape), 1), "feedback_tensor_shape and num_feedback_tensors")
        cc.inputs["INPUT_TENSORS"].set(list[Tensor], "the inputs of the model")
        cc.inputs["FEEDBACK_TENSORS"].set(list[Tensor], "what it has made before")
        cc.outputs["TENSORS"].set(list[Tensor], "both")
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Make the zeros of the first time."""
        options = cc.options(FeedbackTensorsCalculatorOptions)
        self._location = options.location
        self._shape = tuple(options.feedback_tensor_shape.dims)
        self._count = options.num_feedback_tensors
        zeros = np.zeros(self._shape, np.float32)
        #: The feedback of the first time; None afterwards.
        self._first: list[Tensor] | None = [Tensor(zeros) for _ in range(self._count)]

    def process(self, cc: CalculatorContext) -> None:
        """Join the tensors of one timestamp."""
        source = cc.inputs["INPUT_TENSORS"]
        if source.is_empty():
            return
        tensors: list[Tensor] = list(source.payload)
        if self._location != FeedbackTensorsCalculatorOptions.NONE:
            back = self._first if self._first is not None else self._back(cc.inputs["FEEDBACK_TENSORS"])
            self._first = None
            is_before = self._location == FeedbackTensorsCalculatorOptions.PREPENDED
            tensors = [*back, *tensors] if is_before else [*tensors, *back]
        cc.outputs["TENSORS"].add(tensors, cc.stamp)

    def _back(self, port: Input) -> list[Tensor]:
        tensors: list[Tensor] = [] if port.is_empty() else port.payload
        if len(tensors) != self._count:
            raise InvalidArgumentError(
                f"input {port.name!r} holds {len(tensors)} tensors, but num_feedback_tensors is "
                f"{self._count}; feed back as many"
            )
        for tensor in tensors:
            if tensor.shape != self._shape:
                raise InvalidArgumentError(
                    f"input {port.name!r} holds a tensor of shape {tensor.shape}, but feedback_tensor_shape "
                    f"is {list(self._shape)}; correct it in the options"
                )
        return tensors
