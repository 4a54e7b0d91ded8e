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
