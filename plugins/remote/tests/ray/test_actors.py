"""Nodes in actors of a cluster: where they live, what comes back, and what goes wrong."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("ray", reason='no Ray: pip install "penstock-remote[ray]"')

from driving import Driven, failed

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError, InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_ray import cluster as cluster_module
from penstock_ray.link import ActorLink, ActorNotStartedError
from penstock_ray.ray_executor import RayExecutor
from penstock_ray.references import Stored
from penstock_remote.errors import WorkerDiedError
from penstock_testing import check_executor

PATIENCE_S = 60.0

pytestmark = pytest.mark.timeout(180)


# --- where nodes live -------------------------------------------------------------------------


def test_a_node_works_in_an_actor_which_ends_with_the_graph(driven) -> None:
    threads = set(threading.enumerate())
    one = driven("Pid")

    (pid,) = set(one.run(*range(5)))
    again = set(one.run(*range(5)))
    (node,) = one.graph.snapshot().nodes

    assert node.place.startswith(f"actor 1 (pid {pid} on ")
    assert pid != os.getpid()
    assert again == {pid}, "the second run starts warm, in the same actor"
    one.graph.close(PATIENCE_S)
    assert not [one for one in set(threading.enumerate()) - threads if one.name.startswith("penstock")]
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"the actor's process {pid} is still there")


def test_each_node_has_an_actor_and_colocate_puts_nodes_together(driven) -> None:
    def pids(options):
        one = driven("Pid", "Pid", "Pid", options=options)
        seen = []
        for name in ("s1", "s2"):
            one.graph.observe_output_stream(name, lambda _, p: seen.append(p.payload))
        return [*one.run(0), *seen]

    assert len(set(pids(""))) == 3
    assert len(set(pids('colocate { node: ["Pid_1", "Pid_3"] }'))) == 2


def test_num_actors_limits_them(driven) -> None:
    one = driven(("StatelessPid", "max_in_flight: 4"), options="num_actors: 2")

    assert len({pid for pid, _ in one.run(*[0.02] * 12)}) == 2


def test_random_graphs_are_the_same_on_threads_and_on_a_cluster(cluster) -> None:
    executor = RayExecutor()
    try:
        assert check_executor(executor, range(8)) > 80, "the graphs do write something"
    finally:
        executor.close()


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("batch", [1, 4])
def test_five_hundred_random_graphs_are_the_same_on_threads_and_on_a_cluster(cluster, batch) -> None:
    executor = RayExecutor(batch=batch)
    try:
        assert check_executor(executor, range(1000 * batch, 1000 * batch + 500)) > 5_000
    finally:
        executor.close()


# --- batches ----------------------------------------------------------------------------------


@pytest.fixture
def sizes(monkeypatch):
    """Return how many calls each message had."""
    found = []
    remote = ActorLink._remote

    def counting(self, lane, items):
        found.append(len(items))
        return remote(self, lane, items)

    monkeypatch.setattr(ActorLink, "_remote", counting)
    return found


def test_calls_that_wait_go_together_and_their_outputs_leave_in_order(driven, sizes) -> None:
    one = driven(("Doubled", "max_in_flight: 32"), options="batch: 16")

    assert one.run(*range(500)) == [2 * n for n in range(500)]
    assert max(sizes) > 4
    assert max(sizes) <= 16


def test_calls_of_a_node_with_a_state_do_not_wait_for_each_other_in_a_message(driven, sizes) -> None:
    driven(("ObjectAndPid", "max_in_flight: 8"), options="batch: 8").run(*[0.01] * 20)

    assert set(sizes) == {1}


def test_one_payload_of_a_batch_that_cannot_go_takes_no_other_with_it(driven) -> None:
    skip = "failure { on_error: SKIP }"
    one = driven(("Does", f"max_in_flight: 16 {skip}"), options="batch: 8")
    payloads = ["a", threading.Lock(), "b", "lock", "c", "own error", "d"] * 5

    assert one.run(*payloads) == ["a", "b", "c", "d"] * 5
    words = [failure.error for failure in one.graph.failures()]
    assert sum("input 0 at" in text and "'lock' cannot go to another process" in text for text in words) == 5
    assert sum("output 0 at" in text and "'lock' cannot go to another process" in text for text in words) == 5


# --- payloads ---------------------------------------------------------------------------------


def test_frames_there_and_back_are_the_same_and_stay_when_the_graph_is_closed(driven) -> None:
    pixels = np.arange(720 * 1280 * 3, dtype=np.uint32).astype(np.uint8).reshape(720, 1280, 3)
    one = driven("Echo")
    (frame,) = one.run(ImageFrame(pixels))
    one.graph.close(PATIENCE_S)

    assert np.array_equal(frame.array, pixels)
    assert not frame.array.flags.writeable


@pytest.fixture
def in_driver(monkeypatch):
    """Return the types of payloads that answers brought to the driver, or that were left on the cluster."""
    from penstock_ray import link

    seen = []
    stored = link._with_stored

    def watching(answer, refs):
        found = stored(answer, refs)
        seen.extend(
            type(payload).__name__ for written in found.outputs if written for _, payload in written[0]
        )
        return found

    monkeypatch.setattr(link, "_with_stored", watching)
    return seen


def test_a_stream_that_nobody_else_reads_stays_on_the_cluster(driven, in_driver) -> None:
    one = driven("Echo", "Mean")

    assert one.run(*(np.full((300, 300), n, np.uint8) for n in range(4))) == [0.0, 1.0, 2.0, 3.0]
    assert sorted(in_driver) == ["Stored"] * 4 + ["float"] * 4


MEAN_BESIDE = """
input_stream: "in"
executor { name: "cluster" type: "RayExecutor" }
node { calculator: "Mean" executor: "cluster" input_stream: "in" output_stream: "mean" }
node {
  calculator: "SizeAndMean" executor: "cluster"
  input_stream: "ARRAY:in" input_stream: "MEAN:mean" output_stream: "out"
}
"""


def test_a_call_brings_an_array_of_the_driver_and_what_stayed_on_the_cluster(
    registry, cluster, in_driver
) -> None:
    with penstock.CalculatorGraph(MEAN_BESIDE, registry=registry) as graph:
        one = Driven(graph)

        assert one.run(*(np.full(50_000, value, np.uint8) for value in (1, 2))) == [
            (50_000, 1.0),
            (50_000, 2.0),
        ]
    assert sorted(in_driver) == ["Stored"] * 2 + ["tuple"] * 2


def test_a_stream_that_is_observed_comes_to_the_driver(driven, in_driver) -> None:
    one = driven("Echo", "Mean")
    seen = []
    one.graph.observe_output_stream("s1", lambda _, packet: seen.append(packet.payload.shape))

    assert one.run(np.zeros((300, 300), np.uint8)) == [0.0]
    assert seen == [(300, 300)]
    assert "Stored" not in in_driver


def test_typed_streams_several_packets_of_a_call_and_small_ones_stay_too(driven, in_driver) -> None:
    one = driven("Ints", "Ints", "Several", "Ints", options="batch: 4")

    assert one.run(1, 2, 3) == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert in_driver.count("Stored") == 3 + 3 + 9


def test_a_payload_that_stays_and_cannot_go_is_named(driven) -> None:
    error = failed(driven("Does", "Echo"), "lock")

    assert any(
        "node 'Does', output 0 at 0: a 'lock' cannot go to another process" in str(one) for one in error
    )


def test_a_payload_that_stays_and_cannot_go_takes_no_other_of_its_batch_with_it(driven, in_driver) -> None:
    one = driven(("Does", "max_in_flight: 16 failure { on_error: SKIP }"), "Ints", options="batch: 8")

    assert one.run(*[1, "lock", 2, 3] * 5) == [1, 2, 3] * 5
    assert in_driver.count("Stored") == 15
    assert len(one.graph.failures()) == 5


def test_a_stream_whose_reader_may_fall_back_comes_to_the_driver(driven, in_driver) -> None:
    fall_back = 'failure { on_error: FALL_BACK fallback { calculator: "Echo" } }'
    one = driven("Echo", ("Does", fall_back))

    assert one.run("a", "own error", "b") == ["a", "own error", "b"]
    assert "Stored" not in in_driver


def test_what_stays_is_freed_when_its_packets_are_gone(driven) -> None:
    one = driven("Echo", "Mean")

    one.run(*[np.zeros((300, 300), np.uint8)] * 20)

    gc.collect()
    assert not [found for found in gc.get_objects() if isinstance(found, Stored)]


# --- what goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["kill", "exit"])
def test_the_death_of_an_actor_is_told_and_the_next_run_has_a_new_one(driven, how) -> None:
    one = driven("Does")
    begin = time.monotonic()

    (died,) = [error for error in failed(one, "a", "b", how, "c") if isinstance(error, WorkerDiedError)]

    assert time.monotonic() - begin < PATIENCE_S
    assert died.node == "Does"
    assert died.timestamp == 200
    assert died.pid not in {None, os.getpid()}
    assert died.host
    assert f"node 'Does': actor 1 (pid {died.pid} on {died.host}) died (" in str(died)
    assert str(died).endswith("in process() at 200")
    assert one.graph.ledger().adds_up
    assert one.run("a") == ["a"]


def test_a_policy_skips_the_set_of_an_actor_that_died_and_goes_on_in_another(driven) -> None:
    one = driven(("Opens", "failure { on_error: SKIP max_restarts: 5 }"))

    assert one.run("a", "b", "kill", "c", "d") == [1, 2, 1, 2]
    assert [failure.kind for failure in one.graph.failures()] == ["WorkerDiedError"]


def test_a_call_that_does_not_end_is_killed_after_the_grace_time(driven) -> None:
    one = driven("Does")
    one.run("a")
    one.graph.start_run()
    one.add("hang")
    threading.Timer(0.3, one.graph.cancel).start()

    with pytest.raises(GraphRunError):
        one.graph.wait_until_done(10)


def test_a_coroutine_is_cancelled_where_its_actor_has_a_thread_for_that(driven) -> None:
    one = driven(("Waits", "max_in_flight: 2"), options="cancel_grace_s: 30")
    one.run(0.0)
    one.graph.start_run()
    one.add(60.0)
    threading.Timer(0.3, one.graph.cancel).start()

    with pytest.raises(GraphRunError):
        one.graph.wait_until_done(10)


def test_what_an_actor_logs_comes_out_here_with_node_host_and_pid(driven, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        driven("Does").run("log", "a")

    (record,) = [record for record in caplog.records if record.name == "remote_calculators.does"]
    assert record.getMessage().endswith("] 3 lines")
    assert record.getMessage().startswith("[node 'Does', ")
    assert ", pid " in record.getMessage()


def test_why_says_in_which_actor_a_call_is_and_since_when(driven, tmp_path) -> None:
    began = tmp_path / "began"
    one = driven("Sleeps")
    one.graph.start_run()
    one.add((str(began), 2.0))
    deadline = time.monotonic() + PATIENCE_S
    while not began.exists() and time.monotonic() < deadline:
        time.sleep(0.01)

    words = str(one.graph.why())

    assert f"in actor 1 (pid {began.read_text()} on " in words
    one.graph.close_all_input_streams()
    one.graph.wait_until_done(PATIENCE_S)


def test_resources_that_no_host_has_are_named(driven) -> None:
    one = driven(
        "Echo", options='num_gpus: 1 resources { key: "camera" value: 2 } start_timeout_s: 1.5 num_cpus: 1'
    )

    words = str(failed(one, 1)[0])

    assert "node 'Echo': actor 1 was not ready after 1.5 s (start_timeout_s)" in words
    assert (
        "it needs num_cpus: 1, num_gpus: 1, camera: 2; the most that a host has is GPU 0, camera 0" in words
    )


def test_a_host_without_the_pack_is_told(driven, tmp_path) -> None:
    elsewhere = tmp_path / "penstock_ray.py"
    elsewhere.write_text("raise ImportError('no penstock-remote here')")
    environment = tmp_path / "environment.yaml"
    environment.write_text(f"env_vars: {{PYTHONPATH: {tmp_path}}}")
    one = driven("Echo", options=f'runtime_env: "{environment}"')

    error = failed(one, 1)

    assert any(isinstance(one, ActorNotStartedError) for one in error)
    assert "no penstock-remote here" in str(error[0])
    assert "the hosts need penstock-remote and the packs of the graph" in str(error[0])


def test_a_runtime_environment_is_that_of_the_actors(driven, tmp_path) -> None:
    path = tmp_path / "environment.yaml"
    path.write_text("env_vars: {PENSTOCK_TEST_VARIABLE: there}")

    assert driven("Variable", options=f'runtime_env: "{path}"').run("PENSTOCK_TEST_VARIABLE") == ["there"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("[1, 2]", "holds a list, but must be a mapping"),
        ("{a: [", "cannot be read"),
    ],
)
def test_a_runtime_environment_that_is_none_is_refused(driven, tmp_path, content, words) -> None:
    path = tmp_path / "environment.yaml"
    if content is not None:
        path.write_text(content)

    with pytest.raises(InvalidArgumentError, match=f"runtime_env .*{words}"):
        driven("Echo", options=f'runtime_env: "{path}"')


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("num_cpus: -1", "num_cpus is -1.0, but must not be negative"),
        ("batch: 0", "batch is 0, but must be at least 1"),
        ("start_timeout_s: 0", "start_timeout_s is 0.0, but must be positive"),
        ("resources { value: 1 }", "option resource has no key"),
        ('resources { key: "a" value: 0 }', "resource 'a' is 0.0, but must be positive"),
        ('colocate { node: ["Pod"] }', "colocate has the node name 'Pod', but no node .*did you mean .Pid."),
        ('node { name: "Pod" }', "node has the node name 'Pod', but no node .*did you mean .Pid."),
    ],
)
def test_options_that_make_no_sense_are_refused(driven, options, words) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        driven("Pid", options=options)


def test_another_cluster_than_the_connected_one_is_refused(driven) -> None:
    one = driven("Echo", options='address: "10.9.8.7:6379"')

    with pytest.raises(InvalidArgumentError, match="this process is connected with the cluster at"):
        one.graph.start_run()


def test_without_ray_the_executor_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(FailedPreconditionError, match=r'pip install "penstock-remote\[ray\]"'):
        cluster_module.ray_module()
