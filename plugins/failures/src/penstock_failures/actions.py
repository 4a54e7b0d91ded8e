"""What is done about a failure: the actions that a graph may ask for, and `FailureAction`, what was done."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

#: Numbers of `FailurePolicy.Action` in the graph's messages.
FAIL: Final = 0
SKIP: Final = 1
RESTART: Final = 2
FALL_BACK: Final = 3
#: Their names, in this order.
NAMES: Final = ("FAIL", "SKIP", "RESTART", "FALL_BACK")


class FailureAction(StrEnum):
    """What was done about a failure."""

    #: The call is made again for the same input set.
    RETRY = "retry"
    #: The call is made again for the same input set, or for the next, by a new object.
    RESTART = "restart"
    #: The input set was skipped; the same object goes on.
    SKIP = "skip"
    #: The calculator of `fallback` takes over, with this input set.
    FALL_BACK = "fall back"
    #: The run ends.
    FAIL = "fail"
    #: Nothing: an object that was to be replaced anyway could not be closed.
    NONE = "none"
