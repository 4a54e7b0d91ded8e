"""Every way in which a call can end its worker, or fail in a way that is hard to tell, under each policy.

Whatever happens: the run ends in time or goes on, the error says what happened, every packet is accounted
for, and nothing is left behind. `scripts/trials/kill_workers.py` does the same many thousand times.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import deaths
import pytest

from penstock.packs import default_registry

pytestmark = pytest.mark.heavy


@pytest.fixture
def registry():
    found = default_registry().child()
    found.add("calculator", "Dies", deaths.Dies)
    return found


@pytest.fixture
def no_helper_left():
    """End the helpers that a dead calculator had started: they are no processes of the graph."""
    yield
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            is_helper = f"time.sleep({deaths.HELPER_S})".encode() in (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if is_helper:
            os.kill(int(entry.name), signal.SIGKILL)


def check(registry, kind, policy, in_flight):
    told = deaths.run(deaths.graph_text(policy, in_flight), registry, kind)
    assert not deaths.fault_of(kind, policy, in_flight, told), (kind, policy, in_flight, told)


#: One signal of each sort stands for the others here.
ODD = [kind for kind in deaths.KINDS if not kind.startswith("signal ") or kind in {"signal 9", "signal 40"}]


@pytest.mark.parametrize("kind", ODD)
def test_a_death_is_told(registry, kind, no_helper_left):
    check(registry, kind, "fail", 1)


@pytest.mark.parametrize(("policy", "in_flight"), [("skip", 1), ("restart", 3), ("again", 1)])
@pytest.mark.parametrize("kind", ODD)
def test_a_death_is_handled_as_the_policy_says(registry, kind, policy, in_flight, no_helper_left):
    check(registry, kind, policy, in_flight)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", sorted(set(deaths.KINDS) - set(ODD)))
def test_a_death_by_any_other_signal_is_told_and_handled(registry, kind):
    check(registry, kind, "fail", 1)
    check(registry, kind, "restart", 3)
