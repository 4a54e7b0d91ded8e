"""Failure policies: what happens when a call of a node's calculator fails.

The graph file says it, in the field `failure` of a node. `Failure` is what `graph.failures()` returns and
what error streams carry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_failures.actions import FailureAction as FailureAction
    from penstock_failures.failure import Failure as Failure

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(
        __name__,
        {"penstock_failures.actions": "FailureAction", "penstock_failures.failure": "Failure"},
    )
