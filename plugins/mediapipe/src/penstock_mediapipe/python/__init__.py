"""The places where programs for MediaPipe import from: `python.solutions` and `python.solution_base`."""
