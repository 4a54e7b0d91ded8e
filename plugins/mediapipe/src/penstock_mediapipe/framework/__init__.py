"""The messages of MediaPipe's framework, where programs import them from."""
