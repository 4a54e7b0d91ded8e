"""Traps in graph files: graphs that load and run, but not as they were meant to.

`lint_graph` looks for them. `Rule` and `Found` are for packs that bring rules of their own by the hook
`penstock_lint`; a rule looks at a `LintedGraph`.
"""

from penstock_lint.edit import Edit as Edit
from penstock_lint.finding import Finding as Finding
from penstock_lint.finding import Found as Found
from penstock_lint.finding import Rule as Rule
from penstock_lint.lint import RULES as RULES
from penstock_lint.lint import lint_graph as lint_graph
from penstock_lint.linted import LintedGraph as LintedGraph
from penstock_lint.measured import Measured as Measured
from penstock_lint.measured import read_trace as read_trace

__all__ = ["RULES", "Edit", "Finding", "Found", "LintedGraph", "Measured", "Rule", "lint_graph", "read_trace"]
