"""Which node runs on which executor: one named in the config, one handed in, or one of a service."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from penstock.check.executors import is_reserved
from penstock.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    PenstockError,
    ResourceExhaustedError,
    code_of,
    text_of,
    words_of,
)
from penstock.plan import DEFAULT_EXECUTOR
from penstock.record import NamedTuple
from penstock.runtime.executors.executor import Executor, ExecutorDefaults
from penstock.services import RunsNodes, ServiceKey
from penstock.shown import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.plan import ExecutorPlan, NodePlan, Plan
    from penstock.registry import Registry


class Placed(NamedTuple):
    """Where the nodes of a run work."""

    #: Node id → number of its queue.
    queue_of: Mapping[int, int]
    #: The names of the queues.
    names: Sequence[str]
    #: The executors of the queues; empty for a run without executors, as tests have it.
    executors: Sequence[Executor]


def as_in_plan(plan: Plan) -> Placed:
    """Return a queue for each executor of the plan, and no executors."""
    names = [executor.name for executor in plan.executors]
    return Placed({node.id: names.index(node.executor) for node in plan.nodes}, names, ())


class GraphExecutors:
    """The executors of a graph: handed in before the first run or made at its start, kept for later runs."""

    def __init__(self, plan: Plan, registry: Registry) -> None:
        self._plan: Final = plan
        self._registry: Final = registry
        self._given: dict[str, tuple[object, Executor]] = {}
        #: Executors with a type in the graph; made at once, so that their faults are faults of the graph.
        self._declared: Final = {plan.name: self._make(plan) for plan in plan.executors if plan.type}
        for name, executor in self._declared.items():
            if executor.places:
                executor.check(plan, name)
        self._by_name: dict[str, Executor] | None = None
        #: The default executor, where the graph declares none; made now, so that its faults are reported.
        self._implied: Executor | None = None
        if "" not in self._declared and registry.has("executor", DEFAULT_EXECUTOR):
            self._implied = self._make(plan.executors[0])

    def hand_in(self, name: str, executor: object) -> None:
        """Use an application's executor under a name; "" for the default one.

        Raises:
            InvalidArgumentError: the name is reserved, the graph declares an executor of that name with a
                type, or the object cannot be used as an executor.
            AlreadyExistsError: another executor was handed in under that name.
            FailedPreconditionError: the graph has run already.
        """
        if is_reserved(name):
            raise InvalidArgumentError(f"the graph's executors: the executor name {name!r} is reserved")
        if self._by_name is not None:
            raise FailedPreconditionError(
                f"executor {name!r}: hand the graph's executors in before its first run"
            )
        if name in self._declared:
            raise InvalidArgumentError(
                f"executor {name!r} has a type in the graph, but is handed in with set_executor too; "
                "remove one"
            )
        known = self._given.get(name)
        if known is not None and known[0] is not executor:
            raise AlreadyExistsError(f"executor {name!r}: another executor was already handed in")
        self._given[name] = (executor, _as_executor(executor))

    def by_name(self) -> dict[str, Executor]:
        """Return all executors of the graph, made by the first call.

        Raises:
            InvalidArgumentError: one was neither declared with a type nor handed in.
            UnknownNameError: no plugin provides the type of one.
        """
        if self._by_name is None:
            self._by_name = {plan.name: self._find(plan) for plan in self._plan.executors}
        return self._by_name

    def to_close(self) -> dict[ServiceKey[Any], object]:
        """Return the executors that the graph has made and must close, as if they were services."""
        return {ServiceKey(f"executor {n}"): one for n, one in self._declared.items() if one.places}

    def _find(self, plan: ExecutorPlan) -> Executor:
        if plan.name in self._declared:
            return self._declared[plan.name]
        given = self._given.get(plan.name)
        if given is not None:
            return given[1]
        if plan.name:
            raise InvalidArgumentError(
                f"executor {plan.name!r} has no type in the graph; hand it in with "
                f"graph.set_executor({plan.name!r}, ...) before the run, or give it a type"
            )
        return self._implied or self._make(plan)

    def _make(self, plan: ExecutorPlan) -> Executor:
        kind: Any = self._registry.find("executor", plan.type or DEFAULT_EXECUTOR)
        threads = max(1, min(os.cpu_count() or 1, len(self._plan.nodes)))
        defaults = ExecutorDefaults(plan.name, plan.num_threads, threads, is_implied=not plan.type)
        who = f"executor {quoted(plan.name)} ({plan.type})" if plan.type else "the default executor"
        try:
            return _as_executor(kind.create(plan.options, defaults))
        except ResourceExhaustedError as error:
            raise error.placed(f"{who}: ") from error
        except Exception as error:
            kept = InvalidArgumentError if isinstance(error, InvalidArgumentError) else PenstockError
            raise kept(f"{who}: {words_of(error)}", code=code_of(error)) from error

    def place(self, plan: Plan, services: Mapping[ServiceKey[Any], object]) -> Placed:
        """Return where the nodes of a run work: on the graph's executors, or on one that a service lends.

        Raises:
            InvalidArgumentError: a node asks to run on a service that lends no executor, or has no places.
            Whatever a service raises.
        """
        by_name = self.by_name()
        names = list(by_name)
        executors = list(by_name.values())
        numbers = {name: number for number, name in enumerate(names)}
        of_service: dict[int, int] = {}
        queue_of: dict[int, int] = {}
        for node in plan.nodes:
            key = node.contract.runs_on
            stays = node.contract.runs_if_there and bool(node.executor)
            if key is None or key not in services or stays:
                queue_of[node.id] = numbers[node.executor]
                continue
            executor = _executor_of(services[key], key, node)
            if executor is None:
                queue_of[node.id] = numbers[node.executor]
                continue
            if id(executor) not in of_service:
                of_service[id(executor)] = len(executors)
                executors.append(_usable(executor, key, node))
                names.append(getattr(executor, "name", "") or key.name)
            queue_of[node.id] = of_service[id(executor)]
        return Placed(queue_of, names, executors)


def _executor_of(service: object, key: ServiceKey[Any], node: NodePlan) -> object:
    """Return the executor that a service lends to a node; None if it leaves the node on its own executor."""
    place = node.contract.place
    if not isinstance(service, RunsNodes):
        raise InvalidArgumentError(
            f"the graph's executors: node {node.name!r} asks to run on service {key.name!r}, but a "
            f"{type(service).__name__} has no executor_for(node)",
            node=node.name,
        )
    if not place:
        return service.executor_for(node.name)
    import inspect  # few nodes name a place

    try:
        inspect.signature(service.executor_for).bind(node.name, place)
    except TypeError as error:
        raise InvalidArgumentError(
            f"the graph's executors: node {node.name!r} asks to run at {place!r} of service {key.name!r}, "
            f"but a {type(service).__name__} has no executor_for(node, place); leave the place out",
            node=node.name,
        ) from error
    return service.executor_for(node.name, place)


def _usable(executor: object, key: ServiceKey[Any], node: NodePlan) -> Executor:
    try:
        return _as_executor(executor)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"the graph's executors: node {node.name!r} asks to run on service {key.name!r}, whose "
            f"executor_for() returned something else: {text_of(error)}",
            node=node.name,
        ) from error


def _as_executor(given: object) -> Executor:
    """Return what `set_executor` was given as a `penstock.Executor`.

    Raises:
        InvalidArgumentError: it is no executor, or one that pickles its tasks.
    """
    if isinstance(given, Executor):
        return given
    import concurrent.futures

    if isinstance(given, concurrent.futures.Executor):
        from penstock.runtime.executors.pool import PoolExecutor  # few graphs are given a pool

        return PoolExecutor(given)
    raise InvalidArgumentError(
        f"{type(given).__name__!r} is no executor; hand in a penstock.Executor or a "
        "concurrent.futures.Executor"
    )
