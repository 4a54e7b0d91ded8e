"""The trace that a graph asks for itself, made by the pack that writes traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.errors import UnknownNameError

if TYPE_CHECKING:
    from penstock.plan import Plan
    from penstock.registry import Registry
    from penstock.tracing.own import OwnTrace

_KIND: Final = "tracer"
#: A graph's `profiler_config` names no tracer; this one is meant.
_NAME: Final = "ChromeTracer"


def own_trace(plan: Plan, registry: Registry | None = None) -> OwnTrace | None:
    """Return the trace that a graph's `profiler_config` asks for; None where it asks for none.

    Args:
        plan: of the graph.
        registry: the graph's own; where it has no tracer, or is None, the default registry is asked.

    Raises:
        UnknownNameError: no installed pack brings the tracer; names the distribution to install.
        PluginError: the tracer's module cannot be imported.
        InvalidArgumentError: `profiler_config` holds a value that cannot be.
    """
    wanted = plan.config.profiler_config
    if not wanted.trace_enabled:
        return None
    if registry is None or not registry.has(_KIND, _NAME):
        from penstock.plugins.default_registry import default_registry  # loads the plugins

        registry = default_registry()
    try:
        make: Any = registry.find(_KIND, _NAME)
    except UnknownNameError as error:
        raise error.placed("the graph's profiler_config has trace_enabled: ") from None
    trace: OwnTrace = make(wanted)
    return trace
