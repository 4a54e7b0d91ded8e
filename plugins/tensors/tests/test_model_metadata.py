"""What a .tflite file says of its inputs: read, damaged, and missing."""

from __future__ import annotations

import io
import zipfile
from importlib import import_module

import pytest

from penstock.errors import InvalidArgumentError, NotFoundError, ResourceExhaustedError
from penstock_tensors import Model, ModelMetadata, TokenizerMetadata, TokenizerMetadataKind
from penstock_tensors.inputs.bert_preprocessor import BertPreprocessorCalculator
from penstock_tensors.messages.bert_preprocessor_pb2 import BertPreprocessorCalculatorOptions
from penstock_tensors.models import model_metadata
from penstock_testing import run_calculator

VOCABULARY = b"[PAD]\n[CLS]\n[SEP]\nhi"


class Table:
    """A table to write: field number → value. A number is one of 32 bits, a bool one of 8 bits."""

    def __init__(self, **fields):
        self.fields = {int(name[1:]): value for name, value in fields.items()}


def written(table, identifier):
    builder = import_module("flatbuffers").Builder(256)
    builder.Finish(_put(builder, table), file_identifier=identifier)
    return bytes(builder.Output())


def _put(builder, value):
    if isinstance(value, str):
        return builder.CreateString(value)
    if isinstance(value, bytes):
        return builder.CreateByteVector(value)
    if isinstance(value, list):
        places = [_put(builder, one) for one in value]
        builder.StartVector(4, len(places), 4)
        for place in reversed(places):
            builder.PrependUOffsetTRelative(place)
        return builder.EndVector()
    places = {i: one if isinstance(one, int) else _put(builder, one) for i, one in value.fields.items()}
    builder.StartObject(8)
    for i, one in value.fields.items():
        if isinstance(one, TokenizerMetadataKind):
            builder.PrependUint8Slot(i, int(one), 0)
        elif isinstance(one, int):
            builder.PrependUint32Slot(i, one, 0)
        else:
            builder.PrependUOffsetTRelativeSlot(i, places[i], 0)
    return builder.EndObject()


def model(graph, files=(), name="TFLITE_METADATA"):
    """Return a model with the metadata of a graph, and files behind it."""
    metadata = written(Table(f3=[graph]), b"M001")
    data = written(Table(f4=[Table(), Table(f0=metadata)], f6=[Table(f0=name, f1=1)]), b"TFL3")
    packed = io.BytesIO(data)
    packed.seek(0, io.SEEK_END)
    if files:
        with zipfile.ZipFile(packed, "a") as archive:
            for file, content in files:
                archive.writestr(file, content)
    return Model("text.tflite", packed.getvalue())


@pytest.fixture(autouse=True)
def flatbuffers():
    pytest.importorskip("flatbuffers", reason='no flatbuffers: pip install "penstock-tensors[litert]"')


def unit(kind, *names, pattern=None):
    files = [Table(f0=name) for name in names]
    options = Table(f0=files) if pattern is None else Table(f0=pattern, f1=files)
    return Table(f0=kind, f1=options)


def test_inputs_tokenizers_and_files_are_read():
    regex = unit(TokenizerMetadataKind.REGEX, "words.txt", pattern=r"\s+")
    graph = Table(
        f2=[Table(f0="ids", f4=[regex]), Table(f0="mask"), Table(f0="segment_ids")],
        f5=[unit(TokenizerMetadataKind.BERT, "vocab.txt")],
    )

    found = ModelMetadata.of(model(graph, [("vocab.txt", VOCABULARY), ("words.txt", b"")]))

    assert found.inputs == ("ids", "mask", "segment_ids")
    assert found.tokenizer == TokenizerMetadata(TokenizerMetadataKind.BERT, "vocab.txt")
    assert found.first_tokenizer == TokenizerMetadata(TokenizerMetadataKind.REGEX, "words.txt", r"\s+")
    assert found.file("vocab.txt") == VOCABULARY
    with pytest.raises(NotFoundError, match=r"has no file 'x', which its metadata names; it has 'vocab.txt'"):
        found.file("x")


def test_a_graph_without_inputs_units_and_files_is_read():
    assert ModelMetadata.of(model(Table())) == ModelMetadata()


def test_a_calculator_takes_the_model_itself():
    graph = Table(
        f2=[Table(f0=name) for name in ("ids", "mask", "segment_ids")],
        f5=[unit(TokenizerMetadataKind.BERT, "vocab.txt")],
    )
    done = run_calculator(
        BertPreprocessorCalculator,
        {"TEXT": [(0, "hi")]},
        outputs=["TENSORS"],
        side_packets={"METADATA_EXTRACTOR": model(graph, [("vocab.txt", VOCABULARY)])},
        options=BertPreprocessorCalculatorOptions(bert_max_seq_len=4),
    )

    (packet,) = done.outputs["TENSORS"]
    assert [tensor.array.tolist() for tensor in packet.payload] == [[[1, 3, 2, 0]], [[1, 1, 1, 0]], [[0] * 4]]


def test_a_model_without_metadata_is_refused():
    with pytest.raises(
        InvalidArgumentError, match=r"the model 'text.tflite': it has no metadata; use a model"
    ):
        ModelMetadata.of(model(Table(), name="other"))


def test_files_that_are_too_large_are_not_read(monkeypatch):
    monkeypatch.setattr(model_metadata, "_MOST", 5)
    with pytest.raises(ResourceExhaustedError, match="metadata have 6 bytes, but at most 5 are read"):
        ModelMetadata.of(model(Table(), [("a", b"abc"), ("b", b"def")]))


def test_damaged_files_are_refused_and_cause_no_other_error():
    whole = model(
        Table(f2=[Table(f0="ids")], f5=[unit(TokenizerMetadataKind.BERT, "vocab.txt")]),
        [("vocab.txt", VOCABULARY)],
    ).data
    outcomes = set()
    for i in range(len(whole)):
        for byte in b"\xff\x00\x7f":
            data = whole[:i] + bytes([byte]) + whole[i + 1 :]
            outcomes.add(_outcome(data))
        outcomes.add(_outcome(whole[:i]))

    assert outcomes == {"read", "refused"}


def _outcome(data):
    try:
        ModelMetadata.of(Model("text.tflite", data))
    except (InvalidArgumentError, ResourceExhaustedError):
        return "refused"
    return "read"
