"""The kinds of trials that `scripts/prove.py` runs, what they have shown so far, and the table of that."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT: Final = Path(__file__).resolve().parents[2]
KINDS: Final = Path(__file__).with_name("kinds.toml")
#: Where results are kept, a line for each turn: they are committed with the page that adds them up.
STATE: Final = Path(__file__).with_name("turns.jsonl")
PAGE: Final = ROOT / "docs/what-is-proven.md"
BEGIN: Final = "<!-- proof: begin (written by scripts/prove.py) -->"
END: Final = "<!-- proof: end -->"
_SEEDS_APART: Final = 10_000_000
#: Outcomes of a turn. HUNG: it did not end in its time, and was ended.
PASSED, FOUND, HUNG, BROKEN = "passed", "found", "hung", "broken"


class TableError(Exception):
    """A table of kinds, or a state, cannot be read."""


@attrs.frozen(kw_only=True)
class Kind:
    """One kind of trial; the fields are explained in `kinds.toml`."""

    name: str
    says: str
    command: str
    counts: re.Pattern[str] = attrs.field(converter=re.compile)
    unit: str
    seed: int = _SEEDS_APART
    rounds: int = 0
    weight: float = 1.0

    def arguments(self, turn: int, seconds: float) -> list[str]:
        """Return the command of a turn, which begin at 0."""
        filled = self.command.format(seconds=round(seconds), seed=1 + turn * self.seed, round=turn)
        return filled.split()

    def count_in(self, printed: str) -> int | None:
        """Return the number that a script has printed, in the last line that has one; several add up."""
        for line in reversed(printed.splitlines()):
            if found := [match["count"] for match in self.counts.finditer(line)]:
                return sum(int(number.replace(",", "")) for number in found)
        return None


@attrs.frozen(kw_only=True)
class Turn:
    """What one turn of a kind has shown."""

    kind: str
    turn: int
    command: str
    outcome: str
    count: int
    seconds: float
    #: When it ended, in UTC; the commit that was tried; where.
    at: str
    commit: str
    machine: str
    #: The last lines that the script printed, where something was found.
    told: str = ""
    #: Written by hand where a finding is no longer open: the commit or the test that mended it.
    mended: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether the turn has shown a defect."""
        return self.outcome in {FOUND, HUNG}


def read_kinds(path: Path = KINDS) -> list[Kind]:
    """Return the kinds of a table.

    Raises:
        TableError: it is none; says what is wrong where.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("kind", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"{path}: {error}") from error
    found: list[Kind] = []
    for table in tables:
        try:
            kind = Kind(**table)
            kind.arguments(0, 1)
        except (TypeError, re.error, KeyError, IndexError) as error:
            raise TableError(f"{path}: kind {table.get('name', len(found) + 1)!r}: {error}") from error
        if "count" not in kind.counts.groupindex:
            raise TableError(f"{path}: kind {kind.name!r}: counts has no group `count`: (?P<count>...)")
        if any(kind.name == other.name for other in found):
            raise TableError(f"{path}: kind {kind.name!r} is there twice")
        found.append(kind)
    return found


def read_state(path: Path = STATE) -> list[Turn]:
    """Return the turns so far. A last line that was cut off is left out.

    Raises:
        TableError: another line is no turn; names it.
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    turns: list[Turn] = []
    for number, line in enumerate(lines, 1):
        try:
            turns.append(Turn(**json.loads(line)))
        except (ValueError, TypeError) as error:
            if number < len(lines):
                raise TableError(f"{path}, line {number}: {error}; repair or remove the file") from error
    return turns


def append(turn: Turn, path: Path = STATE) -> None:
    """Add a turn to the state."""
    if path.exists() and not (text := path.read_bytes()).endswith(b"\n"):
        path.write_bytes(text[: text.rfind(b"\n") + 1])  # a line that was cut off
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(attrs.asdict(turn)) + "\n")


def next_turn(kind: Kind, turns: Iterable[Turn]) -> int | None:
    """Return the number of the next turn of a kind; None where it is complete."""
    done = {turn.turn for turn in turns if turn.kind == kind.name and turn.outcome != BROKEN}
    number = next(n for n in range(len(done) + 1) if n not in done)
    return None if kind.rounds and number >= kind.rounds else number


def rows(kinds: Sequence[Kind], turns: Sequence[Turn]) -> list[str]:
    """Return the table, a row for each kind."""
    made = ["| | counted | turns | hours | findings |", "|---|--:|--:|--:|--:|"]
    for kind in kinds:
        mine = [turn for turn in turns if turn.kind == kind.name]
        count = sum(turn.count for turn in mine)
        of = f" of {kind.rounds}" if kind.rounds else ""
        hours = sum(turn.seconds for turn in mine) / 3600
        found = [turn for turn in mine if turn.is_finding]
        mended = sum(bool(turn.mended) for turn in found)
        of_them = "" if mended == len(found) else f"{mended} "
        findings = f"{len(found)}, {of_them}mended" if mended else str(len(found))
        said = f"**{kind.name}.** {kind.says}"
        made.append(f"| {said} | {count:,} {kind.unit} | {len(mine)}{of} | {hours:.2f} | {findings} |")
    return made


def summary(kinds: Sequence[Kind], turns: Sequence[Turn]) -> list[str]:
    """Return the table, and when and where it was made."""
    lines = rows(kinds, turns)
    if turns:
        machines = ", ".join(sorted({turn.machine for turn in turns}))
        commits = sorted({turn.commit for turn in turns})
        span = f"From {min(t.at for t in turns)[:10]} to {max(t.at for t in turns)[:10]}"
        lines += ["", f"{span}, {len(commits)} states of the code, on: {machines}."]
    return lines


def report(kinds: Sequence[Kind], turns: Sequence[Turn]) -> str:
    """Return the table, when and where, and each finding with the command that shows it again."""
    lines = summary(kinds, turns)
    for turn in turns:
        if turn.outcome != PASSED:
            told = "\n".join(f"    {line}" for line in turn.told.splitlines()[-30:])
            since = f" (mended: {turn.mended})" if turn.mended else ""
            lines += ["", f"{turn.kind}: {turn.outcome}{since}. Again: python {turn.command}", told]
    return "\n".join(lines)


def written(page: str, kinds: Sequence[Kind], turns: Sequence[Turn]) -> str:
    """Return the page with the present table; a kind that this state has no turn of keeps its row.

    Raises:
        TableError: the page lacks a mark.
    """
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise TableError(f"{PAGE.name} lacks {BEGIN!r} or {END!r}")
    mine = [turn for turn in turns if turn.outcome != BROKEN]
    former = {line.split(".**")[0]: line for line in rest.splitlines() if line.startswith("| **")}
    tried = {f"| **{turn.kind}" for turn in mine}
    lines = summary(kinds, mine)
    kept = [line if (key := line.split(".**")[0]) in tried else former.get(key, line) for line in lines]
    if not mine:
        kept += ["", *(line for line in rest.splitlines() if line.startswith("From "))][:2]
    table = "\n".join(kept)
    return f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}"
