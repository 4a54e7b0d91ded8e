"""A payload as a small picture, as numbers or as words, for the page."""

from __future__ import annotations

import base64
import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from penstock.error_text import shown
from penstock_live.pictures import LONGEST, as_picture, heat_map, jpeg_or_png

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import Packet

#: Characters of words, and of the line under a picture.
_LONGEST: Final = 400
_LINE: Final = 100
#: Arrays of at most so many rows are lines, others heat maps.
_MOST_LINES: Final = 4
#: Points of a line; of longer ones the extremes of each piece are taken.
_POINTS: Final = 240
#: Numbers of a row that are looked at.
_LOOKED_AT: Final = 2**20
_LARGEST: Final = 2**63
_JSON: Final = "application/json"


@attrs.frozen
class Thumbnail:
    """What the page shows of a packet."""

    #: "image", "heat map", "lines" (JSON {"rows": [[number or null, ...], ...]}), "number" (JSON {"value":
    #: number or null}), "text" (JSON {"text": ...}), or "none" where there is no packet (JSON {}).
    kind: str
    #: The media type of the content: "image/jpeg", "image/png" or "application/json".
    media_type: str
    #: The bytes.
    content: bytes
    #: The payload in a line.
    words: str = ""
    #: The timestamp of the packet, as a user reads it.
    timestamp: str = ""

    def card(self) -> dict[str, str]:
        """Return it as the JavaScript shows it: `kind`, `content`, `words` and `timestamp`.

        The content is a data URL for images, else JSON as text.
        """
        if self.media_type == _JSON:
            content = self.content.decode()
        else:
            content = f"data:{self.media_type};base64,{base64.b64encode(self.content).decode()}"
        return {"kind": self.kind, "content": content, "words": self.words, "timestamp": self.timestamp}


NOTHING: Final = Thumbnail("none", _JSON, b"{}")


def error_card(error: Exception) -> dict[str, str]:
    """Return the card of a stream whose packets cannot be had: it says why."""
    return _text(str(error), "", "").card()


def thumbnail(packet: Packet | None, longest: int = LONGEST) -> Thumbnail:
    """Return what the page shows of a packet. Never raises: what fails is said in words.

    Images of every format are pictures of at most `longest` pixels a side, as `penstock_formats.preview`
    shows them; other arrays of two and more dimensions are heat maps, or lines where they have at most four
    rows; numbers are numbers. A payload with `_repr_png_`, the notebook's protocol, shows that. Others are
    words.
    """
    if packet is None or packet.is_empty():
        return NOTHING
    payload, words, when = packet.payload, shown(packet.payload, _LINE), str(packet.timestamp)
    try:
        kind, media_type, content, more = _drawn(payload, longest)
    except Exception as error:  # noqa: BLE001  # foreign payloads run foreign code: the page says what it raised
        return _text(f"{words} cannot be shown: {type(error).__name__}: {error}"[:_LONGEST], words, when)
    if kind == "text":
        return _text(shown(payload, _LONGEST), words, when)
    return Thumbnail(kind, media_type, content, f"{words}{more}", when)


def _text(text: str, words: str, when: str) -> Thumbnail:
    return Thumbnail("text", _JSON, msgspec.json.encode({"text": text}), words, when)


def _drawn(payload: Any, longest: int) -> tuple[str, str, bytes, str]:
    """Return kind, media type, content, and what the line under it says further; "text" for words."""
    if isinstance(payload, Real):
        number = int(payload) if isinstance(payload, Integral) else float(payload)
        return "number", _JSON, msgspec.json.encode({"value": number if _is_shown(number) else None}), ""
    picture = as_picture(payload, longest)
    if picture is not None:
        return "image", *jpeg_or_png(picture), ""
    array = _array(payload)
    if array is not None:
        return _of_array(array)
    show = getattr(payload, "_repr_png_", None)
    png = show() if show is not None else None
    return ("image", "image/png", png, "") if isinstance(png, bytes) else ("text", "", b"", "")


def _is_shown(number: float) -> bool:
    """Return whether JSON and JavaScript have a number: not infinity, nor an integer of many digits."""
    return abs(number) < _LARGEST if isinstance(number, int) else math.isfinite(number)


def _array(payload: Any) -> NDArray[Any] | None:
    """Return the numbers of an array, a matrix or a tensor; None for what is none."""
    array = getattr(payload, "array", payload)  # of penstock-formats
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    return array if kind and kind in "biuf" and hasattr(array, "ndim") and array.size else None


def _of_array(array: NDArray[Any]) -> tuple[str, str, bytes, str]:
    if array.ndim == 0:
        return _drawn(array.item(), 0)
    rows = array.reshape(1, -1) if array.ndim == 1 else array
    while rows.ndim > 2:  # noqa: PLR2004  # the first of each batch, then the first channel
        rows = rows[0] if rows.shape[0] == 1 or rows.ndim > 3 else rows[:, :, 0]  # noqa: PLR2004
    said = f", shown: {' x '.join(map(str, rows.shape))} of it" if rows.size < array.size else ""
    if rows.shape[0] <= _MOST_LINES:
        lines = [_line(row) for row in rows]
        return "lines", _JSON, msgspec.json.encode({"rows": lines}), said
    picture, least, largest = heat_map(rows)
    return "heat map", *jpeg_or_png(picture, exact=True), f"{said}, from {least:.4g} to {largest:.4g}"


def _line(row: NDArray[Any]) -> list[float | None]:
    """Return at most `_POINTS` numbers: of a longer row the least and the largest of each piece."""
    if len(row) <= _POINTS:
        return [_json_number(one) for one in row.tolist()]
    import numpy as np

    found: list[float | None] = []
    step = -(-len(row) // _LOOKED_AT)  # of a very long row not every number is looked at
    for piece in np.array_split(row[::step], _POINTS // 2):
        finite = piece[np.isfinite(piece)]
        found += [float(finite.min()), float(finite.max())] if finite.size else [None, None]
    return found


def _json_number(number: float) -> float | None:
    return number if math.isfinite(number) else None
