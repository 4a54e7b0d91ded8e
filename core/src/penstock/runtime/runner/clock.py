"""Reading the graph's clock, which may be the application's."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from penstock.errors import PenstockError, code_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable


def read_clock(clock: Callable[[], float]) -> float:
    """Return what a clock says, in seconds.

    Raises:
        PenstockError: the clock raised, or returned no finite number.
    """
    try:
        read = float(clock())
    except Exception as error:
        raise PenstockError(f"the graph's clock failed: {words_of(error)}", code=code_of(error)) from error
    if isfinite(read):
        return read
    raise PenstockError(f"the graph's clock returned {read}, which is no time in seconds")
