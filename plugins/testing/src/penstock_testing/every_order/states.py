"""The state of a run as one value: two runs of the same value go on in the same way.

The engine, the calculators and their policies are read attribute by attribute. What they share with all runs
(plans, registries, functions, classes) counts by its name only. An object that is met again counts by its
place, so that two runs that differ in identities alone have the same value.
"""

from __future__ import annotations

from collections import deque
from functools import cache
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from penstock_testing.every_order.stepping import SteppedRun

_PLAIN: Final = frozenset({type(None), bool, int, float, complex, str, bytes})
#: Modules whose objects are the same for all runs, or say nothing about what comes next.
_SHARED: Final = (
    "penstock.plan",
    "penstock.registry",
    "penstock.contract",
    "penstock.config",
    "penstock.runtime",
)
#: Attributes whose keys are addresses.
_VALUES_ONLY: Final = "full"
#: Attributes that no rule of the engine reads: counts of time, flags for the runtime, packets to be freed;
#: and what a policy has found out by its last look, which is read right after it only.
_LEFT_OUT: Final = frozenset(
    {"services", "slowness", "busy_ns", "garbage", "has_news", "was_observed", "has_waited", "is_fresh",
     "at_ns", "traceback", "waits_at",
     "__dict__", "__weakref__"}
)  # fmt: skip


def state_of(run: SteppedRun) -> bytes:
    """Return the state of a run, as a digest.

    What its streams have carried is a part of it, so that runs of equal state end with equal results.
    """
    reader = _Reader()
    harness = run.harness
    reader.read(harness.schedule)
    reader.read([(name, packets) for name, packets in harness.seen.items()])
    reader.read(sorted(run.fed.items()))
    reader.read(run.deeds_left)
    reader.read(
        sorted((held.step.node.name, held.step.stamp, repr(held.error), held.stop) for held in run.held)
    )
    return blake2b("\0".join(reader.parts).encode(), digest_size=16).digest()


class _Reader:
    def __init__(self) -> None:
        self.parts: Final[list[str]] = []
        self._places: Final[dict[int, int]] = {}
        #: Keeps what was read alive, so that no address is used twice.
        self._alive: Final[list[object]] = []

    def read(self, value: Any) -> None:
        """Read a value and all below it, without recursion."""
        parts, places, waiting = self.parts, self._places, [value]
        while waiting:
            one = waiting.pop()
            kind = type(one)
            if kind in _PLAIN:
                parts.append(repr(one))
            elif (place := places.get(id(one))) is not None:
                parts.append(f"@{place}")
            elif isinstance(one, type):
                parts.append(one.__qualname__)
            else:
                places[id(one)] = len(places)
                self._alive.append(one)
                parts.append(kind.__name__)
                waiting.extend(_below(one, kind))


def _below(one: Any, kind: type) -> list[Any]:  # noqa: PLR0911  # one for each kind
    """Return what an object consists of."""
    if kind is list or kind is tuple or kind is deque:
        return [len(one), *one]
    if kind.__module__ == "_thread":  # a lock: held by nobody between two actions
        return []
    if kind.__module__ not in _BUILT_IN and not isinstance(one, BaseException):
        return _attributes(one, kind)
    match one:
        case dict():
            return [len(one), *(part for pair in one.items() for part in pair)]
        case set() | frozenset():
            return sorted(map(repr, one))
        case MethodType():
            return [one.__func__.__qualname__, one.__self__]
        case FunctionType():
            return [one.__qualname__, [_inside(cell) for cell in one.__closure__ or ()], one.__defaults__]
        case BuiltinFunctionType():
            return [one.__qualname__]
        case BaseException():
            return [str(one)]
        case _:
            return [repr(one)]


#: Where the classes of Python itself are.
_BUILT_IN: Final = frozenset({"builtins", "collections", "types"})


def _inside(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None


@cache
def _names(kind: type) -> tuple[str, ...] | None:
    """Return the slots of a class that count; None where its objects count by their class."""
    if kind.__module__.startswith(_SHARED):
        return None
    names: list[str] = []
    for cls in kind.__mro__:
        slots = cls.__dict__.get("__mypyc_attrs__", cls.__dict__.get("__slots__", ()))
        names += [slots] if isinstance(slots, str) else slots
    return tuple(name for name in names if name not in _LEFT_OUT)


def _attributes(one: Any, kind: type) -> list[Any]:
    names = _names(kind)
    if names is None:
        return []
    found: list[Any] = [getattr(one, name, None) for name in names]
    if _VALUES_ONLY in names:
        found = [list(value.values()) if isinstance(value, dict) else value for value in found]
    inner = getattr(one, "__dict__", None)
    if inner:
        found += [part for name, value in inner.items() if name not in _LEFT_OUT for part in (name, value)]
    if hasattr(one, "tobytes"):
        found += [str(getattr(one, "dtype", "")), getattr(one, "shape", ()), one.tobytes()]
    elif not names and inner is None:
        found.append(repr(one))
    return found
