"""The containers of calculators that are named for an element type: lists, and messages that are lists.

One class implements all names of a family, such as the `Concatenate...VectorCalculator`s:
`PerElementType` makes a subclass for each name. Invariant: payload types of penstock-formats are imported
only when a graph names such a calculator, so a loop over numbers imports neither NumPy nor messages.

Types of the reference that have no class of their own here: a TfLiteTensor is a `Tensor`; an
AffineMatrix is a tuple of its 16 numbers, row after row; an ImageSize is a tuple of width and height.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from importlib import import_module
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import penstock
from penstock.errors import PacketTypeError
from penstock.types import payload_type_name, runtime_classes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self, TypeAlias

    from penstock import Input
    from penstock.types import PayloadType

    _Classes: TypeAlias = tuple[type, ...]


class Container(ABC):
    """A type of payload that holds elements of one type, in order."""

    @property
    @abstractmethod
    def element_type(self) -> PayloadType:
        """The type of the elements, as a port declares it."""

    @property
    @abstractmethod
    def type(self) -> PayloadType:
        """The type of the payload that holds them."""

    @abstractmethod
    def elements(self, port: Input) -> Sequence[Any]:
        """Return the elements of an input's payload, not a copy.

        Raises:
            PacketTypeError: an element has another type than the container's.
        """

    @abstractmethod
    def pack(self, elements: Sequence[Any]) -> object:
        """Return a payload that holds these elements; it may keep the list, which the caller gives up."""

    @abstractmethod
    def describe(self) -> str:
        """Return the payload's type as text, without importing anything."""


class ListOf(Container):
    """A Python list, where the reference has a vector.

    Args:
        element: a type, the name of a type of penstock-formats, "module.name" for a type of another
            module, or a container.
    """

    def __init__(self, element: PayloadType | str | Container) -> None:
        self._element: Final = element

    @cached_property
    def element_type(self) -> PayloadType:
        """The type of the elements, imported on first use."""
        return _resolve(self._element)

    @cached_property
    def type(self) -> PayloadType:
        """The list with its elements' type."""
        return GenericAlias(list, (self.element_type,))

    def elements(self, port: Input) -> Sequence[Any]:
        """Return the list itself; an int is accepted as a float, a bool only as a bool."""
        elements: list[Any] = port.payload
        wanted = self._classes
        for found in set(map(type, elements)):
            if found not in wanted and (found is bool or not issubclass(found, wanted)):
                i = next(i for i, one in enumerate(elements) if type(one) is found)
                raise PacketTypeError(
                    f"stream {port.name!r}: element {i} of the list is a {payload_type_name(found)!r}, not a "
                    f"{self._label!r}; convert it, or use the calculator that is named for its type",
                    stream=port.name,
                    timestamp=port.packet.stamp,
                )
        return elements

    def pack(self, elements: Sequence[Any]) -> object:
        """Return the list itself."""
        return elements

    def describe(self) -> str:
        """Return "list[float]" and the like."""
        return f"list[{self._label}]"

    @cached_property
    def _classes(self) -> _Classes:
        # no family is for elements of any type
        return cast("_Classes", runtime_classes((self.element_type,)))

    @property
    def _label(self) -> str:
        element = self._element
        if isinstance(element, Container):
            return element.describe()
        return element if isinstance(element, str) else payload_type_name(element)


class MessageOf(Container):
    """A message of penstock-formats that is a list of other messages.

    Args:
        name: the message's name, such as `LandmarkList`.
        field: its repeated field, such as `landmark`.
        element: the message in that field, such as `Landmark`.
    """

    def __init__(self, name: str, field: str, element: str) -> None:
        self._name: Final = name
        self._field: Final = field
        self._element: Final = element

    @cached_property
    def element_type(self) -> PayloadType:
        """The message in the repeated field."""
        return _resolve(self._element)

    @cached_property
    def type(self) -> PayloadType:
        """The message that holds them."""
        return _resolve(self._name)

    def elements(self, port: Input) -> Sequence[Any]:
        """Return the repeated field; protobuf has checked the types."""
        return cast("Sequence[Any]", getattr(port.payload, self._field))

    def pack(self, elements: Sequence[Any]) -> object:
        """Return a new message with copies of the elements."""
        make = cast("type[Any]", self.type)
        return make(**{self._field: elements})

    def describe(self) -> str:
        """Return the name of the message."""
        return self._name


#: Containers of several families; see the module's docstring.
AFFINE_MATRICES: Final = ListOf(tuple[float, ...])
IMAGES: Final = ListOf("Image")
FRAMES: Final = ListOf("ImageFrame")
TENSORS: Final = ListOf("Tensor")


class PerElementType(penstock.Calculator):
    """A family of calculators that differ in the type of the container that they make or take apart.

    The docstring of a family says <Name> for the registered name and <T> for the type of the container.
    """

    #: The type of this calculator's lists.
    container: ClassVar[Container]

    @classmethod
    def named(cls, name: str, container: Container) -> type[Self]:
        """Return the calculator of this family with that registered name."""
        doc = (cls.__doc__ or "").replace("<Name>", name).replace("<T>", container.describe())
        body = {"container": container, "__doc__": doc, "__module__": cls.__module__}
        return cast("type[Self]", type(name, (cls,), body))


def _resolve(element: PayloadType | str | Container) -> PayloadType:
    if isinstance(element, Container):
        return element.type
    if isinstance(element, str):
        # imports NumPy or protobuf; see the module's docstring
        module, _, name = element.rpartition(".")
        return cast("PayloadType", getattr(import_module(module or "penstock_formats"), name))
    return element
