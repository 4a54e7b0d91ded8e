"""Whether some order of calls explains what they have returned.

Each call is one moment between its begin and its return. Calls are right if there is an order of these
moments, and of the moves that what is called makes by itself, in which the same calls of one thread return
the same: they are linearizable. A `Model` says what one thread may get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Results of calls that raise.
NO_RUN, CLOSED, LATE, FAILED, NOTHING = "FailedPreconditionError", "StreamClosedError", (
    "TimestampOrderError"
), "GraphRunError", "WaitTimeoutError"  # fmt: skip
#: The result of calls that return nothing.
DONE: Final = "done"


class Call(NamedTuple):
    """One call: name, argument, when it was, and the result: DONE, a value, or an error's name."""

    name: str
    argument: Any
    begin: int
    end: int
    result: Any


class Model(NamedTuple):
    """What one thread may get. States are hashable."""

    first: Any
    #: What a state may become without a call.
    by_itself: Callable[[Any], Iterator[Any]]
    #: What a state may be after a call that returns what this one did; nothing where it cannot.
    allowed: Callable[[Any, Call], Iterator[Any]]


def explained(calls: Sequence[Call], model: Model) -> bool:
    """Return whether some order of the calls, and of the moves by itself, explains all results."""
    everything = (1 << len(calls)) - 1
    seen: set[tuple[int, Any]] = set()
    waiting = [(0, model.first)]
    while waiting:
        done, state = waiting.pop()
        if done == everything:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        waiting += [(done, after) for after in model.by_itself(state)]
        left = [number for number in range(len(calls)) if not done >> number & 1]
        first_end = min(calls[number].end for number in left)
        for number in left:
            if calls[number].begin <= first_end:
                waiting += [(done | 1 << number, after) for after in model.allowed(state, calls[number])]
    return False


def overlaps(call: Call, calls: Sequence[Call], names: frozenset[str]) -> bool:
    """Return whether another call of some names was under way at the same time."""
    return any(
        other is not call and other.name in names and other.begin <= call.end and call.begin <= other.end
        for other in calls
    )
