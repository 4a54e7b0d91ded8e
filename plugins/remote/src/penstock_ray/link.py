"""The driver's end of one actor: what is sent to it, and the thread that takes its replies.

Calls of a node that come while others are under way wait, and go together: up to `batch` in a message, and
up to two messages at a time, so that the actor never waits for the next one. The thread takes the replies in
the order in which the messages were sent. It holds all references of a message until its reply is taken:
Ray aborts a process that drops one earlier.
"""

from __future__ import annotations

import itertools
import logging
import sys
from collections import deque
from queue import Empty
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.errors import PenstockError, StatusCode
from penstock.log import get_logger
from penstock_ray.cluster import ray_module
from penstock_ray.host import NodeHost
from penstock_ray.messages import HostSetup, Ready, Reply, Request
from penstock_ray.references import HAS_PAYLOAD, Later, Reference, Stored
from penstock_ray.watch import LostError, Watch
from penstock_ray.wire import dumps, loads
from penstock_remote.api import (
    THIS_MACHINE,
    Answer,
    Killers,
    Machine,
    Pending,
    RemoteError,
    WorkerDiedError,
    error_from_data,
    input_fault,
    log_here,
)

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from queue import SimpleQueue

    from penstock_ray.messages import NodeSetup
    from penstock_ray.options import RayExecutorOptions
    from penstock_remote.api import Call, Described

_logger = get_logger(__name__)

#: How many messages of a node are under way at a time, where calls are batched.
_MESSAGES: Final = 2
#: How long a reply is waited for until the thread looks again whether there is a cluster.
_LOOK_S: Final = 5.0
#: How long an actor that is to end may take to close what it holds.
_END_S: Final = 2.0
#: How long a thread may take to end after its actor was killed.
_JOIN_S: Final = 10.0
#: Fields of an answer that is no error.
_IS_ANSWER: Final = 2
#: Of what Ray says about a death.
_MOST_WORDS: Final = 300


class ActorNotStartedError(PenstockError):
    """An actor was not ready in time, or could not be made: no host has what it needs, or lacks a pack."""

    default_code = StatusCode.UNAVAILABLE
    calculator_is_lost = True


class Needs(NamedTuple):
    """What an actor takes of its host."""

    #: `num_cpus`, `num_gpus`: how many.
    num_cpus: float
    num_gpus: float
    #: Name and amount of each.
    resources: tuple[tuple[str, float], ...]
    #: How many calls may overlap.
    threads: int

    def words(self) -> str:
        """Return them as a user reads it."""
        found = {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus, **dict(self.resources)}
        return ", ".join(f"{name}: {value:g}" for name, value in found.items() if value) or "nothing special"

    def missing(self, nodes: list[dict[str, Any]]) -> str:
        """Return what no living host of a cluster has; "" if one has it all."""
        wanted = {"CPU": self.num_cpus, "GPU": self.num_gpus, **dict(self.resources)}
        hosts = [node["Resources"] for node in nodes if node.get("Alive")]
        if any(all(host.get(name, 0.0) >= value for name, value in wanted.items()) for host in hosts):
            return ""
        most = {name: max((host.get(name, 0.0) for host in hosts), default=0.0) for name in wanted}
        short = [f"{name} {most[name]:g}" for name, value in wanted.items() if most[name] < value]
        return f"the most that a host has is {', '.join(short)}" if short else "no host has all of it"


class _Item(NamedTuple):
    """A call that is to be sent."""

    call: Call
    setup: NodeSetup | None
    pending: Pending


class Lane:
    """One node in one actor: its calls that wait for a message."""

    __slots__ = ("batch", "key", "node", "staying", "under_way", "waiting")

    def __init__(self, key: int, node: Described, batch: int) -> None:
        #: By which both ends know the node.
        self.key: Final = key
        #: What it is.
        self.node: Final = node
        #: The most calls in a message.
        self.batch: Final = batch
        #: How many of its outputs stay on the cluster.
        self.staying = 0
        #: `waiting`, `under_way`: calls, and messages. Changed under the lock of the link.
        self.waiting: Final[deque[_Item]] = deque()
        self.under_way = 0


class _Sent(NamedTuple):
    """A message that is under way."""

    #: The lane of its node.
    lane: Lane
    #: To the reply, and to what stays on the cluster.
    refs: list[Any]
    #: What it refers to; held until the reply has come.
    given: list[Any]
    #: Its calls.
    items: list[_Item]


class ActorLink:
    """One actor, which is asked for at once.

    Args:
        number: of the actor, from 1.
        needs: what it takes of its host.
        options: of the executor.
        runtime_env: of the actor.
        ray: the module; None: the one that is installed.
        machine: whose threads and time they are.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # each says another thing
        self,
        number: int,
        needs: Needs,
        options: RayExecutorOptions,
        runtime_env: dict[str, Any] | None,
        ray: Any = None,
        machine: Machine = THIS_MACHINE,
    ) -> None:
        self._ray: Final = ray_module() if ray is None else ray
        self.needs: Final = needs
        self._name: Final = f"actor {number}"
        self._options: Final = options
        self._lock: Final = machine.lock()
        #: Those with calls that wait.
        self._lanes: Final[set[Lane]] = set()
        self._numbers: Final = itertools.count(1)
        self._forgotten: Final[deque[int]] = deque()
        self._killers: Final = Killers(options.cancel_grace_s, machine)
        self._death: PenstockError | None = None
        self._ready: Ready | None = None
        self._watch: Final = self._new_watch(options.stopped_timeout_s, machine)
        self._sent: Final[SimpleQueue[_Sent | None]] = machine.queue()
        level = logging.getLogger().getEffectiveLevel()
        setup = HostSetup(self._name, tuple(path for path in sys.path if path), level)
        actor_class = self._ray.remote(NodeHost)
        self._actor: Final[Any] = actor_class.options(
            num_cpus=needs.num_cpus,
            num_gpus=needs.num_gpus,
            resources=dict(needs.resources),
            max_concurrency=needs.threads,
            max_restarts=0,  # Ray reports a death, and the failure policy of the node decides
            scheduling_strategy="SPREAD" if options.placement.value else "DEFAULT",
            runtime_env=runtime_env,
        ).remote(setup)
        self._asked: Final[Any] = self._actor.ready.remote()
        self._thread: Final = machine.thread(self._receive, f"penstock-ray-{number}")
        self._thread.start()

    def _new_watch(self, stopped_timeout_s: float, machine: Machine) -> Watch:
        return Watch(self._ray, stopped_timeout_s, machine)

    # --- to the actor -------------------------------------------------------------------------

    def where(self) -> str:
        """Return which actor this is, in words."""
        if self._ready is None:
            return f"{self._name}, which is not ready yet (it needs {self.needs.words()})"
        return f"{self._name} (pid {self._ready.pid} on {self._ready.host})"

    @property
    def ready(self) -> Ready | None:
        """What the actor has said of itself; None before."""
        return self._ready

    @property
    def is_starting(self) -> bool:
        """Whether the actor has not said that it is ready; False for one that has ended."""
        return self._ready is None and self._death is None

    @property
    def is_dead(self) -> bool:
        """Whether the actor has ended; a new link takes its place."""
        return self._death is not None

    def forget(self, key: int) -> None:
        """Let the actor drop a node when it gets the next call. May be called at any moment."""
        self._forgotten.append(key)

    def call(
        self, lane: Lane, setup: NodeSetup | None, call: Call, write: Callable[[Answer], Any]
    ) -> Pending:
        """Send a call, or let it wait for the next message; return what `write` will make of its answer.

        Args:
            lane: of the node.
            setup: with `open`.
            call: what is asked for.
            write: takes the answer, on the thread of the link.
        """
        pending = Pending(self, next(self._numbers), lane.node.name, call, write)
        with self._lock:
            if setup is not None:
                lane.staying = len(setup.by_reference)
            lane.waiting.append(_Item(call, setup, pending))
            self._lanes.add(lane)
        self._send_next(lane)
        return pending

    def cancel(self, pending: Pending) -> threading.Timer:
        """Ask the actor to end a call, if it has a thread for that; return the timer that kills it if not."""
        if self.needs.threads > 1 and not self.is_dead:
            self._actor.cancel.remote(pending.number)
        return self._killers.start(self._kill_if_pending, pending)

    def end(self) -> Any:
        """Ask the actor to close what it holds; return what `join` waits for."""
        return None if self.is_dead else self._actor.end.remote()

    def join(self, ending: Any) -> None:
        """Wait until the actor has closed what it holds, for a while; then end it, and the thread."""
        if ending is not None:
            self._ray.wait([ending], timeout=_END_S)
        self._kill()
        self._sent.put(None)
        self._thread.join(_JOIN_S)
        self._killers.join(_JOIN_S)

    def _kill(self) -> None:
        self._ray.kill(self._actor, no_restart=True)

    def _kill_if_pending(self, pending: Pending) -> None:
        if not pending.done():
            self._kill()

    def _send_next(self, lane: Lane) -> None:
        """Send calls of a node that wait, as long as more messages of it may be under way."""
        while True:
            with self._lock:
                is_full = lane.batch > 1 and lane.under_way >= _MESSAGES
                if not lane.waiting or (
                    is_full and self._death is None
                ):  # a dead actor sends no more replies
                    return
                items = [lane.waiting.popleft() for _ in range(min(len(lane.waiting), lane.batch))]
                lane.under_way += 1
                if not lane.waiting:
                    self._lanes.discard(lane)
            self._send(lane, items)

    def _send(self, lane: Lane, items: list[_Item]) -> None:
        """Send a message with calls. A fault of one of them is its answer; the others are sent."""
        try:
            refs, given = self._remote(lane, items)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # the answer of the call
            if len(items) == 1:
                self._end_message(lane)
                self._answer_with(items, input_fault(lane.node, items[0].call, dumps) or error)
                return
            with self._lock:
                lane.under_way += len(items) - 1
            for item in items:
                self._send(lane, [item])
            return
        with self._lock:
            death = self._death
            if death is None:
                self._sent.put(_Sent(lane, refs, given, items))
        if death is not None:
            self._ray.wait(refs, num_returns=len(refs), timeout=_LOOK_S)  # not dropped before they are there
            self._fail(items, death)

    def _remote(self, lane: Lane, items: list[_Item]) -> tuple[list[Any], list[Any]]:
        """Send a message; return the references to its reply, and those that it was given."""
        forgotten = [self._forgotten.popleft() for _ in range(len(self._forgotten))]
        given: dict[Any, int] = {}
        calls = [_with_references(item.call, given) for item in items]
        numbers = [item.pending.number for item in items]
        data, buffers = dumps(tuple(Request(lane.key, numbers, calls, items[0].setup, forgotten, len(given))))
        method = self._actor.call
        if lane.staying:
            method = method.options(num_returns=1 + lane.staying)
        # No argument more than must be: Ray packs each by itself, which costs a tenth of a small call.
        refs = method.remote(data, *buffers, *given)
        return (refs if lane.staying else [refs]), list(given)

    def _end_message(self, lane: Lane) -> None:
        with self._lock:
            lane.under_way -= 1

    # --- from the actor: one thread -----------------------------------------------------------

    def _receive(self) -> None:
        death: PenstockError | None = None
        try:
            self._ready = Ready(*self._ray.get(self._asked, timeout=self._options.start_timeout_s))
            self._watch.begin(self._ready)
            while death is None:
                sent = self._sent.get()
                death = WorkerDiedError("was ended") if sent is None else self._take(sent)
        except self._ray.exceptions.RayError as error:
            death = self._not_started(error)
        finally:
            if death is None:  # an error of this thread, which `threading.excepthook` shows
                death = WorkerDiedError(
                    "is unknown: the thread of its Ray link that takes replies has failed"
                )
            self._bury(death)

    def _take(self, sent: _Sent) -> PenstockError | None:
        """Take a reply; return how the actor died if it did."""
        try:
            content = self._reply_of(sent)
        except (
            LostError,
            self._ray.exceptions.RayActorError,
            self._ray.exceptions.OutOfMemoryError,
        ) as error:
            death = self._died(error)
            self._fail(sent.items, death)
            return death
        except self._ray.exceptions.RayError as error:
            node = sent.lane.node.name
            words = f"node {node!r}: {self.where()} could not be asked: {_last_line(str(error))}"
            self._end_message(sent.lane)
            self._answer_with(sent.items, RemoteError(words, node=node))
            self._send_next(sent.lane)
            return None
        self._end_message(sent.lane)
        self._send_next(sent.lane)  # first, so that the actor does not wait
        data, buffers = content if isinstance(content, tuple) else (content, ())
        reply = Reply(*loads(data, buffers))
        for record in reply.logs:
            log_here(record)
        if reply.dropped:
            _logger.warning(
                "%s logged %d records more than fit into a reply; they are lost", self.where(), reply.dropped
            )
        for item, packed in zip(sent.items, reply.answers, strict=True):
            self._finish(item.pending, packed, sent.refs)
        return None

    def _reply_of(self, sent: _Sent) -> Any:
        """Wait for a reply.

        Raises:
            RayError: there is none.
            LostError: there will be none, and Ray does not know it.
        """
        while True:
            try:
                reply = self._ray.get(sent.refs[0], timeout=self._watch.every_s)
            except self._ray.exceptions.GetTimeoutError:  # the cluster is there
                self._watch.look()
            else:
                self._watch.reply_came()
                return reply

    @staticmethod
    def _finish(pending: Pending, packed: tuple[Any, ...], refs: list[Any]) -> None:
        """Give a call its answer, or its error."""
        answer: Answer | None = None
        error: BaseException | None = None
        try:
            if len(packed) == _IS_ANSWER:
                answer = _with_stored(Answer(*loads(*packed)), refs)
            else:
                error = error_from_data((packed[0], packed[1], packed[2]))
        except BaseException as broken:  # noqa: BLE001  # the answer of the call
            error = broken
        pending.finish(answer, error)

    def _bury(self, death: PenstockError) -> None:
        """Fail the calls that wait and those that are under way."""
        with self._lock:
            self._death = death
            items = [item for lane in self._lanes for item in lane.waiting]
            for lane in self._lanes:
                lane.waiting.clear()
            self._lanes.clear()
        while True:
            try:
                sent = self._sent.get_nowait()
            except Empty:
                break
            if sent is not None:
                self._ray.wait(sent.refs, num_returns=len(sent.refs), timeout=_LOOK_S)
                items += sent.items
        self._fail(items, death)

    def _fail(self, items: list[_Item], death: PenstockError) -> None:
        """Answer calls with the death of the actor."""
        for item in items:
            pending = item.pending
            words = f"node {pending.node!r}: {self.where()} {death} in {pending.words()}"
            error: PenstockError
            if isinstance(death, WorkerDiedError):
                error = WorkerDiedError(
                    words, pid=death.pid, host=death.host, node=pending.node, timestamp=pending.stamp
                )
            else:
                error = type(death)(f"node {pending.node!r}: {self._name} {death}", node=pending.node)
            pending.finish(None, error)

    @staticmethod
    def _answer_with(items: list[_Item], error: BaseException) -> None:
        for item in items:
            item.pending.finish(None, error)

    def _died(self, error: BaseException) -> WorkerDiedError:
        ready = self._ready
        self._kill()  # one that cannot be reached may live
        return WorkerDiedError(
            str(error) if isinstance(error, LostError) else f"died ({_why(str(error))})",
            pid=None if ready is None else ready.pid,
            host=None if ready is None else ready.host,
        )

    def _not_started(self, error: BaseException) -> PenstockError:
        self._kill()
        needs = self.needs
        if isinstance(error, self._ray.exceptions.RayActorError) and not error.actor_init_failed:
            return WorkerDiedError(f"died before its Ray link was ready ({_last_line(str(error))})")
        if not isinstance(error, self._ray.exceptions.GetTimeoutError):
            return ActorNotStartedError(
                f"could not be made by Ray: {_last_line(str(error))}; the hosts need penstock-remote and "
                "the packs of the graph in the versions that are here: install them there, or name them in "
                "runtime_env"
            )
        missing = needs.missing(self._ray.nodes())
        why = f"; {missing}" if missing else "; the cluster has that, but it may be in use"
        waited = f"was not ready after {self._options.start_timeout_s:g} s (start_timeout_s)"
        return ActorNotStartedError(f"{waited}: it needs {needs.words()}{why}")


def _with_references(call: Call, given: dict[Any, int]) -> tuple[Any, ...]:
    """Return a call as a tuple; what it refers to on the cluster is added to `given`, in order."""
    if not any(len(one) == HAS_PAYLOAD and one[2].__class__ is Stored for one in call.inputs):
        return tuple(call)
    inputs: list[Any] = []
    for one in call.inputs:
        if len(one) == HAS_PAYLOAD and isinstance(one[2], Stored):
            argument = given.setdefault(one[2].ref, len(given))
            inputs.append((one[0], one[1], Reference(argument, one[2].place)))
        else:
            inputs.append(one)
    return tuple(call._replace(inputs=inputs))


def _with_stored(answer: Answer, refs: list[Any]) -> Answer:
    """Return an answer in which what stays on the cluster is held by its references."""
    if len(refs) == 1:
        return answer
    outputs: list[Any] = []
    for written in answer.outputs:
        if written is not None and any(payload.__class__ is Later for _, payload in written[0]):
            packets = [(at, Stored(refs[1 + one.output], one.place)) for at, one in written[0]]
            outputs.append((packets, *written[1:]))
        else:
            outputs.append(written)
    return answer._replace(outputs=outputs)


def _why(text: str) -> str:
    """Return what Ray says about a death, in one sentence or two."""
    _, _, detail = text.rpartition("Worker exit detail: ")
    _, _, found = detail.rpartition("The actor is dead because ")
    return ". ".join(" ".join(found.split()).split(". ")[:2]).rstrip(".")[:_MOST_WORDS]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "no reason given").rstrip(".")
