"""Where the graphs of a program find models and other files."""

from __future__ import annotations

from penstock_tensors import ResourceFinder

_places: list[str] = []


def set_resource_dir(path: str) -> None:
    """Let graphs that are made from now on look for files in a directory first.

    Args:
        path: a directory with `mediapipe/modules/...`, or the `.whl` file of MediaPipe; "" for none.
    """
    _places[:] = [path] if path else []


def finder() -> ResourceFinder:
    """Return what finds files: in the directory that was set, then where all of Penstock looks."""
    return ResourceFinder(tuple(_places))
