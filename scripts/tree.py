"""Prints the tree: each source file of each distribution, with the first sentence of its docstring.

`python scripts/tree.py packet` prints the files whose path or sentence contains the word.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
_SOURCES: Final = ("core/src", "plugins/*/src", "subgraphs/*/src", "contrib/*/src")
_SENTENCE: Final = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


def tree() -> Iterator[tuple[str, str]]:
    """Yield the path of each source file, relative to the repository, and what it is for."""
    for place in _SOURCES:
        for folder in sorted(ROOT.glob(place)):
            for file in sorted(folder.rglob("*.py")):
                if not file.name.endswith("_pb2.py"):
                    yield file.relative_to(ROOT).as_posix(), _first_sentence(file)


def _first_sentence(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    found = _SENTENCE.match(text)
    return " ".join((found[0] if found else text).split())


def main() -> int:
    """Print the files; exit with 1 if there is none with the word."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("word", nargs="?", default="", help="part of the path or sentence; case is ignored")
    word = parser.parse_args().word.casefold()
    lines = [f"{path}: {what}" for path, what in tree()]
    found = [line for line in lines if word in line.casefold()]
    print("\n".join(found) if found else f"no file says {word!r}", file=sys.stdout if found else sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
