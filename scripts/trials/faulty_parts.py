"""The parts of graphs that break on purpose: calculators, input policies, executors, services, clocks.

Each part asks its `World` at each place where it could break (`World.at`). The world has one fault at most:
at the chosen place and visit it does what the fault says, once. Without a fault every part works.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import inspect
import queue
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock import CalculatorContext, CalculatorContract, InputStreamHandler, Packet, Registry
from penstock.tracing import Tracer
from penstock_calculators.limiting.flow_limiter import FlowLimiterCalculator
from penstock_executors.application_thread import ApplicationThreadExecutor
from penstock_executors.thread_pool import SingleThreadExecutor, ThreadPoolExecutor
from penstock_stream_handlers.default import DefaultInputStreamHandler
from penstock_stream_handlers.early_close import EarlyCloseInputStreamHandler
from penstock_stream_handlers.fixed_size import FixedSizeInputStreamHandler
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_stream_handlers.timeout import Timeout

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from penstock import Input, Work
    from penstock.lowlevel import InputStream
    from penstock.services import ServiceKey

#: The node in which the faults of calculators happen.
VICTIM: Final = "victim"
#: How long a helper thread of this script may take to end.
JOIN_S: Final = 10.0


class Payload:
    """A payload that can be watched: `World.alive` tells those that something still holds."""

    __slots__ = ("__weakref__", "number", "world")

    def __init__(self, number: int, world: World) -> None:
        self.number = number
        self.world: World | None = world

    @property
    def nbytes(self) -> int:
        """The size that a limit in bytes counts."""
        if self.world is not None:
            self.world.at("nbytes")
        return 1000


class Dying(Payload):
    """A payload whose destructor is a place where something can happen, on whichever thread frees it."""

    __slots__ = ("cycle",)

    def __init__(self, number: int, world: World) -> None:
        super().__init__(number, world)
        #: Itself, where only the garbage collector frees it.
        self.cycle = self if world.has_cycles else None

    def __del__(self) -> None:
        if self.world is not None:
            self.world.at("destructor", self)


class World:
    """What surrounds one run: its fault, what the parts hold, and how all of that is released."""

    def __init__(self, rng: random.Random) -> None:
        #: The random numbers of this run.
        self.random = rng
        #: Under test; None before it is made and after it was dropped.
        self.graph: Any = None
        #: Whether the fault has happened.
        self.has_fired = False
        #: Whether the fault may still happen.
        self.is_armed = False
        self.place = ""
        self.after = 0
        self.act: Callable[[World, Any], Any] | None = None
        #: Set after the run; every call that hangs returns then.
        self.release = threading.Event()
        self.fired = threading.Event()
        #: Set at the end; the threads of the application end then.
        self.is_over = threading.Event()
        self.payloads: list[weakref.ref[Payload]] = []
        self.futures: list[concurrent.futures.Future[Any]] = []
        self.executors: list[Threads] = []
        self.pools: list[concurrent.futures.ThreadPoolExecutor] = []
        self.threads: list[threading.Thread] = []
        self.stray: list[str] = []
        self.loop: asyncio.AbstractEventLoop | None = None
        #: How often the fault has happened, where it happens again and again.
        self.times: int = 0
        #: How far the clock of the graph is ahead, in seconds.
        self.jump = 0.0
        #: Of payloads.
        self.payload_class: type[Payload] = Payload
        #: Whether payloads are freed by the garbage collector only.
        self.has_cycles = False
        self._lock = threading.Lock()

    def arm(self, place: str, after: int, act: Callable[[World, Any], Any]) -> None:
        """Let `act` happen at the visit number `after` of a place, from 0."""
        self.place, self.after, self.act = place, after, act
        self.is_armed = True

    def at(self, place: str, subject: object = None) -> Any:
        """Do what the fault says, if it is its place and time; return what it returns, else None."""
        if place != self.place or self.act is None:
            return None
        with self._lock:
            if not self.is_armed:
                return None
            if self.after:
                self.after -= 1
                return None
            self.is_armed = False
            self.has_fired = True
        self.fired.set()
        return self.act(self, subject)

    def payload(self, number: int) -> Payload:
        """Return a payload that is watched from now on."""
        made = self.payload_class(number, self)
        self.payloads.append(weakref.ref(made))
        return made

    def alive(self) -> list[Payload]:
        """Return the payloads that something still holds."""
        return [one for ref in self.payloads if (one := ref()) is not None]

    def future(self) -> concurrent.futures.Future[Any]:
        """Return a future that ends when the world is released, at the latest."""
        made: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.futures.append(made)
        return made

    def start(self, target: Callable[..., object], *arguments: object) -> threading.Thread:
        """Start a thread of the application, which `end` joins; it hands in what it raises as stray."""

        def guarded() -> None:
            try:
                target(*arguments)
            except BaseException as error:  # noqa: BLE001  # told as a finding
                self.stray.append(f"{target.__qualname__} in a thread: {type(error).__name__}: {error}"[:500])

        thread = threading.Thread(target=guarded, name="faulty-application", daemon=True)
        self.threads.append(thread)
        thread.start()
        return thread

    def run_loop(self) -> asyncio.AbstractEventLoop:
        """Return an event loop of the application, which runs in a thread."""
        self.loop = asyncio.new_event_loop()
        self.start(self.loop.run_forever)
        return self.loop

    def end(self) -> list[str]:
        """Release and join everything that is this script's own; return what did not end."""
        self.release.set()
        self.is_over.set()
        for future in list(self.futures):
            if not future.done() and not future.cancel():
                with contextlib.suppress(concurrent.futures.InvalidStateError):
                    future.set_result(None)
        for executor in self.executors:
            executor.end()
        for pool in self.pools:
            pool.shutdown(wait=False, cancel_futures=True)
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self.loop.stop)
        until = time.monotonic() + JOIN_S
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))
        workers = [thread for pool in self.pools for thread in pool._threads]  # noqa: SLF001  # to wait a while
        for thread in workers:
            thread.join(max(0.0, until - time.monotonic()))
        late = [thread.name for thread in (*self.threads, *workers) if thread.is_alive()]
        if self.loop is not None and not self.loop.is_running():
            _close(self.loop)
        self.futures.clear()  # each holds the run that waited for it
        return late


def _submitted(pool: concurrent.futures.Executor, *call: Any) -> concurrent.futures.Future[Any]:
    """Submit a call to a pool of the application.

    No garbage is collected meanwhile: `submit` of the standard library holds locks that it would take again
    for a graph with a pool, and a destructor that calls the graph there would never return.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        return pool.submit(*call)
    finally:
        if is_enabled:
            gc.enable()


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the tasks of a stopped loop, and close it."""
    for _ in range(3):  # the first ones may end at once: the loop was asked to stop more than once
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with contextlib.suppress(RuntimeError):
            loop.run_until_complete(asyncio.sleep(0))
    loop.close()


# --- calculators --------------------------------------------------------------------------------------


def _payload(cc: CalculatorContext) -> Payload | None:
    for port in cc.inputs:
        if not port.is_empty():
            found: Payload = port.payload
            return found
    return None


def _write(cc: CalculatorContext, payload: Payload | None) -> None:
    if payload is not None:
        for port in cc.outputs:
            port.add(payload, cc.input_timestamp)


def registry_of(world: World, service: ServiceKey[Any]) -> Registry:  # noqa: C901  # a list of classes
    """Return a registry with all parts of a world.

    Args:
        world: that the parts ask whether they break.
        service: what the calculator `Served` asks for.
    """

    class Node(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc: CalculatorContract) -> None:
            for specs in (cc.inputs, cc.outputs, cc.input_side_packets, cc.output_side_packets):
                for spec in specs:
                    spec.set(Payload)
            world.at("get_contract", cc)

        def __init__(self) -> None:
            world.at("__init__")

        def open(self, cc: CalculatorContext) -> Any:
            for port in cc.output_side_packets:
                port.set(world.payload(-1))
            return world.at("open", cc) if cc.node_name == VICTIM else None

        def before(self, cc: CalculatorContext) -> Any:
            return world.at("process", cc) if cc.node_name == VICTIM else None

        def close(self, cc: CalculatorContext) -> Any:
            return world.at("close", cc) if cc.node_name == VICTIM else None

    class Step(Node):
        def process(self, cc: CalculatorContext) -> Any:
            said = self.before(cc)
            if said is None:
                _write(cc, _payload(cc))
            return said

    class Coroutine(Node):
        async def process(self, cc: CalculatorContext) -> Any:
            said = self.before(cc)
            payload = _payload(cc)
            await asyncio.sleep(0)
            if inspect.isawaitable(said):
                return await said
            if said is None:
                _write(cc, payload)
            return said

    class Deferred(Node):
        def process(self, cc: CalculatorContext) -> Any:
            said = self.before(cc)
            if said is not None:
                return said
            if not world.pools:
                world.pools.append(concurrent.futures.ThreadPoolExecutor(1))
            return _submitted(world.pools[0], _write, cc, _payload(cc))

    class Source(Node):
        def __init__(self) -> None:
            super().__init__()
            self.left = 12
            self.next = 0

        def process(self, cc: CalculatorContext) -> Any:
            said = self.before(cc)
            if said is not None:
                return said
            if not self.left:
                return penstock.STOP
            self.left -= 1
            cc.output.add(world.payload(self.next), self.next)
            self.next += 10
            return None

    class Served(Step):
        @classmethod
        def get_contract(cls, cc: CalculatorContract) -> None:
            super().get_contract(cc)
            cc.use_service(service)

    class FaultyPolicy(InputStreamHandler):
        def prepare(self, inputs: Sequence[InputStream]) -> None:
            world.at("prepare", self)
            super().prepare(inputs)

        def look(self) -> int:
            said = world.at("look", self)
            return super().look() if said is None else said

        def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
            world.at("fill", self)
            super().fill(timestamp, inputs)

    registry = Registry()
    for calculator in (Step, Coroutine, Deferred, Source, Served, FlowLimiterCalculator):
        registry.add("calculator", calculator.__name__, calculator)
    for policy in (
        FaultyPolicy,
        DefaultInputStreamHandler,
        ImmediateInputStreamHandler,
        FixedSizeInputStreamHandler,
        EarlyCloseInputStreamHandler,
        Timeout,
    ):
        registry.add("input stream handler", policy.__name__, policy)
    for executor in (ThreadPoolExecutor, SingleThreadExecutor, ApplicationThreadExecutor):
        registry.add("executor", executor.__name__, executor)
    return registry


# --- executors ----------------------------------------------------------------------------------------


#: What the threads of `Lent` are asked.
_LOOK: Final = True
_END: Final = False


class Threads(penstock.Executor):
    """An executor of threads that can die, come back, or misbehave in each of its methods."""

    def __init__(self, world: World, count: int) -> None:
        self.world = world
        self.count = count
        #: It accepts all work and does none.
        self.is_dead = False
        #: It never tells that it has stopped.
        self.is_stubborn = False
        #: It asks the work again after each run of it, and after its end.
        self.repeats = False
        self.leases: list[Lent] = []
        world.executors.append(self)

    def lend_to(self, work: Work) -> penstock.ExecutorLease:
        """Begin to serve a run."""
        said = self.world.at("lend_to", self)
        if said is not None:
            lease: penstock.ExecutorLease = said
            return lease
        lent = Lent(self, work)
        self.leases.append(lent)
        lent.begin()
        return lent

    def come_back(self) -> bool:
        """Ask each work for steps, as threads do that come back late; return whether any had some."""
        found = [lent.work.run() or lent.work.step() for lent in self.leases]
        return any(found)

    def revive(self) -> None:
        """Serve the next run as if nothing had been."""
        self.end()
        self.is_dead = self.is_stubborn = self.repeats = False

    def end(self) -> None:
        """End all threads, also those that no run has stopped."""
        for lent in self.leases:
            lent.end(JOIN_S)
        self.leases.clear()


class Lent(penstock.ExecutorLease):
    """The threads of one run."""

    def __init__(self, executor: Threads, work: Work) -> None:
        self._executor = executor
        self.work = work
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, name="faulty-executor", daemon=True)
            for _ in range(executor.count)
        ]

    def begin(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def thread_count(self) -> int | None:
        """Return the number of threads."""
        said: int | None = self._executor.world.at("thread_count", self)
        return len(self._threads) if said is None else said

    def _serve(self) -> None:
        world = self._executor.world
        while self._asked.get():
            if self._executor.is_dead:
                continue
            try:
                self.work.run(interrupted=lambda: bool(world.at("interrupted", self._executor)))
                if self._executor.repeats:
                    self.work.run()
                    self.work.step()
            except Exception as error:  # noqa: BLE001  # a thread of an executor that ends by an error
                if "injected" not in str(error):
                    world.stray.append(f"Work.run raised {type(error).__name__}: {error}"[:500])
                return

    def wake(self) -> None:
        """Ask one thread to look."""
        self._executor.world.at("wake", self._executor)
        self._asked.put(_LOOK)

    def stop(self, timeout: float | None = None) -> bool:
        """End the threads."""
        said = self._executor.world.at("stop", self._executor)
        if said is not None or self._executor.is_stubborn:
            return False
        return self.end(JOIN_S if timeout is None else timeout)

    def end(self, timeout: float) -> bool:
        """Join the threads; return whether they have ended."""
        for _ in self._threads:
            self._asked.put(_END)
        until = time.monotonic() + timeout
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)


# --- the rest -----------------------------------------------------------------------------------------


class Service:
    """A service that the graph makes and closes."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.at("service create", self)

    def close(self) -> None:
        """Release nothing."""
        self.world.at("service close", self)


class FaultyTracer(Tracer):
    """A tracer that may raise in each of its methods."""

    def __init__(self, world: World) -> None:
        self.world = world

    def _seen(self, *_: object) -> None:
        self.world.at("tracer")

    run_started = run_ended = step_started = step_ended = _seen  # type: ignore[assignment]  # one for all
    packet_added = packets_dropped = queue_changed = _seen  # type: ignore[assignment]  # as above


class Clock:
    """The clock of this machine, until it breaks."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self) -> float:
        """Return the time in seconds."""
        said = self.world.at("clock")
        return time.monotonic() + self.world.jump if said is None else said


def packet(world: World, stamp: int) -> Packet:
    """Return a packet of a watched payload."""
    return Packet(world.payload(stamp), stamp)
