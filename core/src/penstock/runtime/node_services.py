"""What calculators get from the graph: options, services, counters, output side packets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from penstock.access import EVERYTHING
from penstock.engine.node import CLOSING
from penstock.engine.stream import add_dropped
from penstock.errors import (
    FailedPreconditionError,
    NotFoundError,
    StatusCode,
    UnavailableError,
    text_of,
    words_of,
)
from penstock.explain.graph_view import GRAPH
from penstock.late_log import LateLogger, place
from penstock.record import NamedTuple
from penstock.runtime.run_view import RunView
from penstock.service_makers import maker_of
from penstock.services import ServiceScope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.engine.node import Node
    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import InputStream, OutputStream
    from penstock.plan import NodePlan, Plan
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
    """

    def __init__(
        self, plan: Plan, counters: Counters, services: RunServices, side_packets: SidePackets
    ) -> None:
        self._plan: Final = plan
        self._counters: Final = counters
        self._services: Final = services.found
        self._failed: Final = services.failed
        self._side_packets: Final = side_packets
        #: Makes arrays, given shape and dtype, for calculators that ask; None: NumPy.
        self.allocate: Callable[[Any, Any], Any] | None = None
        #: Applies an event to the run's engine. Set before the first calculator is called.
        self.change: Callable[[Callable[[Schedule], None]], object] = _not_started

    def options(self, node: Node, message_type: type[M]) -> M:
        """Return the node's options of a type."""
        options: M = self._options_of(node).get(message_type)
        return options

    def has_options(self, node: Node, message_type: type[Any]) -> bool:
        """Return whether the graph gives the node options of a type."""
        found: bool = self._options_of(node).has(message_type)
        return found

    def _options_of(self, node: Node) -> Any:
        changed = node.options
        return self._plan.nodes[node.id].options if changed is None else changed

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
                f"services of node {node.name!r}: optional service {key.name!r} {reason}; set it with "
                "graph.set_service(key, obj)",
                node=node.name,
            ) from error
        service: S = self._services[key]  # type: ignore[assignment]  # the key says what it is
        return service

    def copied_services(self, node: Node) -> list[tuple[str, Any]]:
        """As `NodeServices`; without optional services that are not there, and an access that allows all."""
        keys = self._plan.nodes[node.id].contract.services
        return [
            (key.name, self._services[key])
            for key in keys
            if key.scope is ServiceScope.COPY and self._services.get(key, EVERYTHING) is not EVERYTHING
        ]

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

    def is_stopping(self) -> bool:
        """Return whether the run's sources have been asked to end, or the run has an error."""
        found: list[bool] = []
        self.change(lambda schedule: found.append(schedule.is_stopping or bool(schedule.errors)))
        return found[0]

    def count_unwritten(self, stream: OutputStream, reason: str, count: int) -> None:
        """Count packets that the node has thrown away in place of writing them to a stream."""

        def count_them(_: Schedule) -> None:
            stream.added += count
            add_dropped(stream.dropped, reason, count)

        self.change(count_them)

    def take_waiting(self, stream: InputStream) -> list[Packet]:
        """As `Input.take_waiting`."""
        taken: list[Packet] = []
        # A calculator may be closed while its node goes on: it was swapped, or is renewed after a failure.
        if stream.node is not None and stream.node.state == CLOSING:
            self.change(lambda _: taken.extend(stream.take_all()))
        return taken

    def empty_array(self, shape: Any, dtype: Any) -> Any:
        """Return a new NumPy array, in memory that `allocate` chooses where it is set."""
        if self.allocate is not None:
            return self.allocate(shape, dtype)
        # The core does without NumPy: a calculator that asks for an array has it.
        return import_module("numpy").empty(shape, dtype)


def _not_started(_: Callable[[Schedule], None]) -> object:
    raise FailedPreconditionError("the services of a node change nothing before its run has started")


class RunServices(NamedTuple):
    """The services of one run, and the errors of services that could not be made."""

    #: The service `GRAPH` of this run. Its `take` must be set before the run starts.
    view: RunView
    #: All services that the run has.
    found: Mapping[ServiceKey[Any], object]
    #: The services that were made for this run; `GraphRuns` keeps them.
    made: Mapping[ServiceKey[Any], object]
    #: Optional service → the exception of its key's `create`.
    failed: Mapping[ServiceKey[Any], Exception]
    #: Why the run must not start: a required service is not there, or an interrupt came; or None.
    error: BaseException | None

    def check(self) -> None:
        """Raise `error`, if there is one."""
        if self.error is not None:
            raise self.error


def find_services(
    plan: Plan, given: Mapping[ServiceKey[Any], object] | None = None, *, is_timed: bool = False
) -> RunServices:
    """Return the services that a run has, and why others could not be made. Raises nothing: see `check`.

    Each service is made once, however many nodes ask for it. The first required one that is not there ends
    the search. A warning reports each optional one that could not be made: its nodes may do without it, but
    they may also find out much later, or never tell.

    Args:
        plan: the graph.
        given: the services that exist; `GRAPH` is added.
        is_timed: whether the run adds up the time of `process`; `GRAPH` tells.
    """
    view = RunView(plan, is_timed=is_timed)
    found: dict[ServiceKey[Any], object] = {GRAPH: view, **(given or {})}
    made: dict[ServiceKey[Any], object] = {}
    failed: dict[ServiceKey[Any], Exception] = {}
    error: BaseException | None = None
    try:
        for node in plan.nodes:
            _find_for(node, plan, found, made, failed)
    except BaseException as raised:  # noqa: BLE001  # what was made must be kept, also after an interrupt
        error = raised
    return RunServices(view, found, made, failed, error)


def _find_for(
    node: NodePlan,
    plan: Plan,
    found: dict[ServiceKey[Any], object],
    made: dict[ServiceKey[Any], object],
    failed: dict[ServiceKey[Any], Exception],
) -> None:
    """Make the services of one node that are not there yet.

    Raises:
        UnavailableError: a required service was not set and cannot be made; names service and node. The code
            is INTERNAL, as in the reference, where no key can make it; UNAVAILABLE where making it failed.
    """
    for key, optional in node.contract.services.items():
        if key not in found and key not in failed and (create := maker_of(key, plan.file)) is not None:
            try:
                found[key] = made[key] = create()
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
            code=StatusCode.INTERNAL if cause is None else StatusCode.UNAVAILABLE,
        ) from cause
