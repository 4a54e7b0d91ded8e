"""Looks for traps in one graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.config import build_plan, read_definition
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import OptionTypes, ReadGraph, default_registry, did_you_mean
from penstock_lint.finding import Finding, Rule
from penstock_lint.linted import LintedGraph
from penstock_lint.rules import interface, joining, limiters, running
from penstock_lint.silence import heard, silences_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from penstock import Registry
    from penstock_lint.silence import Silence

#: All rules, by code.
RULES: Final[dict[str, Rule]] = {
    rule.code: rule for rule in (*joining.RULES, *limiters.RULES, *running.RULES, *interface.RULES)
}
#: The code of a comment that silences nothing, or gives no reason.
NEEDLESS: Final = "PS001"


def chosen(select: Collection[str] = (), ignore: Collection[str] = ()) -> list[Rule]:
    """Return the rules whose codes begin with one of `select` (all, if it is empty) and none of `ignore`.

    Raises:
        InvalidArgumentError: a code or beginning of one fits no rule; says what is near.
    """
    known = [*RULES, NEEDLESS]
    for given in (*select, *ignore):
        if not any(code.startswith(given) for code in known):
            raise InvalidArgumentError(
                f"no rule is called {given!r}{did_you_mean(given, known, 1)}; see --list"
            )
    return [
        rule
        for code, rule in RULES.items()
        if (not select or code.startswith(tuple(select))) and not (ignore and code.startswith(tuple(ignore)))
    ]


def lint_graph(
    graph: str | Path, rules: Sequence[Rule] | None = None, *, registry: Registry | None = None
) -> list[Finding]:
    """Return what the rules find in a graph, in the order of the file.

    Args:
        graph: a `str` is graph text, a `pathlib.Path` a file.
        rules: None for all.
        registry: finds calculators; None for the default one.

    Raises:
        PenstockError: the graph cannot be loaded; as `penstock.config.build_plan`.
    """
    registry = default_registry() if registry is None else registry
    plan = build_plan(graph, registry)
    read = read_definition(graph, registry)
    linted = LintedGraph(plan, read if isinstance(read, ReadGraph) else None, registry, OptionTypes(registry))
    file = str(graph) if isinstance(graph, Path) else "<text>"
    found = [
        finding
        for rule in (RULES.values() if rules is None else rules)
        for finding in _findings(rule, linted, file)
    ]
    text = linted.text
    silences = silences_in(text)
    left = list(heard(found, silences))
    if rules is None:  # with some rules only, a comment may be meant for another
        left += _needless(silences, file)
    return sorted(set(left))


def _findings(rule: Rule, graph: LintedGraph, file: str) -> Iterator[Finding]:
    for found in rule.check(graph):
        line, column = graph.position(found.node, found.field, found.index)
        node = "" if found.node is None else graph.nodes[found.node].name
        yield Finding(file, line, column, rule.code, rule.name, node, found.what, rule.cure)


def _needless(silences: list[Silence], file: str) -> Iterator[Finding]:
    for one in silences:
        left = [code for code in one.codes if code not in one.used]
        what, cure = "", ""
        if not one.codes or left:
            what = f"this comment silences nothing: {', '.join(left) or 'it names no rule'} is not found here"
            cure = "take it away, or put it above the node that it is for"
        elif not one.reason:
            what = "this comment gives no reason"
            cure = "say behind the bracket why the finding is right as it is"
        if what:
            yield Finding(file, one.line, one.column, NEEDLESS, "ignore-needless", "", what, cure)
