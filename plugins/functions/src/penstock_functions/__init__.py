"""Calculators from plain functions and classes: `@penstock.calculator`, which is `calculator` here.

The decorated function or class stays as it is, to be called and tested as before; it gets the
attribute `calculator`, an ordinary `Calculator` class made from its annotations, which are read
once, when the decorator runs. The decorator refuses what it cannot read.
"""

from __future__ import annotations

from penstock_functions.annotations import SidePacket
from penstock_functions.calculator_function import CalculatorFunction, calculator

__all__ = ["CalculatorFunction", "SidePacket", "calculator"]
