"""One image as another one whose values went through a table: darkened, brightened, inverted, in parts.

Where an image was made of another by such an operation, the table says each pixel exactly. Two predictions
compete in each tile of 16 x 16 pixels: the other image as it is, and the other image through the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Sides of a tile, and the distance of the pixels that are looked at.
_TILE: Final = 16
_STEP: Final = 4
_VALUES: Final = 256
#: Share of pixels that differ from the other image, above which a table is looked for; and share of these
#: pixels that it may miss.
_DIFFERENT: Final = 0.01
_MISSED: Final = 0.4


class Table(NamedTuple):
    """A table for each channel, and the tiles in which it counts."""

    #: (rows of tiles, columns of tiles) bool.
    tiles: NDArray[np.bool_]
    #: (channels, 256) uint8.
    values: NDArray[np.uint8]

    def packed(self) -> bytes:
        """Return it as bytes; see `size_for`."""
        return np.packbits(self.tiles).tobytes() + self.values.tobytes()

    def applied(self, before: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return what (channels, H, W) becomes by it; a new array."""
        mask = self.tiles.repeat(_TILE, 0).repeat(_TILE, 1)[: before.shape[1], : before.shape[2]]
        made = np.empty(before.shape, np.uint8)
        for plane, value, out in zip(before, self.values, made, strict=True):
            np.copyto(out, plane)
            np.copyto(out, value[plane], where=mask)
        return made


def size_for(shape: tuple[int, ...]) -> int:
    """Return the bytes of a packed table for planes of (channels, H, W)."""
    rows, columns = _tiles(shape)
    return -(-rows * columns // 8) + shape[0] * _VALUES


def from_packed(data: bytes, shape: tuple[int, ...]) -> Table:
    """Undo `packed`. There are `size_for(shape)` bytes."""
    rows, columns = _tiles(shape)
    bits = np.frombuffer(data, np.uint8, -(-rows * columns // 8))
    tiles = np.unpackbits(bits, count=rows * columns).reshape(rows, columns).astype(bool)
    return Table(tiles, np.frombuffer(data, np.uint8, offset=bits.size).reshape(shape[0], _VALUES))


def find(planes: NDArray[Any], before: NDArray[Any]) -> Table | None:
    """Return the table that makes planes of others; None where it would miss many pixels, or none is needed.

    Args:
        planes: (channels, H, W) uint8.
        before: the same of the other image.
    """
    now, then = planes[:, ::_STEP, ::_STEP], before[:, ::_STEP, ::_STEP]
    differ = now != then
    share = float(differ.mean())
    if share < _DIFFERENT:
        return None
    values = np.empty((len(planes), _VALUES), np.uint8)
    for i, value in enumerate(values):
        value[:] = np.arange(_VALUES)
        pairs = then[i][differ[i]].astype(np.intp) * _VALUES + now[i][differ[i]]
        counts = np.bincount(pairs, minlength=_VALUES * _VALUES).reshape(_VALUES, _VALUES)
        known = counts.any(1)
        value[known] = counts.argmax(1)[known]
    missed = np.stack([value[plane] for value, plane in zip(values, then, strict=True)]) != now
    if float((differ & missed).mean()) > _MISSED * share:
        return None
    of_table, of_other = (_in_tiles(one, planes.shape) for one in (missed, differ))
    return Table(of_table < of_other, values)


def _tiles(shape: tuple[int, ...]) -> tuple[int, int]:
    return -(-shape[1] // _TILE), -(-shape[2] // _TILE)


def _in_tiles(is_wrong: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return how many pixels that were looked at are wrong in each tile."""
    rows, columns = _tiles(shape)
    side = _TILE // _STEP
    counts = np.zeros((rows * side, columns * side), np.intp)
    counts[: is_wrong.shape[1], : is_wrong.shape[2]] = is_wrong.sum(0)
    made: NDArray[np.intp] = counts.reshape(rows, side, columns, side).sum((1, 3))
    return made
