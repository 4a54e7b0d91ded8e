"""The interface of what runs models, and how a backend for a model is found.

A backend for another kind of model, or another processor, is a class with the methods of `Backend`. A program
makes it known with `add_backend`; a distribution with an entry point in the group
`penstock_tensors.backends` that names an instance:

    [project.entry-points."penstock_tensors.backends"]
    my-runtime = "my_package.backend:BACKEND"
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.errors import InvalidArgumentError
from penstock.packs import entry_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock_tensors.models.model import Model
    from penstock_tensors.models.run_settings import RunSettings
    from penstock_tensors.models.tensor_info import TensorInfo

#: The group of entry points of distributions that bring a backend.
GROUP: Final = "penstock_tensors.backends"
_OWN: Final = (
    ("penstock_tensors.models.litert_backend", "BACKEND"),
    ("penstock_tensors.models.onnx_runtime", "BACKEND"),
)
_ADDED: Final[dict[str, Backend]] = {}


class Session(Protocol):
    """A model that is ready to run. One thread at a time calls it."""

    def run(self, inputs: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
        """Return the outputs for some inputs, in the order of the model.

        Args:
            inputs: one for each input of the model, of its element type and number of elements; not changed.

        Returns:
            Arrays that the next call does not change.

        Raises:
            Exception: the model cannot run with these inputs. The session may be called again.
        """


class BackendModel(Protocol):
    """A model that a backend understands. Threads may share it.

    A model with several signatures may say how many, by a further attribute `signatures` (int).

    Attributes:
        inputs, outputs: what the model reads and makes, in its order.
    """

    @property
    def inputs(self) -> Sequence[TensorInfo]:
        """What the model reads."""

    @property
    def outputs(self) -> Sequence[TensorInfo]:
        """What the model makes."""

    def session(self) -> Session:
        """Return a new session, which shares nothing that changes with others. May take long."""


class Backend(Protocol):
    """Runs models of one kind."""

    def recognizes(self, model: Model) -> bool:
        """Return whether it runs such a model, by the first bytes or the name. Imports no runtime."""

    def load(self, model: Model, settings: RunSettings) -> BackendModel:
        """Prepare a model to run.

        Raises:
            FailedPreconditionError: the runtime is not installed; the message says what to install.
            InvalidArgumentError: the file is damaged, or uses what the runtime does not have.
        """


def add_backend(name: str, backend: Backend) -> None:
    """Let a backend run the models that it recognizes, in this process. It goes before all others.

    Args:
        name: a later backend of the same name replaces it.
        backend: threads share it.
    """
    _ADDED[name] = backend


def remove_backend(name: str) -> None:
    """Undo `add_backend`; a name that was not added is ignored."""
    _ADDED.pop(name, None)


def backend_for(model: Model) -> Backend | None:
    """Return the backend that recognizes a model: one that was added, of a distribution, or of this pack.

    Returns:
        None where none does.
    """
    for backend in (*reversed(_ADDED.values()), *_installed()):
        if backend.recognizes(model):
            return backend
    return None


def load_model(model: Model, settings: RunSettings) -> BackendModel:
    """Prepare a model to run on the backend that recognizes it.

    Raises:
        InvalidArgumentError: no backend does; and as `Backend.load`.
        FailedPreconditionError: as `Backend.load`.
    """
    backend = backend_for(model)
    if backend is None:
        raise InvalidArgumentError(
            f"the model {model.name!r} ({len(model.data)} bytes) is of a kind that no backend runs; give a "
            ".tflite or .onnx file, or install a backend for it"
        )
    return backend.load(model, settings)


def count_signatures(loaded: BackendModel) -> int:
    """Return how many signatures a model has; 1 where it does not say."""
    return int(getattr(loaded, "signatures", 1))


@functools.cache
def _installed() -> tuple[Backend, ...]:
    """Return the backends of other distributions, then those of this pack."""
    brought = [entry.load() for entry in entry_points(GROUP)]
    return (*brought, *(getattr(import_module(module), name) for module, name in _OWN))
