"""A world with its own time, in which threads take turns as a seed says.

The tasks of a world are threads of which one runs at a time. Whatever waits (a lock, a queue, a socket, a
sleep) waits through `World.wait`, where another task goes on, drawn by the seed. When no task can go on,
time jumps to the next moment at which something happens. So a minute of time-outs takes no time, the same
seed gives the same run, and a world in which nothing will ever happen again is seen at once.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
import threading
from collections import deque
from queue import Empty
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock_remote.machine import Machine
from penstock_testing.switches import Decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: More turns than that, and a run does not end.
_MOST_TURNS: Final = 100_000
#: How far an event may be away that comes though tasks could go on: they took so long.
_SOON_S: Final = 0.05
#: How often such an event comes.
_EARLY: Final = 0.1
#: How often a task gives its turn away where it could go on, in the worlds of different seeds.
_SWITCHES: Final = (0.02, 0.15, 0.5)


class Killed(BaseException):  # no error: it ends a thread of a process that was killed
    """Ends a task. Nothing that the task does afterwards has an effect."""


class StandsStillError(Exception):
    """Nothing will ever happen again, and the first task waits; or a run goes on without end."""


class Which(NamedTuple):
    """Which world: the one of a seed, or what is left of it where not all of it is needed to show a fault."""

    #: Decides what is drawn.
    seed: int
    #: Who goes on where several tasks could, as of `Decisions`; None: the seed decides that too.
    turns: Mapping[int, int] | None = None
    #: A source has at most so many packets, of one connection or partition; None: as the seed says.
    most_packets: int | None = None

    def limited(self, packets: int) -> int:
        """Return how many of these packets there are."""
        return packets if self.most_packets is None else min(packets, self.most_packets)


class Task:
    """One thread of a world."""

    def __init__(self, name: str, group: Group | None, carrier: _Carrier | None) -> None:
        #: What people call it.
        self.name: Final = name
        #: The process that it belongs to; None for the driver's.
        self.group: Final = group
        #: Released when the task is to go on.
        self.baton: Final = threading.Lock() if carrier is None else carrier.baton
        self.baton.acquire(blocking=False)
        #: What it waits for, None where it could go on; and until when.
        self.ready: Callable[[], bool] | None = None
        self.deadline: float | None = None
        #: Whether it has ended, and whether it has to.
        self.is_over = False
        self.is_killed = False

    def can_go(self, now: float) -> bool:
        """Return whether it may be the next to run."""
        if self.is_killed:
            return True
        if self.group is not None and self.group.is_frozen:
            return False
        if self.ready is None or (self.deadline is not None and self.deadline <= now):
            return True
        return self.ready()


class Group:
    """The tasks that a process has; all can be stopped and killed together."""

    def __init__(self) -> None:
        #: Whether a signal has stopped it.
        self.is_frozen = False
        #: Whether it was killed or has ended.
        self.is_over = False


class _Carrier:
    """A thread of this program that carries one task after another: to start one takes long."""

    idle: Final[list[_Carrier]] = []

    def __init__(self) -> None:
        self.baton: Final = threading.Lock()
        self.baton.acquire()
        self.job: Callable[[_Carrier], None] | None = None
        threading.Thread(target=self._serve, name="simulated", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.baton.acquire()
            job, self.job = self.job, None
            if job is not None:
                job(self)


class World:
    """A world, which begins at 0 seconds.

    Args:
        which: it is.
    """

    def __init__(self, which: Which) -> None:
        self.which: Final = which
        #: What everything in the world draws from, but for turns.
        self.random: Final = random.Random(which.seed)  # noqa: S311  # a trial's chance
        seed = self.random.getrandbits(32)  # also where it is not used
        #: Decides who goes on. The choice 0 is always that things go on as they do.
        self.turns: Final = Decisions(seed if which.turns is None else which.turns)
        #: Seconds since the beginning.
        self.now = 0.0
        #: What has happened, in words.
        self.told: Final[list[str]] = []
        #: Exceptions that have ended a task, in words.
        self.broken: Final[list[str]] = []
        self._switches: Final = self.random.choice(_SWITCHES)
        self._tasks: Final[list[Task]] = []
        self._events: Final[list[tuple[float, int, Callable[[], object]]]] = []
        self._numbers: Final = itertools.count()
        self._turns = 0
        self._main: Final = Task("main", None, None)
        self._tasks.append(self._main)
        self._current = self._main
        #: Set when the world stands still: the first task tells it.
        self._fault = ""
        #: Changes with each choice: worlds that differ have different ones.
        self.trail = 0

    # --- for the tasks ------------------------------------------------------------------------

    @property
    def group(self) -> Group | None:
        """The process of the task that runs."""
        return self._current.group

    def tell(self, words: str) -> None:
        """Note what happens."""
        self.told.append(f"{self.now:9.4f} {self._current.name}: {words}")

    def wait(self, ready: Callable[[], bool], timeout: float | None = None) -> bool:
        """Let others go on until something holds, or for some seconds; return whether it holds.

        Raises:
            Killed: this task was killed.
            StandsStillError: it never will; raised in the first task alone.
        """
        me = self._current
        self._check(me)
        if ready():
            return True
        me.ready = ready
        me.deadline = None if timeout is None else self.now + max(timeout, 0.0)
        self._switch(me)
        me.ready = me.deadline = None
        self._check(me)
        return ready()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.wait(_never, seconds)

    def pause(self) -> None:
        """Let others go on, or not: called where the system could take the processor away and it matters."""
        me = self._current
        self._check(me)
        if self.turns.happens(self._switches):
            self._switch(me)
            self._check(me)

    def at(self, seconds: float, event: Callable[[], object]) -> None:
        """Let something happen in some seconds; it must not wait."""
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), event))

    def spawn(self, target: Callable[[], object], name: str, group: Group | None = None) -> Task:
        """Start a task, in the process of the one that runs unless a group is given."""
        self._check(self._current)
        carrier = _Carrier.idle.pop() if _Carrier.idle else _Carrier()
        task = Task(name, self._current.group if group is None else group, carrier)

        def run(own: _Carrier) -> None:
            try:
                self._check(task)
                target()
            except Killed:
                pass
            except BaseException as error:  # noqa: BLE001  # told by the trial
                self.broken.append(f"{name} was ended by {error!r}")
            task.is_over = True
            self._tasks.remove(task)
            _Carrier.idle.append(own)
            self._hand_over()

        carrier.job = run
        self._tasks.append(task)
        return task

    def kill(self, group: Group) -> None:
        """End the tasks of a process; the one that runs ends with its next wait."""
        group.is_over = True
        for task in self._tasks:
            if task.group is group:
                task.is_killed = True

    # --- for the trial ------------------------------------------------------------------------

    def left(self) -> list[str]:
        """Return the names of the driver's tasks that have not ended, without the first."""
        return [task.name for task in self._tasks[1:] if task.group is None]

    def end(self) -> None:
        """End all tasks."""
        self._fault = ""
        self._turns = 0
        for task in self._tasks[1:]:
            task.is_killed = True
        self.wait(lambda: len(self._tasks) == 1)

    # --- turns --------------------------------------------------------------------------------

    def _check(self, me: Task) -> None:
        if me.is_killed:
            raise Killed
        if me is self._main and self._fault:
            fault, self._fault = self._fault, ""
            raise StandsStillError(fault)

    def _switch(self, me: Task) -> None:
        task = self._next()
        if task is not me:
            self._current = task
            task.baton.release()
            me.baton.acquire()

    def _hand_over(self) -> None:
        self._current = self._next()
        self._current.baton.release()

    def _next(self) -> Task:
        self._turns += 1
        if self._turns > _MOST_TURNS:
            self._fault = self._fault or f"no end after {_MOST_TURNS} turns"
            return self._main
        while True:
            if self._events and self._events[0][0] - self.now < _SOON_S and self.turns.happens(_EARLY):
                self._happen()
            able = [task for task in self._tasks if task.can_go(self.now)]
            if able:
                able.sort(key=lambda task: task is not self._current)
                number = self.turns.randrange(len(able)) if len(able) > 1 else 0
                self.trail = (self.trail * 31 + number + len(able)) & 0xFFFFFFFFFFFF
                return able[number]
            if not self._pass_time():
                waiting = ", ".join(task.name for task in self._tasks)
                self._fault = f"nothing will ever happen again, and these wait: {waiting}"
                return self._main

    def _pass_time(self) -> bool:
        """Go to the next moment at which something happens; return whether there is one."""
        moments = [
            task.deadline
            for task in self._tasks
            if task.deadline is not None and not (task.group is not None and task.group.is_frozen)
        ]
        if self._events and (not moments or self._events[0][0] <= min(moments)):
            self._happen()
            return True
        if not moments:
            return False
        self.now = max(self.now, min(moments))
        return True

    def _happen(self) -> None:
        moment, _, event = heapq.heappop(self._events)
        self.now = max(self.now, moment)
        event()


def _never() -> bool:
    return False


class Lock:
    """As `threading.Lock`."""

    def __init__(self, world: World) -> None:
        self._world: Final = world
        self._is_held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002  # the interface
        """Take the lock; return whether that was done."""
        self._world.pause()
        limit = 0.0 if not blocking else None if timeout < 0 else timeout
        if not self._world.wait(self._is_free, limit):
            return False
        self._is_held = True
        return True

    def release(self) -> None:
        """Give it back."""
        self._is_held = False

    def _is_free(self) -> bool:
        return not self._is_held

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Condition:
    """As `threading.Condition`."""

    def __init__(self, world: World, lock: Lock) -> None:
        self._world: Final = world
        self._lock: Final = lock
        self._waiting: Final[deque[list[bool]]] = deque()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until notified."""
        told = [False]
        self._waiting.append(told)
        self._lock.release()
        self._world.wait(lambda: told[0], timeout)
        self._lock.acquire()
        return told[0]

    def notify(self, count: int = 1) -> None:
        """Wake some that wait."""
        for _ in range(min(count, len(self._waiting))):
            self._waiting.popleft()[0] = True

    def notify_all(self) -> None:
        """Wake all that wait."""
        self.notify(len(self._waiting))


class Event:
    """As `threading.Event`."""

    def __init__(self, world: World) -> None:
        self._world: Final = world
        self._is_set = False

    def is_set(self) -> bool:
        """Return whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Set it."""
        self._is_set = True

    def clear(self) -> None:
        """Take it back."""
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set."""
        self._world.pause()
        return self._world.wait(self.is_set, timeout)


class Queue:
    """As `queue.SimpleQueue`."""

    def __init__(self, world: World) -> None:
        self._world: Final = world
        self._items: Final[deque[Any]] = deque()

    def put(self, item: object) -> None:
        """Add an item."""
        self._items.append(item)

    def get(self, timeout: float | None = None) -> Any:
        """Wait for an item."""
        self._world.pause()
        if not self._world.wait(lambda: bool(self._items), timeout):
            raise Empty
        return self._items.popleft()

    def get_nowait(self) -> Any:
        """Return an item that is there."""
        if not self._items:
            raise Empty
        return self._items.popleft()


class Thread:
    """As `threading.Thread`."""

    def __init__(self, world: World, target: Callable[[], object], name: str, group: Group | None) -> None:
        self._world: Final = world
        self._target: Final = target
        self._group: Final = group
        self.name: Final = name
        self._task: Task | None = None

    def start(self) -> None:
        """Start it."""
        self._task = self._world.spawn(self._target, self.name, self._group)

    def is_alive(self) -> bool:
        """Return whether it has begun and not ended."""
        return self._task is not None and not self._task.is_over

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended."""
        self._world.wait(lambda: not self.is_alive(), timeout)


class Timer(Thread):
    """As `threading.Timer`."""

    def __init__(  # of two classes
        self,
        world: World,
        seconds: float,
        function: Callable[..., object],
        arguments: Sequence[Any],
        group: Group | None,
    ) -> None:
        super().__init__(world, self._run, "timer", group)
        self._seconds: Final = seconds
        self._function: Final = function
        self._arguments: Final = arguments
        self._is_cancelled = False

    def cancel(self) -> None:
        """Let it do nothing."""
        self._is_cancelled = True

    def _run(self) -> None:
        if not self._world.wait(lambda: self._is_cancelled, self._seconds):
            self._function(*self._arguments)


class SimulatedMachine(Machine):
    """What a process of a world gets its locks, threads and time from.

    Args:
        world: where it is.
        group: the process; None for the driver.
    """

    def __init__(self, world: World, group: Group | None = None) -> None:
        self.world: Final = world
        self._group: Final = group

    def monotonic(self) -> float:
        """Return the seconds of the world."""
        return self.world.now

    def lock(self) -> Any:
        """Return a lock."""
        return Lock(self.world)

    def condition(self, lock: Any) -> Any:
        """Return a condition."""
        return Condition(self.world, lock)

    def event(self) -> Any:
        """Return an event."""
        return Event(self.world)

    def queue(self) -> Any:
        """Return a queue."""
        return Queue(self.world)

    def thread(self, target: Callable[[], object], name: str) -> Any:
        """Return a thread."""
        return Thread(self.world, target, name, self._group)

    def timer(self, seconds: float, function: Callable[..., object], arguments: Sequence[Any]) -> Any:
        """Return a timer."""
        return Timer(self.world, seconds, function, arguments, self._group)


class SimulatedLoop(asyncio.BaseEventLoop):
    """An event loop in the time of a world; a task of the world runs it."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world: Final = world
        self._is_woken = False
        self._selector = self

    def time(self) -> float:
        """Return the seconds of the world."""
        return self._world.now

    def select(self, timeout: float | None) -> list[Any]:
        """Wait until another task wakes the loop."""
        self._world.wait(lambda: self._is_woken, timeout)
        self._is_woken = False
        return []

    def _process_events(self, _: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        self._is_woken = True
