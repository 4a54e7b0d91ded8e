"""`Record` and `NamedTuple`: values with named fields, which every graph needs.

Defining an attrs class takes 0.4 ms, and 30 of them as long as the rest of the first small graph; defining a
record takes no measurable time. Named tuples do as well, where no field has the name of a tuple's method:
`typing.NamedTuple` takes 0.17 ms, since it compiles each annotation, and this one half of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414  # forwarded
else:
    from collections import namedtuple

    class _NamedTuple:
        """Stands as a base, as `typing.NamedTuple` does: the class statement then makes a named tuple."""

        def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type, ...]:
            return (_base,)

    class _Maker(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # noqa: PYI024
            for key, value in body.items():
                if key not in {"__classcell__", "__orig_bases__"}:
                    setattr(made, key, value)
            return made

    _base = _Maker("_base", (), {})
    NamedTuple = _NamedTuple()


class Record:
    """A value that equals another of its class with equal fields. It must not change once it is made.

    Subclasses name their fields in `__slots__` and set them in `__init__`.
    """

    __slots__: tuple[str, ...] = ()

    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, field) for field in self.__slots__])

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        fields = [f"{field}={getattr(self, field)!r}" for field in self.__slots__]
        return f"{type(self).__qualname__}({', '.join(fields)})"
