"""A mutant: one change of one module, with a name that stays while the function around it stays."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mutation.changes import Change, changes
from mutation.report import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = ROOT / "core/src/penstock"


class Mutant(NamedTuple):
    """A change of a module."""

    #: The file of the module, relative to the root.
    path: str
    change: Change
    #: The source that is changed.
    source: str
    #: The function around the change, as "Class.method"; empty in the body of a module or class.
    where: str
    #: The source of that function.
    around: str
    #: How many equal changes come before it in the same function.
    number: int

    @property
    def key(self) -> str:
        """A name that stays while the source of the function stays."""
        told = (
            self.path,
            self.where,
            self.around,
            self.change.kind,
            self.before,
            self.change.new,
            self.number,
        )
        return hashlib.sha256("\0".join(map(str, told)).encode()).hexdigest()[:16]

    @property
    def place(self) -> str:
        """See `Result.place`."""
        return self.result("untested", "", 0.0).place

    @property
    def before(self) -> str:
        """The text that is replaced."""
        return self.change.old(self.source)

    def compiles(self) -> bool:
        """Return whether the changed source is Python; takes some milliseconds."""
        try:
            ast.parse(self.change.apply(self.source))
        except SyntaxError:
            return False
        return True

    def result(self, outcome: str, by: str, seconds: float) -> Result:
        """Return what is written into the state and the report."""
        return Result(
            self.path,
            self.where,
            self.change.line,
            self.change.kind,
            self.before,
            self.change.new,
            self.number,
            outcome,
            by,
            self.key,
            seconds,
        )


def mutants_of(names: Iterable[str]) -> list[Mutant]:
    """Return all mutants of modules, in the order of their places, as `in_source`.

    Args:
        names: modules, or folders of modules: below `core/src/penstock` without ".py", as "engine/flow", or
            relative to the root, as "plugins/failures/src".

    Raises:
        SystemExit: there is no such module.
    """
    found: list[Mutant] = []
    for name in names:
        paths = _modules(name)
        if not paths:
            raise SystemExit(f"there is no module {name!r} below {PACKAGE.relative_to(ROOT)} or {ROOT}")
        for path in paths:
            found += in_source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    return found


def _modules(name: str) -> list[Path]:
    for place in (PACKAGE / f"{name}.py", ROOT / name):
        if place.is_file():
            return [place]
    folder = PACKAGE / name if (PACKAGE / name).is_dir() else ROOT / name
    return [path for path in sorted(folder.rglob("*.py")) if not _is_written_by_a_script(path)]


def _is_written_by_a_script(path: Path) -> bool:
    return path.name.endswith("_pb2.py") or path.name in {"components.py", "plugin.py"}


def in_source(path: str, source: str) -> list[Mutant]:
    """Return the mutants of one module, among them a few that are no Python: see `Mutant.compiles`."""
    functions = _functions(source)
    lines = source.splitlines(keepends=True)
    count: Counter[tuple[str, ...]] = Counter()
    found = []
    for change in changes(source):
        first, last, where = max(
            (span for span in functions if span[0] <= change.line <= span[1]),
            default=(change.line, change.end_line, ""),
        )
        same = (where, change.kind, change.old(source), change.new)
        around = "".join(lines[first - 1 : last])
        found.append(Mutant(path, change, source, where, around, count[same]))
        count[same] += 1
    return found


def _functions(source: str) -> list[tuple[int, int, str]]:
    """Return the first and last line and the name of each function; those inside come after those around."""
    found: list[tuple[int, int, str]] = []

    def look(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}" if name else child.name
                if not isinstance(child, ast.ClassDef):
                    found.append((child.lineno, child.end_lineno or child.lineno, inner))
            look(child, inner)

    look(ast.parse(source), "")
    return found
