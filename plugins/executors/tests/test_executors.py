from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import penstock
from penstock import limits
from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError
from penstock_executors.application_thread import ApplicationThreadExecutor
from penstock_executors.low_priority import LowPriorityThreadPoolExecutor
from penstock_executors.parked_threads import ThreadsLease
from penstock_executors.thread_pool import SingleThreadExecutor, ThreadPoolExecutor


class Where(penstock.Calculator):
    """Writes the thread that runs it; open and close note it too."""

    threads: list[tuple[str, threading.Thread]]

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set(threading.Thread)
        cc.input_side_packets["LOG"].set(list).optional()

    def note(self, cc, what):
        if "LOG" in cc.input_side_packets:
            cc.input_side_packets["LOG"].payload.append((what, threading.current_thread()))

    def open(self, cc):
        self.note(cc, "open")

    def process(self, cc):
        self.note(cc, "process")
        cc.output.add(threading.current_thread(), cc.input_timestamp)

    def close(self, cc):
        self.note(cc, "close")


class Meet(penstock.Calculator):
    """Two calls of it must be under way at once, or both fail."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.input_side_packets["BARRIER"].set(threading.Barrier)

    def process(self, cc):
        cc.input_side_packets["BARRIER"].payload.wait(timeout=10)


@pytest.fixture
def registry(penstock_registry):
    own = penstock_registry.child()
    own.add("executor", "ThreadPoolExecutor", ThreadPoolExecutor)
    own.add("executor", "SingleThreadExecutor", SingleThreadExecutor)
    own.add("executor", "ApplicationThreadExecutor", ApplicationThreadExecutor)
    own.add_option(
        "penstock.ThreadPoolExecutorOptions",
        "penstock.MediaPipeOptions",
        157116819,
        "penstock_executors.messages.thread_pool_pb2:ThreadPoolExecutorOptions",
    )
    own.add("calculator", "Where", Where)
    own.add("calculator", "Meet", Meet)
    return own


def graph_on(executor, registry, calculator='calculator: "Where" output_stream: "out"', side=""):
    return penstock.CalculatorGraph(
        f'input_stream: "in" {executor} node {{ {calculator} input_stream: "in" {side} executor: "it" }}',
        registry=registry,
    )


def threads_of(graph, packets=20, side_packets=None):
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    with graph:
        graph.start_run(side_packets)
        for timestamp in range(packets):
            graph.add_packet_to_input_stream("in", penstock.Packet(timestamp, timestamp))
    assert len(seen) == packets
    return set(seen)


def test_a_single_thread_runs_every_call_from_open_to_close(registry):
    log = []
    graph = graph_on(
        'executor { name: "it" type: "SingleThreadExecutor" }', registry, side='input_side_packet: "LOG:log"'
    )

    (thread,) = threads_of(graph, side_packets={"log": log})

    assert {where for _, where in log} == {thread}
    assert [what for what, _ in log] == ["open", *["process"] * 20, "close"]
    assert not thread.is_alive()


def test_threads_have_the_name_that_the_options_give(registry):
    options = (
        "options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 1 thread_name_prefix: 'eye' } }"
    )

    (thread,) = threads_of(
        graph_on(f'executor {{ name: "it" type: "ThreadPoolExecutor" {options} }}', registry)
    )

    assert thread.name == "eye-it-0"


@pytest.mark.parametrize(
    ("kind", "options", "threads"),
    [
        ("ThreadPoolExecutor", "options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 3 } }", 3),
        ("SingleThreadExecutor", "", 1),
        ("ApplicationThreadExecutor", "", 0),
    ],
)
def test_a_snapshot_tells_how_many_threads_an_executor_has(registry, kind, options, threads):
    graph = graph_on(f'executor {{ name: "it" type: "{kind}" {options} }}', registry)
    with graph:
        graph.start_run()
        state = graph.snapshot().executors[-1]

    assert (state.name, state.kind, state.nodes, state.threads) == ("it", kind, 1, threads)


def test_a_pool_runs_two_nodes_at_once(registry):
    graph = penstock.CalculatorGraph(
        'input_stream: "in" num_threads: 2 '
        'node { calculator: "Meet" input_stream: "in" input_side_packet: "BARRIER:barrier" } '
        'node { calculator: "Meet" input_stream: "in" input_side_packet: "BARRIER:barrier" }',
        registry=registry,
    )

    with graph:
        graph.start_run({"barrier": threading.Barrier(2)})
        for timestamp in range(10):
            graph.add_packet_to_input_stream("in", penstock.Packet(None, timestamp))


def test_the_application_thread_does_the_work_in_its_waits_and_only_there(registry):
    graph = graph_on('executor { name: "it" type: "ApplicationThreadExecutor" }', registry)
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()

    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    before = list(seen)
    graph.wait_until_idle(5)

    assert (before, seen) == ([], [threading.current_thread()])
    graph.close(5)


def test_a_graph_that_never_rests_does_not_keep_the_application_thread_from_its_time_out(registry):
    class Endless(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc) -> None:
            cc.outputs[0].set(int)

        def open(self, cc):
            self.number = 0

        def process(self, cc):
            self.number += 1
            cc.output.add(self.number, self.number)

    registry.add("calculator", "Endless", Endless)
    graph = penstock.CalculatorGraph(
        'executor { name: "it" type: "ApplicationThreadExecutor" } '
        'node { calculator: "Endless" output_stream: "out" executor: "it" }',
        registry=registry,
    )
    graph.start_run()

    with pytest.raises(penstock.WaitTimeoutError, match=r"took longer than 0\.05 s"):
        graph.wait_until_done(0.05)

    graph.close(5)


def test_no_thread_outlives_its_run(registry):
    before = set(threading.enumerate())

    threads_of(graph_on('executor { name: "it" type: "SingleThreadExecutor" }', registry))

    assert set(threading.enumerate()) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", r"executor 'it' \(ThreadPoolExecutor\): num_threads is missing; say how many threads"),
        ("num_threads: 0", "num_threads is 0, but must be positive"),
        ("num_threads: -2", "num_threads is -2, but must be positive"),
        ("num_threads: 1 stack_size: 0", "stack_size is 0, but must be positive"),
        ("num_threads: 1 stack_size: -1", "stack_size is -1, but must be positive"),
    ],
)
def test_options_that_make_no_sense_are_refused_when_the_graph_is_loaded(registry, options, message):
    given = f"options {{ [penstock.ThreadPoolExecutorOptions.ext] {{ {options} }} }}" if options else ""

    with pytest.raises(InvalidArgumentError, match=message):
        graph_on(f'executor {{ name: "it" type: "ThreadPoolExecutor" {given} }}', registry)


def test_a_stack_size_the_system_refuses_is_named(registry):
    options = "options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 1 stack_size: 1 } }"
    graph = graph_on(f'executor {{ name: "it" type: "ThreadPoolExecutor" {options} }}', registry)

    with pytest.raises(InvalidArgumentError, match="stack_size is 1"):
        graph.start_run()


def test_a_stack_size_holds_for_the_pool_and_is_put_back():
    before = threading.stack_size()

    lease = ThreadPoolExecutor(1, stack_size=256 * 1024).lend_to(NoWork())

    assert threading.stack_size() == before
    assert lease.stop(5)


def test_a_single_thread_executor_refuses_another_number(registry):
    options = "options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 3 } }"

    with pytest.raises(InvalidArgumentError, match="num_threads is 3, but a SingleThreadExecutor has 1"):
        graph_on(f'executor {{ name: "it" type: "SingleThreadExecutor" {options} }}', registry)


class NoWork:
    """Never has anything to do."""

    name = ""
    taken = 0

    def __init__(self):
        self.looks = 0
        self.looked = threading.Semaphore(0)

    def run(self, interrupted=None, choose=None, max_s=None):
        self.looks += 1
        self.looked.release()
        return False

    def has_ready(self):
        self.looks += 1
        self.looked.release()
        return False

    def is_neglected(self, seen):
        return False


def thread(number, serve):
    return threading.Thread(target=serve, name=f"of the test {number}", daemon=True)


def starting(most):
    """Return a function that starts threads as a system does that allows so many."""
    started = []

    def start(made):
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(made)
        made.start()

    return start


class Blocks(NoWork):
    """Has so many steps ready; each waits until it may end."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.lock = threading.Lock()

    def has_ready(self):
        return self.steps > 0

    def run(self, interrupted=None, choose=None, max_s=None):
        with self.lock:
            took = self.steps > 0
            self.steps -= took
        if took:
            self.begun.release()
            self.may_end.wait(10)
        return took


def test_a_system_that_starts_no_thread_is_an_error():
    before = set(threading.enumerate())

    with pytest.raises(ResourceExhaustedError) as raised:
        ThreadsLease(NoWork(), thread, 3, starting(0))

    assert str(raised.value).startswith("no thread can be started: can't start new thread; ")
    assert set(threading.enumerate()) == before


def test_an_interrupt_while_the_first_thread_starts_is_not_taken_for_a_refusal():
    def start(made):
        made.start()
        lock = threading.Lock()
        with lock:
            lock.release()
            raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        ThreadsLease(NoWork(), thread, 3, start)
    assert set(threading.enumerate()) == before


def test_an_interrupt_while_the_first_thread_starts_leaves_no_thread():
    before = set(threading.enumerate())

    def start(made):
        made.start()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ThreadsLease(NoWork(), thread, 3, start)

    assert set(threading.enumerate()) == before


def test_a_pool_goes_on_with_the_threads_that_the_system_starts(caplog):
    work = Blocks(5)
    lease = ThreadsLease(work, thread, 4, starting(2))
    lease.wake()

    assert work.begun.acquire(timeout=10)
    assert work.begun.acquire(timeout=10)
    work.may_end.set()
    for _ in range(3):
        assert work.begun.acquire(timeout=10)
    assert lease.stop(10)

    assert lease.thread_count() == 2
    (record,) = caplog.records
    assert record.getMessage() == (
        "the default executor goes on with 2 threads: the system starts no other: can't start new thread"
    )


def test_threads_start_as_they_are_needed_and_one_more_watches():
    before = threading.active_count()
    work = Blocks(0)
    lease = ThreadPoolExecutor(100_000).lend_to(work)

    assert threading.active_count() - before == 1
    work.steps = 3
    lease.wake()
    for _ in range(3):
        assert work.begun.acquire(timeout=10)

    assert 3 <= threading.active_count() - before < 10  # a few more may look, and find nothing to do
    work.may_end.set()
    assert lease.stop(10)
    assert threading.active_count() <= before


def test_as_many_steps_run_at_once_as_there_may_be_threads():
    work = Blocks(8)
    lease = ThreadPoolExecutor(8).lend_to(work)
    lease.wake()

    for _ in range(8):
        assert work.begun.acquire(timeout=10)

    work.may_end.set()
    assert lease.stop(10)


def entry(kind, field):
    named = f'name: "it" type: "{kind}"' if kind else ""
    return f"executor {{ {named} options {{ [penstock.ThreadPoolExecutorOptions.ext] {{ {field} }} }} }}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "num_threads: 2147483647",
            "num_threads of the default executor is 2147483647, more than",
        ),
        (entry("", "num_threads: 20000"), "the default executor: num_threads is 20000, more than"),
        (
            entry("ThreadPoolExecutor", "num_threads: 20000"),
            "executor 'it' (ThreadPoolExecutor): num_threads",
        ),
        (
            entry("LowPriorityThreadPoolExecutor", "num_threads: 20000"),
            "executor 'it' (LowPriorityThreadPoolExecutor): num_threads is 20000, more than the limit 'thr",
        ),
        (
            entry("SingleThreadExecutor", "stack_size: 2147483647"),
            "executor 'it' (SingleThreadExecutor): the thread pool's stack_size is 2147483647, more than the",
        ),
    ],
)
def test_more_threads_or_stack_than_a_limit_are_refused_when_the_graph_is_loaded(registry, text, words):
    registry.add("executor", "LowPriorityThreadPoolExecutor", LowPriorityThreadPoolExecutor)

    with pytest.raises(PenstockError) as raised:
        penstock.CalculatorGraph(text, registry=registry)

    assert words in str(raised.value)
    assert raised.value.code is penstock.StatusCode.RESOURCE_EXHAUSTED


def test_an_application_may_allow_more_threads(registry):
    with limits.override(threads=30_000):
        graph = penstock.CalculatorGraph("num_threads: 20000", registry=registry)
        with graph:
            graph.start_run()


def test_a_wake_up_is_not_lost_between_the_last_look_and_sleep():
    work = NoWork()
    lease = ThreadPoolExecutor(1).lend_to(work)

    for _ in range(200):
        lease.wake()
    for _ in range(3):  # once before it announces its sleep, once after, and once for a wake-up
        assert work.looked.acquire(timeout=10)
        lease.wake()

    assert lease.stop(5)


def test_stopping_returns_false_while_a_thread_is_inside_the_work():
    inside, leave = threading.Event(), threading.Event()

    class Busy(NoWork):
        def has_ready(self):
            return True

        def run(self, interrupted=None, choose=None, max_s=None):
            inside.set()
            leave.wait(10)
            return False

    lease = ThreadPoolExecutor(1).lend_to(Busy())
    assert inside.wait(10)

    assert not lease.stop(0.01)

    leave.set()
    assert lease.stop(10)


def test_a_step_made_ready_after_the_last_look_is_run_though_its_wake_up_came_too_soon():
    class Late(NoWork):
        steps = 0

        def run(self, interrupted=None, choose=None, max_s=None):
            if self.steps:
                self.steps = 0
                self.looked.release()
            return False

        def has_ready(self):
            if not self.looks:
                self.looks = self.steps = 1  # as if a thread had made it ready, and found no thread asleep
            return bool(self.steps)

    work = Late()
    lease = ThreadPoolExecutor(1).lend_to(work)

    assert work.looked.acquire(timeout=10)
    assert lease.stop(5)


def test_neglected_steps_are_taken_by_a_sleeping_thread_without_being_woken():
    class Neglected(NoWork):
        steps = 0
        is_asked = False

        def run(self, interrupted=None, choose=None, max_s=None):
            if self.steps:
                self.steps = 0
                self.looked.release()
                return True
            return False

        def has_ready(self):
            return self.is_asked and self.steps > 0

        def is_neglected(self, seen):
            self.is_asked = True
            return self.steps > 0

    work = Neglected()
    lease = ThreadPoolExecutor(1).lend_to(work)

    work.steps = 1

    assert work.looked.acquire(timeout=10)
    assert lease.stop(5)


RUN = """
import resource, threading
import penstock
from penstock import limits
from penstock.errors import ResourceExhaustedError
from penstock.packs import default_registry

class Pass(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])

    def process(self, cc):
        cc.outputs[0].add_packet(cc.inputs[0].packet)

pool = "ThreadPoolExecutor"
options = "options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 20000 stack_size: 1073741824 } }"
small = 'executor { name: "small" type: "SingleThreadExecutor" }'
node = 'node { calculator: "Pass" input_stream: "in" output_stream: "N" executor: "N" }'
text = f'input_stream: "in" {small} executor {{ name: "big" type: "{pool}" {options} }}'
text += "".join(node.replace('"N"', f'"{name}"') for name in ("small", "big"))
registry = default_registry().child()
registry.add("calculator", "Pass", Pass)
registry.add("input stream handler", "DefaultInputStreamHandler", penstock.InputStreamHandler)
with limits.override(threads=20000, stack_bytes=2**31 - 1):
    graph = penstock.CalculatorGraph(text, registry=registry)
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 2**29,) * 2)
before = threading.active_count()
try:
    graph.start_run()
except ResourceExhaustedError as error:
    print(error.code.name, error)
print(threading.active_count() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_a_run_whose_executor_gets_no_thread_fails_to_start_and_leaves_none():
    done = subprocess.run(
        [sys.executable, "-c", RUN], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stderr == ""
    error, left = done.stdout.splitlines()
    assert error.startswith(
        "RESOURCE_EXHAUSTED executor 'big' (ThreadPoolExecutor) cannot serve the run: no thread can be "
        "started: can't start new thread; the system"
    )
    assert left == "0"
