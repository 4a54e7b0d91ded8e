"""Subgraphs for the flow of packets, as graph files in this package."""
