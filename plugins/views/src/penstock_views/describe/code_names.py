"""Which names the code of a class uses: the only trace of options that are asked for in `open`.

A contract does not name options, and a calculator asks for its message when it opens. So the names in its
code, and in the code that it uses of its own package, are read. The code is never run.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def names_used(cls: type) -> frozenset[str]:
    """Return all names in the code of a class, its bases, and what these use of their packages.

    The bases of other packages count too, but those of `penstock` itself do not.
    """
    names = set[str]()
    waiting: list[object] = [base for base in cls.__mro__ if not _is_foreign(base)]
    seen = {id(one) for one in waiting}
    for thing in waiting:
        for function in _functions(thing):
            used = set(_names(function.__code__))
            names |= used
            for name in used:
                other = function.__globals__.get(name)
                if id(other) not in seen and _is_of_package(other, function.__module__):
                    seen.add(id(other))
                    waiting.append(other)
    return frozenset(names)


def _is_foreign(cls: type) -> bool:
    return cls is object or cls.__module__.partition(".")[0] == "penstock"


def _is_of_package(thing: object, module: str) -> bool:
    """Return whether a thing is a function or plain class of the package that `module` is in."""
    home = getattr(thing, "__module__", None)
    is_code = isinstance(thing, FunctionType) or (
        isinstance(thing, type) and not hasattr(thing, "DESCRIPTOR")
    )
    return is_code and isinstance(home, str) and home.partition(".")[0] == module.partition(".")[0]


def _functions(thing: object) -> Iterator[FunctionType]:
    members: Iterable[object] = vars(thing).values() if isinstance(thing, type) else (thing,)
    for member in members:
        for part in (member, *(getattr(member, name, None) for name in ("__func__", "fget", "__wrapped__"))):
            if isinstance(part, FunctionType):
                yield part


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
