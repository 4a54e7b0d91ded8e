"""What code touches outside of the process, as Python's audit events tell it.

Files that Python and libraries read for themselves are left out: modules, data beside modules, and files of
the system about itself. A library in C that opens a file tells nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Audit event → what a contract declares for it. The first argument of the event says what is touched, of
#: "socket.connect" the second.
_EVENTS: Final = {
    "os.listdir": "reads",
    "os.scandir": "reads",
    "os.remove": "writes",
    "os.rename": "writes",
    "os.mkdir": "writes",
    "socket.connect": "connects",
    "subprocess.Popen": "runs",
    "os.exec": "runs",
    "os.posix_spawn": "runs",
    "os.system": "runs",
}
#: The system's own: about itself, and for fonts, names of hosts and time zones.
_OF_THE_SYSTEM: Final = ("/proc", "/sys", "/dev", "/etc", "/usr")
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_lists: Final[list[list[tuple[str, str]]]] = []
_lock: Final = threading.Lock()


@contextmanager
def touched() -> Iterator[list[tuple[str, str]]]:
    """Collect what any thread touches meanwhile: what a contract declares for it, and the path or address."""
    found: list[tuple[str, str]] = []
    _own_places()  # the first look for temporary files writes one under a lock, which the hook would wait for
    with _lock:
        _hook()
        _lists.append(found)
    try:
        yield found
    finally:
        with _lock:
            _lists[:] = [one for one in _lists if one is not found]


@cache
def _hook() -> None:
    sys.addaudithook(_note)  # for good: a hook cannot be taken back


def _note(event: str, args: tuple[Any, ...]) -> None:
    if not _lists:
        return
    kind = _EVENTS.get(event)
    what: object = None
    if event == "open":
        path, _, flags = args
        kind, what = ("writes" if isinstance(flags, int) and flags & _WRITES else "reads"), path
    elif kind == "connects":
        what = args[1]
    elif kind is not None and args:
        what = args[0]
    if isinstance(what, bytes):
        what = os.fsdecode(what)
    if kind is None or what is None or isinstance(what, int) or not _is_told(kind, str(what)):
        return
    for found in _lists:
        found.append((kind, str(what)))


def _is_told(kind: str, what: str) -> bool:
    if kind in {"connects", "runs"}:
        return True
    path = os.path.abspath(what)  # noqa: PTH100  # a str
    return not path.startswith(_OF_THE_SYSTEM) and not any(path.startswith(one) for one in _own_places())


@cache
def _own_places() -> tuple[str, ...]:
    """Return the directories of Python, of modules, and of our own temporary files."""
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path}
    own = {os.path.abspath(one) for one in places if one and one not in {".", os.sep}}  # noqa: PTH100  # a str
    return tuple(sorted(own | {os.path.join(tempfile.gettempdir(), "penstock-")}))  # noqa: PTH118  # a str
