"""What a cell shows of packets, as data for its JavaScript; and that JavaScript."""

from __future__ import annotations

import base64
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from penstock_live.page import script
from penstock_live.thumbnail import thumbnail

if TYPE_CHECKING:
    from penstock import Packet


def card(packet: Packet | None) -> dict[str, Any]:
    """Return a packet as the JavaScript shows it: `kind`, `content`, `words` and `timestamp`.

    The content is a data URL for images, else JSON as text; see `penstock_live.thumbnail.Thumbnail`.
    """
    made = thumbnail(packet)
    if made.media_type.startswith("image/"):
        content = f"data:{made.media_type};base64,{base64.b64encode(made.content).decode()}"
    else:
        content = made.content.decode()
    return {"kind": made.kind, "content": content, "words": made.words, "timestamp": made.timestamp}


@cache
def module() -> str:
    """Return the widgets' JavaScript as one ES module, with what it shares with the page of the server."""
    own = (files("penstock_live.jupyter") / "widget.js").read_text(encoding="utf-8")
    return "\n".join((script("words.js"), script("plot.js"), own))


@cache
def style() -> str:
    """Return the widgets' style, which applies inside of them alone."""
    return (files("penstock_live.jupyter") / "widget.css").read_text(encoding="utf-8")
