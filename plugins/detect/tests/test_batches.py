"""Several streams of images, which share one call of the model: which are one batch, and its results."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Tensor

STREAMS = 3
#: The calls of the model: how many rows each had.
CALLS = []


@pytest.fixture
def adding(tmp_path, monkeypatch):
    """Return the path of a model that adds up the pixels of each image; its calls are counted."""
    onnx = pytest.importorskip("onnx", reason='no onnx: pip install "penstock-detect[testing]"')
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')
    from penstock_tensors.models.onnx_runtime import OnnxSession

    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("ReduceSum", ["images", "axes"], ["output"], keepdims=0)],
        "adding",
        [helper.make_tensor_value_info("images", kind, ["batch", 3, 2, 2])],
        [helper.make_tensor_value_info("output", kind, ["batch"])],
        [onnx.numpy_helper.from_array(np.array([1, 2, 3]), "axes")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = tmp_path / "adding.onnx"
    path.write_bytes(model.SerializeToString())
    run = OnnxSession.run
    CALLS.clear()

    def counted(self, inputs):
        CALLS.append(len(inputs[0]))
        return run(self, inputs)

    monkeypatch.setattr(OnnxSession, "run", counted)
    return path


def graph_of(path, options=""):
    ports = " ".join(
        f'input_stream: "TENSORS:{i}:in{i}" output_stream: "TENSORS:{i}:out{i}"' for i in range(STREAMS)
    )
    ends = " ".join(f'input_stream: "in{i}" output_stream: "out{i}"' for i in range(STREAMS))
    return f"""
    {ends}
    node {{ calculator: "OnnxBatchInferenceCalculator" {ports}
      node_options {{ [type.googleapis.com/penstock_detect.OnnxBatchInferenceCalculatorOptions] {{
        model_path: "{path}" {options} }} }} }}"""


def tensor(value, shape=(1, 3, 2, 2)):
    return [Tensor(np.full(shape, value, np.float32))]


def results(path, times, options=""):
    """Return for each stream timestamp → sum, where the images of each stream have these timestamps."""
    inputs = {
        f"in{i}": [(stamp, tensor(1000 * i + stamp)) for stamp in stamps] for i, stamps in enumerate(times)
    }
    outputs = penstock.run(graph_of(path, options), inputs)
    return [
        {int(packet.timestamp): float(packet.payload[0].array[0]) for packet in outputs[f"out{i}"]}
        for i in range(STREAMS)
    ]


def expected(times):
    return [{stamp: 12.0 * (1000 * i + stamp) for stamp in stamps} for i, stamps in enumerate(times)]


def test_images_with_one_timestamp_are_one_call_and_go_back_to_their_streams(adding):
    times = [[0, 10, 20], [0, 20], [0, 10]]

    assert results(adding, times) == expected(times)
    assert sorted(CALLS) == [2, 2, 3]


def test_a_window_joins_images_of_cameras_that_are_not_in_step(adding):
    times = [[0, 40, 80], [5, 45, 85], [12, 52, 92]]

    assert results(adding, times, "window: 20") == expected(times)
    assert CALLS == [3, 3, 3]


def test_a_window_ends_by_timestamps_where_a_stream_is_silent(adding):
    times = [[-40, 0, 40], [-35, 5], []]

    assert results(adding, times, "window: 20") == expected(times)
    assert CALLS == [2, 2, 1]


def test_the_second_image_of_a_stream_begins_another_batch(adding):
    times = [[0, 10], [15], [18]]

    assert results(adding, times, "window: 30") == expected(times)
    assert CALLS == [1, 3]


@pytest.mark.parametrize("options", ["max_batch: 2", "max_batch: 2 window: 5"])
def test_a_batch_has_no_more_than_max_batch(adding, options):
    times = [[0, 10]] * STREAMS

    assert results(adding, times, options) == expected(times)
    assert max(CALLS) == 2
    assert sum(CALLS) == 6


def test_tensors_of_other_shapes_are_refused(adding):
    inputs = {"in0": [(0, tensor(1))], "in1": [(0, tensor(1, (1, 3, 4, 2)))], "in2": []}

    with pytest.raises(GraphRunError, match=r"float32 1x3x4x2 beside one float32 1x3x2x2; give all streams"):
        penstock.run(graph_of(adding), inputs)


@pytest.mark.parametrize(
    ("options", "words"), [("window: -1", "window is -1"), ("threads: 0", "threads is 0")]
)
def test_options_that_do_not_fit(options, words):
    with pytest.raises(GraphConfigError, match=words):
        penstock.CalculatorGraph(graph_of("a.onnx", options))


def detector(path, streams=2):
    ports = " ".join(
        f'input_stream: "IMAGE:{i}:in{i}" output_stream: "DETECTIONS:{i}:out{i}"' for i in range(streams)
    )
    ends = " ".join(f'input_stream: "in{i}" output_stream: "out{i}"' for i in range(streams))
    return f"""
    {ends}
    node {{ calculator: "DetectorSubgraph" {ports}
      node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
        model_path: "{path}" layout: YOLO_END_TO_END }} }} }}"""


def test_a_model_with_a_batch_of_one_is_refused_for_several_streams(model):
    path = model({"output0": np.zeros((1, 3, 6), np.float32)})

    with pytest.raises(
        GraphConfigError, match=r"2 streams of images, .*export it as .onnx with dynamic=True"
    ):
        penstock.CalculatorGraph(detector(path))


def test_cameras_share_a_detector(tmp_path):
    onnx = pytest.importorskip("onnx", reason='no onnx: pip install "penstock-detect[testing]"')
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    # One row for each image: a box whose class is the brightness of the image, 0 to 1, times 10.
    row = np.array([[[0.0, 0, 8, 8, 0.9, 0]]], np.float32)
    last = np.array([[[0.0, 0, 0, 0, 0, 10]]], np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMean", ["images"], ["mean"], axes=[1, 2, 3], keepdims=0),
            helper.make_node("Unsqueeze", ["mean", "axes"], ["column"]),
            helper.make_node("Mul", ["column", "last"], ["classes"]),
            helper.make_node("Add", ["classes", "row"], ["output0"]),
        ],
        "bright",
        [helper.make_tensor_value_info("images", kind, ["batch", 3, 16, 16])],
        [helper.make_tensor_value_info("output0", kind, ["batch", 1, 6])],
        [
            onnx.numpy_helper.from_array(np.array([1, 2]), "axes"),
            onnx.numpy_helper.from_array(row, "row"),
            onnx.numpy_helper.from_array(last, "last"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = tmp_path / "bright.onnx"
    path.write_bytes(model.SerializeToString())
    images = [np.full((16, 16, 3), value, np.uint8) for value in (51, 204)]

    outputs = penstock.run(detector(path), {f"in{i}": [(i, one), (7, one)] for i, one in enumerate(images)})

    found = [[(int(one.timestamp), one.payload[0].label_id[0]) for one in outputs[f"out{i}"]] for i in (0, 1)]
    assert found == [[(0, 2), (7, 2)], [(1, 8), (7, 8)]]


def test_an_image_beyond_the_window_is_in_another_batch(adding):
    times = [[0], [5], [100]]

    assert results(adding, times, "window: 20") == expected(times)
    assert CALLS == [2, 1]
