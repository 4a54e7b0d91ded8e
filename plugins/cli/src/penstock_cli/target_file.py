"""Whether a file can be written that a command is to write, asked before the work begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from penstock_cli.failures import FileMissing

if TYPE_CHECKING:
    from pathlib import Path


def check_target_file(target: Path, what: str) -> None:
    """Refuse a file that cannot be written.

    Args:
        target: the file.
        what: what it is, for the message: "trace".

    Raises:
        FileMissing: there is no such directory, it cannot be written to, or the file is a directory.
    """
    if target.is_dir():
        raise FileMissing(f"the target file {str(target)!r} of the {what} is a directory; name a file in it")
    if not target.parent.is_dir():
        raise FileMissing(
            f"the target file {str(target)!r} of the {what}: there is no directory {str(target.parent)!r}; "
            "make it first"
        )
    if not os.access(target.parent, os.W_OK):
        raise FileMissing(
            f"the target file {str(target)!r} of the {what}: directory {str(target.parent)!r} cannot be "
            "written to"
        )
