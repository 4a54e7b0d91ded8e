"""Numbers as readable text: bytes, durations, rates."""

from __future__ import annotations

from typing import Final

_STEP: Final = 1000
_MINUTE_S: Final = 60.0
_UNITS: Final = ((1.0, "s"), (1e3, "ms"), (1e6, "us"))


def amount(count: int) -> str:
    """Return bytes in decimal units: "999 B", "1.5 kB", "38.7 MB"."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < _STEP:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= _STEP
    return f"{value:.1f} TB"


def duration(seconds: float) -> str:
    """Return a duration in three digits: "0 s", "12.3 us", "1.64 ms", "2.00 s", "3 min 07 s"."""
    if seconds >= _MINUTE_S:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    if seconds <= 0:
        return "0 s"
    value, unit = next(
        (seconds * factor, unit) for factor, unit in _UNITS if seconds * factor >= 1 or unit == "us"
    )
    digits = 2 if value < 10 else 1 if value < 100 else 0  # noqa: PLR2004  # three digits in all
    return f"{value:.{digits}f} {unit}"


def clock(seconds: float) -> str:
    """Return elapsed time as a clock shows it: "0:03", "12:40", "1:02:03"."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def rate(per_second: float) -> str:
    """Return a rate with one decimal below a thousand, none above: "44.1/s", "12,345/s"."""
    return f"{per_second:,.0f}/s" if per_second >= _STEP else f"{per_second:.1f}/s"


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: "1 packet", "1,200 packets"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
