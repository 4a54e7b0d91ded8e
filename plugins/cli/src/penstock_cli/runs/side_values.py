"""Side packets from the command line: `name=value`, where the value is read as JSON if it is valid JSON.

`n=3` is an int, `x=0.5` a float, `on=true` a bool, `v=[1, 2]` a list, `p=in.mp4` a str. Quotes make
a number a str: `p='"3"'`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click

from penstock.error_text import did_you_mean
from penstock.errors import PacketTypeError, PenstockError, StatusCode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

#: The value of a side packet of which only the name was given.
UNSAID: Final = object()


def read_sides(given: Iterable[str]) -> dict[str, object]:
    """Return name → payload of all `name=value` arguments.

    Raises:
        click.BadParameter: one has no "=" or no name, or a name is given twice.
    """
    sides: dict[str, object] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{one!r}: must be NAME=VALUE, such as input_video=in.mp4")
        if name in sides:
            raise click.BadParameter(f"side packet {name!r} is given twice by --side; give one value")
        sides[name] = read_value(value)
    return sides


def read_given(given: Iterable[str]) -> dict[str, object] | None:
    """Return name → payload of arguments `name=value` and `name`, the latter with `UNSAID`; None for none.

    Raises:
        click.BadParameter: as `read_sides`.
    """
    given = list(given)
    bare = [one for one in given if one and "=" not in one]
    sides = read_sides([one for one in given if one not in bare])
    for name in bare:
        if name in sides:
            raise click.BadParameter(f"side packet {name!r} is given twice by --side; give one value")
        sides[name] = UNSAID
    return sides if given else None


def read_value(text: str) -> object:
    """Return the value of JSON text, else `text` itself. NaN and Infinity stay text."""
    try:
        value: object = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return value


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def check_names(given: Collection[str], known: Collection[str]) -> None:
    """Refuse side packets that the graph does not have; a run would ignore them.

    Raises:
        click.BadParameter: names the first of them, and suggests similar names.
    """
    for name in given:
        if name not in known:
            there = ", ".join(map(repr, sorted(known))) or "none"
            hint = did_you_mean(name, known, 1) or f"; the graph's side packets: {there}"
            raise click.BadParameter(
                f"a side value is given, but the graph has no side packet {name!r}{hint}"
            )


def fault_words(fault: PenstockError, sides: Mapping[str, object]) -> str:
    """Return the fault of a side packet, in terms of the command line."""
    name = fault.stream
    given = sides.get(name or "")
    takes_str = "str" in str(fault).rpartition(" expects ")[2].split()
    if isinstance(fault, PacketTypeError) and takes_str and isinstance(given, (int, float)):
        text = json.dumps(given)
        return f"{fault}; for a str write --side '{name}=\"{text}\"'"
    if fault.code is StatusCode.INVALID_ARGUMENT and name not in sides:
        return f"node {fault.node!r} needs the side packet {name!r}; give it with --side {name}=VALUE"
    return str(fault)
