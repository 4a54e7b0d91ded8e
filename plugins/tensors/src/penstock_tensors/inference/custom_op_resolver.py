"""TfLiteCustomOpResolverCalculator: the operations of models as a side packet, for InferenceCalculator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_tensors.messages.custom_op_resolver_pb2 import TfLiteCustomOpResolverCalculatorOptions
from penstock_tensors.models.custom_ops import OpResolver
from penstock_tensors.models.installed_operations import standard_operations

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class TfLiteCustomOpResolverCalculator(penstock.Calculator):
    """Gives the custom operations that models may use.

    Output side packet: OP_RESOLVER or untagged (OpResolver): the operations of this pack and of all packs
    that bring some.

    InferenceCalculator uses the same ones where nothing is connected, so the node is needed only by graphs
    of the reference.

    Options `TfLiteCustomOpResolverCalculatorOptions`: `use_gpu` has no effect.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_custom_op_resolver_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteCustomOpResolverCalculator"
          output_side_packet: "OP_RESOLVER:operations"
        }
    """

    Options = TfLiteCustomOpResolverCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the output."""
        tag = "OP_RESOLVER" if "OP_RESOLVER" in cc.output_side_packets else 0
        cc.output_side_packets[tag].set(OpResolver, "the custom operations")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Give the operations."""
        for output in cc.output_side_packets:
            output.set(standard_operations())

    def process(self, cc: CalculatorContext) -> None:
        """Do nothing: the node has no streams."""
