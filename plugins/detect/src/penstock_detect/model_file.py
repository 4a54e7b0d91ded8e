"""What the file of a model says of itself, read without running anything of it.

The file may be of a stranger: sizes are checked before memory is taken for them, texts are read as literals.
"""

from __future__ import annotations

import ast
import io
import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

import attrs
from google.protobuf.message import DecodeError

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock_detect.detector_labels import check_labels
from penstock_detect.messages.onnx_file_pb2 import OnnxFile
from penstock_tensors import Model, RunSettings, TensorInfo, load_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock_detect.messages.onnx_file_pb2 import OnnxValue

#: Bytes of an .onnx file: protobuf writes no larger message.
MAX_FILE_BYTES: Final = 2**31 - 1
#: Characters of a text of the metadata that is read as Python's literals are.
MAX_LITERAL: Final = 2**19
#: Classes that a model may name, and characters of a name.
#: Inputs and outputs of a model.
MAX_TENSORS: Final = 64
#: Dimensions of a tensor.
MAX_DIMENSIONS: Final = 8

_TFLITE: Final = b"TFL3"
#: The names that Ultralytics gives the file of metadata that it packs into a .tflite file.
_PACKED: Final = frozenset(["metadata.json", "temp_meta.txt"])
#: ONNX's numbers of element types → NumPy's names.
_TYPES: Final = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string",
    9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
}  # fmt: skip
_ELSEWHERE: Final = 1


@attrs.frozen
class ModelFile:
    """What a model reads and makes, and what its exporter wrote beside it."""

    name: str
    #: "onnx" or "tflite".
    kind: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    #: Key → text; of .onnx files, and of the .tflite files of Ultralytics.
    metadata: Mapping[str, str] = attrs.field(factory=dict)

    def labels(self) -> tuple[str, ...]:
        """Return the names of the classes that an Ultralytics export has in its metadata; () where none are.

        Raises:
            InvalidArgumentError: the text is none of names, or is too long.
        """
        found = literal(self.metadata.get("names", ""), f"'names' in the metadata of {self.name!r}")
        if found is None:
            return ()
        if isinstance(found, dict):
            found = [found.get(i, found.get(str(i))) for i in range(len(found))]  # JSON has texts as keys
        if not isinstance(found, (list, tuple)) or not all(isinstance(one, str) for one in found):
            raise InvalidArgumentError(
                f"model file {self.name!r}: 'names' in its metadata is no dict of numbers from 0 on and "
                "names; give labels_path, a file with a name in each line"
            )
        return check_labels(found, f"'names' in the metadata of {self.name!r}")

    def has_nms(self) -> bool:
        """Return whether the metadata of an Ultralytics export says that it has put NMS into the model.

        Raises:
            InvalidArgumentError: its arguments are no literal of Python.
        """
        found = literal(self.metadata.get("args", ""), f"'args' in the metadata of {self.name!r}")
        return isinstance(found, dict) and found.get("nms") is True

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return whole numbers that a text of the metadata lists; () where it is not there.

        Raises:
            InvalidArgumentError: the text is no list of whole numbers.
        """
        found = literal(self.metadata.get(key, ""), f"{key!r} in the metadata of {self.name!r}")
        if found is None:
            return ()
        if not isinstance(found, (list, tuple)) or not all(type(one) is int for one in found):
            raise InvalidArgumentError(
                f"{key!r} in the metadata of {self.name!r} is {self.metadata[key][:80]!r}, but must be a "
                "list of whole numbers; export the model again"
            )
        return tuple(found)


def read_model(name: str, data: bytes) -> ModelFile:
    """Return what the file of a model says.

    Args:
        name: for messages.
        data: all bytes of the file. A .tflite file is read by ai-edge-litert, an .onnx file here.

    Raises:
        InvalidArgumentError: the file is damaged, of another kind, or its weights are in another file.
        ResourceExhaustedError: it is larger than a limit of this module.
        FailedPreconditionError: ai-edge-litert is needed, and not installed.
    """
    if data[4:8] == _TFLITE:
        loaded = load_model(Model(name, data), RunSettings())
        packed = _packed_metadata(name, data)
        return ModelFile(name, "tflite", tuple(loaded.inputs), tuple(loaded.outputs), packed)
    if len(data) > MAX_FILE_BYTES:
        raise ResourceExhaustedError(
            f"the model {name!r} has {len(data)} bytes, but an .onnx file has at most {MAX_FILE_BYTES}"
        )
    try:
        file = OnnxFile.FromString(data)
    except DecodeError as error:
        raise InvalidArgumentError(
            f"model file {name!r} ({len(data)} bytes) is no whole .onnx file, and no .tflite file: {error}; "
            "copy or export it again"
        ) from error
    weights = {one.name for one in file.graph.initializer}
    if any(one.data_location == _ELSEWHERE for one in file.graph.initializer):
        raise InvalidArgumentError(
            f"model file {name!r} has its weights in another file; export it as one file, with "
            "save_as_external_data=False"
        )
    inputs = [one for one in file.graph.input if one.name not in weights]  # old exporters list weights too
    if not inputs or not file.graph.output:
        raise InvalidArgumentError(
            f"the model {name!r} ({len(data)} bytes) has {len(inputs)} inputs and {len(file.graph.output)} "
            "outputs, but must have some of both; give an .onnx file"
        )
    return ModelFile(
        name,
        "onnx",
        _infos(inputs, name, "inputs"),
        _infos(file.graph.output, name, "outputs"),
        {one.key: one.value for one in file.metadata_props},
    )


def _packed_metadata(name: str, data: bytes) -> dict[str, str]:
    """Return what Ultralytics packs into a .tflite file, as a zip file behind the model; {} where nothing is.

    Raises:
        InvalidArgumentError: it is damaged, or no dict of texts.
        ResourceExhaustedError: it is too long.
    """
    file = io.BytesIO(data)
    if not zipfile.is_zipfile(file):
        return {}
    what = f"the metadata in {name!r}"
    try:
        with zipfile.ZipFile(file) as packed:
            entry = next((one for one in packed.namelist() if one in _PACKED), None)
            if entry is None:
                return {}
            with packed.open(entry) as opened:  # no more than the limit is unpacked
                text = opened.read(MAX_LITERAL + 1).decode()
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError, NotImplementedError, RuntimeError,
            ValueError) as error:  # fmt: skip
        raise InvalidArgumentError(f"{what} is damaged: {error}; export the model again") from error
    try:
        found: object = json.loads(text) if len(text) <= MAX_LITERAL else None
    except (ValueError, RecursionError):
        found = None
    if found is None:
        found = literal(text, what)
    if not isinstance(found, dict):
        raise InvalidArgumentError(f"{what} is {text[:80]!r}, but must be a dict; export the model again")
    return {str(key): value if isinstance(value, str) else repr(value) for key, value in found.items()}


def _infos(values: Sequence[OnnxValue], name: str, what: str) -> tuple[TensorInfo, ...]:
    if len(values) > MAX_TENSORS:
        raise ResourceExhaustedError(
            f"the model {name!r} has {len(values)} {what}, but at most {MAX_TENSORS} are allowed"
        )
    return tuple(_info(value, name) for value in values)


def _info(value: OnnxValue, name: str) -> TensorInfo:
    kind = value.type.tensor_type
    dims = kind.shape.dim
    if len(dims) > MAX_DIMENSIONS:
        raise ResourceExhaustedError(
            f"model file {name!r}: {value.name!r} has {len(dims)} dimensions, but at most {MAX_DIMENSIONS} "
            "are allowed"
        )
    shape = tuple(dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else -1 for dim in dims)
    return TensorInfo(value.name, shape, _TYPES.get(kind.elem_type, f"element type {kind.elem_type}"))


def literal(text: str, what: str) -> object:
    """Return what a text of the metadata says; None where it is empty.

    Raises:
        InvalidArgumentError: it is no literal of Python.
        ResourceExhaustedError: it is too long.
    """
    if not text:
        return None
    if len(text) > MAX_LITERAL:
        raise ResourceExhaustedError(
            f"{what} of the model file has {len(text)} characters, but at most {MAX_LITERAL} are read; give "
            "what it says as an option"
        )
    try:
        found: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InvalidArgumentError(
            f"{what} of the model file is {text[:80]!r}, but must be written as Python writes a dict or a "
            "list; give what it says as an option"
        ) from error
    return found
