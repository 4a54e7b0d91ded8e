"""What a rule is, and what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock_lint.linted import LintedGraph


@attrs.frozen
class Found:
    """One place of a graph where a rule applies.

    Attributes:
        node: position of the node in the plan; None where it is the graph's own.
        what: what will happen there, with the names of the graph.
        field: of the graph, where `node` is None: "input_stream", say; and which entry of it.
        index: which entry.
    """

    node: int | None
    what: str
    field: str = ""
    index: int = 0


@attrs.frozen
class Rule:
    """One kind of trap.

    Attributes:
        code: "PS" and three digits, which never change their meaning.
        name: in a few words with hyphens.
        summary: what goes wrong, for any graph.
        cure: what to do.
        check: yields where it applies in a graph.
        bad, good: a small graph with the trap, and the same without it.
    """

    code: str
    name: str
    summary: str
    cure: str
    check: Callable[[LintedGraph], Iterator[Found]] = attrs.field(repr=False)
    bad: str = attrs.field(repr=False)
    good: str = attrs.field(repr=False)


@attrs.frozen(order=True)
class Finding:
    """What a rule has found in a file.

    Attributes:
        file: as it was given.
        line, column: counted from 1; 0 where the graph has no lines.
        code, name: of the rule.
        node: name of the node, or "".
        what: what will happen.
        cure: what to do.
    """

    file: str
    line: int
    column: int
    code: str
    name: str
    node: str
    what: str
    cure: str

    def __str__(self) -> str:
        position = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.file}{position}: {self.code} {self.name}: {self.what}; {self.cure}"
