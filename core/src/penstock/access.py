"""What a graph may touch outside of itself: files, addresses, devices, programs.

A calculator says in its contract what it touches (`cc.declare(reads=..., writes=...)`), and does so through
the graph's `Access` (`cc.service(ACCESS)`). The application says what is allowed. By default that is
everything, as for any program; for graphs of strangers it is a list::

    access = penstock.access.Access(reads=["clips"], writes=["out"], connects=["10.0.0.5:9092"])
    graph = penstock.CalculatorGraph(path, access=access)

What a graph file itself names is checked when the graph is loaded; what comes from side packets and streams,
when it is touched. The code of a calculator is trusted: this is no wall around code.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Final

from penstock.errors import AlreadyExistsError, InvalidArgumentError, PermissionDeniedError
from penstock.redacting import redacted
from penstock.services import ServiceKey, ServiceScope
from penstock.touches import KINDS, Searched, SearchedPort, Touch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = [
    "ACCESS", "EVERYTHING", "Access", "Searched", "SearchedPort", "Touch", "current", "is_address",
    "override", "redacted",
]  # fmt: skip

#: What begins an address: "rtsp://", "udp:", "concat:"; not the letter of a drive.
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+[:,]")
_PORTS: Final = {"http": "80", "https": "443", "rtsp": "554", "rtmp": "1935", "ws": "80", "wss": "443"}


class Access:
    """What is allowed. Threads may share it; a worker process gets a copy.

    Args:
        reads, writes: files and directories with all below them; None: every file.
        connects: "HOST:PORT", or "HOST" for all its ports; None: every address. Names are compared as they
            are written, and not looked up.
        devices: names of devices, such as "camera 0" or "/dev/video0"; None: all.
        runs: programs and other places that run code, such as "a cluster"; None: all.
        overwrites: whether an existing file may be replaced.

    With lists, only plain files below them are opened, links followed: no FIFO, no device, nothing of /proc.

    Raises:
        InvalidArgumentError: a str is given in place of a list.
    """

    def __init__(  # noqa: PLR0913  # one for each kind
        self,
        *,
        reads: Iterable[str | os.PathLike[str]] | None = None,
        writes: Iterable[str | os.PathLike[str]] | None = None,
        connects: Iterable[str] | None = None,
        devices: Iterable[str] | None = None,
        runs: Iterable[str] | None = None,
        overwrites: bool = True,
    ) -> None:
        given = {"reads": reads, "writes": writes, "connects": connects, "devices": devices, "runs": runs}
        self._allowed: Final[dict[str, tuple[str, ...] | None]] = {}
        for kind, some in given.items():
            if isinstance(some, str):
                raise InvalidArgumentError(f"{kind} of the access is the str {some!r}; give a list")
            texts = None if some is None else tuple(os.fspath(one) for one in some)
            if texts is not None and kind in {"reads", "writes"}:
                texts = tuple(os.path.realpath(one) for one in texts)
            self._allowed[kind] = texts
        self._overwrites: Final = overwrites

    def __repr__(self) -> str:
        said = [f"{kind}={some!r}" for kind, some in self._allowed.items() if some is not None]
        return f"Access({', '.join([*said, f'overwrites={self._overwrites}'])})"

    def is_limited(self, kind: str) -> bool:
        """Return whether only some of a kind (`KINDS`) is allowed."""
        return self._allowed[kind] is not None

    # --- files --------------------------------------------------------------------------------

    def reading(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of a file that may be read, links followed where reading is limited.

        For libraries that open files themselves; `open` is safer, since a link may change before the library
        opens it.

        Raises:
            PermissionDeniedError: it may not be read.
        """
        return self._file("reads", path)

    def open(self, path: str | os.PathLike[str]) -> IO[bytes]:
        """Open a file to read its bytes; the caller closes it.

        Raises:
            PermissionDeniedError: it may not be read.
            OSError: the system does not open it.
        """
        found = self.reading(path)
        if not self.is_limited("reads"):
            return found.open("rb")
        # What is opened is what was allowed: a link that has changed meanwhile is refused, and a FIFO that
        # has come there does not hold this thread.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(found, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        try:
            mine = f"/proc/self/fd/{descriptor}"
            opened = os.path.realpath(mine) if os.path.exists(mine) else str(found)  # noqa: PTH110  # a str
            if not stat.S_ISREG(os.fstat(descriptor).st_mode) or not self._is_below("reads", opened):
                raise self._denied("reads", os.fspath(path))  # noqa: TRY301  # what was opened is closed
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def folder(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of a directory whose files may be read, links followed where reading is limited.

        Raises:
            PermissionDeniedError: they may not.
        """
        from pathlib import Path

        if not self.is_limited("reads"):
            return Path(path)
        found = os.path.realpath(path)
        if not self._is_below("reads", found):
            raise self._denied("reads", os.fspath(path))
        return Path(found)

    def writing(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of a file that may be written, links followed where writing is limited.

        Raises:
            PermissionDeniedError: it may not be written.
            AlreadyExistsError: it exists, and may not be replaced.
        """
        found = self._file("writes", path)
        if not self._overwrites and found.is_file():
            raise AlreadyExistsError(
                f"the file {os.fspath(path)!r} exists; name another one, or allow that it is replaced: "
                "--force, or Access(overwrites=True)"
            )
        return found

    def _file(self, kind: str, path: str | os.PathLike[str]) -> Path:
        from pathlib import Path  # few graphs touch files

        text = os.fspath(path)
        if self._allowed[kind] is None:
            return Path(text)
        found = Path(os.path.realpath(text))
        if not self._is_below(kind, str(found)) or (found.exists() and not found.is_file()):
            raise self._denied(kind, text)
        return found

    def _is_below(self, kind: str, path: str) -> bool:
        allowed = self._allowed[kind] or ()
        return any(path == one or path.startswith(one.rstrip(os.sep) + os.sep) for one in allowed)

    # --- all else -----------------------------------------------------------------------------

    def connecting(self, address: str) -> str:
        """Return an address, "HOST:PORT" or one with a scheme, that may be connected to.

        Raises:
            PermissionDeniedError: it may not.
        """
        allowed = self._allowed["connects"]
        if allowed is not None:
            host, port = _host_and_port(address)
            if not host or not ({host, f"{host}:{port}"} & {one.lower() for one in allowed}):
                raise self._denied("connects", address)
        return address

    def medium(self, name: str | os.PathLike[str]) -> str:
        """Return the name of a file, or an address, that may be read; for libraries that read either.

        A file that is called like an address ("a:b.mp4") comes back as a whole path, which is none.

        Raises:
            PermissionDeniedError: it may not.
        """
        text = os.fspath(name)
        if is_address(text):
            return self.connecting(text)
        found = str(self.reading(text))
        return os.path.abspath(found) if _SCHEME.match(found) else found  # noqa: PTH100  # a str

    def using(self, kind: str, name: str) -> str:
        """Return the name of a device ("devices") or program ("runs") that may be used.

        Raises:
            PermissionDeniedError: it may not.
        """
        allowed = self._allowed[kind]
        if allowed is not None and name not in allowed:
            raise self._denied(kind, name)
        return name

    def refused(self, touch: Touch) -> PermissionDeniedError | None:
        """Return why something is not allowed; None where it is, or is not known before the run."""
        if not touch.what or (touch.is_searched and not os.path.isabs(touch.what)):  # noqa: PTH117  # a str
            return None
        try:
            if touch.kind == "connects":
                self.connecting(touch.what)
            elif touch.kind in {"devices", "runs"}:
                self.using(touch.kind, touch.what)
            else:
                self._file(touch.kind, touch.what)
        except PermissionDeniedError as error:
            return error
        return None

    def _denied(self, kind: str, what: str) -> PermissionDeniedError:
        verb, cure, _ = KINDS[kind]
        allowed = self._allowed[kind] or ()
        known = f"only {', '.join(map(repr, allowed))}" if allowed else "none"
        return PermissionDeniedError(
            f"this graph may not {verb} {redacted(what)!r}; allowed: {known}; {cure} allows more, or "
            f"Access({kind}=[...])"
        )


def is_address(text: str) -> bool:
    """Return whether a text is an address and no path: it begins with a scheme, and no file has its name."""
    return bool(_SCHEME.match(text)) and not os.path.exists(text)  # noqa: PTH110  # a str


def _host_and_port(address: str) -> tuple[str, str]:
    """Return host and port of an address in lower case, "" for a host where there is none: "concat:a"."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        scheme, rest = "", address
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*,", address) or re.fullmatch(r"[^:]+:.*\D.*", address):
            return "", ""  # a scheme without "//"
    place = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(\d*))?", place)
    if found is None:
        return "", ""
    return found[1].lower(), found[2] or _PORTS.get(scheme.lower(), "")


#: All is allowed.
EVERYTHING: Final = Access()
#: The access of a graph. A node that declares what it touches asks for it.
ACCESS: Final[ServiceKey[Access]] = ServiceKey(
    "penstock.access", create=lambda: EVERYTHING, scope=ServiceScope.COPY
)
_CURRENT: Final[ContextVar[Access]] = ContextVar("access", default=EVERYTHING)


def current() -> Access:
    """Return the access of graphs that are loaded here, in this thread or task."""
    return _CURRENT.get()


@contextmanager
def override(access: Access) -> Iterator[Access]:
    """Give the graphs that are loaded in a `with` block an access, where they are given none themselves."""
    token = _CURRENT.set(access)
    try:
        yield access
    finally:
        _CURRENT.reset(token)
