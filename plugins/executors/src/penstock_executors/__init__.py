"""The executors: on which threads the nodes of a graph run. Graphs name them; packs derive others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_executors.shared_pool import SharedThreadPoolExecutor as SharedThreadPoolExecutor
    from penstock_executors.thread_pool import ThreadPoolExecutor as ThreadPoolExecutor

if not TYPE_CHECKING:  # type checkers know the import above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(
        __name__,
        {
            "penstock_executors.shared_pool": "SharedThreadPoolExecutor",
            "penstock_executors.thread_pool": "ThreadPoolExecutor",
        },
    )
