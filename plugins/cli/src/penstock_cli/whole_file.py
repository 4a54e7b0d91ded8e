"""Writes a file whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from penstock_cli.failures import FileMissing


def write_whole(path: Path, text: str, what: str) -> None:
    """Write text into a file, which is replaced where it exists.

    Args:
        path: of the file.
        text: its content.
        what: what the message calls it, such as "report".

    Raises:
        FileMissing: it cannot be written, as on a full disk; what was there is as it was.
    """
    if path.exists() and not path.is_file():  # a device, such as /dev/stdout
        _write(path, text, what)
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        _write(partial, text, what, path)
        partial.replace(path)
    except OSError as error:
        raise _refused(path, what, error) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def rewrite_file(file: Path, text: str) -> None:
    """Replace the text of an existing file as a whole: a reader finds the old text or the new one.

    The file keeps its permissions; where it is a symbolic link, the file behind it is replaced. Lines end as
    `text` has them.

    Raises:
        OSError: the new text cannot be written; the file is as it was.
    """
    target = file.resolve()
    mode = target.stat().st_mode
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as new:
        partial = Path(new.name)
        try:
            new.write(text)
            new.close()
            partial.chmod(mode)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


def _write(path: Path, text: str, what: str, target: Path | None = None) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _refused(target or path, what, error) from error


def _refused(path: Path, what: str, error: OSError) -> FileMissing:
    return FileMissing(f"{what} {str(path)!r} cannot be written: {error.strerror or error}")
