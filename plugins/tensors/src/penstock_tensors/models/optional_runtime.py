"""Modules of runtimes that a user installs beside the pack: imported by name, when a model needs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from penstock.errors import FailedPreconditionError


def optional_runtime(module: str, model: str, extra: str) -> Any:
    """Import a module that an extra of this pack brings.

    Args:
        module: its full name.
        model: name of the model that needs it.
        extra: of penstock-tensors.

    Raises:
        FailedPreconditionError: it cannot be imported; the message says what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise FailedPreconditionError(
            f"the model {model!r} needs the runtime {module.partition('.')[0]}, which cannot be imported "
            f'({error}); run: pip install "penstock-tensors[{extra}]"'
        ) from error
