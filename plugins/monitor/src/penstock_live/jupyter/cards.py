"""What a cell shows of packets, as data for its JavaScript; and that JavaScript."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from penstock_live.page import script
from penstock_live.thumbnail import thumbnail

if TYPE_CHECKING:
    from penstock import Packet


def card(packet: Packet | None) -> dict[str, str]:
    """Return a packet as the JavaScript shows it; see `penstock_live.thumbnail.Thumbnail.card`."""
    return thumbnail(packet).card()


@cache
def module() -> str:
    """Return the widgets' JavaScript as one ES module, with what it shares with the page of the server."""
    own = (files("penstock_live.jupyter") / "widget.js").read_text(encoding="utf-8")
    return "\n".join((*map(script, ("words.js", "drops.js", "plot.js")), own))


@cache
def style() -> str:
    """Return the widgets' style, which applies inside of them alone."""
    return (files("penstock_live.jupyter") / "widget.css").read_text(encoding="utf-8")
