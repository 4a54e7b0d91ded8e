"""Options, calculators and runs that change while a graph lives.

`CalculatorGraph.set_options`, `swap` and `reset` lead here. `changes` returns what was changed in a run, and
`apply_change` makes such a change again; `CHANGES` is the service by which a node of the graph sees it.
"""
# A name is loaded when it is first used: a graph that records needs `CHANGES` alone.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_steering.changes_of_run import CHANGES as CHANGES
    from penstock_steering.changes_of_run import Change as Change
    from penstock_steering.changes_of_run import ChangeKind as ChangeKind
    from penstock_steering.changes_of_run import Changes as Changes
    from penstock_steering.changes_of_run import apply_change as apply_change
    from penstock_steering.changes_of_run import changes as changes
    from penstock_steering.graph_methods import reset as reset
    from penstock_steering.graph_methods import set_options as set_options
    from penstock_steering.graph_methods import swap as swap

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_steering.changes_of_run": "CHANGES Change ChangeKind Changes apply_change changes",
    "penstock_steering.graph_methods": "reset set_options swap",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
