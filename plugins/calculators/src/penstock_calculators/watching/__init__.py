"""What a run does: for the application, for tests and for comparisons."""
