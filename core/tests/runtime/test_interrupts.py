from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.engine.schedule import Schedule
from penstock.engine_form import engine_form
from penstock.errors import GraphRunError, StatusCode
from penstock.runtime import graph as runtime_graph
from penstock.runtime.runner import queue_work
from penstock.runtime.runner.news import News
from penstock.runtime.runner.runner import Runner
from penstock_testing import calculator

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.heavy

TIMEOUT = 20
Packet = penstock.Packet

PREAMBLE = """
    import atexit, concurrent.futures, queue, random, signal, sys, threading, time, _thread
    import penstock
    from penstock_testing import InlineExecutor, calculator, testing_registry

    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
    # A helper thread is kept: without the interpreter's lock the main thread frees it, with a callback of a
    # weak reference of `threading`, in which Python drops a KeyboardInterrupt.
    opened, closed = [], []
    note = dict(
        open=lambda cc: opened.append(cc.node_name),
        close=lambda cc: closed.append(cc.node_name),
    )
    Note = calculator(lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp), name="Note", **note)
    Endless = calculator(lambda cc: cc.output.add(1, max(0, cc.output.bound)), name="Endless", **note)
    class Threads(penstock.Executor):
        # Two threads that C code of the standard library wakes, which no interrupt can break.
        def lend_to(self, work):
            return Lent(work)
    class Lent(penstock.ExecutorLease):
        def __init__(self, work):
            self.work, self.asked = work, queue.SimpleQueue()
            self.threads = [threading.Thread(target=self.serve, daemon=True) for _ in range(2)]
            for thread in self.threads:
                thread.start()
        def serve(self):
            while self.asked.get():
                self.work.run()
        def wake(self):
            self.asked.put(True)
        def stop(self, timeout=None):
            for thread in self.threads:
                self.asked.put(False)
            for thread in self.threads:
                thread.join(timeout)
            return not any(thread.is_alive() for thread in self.threads)
    def chain(pool, *, source=False):
        text = (
            'node { calculator: "Endless" output_stream: "in" }' if source else 'input_stream: "in"'
        ) + '''
            node { calculator: "Note" input_stream: "in" output_stream: "out" }
            node { calculator: "Note" input_stream: "out" output_stream: "end" }
            max_queue_size: 5
        '''
        graph = penstock.CalculatorGraph(text, registry=testing_registry(Note, Endless))
        if pool is not None:
            graph.set_executor("", pool)
        return graph
"""


def start_script(body: str) -> subprocess.Popen[str]:
    """Run a script that has `chain(pool)` in an interpreter of its own."""
    source = textwrap.dedent(PREAMBLE) + textwrap.dedent(body)
    path = os.pathsep.join([str(Path(penstock.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def outcome(process: subprocess.Popen[str], seconds: float) -> tuple[int, str, str]:
    """Return status, output and errors of a script, which must end within `seconds`."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"the script hangs\n{out}\n{err}")
    return process.returncode, out, err


needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to another process")


@needs_signals
def test_ctrl_c_in_a_wait_without_a_time_out_says_what_the_run_waits_for() -> None:
    process = start_script(
        """
        from penstock.runtime.runner.news import News
        def tell_and_wait(news, timeout=None, wait=News.wait, main=threading.get_ident()):
            # Not told by a look at the stack of the main thread: without the interpreter's lock, Python 3.13
            # crashes when a stack of a running thread is read (gh-152355).
            if threading.get_ident() == main:
                print("ready", flush=True)
            return wait(news, timeout)
        graph = chain(None)
        graph.start_run()
        News.wait = tell_and_wait
        graph.wait_until_done()
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    status, _, err = outcome(process, 15)

    assert status != 0
    assert "KeyboardInterrupt\ninterrupted while waiting: wait_until_done()\nthe run is " in err
    assert "the application" in err  # which has to close the graph input, says `why()`
    assert "threading.py" not in err


@needs_signals
@pytest.mark.parametrize("pool", ["concurrent.futures.ThreadPoolExecutor(2)", "InlineExecutor()"])
@pytest.mark.parametrize("source", [False, True])
def test_ctrl_c_in_a_wait_ends_the_script_within_seconds_with_everything_closed(pool, source) -> None:
    process = start_script(
        f"""
        def tell_when_all_are_open():
            # An interrupt inside `open` fails it, and what failed to open is not closed.
            while any(node.state != "opened" for node in graph.snapshot().nodes):
                time.sleep(0.001)
            print("ready", flush=True)
        graph = chain({pool}, source={source})
        graph.start_run()
        try:
            helper = threading.Thread(target=tell_when_all_are_open, daemon=True)  # kept, see PREAMBLE
            helper.start()
            graph.wait_until_done()
        except KeyboardInterrupt:
            graph.cancel()
            try:
                graph.wait_until_done(5)
            except (penstock.GraphRunError, KeyboardInterrupt):
                pass
            print(sorted(opened) == sorted(closed), opened, closed, flush=True)
            raise
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    status, out, err = outcome(process, 15)

    assert time.monotonic() - began < 8
    assert status != 0
    assert "KeyboardInterrupt" in err
    assert out.startswith("True"), out


@needs_signals
def test_ctrl_c_that_nobody_catches_still_closes_everything_at_exit() -> None:
    process = start_script(
        """
        atexit.register(lambda: print(sorted(opened) == sorted(closed), opened, closed, flush=True))
        graph = chain(concurrent.futures.ThreadPoolExecutor(2), source=True)
        graph.start_run()
        print("ready", flush=True)
        graph.wait_until_done()
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    status, out, err = outcome(process, 15)

    assert status != 0
    assert "KeyboardInterrupt" in err
    assert out.startswith("True"), out


@pytest.mark.parametrize("executor", ["Threads()", "InlineExecutor()"])
def test_interrupts_at_any_moment_of_feeding_and_waiting_never_hang(executor) -> None:
    process = start_script(
        f"""
        order, asked, codes = random.Random(7), queue.SimpleQueue(), {{}}
        def interrupt():
            while True:
                seconds, sent = asked.get()
                time.sleep(seconds)
                _thread.interrupt_main()
                sent.set()
        helper = threading.Thread(target=interrupt, daemon=True)  # kept, see PREAMBLE
        helper.start()

        def feed(graph, sent):
            # Not right inside of `try`: on Python 3.13 the jump back at the end of a `while` loop is outside
            # of it, and an interrupt that is raised there is not caught (gh-130279).
            i = 0
            while not sent.is_set():
                graph.add_packet_to_input_stream("in", penstock.Packet(i, i))
                i += 1

        def one_run(graph):
            sent = threading.Event()  # of this round alone: that of the last may yet be set
            try:
                asked.put((order.uniform(0, 0.01), sent))
                feed(graph, sent)
                time.sleep(0)  # an interrupt that was sent is raised here at the latest
            except KeyboardInterrupt:
                graph.cancel()
            else:  # raised in a callback of a weak reference, where it is not reported
                graph.close_all_packet_sources()
            graph.wait_until_done(5)

        for _ in range(150):
            graph = chain({executor})
            opened.clear(), closed.clear()
            graph.start_run()
            try:
                one_run(graph)
                code = "WELL"
            except penstock.GraphRunError as error:
                code = error.code.name
            except KeyboardInterrupt:
                code = "INTERRUPTED"
            codes[code] = codes.get(code, 0) + 1
            if {executor}.__class__ is Threads and sorted(opened) != sorted(closed):
                sys.exit(f"opened {{opened}}, closed {{closed}}, {{code}}")
        print("rounds", sum(codes.values()), codes)
        """
    )
    status, out, err = outcome(process, 60)

    assert status == 0, (out, err)
    assert "rounds 150" in out
    assert "CANCELLED" in out


def test_an_interrupt_between_giving_up_the_lock_and_sleeping_is_raised_with_the_lock_held() -> None:
    news = News(threading.RLock())
    release = news._release_save

    def release_and_interrupt():
        release()
        raise KeyboardInterrupt

    news._release_save = release_and_interrupt
    with pytest.raises(KeyboardInterrupt), news:
        news.wait(TIMEOUT)

    assert not news._is_owned()


@pytest.mark.parametrize(
    "pool", ["None", "concurrent.futures.ThreadPoolExecutor(2)", "concurrent.futures.ThreadPoolExecutor(1)"]
)
@pytest.mark.parametrize("source", [False, True])
def test_a_script_that_raises_between_start_and_wait_exits_within_seconds(pool, source) -> None:
    began = time.monotonic()
    process = start_script(
        f"""
        graph = chain({pool}, source={source})
        graph.start_run()
        raise ValueError("in the middle")
        """
    )
    status, _, err = outcome(process, 20)

    assert status == 1
    assert "ValueError: in the middle" in err
    assert time.monotonic() - began < 20


def test_a_script_that_forgets_to_wait_exits_within_seconds() -> None:
    process = start_script(
        """
        graph = chain(concurrent.futures.ThreadPoolExecutor(2), source=True)
        graph.start_run()
        print("left", flush=True)
        """
    )
    status, out, _ = outcome(process, 20)

    assert status == 0
    assert out == "left\n"


# --- an interrupt inside a locked section -----------------------------------------------------


@pytest.fixture
def interrupted(monkeypatch):
    """Raise KeyboardInterrupt once in the middle of a locked section, after a method has done its part."""

    def _install(method: str, owner: object = Schedule, *, elsewhere: bool = False) -> threading.Event:
        original = getattr(owner, method)
        here = threading.get_ident()
        done = threading.Event()

        def half(self, *arguments, **keywords):
            result = original(self, *arguments, **keywords)
            if not done.is_set() and elsewhere == (threading.get_ident() != here):
                done.set()
                raise KeyboardInterrupt
            return result

        monkeypatch.setattr(owner, method, half)
        return done

    return _install


@pytest.mark.parametrize("threads", [0, 2])
def test_an_interrupt_inside_an_add_poisons_the_run_which_ends_and_closes_everything(
    make, interrupted, threads
) -> None:
    closed: list[str] = []
    note = calculator(close=lambda cc: closed.append(cc.node_name), name="Note")
    graph = make([(note, "in"), (note, "in")], "in", threads=threads)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    interrupted("add_if_room", runtime_graph)
    with pytest.raises(KeyboardInterrupt):
        graph.add_packet_to_input_stream("in", Packet(1, 1))
    with pytest.raises(KeyboardInterrupt) as caught:
        graph.wait_until_done(TIMEOUT)

    failure = caught.value.__cause__
    assert isinstance(failure, GraphRunError)
    assert "the run was interrupted by KeyboardInterrupt in the middle of a change and cannot go on" in str(
        failure
    )
    assert failure.code is StatusCode.ABORTED
    assert closed == ["Note_1", "Note_2"]

    graph.wait_until_done(0)
    assert closed == ["Note_1", "Note_2"]  # once each, however often the end is waited for


class Interrupting(deque):
    """A queue that is interrupted when it has got packets, or before."""

    def __init__(self, moment) -> None:
        super().__init__()
        self.moment = moment

    def extend(self, packets) -> None:
        if self.moment == "after":
            super().extend(packets)
        raise KeyboardInterrupt

    def clear(self) -> None:
        if self.moment == "after it was counted":
            raise KeyboardInterrupt
        super().clear()


@pytest.mark.parametrize(
    ("moment", "dropped"),
    [("before", {"Second": 1, "Third": 1}), ("after", {"Third": 1})],
)
def test_packets_that_an_interrupt_keeps_from_their_readers_count_as_dropped(
    make, runner_of, moment, dropped
) -> None:
    kinds = [calculator(name=name, offset=0) for name in ("First", "Second", "Third")]
    graph = make([(kind, "in") for kind in kinds], "in", threads=0)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    (stream, *_) = runner_of(graph).schedule.streams
    stream.readers[1].queue = Interrupting(moment)
    with pytest.raises(KeyboardInterrupt):
        graph.add_packet_to_input_stream("in", Packet(1, 1))
    with pytest.raises(KeyboardInterrupt):
        graph.wait_until_done(TIMEOUT)
    ledger = graph.ledger()

    assert ledger.adds_up
    assert [(drop.place, drop.reason, drop.count) for drop in ledger.drops] == [
        (f"node '{name}' input 0", "an interrupt came in the middle of a change", count)
        for name, count in dropped.items()
    ]


def test_packets_that_an_interrupt_has_counted_as_dropped_do_not_wait_too(make, runner_of) -> None:
    graph = make([(calculator(name="First", offset=0), "in")], "in", threads=0)
    poller = graph.add_output_stream_poller("in")
    graph.start_run()
    (stream, *_) = runner_of(graph).schedule.streams
    stream.observers[0].queue = Interrupting("after it was counted")
    stream.observers[0].queue.append(Packet(0, 0))
    stream.added = stream.readers[0].delivered = 1  # as it was added
    with pytest.raises(KeyboardInterrupt):
        poller.reset()
    with pytest.raises(KeyboardInterrupt):
        graph.wait_until_done(TIMEOUT)
    (account,) = graph.ledger().streams

    assert account.adds_up
    assert [(one.dropped, one.in_flight) for one in account.readers] == [
        ({}, 0),
        ({"the poller was reset": 1}, 0),
    ]


calls_its_own = pytest.mark.skipif(
    engine_form() != "plain Python",
    reason="compiled methods call one another, not what a test puts there",
)


@pytest.mark.parametrize(
    ("owner", "method"),
    [
        pytest.param(Schedule, "complete", marks=calls_its_own),
        pytest.param(Schedule, "take", marks=calls_its_own),
        (Runner, "after_change"),
    ],
)
def test_an_interrupt_inside_the_loop_of_a_thread_poisons_the_run_and_the_wait_ends(
    make, interrupted, owner, method, monkeypatch
) -> None:
    died: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    closed: list[str] = []
    note = calculator(close=lambda cc: closed.append(cc.node_name), name="Note")
    graph = make([(note, "in")], "in")
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    done = interrupted(method, owner, elsewhere=True)
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    assert done.wait(TIMEOUT)
    with pytest.raises(KeyboardInterrupt):
        graph.wait_until_done(TIMEOUT)

    assert closed == ["Note"]


def test_a_calculator_that_was_opening_when_the_run_was_poisoned_is_closed(make, interrupted) -> None:
    entered, leave = threading.Event(), threading.Event()
    closed: list[str] = []

    def open_(cc):
        entered.set()
        assert leave.wait(TIMEOUT)

    graph = make(
        [(calculator(open=open_, close=lambda cc: closed.append(cc.node_name), name="Slow"), "in")], "in"
    )
    graph.start_run()
    assert entered.wait(TIMEOUT)
    interrupted("add_if_room", runtime_graph)
    with pytest.raises(KeyboardInterrupt):
        graph.add_packet_to_input_stream("in", Packet(1, 1))
    leave.set()
    with pytest.raises(KeyboardInterrupt):
        graph.wait_until_done(TIMEOUT)

    assert closed == ["Slow"]


def test_a_poisoned_run_takes_nothing_more_and_the_next_run_is_well(make, interrupted) -> None:
    note = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Note")
    graph = make([(note, "in", "out")], "in")
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, p: got.append(p.payload))
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    interrupted("add_if_room", runtime_graph)
    with pytest.raises(KeyboardInterrupt):
        graph.add_packet_to_input_stream("in", Packet("lost", 1))
    with pytest.raises(GraphRunError, match="cannot go on"):
        graph.add_packet_to_input_stream("in", Packet("refused", 2))
    with pytest.raises(KeyboardInterrupt):
        graph.close(TIMEOUT)

    got.clear()
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("well", 1))
    graph.close(TIMEOUT)
    assert got == ["well"]


@pytest.fixture
def interrupted_at_the_clock(monkeypatch):
    """Raise KeyboardInterrupt once when the loop of a thread reads the clock, which it does around a call."""

    def _install(when: Callable[[], bool]) -> None:
        done: list[bool] = []

        def perf_counter() -> float:
            if not done and when():
                done.append(True)
                raise KeyboardInterrupt
            return time.perf_counter()

        monkeypatch.setattr(queue_work, "perf_counter", perf_counter)

    return _install


@pytest.mark.parametrize("last_call", ["open", "process", "close is due"])
def test_an_interrupt_between_a_call_and_its_completion_leaves_no_calculator_open(
    make, interrupted_at_the_clock, last_call
) -> None:
    calls: list[str] = []
    note = calculator(
        lambda cc: calls.append("process"),
        open=lambda cc: calls.append("open"),
        close=lambda cc: calls.append("close"),
        name="Note",
    )
    graph = make([(note, "in")], "in", threads=0)
    graph.start_run()

    def is_due() -> bool:
        if last_call == "close is due":
            (node,) = graph.snapshot().nodes
            return node.state == "closing" and bool(node.running) and "close" not in calls
        return bool(calls) and calls[-1] == last_call

    interrupted_at_the_clock(is_due)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012  # it strikes in any of them
        graph.add_packet_to_input_stream("in", Packet(1, 1))
        graph.wait_until_idle(TIMEOUT)
        graph.close(TIMEOUT)
    graph.cancel()
    with pytest.raises((KeyboardInterrupt, GraphRunError)):
        graph.wait_until_done(TIMEOUT)

    assert calls[0] == "open"
    assert calls.count("close") == 1
