"""Graphs that depend on arguments: templates, and `option_value`.

A template has fields that are filled in, left out or repeated by rules. An `option_value` of a node copies a
value of the graph's options into those of the node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock_templates.graph_template import GraphTemplate
    from penstock_templates.option_values import set_option_values

__all__ = ["GraphTemplate", "set_option_values"]


def __getattr__(name: str) -> object:  # late: loading the plugins imports this package
    if name == "GraphTemplate":
        from penstock_templates.graph_template import GraphTemplate

        return GraphTemplate
    if name == "set_option_values":
        from penstock_templates.option_values import set_option_values

        return set_option_values
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
