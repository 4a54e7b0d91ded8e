"""What a graph's `profiler_config { trace_enabled: true }` needs of the pack that writes traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import os

    from penstock.tracing.tracer import Tracer


class OwnTrace(Protocol):
    """The trace that a graph asks for itself. A component of the kind "tracer" makes one for each graph.

    The component is called with the graph's ProfilerConfig message and raises `InvalidArgumentError` where
    that holds a value that cannot be.
    """

    @property
    def tracer(self) -> Tracer:
        """The tracer of the graph's runs."""

    def allow(self, directory: str | os.PathLike[str] | None) -> None:
        """Let the runs write files below a directory; None: nowhere. Not called during a run.

        Raises:
            InvalidArgumentError: it is no directory, or the graph's `trace_log_path` leads out of it.
        """

    def prepare_run(self) -> None:
        """Make ready for the next run; called before each one that the tracer is used in."""
