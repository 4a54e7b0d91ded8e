"""Which pictures a path names: one file, a folder, a list, or the files of a pattern; in their order."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.access import Access

#: Endings of the pictures that a folder may hold.
ENDINGS: Final = frozenset([
    ".bmp", ".gif", ".jp2", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff",
    ".webp",
])  # fmt: skip
#: Endings of files that hold paths, a line for each.
LISTS: Final = frozenset([".lst", ".txt"])
_NUMBER: Final = re.compile(r"%(0?)(\d*)d")
_DIGITS: Final = re.compile(r"([0-9]+)")
#: How many numbers an error or log line names.
_SHOWN: Final = 5


@attrs.frozen
class Picture:
    """A file that should hold a picture."""

    #: Where it is.
    path: Path
    #: "list.txt, line 3", where a list names it; else "".
    place: str = ""

    def __str__(self) -> str:
        return f"{str(self.path)!r}" + (f" ({self.place})" if self.place else "")


@attrs.frozen
class Found:
    """The pictures of a path, in order, at least one."""

    #: The path in words: "picture folder 'shots'".
    what: str
    pictures: tuple[Picture, ...]
    #: The numbers of a pattern that are missing, in words, or "".
    missing: str = ""
    #: How many other files a folder has.
    others: int = 0
    #: Directory of a folder or pattern, or of the file.
    folder: Path = Path()


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts names as people do: "shot 9" before "shot 10"."""
    parts = _DIGITS.split(text.casefold())
    return tuple((1, int(one), one) if place % 2 else (0, 0, one) for place, one in enumerate(parts))


def has_number(name: str) -> bool:
    """Return whether a name is a pattern with a number: "img_%04d.png"."""
    return bool(_NUMBER.search(name.replace("%%", "")))


def numbered(name: str, number: int) -> str:
    """Return the name that a pattern with a number gives it."""

    def put(found: re.Match[str]) -> str:
        width = int(found[2] or 0)
        return str(number).zfill(width) if found[1] else str(number).rjust(width)

    return "%".join(_NUMBER.sub(put, part) for part in name.split("%%"))


def find_pictures(text: str, access: Access) -> Found:
    """Return the pictures that a path names.

    Args:
        text: path of a picture, of a folder, or of a list (.txt, .lst) with a path in each line; or a pattern
            with a number, `%d` or `%04d`, or with `*` and `?`, in the name of the file.
        access: of the graph.

    Raises:
        InvalidArgumentError: there is none, or the folder or list cannot be read.
        PermissionDeniedError: the graph may not read there.
    """
    access.folder(text)  # what lies elsewhere is refused before the error could say whether it exists
    path = Path(text)
    if path.is_dir():
        return _in_folder(path, access)
    if path.is_file():
        return _in_list(path, access) if path.suffix.lower() in LISTS else _single(path, access)
    if has_number(path.name):
        return _by_number(path, access)
    if {"*", "?"} & set(path.name):
        return _by_wildcards(path, access)
    raise InvalidArgumentError(
        f"picture {text!r} does not exist; name a picture, a folder, a list of paths (.txt) or a pattern "
        "such as 'img_%04d.png'"
    )


def _single(path: Path, access: Access) -> Found:
    return Found(f"picture {str(path)!r}", (Picture(access.reading(path)),), folder=path.parent)


def _in_folder(path: Path, access: Access) -> Found:
    what = f"picture folder {str(path)!r}"
    names = [name for name in _names(path, access, what) if not name.startswith(".")]
    chosen = [name for name in names if Path(name).suffix.lower() in ENDINGS]
    if not chosen:
        there = f"only {_few(map(repr, sorted(names)))}" if names else "nothing"
        raise InvalidArgumentError(
            f"{what} holds no picture, {there}; pictures end with {', '.join(sorted(ENDINGS))}"
        )
    return _found(what, path, sorted(chosen, key=natural), others=len(names) - len(chosen))


def _by_number(path: Path, access: Access) -> Found:
    what = f"picture pattern {str(path)!r}"
    form = re.compile(_number_form(path.name))
    by_number: dict[int, str] = {}
    for name in _names(path.parent, access, what):
        match = form.fullmatch(name)
        if match is not None and numbered(path.name, int(match[1])) == name:
            by_number[int(match[1])] = name
    if not by_number:
        raise InvalidArgumentError(
            f"{what} finds no picture, such as {numbered(path.name, 1)!r}, in {str(path.parent)!r}; check "
            "folder and digits"
        )
    numbers = sorted(by_number)
    missing = sorted(set(range(numbers[0], numbers[-1])) - by_number.keys())
    said = _few(map(str, missing))
    return _found(what, path.parent, [by_number[number] for number in numbers], missing=said)


def _number_form(name: str) -> str:
    """Return a regular expression for the names of a pattern; its group is the number.

    Raises:
        InvalidArgumentError: there are two numbers.
    """
    literal = [re.escape(one.replace("\0", "%")) for one in _NUMBER.split(name.replace("%%", "\0"))[::3]]
    if len(literal) != 2:  # noqa: PLR2004  # before and behind the number
        raise InvalidArgumentError(
            f"picture pattern {name!r} has {len(literal) - 1} numbers, but must have one"
        )
    return rf"{literal[0]} *([0-9]+){literal[1]}"


def _by_wildcards(path: Path, access: Access) -> Found:
    what = f"picture pattern {str(path)!r}"
    names = [
        name
        for name in _names(path.parent, access, what)
        if fnmatchcase(name, path.name) and not name.startswith(".")
    ]
    if not names:
        raise InvalidArgumentError(
            f"{what} fits no picture in {str(path.parent)!r}; check folder and pattern"
        )
    return _found(what, path.parent, sorted(names, key=natural))


def _in_list(path: Path, access: Access) -> Found:
    """Return the pictures of a list; a path that is not absolute begins at the list's folder."""
    what = f"picture list {str(path)!r}"
    pictures = []
    for number, line in enumerate(text_of(path, access, what).splitlines(), 1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        place = f"{path}, line {number}"
        one = path.parent / entry
        if not one.is_file():
            raise InvalidArgumentError(f"{place}: there is no picture {str(one)!r}; correct the line")
        pictures.append(Picture(access.reading(one), place))
    if not pictures:
        raise InvalidArgumentError(f"{what} is empty; write the path of a picture into each line")
    return Found(what, tuple(pictures), folder=path.parent)


def text_of(path: Path, access: Access, what: str) -> str:
    """Return the text of a small file.

    Raises:
        InvalidArgumentError: it cannot be read, or is no text in UTF-8.
    """
    try:
        with access.open(path) as file:
            return file.read().decode("utf-8-sig")
    except OSError as error:
        raise InvalidArgumentError(f"{what} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"{what} is no text in UTF-8: {error}; check the program that lists the pictures"
        ) from error


def _names(folder: Path, access: Access, what: str) -> list[str]:
    """Return the names of the files in a folder."""
    try:
        return [one.name for one in access.folder(folder).iterdir() if one.is_file()]
    except OSError as error:
        raise InvalidArgumentError(
            f"{what} cannot be read: {error.strerror}: {str(folder)!r}; check the path of the pictures"
        ) from error


def _found(what: str, folder: Path, names: Iterable[str], *, missing: str = "", others: int = 0) -> Found:
    return Found(what, tuple(Picture(folder / name) for name in names), missing, others, folder)


def _few(words: Iterable[str]) -> str:
    """Return words, the first ones where they are many."""
    some = list(words)
    more = f" and {len(some) - _SHOWN} more" if len(some) > _SHOWN else ""
    return ", ".join(some[:_SHOWN]) + more
