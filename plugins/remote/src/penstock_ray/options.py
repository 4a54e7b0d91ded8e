"""The options of `RayExecutor`."""

from __future__ import annotations

from enum import Enum

import attrs

from penstock.errors import InvalidArgumentError
from penstock_remote.api import Together  # noqa: TC001  # the options' types are read at run time


class Placement(Enum):
    """On which hosts actors are put that have no resource of a host's own."""

    #: As Ray does by default: on few hosts, until these are half full.
    PACK = 0
    #: On as many hosts as there are.
    SPREAD = 1


@attrs.frozen
class Resource:
    """A resource that only some hosts of a cluster have.

    Attributes:
        key: its name, as `ray start --resources` says it.
        value: how much of it an actor takes.
    """

    key: str = ""
    value: float = 1.0


@attrs.frozen
class NodeResources:
    """What one node needs, in the place of what the executor says for all.

    Attributes:
        name: of the node, or of a subgraph, for all nodes in it.
        num_cpus, num_gpus, resources: as in `RayExecutorOptions`.
    """

    name: str = ""
    num_cpus: float = 0.0
    num_gpus: float = 0.0
    resources: tuple[Resource, ...] = ()

    def __attrs_post_init__(self) -> None:
        _check_resources(self)


@attrs.frozen
class RayExecutorOptions:
    """Which cluster there is, what its hosts lend to nodes, and how calls travel.

    Attributes:
        address: of the cluster, as "auto" or "10.0.0.5:6379"; "": the variable RAY_ADDRESS, else one that
            runs on this machine, else a new one, which ends with the graph.
        num_cpus, num_gpus, resources: what each actor takes of its host. An actor that takes no processor
            may share one.
        node: nodes that need something else.
        placement: on which hosts actors are put.
        runtime_env: path of a YAML or JSON file that says what hosts need to make the calculators: packages,
            files, variables. See Ray's "Environment Dependencies".
        batch: the most calls of a node that go in one message. They do so where calls wait for others that
            are under way, so nothing waits for a batch to be full.
        num_actors: the most actors of one node that may have several: it has `max_in_flight` above 1, and its
            contract declares `stateless`. 0: as many as there are batches in `max_in_flight`.
        colocate: nodes that share an actor; each other node has its own.
        start_timeout_s: how long an actor may take until it is ready, in seconds.
        stopped_timeout_s: how long an actor may be stopped by a signal (SIGSTOP) while its reply is due, in
            seconds; then it is killed. Only on hosts that tell it: Linux.
        cancel_grace_s: how long a call may go on after it was cancelled until its actor is killed.
    """

    address: str = ""
    num_cpus: float = 0.0
    num_gpus: float = 0.0
    resources: tuple[Resource, ...] = ()
    node: tuple[NodeResources, ...] = ()
    placement: Placement = Placement.PACK
    runtime_env: str = ""
    batch: int = 1
    num_actors: int = 0
    colocate: tuple[Together, ...] = ()
    start_timeout_s: float = 60.0
    stopped_timeout_s: float = 10.0
    cancel_grace_s: float = 2.0

    def __attrs_post_init__(self) -> None:
        _check_resources(self)
        for name, least in (("batch", 1), ("num_actors", 0)):
            if getattr(self, name) < least:
                raise InvalidArgumentError(
                    f"RayExecutor option {name} is {getattr(self, name)}, but must be at least {least}"
                )
        for name in ("start_timeout_s", "stopped_timeout_s", "cancel_grace_s"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise InvalidArgumentError(f"RayExecutor option {name} is {value}, but must be positive")


def _check_resources(needs: RayExecutorOptions | NodeResources) -> None:
    for name in ("num_cpus", "num_gpus"):
        value = getattr(needs, name)
        if not 0 <= value < float("inf"):
            raise InvalidArgumentError(f"RayExecutor option {name} is {value}, but must not be negative")
    for one in needs.resources:
        if not one.key:
            raise InvalidArgumentError(
                "RayExecutor option resource has no key; give the name that its hosts have for it"
            )
        if not 0 < one.value < float("inf"):
            raise InvalidArgumentError(
                f"RayExecutor option resource {one.key!r} is {one.value}, but must be positive"
            )
