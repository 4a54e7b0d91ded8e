"""One graph under many orders of its steps, from its text and its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Packet
from penstock.config import build_plan
from penstock.errors import StreamClosedError
from penstock.lowlevel import Plan
from penstock_testing.schedules import explore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock import Registry
    from penstock_testing.schedules import Carried, ScheduleHarness


def explore_graph(
    graph_config: object,
    inputs: Mapping[str, Iterable[Packet | tuple[int, object]]] | None = None,
    *,
    side_packets: Mapping[str, object] | None = None,
    seeds: Iterable[int] = range(24),
    registry: Registry | None = None,
) -> dict[str, Carried]:
    """Run a graph under many orders of its steps, without threads; return what each stream carried.

    Inputs are fed in order of their timestamps, and after each of them the graph takes one step, if it can;
    after their end, all the rest. Each order is a seed, and can be repeated alone: `seeds=[17]`.

    Args:
        graph_config: what `CalculatorGraph` takes, or a `Plan`.
        inputs: graph input → packets, or pairs of timestamp and payload.
        side_packets: name → payload, the same objects in each run.
        seeds: the orders besides that of one thread.
        registry: for names; None for the default one.

    Returns:
        Stream → pairs of timestamp and payload, those of inputs and of streams inside too.

    Raises:
        GraphParseError, GraphConfigError: it is no graph, or cannot run.
        GraphRunError: a run failed; has all its errors.
        InternalError: two orders gave different packets on a stream, which names stream and seed; or a
            run does not end; says what it waits for.
    """
    if isinstance(graph_config, Plan):
        plan = graph_config
    else:
        plan = build_plan(graph_config, registry if registry is not None else _installed())
    fed = [(stream, _packet(item)) for stream, items in (inputs or {}).items() for item in items]
    fed.sort(key=lambda one: one[1].stamp)

    def drive(harness: ScheduleHarness) -> None:
        harness.start()
        for stream, packet in fed:
            try:
                harness.add_packet(stream, packet)
            except StreamClosedError:  # the run ends without them, and its end has the error
                break
            harness.step()
        harness.finish()

    return explore(plan, drive, seeds, side_packets=side_packets)


def _packet(item: Packet | tuple[int, object]) -> Packet:
    return item if isinstance(item, Packet) else Packet(item[1], item[0])


def _installed() -> Registry:
    from penstock.lowlevel import default_registry  # loads the plugins

    return default_registry()
