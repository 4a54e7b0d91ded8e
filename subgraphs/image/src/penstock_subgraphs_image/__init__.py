"""Subgraphs for images, as graph files in this package."""
