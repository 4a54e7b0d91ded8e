"""The backends of this pack: .tflite on ai-edge-litert, .onnx on onnxruntime, custom operations."""

from __future__ import annotations

import sys
import threading
from importlib import import_module

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_tensors import Model, OpResolver, RunSettings, load_model
from penstock_tensors.models.onnx_runtime import arranged
from penstock_tensors.models.tensor_info import TensorInfo

X = np.array([[1, 10, 100, 1000]], np.float32)
ADDED = np.array([1, 2, 3, 4], np.float32)


def times(attributes):
    """Multiply by the attribute; the second input, a constant, is added."""
    return lambda inputs: [inputs[0] * attributes["by"] + inputs[1]]


OPERATIONS = OpResolver({("Times", 2): times})


def test_a_tflite_file_is_described_and_runs(tflite):
    loaded = load_model(tflite("add", "add"), RunSettings())

    (info,) = loaded.inputs
    assert (info.name, info.shape, info.element_type) == ("x", (1, 4), "float32")
    assert [info.name for info in loaded.outputs] == ["add_3"]
    for settings in (RunSettings(), RunSettings(uses_xnnpack=False, threads=2)):
        (found,) = load_model(tflite("add"), settings).session().run([X])
        assert found.tolist() == (X + ADDED).tolist()


def test_the_next_run_does_not_change_what_was_returned(tflite):
    session = load_model(tflite("add"), RunSettings()).session()
    (first,) = session.run([X])
    session.run([X * 0])

    assert first.tolist() == (X + ADDED).tolist()


def test_an_input_takes_the_shape_of_the_model(tflite):
    (found,) = load_model(tflite("add"), RunSettings()).session().run([X.reshape(2, 2)])

    assert found.tolist() == (X + ADDED).tolist()


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        (("Times",), X * 3 + ADDED),
        (("add", "Times"), (X + ADDED) * 3 + ADDED),
        (("Times", "add"), X * 3 + ADDED + ADDED),
        (("add", "Times", "add", "add", "Times", "Times"), None),
    ],
)
def test_a_model_is_cut_at_its_custom_operations(tflite, operations, expected):
    if expected is None:
        expected = X
        for name in operations:
            expected = expected + ADDED if name == "add" else expected * 3 + ADDED

    loaded = load_model(tflite(*operations), RunSettings(operations=OPERATIONS))

    assert [info.name for info in loaded.inputs] == ["x"]
    assert loaded.outputs[0].name.startswith(operations[-1])
    for session in (loaded.session(), loaded.session()):
        assert session.run([X])[0].tolist() == expected.tolist()


def test_sessions_of_a_cut_model_run_side_by_side(tflite):
    loaded = load_model(tflite("add", "Times", "add"), RunSettings(operations=OPERATIONS))
    found = {}

    def work(number):
        session = loaded.session()
        found[number] = [session.run([X * number])[0].tolist() for _ in range(50)]

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    for number in (1, 2):
        assert found[number] == [((X * number + ADDED) * 3 + ADDED + ADDED).tolist()] * 50


@pytest.mark.parametrize("operations", [OpResolver({}), OpResolver({("Times", 1): times})])
def test_a_custom_operation_that_nothing_provides_is_named(tflite, operations):
    with pytest.raises(
        InvalidArgumentError, match=r"the LiteRT backend cannot load the model 'small.tflite': .*Times"
    ):
        load_model(tflite("add", "Times"), RunSettings(operations=operations))


def test_a_damaged_tflite_file_is_refused(tflite):
    data = tflite("add").data
    with pytest.raises(
        InvalidArgumentError,
        match=r"LiteRT session: the model 'cut.tflite' is no .tflite file that it can read",
    ):
        load_model(Model("cut.tflite", data[: len(data) // 2]), RunSettings())


def test_a_tflite_file_without_the_data_of_a_constant_cannot_run(tflite):
    schema = import_module("ai_edge_litert.schema_py_generated")
    flatbuffers = import_module("flatbuffers")
    model = schema.ModelT.InitFromPackedBuf(tflite("add").data, 0)
    model.subgraphs[0].tensors[1].buffer = 0
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    session = load_model(Model("bare.tflite", bytes(builder.Output())), RunSettings()).session()

    with pytest.raises(
        InvalidArgumentError, match=r"the LiteRT session of the model 'bare.tflite' cannot run: .*; its file"
    ):
        session.run([X])


@pytest.mark.parametrize(
    ("module", "data", "command"),
    [
        ("ai_edge_litert.interpreter", b"\x1c\0\0\0TFL3", r'pip install "penstock-tensors\[litert\]"'),
        ("onnxruntime", b"\x08\x08\x3a", r'pip install "penstock-tensors\[onnx\]"'),
    ],
)
def test_a_runtime_that_is_missing_is_named_with_the_command(monkeypatch, module, data, command):
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(FailedPreconditionError, match=f"the model 'm' needs .*; run: {command}"):
        load_model(Model("m", data), RunSettings())


def test_an_onnx_file_is_described_and_runs(onnx):
    loaded = load_model(onnx, RunSettings())

    assert [(info.name, info.shape) for info in loaded.inputs] == [("x", (1, 4)), ("y", (-1, 4))]
    assert str(loaded.inputs[1]) == "float32 ?x4"
    many = np.ones((3, 4), np.float32)
    (found,) = loaded.session().run([X.reshape(4), many])
    assert found.tolist() == (X + many).tolist()
    assert loaded.session().run([X, X])[0].tolist() == (X * 2).tolist()


@pytest.mark.parametrize(
    ("shape", "wanted", "words"),
    [
        (
            (1, 8, 6, 3),
            (1, 3, 8, 6),
            (
                "ONNX Runtime got a tensor float32 1x8x6x3, but the input 'images' of the model 'm.onnx' is "
                "float32 1x3x8x6: it takes channels first (NCHW), and the tensor has them last (NHWC); let a "
                "node in between send Tensor(tensor.array.transpose(0, 3, 1, 2))"
            ),
        ),
        ((2, 3, 8, 6), (-1, 8, 6, 3), "1x8x6x3"),
        ((1, 4, 6), (1, 6, 4), "float32 1x6x4; change the node that makes the tensor"),
    ],
)
def test_a_tensor_in_another_order_of_axes_is_refused_with_both_shapes_and_the_cure(shape, wanted, words):
    info = TensorInfo("images", wanted, "float32")

    with pytest.raises(InvalidArgumentError) as caught:
        arranged(np.zeros(shape, np.float32), info, "m.onnx")

    assert words in str(caught.value).replace("?x8x6x3", "1x8x6x3")
    assert ("transpose(0, 2, 3, 1)" in str(caught.value)) == (wanted[0] == -1)


def test_a_tensor_that_fits_is_taken_and_one_of_other_dimensions_is_reshaped():
    info = TensorInfo("images", (-1, 2, 3), "float32")
    fits = np.zeros((5, 2, 3), np.float32)

    assert arranged(fits, info, "m") is fits
    assert arranged(np.zeros((4, 3), np.float32), info, "m").shape == (2, 2, 3)
    with pytest.raises(
        InvalidArgumentError, match="ONNX Runtime got a tensor float32 7, but the input 'images'"
    ):
        arranged(np.zeros(7, np.float32), info, "m")


def test_an_onnx_session_refuses_another_order_of_axes_itself(onnx):
    session = load_model(onnx, RunSettings()).session()

    with pytest.raises(
        InvalidArgumentError, match="ONNX Runtime got a tensor float32 4x1, but the input 'x' of the model"
    ):
        session.run([X.reshape(4, 1), X])


def test_a_damaged_onnx_file_is_refused(onnx):
    with pytest.raises(InvalidArgumentError, match=r"'adds.onnx' is no .onnx file that onnxruntime can run"):
        load_model(Model(onnx.name, onnx.data[:40]), RunSettings())


def test_a_backend_that_a_program_adds_goes_before_all_others(doubling, double):
    assert load_model(double, RunSettings()) is doubling


def test_an_onnx_model_that_the_runtime_refuses_to_run_is_named(onnx, monkeypatch):
    session = load_model(onnx, RunSettings()).session()
    monkeypatch.setattr(session, "_session", Refusing())

    with pytest.raises(InvalidArgumentError, match=r"cannot run: no such output; its file is damaged"):
        session.run([X, X])


class Refusing:
    def run(self, *_: object) -> None:
        raise RuntimeError("no such output")
