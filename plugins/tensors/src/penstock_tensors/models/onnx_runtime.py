"""The backend for .onnx models: onnxruntime, on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError
from penstock_tensors.models.model import Model, RunSettings, TensorInfo
from penstock_tensors.models.optional_runtime import optional_runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_tensors.models.backend import LoadedModel, Session

#: ONNX files begin with the field ir_version, a small number: they have no identifier.
_BEGINS: Final = 0x08
_LATEST: Final = 0x7F
#: onnxruntime's names of element types → NumPy's, where they differ.
_TYPES: Final = {"float": "float32", "float16": "float16", "double": "float64"}


class OnnxRuntime:
    """Runs .onnx models with onnxruntime."""

    def recognizes(self, model: Model) -> bool:
        """Return whether the bytes begin as those of an .onnx file."""
        head = model.data[:3]
        return len(head) == 3 and head[0] == _BEGINS and 0 < head[1] <= _LATEST and head[2] in _SECOND_FIELDS  # noqa: PLR2004  # bytes looked at

    def load(self, model: Model, settings: RunSettings) -> LoadedModel:
        """Prepare a model.

        Raises:
            FailedPreconditionError: onnxruntime is not installed.
            InvalidArgumentError: the file is damaged, or the runtime does not know its operations.
        """
        return OnnxModel(model, settings)


#: Tags of the fields that follow ir_version: producer_name, graph, opset_import and the like.
_SECOND_FIELDS: Final = (0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72)

BACKEND: Final = OnnxRuntime()


class OnnxModel:
    """An .onnx model. Raises as `OnnxRuntime.load`."""

    def __init__(self, model: Model, settings: RunSettings) -> None:
        self._model = model
        self._threads = settings.threads
        first = OnnxSession(model, settings.threads)
        #: The session that was made to read the model; the first caller gets it.
        self._made = [first]
        self.inputs = first.inputs
        self.outputs = first.outputs

    def session(self) -> Session:
        """Return a new session."""
        try:
            return self._made.pop()
        except IndexError:
            return OnnxSession(self._model, self._threads)


class OnnxSession:
    """A session of onnxruntime; it runs without the GIL. Raises as `OnnxRuntime.load`."""

    def __init__(self, model: Model, threads: int) -> None:
        self._session = _session(model, threads)
        self.inputs = tuple(map(_info, self._session.get_inputs()))
        self.outputs = tuple(map(_info, self._session.get_outputs()))

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run the model. As `Session.run`."""
        feed = {
            info.name: array if len(array.shape) == len(info.shape) else array.reshape(info.shape)
            for info, array in zip(self.inputs, inputs, strict=True)
        }
        found: list[NDArray[Any]] = self._session.run(None, feed)
        return found


def _session(model: Model, threads: int) -> Any:
    onnxruntime = optional_runtime("onnxruntime", model.name, "onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(model.data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise InvalidArgumentError(
            f"the model {model.name!r} is no .onnx file that onnxruntime can run: {error}; get the file again"
        ) from error


def _info(tensor: Any) -> TensorInfo:
    kind = tensor.type.removeprefix("tensor(").removesuffix(")")
    shape = tuple(size if isinstance(size, int) else -1 for size in tensor.shape)
    return TensorInfo(tensor.name, shape, _TYPES.get(kind, kind))
