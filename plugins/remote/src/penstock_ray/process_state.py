"""The process of an actor: whether it runs, is stopped or has ended, as the system of its host tells.

Ray learns of a death when a connection ends, which a process that the actor has forked may keep open, and it
never learns of a stop (SIGSTOP). These functions run on the actor's host, and need no Ray.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

#: Fields of `/proc/PID/stat` behind the name: the state, and when the process began.
_STATE: Final = 0
_BEGAN: Final = 19
_RAY_SOCKETS: Final = "/sockets/"


class State(Enum):
    """How a process is."""

    #: It runs, or waits.
    RUNS = 0
    #: A signal has stopped it.
    STOPPED = 1
    #: It has ended.
    ENDED = 2
    #: The system does not tell, or it is a system that does not see the process.
    UNKNOWN = 3


class Identity(NamedTuple):
    """Which process it is: a number alone may be that of another one later, or in another container."""

    #: Its number.
    pid: int
    #: When it began, as its system counts; "" where the system does not tell.
    began: str
    #: In which namespace the number holds.
    namespace: str


def own_identity() -> Identity:
    """Return which process this is."""
    fields = _fields("self")
    return Identity(os.getpid(), fields[_BEGAN] if fields else "", _namespace())


def state_of(process: Identity) -> State:
    """Return how a process is that is on this machine."""
    if not process.began or process.namespace != _namespace():
        return State.UNKNOWN
    fields = _fields(str(process.pid))
    if not fields or fields[_BEGAN] != process.began or fields[_STATE] == "Z":
        return State.ENDED
    return State.STOPPED if fields[_STATE] == "T" else State.RUNS


def end(process: Identity) -> State:
    """Kill a process that is on this machine, also one that is stopped; return how it was before."""
    state = state_of(process)
    if state in {State.RUNS, State.STOPPED}:
        with suppress(OSError):  # it has ended meanwhile
            os.kill(process.pid, signal.SIGKILL)
    return state


def leave_ray() -> None:
    """Close in a child of an actor's process what keeps Ray from seeing that the actor has died."""
    try:
        numbers = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    except OSError:  # not Linux
        return
    for number in numbers:
        with suppress(OSError):  # the folder's own descriptor is among them
            if _leads_to_ray(number):
                os.close(number)


def _leads_to_ray(number: int) -> bool:
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        return False
    one = socket.socket(fileno=number)
    try:
        return one.family == socket.AF_UNIX and _RAY_SOCKETS in str(one.getpeername())
    finally:
        one.detach()


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _fields(name: str) -> list[str]:
    """Return the fields of a process behind its name, which may hold blanks; none where there is none."""
    try:
        return Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
