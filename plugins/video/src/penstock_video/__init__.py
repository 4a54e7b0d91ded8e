"""Reads video files, cameras and test patterns, and writes video files, on PyAV. `plugin` lists the names."""
