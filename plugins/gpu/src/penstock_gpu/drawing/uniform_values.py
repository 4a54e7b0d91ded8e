"""Values of uniforms: their checks against GLSL types, and the functions that set them. Loads no GL.

Numbers, sequences and arrays are accepted; matrices are given row by row, as in NumPy.
"""

from __future__ import annotations

import ctypes
import math
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_gpu import gl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    #: A number or bool, a flat or nested sequence of them, an array.
    UniformValue: TypeAlias = ArrayLike | int

#: GL's number of a type → GLSL's name. Source: OpenGL 3.3 core specification, table 2.10.
_NAMES: Final = {
    0x1406: "float",
    0x8B50: "vec2",
    0x8B51: "vec3",
    0x8B52: "vec4",
    0x1404: "int",
    0x8B53: "ivec2",
    0x8B54: "ivec3",
    0x8B55: "ivec4",
    0x1405: "uint",
    0x8DC6: "uvec2",
    0x8DC7: "uvec3",
    0x8DC8: "uvec4",
    0x8B56: "bool",
    0x8B57: "bvec2",
    0x8B58: "bvec3",
    0x8B59: "bvec4",
    0x8B5A: "mat2",
    0x8B5B: "mat3",
    0x8B5C: "mat4",
    0x8B5E: "sampler2D",
    0x8DCA: "isampler2D",
    0x8DD2: "usampler2D",
    0x8D66: "samplerExternalOES",
}
_INT32: Final = np.iinfo(np.int32)
_UINT32: Final = np.iinfo(np.uint32)


@attrs.frozen
class Kind:
    """A GLSL type of uniforms that this pack can set."""

    #: "vec3".
    name: str
    #: How many numbers a value has.
    components: int
    #: "f", "i" or "u", as in the names of GL's calls; bool counts as "i".
    base: str
    #: The side of a square matrix; 0 for other types.
    side: int = 0
    #: Whether its value is the number of a texture unit.
    is_sampler: bool = False


def _kinds() -> dict[str, Kind]:
    found = {}
    for scalar, vector, base in (("float", "vec", "f"), ("int", "ivec", "i"), ("uint", "uvec", "u")):
        found[scalar] = Kind(scalar, 1, base)
        found.update({f"{vector}{n}": Kind(f"{vector}{n}", n, base) for n in (2, 3, 4)})
    found["bool"] = Kind("bool", 1, "i")
    found.update({f"bvec{n}": Kind(f"bvec{n}", n, "i") for n in (2, 3, 4)})
    found.update({f"mat{n}": Kind(f"mat{n}", n * n, "f", side=n) for n in (2, 3, 4)})
    for name in ("sampler2D", "isampler2D", "usampler2D", "samplerExternalOES"):
        found[name] = Kind(name, 1, "i", is_sampler=True)
    return found


#: GLSL's name → the type.
KINDS: Final = _kinds()


def type_name(number: int) -> str:
    """Return GLSL's name of a type that GL knows by a number."""
    return _NAMES.get(number, f"type 0x{number:04X}")


def numbers(name: str, kind_name: str, length: int, value: UniformValue) -> list[float] | list[int]:
    """Return the numbers of a uniform's value, flat, checked against its type.

    Args:
        name: the uniform's name, for errors.
        kind_name: GLSL's name of its type.
        length: number of elements of an array; 1 if it is no array; 0 if it is not known, for any number.
        value: as many numbers as type and length need, in any nesting; matrices row by row.

    Raises:
        InvalidArgumentError: another number of them, other objects than numbers, numbers that do not fit an
            int, or a type that cannot be set.
    """
    kind = KINDS.get(kind_name)
    if kind is None:
        raise InvalidArgumentError(
            f"uniform {name!r} is a {kind_name}, which cannot be set here; possible are {', '.join(KINDS)}"
        )
    if isinstance(value, int) and kind.is_sampler:
        return [value]  # set for each image
    array = _array(value)
    if array.dtype.kind not in "biuf":
        raise InvalidArgumentError(
            f"uniform {name!r} is set to {value!r}, but it is {_wanted(kind, length)}; give numbers"
        )
    flat = array.ravel()
    fits = flat.size == kind.components * length if length else flat.size and not flat.size % kind.components
    if not fits:
        raise InvalidArgumentError(
            f"uniform {name!r} is set to {flat.size} number{'s' * (flat.size != 1)}, but it is "
            f"{_wanted(kind, length)}"
        )
    if kind.base == "f":
        return [float(one) for one in flat.tolist()]
    return _whole(name, kind, flat.tolist())


def setter(kind: Kind, location: int, *, is_array: bool) -> Callable[[Sequence[Any]], None]:
    """Return a function that sets a uniform of the current program, given the result of `numbers`."""
    base = "ui" if kind.base == "u" else kind.base
    if kind.components == 1 and not is_array:
        scalar = getattr(gl, f"glUniform1{base}")
        return lambda values: scalar(location, values[0])
    elements: dict[str, Any] = {"f": ctypes.c_float, "i": ctypes.c_int32, "u": ctypes.c_uint32}
    element = elements[kind.base]
    components = kind.components
    if kind.side:
        matrix = getattr(gl, f"glUniformMatrix{kind.side}fv")
        by_rows = True
        return lambda values: matrix(
            location, len(values) // components, by_rows, (element * len(values))(*values)
        )
    vector = getattr(gl, f"glUniform{components}{base}v")
    return lambda values: vector(location, len(values) // components, (element * len(values))(*values))


def _array(value: UniformValue) -> NDArray[Any]:
    """Return a value as an array; as an array of objects if it is ragged."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.asarray(None)


def _whole(name: str, kind: Kind, values: Iterable[Any]) -> list[int]:
    limits = _UINT32 if kind.base == "u" else _INT32
    found = []
    for value in values:
        if not math.isfinite(value) or value != int(value) or not limits.min <= value <= limits.max:
            raise InvalidArgumentError(
                f"uniform {name!r} is set to {value!r}, but it is of type {kind.name}; give whole numbers "
                f"from {limits.min} to {limits.max}"
            )
        found.append(int(value))
    return found


def _wanted(kind: Kind, length: int) -> str:
    each = f"a {kind.name}" if length == 1 else f"an array of {length or 'some'} {kind.name}"
    total = kind.components * length
    if not total:
        return f"{each}, which takes a multiple of {kind.components}"
    return f"{each}, which takes {total}" + (", row by row" if kind.side else "")


def check_uniform_name(name: str, known: Iterable[str], program: str) -> None:
    """Refuse the name of a uniform that a program does not have.

    Raises:
        InvalidArgumentError: the name is unknown; names the program, and a similar uniform.
    """
    there = sorted(known)
    if name in there:
        return
    near = get_close_matches(name, there, 1)
    has = ", ".join(repr(one) for one in there) or "none"
    raise InvalidArgumentError(
        f"uniform values: {f'program {program!r}' if program else 'this program'} has no uniform {name!r}; "
        f"its uniforms: {has}; "
        + (f"did you mean {near[0]!r}?" if near else "declare it in the shader, or leave it out")
    )
