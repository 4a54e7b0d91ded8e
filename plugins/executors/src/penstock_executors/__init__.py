"""The executors: on which threads the nodes of a graph run.

`BorrowedExecutor` runs nodes on a `concurrent.futures` pool of the application; a graph makes one for a pool
that `set_executor` hands it. Graphs name the other executors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.lowlevel import late_names

if TYPE_CHECKING:
    from penstock_executors.borrowed import BorrowedExecutor as BorrowedExecutor

if not TYPE_CHECKING:  # type checkers know the import above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, {"penstock_executors.borrowed": "BorrowedExecutor"})
