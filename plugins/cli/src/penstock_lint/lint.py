"""Looks for traps in one graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.config import build_plan, read_definition
from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger
from penstock.packs import default_plugin_host, default_registry
from penstock.readers import ReadGraph, definition_as_read_graph
from penstock.types import OptionTypes
from penstock_lint.finding import Finding
from penstock_lint.linted import LintedGraph
from penstock_lint.rule import Rule
from penstock_lint.rules import RULES
from penstock_lint.silence import silences_in, unsilenced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from penstock import Registry
    from penstock_lint.measured import Measured
    from penstock_lint.silence import Silence

_logger: Final = get_logger(__name__)

#: The code of a comment that silences nothing, or gives no reason.
NEEDLESS: Final = "PS001"


def all_rules() -> Mapping[str, Rule]:
    """Return our own rules and those of packs, which the hook `penstock_lint` brings.

    A hook that raises, something that is no rule, and a code that is there already are logged and left out.
    """
    found = dict(RULES)
    for implementation in default_plugin_host().implementations("penstock_lint"):
        try:
            rules = list(implementation.call())
        except Exception:
            _logger.exception("plugin %r: its hook penstock_lint failed", implementation.plugin)
            continue
        for rule in rules:
            if not isinstance(rule, Rule):
                _logger.error("plugin %r: penstock_lint returned %r, no Rule", implementation.plugin, rule)
            elif rule.code in found or rule.code == NEEDLESS:
                _logger.error("plugin %r: the rule %s is there already", implementation.plugin, rule.code)
            else:
                found[rule.code] = rule
    return found


def chosen(
    rules: Mapping[str, Rule], select: Collection[str] = (), ignore: Collection[str] = ()
) -> list[Rule]:
    """Return the rules whose codes begin with one of `select` (all, if it is empty) and none of `ignore`.

    Raises:
        InvalidArgumentError: a code or beginning of one fits no rule; says what is near.
    """
    known = [*rules, NEEDLESS]
    for given in (*select, *ignore):
        if not any(code.startswith(given) for code in known):
            raise InvalidArgumentError(
                f"no lint rule is called {given!r}{did_you_mean(given, known, 1)}; see --list"
            )
    return [
        rule
        for code, rule in rules.items()
        if (not select or code.startswith(tuple(select))) and not (ignore and code.startswith(tuple(ignore)))
    ]


def lint_graph(
    graph: str | Path,
    rules: Sequence[Rule] | None = None,
    *,
    registry: Registry | None = None,
    measured: Measured | None = None,
) -> list[Finding]:
    """Return what the rules find in a graph, in the order of the file.

    Comments of the graph silence findings. With all rules, those that silence nothing, or give no reason, are
    findings too. A template is looked at as the defaults of its params make it, and has no mends.

    Args:
        graph: a `str` is graph text, a `pathlib.Path` a file.
        rules: None for all, those of packs included.
        registry: finds calculators; None for the default one.
        measured: what a run of the graph has shown, from `penstock_lint.read_trace`.

    Raises:
        PenstockError: the graph cannot be loaded; as `penstock.config.build_plan`.
    """
    registry = default_registry() if registry is None else registry
    plan = build_plan(graph, registry)
    read = read_definition(graph, registry)
    is_template = not isinstance(read, ReadGraph)
    made = read if isinstance(read, ReadGraph) else definition_as_read_graph(read)
    linted = LintedGraph(plan, made, registry, OptionTypes(registry), measured, is_template=is_template)
    file = str(graph) if isinstance(graph, Path) else "<text>"
    used = all_rules().values() if rules is None else rules
    found = {finding for rule in used for finding in _findings(rule, linted, file)}
    silences = silences_in(linted.text)
    left = list(unsilenced(found, silences))
    if rules is None:  # with some rules only, a comment may be meant for another
        left += _needless(silences, file, has_measured=measured is not None)
    return sorted(left)


def _findings(rule: Rule, graph: LintedGraph, file: str) -> Iterator[Finding]:
    for found in rule.check(graph):
        line, column = graph.position(found.node, found.field, found.index)
        node = "" if found.node is None else graph.nodes[found.node].name
        yield Finding(file, line, column, rule.code, rule.name, node, found.what, rule.cure, found.edit)


def _needless(silences: list[Silence], file: str, *, has_measured: bool) -> Iterator[Finding]:
    for one in silences:
        left = [code for code in one.codes if code not in one.used]
        what, cure = "", ""
        if not one.codes or (left and (has_measured or not _may_need_trace(left))):
            what = f"this comment silences nothing: {', '.join(left) or 'it names no rule'} is not found here"
            cure = "take it away, or put it above the node that it is for"
        elif not one.reason:
            what = "this comment gives no reason"
            cure = "say behind the bracket why the finding is right as it is"
        if what:
            yield Finding(file, one.line, one.column, NEEDLESS, "ignore-needless", "", what, cure)


def _may_need_trace(codes: list[str]) -> bool:
    """Return whether all of these rules may find more with a trace than without one."""
    return all(code.startswith(("PS1", "PS2", "PS3")) for code in codes)
