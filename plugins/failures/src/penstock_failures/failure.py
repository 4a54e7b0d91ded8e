"""`Failure`: one failed call of a calculator, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from penstock import Timestamp
    from penstock_failures.actions import FailureAction


@attrs.frozen
class Failure:
    """One failed call. It holds no exception, so that it keeps no packet alive."""

    #: Its name.
    node: str
    #: The registered name of the calculator that failed: the node's own, or its fallback.
    calculator: str
    #: "open", "process" or "close".
    method: str
    #: The timestamp of the input set; None for sources, and for methods other than `process`.
    timestamp: Timestamp | None
    #: The name of the exception's class.
    kind: str
    #: What it says and where it was raised: "KeyError: 'x' (at gate.py:41 in process)".
    error: str
    #: As Python prints it; "" where the call had no exception of its own.
    traceback: str = attrs.field(repr=False)
    #: How many calls for this input set have failed, this one included.
    tries: int
    #: What was done about it.
    action: FailureAction
    #: When, in nanoseconds since 1970.
    at_ns: int

    def __str__(self) -> str:
        at = "" if self.timestamp is None else f" at {self.timestamp}"
        what = f"node {self.node!r} ({self.calculator}): {self.method}() failed{at}: {self.error}"
        return f"{what}; {self.action} (try {self.tries})"
