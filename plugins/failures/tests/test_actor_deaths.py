"""Every way in which a call can end its actor on a Ray cluster, or fail in a way that is hard to tell.

Whatever happens: the run ends in time or goes on as the failure policy says, the error says what is known,
and every packet is accounted for.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import deaths
import pytest
from test_waits import wait_until

from penstock.packs import default_registry

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]

#: A new actor is a new process, which imports the packs; Ray may kill a stopped one after seconds.
PATIENCE_S = 90.0
#: Deaths that take ways of their own through the executor, for the short form: kind, policy, `max_in_flight`.
FEW = [
    ("fork and die", "fail", 1),
    ("fork and come back", "skip", 1),
    ("stopped", "restart", 1),
    ("payload that leaves", "skip", 1),
    ("signal 15", "again", 1),
]


@pytest.fixture(scope="module")
def cluster():
    """Start a cluster on this machine; what Ray writes goes to a folder of its own, with a short path."""
    with (
        tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as path,
        pytest.MonkeyPatch.context() as patched,
    ):
        patched.setenv("RAY_TMPDIR", path)
        patched.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        patched.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patched.setenv("RAY_AUTH_MODE", "disabled")
        ray = pytest.importorskip("ray", reason='no Ray: pip install "penstock-remote[ray]"')
        ray.init(
            address="local", num_cpus=4, include_dashboard=False, configure_logging=False, log_to_driver=False
        )
        yield ray
        ray.shutdown()


@pytest.fixture
def registry(cluster):
    found = default_registry().child()
    found.add("calculator", "Dies", deaths.Dies)
    return found


def actors():
    """Return the ids of the processes that are actors of Penstock."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes().startswith(b"ray::NodeHost"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def check(registry, kind, policy, in_flight):
    before = set(actors())
    text = deaths.graph_text(policy, in_flight, "RayExecutor")
    told = deaths.run(text, registry, kind, PATIENCE_S)
    fault = deaths.fault_of(kind, policy, in_flight, told, "RayExecutor")
    assert not fault, (fault, kind, policy, in_flight, told)
    # A child that the calculator has forked has the same name, and outlives the actor.
    if not kind.startswith("fork"):
        wait_until(lambda: not set(actors()) - before, "the end of the actor's process")


@pytest.mark.parametrize(("kind", "policy", "in_flight"), FEW)
def test_the_death_of_an_actor_is_handled_as_the_policy_says(registry, kind, policy, in_flight):
    check(registry, kind, policy, in_flight)


def test_an_actor_on_another_host_is_asked_for_by_a_task_there(registry, monkeypatch):
    from penstock_ray import watch

    asked = []
    monkeypatch.setattr(watch.Watch, "is_here", lambda _: asked.append(1))
    began = time.monotonic()

    check(registry, "stopped", "fail", 1)

    assert len(asked) >= 2
    assert time.monotonic() - began < PATIENCE_S


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_death_of_an_actor_under_every_policy(registry):
    wrong, done = [], 0
    for kind in deaths.KINDS:
        for policy in deaths.POLICIES:
            for in_flight in (1, 3):
                # One signal is as another: each under one policy.
                if kind.startswith("signal ") and (policy, in_flight) != ("skip", 1):
                    continue
                done += 1
                try:
                    check(registry, kind, policy, in_flight)
                except Exception as error:  # noqa: BLE001  # told at the end, with all others
                    wrong.append(f"{kind}, {policy}, {in_flight}: {error}")
    assert not wrong, "\n".join([f"{len(wrong)} of {done}", *wrong])
    assert done > 200
    assert os.environ.get("RAY_TMPDIR"), "the cluster of the fixture"
