"""Results of mutants, the list of mutants that are kept, and the page that shows it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

#: Longer texts of code are cut in the table.
_LONGEST: Final = 90
#: Parts of the page, each with the folders that it is about, relative to the root.
AREAS: Final = {
    "engine": "core/src/penstock/engine/",
    "runtime": "core/src/penstock/runtime/",
    "input policies": "plugins/stream-handlers/src/",
    "failure policies": "plugins/failures/src/",
    "nodes elsewhere": "plugins/remote/src/",
}
_HEAD: Final = """\
# Mutants

A mutant is Penstock's own code with one small change: a comparison that is off by one, a condition negated, a
statement removed. A test that says something about this code fails then: the mutant is killed. A mutant that
survives is *equivalent* if the change can make no difference; if it is not, a test is missing.

The mutants below were drawn at random from all that the script makes of these folders, before anything was
known of them. Each that survived at first has got a test since, or the reason why it is equivalent. Where
the code of a mutant is gone, another was drawn in its place. So the share below is no estimate for mutants
that were not drawn: a new sample gives one.

    python scripts/mutants.py --kept --fresh --keep   test the mutants of this page again, and write it again
    python scripts/mutants.py --sample 100 --seed 7   test others

| part | mutants in all | drawn | killed | equivalent | survived | killed / (drawn - equivalent) |
|---|--:|--:|--:|--:|--:|--:|
"""


class Result(NamedTuple):
    """What the tests said about a mutant."""

    #: File, relative to the root; function, as "Class.method"; line.
    path: str
    where: str
    line: int
    #: The kind of change; the text before and after; how many equal changes the function has before it.
    kind: str
    before: str
    after: str
    number: int
    #: "killed", "survived" or "untested".
    outcome: str
    #: The test that failed, or how a hang was noticed.
    by: str
    #: Names the mutant while the function around it stays.
    key: str = ""
    seconds: float = 0.0

    @property
    def place(self) -> str:
        """Where it is and what it changes: a name that stays where lines move."""
        again = f" ({self.number + 1})" if self.number else ""
        where = f"{self.path}: {self.where or 'module'}: {self.kind}"
        return f"{where}: {_line(self.before)} -> {_line(self.after)}{again}"

    def told(self) -> str:
        """Return the result in a line."""
        change = f"{_short(self.before)}  ->  {_short(self.after)}"
        return f"{self.outcome} {self.path}:{self.line}: {self.kind}: {change}  {self.by}".rstrip()


class Kept(NamedTuple):
    """The mutants that were drawn, and are tested again."""

    #: Part of the page → how many mutants its folders have.
    totals: dict[str, int]
    results: list[Result]


def read_kept(path: Path) -> Kept:
    """Read the list; an empty one where there is no file."""
    if not path.is_file():
        return Kept({}, [])
    read = json.loads(path.read_text(encoding="utf-8"))
    return Kept(read["totals"], [Result(**row) for row in read["mutants"]])


def write_kept(path: Path, kept: Kept) -> None:
    """Write the list, a mutant in each line."""
    left_out = {"key", "seconds"}
    rows = [{k: v for k, v in one._asdict().items() if k not in left_out} for one in in_order(kept.results)]
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    text = f'{{"totals": {json.dumps(kept.totals)}, "mutants": [\n{lines}\n]}}\n'
    path.write_text(text, encoding="utf-8")


def in_order(results: Iterable[Result]) -> list[Result]:
    """Return results part by part, in the order of their places."""
    areas = list(AREAS)
    return sorted(results, key=lambda one: (areas.index(area(one.path)), one.path, one.line, one.place))


def area(path: str) -> str:
    """Return the part of the page that a module belongs to.

    Raises:
        SystemExit: it belongs to none.
    """
    for name, folder in AREAS.items():
        if path.startswith(folder):
            return name
    raise SystemExit(
        f"{path} is in no part of the page; give its folder a line in scripts/mutation/report.py"
    )


def page(kept: Kept, reasons: Mapping[str, str]) -> str:
    """Return the page.

    Args:
        kept: what it shows.
        reasons: `Result.place` → why the mutant is equivalent.
    """
    results = in_order(kept.results)
    rows = []
    for name in AREAS:
        own = [one for one in results if area(one.path) == name]
        if own:
            rows.append(_row(name, kept.totals[name], own, reasons))
    rows.append(_row("all", sum(kept.totals.values()), results, reasons))
    lines = ["", "## Each of them", "", "| place | before | after | killed by |", "|---|---|---|---|"]
    for one in results:
        place = f"{one.path.replace('core/src/penstock/', '').replace('/src/', '/')}:{one.line}"
        cells = (f"`{place}`", _code(one.before), _code(one.after), _verdict(one, reasons))
        lines.append(f"| {' | '.join(cells)} |")
    return _HEAD + "\n".join([*rows, *lines]) + "\n"


def _row(name: str, total: int, results: Sequence[Result], reasons: Mapping[str, str]) -> str:
    count = Counter(_state(one, reasons) for one in results)
    different = len(results) - count["equivalent"]
    share = f"{count['killed'] / different:.1%}" if different else "-"
    numbers = (f"{total:,}", len(results), count["killed"], count["equivalent"], count["survived"])
    return f"| {name} | {' | '.join(map(str, numbers))} | {share} |"


def _state(result: Result, reasons: Mapping[str, str]) -> str:
    if result.outcome == "survived" and result.place in reasons:
        return "equivalent"
    return result.outcome


def _verdict(one: Result, reasons: Mapping[str, str]) -> str:
    if one.outcome != "killed":
        why = reasons.get(one.place)
        return "survived" if why is None else f"equivalent: {why}"
    file, _, test = one.by.partition("::")
    if not test:
        return one.by.replace("|", "\\|")
    return f"{file.rpartition('/')[2].removesuffix('.py')}: {_code(test.partition('[')[0])}"


def _line(code: str) -> str:
    return " ".join(code.split())


def _short(code: str) -> str:
    line = _line(code)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _code(text: str) -> str:
    """Return text as code in a cell of a table."""
    inner = _short(text).replace("|", "\\|")
    fence = "``" if "`" in inner else "`"
    return f"{fence}{inner}{fence}"
