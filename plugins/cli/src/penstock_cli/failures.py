"""What a failed command says and exits with. An error is one message on stderr, never a traceback.

`--debug` adds the traceback; everything else about the message stays the same.
"""

from __future__ import annotations

import traceback
from typing import Final

import click

from penstock import GraphConfigError, GraphParseError, GraphRunError, PenstockError

#: For the help texts; the README has the same.
EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 the run or a check failed; 2 wrong usage; 3 the graph is invalid; "
    "4 a file is missing or cannot be read; 130 interrupted."
)
INTERRUPTED: Final = 130


class RunFailed(click.ClickException):
    """A run went wrong, or something that nobody foresaw."""

    exit_code = 1


class WrongUsage(click.ClickException):
    """What was asked for makes no sense for this graph. Wrong arguments are click's `UsageError`."""

    exit_code = 2


class GraphInvalid(click.ClickException):
    """The file is no graph, or one that cannot run."""

    exit_code = 3


class FileMissing(click.ClickException):
    """A file is not there, or cannot be read."""

    exit_code = 4


class Interrupted(click.ClickException):
    """Ctrl-C before a run or after it."""

    exit_code = INTERRUPTED


def as_failure(error: Exception) -> click.ClickException:
    """Return what to tell the user about an exception that came out of a command."""
    if isinstance(error, (GraphParseError, GraphConfigError)):
        return GraphInvalid(str(error))
    if isinstance(error, PenstockError):
        return RunFailed(str(error))
    if isinstance(error, OSError):
        return RunFailed(f"{type(error).__name__}: {error}")
    return RunFailed(
        f"unexpected {type(error).__name__}: {error}; this should not happen, please report it with what "
        "--debug shows"
    )


def show_traceback(error: BaseException) -> None:
    """Print an exception with all it came from on stderr; of a run, each of its errors."""
    errors = error.errors if isinstance(error, GraphRunError) else (error,)
    for each in errors:
        click.echo("".join(traceback.format_exception(each)), err=True)
