"""Which tests are asked about a mutant: the tests of its module, then the rest."""

from __future__ import annotations

from typing import Final

_ENGINE: Final = "core/tests/engine"
_RUNTIME: Final = "core/tests/runtime"
#: Properties over random graphs: they notice much, and take as long as all the rest.
_SLOW: Final = ("core/tests/engine/test_model.py", "core/tests/engine/test_tags.py")

#: Module below `core/src/penstock` → files of tests that are about it, without folder and "test_".
_FIRST: Final[dict[str, str]] = {
    "engine/calculator": "context failing services option_classes",
    "engine/faults": "failing output ending",
    "engine/flow": "flow throttling",
    "engine/guard": "guard",
    "engine/input": "context input_stream_handler batching",
    "engine/input_stream_handler": "input_stream_handler bounds batching patience",
    "engine/invoker": "invoker guard tracing",
    "engine/native": "context",
    "engine/node": "opening bounds in_flight ending light_steps",
    "engine/output": "output bounds failing",
    "engine/packet": "packet",
    "engine/schedule": "bounds ending failing in_flight observing opening sources throttling turn patience",
    "engine/scheduler_queue": "scheduler_queue sources",
    "engine/shortcuts": "turn bounds in_flight observing light_steps model",
    "engine/shown_call": "shown_call",
    "engine/stand_in": "invoker",
    "engine/stream": "stream observing ledger",
    "runtime/adding": "adding sending",
    "runtime/awaiting": "event_loop waiting",
    "runtime/build": "running services side_packets",
    "runtime/counters": "services running",
    "runtime/event_loops": "event_loop deferred",
    "runtime/executors": "executors dying_executors",
    "runtime/forgotten": "endings running",
    "runtime/graph": "running runs waiting side_packets observers",
    "runtime/made_services": "services",
    "runtime/modes": "adding running",
    "runtime/new_run": "services side_packets running",
    "runtime/node_services": "services side_packets",
    "runtime/notebook": "notebook",
    "runtime/placing": "executors",
    "runtime/poller": "observers running",
    "runtime/report": "runs own_trace",
    "runtime/row_desk": "rows",
    "runtime/rows": "rows",
    "runtime/runner": "queue_work running waiting timer stuck_moments dying_executors hostile_exceptions",
    "runtime/running": "running runs",
    "runtime/side_packets": "side_packets",
    "runtime/start": "endings running services dying_executors",
    "runtime/steering": "services",
    "runtime/steering_layer": "services",
    "runtime/tracing": "tracing own_trace",
    "runtime/view": "snapshot why",
}


def stages(module: str, files: set[str]) -> list[list[str]]:
    """Return the arguments of pytest, one list for each call: the next is made where all before have passed.

    Args:
        module: path below `core/src/penstock`, without ".py".
        files: the tests that exist, relative to the root.

    Raises:
        ValueError: the module is not in the table.
    """
    key = max((key for key in _FIRST if f"{module}/".startswith(f"{key}/")), key=len, default=None)
    if key is None:
        raise ValueError(f"no tests are known for {module!r}: give it a line in scripts/mutation/tests_of.py")
    first = [
        path
        for word in _FIRST[key].split()
        for path in (f"{_ENGINE}/test_{word}.py", f"{_RUNTIME}/test_{word}.py")
        if path in files
    ]
    left_out = [f"--ignore={path}" for path in _SLOW if path in files]
    deselected = [f"--ignore={path}" for path in first]
    folders = [_ENGINE, _RUNTIME] if key.startswith("engine/") else [_RUNTIME, _ENGINE]
    slow: list[str] = [path for path in _SLOW if path in files and path not in first]
    return [one for one in (first, [*folders, *left_out, *deselected], slow, ["tests/conformance"]) if one]
