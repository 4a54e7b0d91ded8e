"""Options, calculators and runs that change while a graph lives.

`CalculatorGraph.set_options`, `swap` and `reset` lead here. `changes` returns what was changed in a run, and
`apply` makes such a change again; `CHANGES` is the service by which a node of the graph sees it.
"""

from penstock_steering.change import CHANGES as CHANGES
from penstock_steering.change import Change as Change
from penstock_steering.change import Changes as Changes
from penstock_steering.change import Kind as Kind
from penstock_steering.steering import apply as apply
from penstock_steering.steering import changes as changes
from penstock_steering.steering import reset as reset
from penstock_steering.steering import set_options as set_options
from penstock_steering.steering import swap as swap

__all__ = ["CHANGES", "Change", "Changes", "Kind", "apply", "changes", "reset", "set_options", "swap"]
