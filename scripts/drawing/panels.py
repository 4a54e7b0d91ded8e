"""The parts of a picture in SVG, and how they are laid out: beside and above each other, with captions."""

from __future__ import annotations

from typing import Final

import attrs

from penstock_views.draw.markup import document, element, number, text_width, words

#: Pixels between two panels.
GAP: Final = 20.0
_MARGIN: Final = 16.0
_CAPTION: Final = 24.0


@attrs.frozen
class Panel:
    """A part of a picture."""

    #: `width`, `height`: in pixels.
    width: float
    height: float
    #: SVG elements, from (0, 0).
    content: str


def beside(*panels: Panel, is_level: bool = False) -> Panel:
    """Return panels from left to right, each in the middle of the height, or all `is_level` at the top."""
    height = max(panel.height for panel in panels)
    x, parts = 0.0, []
    for panel in panels:
        parts.append(at(x, 0 if is_level else (height - panel.height) / 2, panel))
        x += panel.width + GAP
    return Panel(x - GAP, height, "".join(parts))


def above(*panels: Panel) -> Panel:
    """Return panels from the top down, each in the middle of the width."""
    width = max(panel.width for panel in panels)
    y, parts = 0.0, []
    for panel in panels:
        parts.append(at((width - panel.width) / 2, y, panel))
        y += panel.height + GAP
    return Panel(width, y - GAP, "".join(parts))


def at(x: float, y: float, panel: Panel) -> str:
    """Return the content of a panel, moved."""
    return element("g", panel.content, transform=f"translate({number(x)} {number(y)})")


def captioned(panel: Panel, text: str) -> Panel:
    """Return a panel with a line of text above it."""
    caption = words(text, 0, _CAPTION - 10, class_="caption")
    return Panel(
        max(panel.width, text_width(text, 12)), panel.height + _CAPTION, caption + at(0, _CAPTION, panel)
    )


def picture(panel: Panel, label: str, style: str) -> str:
    """Return an SVG document with a background of its own, in light and dark colours.

    Args:
        panel: what it shows.
        label: what it is, for screen readers.
        style: of `penstock_views.draw.markup.rules`; it has a class "caption".
    """
    width, height = panel.width + 2 * _MARGIN, panel.height + 2 * _MARGIN
    return document(width, height, label, style, [at(_MARGIN, _MARGIN, panel)])
