"""Puts one run together from a plan without starting it, for graphs and for tests of schedules.

Each stage returns what the next ones need: `checked_side_packets`, `find_services`, `Placed` (which node is
in which queue), and `new_run`, which makes calculators, nodes and streams and connects them. A graph
arranges its plan before them; see `GraphRuns`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from penstock.collector import PAUSE
from penstock.record import NamedTuple
from penstock.runtime.build import RunBuilder
from penstock.runtime.counters import Counters
from penstock.runtime.executors.graph_executors import as_in_plan
from penstock.runtime.node_services import GraphNodeServices
from penstock.runtime.side_packets import ConstantOutputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import StreamObserver
    from penstock.plan import Plan
    from penstock.runtime.executors.graph_executors import Placed
    from penstock.runtime.node_services import RunServices
    from penstock.runtime.run_view import RunView
    from penstock.runtime.side_packets import SidePackets
    from penstock.runtime.tracing import Tracing


class NewRun(NamedTuple):
    """The parts of a run that has not started."""

    #: The engine. Nothing has been opened.
    schedule: Schedule
    #: Those given, and those that nodes will make.
    side_packets: SidePackets
    #: What calculators ask for options, services and counters. Its `change` must be set before any step is
    #: called: it applies an event to the schedule, under whatever lock the caller has.
    services: GraphNodeServices
    #: The service `GRAPH` of this run. Its `take` must be set too.
    view: RunView
    #: The counters of the graph.
    counters: Counters


def new_run(  # noqa: PLR0913  # each is one thing that a run can have
    plan: Plan,
    side_packets: SidePackets,
    services: RunServices,
    *,
    placed: Placed | None = None,
    observers: Mapping[int, Sequence[StreamObserver]] = MappingProxyType({}),
    limits: Mapping[int, int] = MappingProxyType({}),
    counters: Counters | None = None,
    constants: ConstantOutputs | None = None,
    tracing: Tracing | None = None,
) -> NewRun:
    """Put one run together without starting it; makes the calculators and input stream handlers.

    Args:
        plan: the checked graph.
        side_packets: checked.
        services: of this run, of `find_services`.
        placed: which node is in which queue. None: as the plan's executors say.
        observers: stream id → its observers, in the order in which they are called.
        limits: graph input's stream id → its own max_queue_size (-1 for none).
        counters: of the graph; None for new ones.
        constants: outputs of nodes without streams, from earlier runs; None if there were no runs.
        tracing: what traces the run; None for no tracer.

    Raises:
        UnavailableError: a required service is missing.
        CalculatorError: a calculator or handler could not be made.
        InvalidArgumentError: a node cannot work where its executor places it.
    """
    services.check()
    counters = Counters() if counters is None else counters
    node_services = GraphNodeServices(plan, counters, services, side_packets)
    builder = RunBuilder(
        plan,
        node_services,
        side_packets,
        ConstantOutputs() if constants is None else constants,
        as_in_plan(plan) if placed is None else placed,
        is_timed=services.view.is_timed,
        tracing=tracing,
    )
    with PAUSE:  # not around the making of services, which may take long
        schedule = builder.build(observers, limits)
    return NewRun(schedule, side_packets, node_services, services.view, counters)
