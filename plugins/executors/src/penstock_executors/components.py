"""The components of penstock_executors by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

EXECUTORS: Final[Mapping[str, str]] = {
    "ApplicationThreadExecutor": "penstock_executors.application_thread:ApplicationThreadExecutor",
    "LowPriorityThreadPoolExecutor": "penstock_executors.low_priority:LowPriorityThreadPoolExecutor",
    "SharedThreadPoolExecutor": "penstock_executors.shared_pool:SharedThreadPoolExecutor",
    "SingleThreadExecutor": "penstock_executors.thread_pool:SingleThreadExecutor",
    "ThreadPoolExecutor": "penstock_executors.thread_pool:ThreadPoolExecutor",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.SharedThreadPoolExecutorOptions": ("penstock.MediaPipeOptions", 20303, "penstock_executors.messages.shared_pool_pb2:SharedThreadPoolExecutorOptions"),
    "penstock.ThreadPoolExecutorOptions": ("penstock.MediaPipeOptions", 157116819, "penstock_executors.messages.thread_pool_pb2:ThreadPoolExecutorOptions"),
}
