"""Where solutions find the files of MediaPipe: graphs and models. Nothing is ever downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import NotFoundError

if TYPE_CHECKING:
    from penstock_tensors import ResourceFinder


def read_graph_file(name: str, finder: ResourceFinder) -> bytes:
    """Return the bytes of a graph file, by a name such as "mediapipe/modules/pose_landmark/...binarypb".

    Raises:
        FileNotFoundError: no place has it; the message names the places and the command that brings it.
    """
    try:
        return finder.find(name).data
    except NotFoundError as error:
        raise FileNotFoundError(str(error)) from error


def check_separate_model(name: str, finder: ResourceFinder) -> None:
    """Refuse to begin without a model that is not in MediaPipe's wheel.

    Raises:
        FileNotFoundError: no place has it; the message says from where it comes.
    """
    try:
        finder.find(name)
    except NotFoundError as error:
        file = name.rpartition("/")[2]
        raise FileNotFoundError(
            f"the model {name!r} was not found, and MediaPipe's wheel does not have it; unpack the "
            f"wheel into a directory, put https://storage.googleapis.com/mediapipe-assets/{file} there as "
            f"{name}, and set PENSTOCK_MEDIAPIPE_MODELS to the directory"
        ) from error
