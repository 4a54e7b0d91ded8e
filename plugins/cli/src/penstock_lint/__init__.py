"""Traps in graph files: graphs that load and run, but not as they were meant to.

`lint_graph` looks for them. `Rule` and `Found` are for packs that bring rules of their own by the hook
`penstock_lint`; a rule looks at a `LintedGraph`. Importing this package imports nothing else: a name is
imported when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from penstock_lint.edit import Edit as Edit
    from penstock_lint.finding import Finding as Finding
    from penstock_lint.finding import Found as Found
    from penstock_lint.finding import Rule as Rule
    from penstock_lint.lint import RULES as RULES
    from penstock_lint.lint import lint_graph as lint_graph
    from penstock_lint.linted import LintedGraph as LintedGraph
    from penstock_lint.measured import Measured as Measured
    from penstock_lint.measured import read_trace as read_trace

_MODULES: Final = {
    "Edit": "edit",
    "Finding": "finding",
    "Found": "finding",
    "LintedGraph": "linted",
    "Measured": "measured",
    "RULES": "lint",
    "Rule": "finding",
    "lint_graph": "lint",
    "read_trace": "measured",
}

__all__ = ["RULES", "Edit", "Finding", "Found", "LintedGraph", "Measured", "Rule", "lint_graph", "read_trace"]


def __getattr__(name: str) -> Any:
    """Import the module of a name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
