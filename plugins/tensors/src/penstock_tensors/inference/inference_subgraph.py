"""InferenceCalculator: a subgraph of one node, whose type the reference chooses when it is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.config.calculator_pb2 import CalculatorGraphConfig

if TYPE_CHECKING:
    from penstock import SubgraphContext

_PORTS: Final = ("input_stream", "output_stream", "input_side_packet", "output_side_packet")


class InferenceCalculator(penstock.Subgraph):
    """Runs a model: becomes an InferenceCalculatorCpu with the same ports, options and settings.

    Inputs: TENSORS (a list of Tensor) or, for single tensors, TENSOR:0, TENSOR:1, ... (Tensor): exactly one
    of the two forms. Outputs: likewise; a model with one input and one output is connected as
    `input_stream: "TENSOR:a" output_stream: "TENSOR:b"`. Input side packet: MODEL (Model), where `model_path`
    of the options is not set. All others, the options and the errors: `penstock show InferenceCalculatorCpu`.

    The name of the node inside is the name of the node outside, repeated: `palm__InferenceCalculator` becomes
    `palm__inferencecalculator__palm__InferenceCalculator`, as programs of the reference expect.

    Config::

        node {
          calculator: "InferenceCalculator"
          input_stream: "TENSORS:image_tensors"
          output_stream: "TENSORS:palm_tensors"
          options {
            [penstock.InferenceCalculatorOptions.ext] {
              model_path: "mediapipe/modules/palm_detection/palm_detection_full.tflite"
              delegate { xnnpack {} }
            }
          }
        }
    """

    @classmethod
    def get_config(cls, sc: SubgraphContext) -> object:
        """Return a graph of the one node."""
        given: Any = sc.node
        graph = CalculatorGraphConfig()
        node = graph.node.add()
        node.CopyFrom(given)
        node.calculator = "InferenceCalculatorCpu"
        for field in _PORTS:
            getattr(graph, field).extend(getattr(given, field))
        return graph
