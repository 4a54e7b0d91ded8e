from __future__ import annotations

import itertools
import random

import pytest

from penstock.errors import GraphRunError, InvalidArgumentError
from penstock.lowlevel import UNSET
from penstock_stream_handlers.mux import NOT_SELECTED, MuxInputStreamHandler

PORTS = "INPUT:0:a INPUT:1:b SELECT:s"


@pytest.fixture
def mux(watched):
    return watched(MuxInputStreamHandler, PORTS)


def test_a_control_packet_waits_for_the_stream_that_it_selects_and_for_no_other(mux):
    mux.add("s", 1, payload=0)
    mux.add("b", 1, 4)
    assert mux.calls == []

    mux.add("a", 2)
    assert mux.seen == [(1, "0")]

    mux.add("s", 2, payload=0)
    assert mux.seen == [(1, "0"), (2, "a2 0")]

    mux.add("s", 3, payload=1)
    mux.add("s", 4, payload=1)
    assert mux.seen == [(1, "0"), (2, "a2 0"), (3, "1"), (4, "b4 1")]


def test_the_bound_of_the_selected_stream_is_enough(mux):
    mux.add("s", 5, payload=1)
    mux.bound("a", 100)
    mux.bound("b", 5)
    assert mux.calls == []

    mux.bound("b", 6)
    assert mux.seen == [(5, "1")]
    assert mux.calls[0].stamps == {"a": UNSET, "b": 5, "s": 5}


def test_the_end_of_the_selected_stream_is_enough(mux):
    mux.add("s", 5, payload=0)
    mux.close("a")

    assert mux.seen == [(5, "0")]
    assert mux.calls[0].done == {"a"}


def test_data_packets_that_were_not_selected_are_dropped_and_counted(mux):
    mux.add("a", 1, 2, 3)
    mux.add("b", 2, 3, 4)
    mux.add("s", 3, payload=0)

    assert mux.seen == [(3, "a3 0")]
    assert mux.dropped("a") == {NOT_SELECTED: 2}
    assert mux.dropped("b") == {NOT_SELECTED: 2}
    assert mux.queued("b") == [4]


def test_data_packets_are_dropped_when_the_node_starts_and_not_when_it_is_done(mux):
    mux.add("a", 2)
    mux.add("b", 1, 2, 3)
    mux.add_only("s", 2, payload=0)
    step = mux.harness.take()

    assert mux.queued("b") == [3]
    mux.harness.complete(mux.harness.call(step))


def test_the_bound_of_the_control_stream_drops_data_packets_too(mux):
    mux.add("a", 1, 2, 3)
    mux.bound("s", 3)

    assert mux.queued("a") == [3]
    assert mux.dropped("a") == {NOT_SELECTED: 2}


def test_the_node_closes_when_the_control_stream_is_done_whatever_the_others_hold(mux):
    mux.add("s", 1, payload=0)
    mux.close("s")
    assert not mux.is_closed

    mux.add("a", 1, 2)
    assert mux.seen == [(1, "a1 0")]
    assert mux.is_closed


def test_data_streams_that_are_done_do_not_close_the_node(mux):
    mux.close("a", "b")
    assert not mux.is_closed

    mux.add("s", 7, payload=1)
    assert mux.seen == [(7, "1")]


@pytest.mark.parametrize("value", [2, -1, "0", None, True, 0.0])
def test_a_control_value_that_names_no_data_stream_ends_the_run_and_says_where(mux, value):
    mux.harness.add("s", value, 3)

    with pytest.raises(GraphRunError, match=rf"control stream 's' holds {value!r} at 3, .* from 0 to 1") as e:
        mux.harness.finish()
    error = e.value.errors[0]
    assert (error.node, error.stream, error.timestamp) == ("watched", "s", 3)
    assert isinstance(error, ValueError)
    assert "close watched" in mux.harness.log


def test_an_offset_passes_on_the_bound_of_the_control_stream(passed_on):
    assert passed_on(MuxInputStreamHandler, PORTS, [("a", 50), ("s", 5), ("s", 8)]) == [4, 7]


def test_an_offset_passes_on_the_time_of_a_control_packet_that_waits(passed_on):
    assert passed_on(MuxInputStreamHandler, PORTS, [("s", 5, 0), ("a", 6)]) == [4, 5]


def test_a_mux_without_data_streams_is_refused_before_the_run(watched):
    with pytest.raises(InvalidArgumentError, match="node 'watched': the last input is the control stream"):
        watched(MuxInputStreamHandler, "SELECT:s")


FEED = (
    [("a", t) for t in (2, 4, 6, 9)]
    + [("b", t) for t in (1, 3, 4, 7, 8)]
    + [("s", 1, 0), ("s", 4, 1), ("s", 6, 0), ("s", 7, 0), ("s", 8, 1)]
)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_selected_does_not_depend_on_the_order_of_arrival(explored, seed):
    waiting = [list(group) for _, group in itertools.groupby(FEED, key=lambda one: one[0])]
    order = random.Random(seed)  # noqa: S311  # a test's order
    feed = []
    while waiting := [packets for packets in waiting if packets]:
        feed.append(order.choice(waiting).pop(0))

    assert explored(MuxInputStreamHandler, PORTS, feed) == [
        (1, "0"),
        (4, "b4 1"),
        (6, "a6 0"),
        (7, "0"),
        (8, "b8 1"),
    ]
