"""Random graphs under random orders against a sequential model of what the default policy means."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.engine.outcome import STOP
from penstock_testing import ScheduleHarness, calculator, node, wired

if TYPE_CHECKING:
    from penstock.plan import Plan

#: What a node makes of one input set: a timestamp and a payload, or None. Not-there is None.
KINDS = {
    "pass": lambda t, payloads: (t, payloads[0]) if payloads[0] is not None else None,
    "merge": lambda t, payloads: (t, tuple(payloads)) if any(p is not None for p in payloads) else None,
    "filter": lambda t, payloads: (t, payloads[0]) if payloads[0] is not None and t % 3 == 0 else None,
    "delay": lambda t, payloads: (t + 1, payloads[0]) if payloads[0] is not None else None,
}


@attrs.frozen
class Box:
    """A node of a random graph: its kind, which streams it reads, and how it is declared."""

    kind: str
    reads: tuple[int, ...]
    offset: int | None
    process_bounds: bool
    max_in_flight: int


@attrs.frozen
class Drawing:
    """A random graph: what its roots carry, which of them are source nodes, and its boxes."""

    roots: tuple[tuple[int, ...], ...]
    sources: tuple[bool, ...]
    boxes: tuple[Box, ...]
    max_queue_size: int


def model(drawing: Drawing) -> dict[str, list[tuple[int, Any]]]:
    """Return what each stream carries, node by node, with all of its inputs at hand."""
    streams: list[dict[int, Any]] = [
        {t: f"{i}@{t}" for t in stamps} for i, stamps in enumerate(drawing.roots)
    ]
    for box in drawing.boxes:
        reads = [streams[i] for i in box.reads]
        results = [KINDS[box.kind](t, [r.get(t) for r in reads]) for t in sorted(set().union(*reads))]
        streams.append(dict(result for result in results if result is not None))
    return {f"s{i}": list(stream.items()) for i, stream in enumerate(streams)}


def worker(box: Box):
    def process(cc):
        payloads = [None if port.is_empty() else port.payload for port in cc.inputs]
        result = KINDS[box.kind](int(cc.input_timestamp), payloads)
        if result is not None:
            cc.output.add(result[1], result[0])

    return calculator(process, name=box.kind.title(), offset=box.offset, process_bounds=box.process_bounds)


def source(number: int, stamps: tuple[int, ...]):
    def process(cc):
        at = next((t for t in stamps if t >= cc.output.bound), None)
        if at is None:
            return STOP
        cc.output.add(f"{number}@{at}", at)
        return None

    return calculator(process, name="Source")


def plan_of(drawing: Drawing) -> Plan:
    count = len(drawing.roots)
    roots = [
        node(source(i, stamps), (), f"s{i}", layer=i % 2)
        for i, stamps in enumerate(drawing.roots)
        if drawing.sources[i]
    ]
    boxes = [
        node(
            worker(box),
            " ".join(f"s{i}" for i in box.reads),
            f"s{count + n}",
            max_in_flight=box.max_in_flight,
        )
        for n, box in enumerate(drawing.boxes)
    ]
    inputs = [f"s{i}" for i in range(count) if not drawing.sources[i]]
    return wired(*roots, *boxes, inputs=inputs, max_queue_size=drawing.max_queue_size)


def drive(harness: ScheduleHarness, drawing: Drawing, order: random.Random) -> None:
    """Feed the graph inputs in any order, as far as they are not throttled, and run to the end."""
    harness.start()
    left = {f"s{i}": list(t) for i, t in enumerate(drawing.roots) if not drawing.sources[i] and t}
    while left:
        stream = order.choice(sorted(left))
        while harness.is_throttled(stream):
            assert harness.step(), f"deadlock: nothing can be done while {stream} is throttled"
        stamp = left[stream].pop(0)
        harness.add(stream, f"{stream[1:]}@{stamp}", stamp)
        for _ in range(order.randrange(4)):
            harness.step()
        if not left[stream]:
            del left[stream]
            if order.randrange(2):
                harness.close_input(stream)
    harness.finish()


@st.composite
def drawings(draw) -> Drawing:
    stamps = st.lists(st.integers(0, 12), max_size=7, unique=True).map(lambda t: tuple(sorted(t)))
    roots = draw(st.lists(stamps, min_size=1, max_size=3))
    boxes: list[Box] = []
    for n in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(sorted(KINDS)))
        upstream = st.integers(0, len(roots) + n - 1)
        reads = draw(
            st.lists(upstream, min_size=2 if kind == "merge" else 1, max_size=3 if kind == "merge" else 1)
        )
        boxes.append(
            Box(
                kind,
                tuple(reads),
                draw(st.sampled_from([None, 0, -2, 1 if kind == "delay" else None])),
                draw(st.booleans()),
                draw(st.sampled_from([1, 1, 2, 3])),
            )
        )
    sources = tuple(draw(st.lists(st.booleans(), min_size=len(roots), max_size=len(roots))))
    return Drawing(tuple(roots), sources, tuple(boxes), draw(st.sampled_from([1, 1, 2, 3, -1])))


@st.composite
def chains(draw) -> Drawing:
    """A few chains of nodes with one input, whose steps the engine may run into one another."""
    stamps = st.lists(st.integers(0, 12), max_size=7, unique=True).map(lambda t: tuple(sorted(t)))
    roots = draw(st.lists(stamps, min_size=1, max_size=2))
    boxes: list[Box] = []
    for n in range(draw(st.integers(2, 8))):
        kind = draw(st.sampled_from(["pass", "pass", "filter", "delay"]))
        offset = draw(st.sampled_from([None, 0, 0, -2, 1 if kind == "delay" else None]))
        boxes.append(
            Box(
                kind,
                (n if n < len(roots) else len(roots) + n - draw(st.sampled_from([1, 2])),),
                offset,
                False,
                1,
            )
        )
    sources = tuple(draw(st.lists(st.booleans(), min_size=len(roots), max_size=len(roots))))
    return Drawing(tuple(roots), sources, tuple(boxes), draw(st.sampled_from([1, 2, 3, -1])))


@settings(max_examples=90, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawings() | chains(), st.integers(0, 2**32))
def test_every_graph_gives_what_the_model_gives_under_every_order_and_never_deadlocks(drawing, seed) -> None:
    expected = model(drawing)
    plan = plan_of(drawing)

    for order in (None, seed, seed + 1, seed + 2):
        choice = random.Random(order or 0)  # noqa: S311  # a test's order
        observed = [name for name in expected if order is None or choice.randrange(2)]
        harness = ScheduleHarness(plan, seed=order, observe=observed)
        drive(harness, drawing, choice)

        assert {name: harness.carried(name) for name in harness.seen} == {
            name: expected[name] for name in observed
        }


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawings() | chains())
def test_completing_and_taking_in_one_gives_the_same_steps_in_the_same_order(drawing) -> None:
    plan = plan_of(drawing)
    apart, at_once = (ScheduleHarness(plan, observe=()).start() for _ in range(2))
    for harness in (apart, at_once):
        for i, stamps in enumerate(drawing.roots):
            for stamp in () if drawing.sources[i] else stamps:
                harness.add(f"s{i}", f"{i}@{stamp}", stamp)
        harness.close_input()

    apart.run()
    step = at_once.take()
    while step is not None:
        step = at_once.turn(at_once.call(step))

    assert at_once.is_over
    assert at_once.log == apart.log


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawings() | chains(), st.integers(0, 2**32), st.integers(0, 60))
def test_a_graph_that_is_cancelled_at_any_moment_closes_what_it_opened(drawing, seed, moment) -> None:
    harness = ScheduleHarness(plan_of(drawing), seed=seed, observe=() if seed % 2 else None).start()
    for name in [harness.schedule.streams[number].name for number in harness.schedule.graph_inputs]:
        for stamp in range(5):
            harness.add(name, f"{stamp}", stamp)
    for _ in range(moment):
        harness.step()
    was_over = harness.is_over
    harness.cancel()
    harness.run()

    assert harness.is_over
    assert len(harness.errors) == (0 if was_over else 1)
    opened = sorted(line[5:] for line in harness.log if line.startswith("open "))
    assert sorted(line[6:] for line in harness.log if line.startswith("close ")) == opened
