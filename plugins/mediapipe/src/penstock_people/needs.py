"""What the graphs need beside packs: the models and their runtime. It is checked before a run begins."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock_cli.api import FileMissing, RunFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

_RUNTIME: Final = "ai_edge_litert"
_MODULES: Final = "mediapipe/modules"


def model_paths(*names: str) -> list[str]:
    """Return the names in the graphs of files such as "hand_landmark/hand_landmark_full.tflite"."""
    return [f"{_MODULES}/{name}" for name in names]


def check_needs(files: Iterable[str]) -> None:
    """Refuse to begin without the runtime of the models, or without one of the files.

    Raises:
        RunFailed: the runtime is not installed; the message has the command that installs it.
        FileMissing: a file was not found; the message names the places searched and the cure.
    """
    if find_spec(_RUNTIME) is None:
        raise RunFailed(
            "the models need a runtime that is not installed, ai-edge-litert: "
            'pip install "penstock-mediapipe[litert]"'
        )
    from penstock_tensors import ResourceFinder  # only for a run

    finder = ResourceFinder()
    for name in files:
        try:
            finder.find(name)
        except PenstockError as error:
            raise FileMissing(str(error)) from error
