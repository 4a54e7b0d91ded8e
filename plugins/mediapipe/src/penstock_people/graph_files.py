"""The graphs of this pack, as text: files that `penstock run` and `penstock show` take too."""

from __future__ import annotations

from importlib import resources


def graph_text(name: str) -> str:
    """Return one of the graph files "hands.pbtxt", "faces.pbtxt" and "pose.pbtxt"."""
    return resources.files("penstock_people").joinpath(name).read_text(encoding="utf-8")
