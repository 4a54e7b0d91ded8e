"""What tests with GL share: they are skipped with the reason where there is none, or fail where CI wants it.

A test says `pytest.mark.gpu`, or uses one of the fixtures below. With PENSTOCK_REQUIRE_GL=1 a machine
without GL fails. PENSTOCK_GPU_DEVICE chooses the device, as for applications.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import sysconfig
import textwrap
from typing import TYPE_CHECKING

import pytest

from penstock_gpu.contexts import ending
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.errors import GpuUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REQUIRE = "PENSTOCK_REQUIRE_GL"
PATIENCE_S = 20
#: Whether this Python is made to run without the interpreter's lock.
IS_FREE_BUILD = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
#: How many objects in a row hold each other, at most, where each may be one that another thread made.
_LINKS = 6


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs a GL context; skipped where there is none")


@pytest.fixture(scope="session")
def why_no_gl() -> str:
    """Return why no context can be had here, or ""."""
    try:
        made = GlContext.create(name="can there be one")
    except GpuUnavailableError as error:
        return str(error)
    assert made.close(), "the first context did not end"
    return ""


@pytest.fixture
def gl_available(why_no_gl: str) -> None:
    """Skip where there is no GL; fail where the environment says that there must be."""
    if not why_no_gl:
        return
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{REQUIRE}=1, but {why_no_gl}")
    pytest.skip(f"no GL: {why_no_gl}")


@pytest.fixture(autouse=True)
def _gl_where_marked(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("gpu"):
        request.getfixturevalue("gl_available")


@pytest.fixture(scope="session", autouse=True)
def _collections_are_short() -> Iterator[None]:
    """Exclude the objects of earlier tests from garbage collections, each of which took 0.3 s."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _begins_without_leftovers(_collections_are_short: None) -> None:
    """End what other tests left: a context lives as long as an image of it, which may be garbage."""
    if not ending._threads:
        return
    gc.collect()
    alive = {context.thread for context in list(ending._contexts) if not context.is_closed}
    for thread in set(ending._threads) - alive:
        assert thread.join(PATIENCE_S), f"{thread.name!r} of an earlier test did not end"


@pytest.fixture
def make_context(gl_available: None) -> Iterator[Callable[..., GlContext]]:
    """Return `GlContext.create`; what it makes is closed after the test."""
    made: list[GlContext] = []

    def make(*arguments, **options) -> GlContext:
        made.append(GlContext.create(*arguments, **options))
        return made[-1]

    yield make
    for context in reversed(made):
        assert context.close(), f"{context!r} did not end"
    made.clear()
    gc.collect()


@pytest.fixture
def context(make_context: Callable[..., GlContext]) -> GlContext:
    """Return a context with a thread."""
    return make_context(name="main")


@pytest.fixture
def freed() -> Callable[..., None]:
    """Return a function that lets contexts free what another thread has dropped last.

    Without the interpreter's lock the thread that made an object frees it, when it runs Python code the next
    time; and what the object held, a time later, if it is of another thread. With the lock nothing waits.
    """

    def freed(*contexts: GlContext) -> None:
        for context in contexts * (_LINKS * IS_FREE_BUILD):
            context.run(lambda: None)

    return freed


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs a script in a new Python; options are its environment, None removes one."""

    def run(script: str, timeout: float = 60, **environment: str | None) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, **environment}
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
            env={name: value for name, value in variables.items() if value is not None},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
