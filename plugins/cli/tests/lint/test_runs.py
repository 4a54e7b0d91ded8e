"""What the rules warn of happens in runs of their graphs with the trap, and not in those without it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import av
import numpy as np
import pytest

import penstock
from penstock import Packet
from penstock.errors import GraphRunError, UnavailableError
from penstock_lint import RULES, lint_graph, read_measured
from penstock_lint.rule import examples

WAIT = 20
SECOND = 1_000_000


def eventually(is_so):
    """Wait until something holds that other threads bring about, and fail if it never does."""
    end = time.monotonic() + WAIT
    while not is_so():
        assert time.monotonic() < end, "this never came"
        time.sleep(0.002)


@pytest.fixture(params=["bad", "good"])
def which(request):
    return request.param


@pytest.fixture
def made(registry, which):
    """Return a function that makes the graph of a rule, and notes what comes out of a stream."""
    graphs = []

    def made(code, *watched):
        text = f"num_threads: 4\n{examples(RULES[code])[which == 'good']}"
        graph = penstock.CalculatorGraph(text, registry=registry)
        graphs.append(graph)
        seen = {name: [] for name in watched}
        for name in watched:
            graph.observe_output_stream(name, lambda stream, packet: seen[stream].append(packet))
        return graph, seen

    yield made
    for graph in graphs:
        if graph.is_running:
            graph.cancel()
            with pytest.raises(GraphRunError):
                graph.wait_until_done(WAIT)


def feed(graph, stream, *timestamps):
    for timestamp in timestamps:
        graph.add_packet_to_input_stream(stream, Packet(timestamp), timestamp)


def finish(graph):
    graph.close_all_input_streams()
    graph.wait_until_done(WAIT)


def times(packets):
    return [int(packet.timestamp) for packet in packets]


def test_101_the_loop_never_runs(made, which):
    graph, seen = made("PS101", "rows")
    graph.start_run()
    feed(graph, "in", 1, 2, 3)
    graph.wait_until_idle(WAIT)
    assert times(seen["rows"]) == ([] if which == "bad" else [1, 2, 3])


def test_103_the_newest_row_waits(made, which):
    graph, seen = made("PS103", "rows")
    graph.start_run()
    feed(graph, "in", 1, 2)
    graph.wait_until_idle(WAIT)
    assert times(seen["rows"]) == ([1] if which == "bad" else [1, 2])
    finish(graph)
    assert times(seen["rows"]) == [1, 2]


def test_104_rows_have_one_image_each(made, which):
    graph, seen = made("PS104", "rows")
    graph.start_run()
    graph.wait_until_done(WAIT)
    full = [packet for packet in seen["rows"] if None not in packet.payload]
    assert (len(seen["rows"]), len(full)) == ((6, 0) if which == "bad" else (3, 2))


def test_105_the_second_row_fails(made, which):
    graph, seen = made("PS105", "rows")
    graph.start_run()
    feed(graph, "in", 1)
    graph.wait_until_idle(WAIT)
    if which == "bad":
        with pytest.raises(GraphRunError, match="DifferenceCalculator"):
            feed_all(graph, "in", range(2, 7))
        assert times(seen["rows"]) == [1]
    else:
        feed_all(graph, "in", range(2, 7))
        assert [packet.payload for packet in seen["rows"]] == [0, 1, 2, 0, 1, 2]


def feed_all(graph, stream, timestamps):
    feed(graph, stream, *timestamps)
    finish(graph)


def test_106_a_packet_behind_another_ends_the_run(made, which):
    graph, seen = made("PS106", "rows")
    graph.start_run()
    feed(graph, "a", 1, 2)
    graph.wait_until_idle(WAIT)
    assert len(seen["rows"]) == (2 if which == "bad" else 0)
    if which == "bad":
        with pytest.raises(GraphRunError, match="JoinCalculator"):
            feed_all(graph, "b", [1])
    else:
        feed_all(graph, "b", [1, 2])
        assert [packet.payload for packet in seen["rows"]] == [[1, 1], [2, 2]]


def test_107_sets_at_different_times_end_the_run(made, which):
    graph, seen = made("PS107", "rows")
    graph.start_run()
    feed(graph, "a", 1, 3)
    graph.wait_until_idle(WAIT)
    if which == "bad":
        with pytest.raises(GraphRunError, match="JoinCalculator"):
            feed_all(graph, "b", [2])
    else:
        feed_all(graph, "b", [2])
    assert times(seen["rows"]) == [1, 3]


def test_108_a_tick_waits_for_the_model(made, which, go):
    graph, seen = made("PS108", "last")
    graph.start_run()
    feed(graph, "in", 1)
    graph.wait_until_idle(WAIT)
    before = times(seen["last"])
    go.clear()
    feed(graph, "in", 2, 3)
    if which == "good":
        eventually(lambda: times(seen["last"])[len(before) :] == [2, 3])
    go.set()
    finish(graph)
    if which == "bad":  # each tick has the box of its own image, since it waited for it
        assert [packet.payload for packet in seen["last"]] == [1, 2, 3]


def test_109_a_branch_that_is_not_chosen_holds_up_the_other(made, which):
    graph, seen = made("PS109", "out")
    graph.start_run()
    feed(graph, "a", 1, 2, 3)
    for timestamp in (1, 2, 3):
        graph.add_packet_to_input_stream("select", Packet(0), timestamp)
    graph.wait_until_idle(WAIT)
    assert times(seen["out"]) == ([] if which == "bad" else [1, 2, 3])


def test_110_items_hardly_meet_what_is_outside(made, which):
    graph, seen = made("PS110", "rows")
    graph.start_run()
    for timestamp, items, other in ((10, [1, 2], "A"), (20, [3], "B")):
        graph.add_packet_to_input_stream("list", Packet(items), timestamp)
        graph.add_packet_to_input_stream("other", Packet(other), timestamp)
    finish(graph)
    full = [packet.payload for packet in seen["rows"] if None not in packet.payload]
    assert full == ([] if which == "bad" else [[1, "A"], [2, "A"], [3, "B"]])


def test_111_an_output_has_no_packet_where_another_has_one(made, which):
    second = "found" if which == "bad" else "there"
    graph, seen = made("PS111", "copies", second)
    graph.start_run()
    feed_all(graph, "in", [1, 2, 3])
    assert times(seen["copies"]) == [1, 2, 3]
    assert times(seen[second]) == ([1, 3] if which == "bad" else [1, 2, 3])


@pytest.mark.parametrize("is_turned", [False, True])
def test_112_another_order_of_the_inputs_is_another_clock(registry, which, is_turned):
    text = examples(RULES["PS112"])[which == "good"]
    a, b = re.findall(r"^  input_stream: .*\n", text, re.MULTILINE)
    graph = penstock.CalculatorGraph(text.replace(a + b, b + a) if is_turned else text, registry=registry)
    seen: list[int] = []
    graph.observe_output_stream("rows", lambda _, packet: seen.append(int(packet.timestamp)))
    graph.start_run()
    feed(graph, "a", 1, 3)
    feed(graph, "b", 2)
    finish(graph)

    assert seen == ([2] if is_turned and which == "bad" else [1, 3])


@pytest.mark.parametrize(("code", "stream"), [("PS201", "quick"), ("PS202", "some")])
def test_201_202_packets_pass_the_limiter_while_the_model_works(made, which, go, code, stream):
    graph, _ = made(code)
    passed = []
    graph.observe_output_stream(stream, lambda _, packet: passed.append(packet))
    go.clear()
    graph.start_run()
    for count in range(1, 11):
        feed(graph, "in", count)
        if which == "bad":
            eventually(lambda count=count: len(passed) == count)  # though the model works at the first one
        else:
            eventually(lambda count=count: graph.ledger().dropped == count - 1)
    assert len(passed) == (10 if which == "bad" else 1)
    go.set()
    finish(graph)


def test_206_the_second_model_gets_what_the_limiter_drops(made, which, go):
    graph, _ = made("PS206")
    masks = []
    graph.observe_output_stream("mask", lambda _, packet: masks.append(packet))
    go.clear()
    graph.start_run()
    feed(graph, "in", *range(1, 11))
    eventually(lambda: graph.ledger().dropped == 9)
    go.set()
    finish(graph)
    assert len(masks) == (10 if which == "bad" else 1)


def test_203_the_limiter_drops_all_that_follows(made, which):
    graph, seen = made("PS203", "out")
    graph.start_run()
    for count in range(8):
        feed(graph, "in", count * 2 * SECOND + count + 1)  # odd, even, odd ...
        graph.wait_until_idle(WAIT)
    finish(graph)
    assert len(seen["out"]) == (1 if which == "bad" else 4)
    assert graph.ledger().dropped == (6 if which == "bad" else 0)


def test_204_the_inner_limiter_never_acts(made, which, go):
    graph, _ = made("PS204")
    go.clear()
    graph.start_run()
    feed(graph, "in", *range(1, 11))
    eventually(lambda: graph.ledger().dropped == 9)
    if which == "bad":
        dropped = {stream.name: stream.dropped for stream in graph.snapshot().streams}
        assert dropped["in"] == 9
        assert dropped["a"] == 0
    go.set()
    finish(graph)


@pytest.fixture
def video(tmp_path):
    """Make a video of 20 frames."""
    file = tmp_path / "twenty.mp4"
    with av.open(str(file), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(20):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), number * 10, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file


def test_205_frames_of_a_file_are_lost(made, which, go, video):
    graph, seen = made("PS205", "out")
    go.clear()
    graph.start_run({"path": str(video)})
    eventually(lambda: graph.snapshot().nodes[0].state == "closed")  # the file is read to its end
    go.set()
    graph.wait_until_done(WAIT)
    assert len(seen["out"]) == (1 if which == "bad" else 20)


def test_207_a_queue_without_limit_takes_all(made, which, go):
    graph, _ = made("PS207")
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    go.clear()
    graph.start_run()
    if which == "bad":
        feed(graph, "in", *range(1, 1001))
        eventually(lambda: graph.snapshot().streams[0].queued >= 999)
    else:
        with pytest.raises(UnavailableError):
            feed(graph, "in", *range(1, 1001))
    go.set()
    finish(graph)


@pytest.fixture
def traced(made, tmp_path):
    """Run the graph of a rule with a tracer; return the file of the trace and the graph's text."""

    def traced(code, timestamps):
        from penstock_views.traces import ChromeTracer

        graph, _ = made(code)
        tracer = ChromeTracer()
        graph.set_tracer(tracer)
        graph.start_run()
        feed_all(graph, "in", timestamps)
        file = tmp_path / "trace.json"
        tracer.write(file)
        return file

    return traced


def test_208_a_run_shows_that_the_limit_is_too_small(traced, which, registry):
    measured = read_measured(traced("PS208", range(1, 13)))
    found = lint_graph(examples(RULES["PS208"])[which == "good"], registry=registry, measured=measured)
    assert [one.code for one in found] == (["PS208"] if which == "bad" else [])
    assert measured.longest["in", "JoinCalculator"] >= 5


def test_a_run_shows_which_nodes_are_slow_and_which_skip(traced, which, registry):
    slow = traced("PS103", range(1, 8))
    measured = read_measured(slow)
    assert measured.skips == {"OddCalculator" if which == "bad" else "SettlingOddCalculator"}
    assert Path(slow).is_file()
