"""InferenceCalculator: ports, orders, refusals, and invocations at the same time."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphConfigError, GraphRunError, StatusCode
from penstock_formats import Tensor
from penstock_tensors import RESOURCES, Model, OpResolver, ResourceFinder, TensorInfo
from penstock_tensors.inference.inference import (
    InferenceCalculatorCpu,
    InferenceCalculatorXnnpack,
    _Sessions,
)
from penstock_tensors.inference.tensor_map import Link, TensorMap
from penstock_tensors.messages.inference_pb2 import InferenceCalculatorOptions as Options
from penstock_testing import check_calculator, run_calculator

ONES = np.ones((1, 4), np.float32)


def run(model, tensors, outputs=("TENSORS",), *, sides=None, calculator=InferenceCalculatorCpu, **options):
    inputs = tensors if isinstance(tensors, dict) else {"TENSORS": [(0, tensors)]}
    return run_calculator(
        calculator,
        inputs,
        outputs=list(outputs),
        side_packets={"MODEL": model, **(sides or {})},
        options=Options(**options),
    ).outputs


def arrays(packet):
    return [tensor.array.tolist() for tensor in packet.payload]


def test_a_list_of_tensors_becomes_the_models_outputs(doubling, double):
    (packet,) = run(double, [Tensor(ONES)])["TENSORS"]

    assert arrays(packet) == [[[2, 2, 2, 2]], [[0.5] * 4]]


def test_single_tensors_have_ports_of_their_own_and_the_last_may_be_left_out(doubling, double):
    sent = run(double, {("TENSOR", 0): [(0, Tensor(ONES))]}, [("TENSOR", 0), ("TENSOR", 1)])
    first = run(double, {("TENSOR", 0): [(0, Tensor(ONES))]}, [("TENSOR", 0)])

    assert [sent["TENSOR", i][0].payload.array[0, 0] for i in (0, 1)] == [2, 0.5]
    assert first["TENSOR", 0][0].payload.array[0, 0] == 2


def test_tensors_of_another_shape_with_as_many_elements_fit(doubling, double):
    (packet,) = run(double, [Tensor(ONES.reshape(2, 2))])["TENSORS"]

    assert packet.payload[0].array.shape == (2, 2)  # the backend here takes arrays as they are


def test_half_floats_become_floats_and_a_scalar_one_element(doubling, double, monkeypatch):
    outputs = [np.array([1, 2], np.float16), np.float32(7) * np.ones((), np.float32)]
    monkeypatch.setattr(type(doubling.session()), "run", lambda session, inputs: outputs)

    (packet,) = run(double, [Tensor(ONES)])["TENSORS"]

    assert [(tensor.element_type, tensor.shape) for tensor in packet.payload] == [
        ("float32", (2,)),
        ("float32", (1,)),
    ]


@pytest.mark.parametrize(
    "config",
    [
        {"output_tensor_indices_map": {"model_tensor_indices": [1, 0]}},
        {"output_tensor_names_map": {"tensor_names": ["half", "double"]}},
    ],
)
def test_a_map_changes_the_order_of_the_outputs(doubling, double, config):
    (by_option,) = run(double, [Tensor(ONES)], input_output_config=config)["TENSORS"]
    given = {"IO_CONFIG": Options.InputOutputConfig(**config)}
    (by_side_packet,) = run(double, [Tensor(ONES)], sides=given)["TENSORS"]

    assert arrays(by_option) == arrays(by_side_packet) == [[[0.5] * 4], [[2, 2, 2, 2]]]


@pytest.mark.parametrize("numbers", [[0, 0], [1], [0, 1, 2]])
def test_a_map_that_does_not_name_each_tensor_once_is_refused(doubling, double, numbers):
    config = {"output_tensor_indices_map": {"model_tensor_indices": numbers}}
    with pytest.raises(
        GraphRunError, match=r"must name each output of the model 'double' once, to map its tensors: 0"
    ):
        run(double, [Tensor(ONES)], input_output_config=config)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([], r"the inference got 0 tensors, but the model 'double' takes 1: 'x' \(float32 1x4\)"),
        ([Tensor(ONES), Tensor(ONES)], "the inference got 2 tensors, but the model 'double' takes 1"),
        (
            [Tensor(np.ones((1, 5), np.float32))],
            "the inference got a tensor float32 1x5, but the input 'x' .* is float32 1x4",
        ),
        (
            [Tensor(np.ones((1, 4), np.uint8))],
            "the inference got a tensor uint8 1x4, but the input 'x' .* is float32 1x4",
        ),
    ],
)
def test_tensors_that_the_model_does_not_take_are_refused(doubling, double, tensors, message):
    with pytest.raises(GraphRunError, match=message):
        run(double, tensors)


@pytest.mark.parametrize(
    ("delegate", "sides", "calculator", "uses_xnnpack", "threads"),
    [
        ({}, {}, InferenceCalculatorCpu, False, 3),
        ({"xnnpack": {}}, {}, InferenceCalculatorCpu, True, 1),
        ({"xnnpack": {"num_threads": 4}}, {}, InferenceCalculatorCpu, True, 4),
        ({"tflite": {}}, {}, InferenceCalculatorCpu, False, 3),
        ({"gpu": {}}, {}, InferenceCalculatorCpu, False, 3),
        ({"tflite": {}}, {"xnnpack": {"num_threads": 2}}, InferenceCalculatorCpu, True, 2),
        ({"litert": {}}, {}, InferenceCalculatorCpu, True, 1),
        ({"litert": {"cpu": {"num_threads": 2, "xnnpack": {}}}}, {}, InferenceCalculatorCpu, True, 2),
        ({"tflite": {}}, {}, InferenceCalculatorXnnpack, True, 1),
    ],
)
def test_the_delegate_decides_on_kernels_and_threads(  # noqa: PLR0913, PLR0917  # a case has five parts
    doubling, double, delegate, sides, calculator, uses_xnnpack, threads
):
    given = {"DELEGATE": Options.Delegate(**sides)} if sides else {}
    options = {"delegate": delegate} if delegate else {}
    run(double, [Tensor(ONES)], sides=given, calculator=calculator, cpu_num_thread=3, **options)

    assert (doubling.settings.uses_xnnpack, doubling.settings.threads) == (uses_xnnpack, threads)


def test_a_side_packet_cannot_ask_for_the_gpu(doubling, double):
    with pytest.raises(GraphRunError, match="DELEGATE asks for gpu, but this inference runs on the CPU"):
        run(double, [Tensor(ONES)], sides={"DELEGATE": Options.Delegate(gpu={})})


def test_the_operations_of_a_side_packet_replace_the_installed_ones(doubling, double):
    run(double, [Tensor(ONES)])
    assert doubling.settings.operations.find("TransformLandmarks", 2) is not None

    run(double, [Tensor(ONES)], sides={"OP_RESOLVER": OpResolver({})})
    assert doubling.settings.operations.find("TransformLandmarks", 2) is None


def test_a_node_has_either_a_path_or_a_model(doubling, double):
    with pytest.raises(GraphConfigError, match="both model_path and MODEL"):
        run(double, [Tensor(ONES)], model_path="x.tflite")
    with pytest.raises(GraphConfigError, match="neither model_path nor MODEL; set model_path"):
        run_calculator(InferenceCalculatorCpu, {"TENSORS": []}, outputs=["TENSORS"])


def test_the_ports_have_one_form(doubling, double):
    with pytest.raises(GraphConfigError, match="the inference's outputs are both TENSORS and TENSOR"):
        run(double, [Tensor(ONES)], ["TENSORS", ("TENSOR", 0)])


def test_a_file_of_no_known_kind_is_refused():
    with pytest.raises(GraphRunError, match=r"'odd' \(7 bytes\) is of a kind that no backend runs"):
        run(Model("odd", b"nothing"), [Tensor(ONES)])


GRAPH = """
input_stream: "in"
output_stream: "out"
num_threads: 4
node {{
  name: "palm__InferenceCalculator"
  calculator: "InferenceCalculator"
  input_stream: "TENSORS:in"
  output_stream: "TENSORS:out"
  max_in_flight: {}
  options {{ [mediapipe.InferenceCalculatorOptions.ext] {{
    model_path: "double.bin" delegate {{ xnnpack {{}} }}
  }} }}
}}
"""


@pytest.fixture
def finder(tmp_path):
    (tmp_path / "double.bin").write_bytes(b"DOUBLE")
    return ResourceFinder([tmp_path], only_places=True)


def carried(in_flight, finder, count):
    sent = []
    graph = penstock.CalculatorGraph(GRAPH.format(in_flight))
    graph.set_service(RESOURCES, finder)
    graph.observe_output_stream("out", lambda name, packet: sent.append(packet))
    with graph:
        graph.start_run()
        for i in range(count):
            graph.add_packet_to_input_stream("in", penstock.Packet([Tensor(ONES * i)], i))
    return [(int(packet.timestamp), packet.payload[0].array[0, 0]) for packet in sent]


def test_invocations_of_one_node_do_not_overlap_by_default(doubling, finder):
    assert carried(1, finder, 5) == [(i, 2 * i) for i in range(5)]

    assert (doubling.together, doubling.sessions) == (1, 1)


def test_two_in_flight_run_at_the_same_time_on_sessions_of_their_own_and_keep_their_order(doubling, finder):
    doubling.meet = threading.Barrier(2)  # each call waits until another one runs too

    assert carried(2, finder, 6) == [(i, 2 * i) for i in range(6)]

    assert (doubling.together, doubling.sessions) == (2, 2)


def test_the_expanded_node_is_named_after_its_place_and_keeps_ports_options_and_settings():
    text = penstock.CalculatorGraph(GRAPH.format(3)).text_config

    assert 'name: "palm__inferencecalculator__palm__InferenceCalculator"' in text
    assert 'calculator: "InferenceCalculatorCpu"' in text
    assert 'input_stream: "TENSORS:in"' in text
    assert 'model_path: "double.bin"' in text
    assert "xnnpack" in text
    assert "max_in_flight: 3" in text


def test_without_a_name_the_node_inside_is_called_after_its_type():
    text = GRAPH.format(1).replace('name: "palm__InferenceCalculator"', "")

    found = penstock.CalculatorGraph(text).text_config

    assert 'name: "inferencecalculator__InferenceCalculatorCpu"' in found


def test_a_model_is_found_beside_the_graph_file(doubling, tmp_path, monkeypatch):
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "double.bin").write_bytes(b"DOUBLE")
    (tmp_path / "double.bin").write_bytes(b"another, in the working directory")
    (tmp_path / "graphs" / "graph.pbtxt").write_text(GRAPH.format(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    found = penstock.run(Path("graphs/graph.pbtxt"), {"in": [(0, [Tensor(ONES)])]})["out"]

    assert found[0].payload[0].array[0, 0] == 2


def test_a_model_that_is_not_there_fails_at_start_with_the_places_and_the_cure(tmp_path):
    graph = penstock.CalculatorGraph(GRAPH.format(1))
    graph.set_service(RESOURCES, ResourceFinder([tmp_path]))
    with (
        pytest.raises(GraphRunError, match=r"not found 'double.bin'; searched: .*put it beside the graph"),
        graph,
    ):
        graph.start_run()


@pytest.mark.parametrize("name", ["InferenceCalculatorCpu", "InferenceCalculatorXnnpack"])
def test_it_keeps_what_all_calculators_promise(doubling, double, name):
    wiring = (
        f'node {{ calculator: "{name}" input_stream: "TENSORS:in" output_stream: "TENSORS:out" '
        'input_side_packet: "MODEL:model" }'
    )
    check_calculator(
        name,
        seeds=range(6),
        wiring=wiring,
        side_packets={
            "MODEL": double,
            "DELEGATE": Options.Delegate(xnnpack={}),
            "IO_CONFIG": Options.InputOutputConfig(),
        },
        payloads={"TENSORS": lambda random, at: [Tensor(np.full((1, 4), random.random(), np.float32))]},
    )


def test_the_sessions_are_let_go_when_the_run_ends(doubling, double, monkeypatch):
    made = []
    new_session = doubling.session

    def session():
        one = new_session()
        made.append(weakref.ref(one))
        return one

    monkeypatch.setattr(doubling, "session", session)
    gc.disable()  # the nodes of a run refer to each other
    try:
        run(double, [Tensor(ONES)])
        left = [reference() for reference in made]
    finally:
        gc.enable()

    assert left == [None]


def test_a_reset_keeps_the_sessions_unless_the_next_run_asks_for_something_else(doubling, double):
    graph = penstock.CalculatorGraph(
        """input_stream: "in" input_side_packet: "model" input_side_packet: "how"
           node { calculator: "InferenceCalculatorCpu" input_stream: "TENSORS:in" output_stream: "TENSORS:out"
                  input_side_packet: "MODEL:model" input_side_packet: "DELEGATE:how" }"""
    )
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append(arrays(packet)[0]))
    sessions = []
    for model, threads in ((double, 1), (double, 1), (Model("again", b"DOUBLE"), 1), (double, 2)):
        graph.reset({"model": model, "how": Options.Delegate(xnnpack={"num_threads": threads})})
        graph.add_packet_to_input_stream("in", penstock.Packet([Tensor(ONES)], 0))
        graph.wait_until_idle()
        sessions.append((doubling.sessions, doubling.settings.threads))
    graph.close()

    assert sessions == [(1, 1), (1, 1), (1, 1), (2, 2)]
    assert out == [[[2, 2, 2, 2]]] * 4


#: The first output of the model is its input in the next run.
LINK = [{"from_output_tensor_name": "double", "to_input_tensor_name": "x"}]
LINKED = """
input_stream: "in" input_side_packet: "model"
node {
  calculator: "InferenceCalculatorCpu" input_stream: "TENSORS:in" input_side_packet: "MODEL:model"
  output_stream: "TENSORS:out"
  options { [penstock.InferenceCalculatorOptions.ext] { input_output_config {
    feedback_tensor_links { from_output_tensor_name: "double" to_input_tensor_name: "x" }
  } } }
}
"""


@pytest.fixture
def counting(doubling, monkeypatch):
    """Let the model of `doubling` add 1 to its input "x", and give "y" as "half"."""
    monkeypatch.setattr(
        doubling, "inputs", (TensorInfo("x", (1,), "int32"), TensorInfo("y", (1,), "int32")), raising=False
    )
    outputs = TensorInfo("double", (1,), "int32"), TensorInfo("half", (1,), "int32")
    monkeypatch.setattr(doubling, "outputs", outputs, raising=False)
    plain = type(doubling.session()).run
    monkeypatch.setattr(
        type(doubling.session()),
        "run",
        lambda one, inputs: [inputs[0] + 1, plain(one, inputs)[0] // 2 + inputs[1]],
    )
    return doubling


def test_a_linked_output_is_an_input_of_the_next_packet_and_0_in_each_run(counting, double):
    graph = penstock.CalculatorGraph(LINKED)
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append([t.array.item() for t in packet.payload]))
    for _ in range(2):
        graph.reset({"model": double})
        for i in range(3):
            graph.add_packet_to_input_stream("in", penstock.Packet([Tensor(np.array([10], np.int32))], i))
        graph.wait_until_idle()
    graph.close()

    assert out == [[10], [11], [12]] * 2


def test_linked_tensors_need_one_call_after_the_other(counting):
    sessions = _Sessions(counting, TensorMap((1,), (1,), (Link(0, 0),)))
    number = np.array([10], np.int32)
    counting.meet = SimpleNamespace(wait=lambda timeout: sessions.run([number]))  # a call within a call

    with pytest.raises(FailedPreconditionError, match=r"of the one before; leave max_in_flight out"):
        sessions.run([number])


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        (
            {"feedback_tensor_links": LINK, "input_tensor_indices_map": {"model_tensor_indices": [0]}},
            "FAILED_PRECONDITION",
            "feedback_tensor_links and numbers of tensors are given",
        ),
        (
            {"feedback_tensor_links": [{**LINK[0], "to_input_tensor_name": "z"}]},
            "INTERNAL",
            "name 'z', but the inputs of the model 'double' are 0 'x', 1 'y'; correct it",
        ),
        (
            {"feedback_tensor_links": [{**LINK[0], "from_output_tensor_name": "z"}]},
            "INTERNAL",
            "name 'z', but the outputs of the model 'double' are 0 'double', 1 'half'; correct it",
        ),
        (
            {"feedback_tensor_links": [*LINK, {**LINK[0], "to_input_tensor_name": "y"}]},
            "INTERNAL",
            "name 'double' or 'y' twice; link each output and each input once",
        ),
        (
            {"feedback_tensor_links": LINK, "input_tensor_names_map": {"tensor_names": ["y", "y"]}},
            "INTERNAL",
            r"input_tensor_names_map is \['y', 'y'\], but must name each input .*1 'y'; correct it",
        ),
    ],
)
def test_links_that_cannot_be_are_refused(counting, double, config, code, message):
    with pytest.raises(GraphRunError, match=message) as caught:
        run(double, [Tensor(np.array([10], np.int32))], input_output_config=config)

    assert caught.value.code == StatusCode[code]
