"""The executors of a graph: their names and types, and whether the executors that nodes name exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import ResourceExhaustedError, StatusCode
from penstock.limits import check
from penstock.near_names import did_you_mean
from penstock.plan import ExecutorPlan
from penstock.shown import clipped, quoted

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.check.faults import Faults
    from penstock.check.name_lookups import Names
    from penstock.check.nodes import Draft
    from penstock.check.protocols import OptionsFactory
    from penstock.check.spec import ExecutorSpec, GraphSpec

_INVALID: Final = StatusCode.INVALID_ARGUMENT


def is_reserved(name: str) -> bool:
    """Return whether graphs may not use this name. Source: MediaPipe `ValidatedGraphConfig`."""
    return name in ("default", "gpu") or name.startswith("__")


def plan_executors(graph: GraphSpec, names: Names, options_of: OptionsFactory) -> tuple[ExecutorPlan, ...]:
    """Check the executors that a graph declares; return them, the default one first."""
    faults = names.faults
    plans: dict[str, ExecutorPlan] = {}
    for spec in graph.executors:
        name = spec.name.text
        if is_reserved(name):
            words = f"executor {quoted(name)}: this is a reserved executor name; choose another"
            faults.add(spec.name.at, words, code=_INVALID)
        elif name in plans:
            which = f"executor {quoted(name)}" if name else "the default executor"
            faults.add(spec.at, f"{which} is declared twice; merge or rename one", code=_INVALID)
        else:
            plans[name] = _plan(spec, names)
    default = plans.pop("", None)
    _check_threads(graph, default, faults)
    if default is None:
        default = ExecutorPlan("", "", options_of(None), num_threads=max(graph.num_threads.value, 0))
    return (default, *plans.values())


def check_executor(draft: Draft, declared: Collection[str], faults: Faults) -> None:
    """Note a fault where a node names an executor that the graph does not have."""
    name = draft.spec.executor
    if name.text in declared:
        return
    if is_reserved(name.text):
        words = f"{quoted(name.text)} is a reserved executor name; leave the field out for the default one"
    else:
        words = f"executor {quoted(name.text)} is not declared{did_you_mean(name.text, declared, 1)}"
        words += f'; add executor {{ name: "{clipped(name.text)}" ... }} to the graph'
    faults.add(name.at, f"{draft.who}: {words}", code=_INVALID, node=draft.name)


def _plan(spec: ExecutorSpec, names: Names) -> ExecutorPlan:
    name, kind = spec.name.text, spec.type
    if kind.text:
        who = f"executor {quoted(name)}: " if name else "the default executor: "
        names.find("executor", kind.text, kind.at, who)
    return ExecutorPlan(name, kind.text, spec.options)


def _check_threads(graph: GraphSpec, default: ExecutorPlan | None, faults: Faults) -> None:
    """Note what is wrong with the graph's `num_threads`, given the executor that it declares as default."""
    threads = graph.num_threads
    try:
        check("threads", threads.value, f"num_threads of the default executor is {threads.value}")
    except ResourceExhaustedError as error:
        faults.add_error(threads.at, "", error)
    if threads.value < -1:
        words = f"num_threads {threads.value}: must be positive, or 0 or -1 to leave it to the framework"
        faults.add(threads.at, words, code=_INVALID)
    if default is not None and threads.value:
        words = (
            f"num_threads {threads.value} and an executor entry for the default executor are both given; "
            "keep one: the entry's own options have num_threads too"
        )
        faults.add(threads.at, words, code=_INVALID)
