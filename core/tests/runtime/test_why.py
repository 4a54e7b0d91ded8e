from __future__ import annotations

import threading
import time

import attrs
import pytest

import penstock
from penstock.engine.input_stream_handler import NOT_READY, READY_FOR_CLOSE
from penstock.errors import GraphRunError, WaitTimeoutError
from penstock.explain import WaitKind, why
from penstock_testing import calculator
from penstock_testing.schedules import ScheduleHarness
from penstock_testing.wired_nodes import node, wired

TIMEOUT = 20
Packet = penstock.Packet
Nothing = calculator(name="Nothing", offset=0)
Join = calculator(name="Join", offset=0)
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)


def write_all(cc):
    for output in cc.outputs:
        output.add_packet(cc.input.packet)


Both = calculator(write_all, name="Both")


def odd_only(cc):
    if cc.input.payload % 2:
        cc.output.add_packet(cc.input.packet)


ForgetsBound = calculator(odd_only, name="ForgetsBound")


def count_up(cc):
    for output in cc.outputs:
        output.add(0, max(0, output.bound))


Ticks = calculator(count_up, name="Ticks")


def feed(graph, *stamps: int, stream: str = "in") -> None:
    for stamp in stamps:
        graph.add_packet_to_input_stream(stream, Packet(stamp, stamp))


def wait_of(reason, name: str):
    """Return the first wait of a node."""
    return next(wait for wait in reason.waits if wait.node == name)


def kinds(wait) -> list[WaitKind]:
    return [link.kind for link in wait.chain]


def settled(harness: ScheduleHarness):
    harness.run()
    return why(harness.schedule)


# --- the three stories ------------------------------------------------------------------------


def test_a_join_that_hangs_names_the_calculator_that_forgot_its_bound(make) -> None:
    graph = make([(ForgetsBound, "in", "x"), (Join, "in x", "joined"), (Nothing, "joined")], "in")
    graph.start_run()
    feed(graph, 1, 2, 3, 4, 6)
    graph.wait_until_idle(TIMEOUT)

    reason = graph.why()

    join = wait_of(reason, "Join")
    assert kinds(join) == [WaitKind.BOUND, WaitKind.FORGOTTEN_BOUND]
    assert (join.chain[0].stream, join.chain[0].timestamp, join.chain[0].bound) == ("x", 4, 4)
    assert join.held == 2
    assert join.culprit.node == "ForgetsBound"
    assert reason.culprits[0] is join.culprit
    assert join.culprit.text == (
        "node 'ForgetsBound' (ForgetsBound) has processed all up to 6 but promises nothing beyond 3 on "
        "stream 'x'; let it write a packet, call set_next_timestamp_bound() of that output, or declare "
        "cc.set_timestamp_offset(0) in its contract"
    )
    story = str(reason).splitlines()
    assert story[:4] == [
        "the run is running",
        "  node 'Nothing' waits for packets on 'joined' (bound 4)",
        "    because node 'Join' waits for stream 'x' (bound 4) to settle 4",
        f"    culprit: {join.culprit.text}",
    ]
    graph.close(TIMEOUT)


class Eager(penstock.InputStreamHandler):
    """Takes the oldest packet of whatever stream has one."""

    def look(self) -> int:
        if all(stream.is_done() for stream in self.inputs):
            return READY_FOR_CLOSE
        return min((s.queue[0].stamp for s in self.inputs if s.queue), default=NOT_READY)

    def fill(self, timestamp, inputs) -> None:
        for port in inputs:
            port.fill(port.stream.pop_at(timestamp))


def limiter():
    """Make a calculator that lets one packet into its loop and holds the others until that came back."""
    held: list[object] = []
    is_busy = [False]

    def process(cc):
        frame, back = cc.inputs[0], cc.inputs[1]
        if not back.is_empty():
            is_busy[0] = False
        if not frame.is_empty():
            held.append(frame.packet)
        if held and not is_busy[0]:
            is_busy[0] = True
            cc.outputs[0].add_packet(held.pop(0))

    return calculator(process, name="Limiter")


def test_a_limiter_whose_loop_never_comes_back_names_the_node_that_swallowed_the_frame() -> None:
    swallow = calculator(name="Swallow")
    harness = ScheduleHarness(
        wired(
            node(limiter(), "in back", "limited", back_edges="back", handler=Eager),
            node(swallow, "limited", "back"),
            node(Nothing, "back", name="Sink"),
            inputs="in",
        )
    ).start()
    harness.add("in", 1, 1)
    harness.add("in", 2, 2)

    reason = settled(harness)

    for waiting in ("Limiter", "Sink"):
        assert wait_of(reason, waiting).culprit.kind is WaitKind.FORGOTTEN_BOUND
        assert wait_of(reason, waiting).culprit.node == "Swallow"
    first = wait_of(reason, "Limiter").chain[0]
    assert (first.kind, first.stream) == (WaitKind.POLICY, "back")
    assert first.text == (
        "node 'Limiter' waits for what its policy Eager asks for; stream 'back' is empty (no packet yet)"
    )
    assert "'Swallow' (Swallow) has processed all up to 1 but promises nothing at all on" in str(reason)
    harness.close_sources()
    harness.finish()


def test_a_throttled_deadlock_names_the_poller_that_is_not_read(make) -> None:
    graph = make(
        [(Both, "in", "a b"), (Pass, "b", "late"), (Join, "a late", "joined")],
        "in",
        "max_queue_size: 2",
    )
    poller = graph.add_output_stream_poller("a")
    poller.set_max_queue_size(3)
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    graph.start_run()
    for stamp in range(3):
        feed(graph, stamp)
        graph.wait_until_idle(TIMEOUT)
    with pytest.raises(penstock.PenstockError, match="graph is throttled"):
        feed(graph, 3)

    reason = graph.why()

    assert [culprit.kind for culprit in reason.culprits] == [WaitKind.POLLER]
    assert reason.culprits[0].text == (
        "nobody reads the poller of stream 'a', which is full (3 packets, limit 3); call its next(), or "
        "set_max_queue_size(-1) so that it throttles nobody"
    )
    assert kinds(wait_of(reason, "Join"))[-2:] == [WaitKind.ROOM, WaitKind.POLLER]
    assert "graph input 'in' waits for room in the full queue of stream 'a' at its poller" in str(reason)
    assert poller.next(TIMEOUT) is not None
    assert [culprit.kind for culprit in graph.why().culprits] == [WaitKind.GRAPH_INPUT]
    graph.close(TIMEOUT)


def test_a_join_behind_a_full_queue_leads_to_the_input_that_starves_it() -> None:
    plan = wired(node(Join, "fast slow"), inputs="fast slow", max_queue_size=2)
    harness = ScheduleHarness(plan, observe=()).start()
    harness.run()
    harness.pause()  # or the limit would grow at once: nothing is left to do
    for stamp in (1, 2):
        harness.add("fast", stamp, stamp)

    reason = why(harness.schedule)

    join = wait_of(reason, "Join")
    assert kinds(join) == [WaitKind.BOUND, WaitKind.GRAPH_INPUT]
    assert join.culprit.stream == "slow"
    fast = next(wait for wait in reason.waits if not wait.node)
    assert kinds(fast) == [WaitKind.ROOM, WaitKind.BOUND, WaitKind.GRAPH_INPUT]
    assert (fast.state, fast.culprit) == ("open", join.culprit)
    assert fast.chain[0].text == (
        "graph input 'fast' waits for room in the full queue of stream 'fast' at node 'Join' "
        "(2 packets, limit 2)"
    )
    harness.resume()
    harness.close_sources()
    harness.finish()


def test_of_two_full_queues_the_poller_is_named_which_no_run_drains(make) -> None:
    graph = make([(Join, "a b")], "a b", "max_queue_size: 2", threads=0)
    poller = graph.add_output_stream_poller("a")
    poller.set_max_queue_size(2)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    graph.pause()  # or the limit of the join's queue would grow
    feed(graph, 1, 2, stream="a")

    kinds_of_a = next(kinds(wait) for wait in graph.why().waits if wait.chain[0].kind is WaitKind.ROOM)

    assert kinds_of_a == [WaitKind.ROOM, WaitKind.POLLER]
    graph.resume()
    graph.close(TIMEOUT)


def test_where_chains_meet_the_rest_is_shown_once() -> None:
    plan = wired(
        node(Pass, "a", "b", name="First"),
        node(Nothing, "b", name="Left"),
        node(Nothing, "b", name="Right"),
        inputs="a",
    )
    harness = ScheduleHarness(plan, observe=()).start()

    lines = str(settled(harness)).splitlines()

    first = "    because node 'First' waits for packets on 'a' (no packet yet)"
    assert lines[1:5] == [
        "  node 'Left' waits for packets on 'b' (no packet yet)",
        first,
        (
            "    culprit: graph input 'a' is open; the application feeds or closes it, or raises its bound "
            "(no packet yet)"
        ),
        "  node 'Right' waits for packets on 'b' (no packet yet)",
    ]
    assert lines[5:] == [f"{first}, as told above"]
    harness.close_sources()
    harness.finish()


@pytest.mark.parametrize("what", ["wait_until_done", "wait_until_idle", "next"])
def test_a_wait_that_expires_raises_with_the_story(make, what) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold(cc):
        entered.set()
        assert leave.wait(TIMEOUT)

    graph = make(
        [(ForgetsBound, "in", "x"), (Join, "in x", "joined"), (calculator(hold, name="Hold"), "other")],
        "in other",
    )
    poller = graph.add_output_stream_poller("joined")
    graph.start_run()
    feed(graph, 2)
    feed(graph, 1, stream="other")
    assert entered.wait(TIMEOUT)
    while wait_of(graph.why(), "Join").culprit.kind is not WaitKind.FORGOTTEN_BOUND:
        threading.Event().wait(0.001)
    call = poller.next if what == "next" else getattr(graph, what)
    with pytest.raises(WaitTimeoutError, match=r"took longer than 0.01 s\nthe run is running\n") as caught:
        call(timeout=0.01)

    assert "culprit: node 'ForgetsBound' (ForgetsBound) has processed all up to 2" in str(caught.value)
    assert "node 'Hold' is running (1 calls): process() at 1 has not come back" in str(caught.value)
    leave.set()
    graph.close(TIMEOUT)


# --- which others it names ---------------------------------------------------------------------


def test_before_a_run_it_says_so(make) -> None:
    reason = make([(Nothing, "in")], "in").why()

    assert (reason.state, reason.waits, reason.culprits) == ("not started", (), ())
    assert str(reason) == "the run has not started; call start_run()"


def test_after_a_run_it_says_why_it_ended(make) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    graph.close(TIMEOUT)
    assert str(graph.why()) == "the run is over: its sources and graph inputs have ended"
    graph.start_run()
    graph.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        graph.wait_until_done(TIMEOUT)

    assert str(graph.why()) == ("the run is over: it failed\n  an error of the run: the run was cancelled")
    assert (graph.why().state, graph.why().waits) == ("over", ())


def test_after_a_stop_it_names_the_node_that_returned_it(make) -> None:
    graph = make([(calculator(lambda cc: penstock.STOP, name="Enough"), "in")], "in")
    graph.start_run()
    feed(graph, 1)
    graph.wait_until_done(TIMEOUT)

    assert str(graph.why()) == "the run is over: node 'Enough' returned STOP"


def test_a_chain_of_waiting_nodes_ends_at_the_graph_input_that_is_not_fed() -> None:
    harness = ScheduleHarness(
        wired(node(Pass, "a", "b", name="First"), node(Pass, "b", "c", name="Second"), inputs="a")
    ).start()
    harness.add("a", 5, 5)

    reason = settled(harness)

    assert kinds(wait_of(reason, "Second")) == [WaitKind.PACKETS, WaitKind.PACKETS, WaitKind.GRAPH_INPUT]
    assert [culprit.text for culprit in reason.culprits] == [
        "graph input 'a' is open; the application feeds or closes it, or raises its bound (now 6)"
    ]
    assert str(reason).count("\n") == 3  # First is part of the chain of Second and not shown again
    harness.close_sources()
    harness.finish()


def test_each_stream_that_a_join_lacks_is_shown_with_its_own_culprit() -> None:
    plan = wired(node(Join, "a b c"), inputs="a b c")
    harness = ScheduleHarness(plan).start()
    harness.add("a", 5, 5)
    harness.set_bound("c", 3)

    reason = settled(harness)

    waits = [wait for wait in reason.waits if wait.node == "Join"]
    assert [(wait.chain[0].stream, wait.culprit.stream) for wait in waits] == [("b", "b"), ("c", "c")]
    assert all(wait.chain[0].timestamp == 5 for wait in waits)
    harness.close_sources()
    harness.finish()


def test_a_wait_that_goes_in_a_circle_is_shown_once_with_the_circle() -> None:
    plan = wired(
        node(Join, "in back", "sum", back_edges="back"),
        node(Pass, "sum", "back"),
        node(Nothing, "sum", name="Sink"),
        inputs="in",
    )
    harness = ScheduleHarness(plan).start()
    harness.add("in", 1, 1)

    reason = settled(harness)

    # the open input keeps the run from ending, but no node waits for it: it comes last
    assert [culprit.kind for culprit in reason.culprits] == [WaitKind.CIRCLE, WaitKind.GRAPH_INPUT]
    assert kinds(wait_of(reason, "Join")) == [WaitKind.BOUND, WaitKind.PACKETS, WaitKind.CIRCLE]
    assert "circle: 'Join', which waits for 'Pass', which waits for 'Join'" in reason.culprits[0].text
    assert str(reason).count("goes in a circle") == 1
    harness.close_sources()
    harness.finish()


def test_a_node_without_a_thread_waits_for_the_node_that_has_it(make) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold(cc):
        entered.set()
        assert leave.wait(TIMEOUT)

    graph = make([(calculator(hold, name="Hold"), "in"), (Nothing, "other")], "in other", threads=1)
    graph.start_run()
    feed(graph, 1)
    assert entered.wait(TIMEOUT)
    feed(graph, 1, stream="other")

    reason = graph.why()

    waiting = wait_of(reason, "Nothing")
    assert kinds(waiting) == [WaitKind.THREAD, WaitKind.RUNNING]
    assert waiting.chain[0].text == "node 'Nothing' is ready and waits for a thread of the default executor"
    assert (waiting.culprit.node, waiting.culprit.timestamp) == ("Hold", 1)
    leave.set()
    graph.close(TIMEOUT)


def test_a_ready_node_whose_executor_has_no_thread_of_its_own_says_that(make) -> None:
    graph = make([(Nothing, "in")], "in", threads=0)
    graph.start_run()
    feed(graph, 1)

    # the inline executor runs steps only while the application waits, so none runs inside a step
    reason = graph.why()
    assert wait_of(reason, "Nothing").culprit.kind is WaitKind.NO_THREAD
    assert "which work only while it waits for the graph" in str(reason)
    graph.close(TIMEOUT)


def test_a_paused_graph_is_the_culprit_of_what_is_ready() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "a"), inputs="a"), observe=()).start()
    harness.run()
    harness.pause()
    harness.add("a", 1, 1)

    reason = why(harness.schedule)

    assert kinds(wait_of(reason, "Nothing")) == [WaitKind.THREAD, WaitKind.PAUSED]
    assert str(reason).startswith("the run is paused; call resume()")
    harness.resume()
    harness.close_sources()
    harness.finish()


def test_the_earliest_of_several_calls_of_a_node_is_shown(make) -> None:
    entered, leave = threading.Semaphore(0), threading.Event()

    def hold(cc):
        entered.release()
        assert leave.wait(TIMEOUT)

    graph = make([(calculator(hold, name="Hold"), "in", "", "max_in_flight: 2")], "in")
    graph.start_run()
    feed(graph, 7, 8)
    assert entered.acquire(timeout=TIMEOUT)
    assert entered.acquire(timeout=TIMEOUT)

    assert (
        wait_of(graph.why(), "Hold").culprit.text
        == "node 'Hold' is running (2 calls): process() at 7 has not come back"
    )
    leave.set()
    graph.close(TIMEOUT)


def test_an_observer_that_does_not_come_back_is_named(make) -> None:
    entered, leave = threading.Event(), threading.Event()

    def observe(*_):
        entered.set()
        assert leave.wait(TIMEOUT)

    graph = make([(Pass, "in", "out")], "in", threads=1)
    graph.observe_output_stream("out", observe)
    graph.start_run()
    feed(graph, 1, 2)
    assert entered.wait(TIMEOUT)

    reason = graph.why()

    assert WaitKind.OBSERVER in {culprit.kind for culprit in reason.culprits}
    assert "an observer of stream 'out' has not come back" in str(reason)
    leave.set()
    graph.close(TIMEOUT)


def test_a_node_that_cannot_open_leads_to_the_node_that_makes_its_side_packet() -> None:
    late = calculator(name="Late", process=lambda cc: cc.output_side_packets[0].set(1))
    plan = wired(node(late, "a", side_outputs="made"), node(Nothing, "b", side_inputs="made"), inputs="a b")
    harness = ScheduleHarness(plan).start()

    reason = settled(harness)

    assert kinds(wait_of(reason, "Nothing")) == [
        WaitKind.SIDE_PACKET,
        WaitKind.PACKETS,
        WaitKind.GRAPH_INPUT,
    ]
    assert wait_of(reason, "Nothing").culprit.stream == "a"
    harness.close_sources()
    harness.finish()


def test_a_node_that_opened_without_making_its_side_packet_is_to_blame() -> None:
    never = calculator(name="Never")
    plan = wired(
        node(never, side_outputs="made"),
        node(Pass, "a", "b", side_inputs="made"),
        node(Nothing, "b"),
        inputs="a",
    )
    harness = ScheduleHarness(plan).start()
    harness.add("a", 1, 1)

    reason = settled(harness)

    assert kinds(wait_of(reason, "Nothing")) == [
        WaitKind.OPENING,
        WaitKind.SIDE_PACKET,
        WaitKind.NOT_MADE,
    ]
    assert wait_of(reason, "Pass").culprit.text == (
        "node 'Never' is opened, but has not made side packet 'made'; let it call set() of that port in open "
        "or process"
    )
    harness.close_sources()
    harness.finish()


def test_a_higher_source_layer_waits_for_the_lower_one() -> None:
    plan = wired(
        node(Ticks, (), "low", name="Low"),
        node(Ticks, (), "high", name="High", layer=1),
        node(Join, "low a"),
        inputs="a",
        max_queue_size=2,
    )
    harness = ScheduleHarness(plan).start()
    harness.pause()
    harness.resume()
    for _ in range(5):
        harness.step()

    reason = why(harness.schedule)

    assert kinds(wait_of(reason, "High"))[0] is WaitKind.LAYER
    assert wait_of(reason, "High").chain[1].node == "Low"
    harness.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        harness.finish()


def test_a_failed_run_that_waits_for_a_call_says_what_failed_and_which_node_holds_it(make) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold(cc):
        entered.set()
        assert leave.wait(TIMEOUT)

    graph = make([(calculator(hold, name="Hold"), "in"), (Nothing, "other")], "in other", threads=1)
    graph.start_run()
    feed(graph, 1)
    assert entered.wait(TIMEOUT)
    graph.cancel()

    reason = graph.why()

    assert str(reason).startswith(
        "the run is running, has failed and comes to its end\n  an error of the run: the run was cancelled\n"
    )
    assert kinds(wait_of(reason, "Nothing")) == [WaitKind.END, WaitKind.RUNNING]
    leave.set()
    with pytest.raises(GraphRunError, match="cancelled"):
        graph.wait_until_done(TIMEOUT)


class Pairs(penstock.InputStreamHandler):
    """Keeps the first stream for itself, and the two others in step."""

    def sync_sets(self):
        return [[0], [1, 2]]


def test_streams_of_other_sync_sets_are_not_blamed() -> None:
    harness = ScheduleHarness(wired(node(Join, "a b c", handler=Pairs), inputs="a b c")).start()
    harness.add("b", 5, 5)

    reason = settled(harness)

    bounds = [wait.chain[0].stream for wait in reason.waits if wait.chain[0].kind is WaitKind.BOUND]
    assert bounds == ["c"]
    assert wait_of(reason, "Join").culprit.stream == "c"
    harness.close_sources()
    harness.finish()


class InTwos(penstock.InputStreamHandler):
    """Collects two input sets before the first is given out."""

    def __init__(self, options=None) -> None:
        super().__init__(options)
        self.batch_size = 2


def test_what_a_batch_holds_has_not_been_processed() -> None:
    plan = wired(node(ForgetsBound, "a", "x", handler=InTwos), node(Join, "a x", name="Both"), inputs="a")
    harness = ScheduleHarness(plan).start()
    harness.add("a", 4, 4)

    reason = settled(harness)

    assert wait_of(reason, "Both").culprit.kind is WaitKind.GRAPH_INPUT
    assert "its policy collects batches of 2" in str(reason)
    harness.add("a", 6, 6)
    assert wait_of(settled(harness), "Both").culprit.kind is WaitKind.FORGOTTEN_BOUND
    harness.close_sources()
    harness.finish()


def test_a_node_with_an_offset_is_not_blamed_for_what_its_own_input_lacks() -> None:
    back = calculator(lambda cc: None, name="Delay", offset=-10)
    harness = ScheduleHarness(wired(node(back, "a", "x"), node(Join, "b x"), inputs="a b")).start()
    harness.add("b", 5, 5)
    harness.add("a", 5, 5)

    join = wait_of(settled(harness), "Join")

    assert kinds(join) == [WaitKind.BOUND, WaitKind.PACKETS, WaitKind.GRAPH_INPUT]
    assert join.culprit.stream == "a"
    harness.close_sources()
    harness.finish()


# --- what it is like ---------------------------------------------------------------------------


def test_a_chain_of_5000_nodes_is_explained_in_time_and_short(make) -> None:
    count = 5_000
    nodes = [(Pass, f"s{i}", f"s{i + 1}", f'name: "n{i}"') for i in range(count)]
    graph = make(nodes, "s0", threads=0)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    began = time.perf_counter()
    reason = graph.why()
    lines = str(reason).splitlines()
    took = time.perf_counter() - began

    assert len(reason.waits) == count
    assert len(lines) == 2 + 5 + 1 + 5
    assert lines[7] == f"    ({count - 10} more links)"
    assert lines[-1].startswith("    culprit: graph input 's0' is open")
    assert len(wait_of(reason, f"n{count - 1}").chain) == count + 1
    assert took < 5
    graph.close(TIMEOUT)


def test_a_circle_of_many_nodes_is_found_without_recursion(make) -> None:
    count = 3_000
    nodes = [(Pass, f"s{i}", f"s{i + 1}") for i in range(count)]
    back = "input_stream_info { tag_index: ':1' back_edge: true }"
    graph = make([(Join, f"in s{count}", "s0", back), *nodes], "in", threads=0)
    graph.start_run()
    feed(graph, 1)
    graph.wait_until_idle(TIMEOUT)

    reason = graph.why()

    culprit = reason.culprits[0]
    assert culprit.kind is WaitKind.CIRCLE
    assert f"which waits for {count - 5} more, which waits for" in culprit.text
    assert len(str(reason).splitlines()) < 20


def test_what_it_returns_cannot_be_changed_and_holds_no_engine(make) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    reason = graph.why()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        reason.waits[0].held = 3  # type: ignore[misc]
    assert "Hop" not in repr(reason)
    before = str(reason)
    graph.close(TIMEOUT)

    assert str(reason) == before
