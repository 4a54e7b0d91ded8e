"""The message of a graph, where programs for MediaPipe import it from."""

from penstock.config import CalculatorGraphConfig

__all__ = ["CalculatorGraphConfig"]
