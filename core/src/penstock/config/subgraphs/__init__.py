"""Nodes that stand for graphs: `expand` replaces each by the nodes of its subgraph."""
