"""The operating system's sandbox around a worker, made by bubblewrap: for code that is not trusted.

A process that is to become a worker replaces itself with bubblewrap, which starts a new Python in new
namespaces: no network, no processes but its own, and of the file system only the files that Python needs,
read-only, and the paths that the executor's options name. The sockets to the driver and the shared memory are
open files, which stay open. Bubblewrap stays outside as the worker's parent: it ends with it, and it ends the
worker when it is killed.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import sysconfig
from multiprocessing import spawn
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_processes.worker_setup import Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock_processes.options import ProcessExecutorOptions
    from penstock_processes.worker_setup import WorkerSetup

_PROGRAM: Final = "bwrap"
#: What the loader and the C library read, beside Python's own folders.
_SYSTEM: Final = (
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
)
#: The variables of the environment that a worker keeps; others may hold secrets.
_KEPT: Final = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TZ", "VIRTUAL_ENV")
#: As a shell tells that a signal ended a program, which is how bubblewrap tells it.
SIGNALLED: Final = 128


def wanted_sandbox(options: ProcessExecutorOptions, name: str) -> Sandbox:
    """Return the sandbox that the options ask for, for the process of a name."""
    preparation = spawn.get_preparation_data(name)
    for name_inside in ("dir", "authkey"):  # a folder that may not be there inside, and a secret
        preparation.pop(name_inside, None)
    return Sandbox(options.sandbox_reads, options.sandbox_writes, options.sandbox_network, preparation)


def check_sandbox(options: ProcessExecutorOptions) -> None:
    """Refuse a sandbox that cannot be made.

    Raises:
        UnavailableError: bubblewrap is not installed.
        InvalidArgumentError: a path of the options is not there, or is the root of all files.
    """
    if shutil.which(_PROGRAM) is None:
        raise UnavailableError(
            "the executor's sandbox is BUBBLEWRAP, but there is no program 'bwrap' on the PATH; install it "
            "(on Debian: apt install bubblewrap)"
        )
    for name in ("sandbox_reads", "sandbox_writes"):
        for path in getattr(options, name):
            if not Path(path).exists():
                raise InvalidArgumentError(f"the sandbox option {name} has {path!r}, which does not exist")
            if Path(path).samefile("/"):
                raise InvalidArgumentError(
                    f"the executor's sandbox would hold the whole file system, since {name} has {path!r}; "
                    "name the folders that the worker needs"
                )


def enter(setup: WorkerSetup, sandbox: Sandbox) -> NoReturn:
    """Become the worker inside of a sandbox. This process has one thread.

    Raises:
        OSError: bubblewrap cannot be executed.
    """
    arenas = {number: descriptor.number for number, descriptor in setup.arenas.items()}
    numbers = (setup.calls.fileno(), setup.control.fileno(), arenas)
    inside = os.memfd_create("penstock-setup", 0)
    plain = setup._replace(calls=None, control=None, arenas={}, sandbox=None, driver=None)  # type: ignore[arg-type]
    with os.fdopen(os.dup(inside), "wb") as file:
        file.write(pickle.dumps((numbers, plain, sandbox.preparation)))
    os.lseek(inside, 0, os.SEEK_SET)
    for number in (inside, *numbers[:2], *arenas.values()):
        os.set_inheritable(number, True)  # noqa: FBT003  # the call's signature
    begin = f"import sys; sys.path[:] = {sys.path!r}; from penstock_processes.worker import work_inside"
    code = f"{begin}; work_inside({inside})"
    command = [_PROGRAM, *_arguments(sandbox), "--", sys.executable, "-c", code]
    os.execvp(_PROGRAM, command)  # noqa: S606  # a program of the system, without a shell


def _arguments(sandbox: Sandbox) -> Iterator[str]:
    """Yield the arguments of bubblewrap; later ones come over earlier ones."""
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")
    if sandbox.network:
        yield "--share-net"
    for name in _KEPT:
        if name in os.environ:
            yield from ("--setenv", name, os.environ[name])
    yield from ("--setenv", "HOME", "/tmp")  # noqa: S108  # an empty one of the sandbox
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108
    for path in _outermost((*_SYSTEM, *_python_folders(), *map(os.path.abspath, sandbox.reads))):
        yield from ("--ro-bind-try", path, path)
    for path in map(os.path.abspath, sandbox.writes):
        yield from ("--bind", path, path)
    yield from ("--remount-ro", "/")


def _python_folders() -> Iterator[str]:
    """Yield the folders from which Python imports, and its program."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, sys.executable)
    yield from sysconfig.get_paths().values()
    yield from sys.path
    for path in (sys.executable, *sys.path):  # behind links
        yield str(Path(path).resolve())


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the absolute paths among some, without paths inside of another one."""
    kept: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths if path.startswith("/")}, key=len):
        if path != "/" and not any(path.startswith(f"{outer}/") for outer in kept):
            kept.append(path)
    return kept
