"""Worker processes in a simulated world: the link, its messages, and the worker at the other end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from remote_graphs import Driven, Faults, begin, draw, plan_of
from simulated_network import Process, SimulatedHost
from simulated_world import Killed, StandsStillError, Which, World

from penstock_processes.process_executor import ProcessExecutor
from penstock_remote.api import Together

if TYPE_CHECKING:
    from penstock import Registry

#: How long a process may be stopped from outside, in seconds; most are shorter than the time-out.
_STOPS: Final = (0.5, 2.0, 1e6)
_TIMES: Final = {"start_timeout_s": 4.0, "stopped_timeout_s": 3.0, "cancel_grace_s": 1.0}


class SimulatedProcesses(ProcessExecutor):
    """A `ProcessExecutor` whose workers are simulated."""

    def __init__(self, host: SimulatedHost, **options: Any) -> None:
        super().__init__(**options)
        self._host = host


def trial(which: Which, installed: Registry) -> tuple[list[str], World]:
    """Run graphs in a world; return what is wrong, and the world."""
    world = World(which)
    chance = world.random
    drawn = draw(world)
    host = SimulatedHost(world, may_fail=not drawn.is_healthy)
    world.tell(str(drawn))

    def die() -> None:
        group = world.group
        if isinstance(group, Process):
            group.die(3)
        raise Killed

    together = (Together(),) if drawn.policy == "fail" and chance.random() < 0.3 else ()  # noqa: PLR2004
    executor = SimulatedProcesses(
        host, num_processes=chance.randint(1, 3), arena_mib=1, colocate=together, **_TIMES
    )
    begin(Faults(world, drawn.faults, die))
    faults: list[str] = []
    try:
        plan = plan_of(drawn, "ProcessExecutor", installed)
        plan = executor.arrange(plan, "far", [plan.stream_ids["out"]])
        for _ in range(drawn.kills):
            world.at(chance.random() * chance.choice((0.1, 1.0, 5.0)), lambda: _kill_one(host))
        for _ in range(drawn.stops):
            world.at(chance.random() * chance.choice((0.1, 1.0)), lambda: _stop_one(host))
        for cancels_after in drawn.runs:
            run = Driven(plan, executor, world, drawn, cancels_after)
            run.go_somewhere()
            run.check(
                is_healthy=drawn.is_healthy,
                stateful=drawn.in_flight == 1,
                fails=drawn.may_fail,
            )
            faults += run.faults
            if run.faults:
                break
        executor.close()
        world.wait(lambda: not world.left(), 1.0)
        faults += [f"thread {name} goes on after the end" for name in world.left()]
        faults += [f"process {one.pid} lives after the end" for one in host.processes if one.code is None]
    except StandsStillError as error:
        faults.append(str(error))
    finally:
        world.end()
    faults += world.broken
    return faults, world


def _alive(host: SimulatedHost) -> Process | None:
    living = [one for one in host.processes if one.code is None]
    return host.world.random.choice(living) if living else None


def _kill_one(host: SimulatedHost) -> None:
    process = _alive(host)
    if process is not None:
        process.die(-9)


def _stop_one(host: SimulatedHost) -> None:
    process = _alive(host)
    if process is None:
        return
    host.world.tell(f"process {process.pid} is stopped")
    process.is_frozen = True
    host.world.at(host.world.random.choice(_STOPS), lambda: setattr(process, "is_frozen", False))
