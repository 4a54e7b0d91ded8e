"""Calls of a graph from several threads return what some order of them explains, and nothing else does."""

from __future__ import annotations

import logging
import random
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

SCRIPTS = Path(__file__).parent.parent / "scripts" / "proof"
sys.path.insert(0, str(SCRIPTS))
try:
    import api_calls
    from api_model import GRAPH, NAMES
    from api_threads import draw
    from linearizable import DONE, Call, explained
finally:
    sys.path.remove(str(SCRIPTS))

KINDS = {kind: made for kind, (made, _) in api_calls.KINDS.items()}
UNSTARTED = -(2**63) + 1


@pytest.fixture
def interval():
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def installed():
    return api_calls.registry()


@pytest.mark.usefixtures("interval")
def test_some_order_explains_every_result_of_three_hundred_sequences(installed):
    found = [one for seed in range(300) for one in api_calls.findings(seed, installed)]

    assert found == []


def test_every_kind_is_drawn():
    order = random.Random(1)  # noqa: S311  # a test's order

    assert {api_calls.kind_of(order) for _ in range(100)} == set(KINDS)


@pytest.mark.usefixtures("interval")
@pytest.mark.parametrize("kind", KINDS)
def test_the_sequences_of_a_kind_have_every_call(kind, installed):
    order = random.Random(1)  # noqa: S311  # a test's order
    drawn = set()
    for _ in range(300):
        drawn |= {name for plan in draw(order, KINDS[kind].weights, KINDS[kind].last) for name, _ in plan}
    assert drawn == set(KINDS[kind].weights)

    made = KINDS[kind](installed, order)
    made.run()
    assert made.calls
    assert made.findings == []


def test_the_model_of_a_graph_knows_the_calls_of_its_kind():
    assert set(NAMES) == set(KINDS["graph"].weights)


def one_after_the_other(*results):
    return [Call(name, number, 2 * n, 2 * n + 1, result) for n, (name, number, result) in enumerate(results)]


SEEN = {1: ("not started", 0), 2: ("running", 1)}


@pytest.fixture
def is_explained():
    """Return whether the model of a kind explains calls, which nobody has made."""

    def look(kind, results, seen=SEEN):
        made = KINDS[kind].__new__(KINDS[kind])
        made.calls = results if isinstance(results[0], Call) else one_after_the_other(*results)
        made._seen = seen
        model = made.model()
        return explained(made.calls, model)

    return look


RIGHT = {
    "graph": [
        ("start", 0, DONE), ("add", 1, DONE), ("add", 1, "TimestampOrderError"), ("idle", 0, DONE),
        ("queue_size", 0, 1), ("observed", 0, DONE), ("observed", 0, "WaitTimeoutError"), ("next", 0, 1),
        ("next_async", 0, "WaitTimeoutError"), ("pause", 0, DONE), ("state", 0, "paused"), ("add", 2, DONE),
        ("next", 0, "WaitTimeoutError"), ("resume", 0, DONE), ("wait_next", 0, 2), ("close_input", 0, DONE),
        ("add", 5, "StreamClosedError"), ("wait_done", 0, DONE), ("state", 0, "over"),
        ("observed", 0, DONE), ("observed", 0, "PenstockError"), ("is_running", 0, False),
        ("run_count", 0, 1), ("start", 0, DONE), ("cancel", 0, DONE), ("wait_done", 0, "GraphRunError"),
    ],
    "running": [
        ("run_add", 1, "FailedPreconditionError"), ("enter", 0, DONE), ("run_add", 1, DONE),
        ("run_idle", 0, DONE), ("next", 0, 1), ("enter", 0, "FailedPreconditionError"), ("leave", 0, DONE),
        ("is_running", 0, False), ("run_done", 0, DONE), ("run_add", 2, "FailedPreconditionError"),
    ],
    "rows": [
        ("row", 0, "FailedPreconditionError"), ("start", 0, DONE), ("row", 0, "WaitTimeoutError"),
        ("add", 1, DONE), ("add", 2, DONE), ("row_wait", 0, 1), ("row_wait_async", 0, 2),
        ("close_input", 0, DONE), ("row_wait", 0, None), ("close_rows", 0, DONE), ("row", 0, None),
    ],
    "steering": [
        ("gain", 5, UNSTARTED), ("start", 0, DONE), ("add", 1, DONE), ("idle", 0, DONE),
        ("next", 0, (1, 5, 0)), ("offset", 3, 2), ("gain_at", 2, 4), ("add", 2, DONE), ("add", 4, DONE),
        ("idle", 0, DONE), ("next", 0, (2, 5, 3)), ("next", 0, (4, 2, 3)),
        ("gain_at", 1, "TimestampOrderError"), ("swap_gain", 7, 5), ("renew", 0, DONE), ("add", 0, DONE),
        ("idle", 0, DONE), ("next", 0, (0, 2, 3)), ("run_count", 0, 2),
    ],
    "mediapipe": [
        ("add", 1, "RuntimeError"), ("start", 0, DONE), ("add", 1, DONE), ("idle", 0, DONE),
        ("has_error", 0, False), ("add", 1, DONE), ("has_error", 0, True), ("add", 2, "ValueError"),
        ("idle", 0, "ValueError"), ("start", 0, DONE), ("message", 0, False), ("close_input", 0, DONE),
        ("add", 3, DONE), ("wait_done", 0, "ValueError"),
    ],
    "solution": [
        ("process", 1, (1, None)), ("process", 2, (2, 1)), ("reset", 0, DONE), ("process", 3, (3, None)),
        ("close", 0, DONE), ("process", 4, "ValueError"), ("reset", 0, DONE), ("close", 0, "ValueError"),
    ],
    "monitor": [
        ("reading", 0, 1), ("start", 0, DONE), ("add", 1, DONE), ("wait_reading", 1, 2), ("reading", 0, 2),
        ("close_monitor", 0, DONE), ("is_unwatched", 0, True), ("wait_reading", 2, None),
    ],
}  # fmt: skip
WRONG = {
    "graph": [
        (1, "TimestampOrderError"), (2, DONE), (4, 0), (5, "WaitTimeoutError"), (6, DONE), (7, 2), (7, None),
        (8, 1), (10, "running"), (12, 2), (14, None), (16, DONE), (17, "GraphRunError"), (18, "running"),
        (20, DONE), (21, True), (22, 2), (23, "FailedPreconditionError"), (25, DONE),
    ],
    "running": [
        (0, DONE), (1, "FailedPreconditionError"), (2, "TimestampOrderError"), (4, None), (5, DONE),
        (7, True), (9, DONE),
    ],
    "rows": [
        (0, None), (2, None), (2, 1), (5, 2), (5, "FailedPreconditionError"), (6, 1), (8, "GraphRunError"),
        (10, "FailedPreconditionError"),
    ],
    "steering": [
        (0, 0), (4, (1, 0, 0)), (5, 1), (5, 3), (6, 3), (10, (2, 5, 0)), (10, (2, 2, 3)), (11, (4, 5, 3)),
        (12, 3), (13, 4), (17, (0, 7, 3)), (17, (0, 0, 0)), (18, 1),
    ],
    "mediapipe": [
        (0, "ValueError"), (4, True), (5, "ValueError"), (6, False), (7, DONE), (8, DONE), (10, True),
        (12, "RuntimeError"), (13, DONE),
    ],
    "solution": [
        (0, (1, 1)), (1, (2, None)), (1, (1, 1)), (3, (3, 2)), (5, (4, 3)), (6, "ValueError"), (7, DONE),
    ],
    "monitor": [(0, 2), (3, 1), (4, 1), (6, False)],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_calls_of_one_thread_are_explained(kind, is_explained):
    assert is_explained(kind, RIGHT[kind])


@pytest.mark.parametrize(
    ("kind", "place", "result"), [(kind, *one) for kind, wrong in WRONG.items() for one in wrong]
)
def test_a_wrong_result_of_one_thread_is_not_explained(kind, place, result, is_explained):
    wrong = list(RIGHT[kind])
    wrong[place] = (*wrong[place][:2], result)

    assert not is_explained(kind, wrong)


def test_a_reading_shows_what_was_so_when_it_was_taken(is_explained):
    for seen in ({1: ("running", 0), 2: ("running", 1)}, {1: ("not started", 0), 2: ("over", 1)}):
        assert not is_explained("monitor", RIGHT["monitor"], seen)


def test_calls_at_the_same_time_may_have_either_order_but_not_both():
    start, first, second = Call("start", 0, 0, 1, DONE), ("add", 1, 2, 9), ("add", 2, 2, 9)

    assert explained([start, Call(*first, DONE), Call(*second, DONE)], GRAPH)
    assert explained([start, Call(*first, "TimestampOrderError"), Call(*second, DONE)], GRAPH)
    assert not explained([start, Call(*first, DONE), Call(*second, "TimestampOrderError")], GRAPH)
    assert not explained([start, Call("start", 0, 0, 9, DONE)], GRAPH)


def test_a_second_reader_of_rows_is_refused_only_beside_the_first(is_explained):
    refused = ("row", 0, "FailedPreconditionError")
    calls = [("start", 0, DONE), ("add", 1, DONE), ("row", 0, 1)]

    assert not is_explained("rows", [*calls, refused])
    beside = one_after_the_other(*calls)
    beside.append(Call(*refused[:2], beside[-1].begin, beside[-1].end, refused[2]))
    assert is_explained("rows", beside)


def test_rows_may_wait_for_a_run_that_is_being_started_of_which_others_know_nothing(is_explained):
    start, add = Call("start", 0, 1, 9, DONE), Call("add", 3, 5, 6, "FailedPreconditionError")

    assert is_explained("rows", [start, Call("row", 0, 0, 4, "WaitTimeoutError"), add])
    assert not is_explained("rows", [start, Call("row", 0, -2, -1, "WaitTimeoutError"), add])
    assert not is_explained("rows", [start, Call("row_wait", 0, 0, 4, "WaitTimeoutError"), add])


def test_a_reading_may_be_shown_after_the_moment_that_it_shows_but_before_the_next_is_taken(is_explained):
    waits = Call("wait_reading", 4, 0, 9, 2)
    calls = [waits, Call("start", 0, 1, 2, DONE), Call("reading", 2, 3, 4, 1)]

    assert is_explained("monitor", calls, {1: ("not started", 0), 2: ("not started", 0)})
    ended = [*calls[:2], Call("close_input", 0, 3, 4, DONE), Call("reading", 2, 5, 6, 0)]
    assert is_explained("monitor", ended, {1: ("not started", 0), 2: ("running", 0)})
    ended = [*calls[:2], Call("close_input", 0, 3, 4, DONE), Call("wait_done", 0, 5, 6, DONE)]
    late = [*ended, Call("reading", 2, 7, 8, 0)]
    assert not is_explained("monitor", late, {1: ("not started", 0), 2: ("running", 0)})


def first_finding(installed, kind, count):
    found = (one for seed in range(count) for one in api_calls.findings(seed, installed, kind))
    return next(found, "nothing was found")


@pytest.mark.usefixtures("interval")
def test_a_poller_that_gives_a_packet_twice_is_found(monkeypatch, installed):
    from penstock.runtime.poller import OutputStreamPoller

    taken = OutputStreamPoller.next
    last = {}

    def again(self, timeout=None):
        if self in last:
            return last.pop(self)
        packet = taken(self, timeout)
        if packet is not None:
            last[self] = packet
        return packet

    monkeypatch.setattr(OutputStreamPoller, "next", again)

    assert "no order explains" in first_finding(installed, "graph", 3000)


@pytest.mark.usefixtures("interval")
def test_a_solution_that_does_not_serialize_its_calls_is_found(monkeypatch, installed):
    kind = KINDS["solution"]
    made = kind.__init__

    def without_turns(self, *given):
        made(self, *given)
        self._solution._turn = nullcontext()

    monkeypatch.setattr(kind, "__init__", without_turns)
    found = first_finding(installed, "solution", 300)

    assert "solution: " in found


def test_the_script_counts_its_sequences(monkeypatch, capsys, interval):
    monkeypatch.setattr(sys, "argv", ["api_calls.py", "--count", "5", "--seed", "7"])

    assert api_calls.main() == 0
    assert capsys.readouterr().out == "calls from threads: 5 sequences, 0 findings\n"
