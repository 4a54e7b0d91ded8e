"""What becomes of a process that a calculator has forked elsewhere, and that comes back from its call."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final, NoReturn

#: The exit status of such a process.
_BROKEN: Final = 70


def end_child(node: str) -> NoReturn:
    """End a child that has come back from a calculator: all here is its parent's."""
    words = f"penstock: a process that node {node!r} has forked came back from its call, and was ended; "
    with suppress(OSError):  # not `sys.stderr`: another thread may have held its lock when this forked
        os.write(2, f"{words}end such a process with os._exit()\n".encode(errors="backslashreplace"))
    os._exit(_BROKEN)
