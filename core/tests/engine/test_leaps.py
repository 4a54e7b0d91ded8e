"""Cycles of nodes with timestamp offsets: their bounds come at once to the end that they would come to."""

from __future__ import annotations

import random
import time

import pytest

from penstock.engine import leaps
from penstock.engine_form import engine_form
from penstock.timestamp import MAX
from penstock_testing import ScheduleHarness, calculator, node, wired

FAR = 10**15


def joins(offset=0):
    """Write the first input's payload at the timestamp of the set."""

    def process(cc):
        if not cc.inputs[0].is_empty():
            cc.output.add(cc.inputs[0].payload, int(cc.input_timestamp) + offset)

    return calculator(process, name="Join", offset=offset)


def starts(offset):
    """As `joins`, with a packet at 0 before all others."""

    def process(cc):
        if not cc.inputs[0].is_empty():
            cc.output.add(cc.inputs[0].payload, int(cc.input_timestamp) + offset)

    return calculator(process, open=lambda cc: cc.output.add("first", 0), name="Start", offset=offset)


def a_cycle(offset=1):
    return wired(
        node(joins(), "a back", "out", back_edges="back"), node(starts(offset), "out", "back"), inputs="a"
    )


@pytest.mark.skipif(engine_form().startswith("compiled"), reason="a compiled module calls its own functions")
def test_bounds_are_found_that_are_far_away(monkeypatch):
    found = []
    leap = leaps.leap
    monkeypatch.setattr(leaps, "leap", lambda *given: found.append(leap(*given)) or found[-1])
    harness = ScheduleHarness(a_cycle(3)).start()
    harness.run()
    harness.set_bound("a", FAR)
    harness.run()

    ids = [harness.stream(name).id for name in ("out", "back")]
    assert [found[0][number] for number in ids if number in found[0]] == [FAR, FAR + 3]
    assert len(found) <= 2


def test_a_run_ends_though_a_cycle_raises_its_own_bounds():
    harness = ScheduleHarness(a_cycle()).start()
    harness.add("a", "x", 1)
    began = time.process_time()
    harness.finish()

    assert harness.carried("out") == [(1, "x")]
    assert time.process_time() - began < 5


def test_the_next_packet_of_a_cycle_may_be_far_away():
    harness = ScheduleHarness(a_cycle(), observe=["out", "back"]).start()
    for number, at in enumerate((1, 7, FAR, FAR + 3)):
        harness.add("a", number, at)
        harness.run()

    assert harness.carried("out") == [(1, 0), (7, 1), (FAR, 2), (FAR + 3, 3)]
    assert harness.carried("back") == [(0, "first"), (2, 0), (8, 1), (FAR + 1, 2), (FAR + 4, 3)]
    harness.finish()


def test_a_bound_from_outside_ends_the_growth_exactly():
    harness = ScheduleHarness(a_cycle(3)).start()
    harness.set_bound("a", FAR)
    harness.run()

    assert (harness.stream("out").bound, harness.stream("back").bound) == (FAR, FAR + 3)


def test_a_second_input_inside_the_cycle_ends_it_too():
    plan = wired(
        node(joins(), "a back", "b", back_edges="back"),
        node(joins(), "b side", "c"),
        node(starts(5), "c", "back"),
        inputs="a side",
    )
    harness = ScheduleHarness(plan).start()
    harness.close_input("a")
    harness.add("side", "s", FAR)
    harness.run()

    # the packet at FAR is taken when the cycle has come past it; what follows waits for the bound of `side`
    assert harness.node("Join_2").steps == 1
    assert harness.stream("side").bound == FAR + 1
    assert harness.stream("c").bound == FAR + 1
    assert harness.stream("back").bound == FAR + 6
    harness.finish()


def test_without_anything_from_outside_the_bounds_come_to_the_last_timestamp():
    harness = ScheduleHarness(a_cycle(1000)).start()
    harness.close_input("a")
    harness.run()

    assert harness.is_over
    assert harness.stream("out").is_closed


def test_a_cycle_without_a_sum_does_not_raise_itself():
    plan = wired(node(joins(), "a back", "b", back_edges="back"), node(starts(0), "b", "back"), inputs="a")
    harness = ScheduleHarness(plan).start()
    harness.run()
    harness.set_bound("a", FAR)
    harness.run()

    assert harness.stream("b").bound == 1
    harness.finish()


def random_plan(order):
    """A chain with some joins, two ways back and offsets of all kinds."""
    nodes, streams = [], ["a", "b"]
    count = order.randint(2, 5)
    backs = {f"back{n}": order.randrange(count) for n in range(order.choice((1, 1, 2)))}
    for number in range(count):
        reads = order.sample(streams, order.choice((1, 2)))
        own = [back for back, at in backs.items() if at == number]
        nodes.append(node(joins(order.choice((0, 0, 1, 3))), [*reads, *own], f"s{number}", back_edges=own,
                          name=f"n{number}"))  # fmt: skip
        streams.append(f"s{number}")
    nodes += [
        node(starts(order.choice((1, 2, 7))), order.choice(streams[2:]), back, name=back) for back in backs
    ]
    return wired(*nodes, inputs="a b")


def bounds_of(plan, feed):
    harness = ScheduleHarness(plan).start()
    for stream, what, at in feed:
        if what == "add":
            harness.add(stream, at, at)
        else:
            harness.set_bound(stream, at)
        harness.run()
    return {stream.name: stream.bound for stream in harness.schedule.streams}, harness.seen


@pytest.mark.parametrize("seed", range(60))
def test_the_bounds_are_those_of_going_round_step_by_step(seed, monkeypatch):
    order = random.Random(seed)  # noqa: S311  # a test's order
    plan = random_plan(order)
    feed, last = [], {"a": 0, "b": 0}
    for _ in range(6):
        stream = order.choice("ab")
        last[stream] += order.randint(1, 40)
        feed.append((stream, order.choice(("add", "bound")), last[stream]))

    monkeypatch.setattr(leaps, "WINDOW", 10**9)
    slowly = bounds_of(plan, feed)
    monkeypatch.setattr(leaps, "WINDOW", order.choice((4, 8)))

    assert bounds_of(plan, feed) == slowly
    assert max(slowly[0].values()) < MAX


class Each(node(joins(), "a").handler):
    """Takes each packet alone."""

    def sync_sets(self):
        return [[position] for position in range(len(self.inputs))]


def test_only_idle_nodes_that_keep_all_inputs_in_step_pass_bounds_on():
    plan = wired(
        node(joins(), "a", "b", name="one"), node(joins(), "a b", "c", handler=Each, name="each"), inputs="a"
    )
    harness = ScheduleHarness(plan).start()
    harness.run()
    assert [leaps._passes_on(harness.node(name)) for name in ("one", "each")] == [True, False]

    harness.add("a", 1, 1)
    held = harness.call(harness.take())
    assert not leaps._passes_on(held.step.node)
    harness.complete(held)
    harness.finish()
    assert not leaps._passes_on(harness.node("one"))
