"""Real clusters: one that is started for a program, two hosts, a host that goes and one that comes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason='no Ray: pip install "penstock-remote[ray]"')

from driving import Driven, Fed, text_of

import penstock
from penstock.errors import GraphRunError
from penstock_ray.cluster import ClusterError
from penstock_remote.errors import WorkerDiedError
from penstock_shards import shard_of

PATIENCE_S = 60.0

pytestmark = pytest.mark.timeout(240)

PROGRAM = """
    import logging, os, sys, threading
    import penstock

    logging.basicConfig()

    class Pair:
        def __init__(self, number):
            self.number = number

    @penstock.calculator
    def paired(value: int) -> Pair:
        return Pair(3 * value)

    class Opened(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set(Pair)
            cc.outputs[0].set(tuple)

        def process(self, cc):
            cc.output.add((cc.input.payload.number, os.getpid()), cc.input_timestamp)

    GRAPH = '''
        input_stream: "in"
        executor {{ name: "cluster" type: "RayExecutor"
                   options {{ [penstock_ray.RayExecutorOptions.ext] {{ {options} }} }} }}
        node {{ calculator: "Paired" executor: "cluster" input_stream: "in" output_stream: "pair" }}
        node {{ calculator: "Opened" executor: "cluster" input_stream: "pair" output_stream: "out" }}
    '''

    if __name__ == "__main__":
        penstock.register_calculator(paired)
        penstock.register_calculator(Opened)
        with penstock.CalculatorGraph(GRAPH) as graph:
            graph.observe_output_stream("out", lambda _, packet: print(*packet.payload, flush=True))
            graph.start_run()
            for number in range(3):
                graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
            {then}
            graph.close_all_input_streams()
            graph.wait_until_done(60)
        import ray
        print("connected" if ray.is_initialized() else "alone", flush=True)
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def wait_until(done, within_s):
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if done():
            return True
        time.sleep(0.05)
    return done()


@pytest.fixture
def program(tmp_path):
    """Start the program in a process group of its own; it is killed with the test."""
    started = []

    def start(then="pass", options="", tmpdir=None):
        path = tmp_path / "program.py"
        text = textwrap.dedent(PROGRAM).replace("{{", "{").replace("}}", "}")
        path.write_text(text.replace("{then}", then).replace("{options}", options))
        environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
        if tmpdir is not None:
            environment["RAY_TMPDIR"] = str(tmpdir)
        process = subprocess.Popen(
            [sys.executable, path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=environment,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_what_main_defines_works_on_a_cluster_that_is_started_for_it_and_stopped(program) -> None:
    output, errors = program().communicate(timeout=PATIENCE_S)

    lines = [line.split() for line in output.splitlines() if not line.startswith("\x1b")]
    assert [line[0] for line in lines] == ["0", "3", "6", "alone"], (output, errors)
    assert "no Ray cluster is at hand: starting one on this machine, with" in errors
    assert "Traceback" not in errors
    pid = int(lines[0][1])
    assert wait_until(lambda: not alive(pid), 10)


@pytest.fixture
def short_path():
    """Return a directory with a short path, as Ray's sockets need it."""
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as path:
        yield Path(path)


def test_the_address_of_a_cluster_that_was_killed_is_none(program, short_path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    (short_path / "ray").mkdir()
    (short_path / "ray" / "ray_current_cluster").write_text(address)

    output, errors = program(tmpdir=short_path).communicate(timeout=PATIENCE_S)

    assert output.count("alone") == 1, errors
    assert "no Ray cluster is at hand" in errors


def test_ctrl_c_ends_program_actors_and_cluster(program) -> None:
    process = program(then="threading.Event().wait(60)")
    pids = {int(process.stdout.readline().split()[1]) for _ in range(3)}
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)

    assert process.returncode in {130, -signal.SIGINT, 1}, errors
    assert time.monotonic() - begin < 15
    assert "WorkerDiedError" not in errors
    assert wait_until(lambda: not any(alive(pid) for pid in pids), 10)


def test_actors_end_with_a_driver_that_is_killed(program) -> None:
    process = program(then="threading.Event().wait(60)")
    pids = {int(process.stdout.readline().split()[1]) for _ in range(3)}
    process.kill()

    assert wait_until(lambda: not any(alive(pid) for pid in pids), 15)


# --- two hosts --------------------------------------------------------------------------------


@pytest.fixture
def two_hosts():
    """Start a cluster of two hosts, the second of which has a camera; yield it and the second."""
    import ray
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = found.add_node(num_cpus=1, resources={"camera": 2})
    ray.init(address=found.address, log_to_driver=False)
    yield found, second
    ray.shutdown()
    found.shutdown()


@pytest.fixture
def made(registry):
    """Make a `Driven` of a chain of calculators; it is closed with the test."""
    graphs = []

    def make(*nodes, options):
        graphs.append(
            Driven(penstock.CalculatorGraph(text_of(nodes, options, "RayExecutor"), registry=registry))
        )
        return graphs[-1]

    yield make
    for one in graphs:
        if one.graph.is_running:
            one.graph.cancel()
        with contextlib.suppress(GraphRunError):
            one.graph.close(PATIENCE_S)


ON_CAMERA = 'node { name: "Pid_1" resources { key: "camera" value: 1 } } cancel_grace_s: 0.5'


def test_a_node_works_on_the_host_that_has_what_it_needs(two_hosts, made) -> None:
    _, second = two_hosts
    one = made(("Pid", ""), ("Echo", ""), options=ON_CAMERA.replace("Pid_1", "Pid"))
    one.run(1, 2)

    (pid,) = set(one.got)
    raylet = second.all_processes["raylet"][0].process.pid
    assert f"PPid:\t{raylet}\n" in Path(f"/proc/{pid}/status").read_text()


def test_a_host_that_is_removed_is_told_with_node_and_timestamp(two_hosts, made, tmp_path) -> None:
    found, second = two_hosts
    one = made(("Sleeps", ""), options=ON_CAMERA.replace("Pid_1", "Sleeps"))
    one.graph.start_run()
    one.add((str(tmp_path / "begun"), 60.0))
    # Until then the call under way may be that of `open`, whose timestamp is another one.
    assert wait_until((tmp_path / "begun").exists, PATIENCE_S), one.graph.why()
    begin = time.monotonic()
    found.remove_node(second, allow_graceful=False)

    with pytest.raises(GraphRunError) as caught:
        one.graph.wait_until_done(PATIENCE_S)
    error = caught.value
    while error is not None and not isinstance(error, WorkerDiedError):
        error = error.__cause__
    assert error is not None
    assert error.node == "Sleeps"
    assert error.timestamp == 0
    assert time.monotonic() - begin < 15
    assert one.graph.ledger().adds_up


def test_a_node_goes_on_on_a_host_that_is_added(two_hosts, made) -> None:
    found, second = two_hosts
    policy = "failure { on_error: RESTART max_restarts: 10 retry: 1 }"
    one = made(("Pid", policy), options=ON_CAMERA.replace("Pid_1", "Pid"))
    one.graph.start_run()
    one.add(*range(5))
    assert wait_until(lambda: len(one.got) == 5, PATIENCE_S)
    found.remove_node(second, allow_graceful=False)
    assert wait_until(lambda: not alive(one.got[0]), PATIENCE_S)
    one.add(*range(5), start=5)
    found.add_node(num_cpus=1, resources={"camera": 2})
    one.graph.close_all_input_streams()
    one.graph.wait_until_done(PATIENCE_S)

    assert len(one.got) == 10
    assert len(set(one.got)) == 2, "the second five come from another process"
    assert {failure.kind for failure in one.graph.failures()} == {"WorkerDiedError"}


def test_a_host_that_is_gone_after_the_last_packet_leaves_nothing_to_close(two_hosts, made) -> None:
    found, second = two_hosts
    policy = "failure { on_error: RESTART max_restarts: 10 retry: 1 }"
    one = made(("Pid", policy), options=ON_CAMERA.replace("Pid_1", "Pid"))
    one.graph.start_run()
    one.add(*range(5))
    assert wait_until(lambda: len(one.got) == 5, PATIENCE_S)
    found.remove_node(second, allow_graceful=False)
    assert wait_until(lambda: not alive(one.got[0]), PATIENCE_S)
    one.graph.close_all_input_streams()
    one.graph.wait_until_done(PATIENCE_S)

    assert len(one.got) == 5
    assert [(failure.method, failure.kind) for failure in one.graph.failures()] == [
        ("close", "WorkerDiedError")
    ]
    assert one.graph.ledger().adds_up


SHARDED = """
input_stream: "in"
executor { name: "cluster" type: "RayExecutor" options {
  [penstock_ray.RayExecutorOptions.ext] { num_cpus: 0.1 placement: SPREAD }
} }
node {
  calculator: "ShardedSubgraph" name: "split"
  input_stream: "KEY:in"  input_stream: "in"  output_stream: "out"
  options { [mediapipe.TemplateSubgraphOptions.ext] { dict {
    arg { key: "node_type" value { str: "Tally" } }
    arg { key: "replicas" value { num: 8 } }
    arg { key: "executor" value { str: "cluster" } }
  } } }
}
"""


def test_eight_replicas_on_two_hosts_share_the_keys(two_hosts, registry) -> None:
    found, second = two_hosts
    keys = [f"sensor {number * number % 23}" for number in range(120)]
    with penstock.CalculatorGraph(SHARDED, registry=registry) as graph:
        one = Driven(graph)
        one.run(*keys)
        pids = {pid for pid, _, _ in one.got}
        hosts = {host_of(pid) for pid in pids}

    assert [(key, count) for _, key, count in one.got] == [
        (key, keys[: number + 1].count(key)) for number, key in enumerate(keys)
    ]
    assert len(pids) == len({shard_of(key, 8) for key in keys}) > 4
    raylets = {host.all_processes["raylet"][0].process.pid for host in (found.head_node, second)}
    assert hosts == raylets


def host_of(pid):
    """Return the raylet that has started an actor."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("PPid:\t")[2].partition("\n")[0])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_hosts_that_are_removed_cost_nothing_where_sets_are_tried_again(two_hosts, made) -> None:
    found, host = two_hosts
    policy = "failure { on_error: RESTART retry: 50 max_restarts: 1000 }"
    one = made(("Pid", policy), options=ON_CAMERA.replace("Pid_1", "Pid"))
    fed = Fed(one.graph, one.got)
    for _ in range(10):
        fed.wait_for(len(one.got) + 20, PATIENCE_S)
        before = len(one.graph.failures())
        begin = time.monotonic()
        found.remove_node(host, allow_graceful=False)
        assert wait_until(lambda before=before: len(one.graph.failures()) > before, 15)
        assert time.monotonic() - begin < 15
        host = found.add_node(num_cpus=1, resources={"camera": 2})
    fed.wait_for(len(one.got) + 20, PATIENCE_S)
    fed.end()
    one.graph.wait_until_done(PATIENCE_S)

    assert fed.added == len(one.got)
    assert one.graph.ledger().adds_up


# --- clusters that `ray start` makes ----------------------------------------------------------


@pytest.fixture
def started(tmp_path):
    """Start hosts by `ray start`; each is a process that stays in front."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    processes = []

    def start(*arguments):
        log = (tmp_path / f"host-{len(processes)}.log").open("w")
        command = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--num-cpus=1", *arguments]
        processes.append(
            subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        )
        log.close()
        return processes[-1]

    start("--head", f"--port={port}", "--include-dashboard=false")
    yield f"127.0.0.1:{port}", start
    for process in reversed(processes):
        process.terminate()
    for process in processes:
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


@pytest.mark.slow
def test_hosts_of_ray_start_work_go_and_come(started, made) -> None:
    address, start = started
    camera = ('--resources={"camera": 2}',)
    assert wait_until(lambda: answers(address), PATIENCE_S)
    second = start(f"--address={address}", *camera)
    policy = "failure { on_error: RESTART max_restarts: 10 retry: 1 }"
    options = f'address: "{address}" {ON_CAMERA.replace("Pid_1", "Pid")}'
    one = made(("Pid", policy), ("Echo", ""), options=options)
    one.graph.start_run()
    one.add(*range(5))
    assert wait_until(lambda: len(one.got) == 5, PATIENCE_S)
    os.killpg(second.pid, signal.SIGKILL)
    assert wait_until(lambda: not alive(one.got[0]), PATIENCE_S)
    start(f"--address={address}", *camera)
    one.add(*range(5), start=5)
    one.graph.close_all_input_streams()
    one.graph.wait_until_done(PATIENCE_S)

    assert len(one.got) == 10
    assert len(set(one.got)) == 2
    one.graph.close(PATIENCE_S)


def answers(address):
    host, _, port = address.partition(":")
    with socket.socket() as found:
        return found.connect_ex((host, int(port))) == 0


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:9", "there is no Ray cluster at '127.0.0.1:9'"),
        ("auto", "address is 'auto', but no Ray cluster"),
    ],
)
def test_an_address_without_a_cluster_is_told(made, monkeypatch, tmp_path, address, words) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    one = made(("Echo", ""), options=f'address: "{address}"')

    with pytest.raises(ClusterError, match=words):
        one.graph.start_run()
