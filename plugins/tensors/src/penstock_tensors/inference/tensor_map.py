"""Which tensor of a node is which of its model, and which outputs of the model are its next inputs.

Source: MediaPipe `calculators/tensor/inference_io_mapper.cc` and `inference_feedback_manager.cc`. Errors have
the code INTERNAL where the reference's have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from penstock.errors import FailedPreconditionError, InvalidArgumentError, StatusCode
from penstock_tensors.models.backend import count_signatures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_tensors.messages.inference_pb2 import InferenceCalculatorOptions
    from penstock_tensors.models.backend import BackendModel
    from penstock_tensors.models.tensor_info import TensorInfo


class Link(NamedTuple):
    """An output of the model that is its input in the next invocation: their numbers in the model."""

    output: int
    input: int


class TensorMap(NamedTuple):
    """The tensors of a node and of its model."""

    #: For each tensor that the node gets, its number among the inputs of the model.
    inputs: tuple[int, ...]
    #: For each tensor that the node sends, its number among the outputs of the model.
    outputs: tuple[int, ...]
    #: The inputs and outputs that the node neither gets nor sends.
    links: tuple[Link, ...]

    @classmethod
    def of(
        cls, config: InferenceCalculatorOptions.InputOutputConfig, loaded: BackendModel, model: str
    ) -> TensorMap:
        """Return what the options say of a model.

        Args:
            config: input_output_config.
            loaded: the model.
            model: its name, for messages.

        Raises:
            InvalidArgumentError: the options name tensors that do not exist, or not each one once; or two
                tensors that are linked differ in type or shape, or have an open size.
            FailedPreconditionError: they have names and the model has several signatures, or numbers and
                links.
        """
        _check_names(config, loaded, model)
        links = tuple(_links(config, loaded, model))
        return cls(
            _numbers(config, "input", loaded.inputs, {link.input for link in links}, model),
            _numbers(config, "output", loaded.outputs, {link.output for link in links}, model),
            links,
        )

    def zeros(self, loaded: BackendModel) -> list[NDArray[Any]]:
        """Return what the linked inputs are in the first invocation, in the order of the links."""
        wanted = (loaded.inputs[link.input] for link in self.links)
        return [np.zeros(info.shape, info.element_type) for info in wanted]


def _check_names(config: Any, loaded: BackendModel, model: str) -> None:
    fields = [config.WhichOneof(f"{side}TensorMap") or "" for side in ("Input", "Output")]
    if config.feedback_tensor_links and any(field.endswith("indices_map") for field in fields):
        raise FailedPreconditionError(
            "feedback_tensor_links and numbers of tensors are given, but linked tensors have names only; "
            "write input_tensor_names_map and output_tensor_names_map in input_output_config"
        )
    has_names = config.feedback_tensor_links or any(field.endswith("names_map") for field in fields)
    count = count_signatures(loaded)
    if has_names and count > 1:
        raise FailedPreconditionError(
            f"input_output_config has names of tensors, but the model {model!r} has {count} signatures, "
            "which may name them differently; write numbers, in input_tensor_indices_map and "
            "output_tensor_indices_map"
        )


def _links(config: Any, loaded: BackendModel, model: str) -> list[Link]:
    found: list[Link] = []
    for one in config.feedback_tensor_links:
        link = Link(
            _number("output", one.from_output_tensor_name, loaded.outputs, config, model),
            _number("input", one.to_input_tensor_name, loaded.inputs, config, model),
        )
        for before in found:
            if link.output == before.output or link.input == before.input:
                raise _refused(
                    f"feedback_tensor_links name {one.from_output_tensor_name!r} or "
                    f"{one.to_input_tensor_name!r} twice; link each output and each input once"
                )
        _check_link(loaded.outputs[link.output], loaded.inputs[link.input], model)
        found.append(link)
    return found


def _number(side: str, name: str, tensors: Sequence[TensorInfo], config: Any, model: str) -> int:
    """Return the number of a linked tensor."""
    mapped = (*config.input_tensor_names_map.tensor_names, *config.output_tensor_names_map.tensor_names)
    if name in mapped:
        raise _refused(
            f"{name!r} is in feedback_tensor_links and among the tensors of the node: {', '.join(mapped)}; "
            "the node neither gets nor sends what is linked, so take it out of the names"
        )
    for i, info in enumerate(tensors):
        if info.name == name:
            return i
    raise _refused(
        f"feedback_tensor_links name {name!r}, but the {side}s of the model {model!r} are "
        f"{_listed(tensors)}; correct it in input_output_config"
    )


def _check_link(output: TensorInfo, given: TensorInfo, model: str) -> None:
    if -1 in output.shape or -1 in given.shape:
        raise _refused(
            f"the tensor map: feedback_tensor_links link {output.name!r} ({output}) with {given.name!r} "
            f"({given}) of the "
            f"model {model!r}, but linked tensors have no open size; export the model with fixed sizes"
        )
    if output.spec != given.spec:
        raise _refused(
            f"the tensor map: feedback_tensor_links link {output.name!r} ({output}) with {given.name!r} "
            f"({given}) of the "
            f"model {model!r}, but linked tensors have one type, shape and quantization; link others"
        )


def _numbers(
    config: Any, side: str, tensors: Sequence[TensorInfo], linked: set[int], model: str
) -> tuple[int, ...]:
    """Return for each tensor of the node its number in the model."""
    left = [i for i in range(len(tensors)) if i not in linked]
    field = config.WhichOneof(f"{side.capitalize()}TensorMap")
    if field is None:
        return tuple(left)
    if field.endswith("names_map"):
        names = [info.name for info in tensors]
        given: list[Any] = list(getattr(config, field).tensor_names)
        numbers = [names.index(one) if one in names else -1 for one in given]
    else:
        given = numbers = list(getattr(config, field).model_tensor_indices)
    if sorted(numbers) != left:
        raise _refused(
            f"{field} is {given}, but must name each {side} of the model {model!r} once, to map its tensors: "
            f"{_listed(tensors, left)}; correct it in input_output_config"
        )
    return tuple(numbers)


def _listed(tensors: Sequence[TensorInfo], numbers: Sequence[int] | None = None) -> str:
    chosen = range(len(tensors)) if numbers is None else numbers
    return ", ".join(f"{i} {tensors[i].name!r}" for i in chosen)


def _refused(words: str) -> InvalidArgumentError:
    return InvalidArgumentError(words, code=StatusCode.INTERNAL)
