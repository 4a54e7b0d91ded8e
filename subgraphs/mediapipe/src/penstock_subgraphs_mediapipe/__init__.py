"""The subgraphs that MediaPipe's graphs name."""
