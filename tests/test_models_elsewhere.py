"""A model beside a graph file is read and run where its node works: here, and in a worker process."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_formats import Tensor

pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-tensors[onnx]"')

GRAPH = """
input_stream: "in"
output_stream: "out"
executor { name: "there" type: "ProcessExecutor" }
node {
  calculator: "InferenceCalculator" EXECUTOR
  input_stream: "TENSORS:in"
  output_stream: "TENSORS:out"
  options { [penstock.InferenceCalculatorOptions.ext] { model_path: "doubles.onnx" } }
}
"""


def field(number, content):
    """Return a field of a protobuf message that has a length, shorter than 128 bytes."""
    data = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2, len(data)]) + data


def doubles():
    """Return an .onnx file that adds its 4 input numbers to themselves. Source: onnx.proto3, version 8."""
    node = field(1, "x") + field(1, "x") + field(2, "sum") + field(4, "Add")
    kind = field(1, b"\x08\x01" + field(2, field(1, b"\x08\x04")))
    graph = field(1, node) + field(2, "doubles")
    graph += field(11, field(1, "x") + field(2, kind)) + field(12, field(1, "sum") + field(2, kind))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x0d")


@pytest.mark.parametrize("executor", ["", 'executor: "there"'])
def test_a_model_beside_the_graph_file_runs_where_its_node_works(tmp_path, executor):
    (tmp_path / "doubles.onnx").write_bytes(doubles())
    (tmp_path / "graph.pbtxt").write_text(GRAPH.replace("EXECUTOR", executor), encoding="utf-8")
    numbers = np.arange(4, dtype=np.float32)

    found = penstock.run(tmp_path / "graph.pbtxt", {"in": [(0, [Tensor(numbers)])]})["out"]

    assert found[0].payload[0].array.tolist() == [0, 2, 4, 6]


def test_a_model_that_a_worker_does_not_find_is_an_error_with_the_places_and_the_cure(tmp_path):
    (tmp_path / "graph.pbtxt").write_text(GRAPH.replace("EXECUTOR", 'executor: "there"'), encoding="utf-8")

    with pytest.raises(GraphRunError) as raised:
        penstock.run(tmp_path / "graph.pbtxt", {"in": []})

    assert f"has not found 'doubles.onnx'; searched: '{tmp_path}'" in str(raised.value)
    assert "put it beside the graph file" in str(raised.value)
