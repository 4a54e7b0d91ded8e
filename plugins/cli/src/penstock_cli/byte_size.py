"""Sizes of memory as options: "200MB", "1.5GiB", "none"."""

from __future__ import annotations

import re
from typing import Final

import click

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_PREFIXES: Final = ("", "k", "m", "g", "t")


def read_size(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    """Return the bytes that the text of an option says; infinity for "none".

    Raises:
        click.BadParameter: it is no size.
    """
    if value is None:
        return None
    if value.casefold() == "none":
        return float("inf")
    found = _SIZE.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(
            f"{value!r} is no size; give a number with a unit, such as 200MB or 1.5GiB, or none"
        )
    number, prefix, binary = found.groups()
    size = int(float(number) * (1024 if binary else 1000) ** _PREFIXES.index(prefix.lower()))
    if size < 1:
        raise click.BadParameter(f"{value!r} is less than a byte; none is no limit")
    return size


def half_of_memory() -> float:
    """Return half of the machine's memory in bytes; infinity where the system does not tell it."""
    from penstock.runtime.runner import byte_limit  # on demand

    return byte_limit.half_of_memory()
