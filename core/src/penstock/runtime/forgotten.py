"""Ends forgotten runs: runs of graphs that were dropped, and runs under way when the interpreter ends.

In a forked child the runs of its parent have no threads: they are over there, and nothing is closed.
Otherwise they are cancelled, their calculators are closed, and their threads end, so that no script hangs.
Then the services that their graphs had made are closed.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Final

from penstock.late_log import LateLogger
from penstock.runtime.made_services import OPEN
from penstock.runtime.threads import has_started

if TYPE_CHECKING:
    from penstock.runtime.made_services import MadeServices
    from penstock.runtime.runner.runner import Runner

_logger = LateLogger("runtime")

#: How long the threads of an ended run may take to end, and a forgotten run at interpreter exit.
STOP_TIMEOUT_S: Final = 30.0
_EXIT_TIMEOUT_S: Final = 5.0

#: Runs whose end has not been waited for yet; ended at interpreter exit, so that no script hangs.
RUNNING: Final[weakref.WeakSet[Runner]] = weakref.WeakSet()


def abandon(runner: Runner | None, services: MadeServices) -> None:
    """Clean up after a graph that was dropped: cancel its run, end its threads, close its services.

    On a thread of its own: garbage is collected at any point, also in the locked sections of that run.

    Args:
        runner: the run that was under way; None if there was none.
        services: the services that the graph had made.
    """
    if runner is not None or services:
        target = _end_forgotten
        ending = threading.Thread(target=target, args=(runner, services), name="penstock-cancel", daemon=True)
        if not has_started(ending):
            _logger.warning("a graph was dropped, and no thread can be started that ends it")


def _end_forgotten(runner: Runner | None, services: MadeServices) -> None:
    if runner is not None:
        try:
            runner.change(lambda schedule: schedule.cancel())
            _await_end(runner, STOP_TIMEOUT_S, "the end of a forgotten run")
        except Exception as error:  # noqa: BLE001  # no caller could handle it
            _logger.warning("a forgotten run did not end: %s", error)
    _close_forgotten(services)


def _await_end(runner: Runner, timeout_s: float, what: str) -> None:
    runner.clock = time.monotonic  # a clock that a test moves by hand stands still now
    runner.wait(lambda: runner.is_over, timeout_s, what)
    runner.stop(timeout_s)


def _close_forgotten(services: MadeServices) -> None:
    try:
        services.close()
    except Exception as error:  # noqa: BLE001  # no caller could handle it
        _logger.warning("of a forgotten graph: %s", error)


def _forget_after_fork() -> None:
    """Let the runs and services of the parent be the parent's; called in a forked child."""
    parent = os.getppid()
    for runner in list(RUNNING):
        runner.forget_after_fork(parent)
    RUNNING.clear()
    OPEN.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


@functools.cache
def end_runs_before_pools() -> None:
    """Arrange, once, that at exit runs end before the interpreter waits for the threads of pools.

    The interpreter joins these threads before it calls the functions registered with `atexit`.
    `concurrent.futures` uses the same other registry as this function; its last entry is called first.
    """
    register = getattr(threading, "_register_atexit", None)
    if register is not None:
        register(_end_running)


@atexit.register
def _end_running() -> None:
    for runner in list(RUNNING):
        runner.change(lambda schedule: schedule.cancel())
    for runner in list(RUNNING):
        try:
            _await_end(runner, _EXIT_TIMEOUT_S, "interpreter exit")
        except Exception as error:  # noqa: BLE001  # the others must end too; threads of runs are daemons
            _logger.debug("a run did not end before the interpreter: %s", error)
    for services in list(OPEN):
        _close_forgotten(services)
