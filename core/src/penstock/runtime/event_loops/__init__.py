"""Coroutines: of calculators, and of applications that await a run."""
