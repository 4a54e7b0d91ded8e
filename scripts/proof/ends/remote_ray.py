"""Actors of a simulated cluster of Ray: the link, its batches and references, and the other end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from remote_graphs import Driven, Faults, begin, draw, plan_of
from simulated_cluster import Actor, SimulatedRay, leave
from simulated_world import Killed, SimulatedMachine, StandsStillError, Which, World

from penstock_ray.host import NodeHost
from penstock_ray.link import ActorLink, Needs
from penstock_ray.messages import HostSetup, Ready
from penstock_ray.process_state import Identity, State
from penstock_ray.ray_executor import RayExecutor
from penstock_ray.watch import Watch

if TYPE_CHECKING:
    from penstock import Registry

_STOPS: Final = (0.5, 2.0, 1e6)
_TIMES: Final = {"start_timeout_s": 4.0, "stopped_timeout_s": 3.0, "cancel_grace_s": 1.0}


class SimulatedNodeHost(NodeHost):
    """The object of a simulated actor."""

    def __init__(self, actor: Actor, setup: HostSetup) -> None:
        self._actor: Final = actor
        super().__init__(setup)

    def _who(self) -> Ready:  # type: ignore[override]  # a static method there
        number = self._actor.number
        return Ready(number, "far", "node", Identity(number, "now", "here"))

    def _take_over(self, setup: HostSetup) -> None:
        """There is no process of its own."""


class SimulatedWatch(Watch):
    """Looks after a simulated actor."""

    def __init__(self, ray: SimulatedRay, stopped_timeout_s: float, machine: SimulatedMachine) -> None:
        super().__init__(ray, stopped_timeout_s, machine)
        self._cluster: Final = ray

    def _ask(self, function: Any) -> State:
        ready = self._ready
        if ready is None or self._cluster.world.random.random() < 0.1:  # noqa: PLR2004
            return State.UNKNOWN
        actor = self._cluster.actors[ready.pid - 1]
        state = State.ENDED if actor.has_died else State.STOPPED if actor.is_frozen else State.RUNS
        if function.__name__ == "end":
            actor.die()
        return state


class SimulatedActorLink(ActorLink):
    """The driver's end of a simulated actor."""

    def _new_watch(self, stopped_timeout_s: float, machine: Any) -> Watch:
        return SimulatedWatch(cast("Any", self._ray), stopped_timeout_s, machine)


class SimulatedRayExecutor(RayExecutor):
    """A `RayExecutor` with a simulated cluster."""

    def __init__(self, ray: SimulatedRay, **options: Any) -> None:
        self._ray: Final = ray
        super().__init__(**options)

    @staticmethod
    def _check_installed() -> None:
        """Need no Ray."""

    def _connect(self) -> None:
        """There is nothing to connect with."""

    def _new_link(self, number: int, needs: Needs) -> ActorLink:
        machine = SimulatedMachine(self._ray.world)
        return SimulatedActorLink(number, needs, self.options, None, self._ray, machine)


def trial(which: Which, installed: Registry) -> tuple[list[str], World]:
    """Run graphs in a world; return what is wrong, and the world."""
    world = World(which)
    chance = world.random
    drawn = draw(world)
    ray = SimulatedRay(world, SimulatedNodeHost, may_fail=not drawn.is_healthy)
    world.tell(str(drawn))

    def die() -> None:
        group = world.group
        if isinstance(group, Actor):
            leave(group)
        raise Killed

    executor = SimulatedRayExecutor(
        ray, batch=chance.choice((1, 2, 4)), num_actors=chance.choice((0, 1, 1)), **_TIMES
    )
    begin(Faults(world, drawn.faults, die))
    faults: list[str] = []
    try:
        plan = plan_of(drawn, "RayExecutor", installed)
        for _ in range(drawn.kills):
            world.at(chance.random() * chance.choice((0.1, 1.0, 5.0)), lambda: _kill_one(ray))
        for _ in range(drawn.stops):
            world.at(chance.random() * chance.choice((0.1, 1.0)), lambda: _stop_one(ray))
        for cancels_after in drawn.runs:
            run = Driven(plan, executor, world, drawn, cancels_after)
            run.go_somewhere()
            run.check(is_healthy=drawn.is_healthy, stateful=drawn.in_flight == 1, fails=drawn.may_fail)
            faults += run.faults
            if run.faults:
                break
        executor.close()
        world.wait(lambda: not world.left(), 1.0)
        faults += [f"thread {name} goes on after the end" for name in world.left()]
        faults += [f"actor {one.number} lives after the end" for one in ray.actors if not one.has_died]
    except StandsStillError as error:
        faults.append(str(error))
    finally:
        world.end()
    faults += world.broken
    return faults, world


def _alive(ray: SimulatedRay) -> Actor | None:
    living = [one for one in ray.actors if not one.has_died]
    return ray.world.random.choice(living) if living else None


def _kill_one(ray: SimulatedRay) -> None:
    actor = _alive(ray)
    if actor is not None:
        actor.die()


def _stop_one(ray: SimulatedRay) -> None:
    actor = _alive(ray)
    if actor is None:
        return
    ray.world.tell(f"actor {actor.number} is stopped")
    actor.is_frozen = True
    ray.world.at(ray.world.random.choice(_STOPS), lambda: setattr(actor, "is_frozen", False))
