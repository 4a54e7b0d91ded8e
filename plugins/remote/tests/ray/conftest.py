from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock.lowlevel import default_registry

# Before a test imports Ray: `uv run pytest` is no reason for workers to make environments of their own.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # these clusters are on this machine alone

# Actors import the calculators by name, from where the driver finds them.
sys.path.insert(0, str(Path(__file__).parent))
import there
from driven import PATIENCE_S, Driven, text_of


@pytest.fixture(scope="module", autouse=True)
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
def cluster():
    """Start a cluster on this machine that all tests share which do not start one of their own."""
    import ray

    ray.init(
        address="local", num_cpus=4, include_dashboard=False, configure_logging=False, log_to_driver=False
    )
    yield ray
    ray.shutdown()


@pytest.fixture
def registry():
    found = default_registry().child()
    for one in there.ALL:
        found.add("calculator", one.__name__, one)
    found.add("calculator", "Doubled", there.doubled)
    return found


@pytest.fixture
def driven(registry, cluster):
    """Make a `Driven` of a chain of calculators on the cluster; it is closed with the test."""
    made = []

    def make(*nodes, options="cancel_grace_s: 0.2"):
        whole = [(one, "") if isinstance(one, str) else one for one in nodes]
        made.append(Driven(penstock.CalculatorGraph(text_of(whole, options), registry=registry)))
        return made[-1]

    yield make
    for one in made:
        if one.graph.is_running:
            one.graph.cancel()
        with contextlib.suppress(GraphRunError):
            one.graph.close(PATIENCE_S)
