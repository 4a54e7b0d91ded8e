"""Random payloads of this pack's types, for `penstock_testing.check_calculator`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_tensors.models.custom_ops import OpResolver
from penstock_tensors.models.model import Model
from penstock_tensors.models.model_metadata import ModelMetadata
from penstock_tensors.models.resource_finder import FoundResource

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from penstock import Timestamp

#: How a .tflite file begins.
_BEGIN: Final = b"\x1c\0\0\0TFL3"


def _resource(random: Random, at: Timestamp) -> FoundResource:  # noqa: ARG001  # what every maker gets
    """Return what looks like the file of a model, and cannot run."""
    return FoundResource("random.tflite", _BEGIN + random.randbytes(8))


def _model(random: Random, at: Timestamp) -> Model:
    """Return a model that cannot run."""
    return Model.of(_resource(random, at))


def _operations(random: Random, at: Timestamp) -> OpResolver:  # noqa: ARG001  # what every maker gets
    """Return no custom operations."""
    return OpResolver({})


def _metadata(random: Random, at: Timestamp) -> ModelMetadata:  # noqa: ARG001  # what every maker gets
    """Return what a model without inputs says."""
    return ModelMetadata()


#: Type → the function that makes a payload from a random generator and a timestamp.
PAYLOADS: Final[dict[type, Callable[[Random, Timestamp], Any]]] = {
    Model: _model,
    ModelMetadata: _metadata,
    OpResolver: _operations,
    FoundResource: _resource,
}
