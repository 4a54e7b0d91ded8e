"""OnnxInferenceCalculator: an .onnx model on the processors that onnxruntime can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from penstock.errors import InvalidArgumentError
from penstock_tensors.inference.inference import InferenceCalculatorCpu
from penstock_tensors.messages.inference_pb2 import InferenceCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_tensors.models.run_settings import RunSettings


@attrs.frozen(kw_only=True)
class OnnxInferenceCalculatorOptions:
    """Which model runs, and where.

    Attributes:
        model_path: the file, searched by the service RESOURCES; "" where the side packet MODEL gives it.
        providers: execution providers of onnxruntime, the best one first: "cuda",
            "tensorrt", "openvino", "coreml", "directml", "rocm", "cpu", or its own names such as
            "CUDAExecutionProvider"; the CPU is always the last one.
        threads: of one call on the CPU, 1 or more.
    """

    model_path: str = ""
    providers: tuple[str, ...] = ()
    threads: int = 1

    def __attrs_post_init__(self) -> None:
        if self.threads < 1:
            raise InvalidArgumentError(
                f"the ONNX inference's threads is {self.threads}, but must be 1 or more"
            )


class OnnxInferenceCalculator(InferenceCalculatorCpu):
    """Runs an .onnx model on the tensors of each input set, on the processor that the options choose.

    It has the ports and side packets of InferenceCalculatorCpu: TENSORS (list[Tensor]) or TENSOR:0, TENSOR:1,
    ... (Tensor) in and out, one tensor for each input and output of the model; MODEL (Model), where
    `model_path` is not set. Timestamp offset 0. `max_in_flight` of the node lets several calls run at the
    same time, on one session of onnxruntime: nodes with the same model, providers and threads share one, of
    one graph or of several in a process, and it is freed with the last of them.

    Options `OnnxInferenceCalculatorOptions`: `model_path`; `providers` (none: the CPU); `threads` (1). A
    provider that is not there is left out, with a warning in the log that says what runs instead.

    Raises as InferenceCalculatorCpu; and in `open` InvalidArgumentError for a provider of an unknown name.

    Config::

        node {
          calculator: "OnnxInferenceCalculator"
          input_stream: "TENSORS:image_tensors"
          output_stream: "TENSORS:outputs"
          node_options {
            [type.googleapis.com/penstock_tensors.OnnxInferenceCalculatorOptions] {
              model_path: "yolo.onnx"  providers: "cuda"
            }
          }
        }
    """

    Options = OnnxInferenceCalculatorOptions

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> InferenceCalculatorOptions:
        own = cc.options(OnnxInferenceCalculatorOptions)
        if not own.model_path:
            return InferenceCalculatorOptions(cpu_num_thread=own.threads)
        return InferenceCalculatorOptions(model_path=own.model_path, cpu_num_thread=own.threads)

    def _settings(self, cc: CalculatorContext, options: InferenceCalculatorOptions) -> RunSettings:
        own = cc.options(OnnxInferenceCalculatorOptions)
        return attrs.evolve(super()._settings(cc, options), providers=own.providers)
