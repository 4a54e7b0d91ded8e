"""A .tflite model with custom operations: parts that ai-edge-litert runs, and the operations between.

Each part is a model of its own, of the longest run of operations that the runtime knows. What it reads and
does not make becomes its input, what others need of it its output.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from penstock_tensors.models.litert_session import LiteRtSession
from penstock_tensors.models.model import Model
from penstock_tensors.models.optional_runtime import optional_runtime
from penstock_tensors.models.tensor_info import TensorInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from penstock_tensors.models.backend import Session
    from penstock_tensors.models.custom_ops import Kernel
    from penstock_tensors.models.run_settings import RunSettings

_IDENTIFIER: Final = b"TFL3"
#: Reads and writes .tflite files; it takes long to import.
_SCHEMA: Final = "ai_edge_litert.schema_py_generated"


class _Step(NamedTuple):
    """A part of a model, or a custom operation."""

    #: The part as a model, or the kernel of the operation.
    does: Model | Kernel
    #: `reads`, `makes`: numbers of tensors. A part reads no constants.
    reads: tuple[int, ...]
    makes: tuple[int, ...]


def cut_model(model: Model, settings: RunSettings) -> CutModel | None:
    """Cut a model at its custom operations.

    Returns:
        None where it has none that `settings.operations` knows.

    Raises:
        InvalidArgumentError: an operation does not take the attributes that the model gives it.
    """
    schema = optional_runtime(_SCHEMA, model.name, "litert")
    whole: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model.data, 0))
    if not any(_custom_op(whole, operator, settings) for operator in whole.subgraphs[0].operators):
        return None
    return CutModel(model, settings, whole)


class CutModel:
    """A model in parts. Raises as `cut_model`; as `LiteRtSession` where a part cannot run."""

    def __init__(self, model: Model, settings: RunSettings, whole: Any) -> None:
        graph = whole.subgraphs[0]
        self._settings = settings
        self._inputs = tuple(map(int, graph.inputs))
        self._outputs = tuple(map(int, graph.outputs))
        self._constants: dict[int, NDArray[Any]] = {}
        self._steps = tuple(self._cut(model, whole))
        names = [_names(whole, side) for side in ("inputs", "outputs")]
        self.signatures = len(whole.signatureDefs or [])
        self.inputs = tuple(_info(graph.tensors[i], names[0].get(i)) for i in self._inputs)
        self.outputs = tuple(_info(graph.tensors[i], names[1].get(i)) for i in self._outputs)
        self._made: list[CutSession] = [self._new_session()]

    def session(self) -> Session:
        """Return a new session."""
        try:
            return self._made.pop()
        except IndexError:
            return self._new_session()

    def _new_session(self) -> CutSession:
        return CutSession(self._steps, self._settings, self._constants, self._inputs, self._outputs)

    def _cut(self, model: Model, whole: Any) -> Iterable[_Step]:
        graph = whole.subgraphs[0]
        groups: list[list[Any]] = [[]]
        for operator in graph.operators:
            if _custom_op(whole, operator, self._settings) is not None:
                groups += [[operator], []]
            else:
                groups[-1].append(operator)
        reads = [_tensors(operators, "inputs") for operators in groups]
        wanted: list[set[int]] = []
        later = set(self._outputs)
        for tensors in reversed(reads):
            wanted.insert(0, set(later))
            later |= set(tensors)
        for number, operators in enumerate(groups):
            if not operators:
                continue
            makes = _tensors(operators, "outputs")
            if number % 2:  # a custom operation
                yield self._operation(whole, operators[0], reads[number], makes)
                continue
            own = set(makes)
            outside = tuple(i for i in reads[number] if i not in own and _constant(whole, i) is None)
            out = tuple(i for i in makes if i in wanted[number])
            part = Model(f"{model.name}, part {number // 2}", _part(whole, operators, outside, out))
            yield _Step(part, outside, out)

    def _operation(self, whole: Any, operator: Any, reads: tuple[int, ...], makes: tuple[int, ...]) -> _Step:
        make = _custom_op(whole, operator, self._settings)
        for i in reads:
            data = _constant(whole, i)
            if data is not None:
                tensor = whole.subgraphs[0].tensors[i]
                self._constants[i] = np.frombuffer(data.tobytes(), _dtype(tensor)).reshape(_sizes(tensor))
        return _Step(make(_attributes(operator)), reads, makes)


class CutSession:
    """The parts of a model, ready to run, and the operations between them."""

    def __init__(
        self,
        steps: Sequence[_Step],
        settings: RunSettings,
        constants: dict[int, NDArray[Any]],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
    ) -> None:
        self._steps = [
            (LiteRtSession(step.does, settings).run if isinstance(step.does, Model) else step.does, step)
            for step in steps
        ]
        self._constants = constants
        self._inputs = inputs
        self._outputs = outputs

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run all parts in their order. As `Session.run`."""
        values = {**self._constants, **dict(zip(self._inputs, inputs, strict=True))}
        for does, step in self._steps:
            made = does([values[i] for i in step.reads])
            values.update(zip(step.makes, made, strict=True))
        return [values[i] for i in self._outputs]


def _custom_op(whole: Any, operator: Any, settings: RunSettings) -> Any:
    code = whole.operatorCodes[operator.opcodeIndex]
    if code.customCode is None:
        return None
    return settings.operations.find(code.customCode.decode(), code.version)


def _attributes(operator: Any) -> Any:
    flexbuffers = import_module("flatbuffers.flexbuffers")  # comes with ai-edge-litert
    options = operator.customOptions
    return flexbuffers.GetRoot(bytes(options)).Value if options is not None and len(options) else {}


def _tensors(operators: Iterable[Any], side: str) -> tuple[int, ...]:
    """Return the tensors that operations read or make, each once; -1 stands for one that is left out."""
    found = (int(i) for operator in operators for i in getattr(operator, side))
    return tuple(dict.fromkeys(i for i in found if i >= 0))


def _constant(whole: Any, tensor: int) -> Any:
    """Return the bytes of a constant tensor; None where operations make the tensor."""
    data = whole.buffers[whole.subgraphs[0].tensors[tensor].buffer].data
    return data if data is not None and len(data) else None


def _part(whole: Any, operators: list[Any], inputs: tuple[int, ...], outputs: tuple[int, ...]) -> bytes:
    """Return the file of a model that has some operations of another."""
    flatbuffers, schema = import_module("flatbuffers"), import_module(_SCHEMA)
    graph = whole.subgraphs[0]
    used = {0, *(graph.tensors[i].buffer for i in _tensors(operators, "inputs"))}
    part = schema.ModelT()
    part.version, part.operatorCodes, part.description = whole.version, whole.operatorCodes, whole.description
    part.buffers = [buffer if i in used else schema.BufferT() for i, buffer in enumerate(whole.buffers)]
    own = schema.SubGraphT()
    own.tensors, own.name, own.operators = graph.tensors, graph.name, operators
    own.inputs, own.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
    part.subgraphs = [own, *whole.subgraphs[1:]]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(part.Pack(builder), file_identifier=_IDENTIFIER)
    return bytes(builder.Output())


def _names(whole: Any, side: str) -> dict[int, str]:
    """Return the names that the only signature gives, by tensor; else none."""
    signatures = whole.signatureDefs or []
    if len(signatures) != 1:
        return {}
    return {int(one.tensorIndex): one.name.decode() for one in getattr(signatures[0], side)}


def _info(tensor: Any, name: str | None) -> TensorInfo:
    given = tensor.quantization
    scale, zero_point = 1.0, 0
    if given is not None and given.scale is not None and len(given.scale) == 1:
        scale, zero_point = float(given.scale[0]), int(given.zeroPoint[0])
    return TensorInfo(name or tensor.name.decode(), _sizes(tensor), _dtype(tensor).name, scale, zero_point)


def _sizes(tensor: Any) -> tuple[int, ...]:
    sizes = tensor.shapeSignature if tensor.shapeSignature is not None else tensor.shape
    return tuple(map(int, sizes if sizes is not None else ()))


def _dtype(tensor: Any) -> np.dtype[Any]:
    types = import_module(_SCHEMA).TensorType
    names = {number: name for name, number in vars(types).items() if not name.startswith("_")}
    found: np.dtype[Any] = np.dtype(names[tensor.type].lower())
    return found
