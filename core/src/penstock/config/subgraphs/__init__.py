"""Subgraphs: nodes that are replaced by graphs before anything is checked."""
