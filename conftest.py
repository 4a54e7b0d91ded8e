"""How the tests of the whole workspace are spread over processes.

`pytest` alone runs all tests but the heavy ones, which take much of a small machine: where pytest-xdist is
installed, in one process more than there are cores, at most four. As soon as something else is asked for (a
directory, `-k`, `-m`, `--pdb`, `-n`, ...) heavy tests run too, and there is one process, in which a debugger,
`print` and the order of tests behave as usual; `-n` then says otherwise.
A file is never split: its tests share what its fixtures have made, and the code blocks of a page of the
documentation build on each other.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_PROCESSES: Final = 4
#: How much longer than its time limit a test may take to clean up, in seconds. Then its process ends.
_CLEANUP_S: Final = 120.0
#: Where such a process says what its threads did: standard error as it was before pytest took it over.
_ERRORS: Final = pytest.StashKey[IO[str]]()
#: How arguments begin that select nothing and need no process of their own.
_HARMLESS: Final = ("-q", "-v", "-x", "--durations", "--tb=", "--color=")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Choose the processes before pytest-xdist reads its options."""
    # A shell lets its background jobs ignore Ctrl-C, and their children too: the tests of Ctrl-C would hang.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    option = config.option
    if hasattr(config, "workerinput"):
        return
    is_plain = all(argument.startswith(_HARMLESS) for argument in config.invocation_params.args)
    if is_plain:
        option.markexpr = f"not heavy and {option.markexpr}"
    if not config.pluginmanager.hasplugin("xdist"):
        return
    if option.numprocesses is None and is_plain:
        # Tests wait: for processes that start, for brokers, for time-outs.
        option.numprocesses = min((os.cpu_count() or 1) + 1, _MOST_PROCESSES)
    if option.numprocesses and option.dist == "no":
        option.dist = "loadfile"
        if option.maxworkerrestart is None:
            option.maxworkerrestart = "0"  # a new process would crash at the same test, and pytest would hang


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what the short form leaves out."""
    if not config.option.markexpr.startswith("not heavy and "):
        return None
    return "left out: tests that take much of a small machine; run them with: pytest -m heavy"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give code blocks of pages no second try: they cannot run twice (sybil), and build on each other."""
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            if not isinstance(item, pytest.Function):
                item.add_marker(pytest.mark.flaky(reruns=0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show how tests failed that passed when they were tried again (`--reruns`)."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.write_sep("_", f"first try of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """End the process of a test that its own time limit does not end.

    pytest-timeout raises an exception in the test's thread, once: a test that then waits without end to clean
    up, or that is in a call of C that no signal interrupts, would keep the whole run.
    """
    marker = item.get_closest_marker("timeout")
    limit = item.config.getoption("timeout", None)  # what --timeout says; 0 switches time limits off
    if limit is None:
        limit = marker.args[0] if marker and marker.args else item.config.getini("timeout")
    if not float(limit or 0) or item.config.getoption("usepdb"):
        return (yield)
    faulthandler.dump_traceback_later(float(limit) + _CLEANUP_S, file=item.config.stash[_ERRORS], exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[Any]:
    """Refuse a test that leaves its thread with the priority of a real-time thread.

    A library may take it where the user is root. What later tests start then has it too, and a program that
    does not end its work keeps the machine: nothing else runs, and no time limit comes.
    """
    done = yield
    if sys.platform == "linux" and os.sched_getscheduler(0) in {os.SCHED_FIFO, os.SCHED_RR}:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        pytest.fail(f"{item.nodeid}: this thread is a real-time thread now")
    return done


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector no longer look at what was imported to find the tests: millions of objects.

    Many tests collect garbage to see that nothing is left; each took half a second longer.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a process of pytest-xdist the choice of this one: it reads `-m` from pyproject.toml again."""
    node.workerinput["markexpr"] = node.config.option.markexpr


def pytest_configure(config: pytest.Config) -> None:
    """Take over the choice of tests, and choose how Hypothesis works.

    Its examples are the same each time, so that a change is judged by itself; `--hypothesis-seed=7` draws
    others, as `scripts/prove.py` does. No test fails because other work makes Hypothesis slow, and none
    spends minutes on explaining an example that it has found.
    """
    config.stash[_ERRORS] = os.fdopen(os.dup(2), "w")
    config.add_cleanup(config.stash[_ERRORS].close)
    config.option.markexpr = getattr(config, "workerinput", {}).get("markexpr", config.option.markexpr)
    if find_spec("hypothesis") is None:
        return
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(
        "busy",
        deadline=None,
        derandomize=config.getoption("--hypothesis-seed", None) is None,
        phases=[phase for phase in Phase if phase != Phase.explain],
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("busy")
