"""Traps in graph files: graphs that load and run, but not as they were meant to.

`lint_graph` looks for them, `RULES` are all that it knows.
"""

from penstock_lint.finding import Finding as Finding
from penstock_lint.finding import Rule as Rule
from penstock_lint.lint import RULES as RULES
from penstock_lint.lint import lint_graph as lint_graph

__all__ = ["RULES", "Finding", "Rule", "lint_graph"]
