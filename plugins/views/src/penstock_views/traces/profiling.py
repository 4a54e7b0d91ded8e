"""The trace that a graph's `profiler_config` asks for.

`trace_enabled` makes a `ChromeTracer`; `trace_log_capacity` and `trace_event_types_disabled` say what it
keeps. A graph file is data, so it does not choose where files are written: `trace_log_path` is relative to
the directory that the application allows with `graph.set_trace_directory`, and nowhere else. There the
files are called `<trace_log_path><number>.json`, `trace_log_count` of them in turn, one for each run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError
from penstock.log import get_logger
from penstock.lowlevel import Resources
from penstock_views.traces.chrome_tracer import ChromeTracer

if TYPE_CHECKING:
    import os
    from pathlib import Path

_LOG: Final = get_logger("tracing")

#: The reference's values where the graph gives none; see semantics of ProfilerConfig.
_CAPACITY: Final = 20_000
_COUNT: Final = 2
_PREFIX: Final = "penstock_trace_"
#: GraphTrace.EventType of the reference → its name in `ChromeTracer`. Others are never recorded.
_KINDS: Final = {1: "open", 2: "process", 3: "close", 7: "throttled", 8: "unthrottled", 15: "queues"}


class ConfiguredTrace:
    """The trace that a graph's `profiler_config` asks for; a `penstock.tracing.OwnTrace`.

    Args:
        wanted: the ProfilerConfig message; `trace_enabled` is true.
    """

    def __init__(self, wanted: Any) -> None:
        capacity = wanted.trace_log_capacity or _CAPACITY
        if capacity < 0:
            raise InvalidArgumentError(
                f"profiling: trace_log_capacity {capacity} of the graph's profiler_config must be at least "
                f"1, or 0 for {_CAPACITY}"
            )
        left_out = {_KINDS[number] for number in wanted.trace_event_types_disabled if number in _KINDS}
        #: The tracer that records.
        self.tracer: Final[ChromeTracer] = ChromeTracer(capacity=capacity, leave_out=left_out)
        self._is_written: Final = not wanted.trace_log_disabled
        self._prefix: Final[str] = wanted.trace_log_path or _PREFIX
        self._count: Final = max(wanted.trace_log_count, 0) or _COUNT
        self._directory: Resources | None = None
        self._runs = 0
        self._has_warned = False

    def allow(self, directory: str | os.PathLike[str] | None) -> None:
        """Let files be written below a directory; None: nowhere.

        Raises:
            InvalidArgumentError: it is no directory, or `trace_log_path` leads out of it.
        """
        allowed = None if directory is None else Resources([directory])
        if allowed is not None and self._is_written:
            self._file(allowed)
        self._directory = allowed

    def prepare_run(self) -> None:
        """Choose the file of the next run; warn, once, where it may not be written."""
        if not self._is_written:
            return
        if self._directory is not None:
            self.tracer.path = self._file(self._directory)
            self._runs += 1
            return
        self.tracer.path = None
        if not self._has_warned:
            self._has_warned = True
            _LOG.warning(
                "the graph's profiler_config asks for trace files %r, but a graph file does not choose where "
                "files are written; allow a directory with graph.set_trace_directory(), or write the trace "
                "yourself with graph.tracer.write(), or run the graph with `penstock run --trace FILE`",
                f"{self._prefix}*.json",
            )

    def _file(self, allowed: Resources) -> Path:
        name = f"{self._prefix}{self._runs % self._count}.json"
        try:
            return allowed.resolve(name, must_exist=False)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                f"trace_log_path {self._prefix!r} of the graph's profiler_config does not lead to a file "
                f"below {str(allowed.roots[0])!r}; write it relative to that directory, or set "
                "trace_log_disabled"
            ) from error
