"""One graph under many orders of its steps, from its text and its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import Packet
from penstock.config import build_plan
from penstock.errors import GraphRunError, InternalError, StreamClosedError
from penstock.lowlevel import Plan
from penstock_testing.schedules import explore
from penstock_testing.switches import WANTED, fewest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock import Registry
    from penstock_testing.schedules import Carried, ScheduleHarness
    from penstock_testing.switches import Order

#: How often a failing graph is explored again with fewer packets.
_MOST_TRIES: Final = 40


def explore_graph(
    graph_config: object,
    inputs: Mapping[str, Iterable[Packet | tuple[int, object]]] | None = None,
    *,
    side_packets: Mapping[str, object] | None = None,
    seeds: Iterable[Order] | None = None,
    registry: Registry | None = None,
) -> dict[str, Carried]:
    """Run a graph under many orders of its steps, without threads; return what each stream carried.

    Inputs are fed in order of their timestamps, and after each of them the graph takes one step, if it can;
    after their end, all the rest. Each order is a seed, and can be repeated alone: `seeds=[17]`.

    Args:
        graph_config: what `CalculatorGraph` takes, or a `Plan`.
        inputs: graph input → packets, or pairs of timestamp and payload.
        side_packets: name → payload, the same objects in each run.
        seeds: the orders besides that of one thread; None for 24, or as many as `--penstock-orders` of
            pytest says.
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

    def carried(some: Sequence[tuple[str, Packet]]) -> dict[str, Carried]:
        return explore(plan, lambda harness: _drive(harness, some), orders, side_packets=side_packets)

    orders = list(WANTED.orders() if seeds is None else seeds)
    try:
        return carried(fed)
    except InternalError as error:
        needed = fewest(fed, lambda some: _fails(carried, some), _MOST_TRIES)
        if len(needed) < len(fed):
            told = ", ".join(f"{packet.stamp}: {packet.payload!r} on {name!r}" for name, packet in needed)
            error.add_note(f"{len(needed)} of {len(fed)} packets are enough: {told}")
        raise


def _fails(
    carried: Callable[[Sequence[tuple[str, Packet]]], object], some: Sequence[tuple[str, Packet]]
) -> bool:
    try:
        carried(some)
    except InternalError:
        return True
    except GraphRunError:  # another failure than the one that is made smaller
        return False
    return False


def _drive(harness: ScheduleHarness, fed: Sequence[tuple[str, Packet]]) -> None:
    harness.start()
    for stream, packet in fed:
        try:
            harness.add_packet(stream, packet)
        except StreamClosedError:  # the run ends without them, and its end has the error
            break
        harness.step()
    harness.finish()


def _packet(item: Packet | tuple[int, object]) -> Packet:
    return item if isinstance(item, Packet) else Packet(item[1], item[0])


def _installed() -> Registry:
    from penstock.packs import default_registry  # loads the plugins

    return default_registry()
