"""The remote ends hold in simulated worlds, and defects that are put in are found."""

from __future__ import annotations

import logging
import re
import shlex
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts" / "proof" / "ends"
sys.path.insert(0, str(SCRIPTS))
try:
    import remote_ends
    import remote_graphs
    import simulated_world
finally:
    sys.path.remove(str(SCRIPTS))

REGISTRY = remote_graphs.registry()
Which = simulated_world.Which


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))  # a trial imports the module of its end
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("end", remote_ends.ENDS)
def test_the_first_worlds_of_each_end_are_as_they_must_be(end):
    pytest.importorskip({"kafka": "confluent_kafka", "video": "av"}.get(end, "numpy"))

    assert [fault for seed in range(6) for fault in remote_ends.trial(end, Which(seed), REGISTRY)[0]] == []


@pytest.mark.parametrize("end", ["workers", "ray"])
def test_the_same_seed_gives_the_same_world(end):
    for seed in range(3):
        _, first = remote_ends.trial(end, Which(seed), REGISTRY)
        _, second = remote_ends.trial(end, Which(seed), REGISTRY)

        assert first.told == second.told
        assert first.trail == second.trail


def _answer_the_oldest(patched):
    from penstock_processes.link import Link

    taken = Link._take

    def take(self, kind, number, body):
        taken(self, kind, min(self._pending, default=number) if number else number, body)

    patched.setattr(Link, "_take", take)


def _forget_the_dead(patched):
    from penstock_ray.link import ActorLink

    patched.setattr(ActorLink, "_fail", lambda *_: None)


def _commit_at_once(patched):
    from penstock_bridges import Sweep

    patched.setattr(Sweep, "is_over", lambda _: True)


def _never_wait_longer(patched):
    from penstock_video.live.live_reader import Again

    patched.setattr(Again, "delay", lambda self, _: self.first_delay_s)


@pytest.mark.parametrize(
    ("end", "defect", "said"),
    [
        ("workers", _answer_the_oldest, "packets were fed"),
        ("ray", _forget_the_dead, "no end after"),
        ("kafka", _commit_at_once, "has not delivered"),
        ("video", _never_wait_longer, "pause"),
    ],
)
def test_a_defect_is_found(monkeypatch, end, defect, said):
    pytest.importorskip({"kafka": "confluent_kafka", "video": "av"}.get(end, "numpy"))
    defect(monkeypatch)
    faults = (fault for seed in range(60) for fault in remote_ends.trial(end, Which(seed), REGISTRY)[0])

    assert any(said in fault for fault in faults)


def test_a_finding_is_printed_with_the_fewest_packets_and_turns_that_show_it(monkeypatch, capsys):
    _answer_the_oldest(monkeypatch)
    assert remote_ends.main(["--only", "workers", "--count", "1", "--seed", "9"]) == 1
    told = capsys.readouterr().err
    few = re.search(r"with (\d+) of (\d+) turns of others: .* (--one .*)", told)
    assert int(few[1]) < int(few[2]) // 2
    assert "--most-packets" in few[3]

    assert remote_ends.main(shlex.split(few[3])) == 1  # the same fault, in the smaller world
    assert capsys.readouterr().out.splitlines()[-1] in told


def test_turns_that_are_none_are_refused(capsys):
    assert remote_ends.main(["--one", "workers 1", "--turns", "abc"]) == 2
    assert remote_ends.main(["--one", "workers 1", "--turns", "7"]) == 2
    assert "--turns takes places and choices" in capsys.readouterr().out


def test_time_passes_only_where_all_wait():
    world = simulated_world.World(Which(1))
    machine = simulated_world.SimulatedMachine(world)
    queue, came = machine.queue(), []

    def serve():
        world.sleep(600)
        queue.put(world.now)

    machine.thread(serve, "server").start()
    came.append(queue.get(timeout=700))

    assert came == [600]
    world.end()


def test_a_world_that_stands_still_is_seen_at_once():
    world = simulated_world.World(Which(1))
    lock = simulated_world.SimulatedMachine(world).lock()
    lock.acquire()

    with pytest.raises(simulated_world.StandsStillError, match="nothing will ever happen again"):
        lock.acquire()
    world.end()


def test_the_script_counts_its_worlds(capsys):
    assert remote_ends.main(["--count", "2", "--only", "workers", "--seed", "3"]) == 0
    assert capsys.readouterr().out == "remote ends: 2 runs of 1 ends, 0 findings\n"


def test_one_world_is_shown_with_what_happens_in_it(capsys):
    assert remote_ends.main(["--one", "workers 3"]) == 0

    told = capsys.readouterr().out
    assert "policy=" in told
    assert told.endswith("as it must be\n")
    assert remote_ends.main(["--one", "workers"]) == 2
