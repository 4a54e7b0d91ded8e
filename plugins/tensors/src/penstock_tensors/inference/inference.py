"""InferenceCalculatorCpu and InferenceCalculatorXnnpack: run a model on tensors."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import FailedPreconditionError, InvalidArgumentError, StatusCode
from penstock_formats import Tensor
from penstock_formats.api import ELEMENT_TYPES
from penstock_tensors.inference.tensor_map import TensorMap
from penstock_tensors.messages.inference_pb2 import InferenceCalculatorOptions
from penstock_tensors.models.backend import load_model
from penstock_tensors.models.custom_ops import OpResolver
from penstock_tensors.models.installed_operations import standard_operations
from penstock_tensors.models.model import Model
from penstock_tensors.models.resource_finder import RESOURCES
from penstock_tensors.models.run_settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_tensors.models.backend import BackendModel, Session
    from penstock_tensors.models.tensor_info import TensorInfo

_RESOLVERS: Final = ("OP_RESOLVER", "CUSTOM_OP_RESOLVER")
_LISTS: Final = "TENSORS"
_EACH: Final = "TENSOR"
#: The name of each element type: to ask NumPy takes a microsecond each time.
_NAMES: Final = {np.dtype(name): name for name in ELEMENT_TYPES}


class InferenceCalculatorCpu(penstock.Calculator):
    """Runs a model on the tensors of each input set.

    Graphs write `calculator: "InferenceCalculator"`, which becomes this one.

    Inputs: TENSORS (a list of Tensor) or TENSOR:0, TENSOR:1, ... (Tensor): exactly one of the two forms.
    Outputs: likewise. One tensor for each input and output of the model, in its order, quantized as the model
    says. An input needs the element type and the number of elements that the model asks for; where that is a
    string, one of int8, with its bytes. Nothing is sent where an input is empty. The timestamp offset is 0.

    Input side packets: MODEL (Model), where `model_path` is not set. All others are optional: OP_RESOLVER or
    CUSTOM_OP_RESOLVER (OpResolver): the custom operations, instead of all that are installed; DELEGATE
    (InferenceCalculatorOptions.Delegate): merged over the option; IO_CONFIG
    (InferenceCalculatorOptions.InputOutputConfig): replaces the option.

    Options `InferenceCalculatorOptions`: `model_path`: the file, searched by the service RESOURCES (the
    README of penstock-tensors says where); `delegate`: `xnnpack` (with `num_threads`, default 1) or `tflite`,
    the default, which is slower; `litert` is taken for `xnnpack`, but outputs of float16 stay float16, where
    they become float32 with the others; `gpu` and `nnapi` are taken for `tflite`;
    `cpu_num_thread` (1): threads without xnnpack; `input_output_config`: which tensor of the node is which of
    the model, by number or name. Its `feedback_tensor_links` are outputs of the model that are inputs of its
    next run, and 0 in the first: the node neither sends nor gets them.

    `max_in_flight: 2` of the node in the graph lets two input sets run at the same time, each on a
    session of its own, unless tensors are linked; the outputs keep their order. Models run without the GIL.
    `graph.reset()` keeps the loaded model for the next run.

    Raises InvalidArgumentError in `get_contract`: not exactly one form of the inputs or outputs, not exactly
    one of MODEL and model_path. In `open`: FailedPreconditionError where the runtime is not installed, and
    for names of a model with several signatures or links beside numbers, NotFoundError where the model is not
    found, InvalidArgumentError where the model or its input_output_config is wrong. In `process`:
    InvalidArgumentError for tensors that the model does not take, FailedPreconditionError for two runs at the
    same time with linked tensors.

    Source of the behaviour: MediaPipe `calculators/tensor/inference_calculator.cc`,
    `inference_calculator_cpu.cc` and `inference_feedback_manager.cc`.

    Config::

        node {
          calculator: "InferenceCalculatorCpu"
          input_stream: "TENSORS:image_tensors"
          output_stream: "TENSORS:palm_tensors"
          options {
            [penstock.InferenceCalculatorOptions.ext] {
              model_path: "mediapipe/modules/palm_detection/palm_detection_full.tflite"
              delegate { xnnpack {} }
            }
          }
        }
    """

    #: Whether XNNPACK computes, whatever the delegate says.
    always_xnnpack: ClassVar = False

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cls._options_of(cc)
        sides = cc.input_side_packets
        if bool(options.model_path) == ("MODEL" in sides):
            found = "both model_path and MODEL" if options.model_path else "neither model_path nor MODEL"
            raise InvalidArgumentError(
                f"the inference has {found}; set model_path in the options, or connect the side packet MODEL"
            )
        cls._declare_tensors(cc)
        model = sides["MODEL"].set(Model, "the model")
        if options.model_path:
            model.optional()
            cc.use_service(RESOURCES)  # else the model is a side packet, and the node may work anywhere
        for tag in _RESOLVERS:
            sides[tag].set(OpResolver, "the custom operations").optional()
        sides["DELEGATE"].set(InferenceCalculatorOptions.Delegate, "merged over the option").optional()
        sides["IO_CONFIG"].set(
            InferenceCalculatorOptions.InputOutputConfig, "instead of the option"
        ).optional()
        cc.set_timestamp_offset(0)
        is_stateless = not options.input_output_config.feedback_tensor_links
        cc.declare(may_skip=False, stateless=is_stateless, cost="high", reads=[Searched(options.model_path)])

    @classmethod
    def _declare_tensors(cls, cc: CalculatorContract) -> None:
        for what, ports in (("inputs", cc.inputs), ("outputs", cc.outputs)):
            if (_LISTS in ports) == (ports.count(_EACH) > 0):
                found = "both TENSORS and TENSOR" if _LISTS in ports else "neither TENSORS nor TENSOR"
                raise InvalidArgumentError(f"the inference's {what} are {found}; connect exactly one of them")
            if _LISTS in ports:
                ports[_LISTS].set(list[Tensor], "one tensor for each of the model")
            for i in range(ports.count(_EACH)):
                ports[_EACH, i].set(Tensor, "a tensor of the model")

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> InferenceCalculatorOptions:
        return cc.options(InferenceCalculatorOptions)

    def open(self, cc: CalculatorContext) -> None:
        """Load the model and make the first session.

        Raises:
            PenstockError: as the class says.
        """
        model, settings, config = self._wanted_by(cc)
        loaded = load_model(model, settings)
        self._made_of = (model.data, settings, config)
        self._name = model.name
        self._map = TensorMap.of(config, loaded, model.name)
        self._wanted = tuple(loaded.inputs[i] for i in self._map.inputs)
        self._made = tuple(loaded.outputs[i] for i in self._map.outputs)
        self._sessions = _Sessions(loaded, self._map)
        self._is_list = _EACH not in cc.inputs
        self._gives_list = _EACH not in cc.outputs
        if not self._is_list:
            self._check_count(len(cc.inputs))
        if not self._gives_list and len(cc.outputs) > len(self._made):
            raise InvalidArgumentError(
                f"the inference node has {len(cc.outputs)} outputs TENSOR, but the model {model.name!r} has "
                f"{len(self._made)} outputs; leave some out"
            )

    def reset(self, cc: CalculatorContext) -> None:
        """Keep the sessions for another run; open as ever where it has another model, or other settings.

        Raises:
            PenstockError: as the class says of `open`.
        """
        model, settings, config = self._wanted_by(cc)
        if (model.data, settings, config) != self._made_of:
            self.open(cc)
        else:
            self._sessions.reset()

    def process(self, cc: CalculatorContext) -> None:
        """Run the model once."""
        stamp = cc.stamp
        if self._is_list:
            source = cc.input
            if source.is_empty():
                return
            stamp = source.packet.stamp  # newer where the input policy has dropped packets
            tensors: Sequence[Tensor] = source.payload
            self._check_count(len(tensors))
        else:
            if any(port.is_empty() for port in cc.inputs):
                return
            tensors = [port.payload for port in cc.inputs]
        arrays = [tensor.array for tensor in tensors]
        for info, array in zip(self._wanted, arrays, strict=True):
            if _NAMES[array.dtype] != info.element_type or not _fits(array, info.shape):
                self._refuse(info, array)
        found = self._sessions.run(arrays)
        halves = self._keeps_halves
        made = [_tensor(array, info, halves) for array, info in zip(found, self._made, strict=True)]
        if self._gives_list:
            cc.output.add(made, stamp)
        else:
            for port, tensor in zip(cc.outputs, made, strict=False):  # the last outputs may be left out
                port.add(tensor, stamp)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the base class gives it
        """Let the sessions go: a graph that has ended may be kept, and models are large."""
        del self._sessions

    def _wanted_by(
        self, cc: CalculatorContext
    ) -> tuple[Model, RunSettings, InferenceCalculatorOptions.InputOutputConfig]:
        """Return what the options and side packets of a run ask for."""
        options = self._options_of(cc)
        sides = cc.input_side_packets
        if options.model_path:
            model = Model.of(cc.service(RESOURCES).find(options.model_path, cc.service(ACCESS)))
        else:
            model = sides["MODEL"].get(Model)
        config = options.input_output_config
        if "IO_CONFIG" in sides:
            config = sides["IO_CONFIG"].get(InferenceCalculatorOptions.InputOutputConfig)
        return model, self._settings(cc, options), config

    def _settings(self, cc: CalculatorContext, options: InferenceCalculatorOptions) -> RunSettings:
        sides = cc.input_side_packets
        delegate = options.delegate
        if "DELEGATE" in sides:
            given = sides["DELEGATE"].get(InferenceCalculatorOptions.Delegate)
            if given.HasField("gpu"):
                raise InvalidArgumentError(
                    "the side packet DELEGATE asks for gpu, but this inference runs on the CPU; give tflite "
                    "or xnnpack"
                )
            delegate.MergeFrom(given)
        self._keeps_halves = is_litert = delegate.HasField("litert")
        uses_xnnpack = self.always_xnnpack or is_litert or delegate.HasField("xnnpack")
        if is_litert:
            threads = delegate.litert.cpu.num_threads
        else:
            threads = delegate.xnnpack.num_threads if uses_xnnpack else options.cpu_num_thread
        operations = next((sides[tag].get(OpResolver) for tag in _RESOLVERS if tag in sides), None)
        return RunSettings(
            threads=max(threads, 1),
            uses_xnnpack=uses_xnnpack,
            operations=operations or standard_operations(),
        )

    def _check_count(self, count: int) -> None:
        if count != len(self._wanted):
            raise InvalidArgumentError(
                f"the inference got {count} tensors, but the model {self._name!r} takes "
                f"{len(self._wanted)}: {', '.join(f'{info.name!r} ({info})' for info in self._wanted)}",
                code=StatusCode.INTERNAL,  # as in the reference
            )

    def _refuse(self, info: TensorInfo, array: NDArray[Any]) -> None:
        sizes = "x".join(map(str, array.shape)) or "scalar"
        raise InvalidArgumentError(
            f"the inference got a tensor {array.dtype.name} {sizes}, but the input {info.name!r} of "
            f"the model {self._name!r} is {info}; change what makes the tensor",
            code=StatusCode.INTERNAL,  # as in the reference
        )


class InferenceCalculatorXnnpack(InferenceCalculatorCpu):  # noqa: D101  # made of the other's docstring
    __doc__ = (
        (InferenceCalculatorCpu.__doc__ or "")
        .replace(
            'Graphs write `calculator: "InferenceCalculator"`, which becomes this one.',
            "It is InferenceCalculatorCpu with XNNPACK, whatever `delegate` says.",
        )
        .replace('calculator: "InferenceCalculatorCpu"', 'calculator: "InferenceCalculatorXnnpack"')
    )

    always_xnnpack: ClassVar = True


class _Sessions:
    """The sessions of a node: as many as have ever run at the same time.

    With linked tensors there is one, and what it has made last.
    """

    def __init__(self, loaded: BackendModel, tensor_map: TensorMap) -> None:
        self._loaded = loaded
        self._map = tensor_map
        self._free: deque[Session] = deque([loaded.session()])
        self._count = len(loaded.inputs)
        self.reset()

    def reset(self) -> None:
        """Let linked inputs be zeros in the next run."""
        self._kept = self._map.zeros(self._loaded)

    def run(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run the model on a session that no other thread uses, with the tensors of the node."""
        inputs: list[Any] = [None] * self._count
        for i, array in zip(self._map.inputs, arrays, strict=True):
            inputs[i] = array
        links = self._map.links
        try:
            session = self._free.pop()
        except IndexError:
            if links:
                raise FailedPreconditionError(
                    "two calls of the inference run at the same time, but with feedback_tensor_links each "
                    "needs the outputs of the one before; leave max_in_flight out"
                ) from None
            session = self._loaded.session()
        try:
            for link, array in zip(links, self._kept, strict=True):
                inputs[link.input] = array
            found = session.run(inputs)
            if links:
                self._kept = [found[link.output] for link in links]
        finally:
            self._free.append(session)
        return [found[i] for i in self._map.outputs]


def _tensor(array: NDArray[Any], info: TensorInfo, keeps_halves: bool) -> Tensor:  # noqa: FBT001  # for speed
    """Return an output as a tensor: half floats become floats, a scalar one element, as in the reference."""
    if array.dtype == np.float16 and not keeps_halves:
        array = array.astype(np.float32)
    made = array if array.ndim else array.reshape(1)
    return Tensor(made, scale=info.scale, zero_point=info.zero_point)


def _fits(array: NDArray[Any], wanted: tuple[int, ...]) -> bool:
    """Return whether an array has as many elements as a model asks for; open sizes fit every size."""
    if array.shape == wanted:
        return True
    if -1 in wanted:
        return len(array.shape) == len(wanted) and all(
            size in (-1, own) for size, own in zip(wanted, array.shape, strict=True)
        )
    count = 1
    for size in wanted:
        count *= size
    return array.size == count
