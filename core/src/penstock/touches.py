"""What a contract says that its node touches outside of the graph; `penstock.access` says what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError
from penstock.record import NamedTuple
from penstock.redacting import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: What a contract declares → the verb of messages, the option that allows it, and the noun of messages.
KINDS: Final = {
    "reads": ("read", "--allow-read DIR", "the file "),
    "writes": ("write", "--allow-write DIR", "the file "),
    "connects": ("connect to", "--allow-connect HOST:PORT", "the address "),
    "devices": ("use the device", "--allow-device NAME", ""),
    "runs": ("run", "--allow-run NAME", "the program "),
}


class Searched(str):
    """The name of a file that is searched in several places, such as a model; a path if it is absolute."""

    __slots__ = ()


class SearchedPort(NamedTuple):
    """A port of a contract whose payload is the name of a file that is searched as `Searched` is."""

    port: Any


class Touch(NamedTuple):
    """One thing that a node touches."""

    #: A key of `KINDS`.
    kind: str
    #: A path, an address (`penstock.access.redacted`), a name; "" where it is not known before the run.
    what: str
    #: Where that comes from: "options", "side packet PATH", "input NAME".
    source: str = "options"
    #: Whether it is `Searched`, or what a `SearchedPort` says.
    is_searched: bool = False

    def __str__(self) -> str:
        verb, _, noun = KINDS[self.kind]
        return f"{verb} {self.what!r}" if self.what else f"{verb} {noun}that {self.source} names"


def touches(kind: str, given: Iterable[object], places: Sequence[tuple[str, object]]) -> Iterator[Touch]:
    """Yield what one argument of `CalculatorContract.declare` says; ports not connected say nothing.

    Args:
        kind: a key of `KINDS`.
        given: each a str, or a port whose payload says what, or a `SearchedPort`.
        places: kinds of ports in words, and the `PortSpecs` of the contract.

    Raises:
        InvalidArgumentError: one of `given` is neither.
    """
    if isinstance(given, str):
        raise InvalidArgumentError(
            f"{kind} is the str {given!r}; declare what is touched as a list of paths, names and ports"
        )
    for one in given:
        if isinstance(one, str):
            if one:
                what = redacted(one) if kind == "connects" else one
                yield Touch(kind, what, is_searched=isinstance(one, Searched))
            continue
        is_searched = isinstance(one, SearchedPort)
        spec: Any = one.port if isinstance(one, SearchedPort) else one
        word = next((word for word, specs in places if spec in _of(specs)), None)
        if word is None:
            raise InvalidArgumentError(
                f"{kind}: what is touched, {one!r}, is neither a str nor a port of this node"
            )
        if spec.name:
            tag = f"{spec.tag or spec.index}{f':{spec.index}' if spec.tag and spec.index else ''}"
            yield Touch(kind, "", f"{word} {tag}", is_searched)


def _of(specs: Any) -> list[Any]:
    return [*specs, *specs.unconnected.values()]
