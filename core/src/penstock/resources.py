"""Relative paths of a graph, looked up in directories: a `Resources` for who wants such a limit.

It reads only below its directories. Whether a run may open a path at all is decided elsewhere, by
`penstock.access`, through which calculators open files. What the application gives is not checked here.

Invariant: what `resolve` returns is below one of the roots when all links are followed. It does
not guard against links that change between `resolve` and the use of its result.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, BinaryIO

from penstock.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

_CURE = "pass the file as a side packet, or add its directory as a resource root"


class Resources:
    """Directories, the graph file's own first, and the look-up of relative paths below them."""

    def __init__(self, roots: Iterable[str | os.PathLike[str]] = ()) -> None:
        """Take the directories.

        Args:
            roots: searched in this order. Empty: a graph may read no files.

        Raises:
            InvalidArgumentError: one of them is no directory.
        """
        #: Absolute, links followed, each once.
        self.roots: tuple[Path, ...] = tuple(dict.fromkeys(_root(root) for root in roots))

    def __repr__(self) -> str:
        return f"Resources({[str(root) for root in self.roots]!r})"

    def resolve(self, path: str | os.PathLike[str], *, must_exist: bool = True) -> Path:
        """Return where a path of a graph file leads: absolute, links followed, below a root.

        Args:
            path: relative, with "/" between its parts.
            must_exist: False: where no root has it, its place below the first root is returned.

        Raises:
            InvalidArgumentError: it is empty or absolute, or leads out of every root that has it.
            NotFoundError: no root has it.
        """
        text = os.fspath(path)
        self._check_form(text)
        escapes = False
        for root in self.roots:
            found = Path(os.path.realpath(root / text))
            is_below = found.is_relative_to(root)
            if is_below and os.path.exists(found):  # noqa: PTH110  # Path.exists raises where it may not look
                return found
            escapes = escapes or not is_below
        if escapes or not self.roots:
            raise InvalidArgumentError(f"path {text!r} leads elsewhere; {self._allowed()}; {_CURE}")
        if must_exist:
            raise NotFoundError(f"path {text!r} does not exist; {self._allowed()}; {_CURE}")
        return Path(os.path.realpath(self.roots[0] / text))

    def open(self, path: str | os.PathLike[str]) -> BinaryIO:
        """Open a file for reading bytes. The caller closes it.

        Raises:
            InvalidArgumentError: as `resolve`, or the file cannot be opened: it is a directory, or may
                not be read. The cause is the original exception.
            NotFoundError: as `resolve`.
        """
        found = self.resolve(path)
        try:
            return found.open("rb")
        except OSError as error:
            raise InvalidArgumentError(
                f"resource path {os.fspath(path)!r} cannot be opened: {error}"
            ) from error

    def _check_form(self, text: object) -> None:
        if not isinstance(text, str) or not text or "\0" in text:
            raise InvalidArgumentError(f"resource path {text!r}: must be a str that names a file")
        # Both forms on every system: a graph file means the same wherever it is read.
        if PurePosixPath(text).anchor or PureWindowsPath(text).anchor:
            raise InvalidArgumentError(f"path {text!r} is absolute; {self._allowed()}; {_CURE}")

    def _allowed(self) -> str:
        if not self.roots:
            return "this graph has no directory to read from"
        return f"this graph reads only below {' or '.join(repr(str(root)) for root in self.roots)}"


def _root(root: str | os.PathLike[str]) -> Path:
    found = Path(os.path.realpath(root))
    if not found.is_dir():
        raise InvalidArgumentError(f"resource root {os.fspath(root)!r} is no directory")
    return found
