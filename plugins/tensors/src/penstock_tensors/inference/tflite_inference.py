"""TfLiteInferenceCalculator: InferenceCalculatorCpu under the name, ports and options of older graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_formats import Tensor
from penstock_tensors.inference.inference import InferenceCalculatorCpu
from penstock_tensors.messages.inference_pb2 import InferenceCalculatorOptions
from penstock_tensors.messages.tflite_inference_pb2 import TfLiteInferenceCalculatorOptions
from penstock_tensors.ports import only_one
from penstock_tensors.same_fields import as_message

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_TAGS: Final = ("TENSORS", "TENSORS_GPU")


class TfLiteInferenceCalculator(InferenceCalculatorCpu):
    """Runs a model on the tensors of each input set.

    It does what InferenceCalculatorCpu does. Inputs: TENSORS or TENSORS_GPU (a list of Tensor, in main memory
    in both cases), exactly one; outputs likewise: one tensor for each input and output of the model, in its
    order. Input side packets: MODEL (Model), where `model_path` is not set; CUSTOM_OP_RESOLVER (OpResolver,
    optional): the custom operations, instead of all that are installed. The timestamp offset is 0.

    The node asks for FixedSizeInputStreamHandler, as in the reference: where two packets wait, the older one
    is dropped. `input_stream_handler { input_stream_handler: "DefaultInputStreamHandler" }` in the node keeps
    all.

    Options `TfLiteInferenceCalculatorOptions`: `model_path`: the file, searched by the service RESOURCES;
    `delegate`: `xnnpack` (with `num_threads`, default 1) or `tflite`, the default; `gpu` and `nnapi` are
    taken for `tflite`; `cpu_num_thread` (1): threads without xnnpack. All others have no effect.

    Raises as InferenceCalculatorCpu.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_inference_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteInferenceCalculator"
          input_stream: "TENSORS:image_tensor"
          output_stream: "TENSORS:detection_tensors"
          options {
            [penstock.TfLiteInferenceCalculatorOptions.ext] {
              model_path: "mediapipe/modules/palm_detection/palm_detection_full.tflite"
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options; ask for the input policy of the reference.

        Raises:
            InvalidArgumentError: as the class says.
        """
        super().get_contract(cc)
        cc.set_input_stream_handler("FixedSizeInputStreamHandler")
        cc.declare(may_skip=False, cost="high")

    @classmethod
    def _declare_tensors(cls, cc: CalculatorContract) -> None:
        for what, ports in (("input", cc.inputs), ("output", cc.outputs)):
            only_one(ports, _TAGS, what).set(list[Tensor], "one tensor for each of the model")

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> InferenceCalculatorOptions:
        return as_message(cc.options(TfLiteInferenceCalculatorOptions), InferenceCalculatorOptions)
