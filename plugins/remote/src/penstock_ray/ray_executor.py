"""`RayExecutor`: nodes work in actors of a Ray cluster, which live as long as the graph."""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from penstock.access import current as current_access
from penstock.lowlevel import OPEN
from penstock_executors import ThreadPoolExecutor
from penstock_ray.cluster import connect, disconnect, ray_module, read_runtime_env
from penstock_ray.link import ActorLink, Lane, Needs
from penstock_ray.messages import NodeSetup
from penstock_ray.options import NodeResources, RayExecutorOptions
from penstock_ray.references import stays_there
from penstock_remote.api import (
    NodeCopies,
    Places,
    RemoteCalculator,
    check_all_movable,
    check_names,
    colocated,
    described,
    end_of,
    nodes_named,
    region_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from penstock import CalculatorContext, ExecutorDefaults
    from penstock.lowlevel import NodePlan, Plan, StandIn
    from penstock_remote.api import Answer, Call, Described, Pending, RegionEnd

#: Threads of the driver that pack calls.
_SENDERS: Final = 4
_MOST_THREADS: Final = 64


class RayExecutor(ThreadPoolExecutor):
    """Runs nodes in actors on the hosts of a Ray cluster.

    The graph goes on in this process; a node's calculator is made, opened, called and closed in an actor of
    its own, unless `colocate` says otherwise. With `max_in_flight` a node whose contract declares `stateless`
    (plain functions do) may have several actors; calls of any other overlap on threads of its actor.

    Payloads are pickled; arrays and images go through Ray's shared memory and arrive read-only. A stream that
    only nodes of this executor read, and that nobody observes, carries references: its payloads stay on the
    cluster. Actors are asked for when the first run is put together and live until the graph is closed.
    Without a cluster one is started on this machine, which a warning says; it ends with the graph.

    An actor that dies is not started again by Ray: the node fails with a `WorkerDiedError`, and its failure
    policy decides. What `__main__` defines travels by value, all else by name: the hosts need the packs.

    Args:
        address, options: as in `RayExecutorOptions`.

    Raises:
        InvalidArgumentError: an option is out of its range, or `runtime_env` cannot be read.
        FailedPreconditionError: Ray is not installed.

    Example config::

        executor {
          name: "cluster"
          type: "RayExecutor"
          options { [penstock_ray.RayExecutorOptions.ext] { address: "auto" num_gpus: 1 } }
        }
        node { calculator: "Segment" executor: "cluster" input_stream: "frame" output_stream: "mask" }
    """

    places = True

    def __init__(self, address: str = "", **options: Any) -> None:
        self.options: Final = RayExecutorOptions(address=address, **options)
        super().__init__(_SENDERS, "penstock-send")
        self._check_installed()
        path = self.options.runtime_env
        self._runtime_env: Final = read_runtime_env(path) if path else None
        self._lock: Final = threading.Lock()
        self._keys: Final = itertools.count()
        self._numbers: Final = itertools.count(1)
        #: Place of a node and number of its copy → actor. Changed under the lock.
        self._links: Final[dict[tuple[int, int], ActorLink]] = {}
        self._is_connected = False
        self._places: Final = Places(self.options.colocate)

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> RayExecutor:  # noqa: ARG003  # the interface
        """Make one from `RayExecutorOptions`."""
        given: RayExecutorOptions = options.get(RayExecutorOptions)
        return cls(**{field.name: getattr(given, field.name) for field in given.__attrs_attrs__})

    def check(self, plan: Plan, name: str) -> None:
        """Refuse nodes that cannot leave this process, and names in the options that are none of them.

        Raises:
            PermissionDeniedError: the graph may not run anything on a cluster, or connect to this one.
        """
        access = current_access()
        access.using("runs", "a cluster")
        if self.options.address:
            access.connecting(self.options.address)
        check_all_movable(plan, name)
        together = [one for group in self.options.colocate for one in group.node]
        check_names(together, plan, name, "colocate")
        check_names([one.name for one in self.options.node], plan, name, "node")

    def arrange(self, plan: Plan, name: str, watched: Collection[int]) -> Plan:
        """Make regions of neighbours that share an actor."""
        return colocated(plan, name, self.options.colocate, watched)

    def place(self, node: NodePlan, plan: Plan) -> StandIn:
        """Make the calculator of a node in its actor, or in one of each of its copies."""
        description = described(node, plan)
        count = self._copies_of(node)
        with self._lock:
            self._connect()
            where = self._places.of(node, plan)
            needs = self._needs_of(node, plan, where)
            links = [self._link((where, copy), needs) for copy in range(count)]
            share = -(-node.max_in_flight // count)
            description = description._replace(max_in_flight=share)
            # Calls that may meet each other in the node must not wait for each other in a message.
            batch = self.options.batch if node.contract.declared.stateless else 1
            copies = [(link, Lane(next(self._keys), description, batch)) for link in links]
        stand_in = _OnCluster(copies, description, self, end_of(node, plan))
        for link, lane in copies:
            weakref.finalize(stand_in, link.forget, lane.key).atexit = False
        return stand_in

    def close(self) -> None:
        """End all actors, and the cluster if it was started here; a later run asks for new ones."""
        with self._lock:
            links = list(self._links.values())
            self._links.clear()
            is_connected, self._is_connected = self._is_connected, False
        endings = [(link, link.end()) for link in links]
        for link, ending in endings:
            link.join(ending)
        if is_connected:
            self._disconnect()

    def actors(self) -> tuple[tuple[int, str], ...]:
        """Return process id and host of each actor that is ready and lives."""
        living = [link.ready for link in list(self._links.values()) if not link.is_dead]
        return tuple((ready.pid, ready.host) for ready in living if ready is not None)

    # A trial has a simulated cluster in the place of the next four methods.

    @staticmethod
    def _check_installed() -> None:
        ray_module()

    def _connect(self) -> None:
        if not self._is_connected:
            connect(self.options)
            self._is_connected = True

    @staticmethod
    def _disconnect() -> None:
        disconnect()

    def _link(self, place: tuple[int, int], needs: Needs) -> ActorLink:
        """Return the actor of a place; a new one if there is none that lives and has what is needed."""
        old = self._links.get(place)
        if old is not None:
            if not old.is_dead and old.needs == needs:
                return old
            del self._links[place]
            old.join(old.end())
        link = self._links[place] = self._new_link(next(self._numbers), needs)
        return link

    def _new_link(self, number: int, needs: Needs) -> ActorLink:
        return ActorLink(number, needs, self.options, self._runtime_env)

    def _copies_of(self, node: NodePlan) -> int:
        """Return how many objects a node has."""
        if not node.contract.declared.stateless:
            return 1
        options = self.options
        batches = -(-node.max_in_flight // options.batch)
        return min(node.max_in_flight, options.num_actors or batches)

    def _needs_of(self, node: NodePlan, plan: Plan, where: int) -> Needs:
        """Return what the actor of a node takes of its host: as much as the most demanding of its nodes."""
        options = self.options
        on_it = [name for one in plan.nodes if one.executor == node.executor for name in region_names(one)]
        own = {name: one for one in options.node for name in nodes_named(one.name, on_it)}
        everywhere = NodeResources("", options.num_cpus, options.num_gpus, options.resources)
        mine = [
            one for one in plan.nodes if one.executor == node.executor and self._places.of(one, plan) == where
        ]
        needs = [own.get(name, everywhere) for one in mine for name in region_names(one)]
        resources: dict[str, float] = {}
        for one in needs:
            for resource in one.resources:
                resources[resource.key] = max(resource.value, resources.get(resource.key, 0.0))
        threads = sum(-(-one.max_in_flight // self._copies_of(one)) for one in mine)
        is_batched = options.batch > 1 and all(one.contract.declared.stateless for one in mine)
        return Needs(
            max(one.num_cpus for one in needs),
            max(one.num_gpus for one in needs),
            tuple(sorted(resources.items())),
            1 if is_batched else min(threads, _MOST_THREADS),
        )


class _OnCluster(RemoteCalculator):
    """Stands for a calculator in one actor, or for its copies in several."""

    def __init__(
        self,
        copies: list[tuple[ActorLink, Lane]],
        node: Described,
        executor: RayExecutor,
        end: RegionEnd | None,
    ) -> None:
        senders = [partial(self._send, link, lane) for link, lane in copies]
        super().__init__(NodeCopies(senders, [link for link, _ in copies]), end)
        self._node: Final = node
        self.executor: Final = executor
        self._by_reference: tuple[int, ...] = ()

    def open(self, cc: CalculatorContext) -> Any:
        """Open the calculator; which payloads stay on the cluster is known now."""
        context: Any = cc  # the step itself
        self._by_reference = tuple(
            number
            for number, output in enumerate(context.outputs.items)
            if stays_there(output.stream, self._is_ours)
        )
        return super().open(cc)

    def _is_ours(self, calculator: object) -> bool:
        return isinstance(calculator, _OnCluster) and calculator.executor is self.executor

    def _send(self, link: ActorLink, lane: Lane, call: Call, write: Callable[[Answer], Any]) -> Pending:
        setup = None
        if call.method == OPEN:
            setup = NodeSetup(self._node, _by_value(self._node.codes), self._by_reference)
        return link.call(lane, setup, call, write)


def _by_value(codes: Sequence[str]) -> dict[str, Any]:
    """Return those of the calculators that only this program's `__main__` has."""
    found: dict[str, Any] = {}
    for code in codes:
        module, _, path = code.partition(":")
        if module == "__main__":
            found[code] = attrgetter(path)(sys.modules[module])
    return found
