"""Results of mutants, and the page that lists them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Longer texts of code are cut in the table.
_LONGEST: Final = 90

_HEAD: Final = """\
# Mutants

A mutant is Penstock's own code with one small change: a comparison that is off by one, a condition negated, a
statement removed. Tests that say something about the code fail then: the mutant is killed. A mutant that
survives is *equivalent*, where the change can make no difference, or a test is missing. Of the {total:,}
mutants that `engine/` and `runtime/` have, the script drew these at random, with
the seed that stands in its command:

    {command}

| | |
|---|--:|
| mutants tested | {tested} |
| killed by a test that failed | {failed} |
| killed as a hang | {hung} |
| survived, equivalent: the reason stands in the table | {equivalent} |
| survived, no reason | {open} |
| share of those not equivalent that were killed | {share} |
"""


class Result(NamedTuple):
    """What the tests said about a mutant."""

    #: Names the mutant.
    key: str
    #: File, relative to the root, and line.
    path: str
    line: int
    #: The kind of change; the text before and after.
    kind: str
    before: str
    after: str
    #: "killed", "survived" or "untested".
    outcome: str
    #: The test that failed, or how a hang was noticed.
    by: str
    seconds: float

    @property
    def place(self) -> str:
        """File, kind and both texts: stays where lines move."""
        return f"{self.path}: {self.kind}: {_short(self.before)} -> {_short(self.after)}"

    def told(self) -> str:
        """Return the result in a line."""
        change = f"{_short(self.before)}  ->  {_short(self.after)}"
        return f"{self.outcome} {self.path}:{self.line}: {self.kind}: {change}  {self.by}".rstrip()


def page(results: Sequence[Result], reasons: Mapping[str, str], command: str, total: int) -> str:
    """Return the page.

    Args:
        results: in the order in which they are listed.
        reasons: `Result.place` → why the mutant is equivalent.
        command: what makes the page again.
        total: how many mutants the modules have.
    """
    count = Counter(_state(one, reasons) for one in results)
    killed = count["failed"] + count["hung"]
    different = len(results) - count["equivalent"]
    head = _HEAD.format(
        total=total,
        command=command,
        tested=len(results),
        failed=count["failed"],
        hung=count["hung"],
        equivalent=count["equivalent"],
        open=count["open"],
        share=f"{killed / different:.1%}" if different else "-",
    )
    lines = ["", "| mutant | place | before | after | killed by |", "|--:|---|---|---|---|"]
    for number, one in enumerate(results, 1):
        by = one.by.replace("core/tests/", "") if one.outcome == "killed" else _reason(one, reasons)
        place = f"{one.path.removeprefix('core/src/penstock/')}:{one.line}"
        cells = (str(number), f"`{place}`", _code(one.before), _code(one.after), _code(by) if one.by else by)
        lines.append(f"| {' | '.join(cells)} |")
    return head + "\n".join(lines) + "\n"


def _state(result: Result, reasons: Mapping[str, str]) -> str:
    if result.outcome == "killed":
        return "hung" if result.by.startswith("hang") else "failed"
    return "equivalent" if result.place in reasons else "open"


def _reason(result: Result, reasons: Mapping[str, str]) -> str:
    why = reasons.get(result.place)
    return "survived" if why is None else f"equivalent: {why}"


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _code(text: str) -> str:
    """Return text as code in a cell of a table."""
    inner = _short(text).replace("|", "\\|")
    fence = "``" if "`" in inner else "`"
    return f"{fence}{inner}{fence}"
