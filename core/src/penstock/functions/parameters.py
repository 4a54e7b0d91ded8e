"""The parameters of a function, as ports and as other arguments of a call.

Invariant: parameters before the `*` are inputs, the timestamp or the context, and are passed by
position; keyword-only ones are side packets or options, are known when a run starts, and are passed
by name. An option is one value that graph files can give, or all options in one object.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.attrs_options import can_be_option, is_attrs_options
from penstock.engine.calculator import CalculatorContext
from penstock.engine.packet import Packet
from penstock.errors import InvalidArgumentError
from penstock.functions.annotations import Meaning, is_side_packet, read
from penstock.port_tags import parse_tag_index
from penstock.timestamp import Timestamp
from penstock.type_hints import hints_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Stands for a default where there must be a packet.
REQUIRED: Final = inspect.Parameter.empty


@attrs.frozen
class PortParameter:
    """A parameter that is an input or a side packet."""

    #: As the function has it.
    name: str
    #: The tag of the port.
    tag: str
    #: Its type.
    meaning: Meaning
    #: Given where there is no packet; REQUIRED where there must be one.
    default: object

    @property
    def is_optional(self) -> bool:
        """Whether a graph may leave the port unconnected."""
        return self.default is not REQUIRED


@attrs.frozen
class OptionParameter:
    """A parameter that is a field of the node's options."""

    #: As the function has it.
    name: str
    #: A type that graph files can give.
    annotation: Any
    #: Attrs.NOTHING where a graph must give it.
    default: object


@attrs.frozen
class Parameters:
    """All parameters of a function."""

    #: In order.
    inputs: tuple[PortParameter, ...] = ()
    #: Position in the call → Timestamp or CalculatorContext, ascending.
    extras: tuple[tuple[int, type], ...] = ()
    #: The side packets.
    sides: tuple[PortParameter, ...] = ()
    #: (name, message class or attrs class) of each that gets all of the node's options.
    options: tuple[tuple[str, Any], ...] = ()
    #: Those that get one of them.
    fields: tuple[OptionParameter, ...] = ()


def read_parameters(
    function: Callable[..., object], who: str, *, is_method: bool = False, only_by_name: bool = False
) -> Parameters:
    """Read a function's parameters.

    Args:
        function: to read.
        who: how messages name it.
        is_method: whether the first parameter is `self`.
        only_by_name: whether all are given by name, as in an `__init__`.

    Raises:
        InvalidArgumentError: one has no annotation, or one that has no meaning here.
    """
    reader = _Reader(who, hints_of(function, who), only_by_name=only_by_name)
    given = list(inspect.signature(function).parameters.values())
    for position, parameter in enumerate(given[1:] if is_method else given):
        reader.take(position, parameter)
    return Parameters(
        tuple(reader.inputs),
        tuple(reader.extras),
        tuple(reader.sides),
        tuple(reader.options),
        tuple(reader.fields),
    )


def tag_of(name: str, where: str, taken: set[str]) -> str:
    """Return the tag that a name has, and add it to those taken.

    Raises:
        InvalidArgumentError: it can be no tag, or another name has it.
    """
    tag = name.rstrip("_").upper()
    try:
        is_tag = parse_tag_index(tag)[0] != ""
    except InvalidArgumentError:
        is_tag = False
    if not is_tag:
        raise InvalidArgumentError(f"{where}: {name!r} makes no tag; use letters a to z, digits, underscores")
    if tag in taken:
        raise InvalidArgumentError(f"{where}: the tag {tag!r} is taken already; rename one")
    taken.add(tag)
    return tag


class _Reader:
    """Sorts the parameters of one function."""

    def __init__(self, who: str, hints: Mapping[str, Any], *, only_by_name: bool) -> None:
        self._who = who
        self._hints = hints
        self._only_by_name = only_by_name
        self._input_tags = set[str]()
        self._side_tags = set[str]()
        self.inputs: list[PortParameter] = []
        self.extras: list[tuple[int, type]] = []
        self.sides: list[PortParameter] = []
        self.options: list[tuple[str, Any]] = []
        self.fields: list[OptionParameter] = []

    def take(self, position: int, parameter: inspect.Parameter) -> None:
        name = parameter.name
        where = f"{self._who}: parameter {name!r}"
        is_by_name = self._is_by_name(parameter)
        if name not in self._hints:
            raise InvalidArgumentError(
                f"{self._who}: parameter {name!r} has no annotation; write the type of its payloads, "
                f"'{name}: int' say, or Any"
            )
        annotation = self._hints[name]
        if hasattr(annotation, "DESCRIPTOR") or (is_by_name and is_attrs_options(annotation)):
            if not is_by_name:
                raise InvalidArgumentError(
                    f"{self._who}: parameter {name!r}: options, of {annotation.__name__!r}, are passed by "
                    "name; put it after a *"
                )
            self.options.append((name, annotation))
        elif is_by_name and can_be_option(annotation) and not is_side_packet(annotation):
            default = attrs.NOTHING if parameter.default is REQUIRED else parameter.default
            self.fields.append(OptionParameter(name, annotation, default))
        elif annotation in (Timestamp, CalculatorContext):
            if is_by_name:
                raise InvalidArgumentError(
                    f"{self._who}: parameter {name!r}: a {annotation.__name__} is passed by "
                    f"position{self._move}"
                )
            self.extras.append((position, annotation))
        else:
            self._take_port(parameter, read(annotation, where), where, is_by_name=is_by_name)

    def _take_port(
        self, parameter: inspect.Parameter, meaning: Meaning, where: str, *, is_by_name: bool
    ) -> None:
        name = parameter.name
        if meaning.type is Packet:
            raise InvalidArgumentError(
                f"{self._who}: parameter {name!r} gets payloads, not packets; write the payload's type, and "
                "a parameter 'at: penstock.Timestamp' for the time"
            )
        if meaning.is_side and not is_by_name:
            raise InvalidArgumentError(
                f"{self._who}: parameter {name!r}: a side packet is passed by name; put it after a *"
            )
        if is_by_name and not meaning.is_side:
            raise InvalidArgumentError(
                f"{self._who}: parameter {name!r} is passed by name, so it must be a side packet, "
                "'penstock.SidePacket[...]', an option of a type that graph files can give, or a class of "
                f"options; an input is passed by position{self._move}"
            )
        default = parameter.default
        if default is REQUIRED and meaning.allows_none:
            default = None
        tag = tag_of(name, where, self._side_tags if meaning.is_side else self._input_tags)
        ports = self.sides if meaning.is_side else self.inputs
        ports.append(PortParameter(name, tag, meaning, default))

    @property
    def _move(self) -> str:
        return ", to process" if self._only_by_name else ": put it before the *"

    def _is_by_name(self, parameter: inspect.Parameter) -> bool:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise InvalidArgumentError(
                f"{self._who}: parameter {parameter.name!r}: {stars}{parameter.name} does not say how many "
                "ports there are; name each"
            )
        if self._only_by_name and parameter.kind is parameter.POSITIONAL_ONLY:
            raise InvalidArgumentError(
                f"{self._who}: parameter {parameter.name!r} can be passed by position only; remove the /"
            )
        return self._only_by_name or parameter.kind is parameter.KEYWORD_ONLY
