"""Checks of numbers in the options of this pack."""

from __future__ import annotations

from penstock.errors import InvalidArgumentError


def check_share(name: str, value: float) -> None:
    """Accept a number from 0 to 1.

    Raises:
        InvalidArgumentError: it is another one.
    """
    if not 0 <= value <= 1:
        raise InvalidArgumentError(f"penstock_detect option {name} is {value:g}, but must be from 0 to 1")


def check_least(name: str, value: int, least: int) -> None:
    """Accept a whole number that is not too small.

    Raises:
        InvalidArgumentError: it is below `least`.
    """
    if value < least:
        raise InvalidArgumentError(f"penstock_detect option {name} is {value}, but must be {least} or more")
