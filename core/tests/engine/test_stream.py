from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.flow import FlowControl
from penstock.engine.packet import Packet
from penstock.engine.stream import InputStream, OutputStream
from penstock.errors import PenstockError, TimestampError, TimestampOrderError
from penstock.timestamp import DONE, MAX, PRESTREAM, UNSTARTED
from penstock_testing import ScheduleHarness, calculator, node, wired


def stream_with(*stamps: int, bound: int) -> InputStream:
    stream = InputStream("s", None, FlowControl())
    stream.queue.extend(Packet(stamp, stamp) for stamp in stamps)
    stream.bound = bound
    return stream


def test_a_fresh_stream_is_settled_nowhere() -> None:
    stream = InputStream("s", None, FlowControl())

    assert stream.bound == PRESTREAM
    assert stream.settled() == UNSTARTED
    assert not stream.is_done()


def test_head_or_bound_is_the_oldest_packet_or_the_bound() -> None:
    assert stream_with(3, 5, bound=9).head_or_bound() == 3
    assert stream_with(bound=9).head_or_bound() == 9


def test_a_stream_is_done_when_it_is_closed_and_drained() -> None:
    stream = stream_with(3, bound=DONE)
    assert not stream.is_done()

    assert stream.pop().payload == 3
    assert stream.is_done()


def test_popping_where_nothing_is_gives_an_empty_packet_with_what_is_settled() -> None:
    stream = stream_with(5, bound=6)

    absent = stream.pop_at(3)
    assert absent.is_empty()
    assert absent.timestamp == 4
    assert len(stream.queue) == 1
    assert stream.pop_at(5).payload == 5
    assert stream_with(bound=11).pop_at(3).timestamp == 10
    assert stream_with(bound=DONE).pop_at(3).timestamp == MAX


def test_popping_from_a_stream_that_settled_nothing_gives_unstarted() -> None:
    assert stream_with(bound=PRESTREAM).pop_at(0).timestamp == UNSTARTED


@pytest.mark.parametrize(
    ("classes", "payload", "fits"),
    [
        (None, object(), True),
        ((int,), 3, True),
        ((int,), True, False),
        ((int, bool), True, True),
        ((object,), True, True),
        ((int,), "3", False),
        ((float, int), 3, True),
        ((Exception,), ValueError(), True),
        ((ValueError,), Exception(), False),
    ],
)
def test_a_payload_fits_a_declared_class_and_its_subclasses_but_a_bool_is_no_int(
    classes, payload, fits
) -> None:
    stream = OutputStream(0, "s", classes, "x")

    assert stream.fits(payload) is fits
    assert stream.fits(payload) is fits


class Feeding:
    """A graph input with one reader that keeps what it gets."""

    def __init__(self) -> None:
        self.read: list[tuple[int, object]] = []
        keep = calculator(
            lambda cc: self.read.append((int(cc.input_timestamp), cc.input.payload)), name="Keep"
        )
        self.harness = ScheduleHarness(wired(node(keep, "s"), inputs="s", max_queue_size=2)).start()
        self.harness.run()
        self.accepted: list[tuple[int, object]] = []
        self.bound = PRESTREAM

    def do(self, action: str, t: int) -> None:
        before = self.harness.stream("s").bound
        try:
            self._do(action, t)
        except TimestampError:
            assert self.harness.stream("s").bound == before
            assert action != "step"
        assert self.harness.stream("s").bound >= before

    def _do(self, action: str, t: int) -> None:
        if action == "add":
            self.harness.add("s", object(), t)
            self.accepted.append((t, self.harness.schedule.streams[0].bound))
        elif action == "empty":
            self.harness.add_packet("s", Packet(timestamp=t))
        elif action == "bound":
            self.harness.set_bound("s", t)
        else:
            self.harness.step()


@given(
    st.lists(st.tuples(st.sampled_from(["add", "empty", "bound", "step"]), st.integers(-3, 12)), max_size=40)
)
def test_under_any_interleaving_the_bound_only_grows_and_no_accepted_packet_is_lost(actions) -> None:
    feeding = Feeding()
    for action, t in actions:
        feeding.do(action, t)
    feeding.harness.finish()

    accepted = [t for t, _ in feeding.accepted]
    assert accepted == sorted(set(accepted))
    assert [t for t, _ in feeding.read] == accepted
    assert [t for t, _ in feeding.harness.carried("s")] == accepted
    assert all(bound == t + 1 for t, bound in feeding.accepted)


@given(
    st.lists(st.integers(0, 30), max_size=12, unique=True).map(sorted),
    st.lists(st.integers(0, 30), max_size=12, unique=True).map(sorted),
    st.data(),
)
def test_the_order_in_which_two_streams_arrive_does_not_show(left, right, data) -> None:
    sets: list[tuple[int, object, object]] = []
    join = calculator(
        lambda cc: sets.append((int(cc.input_timestamp), cc.inputs[0].payload, cc.inputs[1].payload)),
        name="Join",
    )
    harness = ScheduleHarness(
        wired(node(join, "a b"), inputs="a b"), seed=data.draw(st.integers(0, 99))
    ).start()
    waiting = {"a": list(left), "b": list(right)}
    while waiting["a"] or waiting["b"]:
        stream = data.draw(st.sampled_from([name for name, stamps in waiting.items() if stamps]))
        stamp = waiting[stream].pop(0)
        harness.add(stream, stamp, stamp)
        if data.draw(st.booleans()):
            harness.step()
    harness.finish()

    assert sets == [(t, t if t in left else None, t if t in right else None) for t in sorted({*left, *right})]


def test_a_refused_packet_leaves_the_graph_input_as_it_was() -> None:
    harness = ScheduleHarness(wired(inputs="s")).start()
    harness.add("s", "x", 5)

    with pytest.raises(
        TimestampOrderError, match=r"stream 's': packet at 5 is behind the bound 6; timestamps in a"
    ):
        harness.add("s", "again", 5)

    assert harness.errors == []
    harness.add("s", "y", 6)
    harness.finish()
    assert harness.carried("s") == [(5, "x"), (6, "y")]


def test_a_closed_graph_input_takes_no_more_and_says_why() -> None:
    harness = ScheduleHarness(wired(inputs="s t")).start()
    harness.close_input("s")
    harness.close_input("s")

    with pytest.raises(PenstockError, match="graph input 's' takes no more: it was closed") as caught:
        harness.add("s", 1, 1)
    with pytest.raises(RuntimeError, match="graph input 's' takes no more: it was closed"):
        harness.set_bound("s", 9)

    assert caught.value.code.name == "FAILED_PRECONDITION"
    assert caught.value.stream == "s"
    harness.add("t", 1, 1)
    harness.finish()
