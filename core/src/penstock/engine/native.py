"""What the compiler of the engine needs to know and types alone do not say.

The engine can be compiled by mypyc, see docs/how-to/compile-the-engine.md. In plain Python the
marks mean nothing; `mypy_extensions`, by whose name the compiler knows them, is then not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from mypy_extensions import mypyc_attr as mypyc_attr  # noqa: PLC0414  # forwarded

    T = TypeVar("T")
else:

    def mypyc_attr(**_marks: bool) -> Callable[[T], T]:
        """Mark a class for the compiler: with `allow_interpreted_subclasses` others may subclass it."""
        return lambda cls: cls
