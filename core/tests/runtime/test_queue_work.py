"""What a thread asks before it sleeps."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, Packet
from penstock.engine.schedule import PAUSED, RUNNING, TERMINATED
from penstock.engine.stream import Observer
from penstock_testing import calculator, testing_registry

TIMEOUT = 20


@pytest.fixture
def runner(runner_of):
    """Return the runner of a graph whose node runs in waits only, so that what is ready stays so."""
    graph = CalculatorGraph(
        'input_stream: "a" node { calculator: "Nothing" input_stream: "a" }',
        registry=testing_registry(calculator(name="Nothing")),
    )
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    yield graph, runner_of(graph)
    graph.close(TIMEOUT)


def test_a_ready_step_keeps_it_awake_unless_the_run_stands_still(runner):
    graph, running = runner
    work, schedule = running.works[0], running.schedule
    assert not work.has_ready()

    graph.add_packet_to_input_stream("a", Packet(1, 1))

    assert work.has_ready()
    for state in (PAUSED, TERMINATED):
        schedule.state = state
        assert not work.has_ready()
    schedule.state = RUNNING
    graph.wait_until_idle(TIMEOUT)
    assert not work.has_ready()


def test_an_observer_that_has_something_to_see_keeps_it_awake_in_any_state(runner):
    _, running = runner
    work, schedule = running.works[0], running.schedule
    schedule.deliveries.append(Observer("a", None))

    for state in (PAUSED, TERMINATED, RUNNING):
        schedule.state = state
        assert work.has_ready()

    schedule.deliveries.clear()
    assert not work.has_ready()


def test_a_ready_source_keeps_it_awake(runner):
    _, running = runner
    work = running.works[0]

    work.queue.sources.append((0, 0, 0))

    assert work.has_ready()
    work.queue.sources.clear()
