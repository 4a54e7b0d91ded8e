"""What makes a wrong result no fast one: every contestant checks its own work.

Standard library only, since the peers run in environments without Penstock.
"""

from __future__ import annotations


class WrongResultError(Exception):
    """A contestant has not done the work that is timed. Nothing of the run counts."""


def expect(actual: object, expected: object, what: str) -> None:
    """Raise unless both are equal.

    Raises:
        WrongResultError: names `what`, the actual value and the expected one, cut to some length.
    """
    if actual != expected:
        raise WrongResultError(f"{what}: {_short(actual)}, expected {_short(expected)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 100
