"""The solutions: a class for each task, and what draws its results."""
