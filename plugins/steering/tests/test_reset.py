from __future__ import annotations

import gc
import threading

import pytest
import steerable
from steerable import EVENTS, GainOptions

import penstock
from penstock.errors import GraphConfigError, GraphRunError, PenstockError, WaitTimeoutError

PATIENCE_S = 30.0


class AsyncLasting(steerable.AsyncTuned):
    async def reset(self, cc):
        self._read(cc)
        self.fail_if("reset")
        self.note("reset")


@pytest.fixture(params=["Lasting", "AsyncLasting"])
def kind(request, registry):
    registry.add("calculator", "AsyncLasting", AsyncLasting)
    return request.param


@pytest.fixture(params=["", "max_in_flight: 3"])
def node(request):
    return request.param


def what():
    return [event[0] for event in EVENTS]


def test_a_calculator_with_reset_lives_on_and_times_begin_anew(steered, kind, node):
    one = steered(kind, node)
    one.graph.start_run()
    one.feed(1, 2)
    for _ in range(2):
        one.graph.reset()
        one.feed(1, 2)
    assert one.end() == [(1, 1), (2, 2)] * 3
    assert what() == ["open", "reset", "reset"]
    assert len({number for _, number, _ in EVENTS}) == 1
    one.graph.close()
    assert what() == ["open", "reset", "reset", "close"]


def test_others_are_made_again(steered):
    one = steered("Tuned")
    one.graph.start_run()
    one.feed(1)
    one.graph.reset()
    one.feed(1)
    assert one.end() == [(1, 1), (1, 1)]
    assert what() == ["open", "close", "open", "close"]


def test_a_run_that_reset_has_started_leaves_its_calculators_however_it_ends_well(registry):
    """Sources that end by themselves, as video files do."""

    class Counter(steerable.Lasting):
        pass

    registry.add("calculator", "Counter", Counter)
    graph = penstock.CalculatorGraph(
        """node { calculator: "Count" name: "source" output_stream: "numbers" node_options {
             [type.googleapis.com/steerable.GainOptions] { offset: 3 } } }
           node { calculator: "Counter" input_stream: "numbers" output_stream: "out" }""",
        registry=registry,
    )
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload[0]))
    for _ in range(3):
        graph.reset()
        graph.wait_until_done(PATIENCE_S)
    assert out == [0, 1, 2] * 3
    assert what() == ["open", "reset", "reset"]
    graph.close()
    assert what()[-1] == "close"


def test_a_run_of_start_run_that_ends_by_itself_has_closed_them(steered):
    one = steered("Lasting")
    one.graph.start_run()
    one.feed(1)
    one.end()
    assert what() == ["open", "close"]
    one.graph.reset()
    one.feed(1)
    one.end()
    assert what() == ["open", "close", "open"]
    one.graph.start_run()
    one.feed(1)
    one.end()
    assert what() == ["open", "close", "open", "close", "open", "close"]


def test_the_next_run_has_its_own_side_packets_and_headers(registry):
    seen = []

    class Sided(steerable.Lasting):
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.input_side_packets["SIDE"].set(int)

        def open(self, cc):
            super().open(cc)
            self.see(cc)

        def reset(self, cc):
            super().reset(cc)
            self.see(cc)

        def see(self, cc):
            seen.append((cc.input_side_packets["SIDE"].payload, cc.inputs[0].header.payload))
            cc.output.set_header(penstock.Packet(seen[-1]))

    registry.add("calculator", "Sided", Sided)
    graph = penstock.CalculatorGraph(
        """input_stream: "in" input_side_packet: "side"
           node { calculator: "Sided" input_stream: "in" output_stream: "mid" input_side_packet: "SIDE:side" }
           node { calculator: "HeaderOf" input_stream: "mid" output_stream: "out" }""",
        registry=_with_header_of(registry),
    )
    graph.reset({"side": 1}, {"in": "a"})
    graph.reset({"side": 2}, {"in": "b"})
    graph.close()
    assert seen == [(1, "a"), (2, "b")]
    assert HEADERS == [(1, "a"), (2, "b")]


HEADERS = []


def _with_header_of(registry):
    class HeaderOf(steerable.Gain):
        def open(self, cc):
            super().open(cc)
            HEADERS.append(cc.inputs[0].header.payload)

    HEADERS.clear()
    registry.add("calculator", "HeaderOf", HeaderOf)
    return registry


def test_observers_and_pollers_stay(steered):
    one = steered("Lasting")
    poller = one.graph.add_output_stream_poller("out")
    for _ in range(2):
        one.graph.reset()
        one.feed(4)
        assert poller.next().payload[0] == 4
    assert one.end() == [(4, 4)] * 2


def test_what_was_swapped_in_or_changed_lives_on_too(steered):
    one = steered("Lasting")
    one.graph.reset()
    one.feed(1)
    one.graph.swap("n", {"gain": 10})
    one.feed(2)
    one.graph.set_options("n", {"offset": 5})
    one.feed(3)
    one.graph.reset()
    one.feed(1)
    one.graph.set_options("n", {"gain": 2})
    one.feed(2)
    assert one.end() == [(1, 1), (2, 20), (3, 35), (1, 15), (2, 9)]
    assert what() == ["open", "open", "close", "options_changed", "reset", "options_changed"]


def test_changes_between_two_runs_reach_the_kept_calculator_and_a_swap_replaces_it(steered):
    one = steered("Lasting")
    one.graph.reset()
    one.feed(1)
    one.end()
    one.graph.set_options("n", {"gain": 3})
    one.graph.reset()
    one.feed(1)
    assert one.end() == [(1, 3)]
    one.graph.swap("n", {"gain": 4})
    assert what() == ["open", "reset", "close"]
    one.graph.reset()
    one.feed(1)
    assert one.end() == [(1, 4)]
    assert what() == ["open", "reset", "close", "open"]


def test_an_error_of_the_run_is_raised_closes_all_and_starts_nothing(steered, kind):
    one = steered(kind)
    one.graph.reset()
    one.graph.add_packet_to_input_stream("in", penstock.Packet(None, 1))
    with pytest.raises(GraphRunError, match="TypeError"):
        one.graph.reset()
    assert not one.graph.is_running
    assert what() == ["open", "close"]
    one.graph.reset()
    one.feed(1)
    assert one.end() == [(1, 1)]


def test_a_kept_calculator_is_closed_once_by_the_run_that_fails(steered, kind):
    one = steered(kind)
    for _ in range(2):
        one.graph.reset()
        one.feed(1)
    one.graph.add_packet_to_input_stream("in", penstock.Packet(None, 2))
    with pytest.raises(GraphRunError, match="TypeError"):
        one.graph.wait_until_done(PATIENCE_S)
    assert what() == ["open", "reset", "close"]
    one.graph.close()
    assert what() == ["open", "reset", "close"]


def test_a_cancelled_run_closes_them(steered, kind):
    one = steered(kind)
    one.graph.reset()
    one.feed(1)
    one.graph.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        one.graph.reset()
    assert what() == ["open", "close"]


def test_a_run_that_cannot_start_leaves_them_for_the_next_try(registry):
    graph = penstock.CalculatorGraph(
        """input_stream: "in" input_side_packet: "side"
           node { calculator: "Lasting" input_stream: "in" output_stream: "out" }""",
        registry=registry,
    )
    graph.reset()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    with pytest.raises(GraphConfigError, match="no side packet 'seed'"):
        graph.reset({"seed": 1})
    assert not graph.is_running
    assert what() == ["open"]
    graph.reset({"side": 1})
    graph.close()
    assert what() == ["open", "reset", "close"]


def test_a_reset_that_fails_closes_the_calculator(steered, kind):
    one = steered(kind)
    one.graph.reset()
    one.feed(1)
    one.end()
    one.graph.set_options("n", {"fail": "reset"})
    one.graph.reset()
    with pytest.raises(GraphRunError, match=r"open\(\) failed: ValueError: reset was told to fail"):
        one.graph.wait_until_done(PATIENCE_S)
    assert what() == ["open", "close"]


def test_a_run_that_fails_before_a_kept_calculator_opens_leaves_it_with_the_graph(registry):
    may_fail = []

    class Blocking(steerable.Gain):
        def open(self, cc):
            if may_fail:
                raise ValueError("no")
            super().open(cc)

    registry.add("calculator", "Blocking", Blocking)
    graph = penstock.CalculatorGraph(
        """input_stream: "in"
           node { calculator: "Blocking" input_stream: "in" output_stream: "mid" }
           node { calculator: "Lasting" input_stream: "mid" output_stream: "out" }""",
        registry=registry,
    )
    graph.reset()
    graph.wait_until_idle(PATIENCE_S)
    may_fail.append(1)
    graph.reset()
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.wait_until_done(PATIENCE_S)
    assert what().count("close") == 1  # of the first node
    graph.close()
    assert what().count("close") == 2


def test_a_close_that_fails_is_an_error_of_the_close_of_the_graph(steered, kind):
    one = steered(kind)
    one.graph.swap("n", {"fail": "close"})
    one.graph.reset()
    one.feed(1)
    with pytest.raises(PenstockError, match="close was told to fail"):
        one.graph.close()
    assert what() == ["open", "close"]
    one.graph.close()


def test_a_kept_calculator_cannot_write_in_close(registry):
    class Flushing(steerable.Sums):
        def reset(self, cc):
            self.open(cc)

        def close(self, cc):
            cc.output.add(1, penstock.Timestamp.MAX)

    registry.add("calculator", "Flushing", Flushing)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Flushing" input_stream: "in" output_stream: "out" }',
        registry=registry,
    )
    graph.reset()
    with pytest.raises(PenstockError, match="after the stream was closed"):
        graph.close()


def test_a_graph_that_is_dropped_closes_them(registry):
    closed = threading.Event()

    class Telling(steerable.Lasting):
        def close(self, cc):
            super().close(cc)
            closed.set()

    registry.add("calculator", "Telling", Telling)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Telling" input_stream: "in" output_stream: "out" }',
        registry=registry,
    )
    graph.reset()
    graph.close_all_input_streams()
    graph.wait_until_done(PATIENCE_S)
    assert not closed.is_set()
    del graph
    gc.collect()
    assert closed.wait(PATIENCE_S)


def test_a_run_that_does_not_end_in_time_goes_on(registry):
    may_end = threading.Event()

    class Slow(steerable.Lasting):
        def process(self, cc):
            assert may_end.wait(PATIENCE_S)
            super().process(cc)

    registry.add("calculator", "Slow", Slow)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Slow" input_stream: "in" output_stream: "out" }',
        registry=registry,
    )
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    with pytest.raises(WaitTimeoutError):
        graph.reset(timeout=0.01)
    assert graph.is_running
    may_end.set()
    graph.reset(timeout=PATIENCE_S)
    graph.close()
    assert what() == ["open", "reset", "close"]


@pytest.mark.parametrize("policy", ["failure { on_error: SKIP }"])
def test_a_node_with_a_failure_policy_is_opened_again(steered, policy):
    one = steered("Lasting", policy)
    for _ in range(2):
        one.graph.reset()
        one.feed(1)
    assert one.end() == [(1, 1)] * 2
    assert what() == ["open", "close", "open", "close"]


def test_a_node_in_another_process_is_opened_again(steered):
    one = steered("Lasting", 'executor: "heavy"', 'executor { name: "heavy" type: "ProcessExecutor" }')
    for _ in range(2):
        one.graph.reset()
        one.feed(1)
    assert one.end() == [(1, 1)] * 2


def test_from_inside_of_the_run_it_is_refused(steered):
    one = steered("Lasting")
    errors = []

    def reset(_, packet):
        try:
            one.graph.reset()
        except PenstockError as error:
            errors.append(str(error))

    one.graph.observe_output_stream("out", reset)
    one.graph.start_run()
    one.feed(1)
    assert errors
    assert errors[0].startswith("reset() was called from inside this graph's own step")


def test_random_resets_keep_one_object_and_lose_nothing(steered, kind, node):
    one = steered(kind, node, "num_threads: 3")
    expected = []
    for run in range(60):
        one.graph.reset()
        for stamp in range(run % 7):
            one.graph.add_packet_to_input_stream("in", penstock.Packet(stamp, stamp))
            expected.append((stamp, stamp * max(run // 10, 1)))
        if run % 10 == 9:
            one.graph.wait_until_idle(PATIENCE_S)
            one.graph.swap("n", GainOptions(gain=run // 10 + 1))
            one.graph.close_all_input_streams()
            one.graph.wait_until_done(PATIENCE_S)
            one.graph.swap("n", GainOptions(gain=run // 10 + 1))
    assert one.end() == expected
    one.graph.close()
    assert what().count("open") == what().count("close")
