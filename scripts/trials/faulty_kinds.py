"""The kinds of faults: where each happens, what it does, and what it needs of graph and application."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import faulty_machine as machine
from faulty_graphs import Needs
from faulty_parts import JOIN_S

import penstock
from penstock.errors import CancelledError, PenstockError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from faulty_parts import Threads, World


class Injected(Exception):  # noqa: N818  # it is no error of this script
    """What a fault raises."""

    def __init__(self) -> None:
        super().__init__("injected")


class Unreadable(Injected):
    """An exception without a text."""

    def __str__(self) -> str:
        raise RuntimeError("never readable")

    __repr__ = __str__


class Outside(BaseException):
    """An exception that `except Exception` does not catch."""


class UnmadeError(PenstockError):
    """An error whose author forgot `super().__init__`."""

    def __init__(self) -> None:
        self.reason = "injected"


class Kind(NamedTuple):
    """A kind of fault."""

    #: For users.
    name: str
    #: Where it happens; "" where the application does it, as `mode` says.
    place: str = ""
    #: What happens there.
    act: Callable[[World, Any], Any] = lambda _world, _subject: None
    #: The needs of the graph.
    needs: Needs = Needs()
    #: What the application does: see `faulty_runs`.
    mode: str = ""
    #: Whether the run ends without `abandon`.
    ends: bool = True
    #: Whether the same graph can run once more without a fault.
    again: bool = True
    #: The fault happens at one of the first visits of its place, below this number.
    latest: int = 1


def _raise(kind: type[BaseException]) -> Callable[[World, Any], Any]:
    def act(_world: World, _subject: object) -> Any:
        raise kind

    return act


def _raise_any(world: World, _subject: object) -> Any:
    kinds = (Injected, Unreadable, UnmadeError, MemoryError, RecursionError, CancelledError, StopIteration)
    kind = world.random.choice(kinds)
    made: Any = kind  # one of them takes a message
    raise made("injected") if kind is CancelledError else made()


def _wrong_type(_world: World, cc: Any) -> None:
    cc.outputs[0].add("no payload", cc.input_timestamp)


def _behind(world: World, cc: Any) -> None:
    cc.outputs[0].add(world.payload(0), cc.input_timestamp)
    cc.outputs[0].add(world.payload(0), cc.input_timestamp)


def _after_close(world: World, cc: Any) -> None:
    cc.outputs[0].close()
    cc.outputs[0].add(world.payload(0), cc.input_timestamp)


def _nonsense(world: World, _cc: object) -> Any:
    return world.random.choice((42, "done", object(), [1], False))


def _returned(value: object) -> Callable[[World, Any], Any]:
    return lambda _world, _subject: value


def _endless(_world: World, _cc: object) -> Awaitable[None]:
    return asyncio.Event().wait()  # type: ignore[return-value]  # it never returns


async def _stay(world: World) -> None:
    while not world.release.is_set():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.005)


async def _cancel_self() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.cancel()
    await asyncio.sleep(0)


def _cancelled_future(world: World, _cc: object) -> Any:
    made = world.future()
    made.cancel()
    return made


def _cancel_graph(world: World, _subject: object) -> None:
    world.graph.cancel()


def _wait_inside(world: World, _subject: object) -> None:
    world.graph.wait_until_done(1)


def _hang(world: World, _subject: object) -> None:
    if threading.current_thread() is not threading.main_thread():  # the application itself would hang
        world.release.wait(2 * JOIN_S)


def _die(_world: World, executor: Threads) -> None:
    executor.is_dead = True


def _be_stubborn(_world: World, executor: Threads) -> None:
    executor.is_stubborn = True


def _repeat(_world: World, executor: Threads) -> bool:
    executor.repeats = True
    return False


def _stop_loop(world: World, _cc: object) -> Awaitable[None] | None:
    if world.loop is not None:
        world.loop.call_soon_threadsafe(world.loop.stop)
    return asyncio.sleep(0)


def _no_number(world: World, _subject: object) -> float:
    return world.random.choice((float("nan"), float("inf"), float("-inf")))


_LOOKS_BACK: Final = machine.calls_back(machine.looks)
_ADDS_BACK: Final = machine.calls_back(machine.adds, machine.waits, machine.pauses)
_ENDS_BACK: Final = machine.calls_back(machine.closes_inputs, machine.cancels, machine.closes)
_PUBLIC: Final = Needs(executor=True)
_COROUTINE: Final = Needs(form="Coroutine")
_STEP: Final = Needs(form="Step")
_POLICY: Final = Needs(policy="FaultyPolicy")
_PATIENT: Final = Needs(policy="Timeout")

KINDS: Final = (
    Kind("none"),
    Kind("__init__ raises", "__init__", _raise_any, latest=2),
    Kind("get_contract raises", "get_contract", _raise(Injected), latest=2),
    Kind("open raises", "open", _raise_any),
    Kind("process raises", "process", _raise_any, latest=6),
    Kind("close raises", "close", _raise_any),
    Kind("process of a source raises", "process", _raise_any, Needs(form="Source"), latest=6),
    Kind("text of an exception raises in open", "open", _raise(Unreadable)),
    Kind("text of an exception raises in process", "process", _raise(Unreadable), latest=6),
    Kind("BaseException in process", "process", _raise(Outside), latest=6),
    Kind("BaseException in open", "open", _raise(Outside)),
    Kind("BaseException in close", "close", _raise(Outside)),
    Kind("SystemExit in process", "process", _raise(SystemExit), latest=6),
    Kind("GeneratorExit in process", "process", _raise(GeneratorExit), _STEP, latest=6),
    Kind("a coroutine raises a BaseException", "process", _raise(Outside), _COROUTINE, latest=4),
    Kind("a packet of a wrong type", "process", _wrong_type, _STEP, latest=6),
    Kind("a timestamp behind the bound", "process", _behind, _STEP, latest=6),
    Kind("a packet after close of the output", "process", _after_close, _STEP, latest=6),
    Kind("process returns nonsense", "process", _nonsense, latest=6),
    Kind("open returns nonsense", "open", _nonsense),
    Kind("close returns nonsense", "close", _nonsense),
    Kind("process returns STOP", "process", _returned(penstock.STOP), latest=6),
    Kind("open returns STOP", "open", _returned(penstock.STOP)),
    Kind("a coroutine that never ends", "process", _endless, _COROUTINE, mode="stuck", ends=False, latest=4),
    Kind(
        "a coroutine that ignores its cancellation",
        "process",
        lambda world, _: _stay(world),
        _COROUTINE,
        mode="stuck",
        ends=False,
        latest=4,
    ),
    Kind("a coroutine that cancels itself", "process", lambda *_: _cancel_self(), _COROUTINE, latest=4),
    Kind("a future that is cancelled", "process", _cancelled_future, _STEP, latest=4),
    Kind(
        "a future that never ends",
        "process",
        lambda world, _: world.future(),
        _STEP,
        mode="stuck",
        ends=False,
        latest=4,
    ),
    Kind("close never ends", "close", lambda world, _: world.future(), mode="stuck", ends=False),
    Kind("a calculator cancels the graph", "process", _cancel_graph, latest=6),
    Kind("a calculator waits for its own graph", "process", _wait_inside, latest=6),
    Kind("a call hangs", "process", _hang, _STEP, mode="stuck", ends=False, latest=4),
    Kind("open hangs", "open", _hang, mode="stuck", ends=False),
    Kind("an observer raises", "observer", _raise_any, mode="observed", latest=6),
    Kind("an observer raises a BaseException", "observer", _raise(Outside), mode="observed", latest=6),
    Kind("an observer hangs", "observer", _hang, mode="observed stuck", ends=False, latest=4),
    Kind("an observer cancels the graph", "observer", _cancel_graph, mode="observed", latest=6),
    Kind("an observer waits for its own graph", "observer", _wait_inside, mode="observed", latest=6),
    Kind("look raises", "look", _raise_any, _POLICY, latest=6),
    Kind("look returns nonsense", "look", _returned("now"), _POLICY, latest=6),
    Kind("fill raises", "fill", _raise_any, _POLICY, latest=6),
    Kind("prepare raises", "prepare", _raise_any, _POLICY),
    Kind("an executor refuses to start", "lend_to", _raise_any, _PUBLIC),
    Kind("an executor lends nonsense", "lend_to", _returned(42), _PUBLIC),
    Kind("wake raises", "wake", _raise_any, _PUBLIC, latest=6),
    Kind("stop raises", "stop", _raise_any, _PUBLIC),
    Kind("stop never tells that it stopped", "stop", _be_stubborn, _PUBLIC),
    Kind("an executor runs steps twice and late", "interrupted", _repeat, _PUBLIC, latest=4),
    Kind(
        "an executor's thread ends by an error",
        "interrupted",
        _raise(Injected),
        _PUBLIC,
        ends=False,
        mode="stuck",
        latest=6,
    ),
    Kind("an executor dies in silence", "wake", _die, _PUBLIC, ends=False, mode="stuck", latest=4),
    Kind(
        "an executor dies and is cancelled", "wake", _die, _PUBLIC, ends=False, mode="stuck cancel", latest=4
    ),
    Kind("an executor comes back later", "wake", _die, _PUBLIC, ends=False, mode="stuck back", latest=4),
    Kind("thread_count raises", "thread_count", _raise(Injected), _PUBLIC, mode="look"),
    Kind("a pool is shut down during the run", mode="pool", ends=False, again=False),
    Kind("the clock raises", "clock", _raise_any, mode="clock", latest=4),
    Kind("the clock returns nonsense", "clock", _returned("noon"), mode="clock", latest=4),
    Kind("a service cannot be made", "service create", _raise_any, Needs(served=True)),
    Kind("a service cannot be closed", "service close", _raise_any, Needs(served=True)),
    Kind("a service is missing", needs=Needs(served=True), mode="no service", again=False),
    Kind("a tracer raises", "tracer", _raise(Injected), mode="traced", latest=20),
    Kind(
        "the size of a payload raises",
        "nbytes",
        _raise_any,
        mode="bytes held",
        ends=False,
        again=False,
        latest=6,
    ),
    Kind("a limit of queued bytes", mode="few bytes held", ends=False, again=False),
    Kind("an interrupt", mode="interrupt"),
    Kind(
        "the event loop of the application stops",
        "process",
        _stop_loop,
        _COROUTINE,
        mode="loop stuck",
        ends=False,
        again=False,
        latest=4,
    ),
    Kind("an interrupt at a random bytecode", mode="interrupt bytecode"),
    Kind("a fork during the run", "process", machine.fork, latest=6),
    Kind("a fork during open", "open", machine.fork),
    Kind("a destructor looks at the graph", "destructor", _LOOKS_BACK, mode="dying", latest=6),
    Kind("a destructor adds packets", "destructor", _ADDS_BACK, mode="dying", latest=6),
    Kind("a destructor ends the run", "destructor", _ENDS_BACK, mode="dying", latest=6),
    Kind("collected garbage looks at the graph", "destructor", _LOOKS_BACK, mode="dying cyclic", latest=6),
    Kind("collected garbage adds packets", "destructor", _ADDS_BACK, mode="dying cyclic", latest=6),
    Kind("collected garbage ends the run", "destructor", _ENDS_BACK, mode="dying cyclic", latest=6),
    Kind("the clock jumps ahead", "clock", machine.jump(0.1, 60.0, 1e9), mode="clock", latest=4),
    Kind("the clock jumps back", "clock", machine.jump(-0.1, -60.0, -1e9), mode="clock", latest=4),
    Kind(
        "the clock of a policy with time-outs jumps",
        "clock",
        machine.jump(0.003, 60.0, -0.003, -60.0),
        _PATIENT,
        mode="clock",
        latest=4,
    ),
    Kind("the clock is no number", "clock", _no_number, mode="clock", latest=4),
    Kind("a side packet of a wrong type", mode="wrong side"),
    Kind("a header of an unknown input", mode="wrong header"),
    Kind("packets of wrong order from outside", mode="disorder"),
    Kind("packets of a wrong type from outside", mode="mistyped"),
    Kind("packets after the end", mode="late"),
    Kind("feeding threads during the end", mode="feeders"),
    Kind("cancel at a random moment", mode="cancel"),
    Kind("close at a random moment", mode="close"),
    Kind("pause and resume at random moments", mode="pause"),
    Kind("a pause that never ends", mode="pause stuck", ends=False),
    Kind("abandon at a random moment", mode="abandon", ends=False),
    Kind("a poller that is never read", mode="poller stuck", ends=False, again=False),
    Kind("rows that are left early", mode="rows"),
    Kind("rows that are never read", mode="unread stuck", ends=False, again=False),
    Kind("a graph is dropped during its run", mode="drop", ends=False, again=False),
    Kind("a block with the graph raises", mode="block"),
)
