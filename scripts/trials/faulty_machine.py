"""What surrounds a run and breaks: interrupts between two instructions, clocks that jump, forks, destructors.

A function that takes a world and a subject is an act, as in `faulty_kinds`.
"""

from __future__ import annotations

import contextlib
import dis
import gc
import os
import random
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, Final, Self

from faulty_parts import JOIN_S, VICTIM, World, registry_of

import penstock
from penstock.errors import PenstockError
from penstock.services import ServiceKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, TracebackType

#: After these instructions, and at the start of a function, the interpreter looks for signals.
_LOOKS: Final = frozenset({"RESUME", "CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD"})
#: How often a destructor calls back in one run.
_CALLS_BACK: Final = 5
#: How long a call of a destructor waits.
_SHORT_S: Final = 0.02
#: A child that lives longer is ended, and is a finding.
_CHILD_S: Final = 10.0


class Bytecodes:
    """Raises KeyboardInterrupt in the thread that enters it, in code of Penstock, as a Ctrl-C does.

    The interpreter looks for signals after calls, at loops and at the start of functions; each such place
    that is passed is counted.

    Args:
        after: at which place, counted from 0.
        raised: called just before.
    """

    def __init__(self, after: int, raised: Callable[[], object]) -> None:
        self._left = after
        self._raised = raised
        self._names: dict[CodeType, bytes] = {}
        self._is_open = False

    def __enter__(self) -> Self:
        self._is_open = True
        sys.settrace(self._call)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(None)
        self._is_open = False  # a frame that is traced already goes on asking

    def _call(self, frame: FrameType, _event: str, _argument: object) -> Any:
        code = frame.f_code
        if "/penstock" not in code.co_filename and "threading.py" not in code.co_filename:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if code not in self._names:
            self._names[code] = code.co_code
        instructions = self._names[code]
        before = ""

        def trace(here: FrameType, event: str, _argument: object) -> Any:
            nonlocal before
            if event != "opcode" or not self._is_open:
                return trace
            now = dis.opname[instructions[here.f_lasti]]
            # Python 3.11 does some calls in the instruction before CALL.
            if before in _LOOKS or (before == "PRECALL" and now != "CALL"):
                if not self._left:
                    self._is_open = False
                    self._raised()
                    raise KeyboardInterrupt
                self._left -= 1
            before = now
            return trace

        return trace


def place_of(rng: random.Random) -> int:
    """Return after how many places an interrupt comes: as often among the first 30 as among all 30,000."""
    return int(10 ** (rng.random() * 4.5))


# --- forks --------------------------------------------------------------------------------------------


def fork(world: World, _subject: object) -> None:
    """Fork the process in the middle of a call; the child does one of the things that children do."""
    deed = world.random.choice(("exit", "collect", "other graph", "this graph"))
    pid = os.fork()
    if not pid:
        code = 9
        try:
            signal.alarm(int(_CHILD_S))
            code = _in_child(world, deed)
        finally:
            os._exit(code)
    until = time.monotonic() + _CHILD_S + JOIN_S
    done, status = os.waitpid(pid, os.WNOHANG)
    while not done and time.monotonic() < until:
        time.sleep(0.002)
        done, status = os.waitpid(pid, os.WNOHANG)
    if not done:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not done or status:
        world.stray.append(
            f"a forked child that was to do {deed!r} ended with status {status if done else None}"
        )


def _in_child(world: World, deed: str) -> int:
    """Do something with graphs in a forked child; return its exit status."""
    if deed == "collect":
        gc.unfreeze()
        gc.collect()
    elif deed == "other graph":
        return _run_another()
    elif deed == "this graph":
        graph = world.graph
        str(graph.why())
        for call in (graph.cancel, lambda: graph.wait_until_done(_CHILD_S), lambda: graph.close(_CHILD_S)):
            with contextlib.suppress(PenstockError):
                call()
        return 3 if graph.is_running else 0
    return 0


def _run_another() -> int:
    world = World(random.Random(1))  # noqa: S311  # it is for chance, not for secrets
    seen: list[object] = []
    text = f"""
        input_stream: "a"
        node {{ name: "{VICTIM}" calculator: "Coroutine" input_stream: "a" output_stream: "b" }}
        node {{ calculator: "Step" input_stream: "b" output_stream: "c" }}
    """
    service: ServiceKey[Any] = ServiceKey("faulty.service", create=object)
    with penstock.CalculatorGraph(text, registry=registry_of(world, service)) as graph:
        graph.observe_output_stream("c", lambda _, packet: seen.append(packet))
        graph.start_run()
        for number in range(3):
            graph.add_packet_to_input_stream("a", penstock.Packet(world.payload(number), number), timeout=5)
        graph.close(5)
    return 0 if len(seen) == 3 else 4  # noqa: PLR2004  # the three that were added


# --- destructors --------------------------------------------------------------------------------------


def _again(world: World) -> None:
    """Let the next destructor call back too, up to a number of them."""
    world.times += 1
    world.is_armed = world.times < _CALLS_BACK and not world.release.is_set()


def calls_back(*choices: Callable[[World, Any], object]) -> Callable[[World, Any], None]:
    """Return an act of a destructor: one of these calls of the graph, which may fail with a PenstockError."""

    def act(world: World, _subject: object) -> None:
        graph = world.graph
        if graph is None:
            return
        is_held = _holds_lock(graph)
        if is_held and not world.has_cycles:
            world.stray.append("a destructor was called while its thread held the lock of the run")
        try:
            world.random.choice(choices)(world, graph)
        except PenstockError as error:
            str(error)
        finally:
            _again(world)

    return act


def _holds_lock(graph: Any) -> bool:
    runner = graph._runs.runner  # noqa: SLF001  # no public name tells it
    return runner is not None and bool(runner.lock._is_owned())  # noqa: SLF001  # as threading.Condition asks


def looks(_world: World, graph: Any) -> None:
    """Ask the graph for all that it tells."""
    str(graph.snapshot())
    str(graph.ledger())
    str(graph.why())
    graph.has_error()


def adds(world: World, graph: Any) -> None:
    """Add a packet."""
    packet = penstock.Packet(world.payload(0), 100_000 + world.times)
    graph.add_packet_to_input_stream("in0", packet, timeout=_SHORT_S)


def waits(_world: World, graph: Any) -> None:
    """Wait for the graph."""
    graph.wait_until_idle(_SHORT_S)


def pauses(_world: World, graph: Any) -> None:
    """Pause the graph and let it go on."""
    graph.pause()
    graph.resume()


def closes_inputs(_world: World, graph: Any) -> None:
    """Close what feeds the graph."""
    graph.close_all_packet_sources()


def cancels(_world: World, graph: Any) -> None:
    """Cancel the run."""
    graph.cancel()


def closes(_world: World, graph: Any) -> None:
    """Close the graph."""
    graph.close(_SHORT_S)


# --- clocks -------------------------------------------------------------------------------------------


def jump(*seconds: float) -> Callable[[World, Any], None]:
    """Return an act that sets the clock of a graph forward or back by one of these times, again and again."""

    def act(world: World, _subject: object) -> None:
        world.jump += world.random.choice(seconds)
        world.times += 1
        world.after = world.random.randrange(4)
        world.is_armed = world.times < _CALLS_BACK

    return act
