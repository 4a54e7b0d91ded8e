"""`python -m penstock_cli` is `penstock`. Both begin here: Ctrl-C is answered while modules are imported."""

from __future__ import annotations

import sys

#: As `penstock_cli.exit_codes.INTERRUPTED`, which is not imported yet when it is needed here.
_INTERRUPTED = 130


def main() -> None:
    """Import the command, run it with the process's arguments, and exit with its code."""
    try:
        from penstock_cli.main import main as run_command
    except KeyboardInterrupt:
        sys.stderr.write("Error: interrupted\n")
        sys.exit(_INTERRUPTED)
    run_command()


if __name__ == "__main__":
    main()
