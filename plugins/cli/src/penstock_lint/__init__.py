"""Traps in graph files: graphs that load and run, but not as they were meant to.

`lint_graph` looks for them. `Rule` and `RuleMatch` are for packs that bring rules of their own by the hook
`penstock_lint`; a rule looks at a `LintedGraph`. Importing this package imports nothing else: a name is
imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_lint.edit import Edit as Edit
    from penstock_lint.finding import Finding as Finding
    from penstock_lint.lint import lint_graph as lint_graph
    from penstock_lint.linted import LintedGraph as LintedGraph
    from penstock_lint.measured import Measured as Measured
    from penstock_lint.measured import read_measured as read_measured
    from penstock_lint.rule import Rule as Rule
    from penstock_lint.rule import RuleMatch as RuleMatch
    from penstock_lint.rules import RULES as RULES

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_lint.edit": "Edit",
    "penstock_lint.finding": "Finding",
    "penstock_lint.lint": "lint_graph",
    "penstock_lint.linted": "LintedGraph",
    "penstock_lint.measured": "Measured read_measured",
    "penstock_lint.rule": "RuleMatch Rule",
    "penstock_lint.rules": "RULES",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
