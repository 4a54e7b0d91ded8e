"""What one annotation says: a payload type, whether None is allowed, and whether it is a side packet.

Annotations are taken from `typing.get_type_hints`, so that it does not matter whether they are
written as strings (PEP 563) or evaluated late (PEP 649).
"""

from __future__ import annotations

import types
import typing
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import attrs

from penstock.engine.calculator import Stop
from penstock.errors import InvalidArgumentError
from penstock.payload_types import is_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.payload_types import PayloadType

T = TypeVar("T")


class _Side:
    """Marks the annotation of a side packet."""

    def __repr__(self) -> str:
        return "side packet"


_SIDE = _Side()

#: Annotates a keyword-only parameter that is a side packet, or a result that makes one.
SidePacket = Annotated[T, _SIDE]


@attrs.frozen
class Meaning:
    """An annotation, taken apart.

    Attributes:
        type: what a port can declare.
        allows_none: whether None stood beside it.
        is_side: whether it is of a side packet.
        description: the first text in an `Annotated`; "" for none.
    """

    type: PayloadType
    allows_none: bool = False
    is_side: bool = False
    description: str = ""


def hints_of(function: Callable[..., object], who: str) -> Mapping[str, Any]:
    """Return the evaluated annotations of a function, "return" among them.

    Raises:
        InvalidArgumentError: one of them cannot be evaluated.
    """
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise InvalidArgumentError(
            f"{who}: its annotations name {error.name!r}, which is not there at run time; import or define "
            "it at the module's top level, not under TYPE_CHECKING"
        ) from error
    except (TypeError, AttributeError, SyntaxError) as error:
        raise InvalidArgumentError(f"{who}: its annotations cannot be evaluated: {error}") from error


def read(annotation: Any, where: str) -> Meaning:  # noqa: ANN401  # whatever stands there
    """Take the annotation of a parameter, result or field apart.

    Raises:
        InvalidArgumentError: no port can have it.
    """
    found = _Reader()
    found.take(annotation)
    rest = tuple(found.members)
    if not rest:
        raise InvalidArgumentError(f"{where}: None is no payload; annotate it with the payload's type")
    kind = rest[0] if len(rest) == 1 else typing.Union[rest]  # noqa: UP007  # members known at run time only
    if not is_type(kind):
        raise InvalidArgumentError(
            f"{where}: {annotation!r} cannot be the type of a port; write a class, an alias such as "
            "list[int], a union of these, or Any"
        )
    return Meaning(kind, found.allows_none, found.is_side, found.description)


class _Reader:
    """Goes through unions, `Annotated` and named aliases."""

    def __init__(self) -> None:
        self.members: list[Any] = []
        self.allows_none = False
        self.is_side = False
        self.description = ""

    def take(self, annotation: Any) -> None:  # noqa: ANN401
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            inner, *notes = typing.get_args(annotation)
            self.is_side = self.is_side or any(note is _SIDE for note in notes)
            self.description = self.description or next((n for n in notes if isinstance(n, str)), "")
            self.take(inner)
        elif origin in (typing.Union, types.UnionType):
            for part in typing.get_args(annotation):
                self.take(part)
        elif type(annotation).__name__ == "TypeAliasType":  # `type X = ...`, from Python 3.12 on
            self.take(annotation.__value__)
        elif annotation is None or annotation is type(None):
            self.allows_none = True
        elif typing.is_typeddict(annotation):
            self.members.append(dict)  # isinstance refuses typed dicts, which are plain ones
        elif annotation is not Stop:  # what a result may be besides, and is never written
            self.members.append(annotation)
