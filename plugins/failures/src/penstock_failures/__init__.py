"""Failure policies: what happens when a call of a node's calculator fails.

The graph file says it, in the field `failure` of a node. `Failure` is what `graph.failures()` returns and
what error streams carry.
"""

from penstock_failures.check import plan_failure as plan_failure
from penstock_failures.failure import Action as Action
from penstock_failures.failure import Failure as Failure

__all__ = ["Action", "Failure", "plan_failure"]
