"""A backend without a runtime, and small .tflite and .onnx files, made here."""

from __future__ import annotations

import threading
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from penstock_tensors import Model, TensorInfo, add_backend, remove_backend

#: Where the data of MediaPipe's own tests is, by folder of its tests.
REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "data" / "reference"
#: How long a session waits for another one to run at the same time.
MEETING = 20


class Doubling:
    """Runs models of the bytes b"DOUBLE": one input (1, 4), outputs its double and its half."""

    inputs = (TensorInfo("x", (1, 4), "float32"),)
    outputs = (TensorInfo("double", (1, 4), "float32"), TensorInfo("half", (1, 4), "float32"))

    def __init__(self):
        #: How many were made.
        #: The greatest number that ran at once.
        self.sessions = self.together = self._running = 0
        self.settings = None
        #: Where set, `run` waits until as many as it says run at once.
        self.meet = None
        self._lock = threading.Lock()

    def recognizes(self, model):
        return model.data == b"DOUBLE"

    def load(self, model, settings):
        self.settings = settings
        return self

    def session(self):
        self.sessions += 1
        return DoublingSession(self)


class DoublingSession:
    def __init__(self, backend):
        self._backend = backend
        self._is_busy = False

    def run(self, inputs):
        backend = self._backend
        assert not self._is_busy, "two threads entered one session"
        self._is_busy = True
        with backend._lock:
            backend._running += 1
            backend.together = max(backend.together, backend._running)
        if backend.meet is not None:
            backend.meet.wait(MEETING)
        with backend._lock:
            backend._running -= 1
        self._is_busy = False
        return [inputs[0] * 2, inputs[0] / 2]


@pytest.fixture
def doubling():
    """Return a backend, which is known while the test runs."""
    backend = Doubling()
    add_backend("doubling", backend)
    yield backend
    remove_backend("doubling")


@pytest.fixture
def double():
    """Return the model that `doubling` runs."""
    return Model("double", b"DOUBLE")


@pytest.fixture(scope="session")
def tflite():
    """Return a function that makes a .tflite file of the operations that it is given.

    The input is tensor "x" (1, 4), the output the tensor that the last operation makes. "add" adds the
    constant 1, 2, 3, 4; every other name is a custom operation of version 2 with the attribute by: 3.
    """
    reason = 'no ai-edge-litert: pip install "penstock-tensors[litert]"'
    pytest.importorskip("ai_edge_litert.interpreter", reason=reason)
    return _tflite


def _tflite(*operations):
    flatbuffers = import_module("flatbuffers")
    schema = import_module("ai_edge_litert.schema_py_generated")
    model, graph = schema.ModelT(), schema.SubGraphT()
    constant = schema.BufferT()
    constant.data = np.frombuffer(np.array([1, 2, 3, 4], np.float32).tobytes(), np.uint8)
    model.version, model.buffers = 3, [schema.BufferT(), constant]
    graph.tensors = [_tensor(schema, "x", 0), _tensor(schema, "constant", 1)]
    graph.operators, model.operatorCodes = [], []
    last = 0
    for name in operations:
        code, operator = schema.OperatorCodeT(), schema.OperatorT()
        code.version = 1
        made = len(graph.tensors)
        operator.inputs, operator.outputs = [last, 1], [made]
        if name == "add":
            code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.ADD
            operator.builtinOptionsType = schema.BuiltinOptions.AddOptions
            operator.builtinOptions = schema.AddOptionsT()
        else:
            code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
            code.customCode, code.version = name, 2
            attributes = import_module("flatbuffers.flexbuffers").Dumps({"by": 3})
            operator.customOptions = np.frombuffer(attributes, np.uint8)
        operator.opcodeIndex = len(model.operatorCodes)
        model.operatorCodes.append(code)
        graph.operators.append(operator)
        graph.tensors.append(_tensor(schema, f"{name}_{made}", 0))
        last = made
    graph.inputs, graph.outputs = [0], [last]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return Model("small.tflite", bytes(builder.Output()))


def _tensor(schema, name, buffer):
    tensor = schema.TensorT()
    tensor.name, tensor.shape, tensor.buffer, tensor.type = name, [1, 4], buffer, schema.TensorType.FLOAT32
    return tensor


@pytest.fixture(scope="session")
def tiny():
    """Return a function that makes a .tflite file with one input, and one output that is a cast of it.

    Arguments are names of element types in the schema, such as "INT32", and a shape. With one type the
    output is the input itself. `scale` and `zero_point`: what both are quantized by.
    """
    reason = 'no ai-edge-litert: pip install "penstock-tensors[litert]"'
    pytest.importorskip("ai_edge_litert.interpreter", reason=reason)
    return _tiny


def _tiny(*types, shape=(4,), scale=None, zero_point=0):
    schema = import_module("ai_edge_litert.schema_py_generated")
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.buffers, model.operatorCodes = 3, [schema.BufferT()], []
    graph.tensors, graph.operators = [], []
    for i, name in enumerate(types):
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.buffer = f"tensor {i}", list(shape), 0
        tensor.type = getattr(schema.TensorType, name)
        if scale is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [zero_point]
        graph.tensors.append(tensor)
    graph.inputs, graph.outputs = [0], [len(types) - 1]
    if len(types) > 1:
        code, operator = schema.OperatorCodeT(), schema.OperatorT()
        code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CAST
        code.version, operator.opcodeIndex = 1, 0
        operator.inputs, operator.outputs = [0], [1]
        model.operatorCodes, graph.operators = [code], [operator]
    model.subgraphs = [graph]
    builder = import_module("flatbuffers").Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return Model("tiny.tflite", bytes(builder.Output()))


@pytest.fixture
def onnx():
    """Return an .onnx file that adds two inputs, "x" (1, 4) and "y" (n, 4); written byte by byte."""
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-tensors[onnx]"')
    node = _field(1, "x") + _field(1, "y") + _field(2, "sum") + _field(4, "Add")
    graph = _field(1, node) + _field(2, "adds")
    graph += _field(11, _value("x", 1)) + _field(11, _value("y", None)) + _field(12, _value("sum", None))
    return Model("adds.onnx", b"\x08\x08" + _field(7, graph) + _field(8, b"\x10\x0d"))


def _value(name, rows):
    first = _field(2, "n") if rows is None else bytes([8, rows])
    shape = _field(1, first) + _field(1, b"\x08\x04")
    return _field(1, name) + _field(2, _field(1, b"\x08\x01" + _field(2, shape)))


def _field(number, content):
    data = content.encode() if isinstance(content, str) else content
    assert len(data) < 128, "the length must fit one byte"
    return bytes([number << 3 | 2, len(data)]) + data


@pytest.fixture(scope="session")
def reference_model(reference_file):
    """Return a function that reads a model of the data of MediaPipe's own tests, or skips the test."""
    reason = 'no ai-edge-litert: pip install "penstock-tensors[litert]"'
    pytest.importorskip("ai_edge_litert.interpreter", reason=reason)
    return lambda name: Model(name, reference_file(f"calculators/tensor/{name}").read_bytes())


@pytest.fixture(scope="session")
def reference_file():
    """Return a function that finds a file of the data that MediaPipe's own tests read, or skips the test."""

    def find(name):
        path = REFERENCE / name
        if not path.exists():
            pytest.skip(f"the reference's file is missing: {path}")
        return path

    return find
