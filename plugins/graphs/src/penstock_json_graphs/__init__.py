"""Graphs in JSON: files that end with .json, dicts, and graphs written as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock_json_graphs.graph_to_json import to_json

__all__ = ["to_json"]


def __getattr__(name: str) -> object:  # late: loading the plugins imports this package
    if name == "to_json":
        from penstock_json_graphs.graph_to_json import to_json

        return to_json
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
