"""Adapters: what makes a payload of one type where a stream carries another.

A pack registers an adapter under the two types, "numpy.ndarray->penstock_formats.image_frame.ImageFrame",
so that looking for one imports nothing. The target is a function with one input and one output that
`@penstock.calculator` has decorated; the pack registers its calculator too. Graphs use it in two ways:

- Where an output and an input that reads it declare different types, the loaded graph has a node with the
  adapter's calculator between them (`check.adapting`).
- A packet that a graph input cannot take is handed to the function before it is refused.

A list of one kind of element has a name of its own: "numpy.ndarray->builtins.list[my_pack.spots.Spot]" makes
what a port declares as `list[Spot]`, and no other list.

Of the types that a port allows, the first that has an adapter counts. For a payload its class counts first,
then the classes that it derives from, in their order, and last `EXPORTS` where it hands out its memory by
DLPack. Payload types of packs, which have `__penstock_payload__`, are adapted under their own names only: a
matrix that hands out its memory is no image. Nothing else is tried, and no two adapters are applied one after
the other.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import PacketTypeError, PenstockError, text_of, words_of
from penstock.payload_types import class_of, fits, is_any_payload
from penstock.record import NamedTuple
from penstock.registry_entries import calculator_of_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.payload_types import PayloadType
    from penstock.registry import Registry

#: Stands for every class that has `__dlpack__`, in the place of the first type.
EXPORTS: Final = "DLPack"
_ARROW: Final = "->"


class Adapter(NamedTuple):
    """One adapter that is registered."""

    #: Payload of the first type to payload of the second.
    function: Callable[[Any], object]
    #: The name of its calculator.
    calculator: str
    #: What it makes.
    target: type

    def adapt(self, payload: object) -> object:
        """Return a payload as one of the other type.

        Raises:
            PacketTypeError: the function refuses it, or makes something else; says why, without the place.
        """
        try:
            made = self.function(payload)
        except PenstockError as error:
            raise PacketTypeError(f"{self.calculator} refuses it: {text_of(error)}") from error
        except Exception as error:
            raise PacketTypeError(f"{self.calculator} failed: {words_of(error)}") from error
        if not fits(made, (self.target,)):
            raise PacketTypeError(f"adapter {self.calculator} made a {type(made).__name__!r} of it")
        return made


def find_adapter(registry: Registry, source: type, targets: Sequence[PayloadType]) -> Adapter | None:
    """Return what makes a payload of one of some types of one of another; None where nothing does.

    Raises:
        NameClashError, PluginError: there is one, and it cannot be used.
    """
    known = set(registry.names("adapter"))
    sources = [_name(kind) for kind in source.__mro__ if kind is not object]
    if hasattr(source, "__dlpack__") and not hasattr(source, "__penstock_payload__"):
        sources.append(EXPORTS)
    for one in sources:
        for target, made in _ends(targets):
            name = f"{one}{_ARROW}{target}"
            if name in known:
                function: Any = registry.find("adapter", name)
                calculator: Any = calculator_of_entry(function)
                return Adapter(function, calculator.__name__, made)
    return None


def adaptable(registry: Registry, targets: Sequence[PayloadType]) -> str:
    """Return what adapters make payloads of some types of, in words for the end of an error; or ""."""
    ends = {f"{_ARROW}{target}" for target, _ in _ends(targets)}
    names = [name.partition(_ARROW) for name in registry.names("adapter")]
    found = [source for source, arrow, target in names if f"{arrow}{target}" in ends]
    words = ["anything with __dlpack__" if source == EXPORTS else source for source in dict.fromkeys(found)]
    return f"adapters take {', '.join(words)}" if words else ""


def _ends(targets: Sequence[PayloadType]) -> Iterator[tuple[str, type]]:
    """Yield the names that adapters to some types may have, the closest ones first, and the classes."""
    for target in targets:
        if is_any_payload(target):
            continue
        made = class_of(target)
        if target is not made:
            yield _name(target), made
        yield _name(made), made


def _name(kind: object) -> str:
    origin = typing.get_origin(kind)
    if isinstance(kind, type) and (origin is None or origin is kind):  # the latter for `Generic`
        return f"{kind.__module__}.{kind.__qualname__}"
    inner = ", ".join(map(_name, typing.get_args(kind)))
    return f"{_name(origin)}[{inner}]" if origin is not None else str(kind)
