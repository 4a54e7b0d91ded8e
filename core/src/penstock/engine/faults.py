"""The errors of a run that no calculator raised, as the scheduler words them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.methods import PROCESS
from penstock.engine.native import mypyc_attr
from penstock.errors import PenstockError, StreamClosedError, code_of, field_of, text_of, words_of
from penstock.port_tags import port_name
from penstock.timestamp import show

if TYPE_CHECKING:
    from penstock.engine.node import Node
    from penstock.engine.step import Step
    from penstock.engine.stream import OutputStream


@mypyc_attr(allow_interpreted_subclasses=True)  # one for each builtin that it is, see `PenstockError`
class CallCancelledError(PenstockError):
    """Stands for the error of a call that was cancelled because the run had failed; it is not recorded."""


def words_of_call(step: Step, error: BaseException) -> str:
    """Return what the exception of a call says, where it was raised, and which inputs were empty.

    It runs code of the exception's class, so it is called without the lock, while the step has its packets.
    """
    ids = step.inputs.ids()
    empty = [port_name(*key) for key, port in zip(ids, step.in_ports, strict=True) if port.is_empty()]
    if not empty or step.method != PROCESS or isinstance(error, PenstockError):
        return words_of(error)
    return f"{words_of(error)}; there was no packet at {show(step.stamp)} on input {', '.join(empty)}"


def closed_input(stream: OutputStream, stopped_by: str | None) -> StreamClosedError:
    """Return the error of an add to a graph input that takes no more."""
    why = "it was closed"
    if stopped_by is not None:
        why = f"the graph is stopping: node {stopped_by!r} returned STOP"
    return StreamClosedError(f"graph input {stream.name!r} takes no more: {why}", stream=stream.name)


def failed_policy(node: Node, error: BaseException) -> PenstockError:
    """Return the error of a run in which an input stream handler raised.

    Called with the lock, as the handler itself is: both are user code that must return soon.
    """
    kind = "" if isinstance(error, PenstockError) else f"{type(error).__name__}: "
    policy = type(node.policy).__name__
    failure = PenstockError(
        f"node {node.name!r} ({node.kind}): its input policy {policy} failed: {kind}{text_of(error)}",
        code=code_of(error),
        node=node.name,
        stream=field_of(error, "stream", str),
        timestamp=field_of(error, "timestamp", int),
    )
    failure.__cause__ = error
    return failure
