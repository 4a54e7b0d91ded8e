"""Reports about a run, put together from the engine, its executors and the stacks of its threads.

The engine is read under the run's lock; the sizes of payloads and the stacks are read without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from penstock.explain import (
    ExecutorState,
    calls_under_way,
    ledger,
    snapshot,
    snapshot_with_calls,
    standing_calls,
    weighed_snapshot,
    why,
)

if TYPE_CHECKING:
    from penstock.engine.schedule import Schedule
    from penstock.engine.step import Step
    from penstock.explain import Call, Ledger, Snapshot, Wait, Why
    from penstock.explain.calls import UnderWay
    from penstock.runtime.executors.executor import Executor
    from penstock.runtime.runner.queue_work import QueueWork
    from penstock.runtime.runner.runner import Runner


def take_snapshot(runner: Runner) -> Snapshot:
    """Return the whole state of a run."""

    def read(schedule: Schedule) -> tuple[Any, ...]:
        pairs = zip(runner.executors, runner.works, strict=True)
        return *snapshot(schedule), calls_under_way(schedule), [_executor(schedule, *pair) for pair in pairs]

    taken, waiting, calls, executors = runner.ask(read)
    counted = (
        attrs.evolve(state, threads=_thread_count(work))
        for state, work in zip(executors, runner.works, strict=True)
    )
    whole = attrs.evolve(weighed_snapshot(taken, waiting), executors=tuple(counted))
    return snapshot_with_calls(whole, _standing(runner, calls))


def take_ledger(runner: Runner) -> Ledger:
    """Return where the packets of a run are."""
    taken: Ledger = runner.ask(lambda schedule: ledger(schedule, is_half_changed=runner.is_half_changed))
    return taken


def _thread_count(work: QueueWork) -> int | None:
    try:
        return None if work.lease is None else work.lease.thread_count()
    except Exception:  # noqa: BLE001  # user code; the report tells what is known
        return None


def take_why(runner: Runner) -> Why:
    """Return why a run makes no progress, and where the calls stand that have not returned."""
    reason, calls = runner.ask(lambda schedule: (why(schedule), calls_under_way(schedule)))
    waits: tuple[Wait, ...] = reason.waits + (runner.stuck.left_over if reason.state == "over" else ())
    culprits = tuple(dict.fromkeys(wait.culprit for wait in waits))
    answer: Why = attrs.evolve(reason, waits=waits, culprits=culprits, calls=_standing(runner, calls))
    return answer


def story(runner: Runner) -> str:
    """Return in words why a run makes no progress; part of the error of each wait that times out."""
    return str(take_why(runner))


def _standing(runner: Runner, calls: list[UnderWay]) -> tuple[Call, ...]:
    threads = {*runner.inside.copy(), *filter(None, (runner.loop_thread,))}
    awaited = {one.step: _awaited(runner, one.step) for one in calls}
    return standing_calls(calls, threads, awaited)


def _awaited(runner: Runner, step: Step) -> object:
    """Return the coroutine that a step awaits, or the future; None if there is none."""
    future = runner.pending.get(step)
    awaited: object = getattr(future, "awaited", None)
    return future if awaited is None else awaited


def _executor(schedule: Schedule, executor: Executor, work: QueueWork) -> ExecutorState:
    nodes = [node for node in schedule.nodes if node.queue is work.queue]
    kind = type(getattr(executor, "pool", executor))  # where an executor stands for a pool, the pool's
    return ExecutorState(
        name=work.name,
        kind=kind.__name__,
        nodes=len(nodes),
        threads=None,
        running=sum(node.running() for node in nodes),
        ready=len(work.queue),
        attentive=work.attentive,
    )
