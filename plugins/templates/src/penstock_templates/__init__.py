"""Graph templates: graphs whose fields are filled in, left out or repeated by rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock_templates.graph_template import GraphTemplate

__all__ = ["GraphTemplate"]


def __getattr__(name: str) -> object:
    if name == "GraphTemplate":  # late: loading the plugins imports this package
        from penstock_templates.graph_template import GraphTemplate

        return GraphTemplate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
