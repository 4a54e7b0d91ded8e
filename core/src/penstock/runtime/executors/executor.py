"""The executor interface: an executor lends threads to runs.

A run has one ready queue for each executor. The executor owns its threads and their loop; the run
lends it `Work`, whose `run` takes ready steps of that queue one after another until none is left.
The run calls `ExecutorLease.wake` when it needs one more thread: steps are ready and no thread will look
soon; see `penstock.runtime.runner.queue_work`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from penstock.engine.stand_in import StandIn
    from penstock.plan import NodePlan, Plan


class Work(Protocol):
    """The steps of one ready queue of one run. All methods may be called from any thread."""

    @property
    def name(self) -> str:
        """The executor's name in the graph; "" for the default one. For thread names."""

    def step(self) -> bool:
        """Take one ready step, run it and complete it; return False if none was ready."""

    def run(
        self,
        interrupted: Callable[[], bool] | None = None,
        choose: Callable[[int], int] | None = None,
        max_s: float | None = None,
    ) -> bool:
        """Run ready steps until none is left, time is up or `interrupted` says so; return whether any ran.

        This takes less time than calling `step` in a loop, since the run is locked once between two
        steps.

        Args:
            interrupted: called between two steps; for executors with other work to do.
            max_s: seconds after which to return between two steps.
            choose: given the number n of ready steps, returns which to run, below n; for tests
                that explore schedules. None: the first one.
        """

    def has_ready(self) -> bool:
        """Return whether `run` would find something to do; may be asked at any time.

        For a thread that is about to sleep: it announces that first, and then asks this once more.
        """

    @property
    def taken(self) -> int:
        """A number that grows while steps are taken, though not with each; may be read at any time."""

    def is_neglected(self, seen: int) -> bool:
        """Return whether steps are ready and none has been taken since `taken` was `seen`.

        Sleeping threads ask this from time to time: a calculator that used to return at once may
        block, and then no thread is woken for the steps that it leaves behind.
        """

    def notify_waiters(self) -> None:
        """Wake the application threads that wait for this run; see `ExecutorLease.helps`."""


class ExecutorLease(ABC):
    """An executor's threads as lent to one ready queue of one run."""

    #: Whether the work is done by application threads while they wait for the run.
    helps = False
    #: Whether its steps are calls that are sent elsewhere: they return at once, and complete later. The
    #: thread that has made such a step ready then runs it, where `may_send` says so, instead of `wake`.
    sends = False
    #: Whether its sleeping threads ask `Work.is_neglected` from time to time. If they do not, the run asks
    #: for one more thread whenever a thread leaves ready steps behind, which costs a hand-off.
    watches = False

    def thread_count(self) -> int | None:
        """Return how many threads serve this run now, for reports; 0 with `helps`, None if not known.

        Called from any thread, without a lock; returns at once.
        """
        return 0 if self.helps else None

    @abstractmethod
    def wake(self) -> None:
        """Take note that ready steps need one more thread; never waits, and runs no step on this thread."""

    def may_send(self) -> bool:
        """Return whether the calling thread may run a ready step now; asked only with `sends`.

        The thread is the application's, inside a call that adds a packet, or one that has completed another
        step. It is never an event loop, nor inside a step or observer of the run.
        """
        return False

    @abstractmethod
    def stop(self, timeout: float | None = None) -> bool:
        """Stop; return whether no thread is inside the work any more.

        Called when the run is over or could not begin, and again after it returned False. Waits at most
        `timeout` seconds; None for no limit.
        """

    def help(self) -> bool:
        """Run what is ready on the calling thread; return whether anything was. Only with `helps`."""
        return False


class ExecutorDefaults(NamedTuple):
    """What an executor may need to know besides its options."""

    #: The executor's name in the graph; "" for the default one.
    name: str = ""
    #: What the graph's own `num_threads` asks for; 0 if it is not set.
    num_threads: int = 0
    #: min(processors, nodes), at least 1: what the reference takes.
    suggested_threads: int = 1
    #: Whether the graph declares no type for it, so that it must do without options.
    is_implied: bool = False


class Executor(ABC):
    """Lends threads to runs. Subclass it and register it by name, or hand it to `set_executor`."""

    #: Whether it makes calculators elsewhere, and holds what must be closed with the graph: `check`,
    #: `arrange`, `place` and `close` are called.
    places = False

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> Executor:  # noqa: ARG003  # has get(MessageType), are_given()
        """Make an executor from the options of a graph's `executor` entry.

        Raises:
            InvalidArgumentError: the options make no sense; the message names the field.
        """
        return cls()

    def arrange(self, plan: Plan, name: str, watched: Collection[int]) -> Plan:  # noqa: ARG002  # as below
        """Return the graph as a run is to have it, with other nodes in the place of some of this executor's.

        Called before `place`, with this executor's name in the graph, and the numbers of the streams that
        must be written even where no node reads them. Streams keep their numbers.
        """
        return plan

    def place(self, node: NodePlan, plan: Plan) -> StandIn | None:  # noqa: ARG002  # for overriding methods
        """Make the calculator of a node elsewhere, and return what stands for it here.

        Called once for each node of this executor when a run is put together; must not wait for other
        processes. None, the default: the calculator is made here. Called again where a failure policy wants
        a new one; an error of a call whose calculator is gone has a true attribute `calculator_is_lost`.

        Raises:
            InvalidArgumentError: the node cannot work elsewhere.
        """
        return None

    def check(self, plan: Plan, name: str) -> None:  # noqa: B027  # most executors take every node
        """Refuse a graph with nodes that this executor cannot run; called when the graph is loaded.

        Args:
            plan: the graph.
            name: of this executor in it.

        Raises:
            GraphConfigError: carries the fault of each such node.
        """

    def close(self) -> None:  # noqa: B027  # most executors hold nothing between runs
        """Release what outlives runs; no run uses the executor now, and a later one may use it again.

        Called when the graph is closed, and at the latest when it is dropped or the interpreter ends, if the
        graph has made this executor. The application closes an executor that it has handed in.
        """

    @abstractmethod
    def lend_to(self, work: Work) -> ExecutorLease:
        """Begin to serve the ready queue of a run. Threads live until the lease is stopped."""
