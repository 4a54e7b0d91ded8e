"""A .tflite model that ai-edge-litert runs as a whole: what it reads and makes, and its sessions."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_tensors.models.notices import without_notice
from penstock_tensors.models.optional_runtime import optional_runtime
from penstock_tensors.models.tensor_info import TensorInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_tensors.models.backend import Session
    from penstock_tensors.models.model import Model
    from penstock_tensors.models.run_settings import RunSettings


class LiteRtModel:
    """A .tflite model that ai-edge-litert runs as a whole.

    Raises:
        FailedPreconditionError: ai-edge-litert is not installed.
        InvalidArgumentError: the file is damaged.
        RuntimeError: the runtime cannot prepare it.
    """

    def __init__(self, model: Model, settings: RunSettings) -> None:
        self._model = model
        self._settings = settings
        first = LiteRtSession(model, settings)
        #: The session that was made to see whether the model runs; the first caller gets it.
        self._made = [first]
        self.inputs = first.inputs
        self.outputs = first.outputs
        self.signatures = first.signatures

    def session(self) -> Session:
        """Return a new session; it takes about 10 ms and the memory of the model's weights."""
        try:
            return self._made.pop()
        except IndexError:
            return LiteRtSession(self._model, self._settings)


class LiteRtSession:
    """An interpreter of ai-edge-litert; it runs without the GIL. Raises as `LiteRtModel`."""

    def __init__(self, model: Model, settings: RunSettings) -> None:
        self._name = model.name
        self._interpreter = _interpreter(model, settings)
        inputs, outputs = self._interpreter.get_input_details(), self._interpreter.get_output_details()
        names = _signature_names(self._interpreter)
        self.signatures = len(self._interpreter.get_signature_list())
        self.inputs = tuple(_info(one, names[0]) for one in inputs)
        self.outputs = tuple(_info(one, names[1]) for one in outputs)
        self._to = [(one["index"], tuple(int(size) for size in one["shape"])) for one in inputs]
        #: Each returns the memory of an input; nothing may hold that when the model runs.
        self._memory = [self._interpreter.tensor(one["index"]) for one in inputs]
        self._from = [one["index"] for one in outputs]
        self._strings = frozenset(i for i, one in enumerate(inputs) if _is_string(one))

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run the model. As `Session.run`.

        Raises:
            InvalidArgumentError: the runtime cannot run the model, as one whose file is damaged.
        """
        interpreter = self._interpreter
        for i, array in enumerate(inputs):
            if i in self._strings:
                self._set_string(i, array)
                continue
            if array.shape != self._to[i][1]:
                array = self._fitted(i, array)  # noqa: PLW2901  # a view of the same elements
            if array.ndim:
                self._memory[i]()[...] = array  # `set_tensor` copies twice what is read-only, as tensors are
            else:  # the memory of a scalar comes as a number
                interpreter.set_tensor(self._to[i][0], array)
        try:
            interpreter.invoke()
            return [_numbers(interpreter.get_tensor(index)) for index in self._from]
        except (RuntimeError, ValueError) as error:
            raise InvalidArgumentError(
                f"the LiteRT session of the model {self._name!r} cannot run: {error}; its file is damaged, "
                "or made for another runtime"
            ) from error

    def _set_string(self, i: int, array: NDArray[Any]) -> None:
        """Make the bytes of an array the one string of an input."""
        index, shape = self._to[i]
        if shape != (1,):
            self._interpreter.resize_tensor_input(index, (1,))
            self._interpreter.allocate_tensors()
            self._to[i] = (index, (1,))
        string = np.empty(1, object)
        string[0] = array.tobytes()
        self._interpreter.set_tensor(index, string)

    def _fitted(self, i: int, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array in the shape of an input; where the model leaves it open, resize the input."""
        index, shape = self._to[i]
        if array.size == np.prod(shape, dtype=np.int64):
            return array.reshape(shape)
        self._interpreter.resize_tensor_input(index, array.shape)
        self._interpreter.allocate_tensors()
        self._to[i] = (index, array.shape)
        return array


def _interpreter(model: Model, settings: RunSettings) -> Any:
    runtime = optional_runtime("ai_edge_litert.interpreter", model.name, "litert")
    resolvers = runtime.OpResolverType
    kernels = resolvers.AUTO if settings.uses_xnnpack else resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    try:
        made = runtime.Interpreter(
            model_content=model.data,
            num_threads=settings.threads,
            experimental_op_resolver_type=kernels,
        )
    except ValueError as error:
        raise InvalidArgumentError(
            f"LiteRT session: the model {model.name!r} is no .tflite file that it can read: {error}; get the "
            "file again"
        ) from error
    with without_notice() if settings.uses_xnnpack else nullcontext():
        made.allocate_tensors()
    return made


def _signature_names(interpreter: Any) -> tuple[dict[int, str], dict[int, str]]:
    """Return the names that the only signature gives to inputs and outputs, by tensor; else none."""
    signatures = interpreter.get_signature_list()
    if len(signatures) != 1:
        return {}, {}
    runner = interpreter.get_signature_runner(next(iter(signatures)))
    inputs, outputs = runner.get_input_details(), runner.get_output_details()
    return (
        {one["index"]: name for name, one in inputs.items()},
        {one["index"]: name for name, one in outputs.items()},
    )


def _is_string(details: Any) -> bool:
    return bool(details["dtype"] is np.bytes_)


def _numbers(output: NDArray[Any]) -> NDArray[Any]:
    """Return an output, which may be a number; of strings the bytes of the first."""
    array = np.asarray(output)
    if array.dtype.kind not in "OS":
        return array
    return np.frombuffer(array.ravel()[0], np.int8)


def _info(details: Any, names: dict[int, str]) -> TensorInfo:
    name = names.get(details["index"], details["name"])
    if _is_string(details):
        return TensorInfo(name, (-1,), "int8")
    sizes = details["shape_signature"] if len(details["shape_signature"]) else details["shape"]
    shape, element_type = tuple(int(size) for size in sizes), np.dtype(details["dtype"]).name
    scale, zero_point = details["quantization"]
    if not scale:  # it is not quantized
        return TensorInfo(name, shape, element_type)
    return TensorInfo(name, shape, element_type, float(scale), int(zero_point))
