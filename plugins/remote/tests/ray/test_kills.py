"""Actors that are killed at random moments: the right error or a restart in time, and no hang."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

pytest.importorskip("ray", reason='no Ray: pip install "penstock-remote[ray]"')

from driving import Fed

from penstock.errors import GraphRunError
from penstock_remote.errors import WorkerDiedError

PATIENCE_S = 60.0
#: How long an error or the next packet may take after a kill. Ray says that an actor died in 0.01 to 0.3 s;
#: a new actor is a new process, which imports the packs; other tests run meanwhile.
ERROR_S = 5.0
RESTART_S = 20.0

pytestmark = pytest.mark.timeout(600)


def death_in(error):
    while error is not None and not isinstance(error, WorkerDiedError):
        error = error.__cause__
    assert error is not None
    return error


def kill_and_fail(driven, kills):
    chance = random.Random(kills)  # noqa: S311  # a test's order
    one = driven(("PidOfAny", "max_in_flight: 2"))
    for _ in range(kills):
        one.got.clear()
        fed = Fed(one.graph, one.got)
        fed.wait_for(10, PATIENCE_S)
        time.sleep(chance.uniform(0.0, 0.05))
        victim = chance.choice(one.got[-10:])
        begin = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(GraphRunError) as caught:
            one.graph.wait_until_done(PATIENCE_S)
        spent = time.monotonic() - begin
        fed.end()

        death = death_in(caught.value)
        assert (death.node, death.pid) == ("PidOfAny", victim)
        assert f"(pid {victim} on " in str(death)
        assert spent < ERROR_S
        assert one.graph.ledger().adds_up, str(one.graph.ledger())


def kill_and_go_on(driven, failure, kills):
    chance = random.Random(kills)  # noqa: S311  # a test's order
    policy = f"failure {{ {failure} max_restarts: 1000 }}"
    one = driven(("PidOfAny", f"max_in_flight: 2 {policy}"))
    fed = Fed(one.graph, one.got)
    fed.wait_for(10, PATIENCE_S)
    for _ in range(kills):
        time.sleep(chance.uniform(0.0, 0.05))
        os.kill(one.got[-1], signal.SIGKILL)
        fed.wait_for(len(one.got) + 50, RESTART_S)
    fed.end()
    one.graph.wait_until_done(PATIENCE_S)

    ledger = one.graph.ledger()
    assert ledger.adds_up, str(ledger)
    failures = one.graph.failures()
    assert {failure.kind for failure in failures} == {"WorkerDiedError"}
    return fed.added - len(one.got), failures


def test_an_actor_that_is_killed_ends_the_run_with_its_name(driven) -> None:
    kill_and_fail(driven, 3)


@pytest.mark.slow
def test_fifty_kills_end_each_run_with_the_right_error(driven) -> None:
    kill_and_fail(driven, 50)


def test_a_killed_actor_costs_the_sets_that_it_had_or_none_where_they_are_tried_again(driven) -> None:
    lost, failures = kill_and_go_on(driven, "on_error: SKIP", 3)
    assert 0 < lost <= len(failures)

    lost, _ = kill_and_go_on(driven, "on_error: RESTART retry: 20", 3)
    assert lost == 0


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["on_error: SKIP", "on_error: RESTART retry: 20"])
def test_fifty_kills_cost_no_more_than_the_sets_that_were_under_way(driven, failure) -> None:
    lost, failures = kill_and_go_on(driven, failure, 50)

    assert lost == (0 if "retry" in failure else len(failures))
