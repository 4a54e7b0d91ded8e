"""Messages and exit codes of failed commands. An error is one message on stderr without a traceback.

`--debug` adds the traceback; the message stays the same.
"""

from __future__ import annotations

from typing import Final

import click

from penstock import GraphConfigError, GraphParseError, GraphRunError, PenstockError
from penstock.errors import traceback_of

#: For the help texts; the README has the same.
EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 the run or a check failed; 2 wrong usage; 3 the graph is invalid; "
    "4 a file is missing or cannot be read; 130 interrupted; 143 ended by SIGTERM."
)
#: `INTERRUPTED`, `TERMINATED`: after Ctrl-C, and after SIGTERM: 128 plus the number of the signal.
INTERRUPTED: Final = 130
TERMINATED: Final = 143


class Failure(click.ClickException):
    """A command failed, for a reason that its message says."""

    def format_message(self) -> str:
        """Return the message, with commands that work in this environment."""
        from penstock_cli.machine.environment import in_this_environment  # only for errors

        return in_this_environment(self.message)


class RunFailed(Failure):
    """A run failed, or an unexpected exception was raised."""

    exit_code = 1


class WrongUsage(Failure):
    """The arguments do not fit this graph or installation. Malformed ones are click's `UsageError`."""

    exit_code = 2


class GraphInvalid(Failure):
    """The file is not a graph, or the graph cannot run."""

    exit_code = 3


class FileMissing(Failure):
    """A file does not exist, or cannot be read or written."""

    exit_code = 4


class Interrupted(Failure):
    """Ctrl-C before a run or after it."""

    exit_code = INTERRUPTED


def as_failure(error: Exception) -> Failure:
    """Return the failure that reports an exception of a command to the user."""
    if isinstance(error, (GraphParseError, GraphConfigError)):
        return GraphInvalid(str(error))
    if isinstance(error, PenstockError):
        return RunFailed(str(error))
    if isinstance(error, OSError):
        return RunFailed(f"{type(error).__name__}: {error}")
    return RunFailed(
        f"unexpected {type(error).__name__}: {error}; this is a bug, please report it with the output of "
        "--debug"
    )


def show_traceback(error: BaseException) -> None:
    """Print an exception's traceback with its causes on stderr; of a failed run, one for each error."""
    errors = error.errors if isinstance(error, GraphRunError) else (error,)
    for each in errors:
        click.echo(traceback_of(each), err=True)
