"""Which tests are asked about a mutant: the tests of its module, then the tests of its layer or pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENGINE: Final = "core/tests/engine"
_RUNTIME: Final = "core/tests/runtime"
#: Properties over random graphs: they notice much, and take as long as all the rest.
_SLOW: Final = ("core/tests/engine/test_model.py", "core/tests/engine/test_port_tags.py")

_CORE: Final = "core/src/penstock/"
#: Folders with tests that are asked.
FOLDERS: Final = (
    "core/tests",
    "plugins/failures/tests",
    "plugins/remote/tests/both",
    "plugins/remote/tests/processes",
    "plugins/remote/tests/remote",
    "plugins/stream-handlers/tests",
)
#: Leaves out what takes longest; it comes last.
_LIGHT: Final = ("-m", "not heavy and not slow and not timing and not wheels")

#: Module below `core/src/penstock` → files of tests that are about it, without folder and "test_".
_FIRST: Final[dict[str, str]] = {
    "engine/calculator": "context failing services option_classes",
    "engine/deadlock": "sources throttling",
    "engine/faults": "failing output ending",
    "engine/flow": "flow throttling",
    "engine/guard": "guard",
    "engine/input_port": "context input_stream_handler batching",
    "engine/input_stream_handler": "input_stream_handler bounds batching patience",
    "engine/invoker": "invoker guard tracing",
    "engine/layer": "invoker guard tracing",
    "engine/leaps": "leaps",
    "engine/methods": "invoker failing",
    "engine/native": "context",
    "engine/node": "opening bounds in_flight ending light_steps",
    "engine/outcome": "failing ending",
    "engine/output_port": "output bounds failing",
    "engine/packet": "packet",
    "engine/run_state": "turn ending",
    "engine/schedule": (
        "batching bounds ending failing in_flight observing opening sources throttling turn patience"
    ),
    "engine/scheduler_queue": "scheduler_queue sources",
    "engine/shortcuts": "turn bounds in_flight observing light_steps model",
    "engine/shown_call": "shown_call",
    "engine/stand_in": "invoker",
    "engine/step": "opening in_flight light_steps",
    "engine/stream": "stream observing ledger",
    "runtime/adding_packets": "adding sending",
    "runtime/awaiting": "running event_loop waiting",
    "runtime/build": "runs running services side_packets",
    "runtime/claims": "calls_from_threads",
    "runtime/threads": "starved_threads",
    "runtime/counters": "services running",
    "runtime/event_loops": "event_loop deferred",
    "runtime/executors": "executors dying_executors queue_work",
    "runtime/forgotten": "endings running",
    "runtime/graph": "running runs waiting side_packets observers services byte_limit reference_services",
    "runtime/made_services": "services",
    "runtime/graph_input_modes": "adding running",
    "runtime/new_run": "services side_packets running",
    "runtime/node_services": "services side_packets",
    "runtime/notebook": "notebook",
    "runtime/placing": "executors",
    "runtime/poller": "observers running",
    "runtime/report": "snapshot why",
    "runtime/row_desk": "rows",
    "runtime/rows": "rows",
    "runtime/runner": "queue_work running waiting dying_executors hostile_exceptions",
    "runtime/runner/byte_limit": "byte_limit",
    "runtime/runner/clock": "hostile_exceptions timer",
    "runtime/runner/deferred": "deferred dying_executors endings sending",
    "runtime/runner/locked": "queue_work waiting sending running dying_executors interrupts",
    "runtime/runner/queue_work": "queue_work light_steps sending running interrupts",
    "runtime/runner/runner": "endings runs running dying_executors hostile_exceptions executors",
    "runtime/runner/shortcuts": "light_steps queue_work running",
    "runtime/runner/stuck_moments": "stuck_moments",
    "runtime/runner/timer": "timer byte_limit",
    "runtime/runner/waiting": "queue_work waiting running",
    "runtime/running": "running runs",
    "runtime/side_packets": "side_packets",
    "runtime/graph_runs": "log endings runs running services dying_executors",
    "runtime/steering": "services",
    "runtime/steering_layer": "services",
    "runtime/tracing": "tracing own_trace",
    "runtime/run_view": "snapshot why",
}


_BOTH: Final = "plugins/remote/tests/both/test_remote_executors.py"
#: Module of a pack, or folder of modules, relative to the root → folder of its tests, and the files there
#: that are about it, without "test_".
_OF_PACKS: Final[dict[str, tuple[str, str]]] = {
    "plugins/failures/src/penstock_failures": ("plugins/failures/tests", "policies checks"),
    "plugins/failures/src/penstock_failures/policy_check": ("plugins/failures/tests", "checks waits"),
    "plugins/failures/src/penstock_failures/guard": ("plugins/failures/tests", "policies waits"),
    "plugins/failures/src/penstock_failures/policy": ("plugins/failures/tests", "checks policies"),
    "plugins/failures/src/penstock_failures/waiting": ("plugins/failures/tests", "waits"),
    "plugins/remote/src/penstock_processes": ("plugins/remote/tests/processes", f"same_as_threads {_BOTH}"),
    "plugins/remote/src/penstock_processes/health": ("plugins/remote/tests/processes", "workers"),
    "plugins/remote/src/penstock_processes/plain_payloads": ("plugins/remote/tests/processes", "arena"),
    "plugins/remote/src/penstock_processes/parcels": ("plugins/remote/tests/processes", "parcels"),
    "plugins/remote/src/penstock_processes/arena": ("plugins/remote/tests/processes", "arena parcels"),
    "plugins/remote/src/penstock_processes/channel": ("plugins/remote/tests/processes", "channel outbox"),
    "plugins/remote/src/penstock_remote": ("plugins/remote/tests/remote", f"remote regions {_BOTH}"),
    "plugins/remote/src/penstock_remote/increases": ("plugins/remote/tests/remote", "increases"),
    "plugins/remote/src/penstock_remote/joined_nodes": (
        "plugins/remote/tests/remote",
        "joined_nodes regions",
    ),
    "plugins/remote/src/penstock_remote/killers": ("plugins/remote/tests/remote", "killers"),
    "plugins/stream-handlers/src/penstock_stream_handlers": (
        "plugins/stream-handlers/tests",
        "choice short_queues blocking why",
    ),
}
#: Folder of a pack's tests → where else its modules are tested.
_FURTHER: Final = {
    "plugins/failures/tests": [["plugins/failures/tests"]],
    "plugins/remote/tests/remote": [
        [*_LIGHT, "plugins/remote/tests/processes"],
        ["plugins/remote/tests/processes"],
    ],
    "plugins/remote/tests/processes": [["plugins/remote/tests/processes"]],
    "plugins/stream-handlers/tests": [["tests/conformance"]],
}


def stages(path: str, files: set[str]) -> list[list[str]]:
    """Return the arguments of pytest, one list for each call: the next is made where all before have passed.

    Args:
        path: the module, relative to the root.
        files: the tests that exist, relative to the root.

    Raises:
        ValueError: the module is not in the tables.
    """
    module = path.removesuffix(".py")
    if path.startswith(_CORE):
        return _of_core(module.removeprefix(_CORE), files)
    folder, words = _OF_PACKS[_key(module, _OF_PACKS)]
    own = f"{folder}/test_{module.rpartition('/')[2]}.py"
    first = [own, *(word if "/" in word else f"{folder}/test_{word}.py" for word in words.split())]
    first = [path for path in dict.fromkeys(first) if path in files]
    return [first, [*_LIGHT, folder, *(f"--ignore={path}" for path in first)], *_FURTHER[folder]]


def _key(module: str, table: Iterable[str]) -> str:
    key = max((key for key in table if f"{module}/".startswith(f"{key}/")), key=len, default=None)
    if key is None:
        raise ValueError(f"no tests are known for {module!r}: give it a line in scripts/mutation/tests_of.py")
    return key


def _of_core(module: str, files: set[str]) -> list[list[str]]:
    key = _key(module, _FIRST)
    first = [
        path
        for word in _FIRST[key].split()
        for path in (f"{_ENGINE}/test_{word}.py", f"{_RUNTIME}/test_{word}.py", f"core/tests/test_{word}.py")
        if path in files
    ]
    left_out = [f"--ignore={path}" for path in _SLOW if path in files]
    deselected = [f"--ignore={path}" for path in first]
    folders = [_ENGINE, _RUNTIME] if key.startswith("engine/") else [_RUNTIME, _ENGINE]
    slow: list[str] = [path for path in _SLOW if path in files and path not in first]
    return [one for one in (first, [*folders, *left_out, *deselected], slow, ["tests/conformance"]) if one]
