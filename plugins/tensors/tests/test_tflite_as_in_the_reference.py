"""The models of MediaPipe's own tests of its TfLite... calculators, and sizes that a model leaves open."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_formats import Tensor
from penstock_tensors import RESOURCES, FoundResource, ResourceFinder, RunSettings, TensorInfo, load_model
from penstock_tensors.inference.inference import InferenceCalculatorCpu
from penstock_testing import run_calculator


@pytest.fixture
def folder(reference_file):
    """Return where the models of the tests are."""
    pytest.importorskip("ai_edge_litert.interpreter")
    return reference_file("calculators/tflite/add.bin").parent


@pytest.fixture
def threes(folder):
    """Return a function that runs a graph on ones and checks that they become threes."""

    def run_graph(nodes, dtype=np.float32):
        graph = penstock.CalculatorGraph(f'input_stream: "tensor_in" {nodes}')
        graph.set_service(RESOURCES, ResourceFinder([folder], only_places=True))
        seen = []
        graph.observe_output_stream("tensor_out", lambda name, packet: seen.append(packet.payload))
        with graph:
            graph.start_run()
            ones = [Tensor(np.ones((8, 8, 3), dtype))]
            graph.add_packet_to_input_stream("tensor_in", penstock.Packet(ones, 0))
        ((found,),) = seen
        assert (found.array.dtype, found.shape) == (dtype, (1, 8, 8, 3))
        assert (found.array == 3).all()

    return run_graph


INFERENCE = """node {
    calculator: "TfLiteInferenceCalculator"
    input_stream: "TENSORS:tensor_in" output_stream: "TENSORS:tensor_out"
    options { [mediapipe.TfLiteInferenceCalculatorOptions.ext] { model_path: "%s" %s } } }"""


@pytest.mark.reference(
    "calculators/tflite/tflite_inference_calculator_test.cc", "TfLiteInferenceCalculatorTest.SmokeTest"
)
@pytest.mark.parametrize(
    "options",
    [
        "try_mmap_model: false delegate { tflite {} }",
        "try_mmap_model: true delegate { tflite {} }",
        "try_mmap_model: false delegate { xnnpack {} }",
        "try_mmap_model: false delegate { xnnpack { num_threads: 10 } }",
    ],
)
def test_ones_become_threes_with_each_delegate(threes, options):
    threes(INFERENCE % ("add.bin", options))


@pytest.mark.reference(
    "calculators/tflite/tflite_inference_calculator_tpu_test.cc", "TfLiteInferenceCalculatorTpuTest.SmokeTest"
)
@pytest.mark.parametrize("options", ["", "delegate { tflite {} }"])
def test_quantized_ones_become_threes(threes, options):
    threes(INFERENCE % ("add_quantized.bin", options), np.uint8)


@pytest.mark.reference(
    "calculators/tflite/tflite_inference_calculator_test.cc",
    "TfLiteInferenceCalculatorTest.SmokeTest_ModelAsInputSidePacket",
)
def test_the_model_may_be_a_side_packet(threes):
    threes("""
        node {
          calculator: "ResourceProviderCalculator" output_side_packet: "RESOURCE:model_resource"
          node_options { [type.googleapis.com/mediapipe.ResourceProviderCalculatorOptions] {
              resource_id: "add.bin" } } }
        node {
          calculator: "TfLiteModelCalculator" input_side_packet: "MODEL_RESOURCE:model_resource"
          output_side_packet: "MODEL:model" }
        node {
          calculator: "TfLiteInferenceCalculator" input_stream: "TENSORS:tensor_in"
          input_side_packet: "MODEL:model" output_stream: "TENSORS:tensor_out"
          options { [mediapipe.TfLiteInferenceCalculatorOptions.ext] {
              use_gpu: false delegate { tflite {} } } } }""")


# --- TfLiteModelCalculator ---------------------------------------------------------------------------


def made(nodes, sides):
    graph = penstock.CalculatorGraph(nodes)
    with graph:
        graph.start_run(sides)
        graph.wait_until_done(20)
        return graph.get_output_side_packet("model").payload


def check(model, folder):
    """Look that a model has the bytes of the file, and can be loaded."""
    assert model.data == (folder / "add.bin").read_bytes()
    loaded = load_model(model, RunSettings())
    assert [info.shape for info in (*loaded.inputs, *loaded.outputs)] == [(1, 8, 8, 3)] * 2


@pytest.mark.reference(
    "calculators/tflite/tflite_model_calculator_test.cc", "TfLiteModelCalculatorTest.SmokeTest"
)
def test_a_model_of_the_bytes_of_a_file(folder):
    pytest.importorskip("penstock_calculators")  # has the ConstantSidePacketCalculator
    nodes = f"""
        node {{
          calculator: "ConstantSidePacketCalculator" output_side_packet: "PACKET:model_path"
          options {{ [mediapipe.ConstantSidePacketCalculatorOptions.ext] {{
              packet {{ string_value: "{folder / "add.bin"}" }} }} }} }}
        node {{
          calculator: "LocalFileContentsCalculator" input_side_packet: "FILE_PATH:model_path"
          output_side_packet: "CONTENTS:model_blob" }}
        node {{
          calculator: "TfLiteModelCalculator" input_side_packet: "MODEL_BLOB:model_blob"
          output_side_packet: "MODEL:model" }}"""
    check(made(nodes, {}), folder)


@pytest.mark.parametrize(
    ("source", "output", "wrap"),
    [
        pytest.param(
            "MODEL_SPAN", "MODEL", memoryview,
            marks=pytest.mark.reference(
                "calculators/tflite/tflite_model_calculator_test.cc",
                "TfLiteModelCalculatorTest.ModelSpanToUniqueModel",
            ),
        ),
        pytest.param(
            "MODEL_SPAN", "SHARED_MODEL", memoryview,
            marks=pytest.mark.reference(
                "calculators/tflite/tflite_model_calculator_test.cc",
                "TfLiteModelCalculatorTest.ModelSpanToSharedModel",
            ),
        ),
        pytest.param(
            "MODEL_RESOURCE", "MODEL", lambda data: FoundResource("add.bin", data),
            marks=pytest.mark.reference(
                "calculators/tflite/tflite_model_calculator_test.cc",
                "TfLiteModelCalculatorTest.ModelReasourceInputWorks",
            ),
        ),
    ],
)  # fmt: skip
def test_a_model_of_bytes_in_memory(folder, source, output, wrap):
    nodes = f"""
        input_side_packet: "source"
        node {{
          calculator: "TfLiteModelCalculator" input_side_packet: "{source}:source"
          output_side_packet: "{output}:model" }}"""
    check(made(nodes, {"source": wrap((folder / "add.bin").read_bytes())}), folder)


@pytest.mark.reference(
    "calculators/tflite/tflite_custom_op_resolver_calculator_test.cc",
    "TfLiteCustomOpResolverCalculatorTest.FindResamplerOp",
)
def test_the_operations_have_the_resampler():
    nodes = 'node { calculator: "TfLiteCustomOpResolverCalculator" output_side_packet: "model" }'

    assert made(nodes, {}).find("Resampler", 1) is not None


@pytest.mark.reference(
    "calculators/tensor/litert/litert_dynamic_resize_test.cc",
    "LiteRtDynamicResizeTest.IsShapeCompatibleWithDynamicDims",
)
@pytest.mark.parametrize(
    ("wanted", "shape", "fits"),
    [
        ((1, 224, 224, 3), (1, 224, 224, 3), True),
        ((-1, 224, 224, 3), (5, 224, 224, 3), True),
        ((1, -1, -1, 3), (1, 300, 400, 3), True),
        ((-1, -1, -1, -1), (2, 512, 512, 4), True),
        ((1, 224, 224), (1, 224, 224, 3), False),
        ((1, 224, 224, 3), (1, 300, 300, 3), False),
        ((-1, -1, -1, 3), (2, 512, 512, 4), False),
    ],
)
def test_sizes_that_a_model_leaves_open_take_each_size(  # noqa: PLR0913, PLR0917  # a case has three parts
    doubling, double, monkeypatch, wanted, shape, fits
):
    monkeypatch.setattr(doubling, "inputs", (TensorInfo("x", wanted, "uint8"),))
    monkeypatch.setattr(type(doubling.session()), "run", lambda session, inputs: [inputs[0]] * 2)

    def run():
        given = {"TENSORS": [(0, [Tensor(np.zeros(shape, np.uint8))])]}
        return run_calculator(
            InferenceCalculatorCpu, given, outputs=["TENSORS"], side_packets={"MODEL": double}
        )

    if fits:
        (packet,) = run().outputs["TENSORS"]
        assert packet.payload[0].shape == shape
    else:
        with pytest.raises(
            GraphRunError, match=r"the inference got a tensor .*, but the input 'x' of the model"
        ):
            run()
