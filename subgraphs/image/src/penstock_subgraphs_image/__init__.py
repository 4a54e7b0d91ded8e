"""Subgraphs for pictures, as graph files in this package."""
