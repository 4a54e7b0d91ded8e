"""Type annotations taken apart: of parameters of functions, and of fields of classes.

Annotations are taken from `typing.get_type_hints`, which reads those written as strings (PEP 563) as well
as those evaluated late (PEP 649).
"""

from __future__ import annotations

import types
import typing
from typing import TYPE_CHECKING, Annotated, Any

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def hints_of(annotated: Callable[..., object], who: str) -> Mapping[str, Any]:
    """Return the evaluated annotations of a class, or of a function, "return" among them.

    Args:
        annotated: the class or function.
        who: the name of it, for the message.

    Raises:
        InvalidArgumentError: one of them cannot be evaluated.
    """
    try:
        return typing.get_type_hints(annotated, include_extras=True)
    except NameError as error:
        raise InvalidArgumentError(
            f"{who}: its type hints name {error.name!r}, which is not there at run time; import or define "
            "it at the module's top level, not under TYPE_CHECKING"
        ) from error
    except (TypeError, AttributeError, SyntaxError) as error:
        raise InvalidArgumentError(f"{who}: its type hints cannot be evaluated: {error}") from error


class HintParts:
    """One annotation, with unions, `Annotated` and named aliases (`type X = ...`) gone through."""

    def __init__(self, annotation: Any) -> None:
        #: What the alternatives are, None left out, in order.
        self.members: list[Any] = []
        #: Whether None is one of them.
        self.allows_none = False
        #: What stands beside the types in `Annotated`, outermost first.
        self.notes: list[Any] = []
        self._take(annotation)

    def _take(self, annotation: Any) -> None:
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            inner, *notes = typing.get_args(annotation)
            self.notes += notes
            self._take(inner)
        elif origin in (typing.Union, types.UnionType):
            for part in typing.get_args(annotation):
                self._take(part)
        elif type(annotation).__name__ == "TypeAliasType":  # from Python 3.12 on
            self._take(annotation.__value__)
        elif type(origin).__name__ == "TypeAliasType":  # with parameters, as `NDArray[Any]` of newer NumPys
            self._take(origin.__value__[typing.get_args(annotation)])
        elif annotation is None or annotation is type(None):
            self.allows_none = True
        else:
            self.members.append(annotation)
