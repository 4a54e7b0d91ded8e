"""A run of a graph file: its options, progress, interruption and summary."""
