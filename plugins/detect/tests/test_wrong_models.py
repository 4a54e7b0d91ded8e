"""Files that are no model, or none that can be used: each is refused, and the error says the cure."""

from __future__ import annotations

import numpy as np
import pytest
from detector_models import CELLS, HEIGHT, LABELS, WIDTH, outputs_of
from plain_decoders import DECODERS
from test_decoders import assert_equal, detect

from penstock.access import Access, override
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError, ResourceExhaustedError
from penstock_detect import detector_labels, model_file
from penstock_detect.detector_labels import read_labels
from penstock_detect.model_file import ModelFile, literal, read_model

NAMES = {"names": str(dict(enumerate(LABELS)))}
ROWS = outputs_of("YOLO_END_TO_END")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", r"0 inputs and 0 outputs, but must have some of both"),
        (b"no model at all", r"\(15 bytes\) is no whole .onnx file, and no .tflite file"),
        (b"\x08\x08", r"0 inputs and 0 outputs"),
    ],
)
def test_a_file_that_is_no_model(tmp_path, data, words):
    path = tmp_path / "best.onnx"
    path.write_bytes(data)

    with pytest.raises(GraphConfigError, match=rf"(?s)'DetectorSubgraph'.*best.onnx'.*{words}"):
        detect(path)


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(GraphConfigError, match=r"the resource finder has not found .*none.onnx'"):
        detect(tmp_path / "none.onnx")


def test_each_truncation_is_refused(model):
    data = model(ROWS).read_bytes()

    end = data.rindex(b"B")  # opset_import, the last field, may be missing unseen
    for length in range(0, end, 7):
        with pytest.raises(InvalidArgumentError, match=r"'cut.onnx'"):
            read_model("cut.onnx", data[:length])


def test_a_truncated_file_is_named(model):
    path = model(ROWS)
    path.write_bytes(path.read_bytes()[: -len(path.read_bytes()) // 2])

    with pytest.raises(GraphConfigError, match=r"is no whole .onnx file.*copy or export it again"):
        detect(path)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1, 3, 32), "'images' float32 1x3x32, but must be one image"),
        ((1, 3, 32, 64, 1), "must be one image, 1x3xHxW"),
        ((4, 3, 32, 64), "export it with a batch of 1"),
        ((1, 7, 32, 64), "must be one image"),
        ((1, 3, "h", "w"), r"float32 1x3x\?x\?, and leaves the height open; set width and height"),
        ((1, 3, 2**20, 2**20), r"width and height: a frame of 1048576x1048576 has .* pixels, but at most"),
    ],
)
def test_an_input_that_is_no_image(model, shape, words):
    with pytest.raises(GraphConfigError, match=words):
        detect(model(ROWS, shape=shape))


@pytest.mark.parametrize("kind", ["INT8", "DOUBLE", "INT64"])
def test_an_input_of_another_type(model, kind):
    with pytest.raises(GraphConfigError, match="but images are given as float32, float16, uint8"):
        detect(model(ROWS, kind=kind))


@pytest.mark.parametrize("kind", ["FLOAT16", "UINT8"])
def test_inputs_of_halves_and_bytes_work(model, kind):
    found = detect(model(ROWS, kind=kind), size=(WIDTH, HEIGHT))

    assert_equal(found, list(DECODERS["YOLO_END_TO_END"](list(ROWS.values()), 0.3)))


def test_weights_that_an_old_file_lists_as_inputs_are_none(model, capfd):
    found = detect(model(ROWS, is_old=True), size=(WIDTH, HEIGHT))

    assert_equal(found, list(DECODERS["YOLO_END_TO_END"](list(ROWS.values()), 0.3)))
    assert capfd.readouterr().err == ""  # onnxruntime would warn of each of them


def test_outputs_of_halves_work(model):
    halves = {"output0": (ROWS["output0"] * [1, 1, 1, 1, 1, 1]).astype(np.float16)}

    found = detect(model(halves), size=(WIDTH, HEIGHT))

    same = [halves["output0"].astype(np.float32)]
    assert_equal(found, list(DECODERS["YOLO_END_TO_END"](same, 0.3)))


def test_quantized_outputs_are_refused(model):
    rows = {"output0": ROWS["output0"].astype(np.uint8)}

    with pytest.raises(GraphRunError, match="uint8 1x20x6 without a scale"):
        detect(model(rows))


def test_open_sizes_come_from_options_or_from_metadata(model):
    expected = list(DECODERS["YOLO_END_TO_END"](list(ROWS.values()), 0.3))
    path = model(ROWS, shape=("batch", 3, "h", "w"))

    assert_equal(detect(path, f"width: {WIDTH} height: {HEIGHT}", (WIDTH, HEIGHT)), expected)
    path = model(ROWS, shape=("batch", 3, "h", "w"), metadata={"imgsz": f"[{HEIGHT}, {WIDTH}]"})
    assert_equal(detect(path, size=(WIDTH, HEIGHT)), expected)


def test_a_size_that_the_model_does_not_have(model):
    with pytest.raises(GraphConfigError, match=r"width is 128, but the model .* takes float32 1x3x32x64"):
        detect(model(ROWS), "width: 128")


def test_outputs_without_sizes_ask_for_the_layout(model):
    rows = outputs_of("YOLO_V8")
    path = model(rows, metadata=NAMES, shapes={"output0": ("a", "b", "c")})

    with pytest.raises(GraphConfigError, match=r"'output0' float32 \?x\?x\?: several layouts have such"):
        detect(path)
    assert detect(path, "layout: YOLO_V8")


def test_without_metadata_the_layout_is_asked_for_and_then_enough(model):
    rows = outputs_of("YOLO_V8")
    path = model(rows)

    with pytest.raises(GraphConfigError, match=r"set layout in the options, one of .*YOLO_V8.*--layout yolo"):
        detect(path)
    found = detect(path, "layout: YOLO_V8", (WIDTH, HEIGHT))
    assert found
    assert not any(one.label for one in found)


@pytest.mark.parametrize("shape", [(1, 2**62, 6), (2**62, 2**62, 2**62), (1, -5, 6), (1, 0, 6)])
def test_sizes_of_outputs_that_no_memory_has_cost_nothing(model, shape):
    path = model(ROWS, shapes={"output0": shape})

    try:
        found = detect(path, "layout: YOLO_END_TO_END", (WIDTH, HEIGHT))
    except (GraphConfigError, GraphRunError) as error:
        assert "tiny.onnx" in str(error)  # noqa: PT017  # onnxruntime may refuse the file, or run it
    else:
        assert_equal(found, list(DECODERS["YOLO_END_TO_END"](list(ROWS.values()), 0.3)))


def test_an_operation_that_the_runtime_does_not_have_is_named(model):
    import onnx

    path = model(ROWS)
    file = onnx.load(path)
    file.graph.node[0].op_type = "NoSuchOperation"
    path.write_bytes(file.SerializeToString())

    with pytest.raises(GraphRunError, match=r"(?s)tiny.onnx.*NoSuchOperation"):
        detect(path)


def test_numbers_that_are_not_finite_are_no_detections(model):
    rows = ROWS["output0"].copy()
    rows[0, 0, 0], rows[0, 1, 4] = np.nan, np.inf

    found = detect(model({"output0": rows}), size=(WIDTH, HEIGHT))

    rest = np.delete(ROWS["output0"], [0, 1], axis=1)
    assert_equal(found, list(DECODERS["YOLO_END_TO_END"]([rest], 0.3)))


def test_outputs_that_are_others_than_the_file_says(model):
    path = model(outputs_of("YOLO_V8"), metadata=NAMES, shapes={"output0": ("a", 7, "c")})

    with pytest.raises(
        GraphRunError, match=f"1x7x{CELLS} do not fit .* YOLO_V5_SEGMENT, which has a second output"
    ):
        detect(path, "layout: YOLO_V5_SEGMENT")


def test_weights_in_another_file(model):
    import onnx

    path = model(ROWS)
    file = onnx.load(path)
    for one in file.graph.initializer:
        one.data_location = onnx.TensorProto.EXTERNAL
        one.external_data.add(key="location", value="/etc/passwd")
    path.write_bytes(file.SerializeToString())

    with pytest.raises(GraphConfigError, match=r"has its weights in another file; export it as one file"):
        detect(path)


# --- texts of the metadata, and limits -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('true')", "[" * 5000, "-" * 100_000 + "1", "{0: 'a'", "9" * 100_000, "\0"],
)
def test_a_text_that_is_no_literal(text):
    with pytest.raises(InvalidArgumentError, match="must be written as Python writes a dict or a list"):
        literal(text, "'names'")


def test_texts_have_a_limit():
    with pytest.raises(ResourceExhaustedError, match="has 524289 characters, but at most 524288 are read"):
        literal("1" * (model_file.MAX_LITERAL + 1), "'names'")


@pytest.mark.parametrize("names", ["{1: 'a', 2: 'b'}", "[1, 2]", "'cat'", "3"])
def test_names_that_are_none(names):
    with pytest.raises(InvalidArgumentError, match="is no dict of numbers from 0 on and names"):
        ModelFile("a.onnx", "onnx", (), (), {"names": names}).labels()


def test_names_are_listed_in_order():
    assert ModelFile("a", "onnx", (), (), {"names": "{1: 'b', 0: 'a'}"}).labels() == ("a", "b")
    assert ModelFile("a", "onnx", (), (), {"names": "['a', 'b']"}).labels() == ("a", "b")
    assert ModelFile("a", "onnx", (), ()).labels() == ()


def test_labels_have_limits():
    with pytest.raises(
        ResourceExhaustedError, match="has 100001 names, but a detector may have at most 100000"
    ):
        read_labels("labels.txt", b"a\n" * (detector_labels.MAX_LABELS + 1))
    with pytest.raises(
        ResourceExhaustedError, match="a name of 1001 characters, but a label of a detector may have at most"
    ):
        read_labels("labels.txt", b"a" * 1001)
    with pytest.raises(InvalidArgumentError, match="is empty; give one with the name of a class"):
        read_labels("labels.txt", b"\n\n")
    with pytest.raises(InvalidArgumentError, match="is no text in UTF-8"):
        read_labels("labels.txt", b"\xff\xfe")
    assert read_labels("labels.txt", b"\xef\xbb\xbfcat\r\ndog \n\n") == ("cat", "dog")


def test_numbers_of_tensors_and_dimensions_have_limits(model):
    from onnx import TensorProto, helper

    many = {f"o{i}": np.zeros(1, np.float32) for i in range(model_file.MAX_TENSORS + 1)}
    with pytest.raises(ResourceExhaustedError, match="has 65 outputs, but at most 64"):
        read_model("many.onnx", model(many).read_bytes())
    graph = helper.make_graph(
        [], "x", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1] * 9)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )  # fmt: skip
    data = helper.make_model(graph).SerializeToString()
    with pytest.raises(ResourceExhaustedError, match=r"model file 'deep.onnx': 'x' has 9 dimensions"):
        read_model("deep.onnx", data)


def test_a_larger_file_is_not_parsed(monkeypatch):
    monkeypatch.setattr(model_file, "MAX_FILE_BYTES", 100)
    with pytest.raises(ResourceExhaustedError, match=r"has 101 bytes, but an .onnx file has at most 100"):
        read_model("large.onnx", bytes(101))


# --- what the graph may read -----------------------------------------------------------------------


def test_a_graph_reads_only_models_and_labels_that_it_may(model, tmp_path):
    path, labels = model(ROWS), tmp_path / "labels.txt"
    labels.write_text("a\nb\nc\n")

    with override(Access(reads=[])), pytest.raises(GraphConfigError, match=r"may not read .*tiny.onnx"):
        detect(path)
    with override(Access(reads=[path])), pytest.raises(GraphConfigError, match=r"may not read .*labels.txt"):
        detect(path, f'labels_path: "{labels}"')
    with override(Access(reads=[path, labels])):
        assert {one.label[0] for one in detect(path, f'labels_path: "{labels}"')} <= {"a", "b", "c"}
