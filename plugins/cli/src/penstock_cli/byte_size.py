"""Sizes of memory as options: "200MB", "1.5GiB", "none"."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from typing import Any

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_PREFIXES: Final = ("", "k", "m", "g", "t")


class ByteSize(click.ParamType):
    """A number of bytes with a unit; "none" is math.inf."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the bytes that a text says."""
        if not isinstance(value, str):
            return float(value)
        if value.casefold() == "none":
            return float("inf")
        found = _SIZE.fullmatch(value.strip())
        if found is None:
            self.fail(
                f"{value!r} is no size; give a number with a unit, such as 200MB or 1.5GiB, or none",
                param,
                ctx,
            )
        number, prefix, binary = found.groups()
        size = int(float(number) * (1024 if binary else 1000) ** _PREFIXES.index(prefix.lower()))
        if size < 1:
            self.fail(f"{value!r} is less than a byte; none is no limit", param, ctx)
        return size


def half_of_memory() -> float:
    """Return half of the machine's memory in bytes; infinity where the system does not tell it."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):  # no sysconf on Windows, or not these names
        return float("inf")
    return size if size > 0 else float("inf")
