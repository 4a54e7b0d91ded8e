"""A cluster of Ray in a simulated world: actors, references, and their faults.

It has as much of the module `ray` as `penstock_ray` calls. The methods of an actor begin in the order of
their calls, on as many threads as it was given; replies take a while. An actor can be made slowly or
never, be stopped, and die at any moment; the cluster learns of a death after a while, or never.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from simulated_world import Group, Killed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulated_world import World

_DELAYS: Final = (1e-3, 0.1)


class RayError(Exception):
    """As `ray.exceptions.RayError`."""


class RayActorError(RayError):
    """The actor has died."""

    actor_init_failed = False


class GetTimeoutError(RayError, TimeoutError):
    """It was not there in time."""


class OutOfMemoryError(RayError):
    """The host had no memory."""


class ObjectLostError(RayError):
    """What a reference leads to is gone."""


class RayTaskError(RayError):
    """The method has raised."""


class Exceptions:
    """As the module `ray.exceptions`."""

    RayError = RayError
    RayActorError = RayActorError
    GetTimeoutError = GetTimeoutError
    OutOfMemoryError = OutOfMemoryError


class Ref:
    """A reference to a result, which may not be there yet, or to an error."""

    def __init__(self) -> None:
        self.is_there = False
        self.value: Any = None
        self.error: RayError | None = None

    def end(self, value: object, error: RayError | None = None) -> None:
        """Say what is there; the first one counts."""
        if not self.is_there:
            self.is_there, self.value, self.error = True, value, error


class Actor(Group):
    """A process with an object whose methods others call.

    Args:
        ray: the cluster.
        make: makes the object, in the actor.
        threads: how many calls may overlap.
    """

    def __init__(self, ray: SimulatedRay, make: Callable[[Actor], object], threads: int) -> None:
        super().__init__()
        self._ray: Final = ray
        self._world: Final = ray.world
        self._make: Final = make
        self.number: Final = len(ray.actors) + 1
        #: Whether it has died, and whether the cluster ever knows.
        self.has_died = False
        self.is_seen: Final = self._world.random.random() < 0.85  # noqa: PLR2004
        self._object: object = None
        self._calls: Final[deque[tuple[str, tuple[Any, ...], list[Ref]]]] = deque()
        self._due: Final[list[Ref]] = []
        self._is_told = False
        self._arrives_at = 0.0
        for n in range(threads + 1):
            self._world.spawn(self._serve if n else self._begin, f"actor {self.number}.{n}", self)

    def __getattr__(self, name: str) -> Method:
        return Method(self, name)

    def send(self, name: str, arguments: tuple[Any, ...], count: int) -> list[Ref]:
        """Call a method; return references to its results."""
        refs = [Ref() for _ in range(count)]
        if self._is_told:
            error = RayActorError("Worker exit detail: The actor is dead because it has ended. It is over.")
            for ref in refs:
                self._world.at(self._delay(), partial(ref.end, None, error))
            return refs
        self._due.extend(refs)
        self._arrives_at = max(self._arrives_at, self._world.now + self._delay())
        self._world.at(self._arrives_at - self._world.now, lambda: self._arrive(name, arguments, refs))
        return refs

    def die(self) -> None:
        """End it now."""
        if self.has_died:
            return
        self._world.tell(f"actor {self.number} ends")
        self.has_died, self.is_frozen = True, False
        self._world.kill(self)
        if self.is_seen:
            self._world.at(self._delay() * 10, self.is_known)

    def is_known(self) -> None:
        """Let the cluster learn of the death: what is due will not come."""
        self._is_told = True
        for ref in self._due:
            ref.end(None, RayActorError("The actor is dead because its worker process has died. Bye."))
        self._due.clear()

    def _delay(self) -> float:
        return self._world.random.random() * self._ray.delay

    def _arrive(self, name: str, arguments: tuple[Any, ...], refs: list[Ref]) -> None:
        if not self.has_died:
            self._calls.append((name, arguments, refs))

    def _begin(self) -> None:
        self._world.sleep(self._ray.start_s())
        self._object = self._make(self)

    def _serve(self) -> None:
        world = self._world
        world.wait(lambda: self._object is not None)
        while True:
            world.wait(lambda: bool(self._calls))
            name, arguments, refs = self._calls.popleft()
            error: RayError | None = None
            found: Any = None
            try:
                values = [self._ray.value(one) if isinstance(one, Ref) else one for one in arguments]
                if name != "ready" and world.random.random() < self._ray.losses:
                    raise ObjectLostError("the object was lost")  # noqa: TRY301  # as from `value`
                found = getattr(self._object, name)(*values)
            except RayError as lost:
                error = lost
            except Exception as raised:  # noqa: BLE001  # Ray tells it
                error = RayTaskError(repr(raised))
            if self.has_died:
                raise Killed
            several = found if len(refs) > 1 and error is None else [found] * len(refs)
            world.at(self._delay(), partial(self._reply, refs, several, error))

    def _reply(self, refs: list[Ref], values: Sequence[object], error: RayError | None) -> None:
        if self.has_died and not self._world.random.randrange(2):
            return  # it was on its way when the actor died
        for ref, value in zip(refs, values, strict=True):
            ref.end(value, error)
            if ref in self._due:
                self._due.remove(ref)


class Method:
    """A method of an actor."""

    def __init__(self, actor: Actor, name: str, count: int = 1) -> None:
        self._actor: Final = actor
        self._name: Final = name
        self._count: Final = count

    def options(self, *, num_returns: int) -> Method:
        """Say how many references there are."""
        return Method(self._actor, self._name, num_returns)

    def remote(self, *arguments: Any) -> Any:
        """Call it."""
        refs = self._actor.send(self._name, arguments, self._count)
        return refs if self._count > 1 else refs[0]


class _Maker:
    """What `ray.remote` returns for a class."""

    def __init__(self, ray: SimulatedRay, threads: int = 1) -> None:
        self._ray: Final = ray
        self._threads: Final = threads

    def options(self, *, max_concurrency: int, **_: Any) -> _Maker:
        """Say how many calls may overlap."""
        return _Maker(self._ray, max_concurrency)

    def remote(self, *arguments: Any) -> Actor:
        """Make an actor."""
        ray = self._ray
        actor = Actor(ray, lambda own: ray.host_class(own, *arguments), self._threads)
        ray.actors.append(actor)
        return actor


class SimulatedRay:
    """As the module `ray`, connected with a cluster.

    Args:
        world: where it is.
        host_class: called with an actor and its arguments, makes its object.
        may_fail: whether references get lost, and actors start badly, now and then.
    """

    exceptions = Exceptions

    def __init__(self, world: World, host_class: Callable[..., object], *, may_fail: bool) -> None:
        self.world: Final = world
        self.host_class: Final = host_class
        self._may_fail: Final = may_fail
        #: All that were made.
        self.actors: Final[list[Actor]] = []
        #: How long messages take at most, and how often a message is lost.
        self.delay: Final = world.random.choice(_DELAYS)
        self.losses: Final = world.random.choice((0.0, 0.1)) if may_fail else 0.0

    def start_s(self) -> float:
        """Return how long an actor takes to start."""
        if self._may_fail and self.world.random.random() < 0.05:  # noqa: PLR2004
            return 1e6
        return self.world.random.random() * 0.3

    def remote(self, _: object) -> _Maker:
        """Return what makes actors of a class."""
        return _Maker(self)

    def value(self, ref: Ref, timeout: float | None = None) -> Any:
        """Wait for the result of a reference.

        Raises:
            RayError: it will not be there, or is not there in time.
        """
        if not self.world.wait(lambda: ref.is_there, timeout):
            raise GetTimeoutError("not in time")
        if ref.error is not None:
            raise ref.error
        return ref.value

    def get(self, ref: Ref, timeout: float | None = None) -> Any:
        """As `value`."""
        self.world.pause()
        return self.value(ref, timeout)

    def wait(self, refs: Sequence[Ref], num_returns: int = 1, timeout: float | None = None) -> None:
        """Wait until so many references lead to something."""
        self.world.wait(lambda: sum(ref.is_there for ref in refs) >= num_returns, timeout)

    def kill(self, actor: Actor, *, no_restart: bool) -> None:  # noqa: ARG002  # the interface
        """Kill an actor; the cluster knows at once."""
        self.world.pause()
        actor.die()
        self.world.at(self.world.random.random() * 0.01, actor.is_known)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the hosts."""
        return [{"Alive": True, "Resources": {"CPU": 4.0}}]


def leave(actor: Actor) -> NoReturn:
    """End the actor of the task that runs."""
    actor.die()
    raise Killed
