"""Looks after an actor whose reply is due: gives up one that is stopped, or whose end Ray does not see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_ray.process_state import State, end, state_of
from penstock_remote.api import THIS_MACHINE, Machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_ray.messages import Ready
    from penstock_ray.process_state import Identity

#: How often a process is looked for at most, and how long its host may take to tell.
_LOOK_S: Final = 5.0
#: How often a process must have been found ended: Ray tells more of a death that it sees itself.
_ENOUGH: Final = 2


class LostError(Exception):
    """The process of an actor has ended or was killed, and Ray does not tell; says what happened."""


class Watch:
    """Looks after one actor, on the thread that waits for its replies.

    Args:
        ray: the module.
        stopped_timeout_s: how long the process may be stopped.
        machine: whose clock it goes by.
    """

    def __init__(self, ray: Any, stopped_timeout_s: float, machine: Machine = THIS_MACHINE) -> None:
        self._ray: Final = ray
        self._machine: Final = machine
        self._stopped_timeout_s: Final = stopped_timeout_s
        #: How long to wait until `look` is called, and called again.
        self.every_s: Final = min(_LOOK_S, stopped_timeout_s)
        self._ready: Ready | None = None
        self._stopped_at: float | None = None
        self._ended = 0

    def begin(self, ready: Ready) -> None:
        """Look after the actor that has said this of itself."""
        self._ready = ready

    def reply_came(self) -> None:
        """Take note that the actor lives."""
        self._stopped_at = None
        self._ended = 0

    def look(self) -> None:
        """See how the process is.

        Raises:
            LostError: it has ended, or was stopped for too long and was killed.
        """
        if self._ready is None:
            return
        state = self._ask(state_of)
        self._ended = self._ended + 1 if state is State.ENDED else 0
        if self._ended >= _ENOUGH:
            raise LostError(
                "has ended, and Ray has not seen it: a process that it forked may hold what was its"
            )
        if state is not State.STOPPED:
            self._stopped_at = None
            return
        if self._stopped_at is None:
            self._stopped_at = self._machine.monotonic()
        if self._machine.monotonic() - self._stopped_at >= self._stopped_timeout_s:
            self._ask(end)
            seconds = f"{self._stopped_timeout_s:g} s (stopped_timeout_s)"
            raise LostError(f"was stopped by a signal (SIGSTOP) for {seconds}, and was killed")

    def is_here(self) -> bool:
        """Return whether the actor is on the host of this process."""
        here: str = self._ray.get_runtime_context().get_node_id()
        return self._ready is not None and self._ready.node == here

    def _ask(self, function: Callable[[Identity], State]) -> State:
        """Call a function on the host of the actor; return what it says, or that nobody knows."""
        ready = self._ready
        if ready is None:
            return State.UNKNOWN
        if self.is_here():
            return function(ready.process)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        strategy = NodeAffinitySchedulingStrategy(ready.node, soft=False)  # type: ignore[no-untyped-call, unused-ignore]  # where Ray is there
        task = self._ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=strategy)
        try:
            said = self._ray.get(task.remote(ready.process), timeout=_LOOK_S)
        except (self._ray.exceptions.RayError, TimeoutError):
            return State.UNKNOWN
        return State(said)
