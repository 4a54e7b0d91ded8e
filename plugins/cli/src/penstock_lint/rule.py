"""What a rule is, and the places of a graph that it finds."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock_lint.edit import Edit
    from penstock_lint.linted import LintedGraph


@attrs.frozen
class RuleMatch:
    """One place of a graph where a rule applies."""

    #: Position of the node in the plan; None where it is the graph's own.
    node: int | None
    #: What will happen there, with the names of the graph.
    what: str
    #: The field of the graph, where `node` is None: "input_stream", say.
    field: str = ""
    #: Which entry of `field`.
    index: int = 0
    #: Mends the text of the file, where that is safe; None where a person has to decide.
    edit: Edit | None = None


@attrs.frozen
class Rule:
    """One kind of trap."""

    #: Letters and three digits, which never change their meaning: "PS205"; other packs than penstock-cli have
    #: letters of their own.
    code: str
    #: In a few words with hyphens.
    name: str
    #: What goes wrong, for any graph.
    summary: str
    #: What to do.
    cure: str
    #: Yields where it applies in a graph.
    check: Callable[[LintedGraph], Iterable[RuleMatch]] = attrs.field(repr=False)
    #: `bad`, `good`: text of a small graph with the trap, and of the same one without it.
    bad: str = attrs.field(repr=False, default="")
    good: str = attrs.field(repr=False, default="")


def examples(rule: Rule) -> tuple[str, str]:
    """Return the graph with the trap and the one without it; those of our own rules are files."""
    if rule.bad or not rule.code.startswith("PS"):
        return rule.bad, rule.good
    here = files("penstock_lint") / "rules" / "examples"
    bad, good = (
        (here / f"{rule.code}.{which}.pbtxt").read_text(encoding="utf-8") for which in ("bad", "good")
    )
    return bad, good
