"""Plain functions on both sides of a graph: calculators from functions, and a graph run by one call.

`@penstock.calculator`, which is `calculator` here, makes calculators of functions and classes. The decorated
function or class stays as it is, to be called and tested as before; it gets the attribute `calculator`, an
ordinary `Calculator` class made from its annotations, which are read once, when the decorator runs. The
decorator refuses what it cannot read.

`penstock.run`, which is `run` here, feeds a graph and returns the packets of its outputs. `Feed` feeds the
inputs of a run that has begun, and `feed_packet` makes the packets for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.late_names import late_names

if TYPE_CHECKING:
    from penstock.functions.annotations import SidePacket as SidePacket
    from penstock.functions.calculator_function import CalculatorFunction as CalculatorFunction
    from penstock.functions.calculator_function import calculator as calculator
    from penstock.functions.feeding import Feed as Feed
    from penstock.functions.feeding import feed_packet as feed_packet
    from penstock.functions.run_graph import run as run

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.functions.annotations": "SidePacket",
    "penstock.functions.calculator_function": "CalculatorFunction calculator",
    "penstock.functions.feeding": "Feed feed_packet",
    "penstock.functions.run_graph": "run",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
