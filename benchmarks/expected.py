"""The checks of results: every contestant checks its own work, so a wrong result is never a fast one.

Standard library only, since the peers run in environments without Penstock.
"""

from __future__ import annotations


class WrongResultError(Exception):
    """A contestant has not done the work that is timed. The run is invalid."""


def expect(actual: object, expected: object, what: str) -> None:
    """Raise unless both are equal.

    Raises:
        WrongResultError: names `what`, the actual value and the expected one, each cut to a maximum length.
    """
    if actual != expected:
        raise WrongResultError(f"{what}: {_short(actual)}, expected {_short(expected)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 100
