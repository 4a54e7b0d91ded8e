"""Where a rule of a template applies: paths, and the rules as a tree of sites.

A path leads from the graph to a field's value: "/1[0]/2[0]" is field 1, its first value, and in it field 2.
A map's value has a key instead of an index: "/5[@1=left]", where 1 is the number of the key's field. Source:
MediaPipe `tool/template_parser`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from penstock.error_text import quoted
from penstock.errors import InvalidArgumentError
from penstock.limits import current

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.readers import Message

# A key may hold brackets and slashes: it ends where the next step begins, or the text ends.
# Nine digits are more than any number has, and Python does not read thousands.
_STEP: Final = re.compile(
    r"/?([0-9]{1,9})\[(?:([0-9]{1,9})|@[0-9]+=(.*?))\](?=/[0-9]+\[|$)", re.ASCII | re.DOTALL
)
#: The number of the key in the entry of a map. Source: protobuf's documentation.
KEY: Final = 1
_DIRECTIVES: Final = ("for", "if")
#: Rule → how many arguments it may have.
_COUNTS: Final = {"param": (1, 2), "for": (2,), "if": (1,)}


class Step(NamedTuple):
    """One step of a path: the number of a field, and which of its values."""

    #: The number of the field.
    number: int
    #: Counted from 0.
    position: int
    #: The key of a map's value, which has no position; else None.
    key: str | None = None


@attrs.define(eq=False)
class Site:
    """A value of a field that rules apply to."""

    #: From the graph.
    path: tuple[Step, ...]
    #: Positions of its rules: "for" and "if", outermost first; the last may be an expression.
    rules: list[int] = attrs.field(factory=list)
    #: Those inside it, in the order of the text.
    sites: list[Site] = attrs.field(factory=list)


def spelled_path(steps: Iterable[Step]) -> str:
    """Return the text of a path, which `path_of` reads."""
    return "".join(
        f"/{one.number}[{one.position}]" if one.key is None else f"/{one.number}[@{KEY}={one.key}]"
        for one in steps
    )


def path_of(text: str) -> tuple[Step, ...]:
    """Return a path as steps.

    Raises:
        InvalidArgumentError: the text is no path.
    """
    steps = []
    offset = 0
    while offset < len(text):
        match = _STEP.match(text, offset)
        if match is None:
            raise InvalidArgumentError(
                f"path {quoted(text)}: this is no path; a path looks like '/1[0]/2[0]'"
            )
        number, index, key = match.groups()
        steps.append(Step(int(number), int(index or 0), key))
        offset = match.end()
    return tuple(steps)


def sites_of(rules: Sequence[Message]) -> tuple[list[int], Site]:
    """Return the rules of a template as a tree.

    Returns:
        The positions of the declarations, and a site for the whole graph.

    Raises:
        InvalidArgumentError: the rules do not follow the order of the graph.
    """
    declarations: list[int] = []
    root = Site(())
    way = [root]
    most = current().depth
    for position, rule in enumerate(rules):
        if rule.op == "param":
            declarations.append(position)
            continue
        path = path_of(rule.path)
        while len(way) > 1 and path[: len(way[-1].path)] != way[-1].path:
            way.pop()
        is_last = len(way) > 1 and rules[way[-1].rules[-1]].op not in _DIRECTIVES
        if len(path) > len(way[-1].path) and not is_last:
            before = way[-1].sites[-1].path if way[-1].sites else ()
            if before[: len(path)] == path:
                raise InvalidArgumentError(
                    f"rule {position}: its path {quoted(rule.path)} is around that of an earlier rule; in a "
                    "template the outer rule comes first"
                )
            site = Site(path)
            way[-1].sites.append(site)
            way.append(site)
        elif len(way) == 1 or way[-1].sites or is_last:
            raise InvalidArgumentError(
                f"rule {position}: its path {quoted(rule.path)} is where another rule ended"
            )
        way[-1].rules.append(position)
        if len(way[-1].rules) > most + 1:
            raise InvalidArgumentError(
                f"rule {position}: its path has more than {most} rules of the template around one field"
            )
    return declarations, root


def check_count(rule: Message) -> None:
    """Check the number of arguments of a "param", "for" or "if": messages may come from elsewhere.

    Raises:
        InvalidArgumentError: the number is wrong.
    """
    counts = _COUNTS.get(rule.op)
    if counts is not None and len(rule.arg) not in counts:
        takes = " or ".join(map(str, counts))
        raise InvalidArgumentError(
            f"the template's rule {rule.op!r} has {len(rule.arg)} arguments; it takes {takes}"
        )
