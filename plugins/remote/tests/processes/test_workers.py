"""Nodes in workers: where they live, what comes back, and what goes wrong."""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
import weakref

import numpy as np
import pytest
import remote_calculators
from driving import failed

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError, StatusCode
from penstock_processes.process_executor import ProcessExecutor
from penstock_remote.errors import WorkerDiedError

pytestmark = pytest.mark.heavy

PATIENCE_S = 30.0


def test_a_node_works_in_another_process_and_nothing_is_left(driven, nothing_left) -> None:
    one = driven("Pid")

    (pid,) = set(one.run(*range(5)))
    again = set(one.run(*range(5)))

    assert pid != os.getpid()
    assert again == {pid}, "the second run starts warm, in the same process"
    one.graph.close(PATIENCE_S)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_thread_that_adds_sends_and_the_one_that_receives_sends_what_comes_of_it(driven) -> None:
    one = driven("Echo", "Echo", "Echo", options="num_processes: 1")
    one.graph.start_run()
    one.graph.wait_until_idle(PATIENCE_S)
    remote_calculators.Noting.packed_by.clear()

    for number in range(50):
        one.add(remote_calculators.Noting(), start=number)
        one.graph.wait_until_idle(PATIENCE_S)

    packed_by = remote_calculators.Noting.packed_by
    assert len(one.got) == 50
    assert len(packed_by) == 150
    # Nearly always: a thread of the executor that has not gone to sleep yet takes the step first, and an
    # answer that comes before the sender knows of it is taken by the sender.
    assert packed_by.count(threading.current_thread().name) > 10
    assert packed_by.count("penstock-worker-1") > 10


def test_a_node_with_a_failure_policy_is_called_by_threads_of_the_executor_alone(driven) -> None:
    one = driven(("Echo", "failure { on_error: SKIP }"), options="num_processes: 1")
    one.graph.start_run()
    one.graph.wait_until_idle(PATIENCE_S)
    remote_calculators.Noting.packed_by.clear()

    one.add(remote_calculators.Noting(), remote_calculators.Noting())
    one.graph.wait_until_idle(PATIENCE_S)

    assert len(one.got) == 2
    assert {name.rpartition("-")[0] for name in remote_calculators.Noting.packed_by} == {
        "penstock-send-workers"
    }


@pytest.mark.parametrize("start", ["SPAWN", "FORKSERVER"])
def test_both_ways_to_start_give_the_same(driven, start) -> None:
    one = driven("Echo", "Doubled", options=f"num_processes: 2 start: {start}")

    assert one.run(*range(20)) == [2 * n for n in range(20)]


def test_nodes_are_spread_over_the_workers_and_colocate_puts_them_together(driven) -> None:
    def pids(options):
        one = driven("Pid", *("Pid" for _ in range(3)), options=options)
        seen = []
        one.graph.observe_output_stream("s1", lambda _, p: seen.append(p.payload))
        for name in ("s2", "s3"):
            one.graph.observe_output_stream(name, lambda _, p: seen.append(p.payload))
        return [*one.run(0), *seen]

    assert len(set(pids("num_processes: 4"))) == 4
    assert len(set(pids("num_processes: 2"))) == 2
    assert len(set(pids('num_processes: 4 colocate { node: ["Pid_1", "Pid_2", "Pid_4"] }'))) == 2


def test_colocate_knows_the_names_of_the_nodes(driven) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"colocate has the node name 'Pod', but no node .*did you mean .Pid."
    ):
        driven("Pid", options='colocate { node: ["Pod"] }')


def test_colocate_takes_the_name_of_a_subgraph_for_all_its_nodes(registry) -> None:
    pair = """
        input_stream: "in" output_stream: "out" output_stream: "between"
        node { calculator: "Pid" executor: "workers" input_stream: "in" output_stream: "between" }
        node { calculator: "Pid" executor: "workers" input_stream: "between" output_stream: "out" }
    """
    graph = """
    input_stream: "in"
    executor { name: "workers" type: "ProcessExecutor" options {
      [penstock_processes.ProcessExecutorOptions.ext] { num_processes: 4 %s }
    } }
    node { name: "Left" calculator: "Pair" input_stream: "in" output_stream: "a" output_stream: "b" }
    node { name: "Right" calculator: "Pair" input_stream: "in" output_stream: "c" output_stream: "d" }
    """

    def pids(options):
        with penstock.CalculatorGraph(graph % options, registry=registry, subgraphs={"Pair": pair}) as made:
            seen = {}
            for name in "abcd":
                made.observe_output_stream(name, lambda stream, p: seen.update({stream: p.payload}))
            made.start_run()
            made.add_packet_to_input_stream("in", penstock.Packet(0, 0))
            made.close(PATIENCE_S)
            return [seen[name] for name in "abcd"]

    apart = pids("")
    a, b, c, d = pids('colocate { node: "Left" } colocate { node: "Right" }')

    assert len(set(apart)) == 4
    assert a == b
    assert c == d
    assert a != c


def test_the_outputs_of_several_objects_leave_in_order(driven) -> None:
    one = driven(("Doubled", "max_in_flight: 4"), options="num_processes: 4")

    assert one.run(*range(500)) == [2 * n for n in range(500)]


def test_frames_there_and_back_are_the_same_and_stay_when_the_graph_is_closed(driven) -> None:
    random = np.random.default_rng(5)
    frames = [random.integers(0, 255, (90, 160, 3), np.uint8) for _ in range(60)]
    one = driven("Echo", "Inverts")

    got = one.run(*frames)
    one.graph.close(PATIENCE_S)
    gc.collect()

    assert len(got) == 60
    assert all(np.array_equal(255 - here, there) for here, there in zip(frames, got, strict=True))
    assert not got[0].flags.writeable


def test_frames_that_find_no_room_go_through_the_pipe(driven) -> None:
    frames = [np.full((700, 1000), n, np.uint8) for n in range(12)]
    one = driven("Echo", options="num_processes: 1 arena_mib: 1")

    got = one.run(*frames)

    assert [int(frame.mean()) for frame in got] == list(range(12))


def test_frames_kept_for_ever_in_a_worker_stop_nothing(driven) -> None:
    frames = [np.full((500, 1000), n, np.uint8) for n in range(40)]
    one = driven("Keeps", options="num_processes: 1 arena_mib: 4")

    assert one.run(*frames)[-1] == list(range(40))


def test_memory_is_free_for_the_next_frame_without_the_garbage_collector(driven) -> None:
    one = driven("Inverts", options="num_processes: 1")
    frame = np.zeros((500, 1000), np.uint8)
    one.graph.start_run()
    places = set()
    gc.disable()
    try:
        for number in range(40):
            one.add(frame, start=number)
            one.graph.wait_until_idle(PATIENCE_S)
            places.add(one.got.pop().__array_interface__["data"][0])
    finally:
        gc.enable()

    assert len(places) <= 4, "the same few blocks are used again and again"


def test_packets_of_a_worker_that_died_stay_whole(driven) -> None:
    one = driven("Inverts", "Does", options="num_processes: 2")
    seen = []
    one.graph.observe_output_stream("s1", lambda _, packet: seen.append(packet.payload))

    pids_before = None
    with pytest.raises(GraphRunError):
        one.run(np.full((100, 100), 5, np.uint8), "kill")
    del pids_before

    assert int(seen[0].mean()) == 250


@pytest.mark.parametrize(
    ("what", "how", "signal", "status"),
    [("kill", "was killed by SIGKILL", "SIGKILL", None), ("exit", "ended with exit status 3", None, 3)],
)
def test_the_death_of_a_worker_is_told_with_its_cause_and_the_next_run_works(
    driven, what, how, signal, status
) -> None:
    one = driven("Does", options="num_processes: 1")

    errors = failed(one, "a", what, "b")

    (died,) = [error for error in errors if isinstance(error, WorkerDiedError)]
    assert (died.node, died.signal, died.exit_status, died.timestamp) == ("Does", signal, status, 100)
    assert died.code is StatusCode.UNAVAILABLE
    assert str(died) == f"node 'Does': worker 1 (pid {died.pid}) {how} in process() at 100"
    assert one.run("c", "d") == ["c", "d"]


@pytest.mark.parametrize("how", ["hang", "future"])
def test_a_call_that_does_not_end_is_killed_after_the_grace_time(driven, nothing_left, how) -> None:
    one = driven("Does", options="num_processes: 1 cancel_grace_s: 0.2")
    one.graph.start_run()
    one.add("a", how)
    deadline = time.monotonic() + PATIENCE_S
    while not one.got and time.monotonic() < deadline:
        time.sleep(0.01)
    begin = time.monotonic()
    one.graph.cancel()

    with pytest.raises(GraphRunError, match="cancelled"):
        one.graph.wait_until_done(PATIENCE_S)
    assert time.monotonic() - begin < 5
    one.graph.close(PATIENCE_S)


def test_an_executor_is_freed_at_once_when_nobody_has_it() -> None:
    executor = ProcessExecutor(1)
    known = weakref.ref(executor)
    gc.disable()  # which would free it too, if objects named one another
    try:
        del executor
        assert known() is None
    finally:
        gc.enable()


def test_what_a_worker_logs_comes_out_here_with_node_and_pid(driven, caplog) -> None:
    one = driven("Does", "Pid")
    with caplog.at_level(logging.INFO):
        one.run("log")
        one.graph.close(PATIENCE_S)

    (record,) = [record for record in caplog.records if record.name == "remote_calculators.does"]
    assert record.levelno == logging.WARNING
    assert record.process != os.getpid()
    assert record.node == "Does"
    assert record.getMessage() == f"[node 'Does', pid {record.process}] 3 lines"


def test_an_executor_of_the_application_serves_several_graphs(registry, nothing_left) -> None:
    executor = ProcessExecutor(1)
    pids = []
    text = 'input_stream: "in" node { calculator: "Pid" input_stream: "in" output_stream: "out" }'
    for _ in range(2):
        with penstock.CalculatorGraph(text, registry=registry) as graph:
            graph.set_executor("", executor)
            graph.observe_output_stream("out", lambda _, packet: pids.append(packet.payload))
            graph.start_run()
            graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))

    assert len(pids) == 2
    assert set(pids) == set(executor.workers())
    executor.close()
    assert executor.workers() == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_processes": -1}, "num_processes is -1"),
        ({"num_processes": 201}, "num_processes is 201, but must be from 0 to 200"),
        ({"arena_mib": 0}, "arena_mib is 0"),
        ({"start_timeout_s": 0.0}, "start_timeout_s is 0.0"),
        ({"cancel_grace_s": float("nan")}, "cancel_grace_s is nan"),
    ],
)
def test_options_out_of_range_are_refused(options, words) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        ProcessExecutor(**options)


def test_the_time_that_a_node_takes_is_that_in_its_worker(driven, tmp_path) -> None:
    one = driven("Sleeps")
    one.graph.set_timing()

    one.run((str(tmp_path / "began"), 0.2))

    (node,) = one.graph.snapshot().nodes
    assert 0.2 <= node.busy_s < 5


def test_why_says_in_which_worker_a_call_is_and_since_when(driven, tmp_path) -> None:
    one = driven("Sleeps")
    one.graph.start_run()
    one.add((str(tmp_path / "began"), 1.0))
    deadline = time.monotonic() + PATIENCE_S
    while not (tmp_path / "began").exists() and time.monotonic() < deadline:
        time.sleep(0.01)

    (call,) = one.graph.why().calls

    (pid,) = [
        int(word.strip("()"))
        for word in call.elsewhere.split()
        if word.strip("()").isdigit() and int(word.strip("()")) > 2
    ]
    assert str(call).startswith(f"node 'Sleeps': process() at 0 is in worker 1 (pid {pid}) since 0.")
    one.graph.close(PATIENCE_S)


def test_a_snapshot_says_in_which_worker_each_node_works(driven) -> None:
    one = driven("Does", "Does", ("Does", "max_in_flight: 2"), ("StatelessPid", "max_in_flight: 2"))
    ((pid, _),) = one.run(0)

    first, second, third, copies = [node.place for node in one.graph.snapshot().nodes]

    assert first.startswith("worker 1 (pid ")
    assert second.startswith("worker 2 (pid ")
    assert third == first
    assert copies == f"{second} and {first}"
    assert f"(pid {pid})" in copies


def test_the_doctor_starts_a_worker(nothing_left) -> None:
    from penstock_processes.health import checks

    (check,) = checks()

    assert check.is_well
    assert "there and back" in check.detail
