from __future__ import annotations

import pytest
import steerable
from steerable import GainOptions

import penstock
from penstock import Timestamp
from penstock.errors import (
    FailedPreconditionError,
    GraphConfigError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    TimestampError,
    TimestampOrderError,
)
from penstock.runtime.runner.runner import Runner
from penstock.tracing import Tracer
from penstock_steering import ChangeKind, changes

PATIENCE_S = 30.0


@pytest.mark.parametrize("kind", ["Tuned", "AsyncTuned"])
def test_options_count_from_their_timestamp_on(steered, events, kind):
    one = steered(kind)
    one.graph.start_run()
    one.feed(1, 2)
    assert one.graph.set_options("n", GainOptions(gain=10), at=4) == 4
    one.feed(3, 4, 5)
    assert one.end() == [(1, 1), (2, 2), (3, 3), (4, 40), (5, 50)]
    assert [what for what, _, _ in events] == ["open", "options_changed", "close"]


@pytest.mark.parametrize("method", ["set_options", "swap"])
def test_a_run_that_cannot_start_leaves_them_to_the_next(steered, events, method, monkeypatch):
    one = steered("Tuned")
    change = {"set_options": lambda: one.graph.set_options("n", {"gain": 10}, at=4),
              "swap": lambda: one.graph.swap("n", options={"gain": 10}, at=4)}[method]  # fmt: skip
    change()
    monkeypatch.setattr(Runner, "start", _refuse)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no thread"):
            one.graph.start_run()
    monkeypatch.undo()
    one.graph.start_run()
    one.feed(3, 4)

    assert one.end() == [(3, 3), (4, 40)]
    one.graph.start_run()
    one.feed(3, 4)
    assert one.end() == [(3, 30), (4, 40)]


def _refuse(*_given, **_options):
    raise RuntimeError("no thread")


def test_without_a_timestamp_they_count_from_the_next_call(steered):
    one = steered("Tuned")
    one.graph.start_run()
    one.feed(1, 20)
    assert one.graph.set_options("n", {"gain": 10}) == 21
    one.feed(25)
    assert one.end() == [(1, 1), (20, 20), (25, 250)]


def test_they_may_be_set_before_the_node_has_opened(steered):
    one = steered("Tuned")
    one.graph.start_run()
    assert one.graph.set_options("n", {"gain": 10}) == Timestamp.PRESTREAM
    one.feed(1)
    assert one.end() == [(1, 10)]


def test_a_dict_changes_fields_and_an_object_replaces_all(steered):
    one = steered("Tuned")
    one.graph.start_run()
    one.graph.set_options("n", {"gain": 10}, at=1)
    one.graph.set_options("n", {"offset": 7}, at=2)
    one.graph.set_options("n", GainOptions(offset=5), at=3)
    one.feed(1, 2, 3)
    assert one.end() == [(1, 10), (2, 27), (3, 8)]


def test_changes_wait_in_order_of_their_timestamps(steered, events):
    one = steered("Tuned")
    one.graph.start_run()
    one.feed(1)
    one.graph.set_options("n", {"gain": 30}, at=30)
    one.graph.set_options("n", {"gain": 10}, at=10)
    one.graph.set_options("n", {"gain": 20}, at=20)
    one.feed(9, 10, 40)
    assert one.end() == [(1, 1), (9, 9), (10, 100), (40, 1200)]
    assert [gain for what, _, gain in events if what == "options_changed"] == [10, 20, 30]


def test_a_timestamp_that_has_begun_is_refused_and_nothing_changes(steered):
    one = steered("Tuned")
    one.graph.start_run()
    one.feed(1, 20)
    for _ in range(2):  # before the node is steered, and after
        with pytest.raises(
            TimestampOrderError,
            match=r"set_options: steered node 'n': 20 is too late, process\(\) has begun for 20; give a",
        ):
            one.graph.set_options("n", {"gain": 10}, at=20)
        one.graph.set_options("n", {"offset": 0}, at=21)
    one.feed(21)
    assert one.end() == [(1, 1), (20, 20), (21, 21)]
    assert len(changes(one.graph)) == 2


def test_a_timestamp_that_no_packet_has_is_refused(steered):
    one = steered("Tuned")
    one.graph.start_run()
    with pytest.raises(TimestampError, match=r"take no at=Timestamp::Done\(\): it must be a timestamp"):
        one.graph.set_options("n", {"gain": 10}, at=Timestamp.DONE)


def test_a_calculator_without_options_changed_is_refused(steered):
    one = steered("Gain")
    for _ in range(2):  # without a run, and in one
        with pytest.raises(FailedPreconditionError, match=r"no options_changed\(cc\).*graph.swap\(\)"):
            one.graph.set_options("n", {"gain": 2})
        if not one.graph.is_running:
            one.graph.start_run()
    one.feed(1)
    assert one.end() == [(1, 1)]


def test_wrong_options_are_named_before_the_missing_options_changed(steered):
    with pytest.raises(InvalidArgumentError, match="gian"):
        steered("Gain").graph.set_options("n", {"gian": 2})


def test_unknown_names_are_refused_with_what_is_near(steered):
    one = steered("Tuned")
    with pytest.raises(
        NotFoundError, match=r"there is no node 'm'; did you mean 'n'|there is no node 'm'.*'n'"
    ):
        one.graph.set_options("m", {"gain": 2})
    with pytest.raises(InvalidArgumentError, match=r"node 'n': .*has no field 'gian' \(did you mean 'gain'"):
        one.graph.set_options("n", {"gian": 2})


@pytest.mark.parametrize("given", [{"gain": 10**9 + 1}, {"gain": "two"}, 7, penstock.Packet(1)])
def test_options_are_checked_as_when_a_graph_is_loaded(steered, given):
    one = steered("Tuned")
    one.graph.start_run()
    with pytest.raises((InvalidArgumentError, GraphConfigError), match="n'"):
        one.graph.set_options("n", given)
    one.feed(1)
    assert one.end() == [(1, 1)]
    assert changes(one.graph) == ()


def test_options_of_another_calculator_are_refused(steered):
    import attrs

    @attrs.frozen
    class OtherOptions:
        gain: int = 1

    one = steered("Tuned")
    with pytest.raises(
        InvalidArgumentError, match=r"OtherOptions, but calculator 'Tuned' takes .*GainOptions"
    ):
        one.graph.set_options("n", OtherOptions())


def test_what_options_changed_raises_is_an_error_of_the_call(steered, events):
    one = steered("Tuned")
    one.graph.start_run()
    one.graph.set_options("n", {"fail": "options_changed"}, at=2)
    with pytest.raises(
        GraphRunError,
        match=r"node 'n' \(Tuned\): process\(\) failed at 2: options_changed\(\) failed: ValueError: "
        r"options_changed was told to fail \(at steerable.py:\d+ in ",
    ):
        one.feed(1, 2, 3)
    with pytest.raises(GraphRunError):
        one.graph.wait_until_done(PATIENCE_S)
    assert [what for what, _, _ in events] == ["open", "close"]


def test_options_changed_may_not_write(steered):
    one = steered("Tuned")
    one.graph.start_run()
    one.graph.set_options("n", {"fail": "write"}, at=2)
    with pytest.raises(
        GraphRunError, match=r"options_changed\(\) of the steered node wrote to stream 'out'; only open"
    ):
        one.feed(1, 2)
    with pytest.raises(GraphRunError):
        one.graph.wait_until_done(PATIENCE_S)


def test_options_changed_must_return_what_can_be_awaited(steered, registry):
    class Odd(steerable.Tuned):
        def options_changed(self, cc):
            return 5

    registry.add("calculator", "Odd", Odd)
    one = steered("Odd")
    one.graph.start_run()
    one.graph.set_options("n", {"gain": 2})
    with pytest.raises(GraphRunError, match=r"options_changed\(\) returned 5; it must return None"):
        one.feed(1)
    with pytest.raises(GraphRunError):
        one.graph.wait_until_done(PATIENCE_S)


def test_where_packets_are_taken_as_they_arrive_the_next_call_counts_whatever_its_timestamp(registry):
    seen = []

    class Arrivals(steerable.Tuned):
        @classmethod
        def get_contract(cls, cc):
            for port in cc.inputs:
                port.set_any()
            cc.set_input_stream_handler("ImmediateInputStreamHandler")

        def process(self, cc):
            seen.append((int(cc.input_timestamp), self.gain))

    registry.add("calculator", "Arrivals", Arrivals)
    graph = penstock.CalculatorGraph(
        """input_stream: "a" input_stream: "b"
           node { calculator: "Arrivals" name: "n" input_stream: "a" input_stream: "b" }""",
        registry=registry,
    )
    graph.start_run()
    graph.add_packet_to_input_stream("a", penstock.Packet(0, 5))
    graph.wait_until_idle(PATIENCE_S)
    assert graph.set_options("n", {"gain": 2}) == 6
    graph.add_packet_to_input_stream("b", penstock.Packet(0, 1))
    graph.wait_until_idle(PATIENCE_S)
    graph.close_all_packet_sources()
    graph.wait_until_done(PATIENCE_S)
    assert seen[:2] == [(5, 1), (1, 2)]


def test_overlapping_calls_are_told_to_swap(steered):
    one = steered("Tuned", "max_in_flight: 2")
    one.graph.start_run()
    with pytest.raises(FailedPreconditionError, match=r"may overlap \(max_in_flight 2\).*use graph.swap\(\)"):
        one.graph.set_options("n", {"gain": 2})


def test_a_node_with_a_failure_policy_changes_between_runs_only(steered):
    one = steered("Tuned", "failure { on_error: SKIP }")
    one.graph.start_run()
    with pytest.raises(
        FailedPreconditionError, match=r"'n' has a failure policy.*take `failure` off the node"
    ):
        one.graph.set_options("n", {"gain": 2})
    one.feed(1)
    assert one.end() == [(1, 1)]
    assert one.graph.set_options("n", {"gain": 2}) == Timestamp.UNSTARTED
    one.graph.start_run()
    one.feed(1)
    assert one.end() == [(1, 2)]


def test_a_node_in_another_process_changes_between_runs_only(steered):
    workers = """executor { name: "heavy" type: "ProcessExecutor" options {
        [penstock.ProcessExecutorOptions.ext] { num_workers: 1 } } }"""
    try:
        one = steered("Tuned", 'executor: "heavy"', workers)
    except penstock.GraphParseError:
        one = steered("Tuned", 'executor: "heavy"', 'executor { name: "heavy" type: "ProcessExecutor" }')
    one.graph.start_run()
    with pytest.raises(
        FailedPreconditionError, match=r"'n' works in another process \(executor 'heavy'\); take it off"
    ):
        one.graph.set_options("n", {"gain": 2})
    one.feed(1)
    assert one.end() == [(1, 1)]
    one.graph.set_options("n", {"gain": 2})
    one.graph.start_run()
    one.feed(1)
    assert one.end() == [(1, 2)]


def test_what_came_into_effect_stays_for_later_runs_and_nothing_else(steered):
    one = steered("Tuned")
    one.graph.start_run()
    one.graph.set_options("n", {"gain": 10}, at=2)
    one.graph.set_options("n", {"gain": 20}, at=100)
    one.feed(1, 2)
    assert one.end() == [(1, 1), (2, 20)]
    one.graph.start_run()
    one.feed(1)
    assert one.end() == [(1, 10)]
    [change] = changes(one.graph)
    assert (change.node, change.at) == ("n", Timestamp.UNSTARTED)


def test_before_a_run_they_count_from_its_start_or_from_their_timestamp(steered, events):
    one = steered("Tuned")
    assert one.graph.set_options("n", {"gain": 3}) == Timestamp.UNSTARTED
    assert one.graph.set_options("n", {"offset": 5}, at=2) == 2
    one.graph.start_run()
    one.feed(1, 2)
    assert one.end() == [(1, 3), (2, 11)]
    assert [(what, gain) for what, _, gain in events] == [("open", 3), ("options_changed", 3), ("close", 3)]
    assert [(int(one.at), one.kind) for one in changes(one.graph)] == [
        (int(Timestamp.UNSTARTED), ChangeKind.SET_OPTIONS),
        (2, ChangeKind.SET_OPTIONS),
    ]


def test_for_a_source_the_timestamp_is_the_bound_of_its_outputs(registry):
    graph = penstock.CalculatorGraph(
        """node { calculator: "Count" name: "n" output_stream: "out" node_options {
             [type.googleapis.com/steerable.GainOptions] { offset: 6 } } }""",
        registry=registry,
    )
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload))
    graph.set_options("n", {"gain": 10}, at=3)
    graph.run(timeout=PATIENCE_S)
    assert out == [0, 1, 2, 30, 40, 50]


class Noted(Tracer):
    """Keeps which calls have ended."""

    def __init__(self):
        self.calls = []

    def step_ended(self, step):
        self.calls.append((step.method, step.timestamp))


@pytest.mark.parametrize("is_timed", [False, True])
def test_the_calls_of_changed_nodes_are_timed_and_traced(steered, is_timed):
    one = steered("Tuned")
    tracer = Noted()
    one.graph.set_timing(is_timed)
    one.graph.set_tracer(tracer)
    one.graph.start_run()
    one.feed(1)
    one.graph.set_options("n", {"gain": 2})
    one.feed(2)
    one.graph.swap("n", {"gain": 3})
    before = one.graph.snapshot().nodes[0].busy_s
    one.feed(3)
    after = one.graph.snapshot().nodes[0].busy_s
    assert one.end() == [(1, 1), (2, 4), (3, 9)]
    assert (after > before) if is_timed else after == before == 0
    assert [call for call in tracer.calls if call[0] in ("process", "close")] == [
        ("process", 1),
        ("process", 2),
        ("process", 3),
        ("close", None),
    ]


def test_nodes_that_nobody_changes_are_called_as_ever(steered):
    one = steered("Tuned")
    one.graph.start_run()
    one.feed(1)
    node = one.graph._runs.runner.schedule.nodes[0]
    assert node.process == node.calculator.process
    assert one.graph._runs.steering is None
    one.end()
