"""Run small random graphs into which a fault is injected, and look for hangs, leaks and lost packets.

    uv run python scripts/trials/faulty_runs.py --seconds 60
    uv run python scripts/trials/faulty_runs.py --runs 20000 --seed 7    the long form
    uv run python scripts/trials/faulty_runs.py --kind "executor"        only kinds whose name has this word
    uv run python scripts/trials/faulty_runs.py --one 4711               one run, and all that it tells

A run of this script takes one kind of fault after the other (`faulty_kinds`), each in another graph
(`faulty_graphs`). A finding is a run that does not end within its time of grace, an error that is neither a
PenstockError nor the application's own, a thread, file descriptor or packet that is left, a ledger that does
not add up, or a graph that cannot run once more. Findings are printed at the end; the exit status is then
1. The grace times of the core are made short. A seed makes the same graph and fault; threads take their own
turns.
"""

from __future__ import annotations

import _thread
import argparse
import concurrent.futures
import contextlib
import faulthandler
import gc
import itertools
import logging
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from faulty_graphs import chance, draw
from faulty_kinds import KINDS, Injected, Kind
from faulty_machine import Bytecodes, place_of
from faulty_parts import JOIN_S, Clock, Dying, FaultyTracer, Service, Threads, World, packet, registry_of

import penstock
from penstock.errors import GraphRunError, PenstockError, StatusCode, WaitTimeoutError
from penstock.runtime.runner import deferred, runner
from penstock.services import ServiceKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: How long a run may take to its end, if it is one that ends; longer is a finding.
END_S: Final = 20.0
#: How long the application waits for room where nothing can ever make room.
SHORT_S: Final = 0.02
#: How often a feeding thread is refused before it ends.
_REFUSED: Final = 2
#: An interrupt comes at a random moment of this time.
_INTERRUPT_S: Final = 0.008
#: How long a run that is paused is left alone: the timer looks at its queues several times.
_HELD_S: Final = 0.15
#: After which this process ends, since one of its runs hangs.
_WATCHDOG_S: Final = 120.0
_PROGRESS_S: Final = 10.0
#: The core's own times of grace, in this process: modules, names, seconds.
GRACES: Final = ((deferred, "GRACE_S", 0.2), (runner, "GRACE_S", 0.2), (runner, "_ABANDONED_S", 0.02))


class Interrupts:
    """Interrupts the main thread, at most once, while the window of a run is open.

    A real Ctrl-C asks the script to stop after the present run.
    """

    def __init__(self) -> None:
        self.stop_asked = False
        self._lock = threading.Lock()
        self._is_open = False
        self._is_sent = False

    def install(self) -> None:
        """Take the signal of Ctrl-C."""
        signal.signal(signal.SIGINT, self._handle)

    def _handle(self, _number: int, _frame: object) -> None:
        if self._is_sent or self.stop_asked:
            self._is_sent = False
            raise KeyboardInterrupt
        self.stop_asked = True

    def open(self) -> None:
        """Let `send` interrupt the main thread from now on."""
        self._is_open = True

    def send(self, closed: threading.Event, seconds: float) -> None:
        """Interrupt the main thread after a time, if the window is open then."""
        closed.wait(seconds)
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._is_sent = True
                _thread.interrupt_main()

    def close(self) -> None:
        """Interrupt nothing more."""
        with self._lock:
            self._is_open = False


class Trial:
    """One run with its fault."""

    def __init__(self, seed: int, kind: Kind, interrupts: Interrupts) -> None:
        self.kind = kind
        self.modes = set(kind.mode.split())
        #: What is wrong, in words.
        self.findings: list[str] = []
        #: What a call may raise besides errors of Penstock.
        self.allowed: tuple[type[BaseException], ...] = ()
        #: What happened, for `--one`.
        self.story: list[str] = []
        rng = random.Random(f"{seed} {kind.name}")  # noqa: S311  # it is for chance, not for secrets
        self.world = World(rng)
        self.drawn = draw(rng, kind.needs)
        self._random = rng
        self._interrupts = interrupts
        self._is_stuck = "stuck" in self.modes
        self._wait_s = SHORT_S if self._is_stuck or not kind.ends else END_S
        self._is_prepared = False
        self._was_started = False
        self._is_driven = False
        self._feeders: list[threading.Thread] = []
        self._rows: Any = None

    # --- calls ----------------------------------------------------------------------------------------

    def call(self, what: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call the API; return what it returns, or the error that it raised. Other errors are findings."""
        try:
            said = function(*arguments, **named)
        except KeyboardInterrupt:
            if "interrupt" in self.modes and not self._is_driven:
                raise
            if "interrupt" in self.modes:  # the run ended by the interrupt, and says so at its end
                self.story.append(f"{what} raised KeyboardInterrupt")
                return PenstockError("interrupted")
            self.findings.append(f"{what} raised KeyboardInterrupt, which nobody sent")
            return PenstockError("interrupted")
        except PenstockError as error:
            self._judge(what, error)
            return error.with_traceback(None)
        except self.allowed as error:
            self.story.append(f"{what} raised {type(error).__name__}")
            return PenstockError("starved")
        except BaseException as error:  # noqa: BLE001  # what is looked for
            told = "".join(traceback.format_exception(error))
            self.findings.append(f"{what} raised {type(error).__name__}\n{told[-3000:]}")
            return PenstockError("untyped")
        self.story.append(what)
        return said

    def _call_patiently(self, what: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call the API as `call`; again and again, where the clock that it reads may jump ahead."""
        until = time.monotonic() + END_S
        while True:
            said = self.call(what, function, *arguments, **named)
            is_early = "clock" in self.modes and isinstance(said, WaitTimeoutError) and self.kind.ends
            if not is_early or time.monotonic() > until:
                return said

    def _judge(self, what: str, error: PenstockError) -> None:
        """Note an error, and look whether it can be read and has nothing but errors with a type inside."""
        try:
            self.story.append(f"{what} raised {type(error).__name__}: {error}")
            if "few" in self.modes and error.code is StatusCode.RESOURCE_EXHAUSTED:
                self.world.has_fired = True
            inner = error.errors if isinstance(error, GraphRunError) else ()
            if wrong := [one for one in inner if not isinstance(one, PenstockError)]:
                self.findings.append(f"{what} raised a GraphRunError with {wrong!r}")
            is_broken = any("in the middle of a change" in str(one) for one in inner)
            if (
                is_broken
                and "interrupt" not in self.modes
                and not self.allowed
                and self.kind.place != "interrupted"
            ):
                self.findings.append(f"{what}: the state machine was broken: {error}")
        except self.allowed:
            self.story.append(f"{what} raised {type(error).__name__}, for whose text there was no memory")
        except Exception as unreadable:  # noqa: BLE001  # what is looked for
            self.findings.append(f"{what} raised {type(error).__name__}, unreadable: {type(unreadable)}")

    # --- the run --------------------------------------------------------------------------------------

    def run(self) -> None:
        """Do the run, and look for what is wrong."""
        closed = threading.Event()
        if "dying" in self.modes:
            self.world.has_cycles = "cyclic" in self.modes
            self.world.payload_class = Dying
        if "interrupt" in self.modes and "bytecode" not in self.modes:
            self.world.start(self._interrupts.send, closed, self._random.random() * _INTERRUPT_S)
            self._interrupts.open()
        try:
            with self._surroundings():
                self._drive()
            self._interrupts.close()
        except KeyboardInterrupt:
            self._interrupts.close()
            self.world.has_fired = True
            self.story.append("interrupted")
        finally:
            closed.set()
        self._is_driven = True
        self.world.is_armed = self.world.is_armed and self.world.place in {"stop", "service close"}
        self._finish()

    @contextlib.contextmanager
    def _surroundings(self) -> Iterator[None]:
        """Let happen during the run what no part of the graph does."""
        if "bytecode" in self.modes:
            with Bytecodes(place_of(self._random), lambda: setattr(self.world, "has_fired", True)):
                yield
        elif self.world.has_cycles:
            before = gc.get_threshold()
            gc.set_threshold(self._random.choice((1, 7, 50)), 1000, 1000)
            try:
                yield
            finally:
                gc.set_threshold(*before)
        else:
            yield

    def _drive(self) -> None:
        world, kind, modes = self.world, self.kind, self.modes
        if kind.place:
            world.arm(kind.place, self._random.randrange(kind.latest), kind.act)
        create = None if "no service" in kind.mode else (lambda: Service(world))
        registry = registry_of(world, ServiceKey("faulty.service", create=create))
        most = {"bytes": 1e9, "few": 500}.get(kind.mode.partition(" ")[0])
        made = self.call(
            "CalculatorGraph",
            lambda: penstock.CalculatorGraph(self.drawn.text, registry=registry, max_queued_bytes=most),
        )
        if isinstance(made, PenstockError):
            if kind.name != "get_contract raises":
                self.findings.append(f"the graph cannot be made: {made}\n{self.drawn.text}")
            return
        world.graph = made
        del made
        self._prepare()
        if "block" in modes:
            with contextlib.suppress(Injected), world.graph:
                self._start()
                self._feed()
                self._raise()
            return
        if not self._start():
            return
        self._feed()
        if "drop" not in modes:
            self._end()

    def _raise(self) -> None:
        self.world.has_fired = True
        raise Injected

    def _prepare(self) -> None:
        """Hand in executors, services and a tracer; observe and poll."""
        world, graph, rng, modes = self.world, self.world.graph, self._random, self.modes
        for name in self.drawn.own:
            if "pool" in modes or (not self.kind.needs.executor and chance(rng, 0.3)):
                pool = concurrent.futures.ThreadPoolExecutor(rng.randint(1, 2))
                world.pools.append(concurrent.futures.ThreadPoolExecutor(1))  # of calculators
                world.pools.append(pool)
                graph.set_executor(name, pool)
            else:
                graph.set_executor(name, Threads(world, rng.randint(1, 2)))
        if "clock" in modes:
            graph.set_clock(Clock(world))
        if "traced" in modes or chance(rng, 0.1):
            graph.set_tracer(FaultyTracer(world))
        if "loop" in modes:
            graph.set_event_loop(world.run_loop())
        self._attach()
        self._is_prepared = True

    def _attach(self) -> None:
        """Attach observers, pollers and rows."""
        world, graph, rng, modes = self.world, self.world.graph, self._random, self.modes
        streams = self.drawn.streams
        for name in streams if "observed" in modes else rng.sample(streams, rng.choice((0, 1, 1))):
            graph.observe_output_stream(name, lambda _name, _packet: world.at("observer"), chance(rng, 0.3))
        if "poller" in modes:
            graph.add_output_stream_poller(self.drawn.inputs[0]).set_max_queue_size(1)
            world.has_fired = True
        elif chance(rng, 0.2):
            world.start(self._poll, graph.add_output_stream_poller(rng.choice(streams)))
        if "unread" in modes:
            self._rows = graph.rows(*self.drawn.inputs, max_queue_size=1)
            world.has_fired = True
        elif "rows" in modes:
            self._rows = graph.rows(*rng.sample(streams, 2))

    def _poll(self, poller: Any) -> None:
        while not self.world.is_over.is_set():
            try:
                if poller.next(0.5) is None:
                    self.world.is_over.wait(SHORT_S)
            except WaitTimeoutError:
                continue
            except PenstockError:
                self.world.is_over.wait(SHORT_S)

    def _read_rows(self, most: int) -> None:
        with contextlib.suppress(PenstockError):
            for number, _ in enumerate(self._rows):
                if number >= most:
                    self.world.has_fired = True
                    break

    def _start(self) -> bool:
        graph = self.world.graph
        if "wrong side" in self.kind.mode or "wrong header" in self.kind.mode:
            named = {"side_packets" if "side" in self.modes else "stream_headers": {"nowhere": 1}}
            said = self.call("start_run with a mistake", graph.start_run, **named)
            self.world.has_fired = isinstance(said, PenstockError)
        said = self.call("start_run", graph.start_run)
        if isinstance(said, PenstockError):
            if "service" in self.modes:
                self.world.has_fired = True
            elif not self.world.has_fired:
                self.findings.append(f"a run without a fault does not start: {said}")
            return False
        self._was_started = True
        if "held" in self.modes:
            self.call("pause", graph.pause)
        if "rows" in self.modes:
            self.world.start(self._read_rows, self._random.randrange(3))
        return True

    def _feed(self) -> None:
        """Add packets to all inputs, in turns, and do at random moments what the kind says."""
        world, rng, modes = self.world, self._random, self.modes
        count = rng.randint(3, 20)
        if "feeders" in modes:
            for name in self.drawn.inputs:
                self._feeders.append(world.start(self._feed_late, name, 4 * count))
        moments = set(rng.sample(range(count), min(count, rng.randint(1, 3))))
        is_open = set(self.drawn.inputs) if "feeders" not in modes else set()
        for number in range(count):
            if number in moments and not self._at_moment(number):
                return
            for name in sorted(is_open):
                if chance(rng, 0.15):
                    continue
                add = world.graph.add_packet_to_input_stream
                said = self._call_patiently(
                    f"add {number} to {name}", add, name, packet(world, number * 10), timeout=self._wait_s
                )
                if isinstance(said, WaitTimeoutError) and not self._is_stuck and self.kind.ends:
                    self._note_hang(f"adding to {name!r}", said)
                if isinstance(said, PenstockError):
                    is_open.discard(name)
                del said
            if chance(rng, 0.02) and not self._is_stuck and self.kind.ends:
                self.call("wait_until_idle", world.graph.wait_until_idle, END_S)

    def _feed_late(self, name: str, count: int) -> None:
        """Feed one input on a thread of its own, until the run refuses; then a little more."""
        refused = 0
        for number in range(count):
            graph = self.world.graph
            if graph is None or refused > _REFUSED:
                return
            try:
                graph.add_packet_to_input_stream(name, packet(self.world, number * 10), timeout=END_S)
            except PenstockError:
                refused += 1
                self.world.has_fired = True

    def _at_moment(self, number: int) -> bool:
        """Do what the kind asks for; return whether to feed on."""
        graph, modes = self.world.graph, self.modes
        if modes & {"cancel", "pause", "abandon", "close", "disorder", "mistyped", "pool", "drop"}:
            self.world.has_fired = self.world.has_fired or not self.kind.place
        if "abandon" in modes:
            self._abandon()
        elif "close" in modes:
            self._end_by_itself("close", graph.close, END_S)
        elif "pause" in modes:
            self._pause()
        elif "cancel" in modes and not self._is_stuck:
            self.call("cancel", graph.cancel)
        elif "pool" in modes:
            self.world.pools[-1].shutdown(wait=False, cancel_futures=chance(self._random, 0.5))
        elif modes & {"disorder", "mistyped"}:
            self._add_mistake(number)
        elif "look" in modes or chance(self._random, 0.1):
            self._look()
        return not modes & {"abandon", "close", "drop"}

    def _pause(self) -> None:
        graph = self.world.graph
        self.call("pause", graph.pause)
        if not self._is_stuck:
            self.call("snapshot", graph.snapshot)
            self.call("resume", graph.resume)

    def _add_mistake(self, number: int) -> None:
        """Add a packet that the graph must refuse."""
        graph, name = self.world.graph, self._random.choice(self.drawn.inputs)
        if "mistyped" in self.modes:
            wrong = penstock.Packet("text", number * 10)
        else:
            self.call("set bound", graph.set_input_stream_timestamp_bound, name, number * 10)
            wrong = packet(self.world, number * 10 - 5)
        said = self.call("add a mistake", graph.add_packet_to_input_stream, name, wrong, timeout=self._wait_s)
        is_read = self.drawn.text.count(f'input_stream: "{name}"') > 1  # only readers declare a type
        if not isinstance(said, PenstockError) and (is_read or "disorder" in self.modes):
            self.findings.append(f"{name!r} took {wrong!r}")

    def _look(self) -> None:
        graph = self.world.graph
        self.call("str(snapshot)", lambda: str(graph.snapshot()))
        self.call("str(why)", lambda: str(graph.why()))
        self.call("ledger", lambda: str(graph.ledger()))
        self.call(
            "has_error", lambda: (graph.has_error(), graph.get_combined_error_message(), graph.counters)
        )

    # --- its end --------------------------------------------------------------------------------------

    def _end(self) -> None:
        graph = self.world.graph
        if not graph.is_running:
            pass
        elif "cancel" in self.modes and self._is_stuck:
            self.world.fired.wait(SHORT_S)
            self.call("cancel", graph.cancel)
            self._end_by_itself("wait_until_done", graph.wait_until_done, END_S)
        elif self._is_stuck or not self.kind.ends:
            self._end_by_force()
        elif chance(self._random, 0.5):
            self._end_by_itself("close", graph.close, END_S)
        else:
            self.call("close_all_input_streams", graph.close_all_input_streams)
            self._end_by_itself("wait_until_done", graph.wait_until_done, END_S)
        for name in self.drawn.inputs if "late" in self.modes else ():
            said = self.call("add late", graph.add_packet_to_input_stream, name, packet(self.world, 10_000))
            self.world.has_fired = True
            if not isinstance(said, PenstockError):
                self.findings.append("a packet was taken after the end")

    def _end_by_force(self) -> None:
        """Let the run be for a moment, then abandon it; what comes back later must find nothing to do."""
        graph = self.world.graph
        if chance(self._random, 0.6):
            self.call("close_all_packet_sources", graph.close_all_packet_sources)
        seconds = _HELD_S if "held" in self.modes else SHORT_S
        said = self.call("wait_until_done", graph.wait_until_done, seconds)
        if isinstance(said, WaitTimeoutError) and chance(self._random, 0.3):
            self._look()
        del said
        self._abandon()
        for executor in self.world.executors if "back" in self.modes else ():
            if self.call("come back", executor.come_back) is True:
                self.findings.append("a thread that came back found something to do")

    def _end_by_itself(self, what: str, function: Callable[..., Any], *arguments: Any) -> None:
        said = self._call_patiently(what, function, *arguments)
        if "clock" in self.modes and self.world.graph.is_running:
            said = self._call_patiently(
                what, function, *arguments
            )  # the wait read the clock; the run goes on
        if isinstance(said, WaitTimeoutError) or self.world.graph.is_running:
            self._note_hang(what, said)
            self._abandon()

    def _note_hang(self, what: str, said: object) -> None:
        self.findings.append(f"{what} hangs: {said}\n{self.world.graph.why()}")
        faulthandler.dump_traceback(file=sys.stderr)

    def _abandon(self) -> None:
        graph = self.world.graph
        began = time.monotonic()
        self.call("abandon", graph.abandon, SHORT_S)
        if (took := time.monotonic() - began) > JOIN_S / 2:
            self.findings.append(f"abandon took {took:.1f} s")
        if graph.is_running:
            self.findings.append("after abandon the graph is still running")

    def _finish(self) -> None:
        """Look at the ended run, run the graph once more, and release everything."""
        world, graph = self.world, self.world.graph
        if graph is not None and "drop" in self.modes:
            graph = world.graph = None
            gc.collect()
        if graph is not None:
            if graph.is_running:
                self._abandon()
            if self._was_started:
                self._check_reports()
            self.call("close", graph.close, END_S)
            world.is_armed = False
            world.release.set()
            if self._may_run_again() and not graph.is_running:
                self._run_again()
        self._rows = None
        world.graph = graph = None
        if late := world.end():
            self.findings.append(f"threads of the application did not end: {', '.join(late)}")
        self.findings += world.stray

    def _check_reports(self) -> None:
        """Read what the graph tells of its run; its ledger must add up."""
        self._look()
        ledger = self.call("ledger", self.world.graph.ledger)
        if not isinstance(ledger, PenstockError) and not ledger.adds_up:
            self.findings.append(f"the ledger does not add up\n{ledger}")

    def _may_run_again(self) -> bool:
        """Return whether to run the graph once more, after the threads that feed the first run have ended."""
        if not (self.kind.again and chance(self._random, 0.4)):
            return False
        for thread in self._feeders:
            thread.join(JOIN_S)
        if any(thread.is_alive() for thread in self._feeders):
            self.findings.append("a thread that feeds an ended run is not refused")
            return False
        return self._is_prepared  # an interrupt may come before all executors were handed in

    def _run_again(self) -> None:
        """Run the graph without a fault; nothing may go wrong."""
        graph = self.world.graph
        for executor in self.world.executors:
            executor.revive()
        self.world.release.set()
        said = self.call("start_run again", graph.start_run)
        if isinstance(said, PenstockError):
            self.findings.append(f"the graph cannot run again: {said}")
            return
        for number in range(3):
            for name in self.drawn.inputs:
                add = graph.add_packet_to_input_stream
                said = self.call("add again", add, name, packet(self.world, number), timeout=END_S)
                if isinstance(said, PenstockError):
                    self.findings.append(f"the second run takes no packet: {said}\n{graph.why()}")
        said = self.call("close again", graph.close, END_S)
        if isinstance(said, PenstockError):
            self.findings.append(f"the second run fails: {said}\n{graph.why()}")
        if graph.is_running:
            self._abandon()
        elif not graph.ledger().adds_up:
            self.findings.append(f"the ledger of the second run does not add up\n{graph.ledger()}")


# --- what is left behind ------------------------------------------------------------------------------


class Traces(NamedTuple):
    """What a process has, before and after a run."""

    threads: frozenset[threading.Thread]
    files: dict[str, str]

    @classmethod
    def now(cls) -> Traces:
        """Return what there is now."""
        files = {}
        for file in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):  # that of the listing itself
                files[file.name] = str(file.readlink())
        return cls(frozenset(threading.enumerate()), files)

    def left(self, trial: Trial) -> list[str]:
        """Return what a run has left, after a time to end."""
        found = []
        until = time.monotonic() + JOIN_S
        for thread in threading.enumerate():
            if thread not in self.threads and thread.ident is not None:  # it never began: no memory was left
                _join(thread, until)
                if thread.is_alive():
                    found.append(f"thread {thread.name!r} is left\n{_stack(thread)}")
        if trial.world.alive():
            gc.collect()
        if alive := trial.world.alive():
            held = [
                repr(type(one)) + repr(one)[:150] for one in gc.get_referrers(alive[0]) if one is not alive
            ]
            found.append(f"{len(alive)} packets are left; the first is held by {held[:5]}")
        if len(Traces.now().files) > len(self.files):
            gc.collect()  # an error may hold what failed to open
        new = {name: to for name, to in Traces.now().files.items() if self.files.get(name) != to}
        if new and len(Traces.now().files) > len(self.files):
            found.append(f"file descriptors are left: {new}")
        return found


def _join(thread: threading.Thread, until: float) -> None:
    """Wait for the end of a thread, which may not even have begun yet, until a time."""
    while time.monotonic() < until:
        try:
            thread.join(max(0.0, until - time.monotonic()))
        except RuntimeError:  # it is about to begin
            time.sleep(SHORT_S)
        else:
            return


def _stack(thread: threading.Thread) -> str:
    if not getattr(sys, "_is_gil_enabled", lambda: True)() and sys.version_info < (3, 14):
        return ""  # reading it may crash: gh-152355
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001  # it is the way to see them
    return "".join(traceback.format_stack(frame)) if frame is not None else ""


class Watchdog:
    """Ends this process if a run hangs, after it has told why."""

    def __init__(self) -> None:
        self._is_done = threading.Event()
        self._news = threading.Event()
        self.trial: Trial | None = None
        self.what = ""
        self.began = 0.0
        self._thread = threading.Thread(target=self._watch, name="faulty-watchdog", daemon=True)
        self._thread.start()

    def watch(self, trial: Trial, what: str) -> None:
        """Watch a run that begins now."""
        self.trial, self.what, self.began = trial, what, time.monotonic()

    def stop(self) -> None:
        """End the thread."""
        self._is_done.set()
        self._thread.join(JOIN_S)

    def _watch(self) -> None:
        while not self._is_done.wait(1.0):
            trial = self.trial
            if trial is None or time.monotonic() - self.began < _WATCHDOG_S:
                continue
            faulthandler.dump_traceback_later(JOIN_S, exit=True)  # should `why` hang too
            _say(f"HANG in {self.what}: no end after {_WATCHDOG_S:g} s\n{trial.drawn.text}")
            faulthandler.dump_traceback(file=sys.stderr)
            if trial.world.graph is not None:
                _say(str(trial.world.graph.why()))
            _say("\n".join(trial.story[-20:]))
            os._exit(1)


# --- the script ---------------------------------------------------------------------------------------


class Tally:
    """How many runs there were of each kind, and what was found."""

    def __init__(self) -> None:
        #: Kind → number of runs.
        self.runs: Counter[str] = Counter()
        #: Kind → number of runs in which the fault happened.
        self.fired: Counter[str] = Counter()
        #: Kind → number of findings.
        self.findings: Counter[str] = Counter()

    def __str__(self) -> str:
        width = max([len(name) for name in self.runs], default=4)
        rows = [f"{'kind':{width}} {'runs':>7} {'faults':>7} {'findings':>8}"]
        rows += [
            f"{name:{width}} {count:7} {self.fired[name]:7} {self.findings[name] or '':>8}"
            for name, count in self.runs.items()
        ]
        total = f"{'all':{width}} {self.runs.total():7} {self.fired.total():7} {self.findings.total():8}"
        return "\n".join([*rows, total])


def one_run(seed: int, kind: Kind, interrupts: Interrupts, watchdog: Watchdog) -> Trial:
    """Do one run; return it with its findings."""
    before = Traces.now()
    trial = Trial(seed, kind, interrupts)
    watchdog.watch(trial, f"--one {seed} --kind {kind.name!r}")
    trial.run()
    trial.findings += before.left(trial)
    if not kind.place and not kind.mode:
        trial.world.has_fired = True
    watchdog.trial = None
    return trial


def runs(arguments: argparse.Namespace, kinds: Iterable[Kind], interrupts: Interrupts) -> Tally:
    """Do all runs that the command line asks for; tell findings as they come."""
    tally, watchdog = Tally(), Watchdog()
    kinds = list(kinds)
    began = told = time.monotonic()
    first, count = arguments.seed, arguments.runs
    if arguments.one is not None:
        first, count = arguments.one, 1
    numbers = range(first, first + count) if count else itertools.count(first)
    try:
        for seed in numbers:
            now = time.monotonic()
            if interrupts.stop_asked or (arguments.seconds and now - began > arguments.seconds):
                break
            if now - told > _PROGRESS_S:
                told = now
                _say(f"{tally.runs.total()} runs, {tally.findings.total()} findings, {now - began:.0f} s")
            kind = kinds[seed % len(kinds)]
            trial = one_run(seed, kind, interrupts, watchdog)
            tally.runs[kind.name] += 1
            tally.fired[kind.name] += trial.world.has_fired
            tally.findings[kind.name] += len(trial.findings)
            if trial.findings or arguments.one is not None:
                tell(seed, trial, is_verbose=arguments.one is not None)
    finally:
        watchdog.stop()
    _say(f"{tally.runs.total()} runs in {time.monotonic() - began:.1f} s")
    return tally


def tell(seed: int, trial: Trial, *, is_verbose: bool) -> None:
    """Print what a run has found, and how to have it again."""
    if is_verbose:
        _say(trial.drawn.text)
        _say("\n".join(trial.story))
    for finding in trial.findings:
        _say(f"FINDING --one {seed} --kind {trial.kind.name!r}: {finding}")


def _say(words: str) -> None:
    print(words.encode(errors="backslashreplace").decode(), file=sys.stderr, flush=True)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="how many runs; 0 for no limit")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="end after this time")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the first run (default: 0)")
    parser.add_argument("--kind", default="", metavar="WORD", help="only kinds whose name has this word")
    parser.add_argument("--one", type=int, metavar="SEED", help="one run, with all that it tells")
    given = parser.parse_args(arguments)
    given.kinds = [kind for kind in KINDS if given.kind == kind.name] or [
        kind for kind in KINDS if given.kind in kind.name
    ]
    if not given.kinds:
        parser.error(
            f"--kind {given.kind!r}: no kind has this in its name; there are: "
            + ", ".join(k.name for k in KINDS)
        )
    return given


def main(arguments: list[str] | None = None) -> int:
    """Do the runs of a command line; return the exit status."""
    given = _parse(arguments)
    logging.disable()
    for module, name, seconds in GRACES:
        setattr(module, name, seconds)
    stray: list[str] = []
    threading.excepthook = lambda one: stray.append(
        f"thread {one.thread}: {one.exc_type.__name__}: {one.exc_value!r}"[:300]
    )
    sys.unraisablehook = lambda one: stray.append(
        f"{one.err_msg} {one.object!r}: {type(one.exc_value).__name__}"[:300]
    )
    interrupts = Interrupts()
    interrupts.install()
    gc.collect()
    gc.freeze()  # what was imported need not be looked through after each run
    tally = runs(given, given.kinds, interrupts)
    print(tally)
    for words, count in Counter(stray).most_common(20):
        print(f"{count} times not raised to anybody: {words}")
    return 1 if tally.findings.total() else 0


if __name__ == "__main__":
    sys.exit(main())
