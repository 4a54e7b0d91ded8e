"""`python -m penstock` is the command `penstock`, if a distribution that provides it is installed.

The core has no command line: it runs the console script of that name from any installed distribution.
"""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Final

from penstock.registry import official_packs

#: Name of the command, and what a wrong call of a command exits with.
_COMMAND: Final = "penstock"
_WRONG_USAGE: Final = 2


def main() -> int:
    """Run the command with the process's arguments.

    Returns:
        Its exit status; 2 if the command is not installed: the message says what to install.
    """
    for script in importlib.metadata.entry_points(group="console_scripts", name=_COMMAND):
        status = script.load()()
        return status if isinstance(status, int) else 0
    distribution = official_packs()["command"][_COMMAND]
    sys.stderr.write(f"the command {_COMMAND!r} is not installed; install it: pip install {distribution}\n")
    return _WRONG_USAGE


if __name__ == "__main__":
    sys.exit(main())
