from __future__ import annotations

import gc
import multiprocessing
import threading
from pathlib import Path

import pytest
from driving import chains

PATIENCE_S = 30.0


def descriptors():
    """Return how many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def driven(registry):
    """Make a `Driven` of a chain of calculators on workers; it is closed with the test."""
    with chains(registry, "ProcessExecutor", "num_processes: 2 cancel_grace_s: 0.2") as make:
        yield make


@pytest.fixture
def nothing_left():
    """Check that a test leaves no process, thread or descriptor behind."""
    # What multiprocessing starts once and keeps: the server that forks, and the resource tracker.
    multiprocessing.get_context("forkserver").Process(target=int).start()
    for child in multiprocessing.active_children():
        child.join(PATIENCE_S)
    gc.collect()
    before = (descriptors(), threading.enumerate())
    yield
    gc.collect()
    assert not multiprocessing.active_children()
    assert (descriptors(), threading.enumerate()) == before
