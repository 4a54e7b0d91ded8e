"""How commands fail: an error is one message on stderr without a traceback.

`--debug` adds the traceback; the message stays the same.
"""

from __future__ import annotations

import click

from penstock import GraphConfigError, GraphParseError, GraphRunError, PenstockError
from penstock.errors import traceback_of
from penstock_cli.exit_codes import INTERRUPTED


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
        f"unexpected failure, {type(error).__name__}: {error}; this is a bug, please report it with the "
        "output of --debug"
    )


def show_traceback(error: BaseException) -> None:
    """Print an exception's traceback with its causes on stderr; of a failed run, one for each error."""
    errors = error.errors if isinstance(error, GraphRunError) else (error,)
    for each in errors:
        click.echo(traceback_of(each), err=True)
