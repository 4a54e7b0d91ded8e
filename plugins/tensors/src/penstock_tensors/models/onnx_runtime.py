"""The backend for .onnx models: onnxruntime, on the CPU or what its execution providers can use."""

from __future__ import annotations

from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakValueDictionary

from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place
from penstock_tensors.models.optional_runtime import optional_runtime
from penstock_tensors.models.tensor_info import TensorInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_tensors.models.backend import BackendModel, Session
    from penstock_tensors.models.model import Model
    from penstock_tensors.models.run_settings import RunSettings

#: ONNX files begin with the field ir_version, a small number: they have no identifier.
_BEGINS: Final = 0x08
_LATEST: Final = 0x7F
#: The orders of axes that models differ by → what is said of them.
_AXES: Final = {
    (0, 3, 1, 2): "it takes channels first (NCHW), and the tensor has them last (NHWC)",
    (0, 2, 3, 1): "it takes channels last (NHWC), and the tensor has them first (NCHW)",
}
#: onnxruntime's names of element types → NumPy's, where they differ.
_TYPES: Final = {"float": "float32", "float16": "float16", "double": "float64"}
_CPU: Final = "CPUExecutionProvider"
#: onnxruntime writes errors on stderr; of old models it has a warning for each weight.
_ERRORS: Final = 3
#: Short name → onnxruntime's name of an execution provider.
_PROVIDERS: Final = {
    "cpu": _CPU,
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "directml": "DmlExecutionProvider",
    "rocm": "ROCMExecutionProvider",
}


class OnnxRuntime:
    """Runs .onnx models with onnxruntime."""

    def recognizes(self, model: Model) -> bool:
        """Return whether the bytes begin as those of an .onnx file."""
        head = model.data[:3]
        return len(head) == 3 and head[0] == _BEGINS and 0 < head[1] <= _LATEST and head[2] in _SECOND_FIELDS  # noqa: PLR2004  # bytes looked at

    def load(self, model: Model, settings: RunSettings) -> BackendModel:
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
    """An .onnx model, whose callers share one session. Raises as `OnnxRuntime.load`."""

    def __init__(self, model: Model, settings: RunSettings) -> None:
        self._session = shared_session(model, settings.threads, settings.providers)
        self.inputs = self._session.inputs
        self.outputs = self._session.outputs

    def session(self) -> Session:
        """Return the session: onnxruntime lets threads call one at the same time."""
        return self._session


class OnnxSession:
    """A session of onnxruntime; it runs without the GIL. Raises as `OnnxRuntime.load`."""

    def __init__(self, model: Model, threads: int, providers: Sequence[str]) -> None:
        self._name: Final = model.name
        self._session = _session(model, threads, providers)
        self.inputs = tuple(map(_info, self._session.get_inputs()))
        self.outputs = tuple(map(_info, self._session.get_outputs()))

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run the model. As `Session.run`, but threads may call it at the same time.

        Raises:
            InvalidArgumentError: an array has another shape than the model's input, or the model cannot run.
        """
        feed = {
            info.name: arranged(array, info, self._name)
            for info, array in zip(self.inputs, inputs, strict=True)
        }
        try:
            found: list[NDArray[Any]] = self._session.run(None, feed)
        except Exception as error:  # onnxruntime has a class for each of its codes, none of them public
            raise InvalidArgumentError(
                f"the model {self._name!r} cannot run: {error}; its file is damaged, or needs something that "
                "onnxruntime does not have"
            ) from error
        return found


_Key: TypeAlias = tuple[bytes, int, tuple[str, ...]]


class _Maker:
    """Lets one thread at a time make the session of a key."""

    def __init__(self) -> None:
        self.lock: Final = Lock()


#: Digest of a model, threads and providers → the session of all that run it; it goes with the last of them.
_SHARED: Final[WeakValueDictionary[_Key, OnnxSession]] = WeakValueDictionary()
#: The same keys → who makes it, for as long as a thread makes it or waits for it.
_MAKERS: Final[WeakValueDictionary[_Key, _Maker]] = WeakValueDictionary()
_LOCK: Final = Lock()


def shared_session(model: Model, threads: int, providers: Sequence[str]) -> OnnxSession:
    """Return the session of a model that this process has, or a new one. Raises as `OnnxRuntime.load`.

    Threads that ask at the same time get one session: the first makes it, the others wait for that. Where it
    cannot be made the next of them tries too, so that each gets an error of its own.
    """
    key = (sha256(model.data).digest(), threads, tuple(providers))
    with _LOCK:
        maker = _MAKERS.setdefault(key, _Maker())
    with maker.lock:  # making takes long: other models do not wait for it
        found = _SHARED.get(key)
        if found is None:
            found = _SHARED[key] = OnnxSession(model, threads, providers)
    return found


def wanted_providers(names: Sequence[str], available: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the execution providers that are there, the CPU last, and the names that are missing.

    Args:
        names: short ones or onnxruntime's, the one that is wanted first at the front.
        available: onnxruntime's.

    Raises:
        InvalidArgumentError: onnxruntime has no provider of such a name.
    """
    found, missing = [], []
    for name in names:
        full = _PROVIDERS.get(name.lower(), name)
        if full not in _PROVIDERS.values() and not full.endswith("ExecutionProvider"):
            raise InvalidArgumentError(
                f"providers of ONNX Runtime has {name!r}, but must have names of "
                f"{', '.join(map(repr, _PROVIDERS))}, or "
                'of onnxruntime, such as "CUDAExecutionProvider"'
            )
        if full not in available:
            missing.append(name)
        elif full not in found:
            found.append(full)
    return [*(one for one in found if one != _CPU), _CPU], missing


def arranged(array: NDArray[Any], info: TensorInfo, model: str) -> NDArray[Any]:
    """Return an array as an input of a model takes it: as it is, or in the shape of the input.

    Args:
        array: of the number of elements that the input takes.
        info: the input.
        model: the name of the model, for errors.

    Raises:
        InvalidArgumentError: the shape is another one; says both, and what to do about channels.
    """
    if _has_shape(array.shape, info.shape):
        return array
    if len(array.shape) != len(info.shape):
        try:
            return array.reshape(info.shape)
        except ValueError:
            pass  # the error below says why
    sizes = "x".join(map(str, array.shape)) or "scalar"
    raise InvalidArgumentError(
        f"ONNX Runtime got a tensor {array.dtype.name} {sizes}, but the input {info.name!r} of the "
        f"model {model!r} is {info}{_cure(array.shape, info.shape)}"
    )


def _has_shape(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    if len(shape) != len(wanted):
        return False
    return all(size in (-1, given) for given, size in zip(shape, wanted, strict=True))


def _cure(shape: Sequence[int], wanted: Sequence[int]) -> str:
    for axes, said in _AXES.items():
        if len(shape) == len(axes) and _has_shape([shape[axis] for axis in axes], wanted):
            order = ", ".join(map(str, axes))
            return f": {said}; let a node in between send Tensor(tensor.array.transpose({order}))"
    return "; change the node that makes the tensor"


def _session(model: Model, threads: int, providers: Sequence[str]) -> Any:
    onnxruntime = optional_runtime("onnxruntime", model.name, "onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS
    wanted, missing = wanted_providers(providers, onnxruntime.get_available_providers())
    try:
        made = onnxruntime.InferenceSession(model.data, options, providers=wanted)
    except Exception as error:
        raise InvalidArgumentError(
            f"the model {model.name!r} is no .onnx file that onnxruntime can run: {error}; get the file again"
        ) from error
    used = made.get_providers()
    missing += [one for one in wanted if one not in used]
    if missing:
        get_logger(__name__).warning(
            "the model %r runs on %s: this onnxruntime cannot use %s; install its build for that",
            model.name,
            used[0],
            ", ".join(missing),
            extra=place(),
        )
    return made


def _info(tensor: Any) -> TensorInfo:
    kind = tensor.type.removeprefix("tensor(").removesuffix(")")
    shape = tuple(size if isinstance(size, int) else -1 for size in tensor.shape)
    return TensorInfo(tensor.name, shape, _TYPES.get(kind, kind))
