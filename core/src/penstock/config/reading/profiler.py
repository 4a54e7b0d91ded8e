"""Which fields of a graph's `profiler_config` have an effect, and why the others have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.config.message import Message

_NO_HISTOGRAM: Final = "the time of calls is added up, not sorted into intervals; a trace has each call"
_NO_LATENCY: Final = "the time of packets on their way is not added up; the arrows of a trace show it"
_AT_THE_END: Final = "a trace is written once, when its run ends"
#: Field → why it has no effect, and what comes nearest; all others have one.
_INSTEAD: Final[Mapping[str, str]] = {
    "histogram_interval_size_usec": _NO_HISTOGRAM,
    "num_histogram_intervals": _NO_HISTOGRAM,
    "enable_input_output_latency": _NO_LATENCY,
    "enable_stream_latency": _NO_LATENCY,
    "use_packet_timestamp_for_added_packet": _NO_LATENCY,
    "trace_log_interval_usec": f"{_AT_THE_END}, as -1 would say",
    "trace_log_margin_usec": _AT_THE_END,
    "trace_log_interval_count": f"{_AT_THE_END}; trace_log_count says how many files there are",
    "trace_log_duration_events": "each step is a slice with its duration",
    "trace_log_instant_events": "a step is one slice, and its packets are arrows",
}
_NEVER: Final = -1


def without_effect(profiler: Message) -> Iterator[tuple[str, str]]:
    """Yield each field that is set and has no effect, with the reason."""
    for field, value in profiler.ListFields():
        is_meant = field.name == "trace_log_interval_usec" and value == _NEVER
        if field.name in _INSTEAD and not is_meant:
            yield field.name, _INSTEAD[field.name]
