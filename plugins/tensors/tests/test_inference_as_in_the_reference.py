"""The models and numbers of MediaPipe's own tests of its InferenceCalculator."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError, StatusCode
from penstock_formats import Tensor
from penstock_tensors import RESOURCES, Model, ResourceFinder, RunSettings, TensorInfo, load_model
from penstock_tensors.inference.inference import InferenceCalculatorCpu
from penstock_tensors.inference.tensor_map import Link, TensorMap
from penstock_tensors.messages.inference_pb2 import InferenceCalculatorOptions as Options
from penstock_testing import run_calculator

SWAPS = "3in3out_model_swaps_input_2_and_0.tflite"
#: Inputs: regular_input0, feedback_float_input, feedback_int_input, regular_input1 (1, 2). Outputs:
#: feedback_incremented_float_output, regular_output1, feedback_incremented_int_output, regular_output0.
COUNTS = "feedback_tensor_test_model.tflite"
LINKS = [
    {
        "from_output_tensor_name": "feedback_incremented_float_output",
        "to_input_tensor_name": "feedback_float_input",
    },
    {
        "from_output_tensor_name": "feedback_incremented_int_output",
        "to_input_tensor_name": "feedback_int_input",
    },
]
#: Element types in the schema of .tflite files, and here.
TYPES = {"FLOAT32": np.float32, "UINT8": np.uint8, "INT8": np.int8, "INT32": np.int32, "BOOL": np.bool_}


def run(model, *arrays, sides=None, **options):
    """Return the tensors that the node sends for arrays."""
    done = run_calculator(
        InferenceCalculatorCpu,
        {"TENSORS": [(0, [Tensor(array) for array in arrays])]},
        outputs=["TENSORS"],
        side_packets={"MODEL": model, **(sides or {})},
        options=Options(**options),
    )
    (packet,) = done.outputs["TENSORS"]
    return packet.payload


def numbers(tensors):
    return [tensor.array.ravel().tolist() for tensor in tensors]


def code_of(words, *arguments, **options):
    """Return the status code of a run that fails with these words."""
    with pytest.raises(GraphRunError, match=words) as caught:
        run(*arguments, **options)
    return caught.value.code


# --- a model that adds -------------------------------------------------------------------------------


@pytest.fixture
def added(reference_file):
    """Return a function that runs a graph of add.bin on ones, and the name of the calculator that ran."""
    pytest.importorskip("ai_edge_litert.interpreter")
    folder = reference_file("calculators/tensor/add.bin").parent

    def run_graph(nodes, wrap=lambda tensor: [tensor]):
        graph = penstock.CalculatorGraph(f'input_stream: "tensor_in" {nodes}')
        graph.set_service(RESOURCES, ResourceFinder([folder], only_places=True))
        seen = []
        graph.observe_output_stream("tensor_out", lambda name, packet: seen.append(packet.payload))
        with graph:
            graph.start_run()
            ones = Tensor(np.ones((1, 8, 8, 3), np.float32))
            graph.add_packet_to_input_stream("tensor_in", penstock.Packet(wrap(ones), 0))
        (found,) = seen
        return found, graph.text_config

    return run_graph


INFERENCE = """node {
    calculator: "InferenceCalculator" input_stream: "%(tag)s:tensor_in" output_stream: "%(tag)s:tensor_out"
    options { [mediapipe.InferenceCalculatorOptions.ext] {
        model_path: "add.bin" try_mmap_model: %(mmap)s %(delegate)s } } }"""
WITH_SIDE_PACKET = """
    node {
      calculator: "ResourceProviderCalculator" output_side_packet: "RESOURCE:model_resource"
      node_options { [type.googleapis.com/mediapipe.ResourceProviderCalculatorOptions] {
          resource_id: "add.bin" } } }
    node {
      calculator: "TfLiteModelCalculator" input_side_packet: "MODEL_RESOURCE:model_resource"
      output_side_packet: "MODEL:model" }
    node {
      calculator: "InferenceCalculator" input_stream: "TENSORS:tensor_in" input_side_packet: "MODEL:model"
      output_stream: "TENSORS:tensor_out"
      options { [mediapipe.InferenceCalculatorOptions.ext] { delegate { tflite {} } } } }"""


@pytest.mark.parametrize(
    ("delegate", "mmap"),
    [
        pytest.param(
            "delegate { tflite {} }", "false",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_test.cc",
                "InferenceCalculatorTest.SmokeTestTflite",
                "InferenceCalculatorTest.SmokeTestTfliteWithTensorAlignment",
            ),
        ),
        pytest.param(
            "delegate { tflite {} }", "true",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_test.cc",
                "InferenceCalculatorTest.SmokeTestTfliteMmap",
            ),
        ),
        ("delegate { xnnpack {} }", "false"),
        pytest.param(
            "delegate { xnnpack { num_threads: 10 } }", "false",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_test.cc",
                "InferenceCalculatorTest.SmokeTestXnnpackMultithread",
            ),
        ),
    ],
)  # fmt: skip
def test_a_list_of_ones_becomes_threes(added, delegate, mmap):
    (found,), config = added(INFERENCE % {"tag": "TENSORS", "mmap": mmap, "delegate": delegate})

    assert (found.array == 3).all()
    assert 'calculator: "InferenceCalculatorCpu"' in config


@pytest.mark.parametrize(
    "delegate",
    [
        pytest.param(
            "", marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_test.cc",
                "InferenceCalculatorTest.SmokeTestWithFunctionRunner",
            ),
        ),
        pytest.param(
            "delegate { tflite {} }",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_test.cc",
                "InferenceCalculatorTest.SmokeTestTfliteUnwrapped",
            ),
        ),
        pytest.param(
            "delegate { xnnpack {} }",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_test.cc",
                "InferenceCalculatorTest.SmokeTestXnnpackUnwrapped",
            ),
        ),
        pytest.param(
            "delegate { xnnpack { num_threads: 10 } }",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_test.cc",
                "InferenceCalculatorTest.SmokeTestXnnpackMultithreadUnwrapped",
            ),
        ),
    ],
)  # fmt: skip
def test_a_tensor_of_ones_becomes_threes(added, delegate):
    nodes = INFERENCE % {"tag": "TENSOR", "mmap": "false", "delegate": delegate}

    found, _ = added(nodes, lambda tensor: tensor)

    assert found.shape == (1, 8, 8, 3)
    assert (found.array == 3).all()


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_test.cc",
    "InferenceCalculatorTest.ModelAsInputSidePacketSmokeTest",
)
def test_a_model_may_be_a_side_packet(added):
    (found,), _ = added(WITH_SIDE_PACKET)

    assert (found.array == 3).all()


@pytest.mark.reference(
    "calculators/tensor/inference_interpreter_delegate_runner_test.cc",
    "InferenceCalculatorDelegateRunnnerTest.RunInt32ModelWithXNNPackDelegate",
    "InferenceCalculatorDelegateRunnnerTest.RunFloatModelWithXNNPackDelegate",
    "InferenceCalculatorDelegateRunnnerTest.RunInt32ModelWithXNNPackDelegateWithCustomAllocation",
    "InferenceCalculatorDelegateRunnnerTest.RunFloat32ModelWithXNNPackDelegateWithCustomAllocation",
    "InferenceCalculatorDelegateRunnnerTest.RunInt32ModelWithDefaultDelegate",
    "InferenceCalculatorDelegateRunnnerTest.RunFloat32ModelWithDefaultDelegate",
    "InferenceCalculatorDelegateRunnnerTest.RunInt32ModelWithDefaultDelegateWithCustomAllocation",
    "InferenceCalculatorDelegateRunnnerTest.RunFloat32ModelWithDefaultDelegateWithCustomAllocation",
)
@pytest.mark.parametrize("kind", ["int32", "float32"])
@pytest.mark.parametrize(
    "delegate",
    [
        {"xnnpack": {}},
        {"xnnpack": {"enable_zero_copy_tensor_io": True}},
        {"tflite": {}},
        {},
    ],
)
def test_numbers_are_squared(reference_model, kind, delegate):
    (found,) = run(
        reference_model(f"1x3_square_{kind}.tflite"),
        np.array([[0, 1, 2]], kind),
        delegate=delegate,
    )

    assert found.element_type == kind
    assert found.array.ravel().tolist() == [0, 1, 4]


@pytest.mark.reference(
    "calculators/tensor/inference_interpreter_delegate_runner_test.cc",
    "InferenceCalculatorDelegateRunnnerTest.RunFloat32ModelWithXNNPackDelegatePassthrough",
)
def test_inputs_that_are_outputs_go_through(reference_model):
    arrays = [np.array([[i]], np.float32) for i in (1, 2, 3)]

    found = run(reference_model(SWAPS), *arrays, delegate={"xnnpack": {}})

    assert numbers(found) == [[3], [2], [1]]


def test_inputs_that_are_outputs_go_through_with_zero_copies_too(reference_model):
    """MediaPipe refuses them; difference 24 of docs/mediapipe.md."""
    arrays = [np.array([[i]], np.float32) for i in (1, 2, 3)]

    found = run(reference_model(SWAPS), *arrays, delegate={"xnnpack": {"enable_zero_copy_tensor_io": True}})

    assert numbers(found) == [[3], [2], [1]]


# --- which tensor is which ---------------------------------------------------------------------------

INPUTS = ["first_input", "second_input", "third_input"]
OUTPUTS = ["output_0", "output_1", "output_2"]


@pytest.mark.reference(
    "calculators/tensor/inference_io_mapper_test.cc",
    "InferenceCalculatorIoMapTestWithParams.ShouldRemapInputAndOutputTensors",
    "InferenceIoMapperSmokeTest.SmokeTestWithIoMapConfig",
    "InferenceIoMapperSmokeTest.SmokeTestWithIoMapSidePacket",
)
@pytest.mark.parametrize("is_side_packet", [False, True])
@pytest.mark.parametrize(
    ("inputs", "outputs", "order"),
    [
        ({}, {}, [2, 1, 0]),
        ({"model_tensor_indices": [2, 1, 0]}, {}, [0, 1, 2]),
        ({}, {"model_tensor_indices": [2, 1, 0]}, [0, 1, 2]),
        ({"model_tensor_indices": [2, 1, 0]}, {"model_tensor_indices": [2, 1, 0]}, [2, 1, 0]),
        ({"tensor_names": INPUTS}, {}, [1, 0, 2]),
        ({"tensor_names": ["second_input", "third_input", "first_input"]}, {}, [0, 2, 1]),
        ({}, {"tensor_names": OUTPUTS}, [1, 2, 0]),
        ({}, {"tensor_names": ["output_1", "output_2", "output_0"]}, [2, 0, 1]),
        ({"tensor_names": INPUTS}, {"tensor_names": OUTPUTS}, [0, 1, 2]),
    ],
)
def test_tensors_have_the_order_of_numbers_or_names(reference_model, is_side_packet, inputs, outputs, order):
    config = {}
    for side, given in (("input", inputs), ("output", outputs)):
        for field in given:
            kind = "names" if field == "tensor_names" else "indices"
            config[f"{side}_tensor_{kind}_map"] = given
    options, sides = {"input_output_config": config}, {}
    if is_side_packet:
        options, sides = {}, {"IO_CONFIG": Options.InputOutputConfig(**config)}
    done = run_calculator(
        InferenceCalculatorCpu,
        {("TENSOR", i): [(0, Tensor(np.array([[i]], np.float32)))] for i in range(3)},
        outputs=[("TENSOR", i) for i in range(3)],
        side_packets={"MODEL": reference_model(SWAPS), **sides},
        options=Options(delegate={}, **options),
    )

    found = [done.outputs["TENSOR", i] for i in range(3)]
    assert [packet.payload.array.item() for (packet,) in found] == order


@pytest.mark.parametrize(
    ("field", "given"),
    [
        pytest.param(
            "input_tensor_indices_map", [100, 1, 0],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldReportOutOfBoundsInputIndices",
            ),
        ),
        pytest.param(
            "output_tensor_indices_map", [100, 1, 0],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldReportOutOfBoundsOutputIndices",
            ),
        ),
        pytest.param(
            "input_tensor_indices_map", [1, 0],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldReportTooFewInputMappingIndices",
            ),
        ),
        pytest.param(
            "output_tensor_indices_map", [1, 0],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldReportTooFewOutputMappingIndices",
            ),
        ),
        pytest.param(
            "input_tensor_indices_map", [3, 2, 1, 0],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldReportTooManyMappingInputIndices",
            ),
        ),
        pytest.param(
            "output_tensor_indices_map", [3, 2, 1, 0],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldReportTooManyMappingOutputIndices",
            ),
        ),
        pytest.param(
            "input_tensor_indices_map", [2, 2, 1],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldReportDuplicatedMappingIndices",
            ),
        ),
        pytest.param(
            "input_tensor_names_map", ["first_input", "first_input", "third_input"],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldDetectDuplicatedTensorNames",
            ),
        ),
        pytest.param(
            "input_tensor_names_map", ["abc", "first_input", "third_input"],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_io_mapper_test.cc",
                "InferenceIoMapperTest.ShouldDetectNoneExistingTensorNames",
            ),
        ),
    ],
)  # fmt: skip
def test_a_map_that_is_none_has_the_code_of_the_reference(reference_model, field, given):
    inner = "tensor_names" if "names" in field else "model_tensor_indices"
    arrays = [np.zeros((1, 1), np.float32)] * 3
    words = f"{field} is .*, but must name each"

    code = code_of(words, reference_model(SWAPS), *arrays, input_output_config={field: {inner: given}})

    assert code == StatusCode.INTERNAL


def test_a_model_of_several_signatures_can_be_loaded(reference_model):
    loaded = load_model(reference_model("test_two_signature_keys_model.tflite"), RunSettings())

    assert loaded.signatures == 2


@pytest.mark.reference(
    "calculators/tensor/inference_io_mapper_test.cc",
    "InferenceIoMapper.ShouldIgnoreMultiSignatureChecksWhenNoNameBasedMapConfigExists",
    "InferenceIoMapper.ShouldFailWhenMultipleSignaturesExist",
)
def test_names_need_a_model_with_one_signature(reference_model):
    model = reference_model("test_two_signature_keys_model.tflite")
    loaded = load_model(model, RunSettings())
    arrays = [np.zeros(info.shape, info.element_type) for info in loaded.inputs]

    assert len(TensorMap.of(Options.InputOutputConfig(), loaded, model.name).inputs) == len(loaded.inputs)
    config = {"input_tensor_names_map": {"tensor_names": ["abc"]}}
    code = code_of("has 2 signatures, which may name them", model, *arrays, input_output_config=config)
    assert code == StatusCode.FAILED_PRECONDITION


# --- outputs that are the next inputs ----------------------------------------------------------------

#: A number of the node, and one that counts.
REGULAR = np.array([[3.14]], np.float32)
PAIR = np.array([[1, 2]], np.float32)


@pytest.mark.reference(
    "calculators/tensor/inference_feedback_manager_test.cc",
    "InferenceFeedbackManagerTest.ModelShouldIncreaseStatefulTensorsByOne",
)
def test_the_model_counts(reference_model):
    found = run(
        reference_model(COUNTS),
        REGULAR,
        np.zeros((1, 1), np.float32),
        np.zeros((1, 1), np.int32),
        PAIR,
        delegate={"xnnpack": {}},
    )

    counted, pair, counted_int, regular = numbers(found)
    assert (counted, counted_int, pair) == ([1], [1], [1, 2])
    assert regular == [float(np.float32(3.14))]


@pytest.fixture
def linked(reference_model):
    """Return the model that counts, and what its links say."""
    loaded = load_model(reference_model(COUNTS), RunSettings())
    return loaded, TensorMap.of(Options.InputOutputConfig(feedback_tensor_links=LINKS), loaded, COUNTS)


@pytest.mark.reference(
    "calculators/tensor/inference_feedback_manager_test.cc",
    "InferenceFeedbackManagerTest.ShouldInitializeFeedbackTensorInputWithZeros",
    "InferenceFeedbackManagerTest.ShouldAllowToQueryForFeedbackTensorIndices",
    "InferenceFeedbackManagerTest.ShouldMapInputTensorToModelTensorIndices",
)
def test_linked_tensors_are_no_tensors_of_the_node_and_begin_with_zeros(linked):
    loaded, found = linked

    assert found.links == (Link(0, 1), Link(2, 2))
    assert (found.inputs, found.outputs) == ((0, 3), (1, 3))
    first, second = found.zeros(loaded)
    assert (first.tolist(), first.dtype, second.tolist(), second.dtype) == (
        [[0]],
        np.float32,
        [[0]],
        np.int32,
    )


@pytest.mark.reference(
    "calculators/tensor/inference_feedback_manager_test.cc",
    "InferenceFeedbackManagerTest.ShouldSwapFeedbackTensors",
)
def test_linked_outputs_are_the_next_inputs(linked, monkeypatch):
    loaded, _ = linked
    made = []
    kind = type(loaded.session())
    once = kind.run

    def noted(session, inputs):
        outputs = once(session, inputs)
        made.append([array.tolist() for array in outputs])
        return outputs

    monkeypatch.setattr(kind, "run", noted)
    model = Model(COUNTS, loaded._model.data)
    run_calculator(
        InferenceCalculatorCpu,
        {"TENSORS": [(i, [Tensor(REGULAR), Tensor(PAIR)]) for i in range(2)]},
        outputs=["TENSORS"],
        side_packets={"MODEL": model},
        options=Options(delegate={"xnnpack": {}}, input_output_config={"feedback_tensor_links": LINKS}),
    )

    same = [[1, 2]], [[float(np.float32(3.14))]]
    assert made == [[[[i]], same[0], [[i]], same[1]] for i in (1, 2)]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        pytest.param(
            {
                "feedback_tensor_links": [
                    {
                        "from_output_tensor_name": "feedback_incremented_int_output",
                        "to_input_tensor_name": "feedback_float_input",
                    }
                ]
            },
            "linked tensors have one type, shape and quantization",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_feedback_manager_test.cc",
                "InferenceFeedbackManagerTest.ShouldDetectLinksWithDifferentTypes",
            ),
        ),
        pytest.param(
            {
                "feedback_tensor_links": [
                    {
                        "from_output_tensor_name": "regular_output1",
                        "to_input_tensor_name": "feedback_float_input",
                    }
                ]
            },
            "linked tensors have one type, shape and quantization",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_feedback_manager_test.cc",
                "InferenceFeedbackManagerTest.ShouldDetectLinksWithDifferentDimensions",
            ),
        ),
        pytest.param(
            {
                "input_tensor_names_map": {"tensor_names": ["feedback_float_input"]},
                "feedback_tensor_links": [
                    {
                        "from_output_tensor_name": "regular_output1",
                        "to_input_tensor_name": "feedback_float_input",
                    }
                ],
            },
            "'feedback_float_input' is in feedback_tensor_links and among the tensors of the node",
            marks=pytest.mark.reference(
                "calculators/tensor/inference_feedback_manager_test.cc",
                "InferenceFeedbackManagerTest.ShouldDetectMismatchBetweenStatefulAndRegularTensors",
            ),
        ),
    ],
)
def test_links_that_cannot_be_have_the_code_of_the_reference(reference_model, config, words):
    code = code_of(words, reference_model(COUNTS), REGULAR, input_output_config=config)

    assert code == StatusCode.INTERNAL


@pytest.mark.reference(
    "calculators/tensor/inference_feedback_manager_test.cc",
    "InferenceFeedbackManagerTest.ShouldDetectDynamicInputTensors",
    "InferenceFeedbackManagerTest.ShouldDetectDynamicOutputTensors",
)
@pytest.mark.parametrize("open_one", ["inputs", "outputs"])
def test_linked_tensors_have_no_open_size(doubling, double, monkeypatch, open_one):
    for side, name in (("inputs", "feedback_float_input"), ("outputs", "feedback_incremented_float_output")):
        shape = (-1, 4) if side == open_one else (1, 4)
        monkeypatch.setattr(doubling, side, (TensorInfo(name, shape, "float32"),))

    code = code_of(
        "linked tensors have no open size", double, input_output_config={"feedback_tensor_links": LINKS[:1]}
    )

    assert code == StatusCode.INTERNAL


COPY = "feedback_incremented_int_copy"


@pytest.mark.parametrize(
    ("model", "delegate"),
    [
        pytest.param(
            "feedback_tensor_with_state_copy_model.tflite", {},
            marks=pytest.mark.reference(
                "calculators/tensor/inference_feedback_manager_test.cc",
                "InferenceFeedbackManagerTest.ShouldRunE2ESmokeTest",
            ),
        ),
        pytest.param(
            "feedback_tensor_without_passthrough_model.tflite",
            {"xnnpack": {"enable_zero_copy_tensor_io": True}},
            marks=pytest.mark.reference(
                "calculators/tensor/inference_feedback_manager_test.cc",
                "InferenceFeedbackManagerTest.ShouldRunE2EWithZeroIoCopiesSmokeTest",
            ),
        ),
    ],
)  # fmt: skip
def test_a_count_goes_on_from_packet_to_packet(reference_model, model, delegate):
    done = run_calculator(
        InferenceCalculatorCpu,
        {("TENSOR", 0): [(i, Tensor(np.array([[100 * i + 100]], np.int32))) for i in range(3)]},
        outputs=[("TENSOR", 0), ("TENSOR", 1)],
        side_packets={"MODEL": reference_model(model)},
        options=Options(
            delegate=delegate,
            input_output_config={
                "input_tensor_names_map": {"tensor_names": ["regular_int_input"]},
                "output_tensor_names_map": {"tensor_names": [COPY, "regular_int_output"]},
                "feedback_tensor_links": LINKS[1:],
            },
        ),
    )

    counted, regular = ([one.payload.array.item() for one in done.outputs["TENSOR", i]] for i in range(2))
    assert (counted, regular) == ([0, 1, 2], [100, 200, 300])


@pytest.mark.reference(
    "calculators/tensor/inference_feedback_manager_test.cc",
    "InferenceFeedbackManagerTest.ShouldRunE2EWithWithoutFeedbackManagerConfigSmokeTest",
)
def test_without_links_the_count_is_an_input_and_an_output(reference_model):
    given = {0: [111, 222, 333], 1: [100, 200, 300]}
    done = run_calculator(
        InferenceCalculatorCpu,
        {
            ("TENSOR", port): [(i, Tensor(np.array([[value]], np.int32))) for i, value in enumerate(values)]
            for port, values in given.items()
        },
        outputs=[("TENSOR", i) for i in range(3)],
        side_packets={"MODEL": reference_model("feedback_tensor_with_state_copy_model.tflite")},
        options=Options(delegate={}),
    )

    found = [[one.payload.array.item() for one in done.outputs["TENSOR", i]] for i in range(3)]
    assert found == [[111, 222, 333], [100, 200, 300], [112, 223, 334]]


# --- threads, and elements of each type --------------------------------------------------------------


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_utils_test.cc",
    "InferenceCalculatorUtilsTest.GetCpuDefaultNumThreadsReturnsDefault",
    "InferenceCalculatorUtilsTest.GetXnnpackNumThreadsReturnsDefault",
    "InferenceCalculatorUtilsTest.GetXnnpackNumThreadsReturnsDefaultIfHasDelegateIsTrueButUnset",
    "InferenceCalculatorUtilsTest.GetXnnpackNumThreadsReturnsDefaultIfThreadsNotSpecified",
    "InferenceCalculatorUtilsTest.GetXnnpackNumThreadsReturnsSetNumberOfThreads",
)
@pytest.mark.parametrize(
    ("options", "threads"),
    [
        ({}, 1),
        ({"delegate": {}}, 1),
        ({"delegate": {"tflite": {}}}, 1),
        ({"delegate": {"xnnpack": {}}}, 1),
        ({"delegate": {"xnnpack": {"num_threads": 43}}}, 43),
    ],
)
def test_there_is_one_thread_unless_an_option_says_more(doubling, double, options, threads):
    run(double, np.ones((1, 4), np.float32), **options)

    assert doubling.settings.threads == threads


@pytest.mark.parametrize(
    ("name", "dtype", "values"),
    [
        pytest.param(
            "INT32", np.int32, [1, 2, 3, 4],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorWorksCorrectlyForInt32",
            ),
        ),
        pytest.param(
            "INT64", np.int64, [1, 2, 3, 4],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorWorksCorrectlyForInt64",
            ),
        ),
        pytest.param(
            "UINT8", np.uint8, [1, 2, 3, 4],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorWorksCorrectlyForUInt8",
            ),
        ),
        pytest.param(
            "INT8", np.int8, [-1, -2, 3, 4],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorWorksCorrectlyForInt8",
            ),
        ),
        pytest.param(
            "FLOAT32", np.float32, [1, 2, 3, 4],
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorWorksCorrectlyForFloat32",
            ),
        ),
    ],
)  # fmt: skip
def test_a_model_reads_each_element_type(tiny, name, dtype, values):
    (found,) = run(tiny(name), np.array(values, dtype))

    assert (found.array.dtype, found.array.tolist()) == (dtype, values)


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_utils_test.cc",
    "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorWorksCorrectlyForString",
    "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorWorksCorrectlyForEmptyString",
    "InferenceCalculatorUtilsTest.CopyInterpreterTensorIntoCpuOutputWorksCorrectlyForString",
)
@pytest.mark.parametrize(("text", "shape"), [(b"abcd", (4,)), (b"", (0,)), (b"abcd", (1,)), (b"a\0", ())])
def test_bytes_are_the_string_of_a_model(tiny, text, shape):
    (found,) = run(tiny("STRING", shape=shape), np.frombuffer(text, np.int8))

    assert found.array.dtype == np.int8
    assert found.array.tobytes() == text


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_utils_test.cc",
    "InferenceCalculatorUtilsTest.CopyInterpreterTensorIntoCpuOutputWorksCorrectlyForFloat32",
    "InferenceCalculatorUtilsTest.ConvertTfLiteTensorToFloat32",
)
def test_integers_are_cast_to_floats(tiny):
    values = [100, 200, 300, 400, 500, 600]

    (found,) = run(tiny("INT32", "FLOAT32", shape=(2, 3)), np.array(values, np.int32).reshape(2, 3))

    assert (found.array.dtype, found.shape, numbers([found])) == (np.float32, (2, 3), [values])


@pytest.mark.parametrize(
    ("name", "shape", "given"),
    [
        pytest.param(
            "INT32", (4,), np.ones(4, np.float32),
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorTypeMismatch",
            ),
        ),
        pytest.param(
            "FLOAT32", (5,), np.ones(4, np.float32),
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.CopyCpuInputIntoInterpreterTensorSizeMismatch",
            ),
        ),
        pytest.param(
            "INT32", (1, 2, 3), np.ones((1, 2, 3, 4), np.int32),
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.TensorDimsAndTypeEqualDiffersInDimensions",
            ),
        ),
        pytest.param(
            "FLOAT32", (1, 2, 3, 4), np.ones((1, 2, 3, 4), np.int32),
            marks=pytest.mark.reference(
                "calculators/tensor/inference_calculator_utils_test.cc",
                "InferenceCalculatorUtilsTest.TensorDimsAndTypeEqualDiffersInType",
            ),
        ),
    ],
)  # fmt: skip
def test_another_type_or_number_of_elements_is_refused(tiny, name, shape, given):
    sizes = "x".join(map(str, shape))
    with pytest.raises(
        GraphRunError,
        match=f"the inference got a tensor .*, but the input 'tensor 0' .* is {name.lower()} {sizes}; change",
    ):
        run(tiny(name, shape=shape), given)


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_utils_test.cc",
    "InferenceCalculatorUtilsTest.TensorDimsAndTypeEqualOk",
    "InferenceCalculatorUtilsTest.TensorDimsAndTypeEqualWithScalarInput",
)
@pytest.mark.parametrize(("given", "shape"), [((1, 2, 3, 4), (1, 2, 3, 4)), ((1, 1), ())])
def test_the_shape_of_the_model_fits_and_one_element_fits_a_scalar(tiny, given, shape):
    (found,) = run(tiny("INT32", shape=shape), np.full(given, 7, np.int32))

    assert (found.array == 7).all()


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_utils_test.cc",
    "AllocateTensorWithTfLiteTensorSpecsTest.ShouldAllocateTensorWithTfLiteTensorSpecs",
    "AllocateTensorWithTfLiteTensorSpecsTest.ShouldAllocateTensorWithTfLiteTensorSpecsForScalarInput",
)
@pytest.mark.parametrize("shape", [(4,), ()])
@pytest.mark.parametrize("name", TYPES)
def test_a_tensor_is_quantized_as_the_model_says(tiny, name, shape):
    (found,) = run(tiny(name, shape=shape, scale=2, zero_point=3), np.zeros(shape or 1, TYPES[name]))

    assert (found.array.dtype, found.array.size) == (TYPES[name], 4 if shape else 1)
    if name != "BOOL":
        assert (found.scale, found.zero_point) == (2, 3)


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_utils_test.cc",
    "AllocateTensorWithTfLiteTensorSpecsTest.ShouldCopyCpuInputIntoTfLiteTensorForScalarInput",
    "AllocateTensorWithTfLiteTensorSpecsTest.ShouldConvertTfLiteTensorToTensorForScalarOutput",
)
@pytest.mark.parametrize("name", TYPES)
def test_the_bytes_of_one_element_go_through_a_scalar(tiny, name):
    given = np.arange(np.dtype(TYPES[name]).itemsize, dtype=np.uint8).view(TYPES[name])

    (found,) = run(tiny(name, shape=()), given)

    assert (found.shape, found.array.dtype) == ((1,), TYPES[name])
    assert found.array.tobytes() == given.tobytes()


# --- the delegate LiteRT -----------------------------------------------------------------------------
#: The element types of tensors of LiteRT.
LITERT_TYPES = TYPES | {"FLOAT16": np.float16, "INT64": np.int64}


@pytest.mark.reference(
    "calculators/tensor/litert/litert_utils_test.cc",
    "LiteRtUtilsTest.ShouldSuccessfullyCompareTensorTypes",
)
@pytest.mark.parametrize("given", LITERT_TYPES.values())
@pytest.mark.parametrize("name", LITERT_TYPES)
def test_litert_takes_the_element_type_of_the_model_and_no_other(tiny, name, given):
    model, array = tiny(name, shape=(1, 1)), np.ones((1, 1), given)

    if LITERT_TYPES[name] is given:
        assert numbers(run(model, array, delegate={"litert": {}})) == [[1]]
    else:
        assert (
            code_of("the inference got a tensor .*, but the input", model, array, delegate={"litert": {}})
            == StatusCode.INTERNAL
        )


@pytest.mark.reference(
    "calculators/tensor/litert/litert_utils_test.cc",
    "LiteRtUtilsTest.ShouldDetectEqualTensorShapes",
    "LiteRtUtilsTest.ShouldDetectScalarTensorShapes",
)
@pytest.mark.parametrize("shape", [(1, 1), ()])
def test_litert_takes_the_shape_of_the_model_and_one_element_as_a_scalar(tiny, shape):
    found = run(tiny("FLOAT32", shape=shape), np.full((1, 1), 7, np.float32), delegate={"litert": {}})

    assert numbers(found) == [[7]]


@pytest.mark.reference(
    "calculators/tensor/litert/litert_utils_test.cc", "LiteRtUtilsTest.ShouldDetectDifferentTensorShapes"
)
def test_litert_refuses_another_shape(tiny):
    words = "the inference got a tensor float32 1x1, but the input 'tensor 0' .* is float32 1x2"
    model, array = tiny("FLOAT32", shape=(1, 2)), np.ones((1, 1), np.float32)

    assert code_of(words, model, array, delegate={"litert": {}}) == StatusCode.INTERNAL


@pytest.mark.reference(
    "calculators/tensor/litert/litert_utils_test.cc",
    "CreateTensorFromLiteRtRankedTensorTypeTest.ShouldAllocateTensorWithLiteRtTensorSpecs",
)
@pytest.mark.parametrize("name", LITERT_TYPES)
def test_litert_gives_tensors_of_the_type_and_size_of_the_model(tiny, name):
    kind = LITERT_TYPES[name]

    (found,) = run(tiny(name, shape=(1, 4)), np.ones((1, 4), kind), delegate={"litert": {}})

    assert (found.array.dtype, found.shape) == (kind, (1, 4))


def test_floats_of_16_bits_become_floats_of_32_bits_without_litert(tiny):
    (found,) = run(tiny("FLOAT16", shape=(1, 4)), np.ones((1, 4), np.float16), delegate={"xnnpack": {}})

    assert (found.array.dtype, found.array.tolist()) == (np.float32, [[1] * 4])
