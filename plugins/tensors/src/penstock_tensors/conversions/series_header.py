"""The header of a series of samples, where a stream has a complete one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_formats import TimeSeriesHeader

if TYPE_CHECKING:
    from penstock import Input


def complete_header(port: Input) -> TimeSeriesHeader | None:
    """Return the TimeSeriesHeader of a stream; None where it has none, or lacks the rate or the channels."""
    header = port.header
    if header.is_empty() or not isinstance(header.payload, TimeSeriesHeader):
        return None
    found = header.payload
    has_rate = found.HasField("sample_rate") and found.sample_rate >= 0
    return found if has_rate and found.HasField("num_channels") and found.num_channels >= 0 else None
