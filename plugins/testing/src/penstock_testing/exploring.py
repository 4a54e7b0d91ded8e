"""One graph under many orders of its steps: a plan, or a graph from its text and its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock import Packet
from penstock.config import build_plan
from penstock.errors import GraphRunError, InternalError, StreamClosedError
from penstock.lowlevel import Plan
from penstock_testing.schedules import ScheduleHarness
from penstock_testing.switches import WANTED, again, as_text, fewest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock import Registry
    from penstock_testing.schedules import Carried
    from penstock_testing.switches import Decisions, Order

#: How often a failing graph is explored again with fewer packets.
_MOST_TRIES: Final = 40


def explore(
    plan: Plan,
    drive: Callable[[ScheduleHarness], object],
    seeds: Iterable[Order] | None = None,
    **arguments: Any,
) -> dict[str, Carried]:
    """Run a plan under many orders, and return what each stream carried, which must be the same in all.

    Args:
        plan: as for `ScheduleHarness`. Each run makes its own calculators.
        drive: gets a harness that is not started, feeds the run and ends it.
        seeds: the orders besides that of one thread; None for 24, or as many as `--penstock-orders` of
            pytest says.
        arguments: for `ScheduleHarness`.

    Raises:
        InternalError: two orders gave different packets on a stream; names stream and seed, and says how to
        take
            the order again, with the fewest switches that are needed.
    """

    def carried(order: Order | None) -> tuple[dict[str, Carried], Decisions | None]:
        harness = ScheduleHarness(plan, seed=order, **arguments)
        drive(harness)
        return {name: harness.carried(name) for name in harness.seen}, harness.decisions

    expected, _ = carried(None)
    for order in WANTED.orders() if seeds is None else seeds:
        found, decisions = carried(order)
        for name, packets in found.items():
            if packets == expected[name]:
                continue

            def differs(switches: Sequence[tuple[int, int]], name: str = name) -> bool:
                return carried(dict(switches))[0][name] != expected[name]

            raise InternalError(
                f"exploring: stream {name!r} depends on the order of steps: with seed {_told(order)} it "
                f"carried {packets}, but on one thread {expected[name]}; "
                f"{_how_again(order, decisions, differs)}",
                stream=name,
            )
    return expected


def _told(order: Order) -> str:
    return str(order) if isinstance(order, int) else repr(as_text(order))


def _how_again(
    order: Order, decisions: Decisions | None, differs: Callable[[Sequence[tuple[int, int]]], bool]
) -> str:
    """Return how to take a failing order again, made smaller where that works."""
    switches = list(decisions.switches().items()) if decisions is not None else []
    if not differs(switches):  # something besides the order decides too
        return f"again: {again(order)}"
    small = dict(fewest(switches, differs))
    return (
        f"again: {again(order)}; with the fewest switches ({len(small)} of {len(switches)}): {again(small)}"
    )


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
