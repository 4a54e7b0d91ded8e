"""Video files, cameras and test patterns in, video files out, on PyAV. `plugin` lists the names."""
