"""The exit codes of the commands."""

from __future__ import annotations

from typing import Final

#: For the help texts; the README has the same.
EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 the run or a check failed; 2 wrong usage; 3 the graph is invalid; "
    "4 a file is missing or cannot be read; 130 interrupted; 143 ended by SIGTERM."
)
#: `INTERRUPTED`, `TERMINATED`: after Ctrl-C, and after SIGTERM: 128 plus the number of the signal.
INTERRUPTED: Final = 130
TERMINATED: Final = 143
