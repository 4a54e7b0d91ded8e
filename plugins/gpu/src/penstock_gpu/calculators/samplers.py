"""The samplers of a user's shader, one for each input image, and the uniforms that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNTAGGED: Final = "video"
#: The inputs that are the main one, if they are connected.
_MAIN: Final = (("VIDEO", 0), ("", 0))


def own_uniforms(samplers: Iterable[str]) -> tuple[str, ...]:
    """Return the uniforms that the calculator sets for each image, if the shader declares them."""
    return ("time", "size", *(part for name in samplers for part in (f"{name}_size", f"has_{name}")))


def names_of_samplers(ids: Iterable[tuple[str, int]]) -> dict[str, tuple[str, int]]:
    """Return the sampler of each input, the main one first: name → port.

    The main input is VIDEO, else the first untagged one, else the first by the order of tags.

    Raises:
        InvalidArgumentError: two inputs have the same sampler name.
    """
    found: dict[str, tuple[str, int]] = {}
    for tag, index in sorted(ids, key=lambda port: (*(port != main for main in _MAIN), port)):
        name = (tag.lower() or _UNTAGGED) + (str(index) if index else "")
        if name in found:
            raise InvalidArgumentError(
                f"inputs {_port(*found[name])} and {_port(tag, index)} would both be the shader's sampler "
                f"{name!r}; use another tag"
            )
        found[name] = tag, index
    return found


def _port(tag: str, index: int) -> str:
    return repr(f"{tag}:{index}" if index else tag or "0")
