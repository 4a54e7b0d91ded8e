"""The file of a `ChromeTracer`, read by a parser that knows only the format; and a graph that asks for it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import json
import logging
import re
import subprocess
import sys
import threading
import weakref
from collections import Counter
from itertools import pairwise

import pytest

import penstock
from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler
from penstock.errors import (
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    WaitTimeoutError,
)
from penstock.tracing import PacketsDropped, TracedRun
from penstock_testing import calculator, testing_registry
from penstock_testing.traces import read_trace
from penstock_views.traces import ChromeTracer

TIMEOUT = 20
Packet = penstock.Packet
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Join = calculator(name="Join", offset=0)
FORK = [(Pass, "in", "a"), (Pass, "a", "b"), (Pass, "in", "c"), (Join, "A:a B:b C:c")]


def run_once(graph, count: int = 5) -> None:
    graph.start_run()
    for i in range(count):
        graph.add_packet_to_input_stream("in", Packet([i], i))
    graph.close(TIMEOUT)


@pytest.fixture
def traced(make, tmp_path):
    """Run a graph with a tracer and return both the graph and the trace."""

    def call(nodes, rest="", *, run=run_once, threads=2, tracer=None):
        tracer = ChromeTracer() if tracer is None else tracer
        graph = make(nodes, "in", rest, threads=threads)
        graph.set_tracer(tracer)
        run(graph)
        written = tracer.write(tmp_path / "trace.json")
        trace = read_trace(written.path)
        assert written.size == written.path.stat().st_size
        assert (written.arrows, written.lost) == (len(trace.arrows), trace.about["lost_records"])
        return graph, trace

    return call


def slices(trace, name):
    return [one for one in trace.slices if one.name == name]


# --- several threads at once -----------------------------------------------------------------------


def test_no_record_is_lost_while_threads_report_and_files_are_written(tmp_path) -> None:
    tracer = ChromeTracer()
    run = TracedRun(1, "graph", 0)
    tracer.run_started(run)
    begun = threading.Barrier(5)

    def report() -> None:
        begun.wait(TIMEOUT)
        for number in range(2_000):
            tracer.packets_dropped(PacketsDropped(run, "s", "n", "late", 1, number))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        reports = [pool.submit(report) for _ in range(4)]
        begun.wait(TIMEOUT)
        meanwhile = [tracer.write(tmp_path / "trace.json").lost for _ in range(3)]
        while not all(one.done() for one in reports):
            meanwhile.append(tracer.write(tmp_path / "trace.json").lost)
        for one in reports:
            one.result(TIMEOUT)

    assert set(meanwhile) == {0}
    assert tracer.write(tmp_path / "trace.json").lost == 0
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(event["name"].startswith("dropped") for event in events) == 8_000


# --- slices and arrows --------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_every_packet_that_the_ledger_has_delivered_is_an_arrow_to_its_reader(traced, threads) -> None:
    def run(graph):
        for stream in "bc":
            graph.observe_output_stream(stream, lambda *_: None)
        run_once(graph)

    graph, trace = traced(FORK, threads=threads, run=run)

    delivered = Counter[tuple[str, str]]()
    for stream in graph.ledger().streams:
        for reader in stream.readers:
            place = reader.place.split("'")[1] if "'" in reader.place else f"observer of {stream.name}"
            delivered[stream.name, place] += reader.delivered
    assert Counter((arrow.stream, arrow.target.name) for arrow in trace.arrows) == delivered
    assert sum(delivered.values()) == 40
    assert trace.about["loose_ends"] == 0


def test_an_arrow_leads_from_the_step_that_wrote_a_packet_to_each_step_that_read_it(traced) -> None:
    _, trace = traced(FORK)

    writers = {"in": "add to in", "a": "Pass_1", "b": "Pass_2", "c": "Pass_3"}
    for arrow in trace.arrows:
        stamp = arrow.about["timestamp"]
        assert arrow.source.name == writers[arrow.stream]
        assert arrow.source.about["timestamp"] == stamp
        assert arrow.target.about["inputs"][arrow.stream] == [stamp]
        assert arrow.source.end <= arrow.target.start or arrow.stream == "in"
        if arrow.stream != "in":
            assert arrow.source.about["outputs"] == {arrow.stream: [stamp]}


def test_each_step_is_a_slice_on_the_track_of_its_thread(traced) -> None:
    on: dict[object, str] = {}

    def process(cc):
        on[cc.input.payload[0]] = threading.current_thread().name
        cc.output.add_packet(cc.input.packet)

    noting = calculator(process, name="Noting", offset=0)
    graph, trace = traced([(noting, "in", "out"), (Join, "out")])

    found = slices(trace, "Noting")
    assert {one.about["timestamp"]: one.track for one in found} == on
    assert [one.about["timestamp"] for one in found] == list(range(5))
    assert all(first.end <= second.start for first, second in pairwise(found))
    assert found[0].about == {
        "method": "process",
        "calculator": "Noting",
        "timestamp": 0,
        "inputs": {"in": [0]},
        "outputs": {"out": [0]},
    }
    steps = {node.name: node.steps for node in graph.snapshot().nodes}
    assert Counter(one.name for one in trace.slices if one.kind == "process") == steps
    for name in ("Noting", "Join"):  # each on its own: two threads may open both at once
        ends = sorted((one.start, one.name) for one in trace.slices if one.name.startswith(f"{name} ("))
        assert [end for _, end in ends] == [f"{name} (open)", f"{name} (close)"]
    assert {one.track for one in trace.slices if one.kind == "add"} == {"graph inputs"}


def test_special_timestamps_have_their_names(traced) -> None:
    def run(graph):
        graph.start_run()
        graph.add_packet_to_input_stream("in", Packet("all", penstock.Timestamp.PRESTREAM))
        graph.close(TIMEOUT)

    _, trace = traced([(Join, "in")], run=run)

    assert [one.about["timestamp"] for one in trace.slices if one.kind in ("add", "process")] == [
        "Timestamp::PreStream()", "Timestamp::PreStream()",
    ]  # fmt: skip


def test_a_packet_that_the_input_policy_gives_another_timestamp_keeps_its_arrow(tmp_path) -> None:
    class Shifting(InputStreamHandler):
        """Shows each packet a second later."""

        def look(self):
            (stream,) = self.inputs
            if stream.queue:
                return stream.queue[0].stamp + 1_000_000
            return READY_FOR_CLOSE if stream.is_done() else NOT_READY

        def fill(self, timestamp, inputs):
            inputs[0].fill(inputs[0].stream.pop().at(timestamp))

        def blocking(self):
            return self.inputs

    registry = testing_registry(Join)
    registry.add("input stream handler", "Shifting", Shifting)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Join" input_stream: "in" '
        'input_stream_handler { input_stream_handler: "Shifting" } }',
        registry=registry,
    )
    tracer = ChromeTracer()
    graph.set_tracer(tracer)
    same = ["the same payload each time"]
    graph.start_run()
    for i in range(3):
        graph.add_packet_to_input_stream("in", Packet(same, i))
    graph.close(TIMEOUT)
    trace = read_trace(tracer.write(tmp_path / "trace.json").path)

    assert [(a.source.about["timestamp"], a.target.about["timestamp"]) for a in trace.arrows] == [
        (i, 1_000_000 + i) for i in range(3)
    ]


def test_the_lengths_of_queues_are_counters(traced) -> None:
    _, trace = traced([(Join, "in")], threads=0)

    (values,) = trace.counters.values()
    assert list(trace.counters) == [(trace.processes[0], "queue of in at Join")]
    assert [value for _, value in values] == [5, 4, 3, 2, 1, 0]


def test_queues_that_throttle_are_instants_and_counters(traced) -> None:
    _, trace = traced([(Join, "in")], rest="max_queue_size: 1", threads=0, run=lambda g: run_once(g, 1))

    process = trace.processes[0]
    assert trace.instants == [
        (process, "", "throttled by in at Join", {"packets": 1}),
        (process, "", "no longer throttled by in at Join", {"packets": 0}),
    ]
    (values,) = trace.counters.values()
    assert [value for _, value in values] == [1, 0]


def test_dropped_packets_are_instants(traced) -> None:
    drops = calculator(lambda cc: cc.input.count_dropped("unwanted"), name="Drops", offset=0)
    _, trace = traced([(drops, "in")], run=lambda graph: run_once(graph, 1))

    about = {"stream": "in", "packets": 1, "reason": "unwanted"}
    assert trace.instants == [(trace.processes[0], "", "dropped at Drops", about)]


def test_a_run_that_fails_has_a_trace_with_the_error_where_it_was_raised(traced) -> None:
    def process(cc):
        cc.output.add_packet(cc.input.packet)
        if cc.input_timestamp == 1:
            raise ArithmeticError("no ones")

    def run(graph):
        with pytest.raises(GraphRunError, match="no ones"):
            run_once(graph)

    # one thread: another could run into the error before the first packet is read
    _, trace = traced([(calculator(process, name="Fails"), "in", "out"), (Join, "out")], run=run, threads=1)

    failed = slices(trace, "Fails")[1]
    assert failed.about["error"] == "ArithmeticError: no ones"
    assert "outputs" not in failed.about
    assert [one for one in trace.instants if not one[2].startswith("dropped")] == [
        (failed.process, failed.track, "error in Fails", {"error": "ArithmeticError: no ones"})
    ]
    assert [arrow.about["timestamp"] for arrow in trace.arrows if arrow.stream == "out"] == [0]


# --- steps that are awaited, and steps that have not ended --------------------------------------


def test_awaited_steps_that_overlap_have_tracks_of_their_own(traced) -> None:
    async def process(cc):
        if both:
            both[0].set()
        else:
            both.append(asyncio.Event())
            await asyncio.wait_for(both[0].wait(), TIMEOUT)
        cc.output.add_packet(cc.input.packet)

    both: list[asyncio.Event] = []
    meets = calculator(process, name="Meets")
    _, trace = traced(
        [(meets, "in", "out", "max_in_flight: 2"), (Join, "out")], run=lambda graph: run_once(graph, 2)
    )

    first, second = slices(trace, "Meets")  # either may have been the earlier
    assert (first.track, second.track) == ("Meets, awaited", "Meets, awaited (2)")
    assert first.start < second.start < first.end
    written = [arrow for arrow in trace.arrows if arrow.stream == "out"]
    assert {arrow.source for arrow in written} == {first, second}
    assert [(a.source.about["timestamp"], a.target.name) for a in written] == [(0, "Join"), (1, "Join")]
    assert {arrow.target for arrow in trace.arrows if arrow.stream == "in"} == {first, second}


def test_awaited_steps_that_follow_one_another_share_a_track(traced, async_all) -> None:
    _, trace = traced([(async_all, "in", "out")])

    found = [one for one in trace.slices if one.name.startswith("AsyncAll")]
    assert len(found) == 7
    assert {one.track for one in found} == {"AsyncAll, awaited"}


def test_a_step_under_way_lasts_until_the_trace_is_written_and_says_so(make, tmp_path) -> None:
    futures: list[concurrent.futures.Future[None]] = []

    def process(cc):
        futures.append(concurrent.futures.Future())
        return futures[-1]

    graph = make([(calculator(process, name="Later"), "in")], "in", threads=0)
    tracer = ChromeTracer()
    graph.set_tracer(tracer)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(0, 0))
    with pytest.raises(WaitTimeoutError):
        graph.wait_until_idle(0)  # it runs what can run
    early = read_trace(tracer.write(tmp_path / "early.json").path)
    futures[0].set_result(None)
    graph.close(TIMEOUT)
    late = read_trace(tracer.write(tmp_path / "late.json").path)

    (unfinished,), (finished,) = slices(early, "Later"), slices(late, "Later")
    assert unfinished.about["unfinished"] is True
    assert "unfinished" not in finished.about
    assert [arrow.target for arrow in early.arrows] == [unfinished]
    assert unfinished.start == finished.start < unfinished.end < finished.end


# --- what is kept -------------------------------------------------------------------------------


def test_of_more_than_the_capacity_the_last_are_kept_and_the_lost_are_counted(traced) -> None:
    _, trace = traced(FORK, run=lambda graph: run_once(graph, 50), tracer=ChromeTracer(capacity=100))

    # 50 packets added, and of each of 4 nodes 50 steps, open and close
    assert trace.about["lost_records"] == 50 + 4 * 52 - 100
    assert len(trace.slices) == 100
    assert slices(trace, "Join (close)")
    assert not slices(trace, "Join (open)")
    read = sum(len(stamps) for one in trace.slices for stamps in one.about.get("inputs", {}).values())
    assert len(trace.arrows) + trace.about["loose_ends"] == read
    assert trace.about["loose_ends"] > 0


def test_kinds_that_are_left_out_are_not_recorded(traced) -> None:
    tracer = ChromeTracer(leave_out=["open", "close", "added", "throttled", "queues"])
    _, trace = traced([(Join, "in")], rest="max_queue_size: 1", run=lambda g: run_once(g, 1), tracer=tracer)

    assert [one.name for one in trace.slices] == ["Join"]
    assert trace.counters == {}
    assert [name for _, _, name, _ in trace.instants] == ["no longer throttled by in at Join"]


def test_each_run_is_a_process_of_its_own(make, tmp_path) -> None:
    graph = make([(Join, "in")], "in", 'type: "Twice"')
    tracer = ChromeTracer()
    graph.set_tracer(tracer)
    run_once(graph, 2)
    run_once(graph, 3)
    trace = read_trace(tracer.write(tmp_path / "trace.json").path)

    first, second = trace.processes
    assert all(name.startswith("Twice, run ") for name in (first, second))
    assert Counter(one.process for one in trace.slices) == {first: 2 + 4, second: 3 + 5}
    assert all(arrow.source.process == arrow.target.process for arrow in trace.arrows)


def test_runs_of_which_nothing_is_left_are_forgotten(make, tmp_path) -> None:
    graph = make([(Join, "in")], "in", threads=0)
    tracer = ChromeTracer(capacity=10, leave_out=["added", "throttled", "queues"])
    graph.set_tracer(tracer)
    for _ in range(70):
        run_once(graph, 1)

    gc.collect()
    assert sum(type(one) is TracedRun for one in gc.get_objects()) < 70
    trace = read_trace(tracer.write(tmp_path / "trace.json").path)
    assert (trace.about["lost_records"], trace.about["steps"]) == (70 * 3 - 10, 10)
    assert not any("unfinished" in one.about for one in trace.slices)


def test_a_trace_of_nothing_is_a_trace(tmp_path) -> None:
    trace = read_trace(ChromeTracer().write(tmp_path / "trace.json").path)

    assert (trace.slices, trace.arrows, trace.counters, trace.processes) == ([], [], {}, [])
    assert trace.about["steps"] == 0


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ({"capacity": 0}, "capacity 0 of a Chrome tracer: must be at least 1"),
        (
            {"leave_out": ["opne"]},
            "a Chrome tracer cannot leave out 'opne'; expected one of .'open', 'process'",
        ),
    ],
)
def test_a_wrong_capacity_or_kind_is_refused(words, wanted) -> None:
    with pytest.raises(InvalidArgumentError, match=wanted):
        ChromeTracer(**words)


# --- the file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "/", "a\0b"])
def test_a_trace_goes_to_a_file_that_can_have_that_name(path) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^the tracer cannot write a trace to '.*', which names no file; write"
    ):
        ChromeTracer().write(path)


def test_a_trace_that_cannot_be_written_leaves_what_was_there(tmp_path) -> None:
    target = tmp_path / "trace.json"
    target.write_text("before")
    tracer = ChromeTracer()
    with pytest.raises(NotFoundError, match=r"its directory does not exist; make it first"):
        tracer.write(tmp_path / "none" / "trace.json")
    with pytest.raises(UnavailableError, match=r"the tracer cannot write trace .*[Dd]irectory"):
        tracer.write(tmp_path)

    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


#: Writes a trace in a process that may make files of at most 20 bytes.
LIMITED = """
import resource, sys
from penstock_views.traces import ChromeTracer

resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
ChromeTracer().write(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process has no limit of file sizes there")
def test_a_trace_on_a_full_disk_leaves_what_was_there(tmp_path) -> None:
    target = tmp_path / "trace.json"
    target.write_text("before")

    done = subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, str(target)], capture_output=True, text=True, check=False
    )

    said = done.stderr.splitlines()[-1]
    assert re.search(
        r"UnavailableError: the tracer cannot write trace '.*trace\.json': .*File too large", said
    )
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_a_tracer_with_a_path_writes_it_at_the_end_of_each_run(make, tmp_path) -> None:
    path = tmp_path / "trace.json"
    graph = make([(Join, "in")], "in")
    graph.set_tracer(ChromeTracer(path))
    for runs in (1, 2):
        run_once(graph)
        assert len(read_trace(path).processes) == runs


def test_a_trace_that_cannot_be_written_at_the_end_of_a_run_is_no_error_of_the_run(
    make, tmp_path, caplog
) -> None:
    graph = make([(Join, "in")], "in")
    graph.set_tracer(ChromeTracer(tmp_path / "none" / "trace.json"))
    run_once(graph)

    assert "its directory does not exist" in caplog.text


# --- what a graph asks for ----------------------------------------------------------------------


def graph_that_wants(profiler: str) -> penstock.CalculatorGraph:
    return penstock.CalculatorGraph(
        f"profiler_config {{ {profiler} }} "
        'input_stream: "in" node { calculator: "Join" input_stream: "in" }',
        registry=testing_registry(Join),
    )


def test_a_graph_that_asks_for_a_trace_has_a_tracer_and_others_have_none() -> None:
    graph = graph_that_wants("trace_enabled: true")
    assert isinstance(graph.tracer, ChromeTracer)
    assert graph.tracer.capacity == 20_000
    assert graph_that_wants("trace_log_capacity: 7").tracer is None
    assert graph_that_wants("trace_enabled: true trace_log_capacity: 7").tracer.capacity == 7
    graph.set_tracer(None)
    run_once(graph)
    assert graph.tracer is None


def test_kinds_of_events_that_a_graph_disables_are_left_out(tmp_path) -> None:
    graph = graph_that_wants(
        "trace_enabled: true trace_log_disabled: true "
        "trace_event_types_disabled: 1 trace_event_types_disabled: 15 trace_event_types_disabled: 9"
    )
    run_once(graph, 2)
    trace = read_trace(graph.tracer.write(tmp_path / "trace.json").path)

    assert [one.kind for one in trace.slices if one.kind != "add"] == ["process", "process", "close"]
    assert trace.counters == {}


def test_a_graph_does_not_choose_where_files_are_written(tmp_path, monkeypatch, caplog) -> None:
    monkeypatch.chdir(tmp_path)
    graph = graph_that_wants('trace_enabled: true trace_log_path: "x_"')
    run_once(graph)
    run_once(graph)

    assert list(tmp_path.iterdir()) == []
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.getMessage().startswith(
        "the graph's profiler_config asks for trace files 'x_*.json', but a graph file does not choose where "
        "files are written; allow a directory with graph.set_trace_directory()"
    )


def test_below_the_directory_that_the_application_allows_files_are_written_in_turn(tmp_path, caplog) -> None:
    (tmp_path / "sub").mkdir()
    graph = graph_that_wants('trace_enabled: true trace_log_path: "sub/x_" trace_log_count: 2')
    graph.set_trace_directory(tmp_path)
    written = []
    for _ in range(3):
        run_once(graph)
        written.append(sorted(path.name for path in (tmp_path / "sub").iterdir()))

    assert written == [["x_0.json"], ["x_0.json", "x_1.json"], ["x_0.json", "x_1.json"]]
    assert len(read_trace(tmp_path / "sub" / "x_0.json").processes) == 3
    assert caplog.records == []
    graph.set_trace_directory(None)
    run_once(graph)
    assert "does not choose" in caplog.text


def test_a_path_that_leads_out_of_the_allowed_directory_is_refused(tmp_path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(tmp_path)
    for path in ("../x", "/elsewhere/x", "link/x"):
        graph = graph_that_wants(f'trace_enabled: true trace_log_path: "{path}"')
        with pytest.raises(
            InvalidArgumentError, match=f"trace_log_path '{path}' of the graph's profiler_config"
        ):
            graph.set_trace_directory(allowed)
        run_once(graph)
    with pytest.raises(InvalidArgumentError, match="is no directory"):
        graph.set_trace_directory(tmp_path / "none")

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.reference("framework/profiler/graph_tracer_test.cc", "GraphTracerE2ETest.DisableLoggingToDisk")
def test_a_graph_that_wants_no_file_gets_none_and_no_warning(tmp_path, caplog) -> None:
    graph = graph_that_wants(
        'trace_enabled: true trace_log_disabled: true trace_log_path: "log_file_disabled_"'
    )
    graph.set_trace_directory(tmp_path)
    run_once(graph)

    assert list(tmp_path.iterdir()) == []
    assert caplog.records == []


@pytest.mark.reference("framework/profiler/graph_tracer_test.cc", "GraphTracerE2ETest.DestructGraph")
def test_a_traced_graph_that_is_forgotten_in_its_run_ends(tmp_path) -> None:
    graph = penstock.CalculatorGraph(
        'num_threads: 4 profiler_config { trace_enabled: true trace_log_path: "log_file_" } '
        'input_stream: "in" node { calculator: "Join" input_stream: "in" }',
        registry=testing_registry(Join),
    )
    graph.set_trace_directory(tmp_path)
    graph.start_run()
    gone = weakref.ref(graph)
    before = set(threading.enumerate())
    del graph
    gc.collect()

    assert gone() is None
    for thread in set(threading.enumerate()) - before:  # one ends the run that nobody waits for
        thread.join(20)
    assert set(threading.enumerate()) <= before


def test_a_capacity_below_nothing_is_refused() -> None:
    with pytest.raises(
        InvalidArgumentError, match="profiling: trace_log_capacity -1 of the graph's profiler_config must"
    ):
        graph_that_wants("trace_enabled: true trace_log_capacity: -1")


def test_a_graph_does_not_import_the_module_that_writes_traces():
    program = (
        "import sys, penstock; penstock.CalculatorGraph; "
        "assert 'penstock_views.traces.chrome_tracer' not in sys.modules; "
        "from penstock_views.traces import ChromeTracer; "
        "assert 'penstock_views.traces.chrome_tracer' in sys.modules"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


# --- the parser ---------------------------------------------------------------------------------


def event(kind, **more):
    return {"ph": kind, "pid": 1, "tid": 1, "name": "n", "ts": 1, "cat": "c", "args": {}, **more}


NAMES = [
    event("M", name="process_name", args={"name": "p"}),
    event("M", name="thread_name", args={"name": "t"}),
]
SLICE = event("X", dur=10)


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ([SLICE], "no process or thread of this event has a name"),
        ([*NAMES, event("X", dur=0)], "a slice begins at 0 or later and takes some time"),
        (
            [*NAMES, SLICE, event("X", ts=5, dur=10)],
            "begins inside another one of its track and ends behind it",
        ),
        ([*NAMES, SLICE, event("s", id=1)], "arrows that do not end"),
        ([*NAMES, SLICE, event("f", id=1, bp="e")], "an arrow ends that did not begin"),
        ([*NAMES, SLICE, event("s", id=1), event("s", id=1)], "two arrows have one id"),
        ([*NAMES, SLICE, event("s", id=1), event("f", id=1, ts=2)], "is not bound to the slice around it"),
        ([*NAMES, SLICE, event("s", id=1, ts=2), event("f", id=1, bp="e")], "an arrow points back in time"),
        (
            [*NAMES, SLICE, event("s", id=1), event("f", id=1, ts=99, bp="e")],
            "not begin or end inside a slice",
        ),
        ([*NAMES, event("B")], "unknown kinds of events"),
        ([*NAMES, event("C", args={"packets": -1})], "a queue cannot be shorter than empty"),
        ([*NAMES, *NAMES], "two of process_name"),
    ],
)
def test_each_fault_of_a_trace_is_found(tmp_path, events, wanted) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))

    with pytest.raises(AssertionError, match=wanted):
        read_trace(path)
