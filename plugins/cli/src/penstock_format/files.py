"""Formats files: what `penstock format` does."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock import limits
from penstock.errors import GraphParseError, PenstockError
from penstock.packs import default_registry
from penstock.readers import Places, Spot
from penstock_cli.api import (
    FileMissing,
    GraphInvalid,
    RunFailed,
    WrongUsage,
    existing_file,
    plural,
    rewrite_file,
    say,
)
from penstock_format.formatting import formatted

if TYPE_CHECKING:
    from collections.abc import Sequence

STDIN: Final = "-"
_STDIN_NAME: Final = "<stdin>"
#: What the names of graph files end with that hold no graph text.
_OTHER: Final = (".json", ".binarypb", ".pb")


def format_files(files: Sequence[str], *, check: bool = False, diff: bool = False) -> int:
    """Format files, say what was done, and return how many would change, where none is written.

    Args:
        files: paths, or "-" alone for standard input, whose new text is printed.
        check: write nothing.
        diff: write nothing, and print the differences.

    Raises:
        WrongUsage: a file holds no graph text, or standard input is named beside files; nothing is written.
        GraphInvalid: at least one graph cannot be read, and stays as it was; the others are formatted.
        FileMissing: a file does not exist, or cannot be read or written; likewise.
        RunFailed: a result was not the same graph; likewise.
    """
    _check_names(files)
    run = _Run(check=check, diff=diff)
    for file in files:
        run.format(file)
    run.tell()
    return run.changed if check or diff else 0


def _check_names(files: Sequence[str]) -> None:
    if STDIN in files and len(files) > 1:
        raise WrongUsage(
            "files to format: '-' is standard input, which is formatted alone; leave out the others"
        )
    for file in files:
        ending = Path(file).suffix.lower()
        if ending in _OTHER:
            what = "JSON" if ending == ".json" else "no text"
            raise WrongUsage(f"graph file {file!r} is {what}; only .pbtxt and .textproto files have a layout")


class _Run:
    """One call of the command."""

    def __init__(self, *, check: bool, diff: bool) -> None:
        self._check = check
        self._diff = diff
        self.changed = 0
        self._same = 0
        self._failures: list[click.ClickException] = []

    def format(self, file: str) -> None:
        """Format one file; what is wrong is kept for the end."""
        try:
            self._format(file)
        except click.ClickException as failure:
            self._failures.append(failure)
        except GraphParseError as error:
            self._failures.append(GraphInvalid(str(error)))
        except PenstockError as error:
            self._failures.append(RunFailed(str(error)))
        except OSError as error:
            self._failures.append(FileMissing(f"graph file {file!r}: {error.strerror or error}"))

    def tell(self) -> None:
        """Say on stderr what was done, and raise what was wrong.

        Raises:
            ClickException: has the messages of all files, and the highest exit code of them.
        """
        what = "would be reformatted" if self._check or self._diff else "reformatted"
        parts = [f"{plural(self.changed, 'file')} {what}"] if self.changed else []
        parts += [f"{plural(self._same, 'file')} as before"] if self._same else []
        if parts:
            say(", ".join(parts))
        if self._failures:
            worst = max(self._failures, key=lambda one: one.exit_code)
            raise type(worst)("\n".join(one.message for one in self._failures))

    def _format(self, file: str) -> None:
        is_stdin = file == STDIN
        label = _STDIN_NAME if is_stdin else file
        before = _decoded(_bytes_of(file), label)
        after = formatted(before, default_registry(), label=label)
        if is_stdin and not (self._check or self._diff):
            sys.stdout.buffer.write(after.encode())  # with its own ends of lines
            sys.stdout.flush()
            return
        if after == before:
            self._same += 1
            return
        self.changed += 1
        if self._diff:
            click.echo(_difference(label, before, after), nl=False)
        if self._check or self._diff:
            say(f"would reformat {label}")
            return
        rewrite_file(Path(file), after)
        say(f"reformatted {label}")


def _bytes_of(file: str) -> bytes:
    most = limits.current().file_bytes
    if file == STDIN:
        data = sys.stdin.buffer.read(most + 1)
    else:
        path = existing_file(Path(file), "graph file")
        if not path.is_file():
            raise FileMissing(
                f"graph file {file!r} is a device or a pipe, which is not formatted; write - to format "
                "standard input"
            )
        with path.open("rb") as opened:
            data = opened.read(most + 1)
    limits.check("file_bytes", len(data), f"graph file {file!r} has too many bytes")
    return data


def _decoded(data: bytes, label: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        above = data[: error.start].decode("utf-8-sig")
        line, column = Places(label, above, Spot(0)).line_and_column(len(above)) or (1, 1)
        words = f"byte {data[error.start]:#04x} is no UTF-8; save it as UTF-8"
        raise GraphParseError(
            f"{label}:{line}:{column}: {words}", file=label, line=line, column=column
        ) from error


def _difference(label: str, before: str, after: str) -> str:
    """Return a unified diff; lines without their end are marked as `diff` marks them."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), label, f"{label} (formatted)"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
