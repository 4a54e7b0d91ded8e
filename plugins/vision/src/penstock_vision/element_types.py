"""`ListCalculator`: the base of calculators that exist once for each type of a list's elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import penstock

if TYPE_CHECKING:
    from typing import Self


class ListCalculator(penstock.Calculator):
    """A calculator over lists, to be made for one type of elements by `named`.

    In the docstring of a derived class `<Name>` stands for the calculator's name, and `<T>` for the type of
    the elements.
    """

    #: The type of the elements.
    element: ClassVar[type[Any]]

    @classmethod
    def named(cls, name: str, element: type[Any]) -> type[Self]:
        """Return the calculator of that name, for lists of these elements."""
        doc = (cls.__doc__ or "").replace("<Name>", name).replace("<T>", element.__name__)
        body = {"element": element, "__doc__": doc, "__module__": cls.__module__}
        return cast("type[Self]", type(name, (cls,), body))
