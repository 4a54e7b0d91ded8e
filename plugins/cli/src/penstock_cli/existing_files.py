"""`existing_file`: the file that a path on the command line names, or an error that suggests another."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from penstock_cli.failures import FileMissing

if TYPE_CHECKING:
    from pathlib import Path


def existing_file(path: Path, what: str) -> Path:
    """Return `path`.

    Raises:
        FileMissing: there is no file of that name, and the message suggests a similar one in the same
            directory; or the path is a directory.
    """
    if path.is_dir():
        raise FileMissing(f"{what} {str(path)!r} is a directory, but must be an existing file; name one")
    if path.exists():
        return path
    there = [each for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
    alike = [each.name for each in there if each.stem == path.name]
    near = alike or get_close_matches(path.name, [each.name for each in there], n=1)
    hint = f"did you mean {str(path.with_name(near[0]))!r}?" if near else "check the path"
    raise FileMissing(f"{what} {str(path)!r} does not exist; {hint}")
