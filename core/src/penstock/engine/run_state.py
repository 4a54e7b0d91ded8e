"""The states of a run, and of its `Schedule`."""

from __future__ import annotations

from typing import Final

NOT_STARTED: Final = 0
RUNNING: Final = 1
PAUSED: Final = 2
TERMINATED: Final = 3
#: By state, as a user reads it.
RUN_STATES: Final = ("not started", "running", "paused", "over")
