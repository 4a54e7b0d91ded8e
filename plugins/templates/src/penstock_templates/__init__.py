"""Graph templates: graphs whose fields are filled in, left out or repeated by rules."""

from penstock_templates.graph_template import GraphTemplate

__all__ = ["GraphTemplate"]
