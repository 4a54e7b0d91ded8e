"""What this pack adds to Penstock, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the executors and their options: names to "module:attribute", imported on first use."""
    return Components(
        executors={
            "ThreadPoolExecutor": "penstock_executors.thread_pool:ThreadPoolExecutor",
            "LowPriorityThreadPoolExecutor": "penstock_executors.low_priority:LowPriorityThreadPoolExecutor",
            "SingleThreadExecutor": "penstock_executors.thread_pool:SingleThreadExecutor",
            "ApplicationThreadExecutor": "penstock_executors.application_thread:ApplicationThreadExecutor",
        },
        options={
            "penstock.ThreadPoolExecutorOptions": (
                "penstock.MediaPipeOptions",
                157116819,
                "penstock_executors.thread_pool_executor_pb2:ThreadPoolExecutorOptions",
            ),
        },
    )
