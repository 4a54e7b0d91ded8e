from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import tempfile
import threading
from pathlib import Path

import pytest

# Before a test imports Ray: `uv run pytest` is no reason for workers to make environments of their own.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # these clusters are on this machine alone

# Workers and actors import the calculators by name, from where the driver finds them: a folder of their own,
# since beside it the folder `ray` would be taken for the library where that is not installed.
sys.path.insert(0, str(Path(__file__).parent / "helpers"))
from driving import PATIENCE_S, registry_of_tests


def descriptors():
    """Return how many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def registry():
    return registry_of_tests()


@pytest.fixture(scope="module")
def own_directory():
    """Keep apart what Ray writes: also the address of a cluster that others may use until a test kills it.

    The path is short, as Ray's sockets need it.
    """
    with (
        tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as path,
        pytest.MonkeyPatch.context() as patched,
    ):
        patched.setenv("RAY_TMPDIR", path)
        yield


@pytest.fixture(scope="module")
def cluster(own_directory):
    """Start a cluster on this machine that all tests share which do not start one of their own."""
    ray = pytest.importorskip("ray", reason='no Ray: pip install "penstock-remote[ray]"')
    ray.init(
        address="local", num_cpus=4, include_dashboard=False, configure_logging=False, log_to_driver=False
    )
    yield ray
    ray.shutdown()


@pytest.fixture
def nothing_left():
    """Check that a test leaves no process, thread or descriptor behind."""
    # What multiprocessing starts once and keeps: the server that forks, and the resource tracker.
    multiprocessing.get_context("forkserver").Process(target=int).start()
    for child in multiprocessing.active_children():
        child.join(PATIENCE_S)
    gc.collect()
    count, threads = held()
    yield
    gc.collect()
    assert not multiprocessing.active_children()
    count_after, threads_after = held()
    # What another test has left may end meanwhile; nothing may come.
    assert [one for one in threads_after if one not in threads] == []
    assert count_after <= count


def held():
    """Return how many descriptors this process has, and its threads; event loops of graphs do not count.

    A graph that another test has left as garbage may start or end its loop meanwhile. No worker has one here.
    """
    threads = threading.enumerate()
    others = [thread for thread in threads if thread.name != "penstock-loop"]
    # A loop has a selector, and a pair of sockets by which other threads wake it.
    return descriptors() - 3 * (len(threads) - len(others)), others
