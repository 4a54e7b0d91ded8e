"""A reader's test: whether the list of files says where a thing is.

    python scripts/reading/readers_test.py --seed 7              the questions
    python scripts/reading/readers_test.py --seed 7 --answers    with the file of each
    python scripts/reading/readers_test.py --seed 7 --guesses my_guesses.txt

A reader gets the list of `git ls-files`, and nothing else, and says in which file each thing is: public
names, messages of errors and calculators, drawn from the whole tree. A guess is right if it names the file
that defines the name, raises the message or has the calculator. The guesses are one path a line, in the
order of the questions; the end of a path is enough. The same seed draws the same questions as long as the
tree is the same, each kind for itself.

The source is read, not imported, and only the standard library is used.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = ("core/src", "plugins/*/src", "subgraphs/*/src", "contrib/*/src")
#: A message with fewer words of fixed text cannot be found by anybody.
FEWEST_WORDS: Final = 4
#: Classes and functions whose names end like this are called with a message.
ERRORS: Final = ("Error", "Fault", "Usage", "Missing", "Failed", "Exception", "Exit", "Params", "Warning")


class Question(NamedTuple):
    """One thing, and the files that are right: most often one."""

    kind: str
    words: str
    files: frozenset[str]


@cache
def modules() -> Mapping[str, Path]:
    """Return each written module of the packages by its dotted name."""
    found: dict[str, Path] = {}
    for source in sorted(folder for pattern in SOURCES for folder in ROOT.glob(pattern)):
        for file in sorted(source.rglob("*.py")):
            parts = file.relative_to(source).with_suffix("").parts
            if not file.stem.endswith("_pb2") and "vendor" not in parts:
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def public_names() -> Iterator[Question]:
    """Yield the names in `__all__` of packages, and of modules that only gather names of others."""
    for module, file in modules().items():
        gathers = "late_names(" in file.read_text(encoding="utf-8")
        if not gathers and file.name != "__init__.py":
            continue
        homes = _late_homes(_tree(file)) if gathers else {}
        for name in sorted({*homes, *_listed(_tree(file))}):
            home = _home(homes.get(name, module), name)
            if home is not None and home != module:
                yield Question("name", f"`{name}` of `{module}`", frozenset({_shown(home)}))


def _late_homes(tree: ast.Module) -> dict[str, str]:
    """Return name → module, of every dictionary in the module that says so for `late_names`."""
    found = {}
    for table in (node for node in ast.walk(tree) if isinstance(node, ast.Dict)):
        for key, value in zip(table.keys, table.values, strict=True):
            if (
                isinstance(key, ast.Constant)
                and isinstance(value, ast.Constant)
                and isinstance(value.value, str)
            ):
                found.update(dict.fromkeys(value.value.split(), str(key.value)))
    return found


def _listed(tree: ast.Module) -> Iterator[str]:
    """Yield the names in an `__all__` that is written out."""
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.List | ast.Tuple):
            continue
        if ast.unparse(node.targets[0]) == "__all__":
            yield from (ast.literal_eval(item) for item in node.value.elts)


def _home(module: str, name: str) -> str | None:
    """Return the module that defines a name, followed through imports; None if it is a module itself."""
    while module in modules():
        if f"{module}.{name}" in modules():
            return None
        for node in ast.walk(_tree(modules()[module])):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for alias in node.names:
                    if (alias.asname or alias.name) == name and node.module in modules():
                        return _home(node.module, alias.name)
        return module
    return None


def _shown(module: str) -> str:
    return modules()[module].relative_to(ROOT).as_posix()


def messages() -> Iterator[Question]:
    """Yield the messages of errors with enough fixed text."""
    files: defaultdict[str, set[str]] = defaultdict(set)
    for module, file in modules().items():
        for text in _messages_of(_tree(file), _constants(_tree(file))):
            if len(text.replace("…", " ").split()) >= FEWEST_WORDS:
                files[text].add(_shown(module))
    for text, found in sorted(files.items()):
        yield Question("message", text, frozenset(found))


def _constants(tree: ast.Module) -> dict[str, str]:
    """Return the texts that a module has names for."""
    assigned = (node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
    return {
        ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target): node.value.value
        for node in assigned
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def _messages_of(tree: ast.Module, constants: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        raised = node.exc if isinstance(node, ast.Raise) else None
        if isinstance(node, ast.Call) and (_called(node).endswith(ERRORS) or node is raised):
            yield from filter(None, (_text(one, constants) for one in node.args[:2]))
        elif isinstance(raised, ast.Call) and not _called(raised).endswith(ERRORS):
            yield from filter(None, (_text(one, constants) for one in raised.args[:3]))


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _text(node: ast.expr, constants: Mapping[str, str]) -> str:
    """Return a message with "…" where something is filled in; nothing if it is not a text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, constants) or "…" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return constants.get(ast.unparse(node.value), "")
    if isinstance(node, ast.BinOp):
        left, right = _text(node.left, constants), _text(node.right, constants)
        return (left or "…") + (right or "…") if left or right else ""
    return ""


def calculators() -> Iterator[Question]:
    """Yield the names under which calculators are registered."""
    for module, file in modules().items():
        if module.endswith(".components"):
            for name, target in sorted(_table(_tree(file), "CALCULATORS").items()):
                home = _home(*target.split(":"))
                if home is not None:
                    yield Question("calculator", f"`{name}`", frozenset({_shown(home)}))


def _table(tree: ast.Module, name: str) -> dict[str, str]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name and node.value is not None:
            return dict(ast.literal_eval(node.value))
    return {}


def draw(seed: int, counts: Mapping[str, int]) -> list[Question]:
    """Return the questions of a seed: names, then messages, then calculators."""
    asked: list[Question] = []
    for things, (kind, count) in zip((public_names, messages, calculators), counts.items(), strict=True):
        chance = random.Random(f"{seed} {kind}")  # noqa: S311  # no secret
        asked += chance.sample(sorted(set(things())), count) if count else []
    return asked


def right(question: Question, guess: str) -> bool:
    """Return whether a guess is a right file, or the end of its path."""
    return any(f"/{file}".endswith(f"/{guess.strip()}") for file in question.files)


def scores(asked: Iterable[tuple[Question, str]]) -> Iterator[str]:
    """Yield a line for each guess, and one for each kind of question."""
    hits: defaultdict[str, list[bool]] = defaultdict(list)
    for question, guess in asked:
        hits[question.kind].append(right(question, guess))
        word = "right" if hits[question.kind][-1] else f"WRONG, {guess.strip()} guessed"
        yield f"{question.kind} {question.words}: {', '.join(sorted(question.files))}: {word}"
    for kind, found in hits.items():
        yield f"{kind}s: {sum(found)} of {len(found)}"
    yield f"all: {sum(map(sum, hits.values()))} of {sum(map(len, hits.values()))}"


def main() -> int:
    """Print the questions, with the answers or the score if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    kinds = ("names", "messages", "calculators")
    for kind in kinds:
        parser.add_argument(f"--{kind}", type=int, default=10, help="how many to draw; default 10")
    parser.add_argument("--answers", action="store_true", help="print the right files too")
    parser.add_argument("--guesses", type=Path, help="a file with one path a line: print the score")
    given = parser.parse_args()
    asked = draw(given.seed, {kind: getattr(given, kind) for kind in kinds})
    if given.guesses is not None:
        guesses = given.guesses.read_text(encoding="utf-8").splitlines()
        if len(guesses) != len(asked):
            parser.error(f"{given.guesses} has {len(guesses)} lines, for {len(asked)} questions")
        print("\n".join(scores(zip(asked, guesses, strict=True))))
        return 0
    for number, question in enumerate(asked, start=1):
        answer = f": {', '.join(sorted(question.files))}" if given.answers else ""
        print(f"{number}. {question.kind} {question.words}{answer}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
