"""TensorToJointsCalculator: the rotations of joints that a model says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Joint, JointList, Tensor, check_size_limit
from penstock_tensors.messages.tensor_to_joints_pb2 import TensorToJointsCalculatorOptions
from penstock_tensors.outputs.tensor_numbers import floats_of

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: The numbers of a rotation.
_NUMBERS: Final = 6
_MOST: Final = 100_000


class TensorToJointsCalculator(penstock.Calculator):
    """Makes joints of the rotations in a tensor.

    Input: TENSOR (Tensor, float32, of any shape, with `start_index` + 6 * `num_joints` numbers). Output:
    JOINTS (JointList: of each joint the six numbers of its rotation, and no visibility). Timestamp offset 0.

    Options `TensorToJointsCalculatorOptions`: `num_joints` (0), `start_index` (0): how many numbers stand
    before the first joint.

    Raises in `get_contract`: InvalidArgumentError for options below 0; ResourceExhaustedError for more than
    100,000 joints. In `process`: InvalidArgumentError for a tensor with another number of elements, or of
    another element type.

    Source of the behaviour: MediaPipe `calculators/tensor/tensor_to_joints_calculator.cc`.

    Config::

        node {
          calculator: "TensorToJointsCalculator"
          input_stream: "TENSOR:pose"
          output_stream: "JOINTS:joints"
          options {
            [penstock.TensorToJointsCalculatorOptions.ext] { num_joints: 56 start_index: 3 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a tensor in, joints out.

        Raises:
            InvalidArgumentError: an option is below 0.
            ResourceExhaustedError: there are too many joints.
        """
        options = cc.options(TensorToJointsCalculatorOptions)
        for name, number in (("num_joints", options.num_joints), ("start_index", options.start_index)):
            if number < 0:
                raise InvalidArgumentError(
                    f"the joints' {name} is {number}, but must be 0 or more; change it in the options"
                )
        check_size_limit(options.num_joints, "num_joints", _MOST)
        cc.inputs["TENSOR"].set(Tensor, "rotations")
        cc.outputs["JOINTS"].set(JointList, "joints")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        options = cc.options(TensorToJointsCalculatorOptions)
        self._count, self._start = options.num_joints, options.start_index

    def process(self, cc: CalculatorContext) -> None:
        """Make the joints of one tensor."""
        source = cc.inputs["TENSOR"]
        if source.is_empty():
            return
        numbers = floats_of(source.payload, source).ravel()
        wanted = self._start + _NUMBERS * self._count
        if numbers.size != wanted:
            raise InvalidArgumentError(
                f"input {source.name!r} holds a tensor of {numbers.size} numbers, but by the options it has "
                f"{wanted}: {self._start} and {_NUMBERS} for each of {self._count} joints; correct "
                "num_joints and start_index"
            )
        rows = numbers[self._start :].reshape(-1, _NUMBERS).tolist()
        made = JointList(joint=[Joint(rotation_6d=row) for row in rows])
        cc.outputs["JOINTS"].add(made, cc.stamp)
