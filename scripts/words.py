"""Find words and turns of phrase that make sentences hard to read: `python scripts/words.py`.

It reads docstrings, comments, texts of errors and help, and the pages, and prints each place with a better
way to say it. Some patterns were in many places when they were added. Their number is written beside them,
and may only become smaller.

    python scripts/words.py            print the places of patterns that are in more places than allowed
    python scripts/words.py --all      print the places of all patterns
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]


class Phrase(NamedTuple):
    """A pattern to avoid."""

    pattern: re.Pattern[str]
    #: A better way to say it.
    better: str
    #: How many places may still have it.
    allowed: int = 0


def _phrase(pattern: str, better: str, allowed: int = 0) -> Phrase:
    return Phrase(re.compile(pattern, re.IGNORECASE), better, allowed)


PHRASES: Final = (
    _phrase(r"\b(hence|thence|whence|thereof|hereof|thereby|hereby|albeit|lest|nought)\b", "a modern word"),
    _phrase(r"\b(whoever|whosoever|whomever|whom)\b", "name the caller, the thread or the node"),
    _phrase(r"\b(come|comes|came) of (it|that|this|them|these|those|what)\b", "'depends on', 'follows from'"),
    _phrase(r"\bwhat (comes|came) of\b", "'its results'"),
    _phrase(r"\bless those\b", "a formula: written - dropped = taken"),
    _phrase(r"\bwaits? for (a|the) full queue\b", "'waits because a queue is full'"),
    _phrase(r"\b(is|are|was|were|be|been) told\b(?! (apart|to)\b)", "'is reported', 'is logged', 'gets'"),
    _phrase(r"\bthose (that|which|of|in|with|for|on|at|from)\b", "the noun instead of 'those'", 473),
    _phrase(r"\b(as|than|is|are|like|with|and) that of\b", "the noun instead of 'that'", 5),
    _phrase(r"\b(of|in|for|by|with|from|on|to|than) what\b", "the noun instead of 'what'", 254),
)
#: Where texts are; what is generated, and what was written at a time, is left out.
_PLACES: Final = ("*.py", "*.md")
_LEFT_OUT: Final = re.compile(
    r"_pb2\.py$|^CHANGELOG|^changelog\.d/|/template/|^(scripts|tests)/(test_)?words\.py$"
)


class Place(NamedTuple):
    """A text that has a phrase."""

    file: str
    line: int
    words: str
    phrase: Phrase


def places(root: Path) -> Iterator[Place]:
    """Yield each place of each phrase, in the order of the files."""
    command = ["git", "ls-files", *_PLACES]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)  # noqa: S603  # ours
    for name in listed.stdout.splitlines():
        if not _LEFT_OUT.search(name) and (root / name).is_file():
            text = (root / name).read_text(encoding="utf-8")
            if not any(found_in(name, 1, text)):  # reading a module token by token takes long
                continue
            for line, words in _texts(text) if name.endswith(".py") else enumerate(text.splitlines(), 1):
                yield from found_in(name, line, words)


def found_in(file: str, line: int, text: str) -> Iterator[Place]:
    """Yield the phrases of one text that begins in a line; a phrase may go over the end of a line."""
    whole = re.sub(r"\s*\n\s*(?:#:? ?)?", " ", text)
    for phrase in PHRASES:
        for match in phrase.pattern.finditer(whole):
            around = whole[max(0, match.start() - 40) : match.end() + 20].strip()
            yield Place(file, line, around, phrase)


def _texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module, and its comments, those in neighbouring lines as one text."""
    comments: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if comments and token.start[0] != last + 1:
                yield first, "\n".join(comments)
                comments = []
            first = first if comments else token.start[0]
            last = token.start[0]
            comments.append(token.string)
        elif token.type == tokenize.STRING or token.type == getattr(tokenize, "FSTRING_MIDDLE", None):
            yield token.start[0], token.string
    if comments:
        yield first, "\n".join(comments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the places; return 1 where there are more than allowed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="print the places of all patterns")
    options = parser.parse_args(arguments)
    found = list(places(ROOT))
    counts = Counter(place.phrase for place in found)
    above = {phrase for phrase, count in counts.items() if count > phrase.allowed}
    for place in found:
        if options.all or place.phrase in above:
            sys.stdout.write(
                f"{place.file}:{place.line}: ...{place.words}...; better: {place.phrase.better}\n"
            )
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
