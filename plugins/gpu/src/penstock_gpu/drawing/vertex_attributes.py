"""The vertex attributes of a quad: their locations, and their names in shaders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Locations of the vertex attributes of a quad: the corner in clip space, -1 to 1, ...
ATTRIB_VERTEX: Final = 0


#: ... and its position in the texture, 0 to 1.
ATTRIB_TEXTURE_POSITION: Final = 1


#: The number of these attributes.
NUM_ATTRIBUTES: Final = 2


#: Names under which a vertex shader may declare the two attributes.
ATTRIBUTES: Final[Mapping[str, int]] = {
    "position": ATTRIB_VERTEX,
    "texture_coordinate": ATTRIB_TEXTURE_POSITION,
}
