"""The files of graphs: which forms there are, and their bytes."""

from __future__ import annotations

import stat
import sys
from typing import TYPE_CHECKING, Final, TypeGuard

from penstock import limits
from penstock.errors import InvalidArgumentError, NotFoundError, PenstockError, code_of

if TYPE_CHECKING:
    from pathlib import Path

#: What a file's name ends with → how it is read.
TEXT: Final = (".pbtxt", ".textproto")
BINARY: Final = (".binarypb", ".pb")
JSON: Final = (".json",)


def is_path(thing: object) -> TypeGuard[Path]:
    """Return whether an object is a `pathlib.Path`, without importing pathlib."""
    pathlib = sys.modules.get("pathlib")
    return pathlib is not None and isinstance(thing, pathlib.Path)


def bytes_of(path: Path) -> bytes:
    """Return what is in a graph file.

    Raises:
        NotFoundError: there is no such file.
        InvalidArgumentError: it is a device or a pipe.
        ResourceExhaustedError: it has more bytes than the limit "file_bytes".
        PenstockError: it cannot be read; the OSError is the `__cause__`.
    """
    most = limits.current().file_bytes
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # opening a pipe waits for its writer
            raise InvalidArgumentError(
                f"graph file {str(path)!r} is a device or a pipe; read it, and pass its text as a str"
            )
        with path.open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no graph file {str(path)!r}") from error
    except PenstockError:
        raise
    except (OSError, ValueError) as error:  # a name with a null character is a ValueError
        why = getattr(error, "strerror", None) or error
        raise PenstockError(f"graph file {str(path)!r} cannot be read: {why}", code=code_of(error)) from error
    limits.check("file_bytes", len(data), f"graph file {str(path)!r} has too many bytes")
    return data
