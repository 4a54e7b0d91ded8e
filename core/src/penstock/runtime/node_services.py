"""What calculators get from the graph: options, services, counters, output side packets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from penstock.engine.stream import add_dropped
from penstock.errors import FailedPreconditionError, NotFoundError, UnavailableError, text_of, words_of
from penstock.late_log import LateLogger, place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.engine.node import Node
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import InputStream
    from penstock.plan import Plan
    from penstock.runtime.counters import Counter, Counters
    from penstock.runtime.side_packets import SidePackets
    from penstock.services import ServiceKey

M = TypeVar("M")
S = TypeVar("S")

_logger: Final = LateLogger("runtime")


class GraphNodeServices:
    """The `NodeServices` of one run.

    Args:
        plan, counters, services, side_packets: of the run.
        failed: optional service → what its key's `create` raised.

    Attributes:
        change: applies an event to the run's engine. Set before the first calculator is called.
        allocate: makes arrays, given shape and dtype, for calculators that ask; None: NumPy.
    """

    def __init__(
        self,
        plan: Plan,
        counters: Counters,
        services: Mapping[ServiceKey[Any], object],
        side_packets: SidePackets,
        failed: Mapping[ServiceKey[Any], Exception] | None = None,
    ) -> None:
        self._plan: Final = plan
        self._counters: Final = counters
        self._services: Final = services
        self._failed: Final = failed or {}
        self._side_packets: Final = side_packets
        self.allocate: Callable[[Any, Any], Any] | None = None
        self.change: Callable[[Callable[[Schedule], None]], object] = _not_started

    def options(self, node: Node, message_type: type[M]) -> M:
        """Return the node's options of a type."""
        changed = node.options
        options: M = (self._plan.nodes[node.id].options if changed is None else changed).get(message_type)
        return options

    def service(self, node: Node, key: ServiceKey[S]) -> S:
        """As `CalculatorContext.service`."""
        if key not in self._plan.nodes[node.id].contract.services:
            raise NotFoundError(
                f"node {node.name!r}: service {key.name!r} is not in its contract; call "
                "cc.use_service(key) in get_contract",
                node=node.name,
            )
        if key not in self._services:
            error = self._failed.get(key)
            reason = "is not there" if error is None else f"could not be made: {words_of(error)}"
            raise NotFoundError(
                f"node {node.name!r}: optional service {key.name!r} {reason}; set it with "
                "graph.set_service(key, obj)",
                node=node.name,
            ) from error
        service: S = self._services[key]  # type: ignore[assignment]  # the key says what it is
        return service

    def counter(self, node: Node, name: str) -> Counter:
        """Return the counter `<node>-<name>`."""
        return self._counters.get(f"{node.name}-{name}", is_shared=node.max_in_flight > 1)

    def set_output_side_packet(self, node: Node, name: str, packet: Packet) -> None:
        """Give a side packet to the nodes that wait for it; raises as `SidePackets.publish`."""

        def publish(schedule: Schedule) -> None:
            self._side_packets.publish(node, name, packet)
            schedule.set_side_packet(name, packet)

        self.change(publish)

    def count_dropped(self, stream: InputStream, reason: str, count: int) -> None:
        """Count packets that the node has taken from a stream as dropped."""
        self.change(lambda _: stream.disuse(reason, count))

    def count_cut(self, stream: InputStream, reason: str, count: int) -> None:
        """Count elements that the node has left out of lists of a stream."""
        self.change(lambda _: add_dropped(stream.cut, reason, count))

    def empty_array(self, shape: Any, dtype: Any) -> Any:
        """Return a new NumPy array, in memory that `allocate` chooses where it is set."""
        if self.allocate is not None:
            return self.allocate(shape, dtype)
        # The core does without NumPy: a calculator that asks for an array has it.
        return import_module("numpy").empty(shape, dtype)


def _not_started(_: Callable[[Schedule], None]) -> object:
    raise FailedPreconditionError("the run has not started")


def find_services(
    plan: Plan,
    given: Mapping[ServiceKey[Any], object],
    made: dict[ServiceKey[Any], object] | None = None,
) -> tuple[dict[ServiceKey[Any], object], dict[ServiceKey[Any], Exception]]:
    """Return the services that a run has, and why optional ones could not be made.

    Each service is made once, however many nodes ask for it. A warning reports each optional one that could
    not be made: its nodes may do without it, but they may also find out much later, or never tell.

    Args:
        plan: the graph.
        given: the services that exist.
        made: receives the services that are made, even if another one cannot be made; None for a new dict.

    Raises:
        UnavailableError: a required service was not set and cannot be made; names service and node.
    """
    found = dict(given)
    made = {} if made is None else made
    failed: dict[ServiceKey[Any], Exception] = {}
    for node in plan.nodes:
        for key, optional in node.contract.services.items():
            if key not in found and key not in failed:
                try:
                    if key.create is not None:
                        found[key] = made[key] = key.create()
                except Exception as error:  # noqa: BLE001  # told to each node that needs the service
                    failed[key] = error
                    if optional:
                        _logger.warning(
                            "optional service %r could not be made: %s",
                            key.name,
                            words_of(error),
                            extra=place(node=node.name),
                        )
            if key in found or optional:
                continue
            cause = failed.get(key)
            reason = "it was not set, and its key cannot make one" if cause is None else text_of(cause)
            raise UnavailableError(
                f"service {key.name!r}, required by node {node.name!r}, is not there: {reason}; "
                "set it with graph.set_service(key, obj)",
                node=node.name,
            ) from cause
    return found, failed
