"""Puts one run together from a plan without starting it, for graphs and for tests of schedules."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.collector import PAUSE
from penstock.explain.graph_view import GRAPH
from penstock.runtime.build import RunBuilder
from penstock.runtime.counters import Counters
from penstock.runtime.node_services import GraphNodeServices, find_services
from penstock.runtime.side_packets import ConstantOutputs, SidePackets, as_side_packets, check_given
from penstock.runtime.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Observer
    from penstock.plan import Plan
    from penstock.runtime.executors.executor import Executor
    from penstock.runtime.tracing import Tracing
    from penstock.services import ServiceKey

    #: Node id → number of its ready queue; and the names of the queues.
    Queues = tuple[Mapping[int, int], Sequence[str]]


class NewRun(NamedTuple):
    """The parts of a run that has not started.

    Attributes:
        schedule: the engine. Nothing has been opened.
        side_packets: those given, and those that nodes will make.
        services: what calculators ask for options, services and counters. Its `change` must be set before
            any step is called: it applies an event to the schedule, under whatever lock the caller has.
        view: the service `GRAPH` of this run. Its `take` must be set too.
        counters: of the graph.
    """

    schedule: Schedule
    side_packets: SidePackets
    services: GraphNodeServices
    view: RunView
    counters: Counters


def new_run(  # noqa: PLR0913  # each is one thing that a run can have
    plan: Plan,
    *,
    side_packets: Mapping[str, Any] | None = None,
    services: Mapping[ServiceKey[Any], object] | None = None,
    made: dict[ServiceKey[Any], object] | None = None,
    observers: Callable[[], Mapping[int, Sequence[Observer]]] = dict,
    limits: Mapping[int, int] | None = None,
    counters: Counters | None = None,
    constants: ConstantOutputs | None = None,
    queues: Callable[[Mapping[ServiceKey[Any], object]], Queues] | None = None,
    placing: Mapping[int, Executor] = MappingProxyType({}),
    tracing: Tracing | None = None,
    is_timed: bool = False,
) -> NewRun:
    """Put one run together without starting it; makes the calculators and input stream handlers.

    Args:
        plan: the checked graph.
        side_packets: name → payload (or Packet).
        services: key → object. `GRAPH` is added. Other services that nodes ask for are made if their keys
            say how.
        made: receives the services that are made, even if another one cannot be made.
        observers: called after side packets and services have been checked; returns stream id → its
            observers, in the order in which they are called.
        limits: graph input's stream id → its own max_queue_size (-1 for none).
        counters: of the graph; None for new ones.
        constants: outputs of nodes without streams, from earlier runs; None if there were no runs.
        queues: given all services of the run, returns which queue each node is in. None: as the plan's
            executors say.
        placing: node id → the executor that may make its calculator elsewhere; filled by `queues`.
        tracing: what traces the run; None for no tracer.
        is_timed: whether the time of each call of `process` is added up.

    Raises:
        GraphConfigError: side packets are unknown, missing or wrong.
        UnavailableError: a service is missing.
        CalculatorError: a calculator or handler could not be made.
        InvalidArgumentError: a node cannot work where its executor places it.
        Whatever `queues` raises.
    """
    given = as_side_packets(side_packets)
    check_given(plan, given)
    view = RunView(plan, is_timed=is_timed)
    found, failed = find_services(plan, {GRAPH: view, **(services or {})}, made)
    queue_of, names = (queues or _queues_of(plan))(found)
    sides = SidePackets(given)
    counters = Counters() if counters is None else counters
    node_services = GraphNodeServices(plan, counters, found, sides, failed)
    builder = RunBuilder(
        plan,
        node_services,
        sides,
        ConstantOutputs() if constants is None else constants,
        queue_of,
        names,
        placing,
        is_timed=is_timed,
        tracing=tracing,
    )
    with PAUSE:  # not around the making of services, which may take long
        schedule = builder.build(observers(), limits or {})
    return NewRun(schedule, sides, node_services, view, counters)


def _queues_of(plan: Plan) -> Callable[[Mapping[ServiceKey[Any], object]], Queues]:
    names = [executor.name for executor in plan.executors]
    return lambda _: ({node.id: names.index(node.executor) for node in plan.nodes}, names)
