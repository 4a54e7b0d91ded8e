"""Every module of every distribution can be imported on Windows and macOS, as far as its source tells.

Looked at is what runs when a module is imported: its own statements, the bodies of its classes, decorators,
defaults, and annotations where they are evaluated; not the bodies of functions. Below a test of the system,
or with the missing name caught, anything may stand. The lists are of CPython's manual ("Availability").
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(
    path
    for place in ("core", "plugins/*", "subgraphs/*", "contrib/*")
    for path in ROOT.glob(f"{place}/src/**/*.py")
)


def names_of(lists: dict[str, str]) -> set[str]:
    """Return the whole names of a list: module → what it lacks; "" → modules."""
    return {f"{module}.{name}".lstrip(".") for module, text in lists.items() for name in text.split()}


#: Modules of the standard library, and names in others, that a system does not have.
WINDOWS = names_of({
    "": """
        _posixshmem _posixsubprocess curses fcntl grp posix pty pwd readline resource syslog
        termios tty
    """,
    "mmap": """
        MADV_DONTNEED MAP_ANONYMOUS MAP_PRIVATE MAP_SHARED PROT_READ PROT_WRITE
    """,
    "multiprocessing.reduction": """
        DupFd
    """,
    "os": """
        MFD_CLOEXEC O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK RTLD_GLOBAL WEXITSTATUS
        WIFEXITED WNOHANG eventfd fork forkpty getegid geteuid getgid getloadavg getpgid
        getpgrp getpriority getuid killpg memfd_create mkfifo nice openpty pidfd_open pipe2
        posix_fadvise posix_fallocate posix_spawn pread pwrite register_at_fork
        sched_getaffinity sched_setaffinity sched_yield sendfile setpgid setpriority setsid
        statvfs sysconf uname wait3 wait4 waitid
    """,
    "select": """
        devpoll epoll kqueue poll
    """,
    "signal": """
        ITIMER_REAL SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP
        SIGTSTP SIGUSR1 SIGUSR2 SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm pause pthread_kill
        pthread_sigmask setitimer siginterrupt sigpending sigtimedwait sigwait sigwaitinfo
    """,
    "socket": """
        AF_UNIX CMSG_LEN CMSG_SPACE MSG_DONTWAIT MSG_NOSIGNAL SCM_RIGHTS SO_PEERCRED
        SO_REUSEPORT recv_fds send_fds
    """,
    "time": """
        CLOCK_MONOTONIC CLOCK_REALTIME clock_gettime clock_gettime_ns tzset
    """,
})  # fmt: skip
MACOS = names_of({
    "fcntl": """
        F_ADD_SEALS F_GETPIPE_SZ F_SETPIPE_SZ
    """,
    "os": """
        MFD_CLOEXEC O_DIRECT O_TMPFILE copy_file_range eventfd getrandom memfd_create
        pidfd_open pipe2 posix_fadvise posix_fallocate sched_getaffinity sched_setaffinity
        sched_setscheduler setns splice unshare
    """,
    "select": """
        epoll
    """,
    "signal": """
        SIGPWR SIGRTMAX SIGRTMIN sigtimedwait sigwaitinfo
    """,
    "socket": """
        MSG_NOSIGNAL SO_DOMAIN SO_PEERCRED SO_PROTOCOL
    """,
    "time": """
        CLOCK_BOOTTIME pthread_getcpuclockid
    """,
})  # fmt: skip
#: Names by which a condition asks for the system.
ASKED = {"platform", "name", "hasattr", "find_spec", "TYPE_CHECKING"}


def run_at_import(node: ast.AST, *, has_lazy_annotations: bool) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported, below a node."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        run: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
        if not isinstance(node, ast.Lambda):
            run += node.decorator_list
            if not has_lazy_annotations:
                run += [
                    node.returns,
                    *(one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg)),
                ]
        inner = [one for one in run if one is not None]
    elif isinstance(node, ast.AnnAssign) and has_lazy_annotations:
        inner = [one for one in (node.target, node.value) if one is not None]
    elif isinstance(node, ast.If) and ASKED & {
        getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(node.test)
    }:
        return
    elif isinstance(node, ast.Try) and node.handlers:
        inner = [*node.finalbody, *node.orelse]
    else:
        inner = list(ast.iter_child_nodes(node))
    for one in inner:
        yield one
        yield from run_at_import(one, has_lazy_annotations=has_lazy_annotations)


def missing(source: str, names: set[str]) -> list[str]:
    """Return which names the import of a module asks for."""
    tree = ast.parse(source)
    is_lazy = any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in tree.body)
    asked: list[str] = []
    for node in run_at_import(tree, has_lazy_annotations=is_lazy):
        if isinstance(node, ast.Import):
            asked += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            asked += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            asked.append(f"{node.value.id}.{node.attr}")
    return sorted(names.intersection(asked))


@pytest.mark.parametrize(("system", "names"), [("Windows", WINDOWS), ("macOS", MACOS)])
def test_no_module_needs_at_import_what_the_system_has_not(system: str, names: set[str]) -> None:
    found = {
        path.relative_to(ROOT).as_posix(): missing(path.read_text(encoding="utf-8"), names) for path in FILES
    }

    assert len(found) > 900
    assert {path: wanted for path, wanted in found.items() if wanted} == {}


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("import fcntl", ["fcntl"]),
        ("from os import fork", ["os.fork"]),
        ("import signal\nKILL = signal.SIGKILL", ["signal.SIGKILL"]),
        ("import signal\nclass A:\n    kill = signal.SIGKILL", ["signal.SIGKILL"]),
        ("import signal\ndef f(number=signal.SIGKILL): ...", ["signal.SIGKILL"]),
        ("import os\n@os.register_at_fork\ndef f(): ...", ["os.register_at_fork"]),
        ("import socket\ndef f(kind: socket.AF_UNIX): ...", ["socket.AF_UNIX"]),
        ("from __future__ import annotations\nimport socket\ndef f(kind: socket.AF_UNIX): ...", []),
        ("import os\nif hasattr(os, 'fork'):\n    f = os.fork", []),
        ("import sys\nif sys.platform != 'win32':\n    import fcntl", []),
        ("try:\n    import fcntl\nexcept ImportError:\n    fcntl = None", []),
        ("def f():\n    import fcntl", []),
    ],
)
def test_each_way_to_need_it_is_found_and_nothing_else(source: str, wanted: list[str]) -> None:
    assert missing(source, WINDOWS) == wanted
