"""What all SVG drawings share: elements as text, how wide words are, and how they look.

Widths are those of a wide sans-serif font, so that words fit in any font that a reader has. The fonts of the
machine are not read, so that equal drawings are equal bytes everywhere. Colours are written out, once
for light and once for dark, because not every viewer knows variables; `prefers-color-scheme` chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FONT: Final = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
_WIDTHS: Final = {
    **dict.fromkeys("iIjl|.,:;'!` ", 0.36),
    **dict.fromkeys('frt()[]{}"-/\\*', 0.45),
    **dict.fromkeys("mwMW@%…→", 0.96),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ&+<>=#~", 0.72),
    "_": 0.52,
    "J": 0.4,
}
_USUAL: Final = 0.61
_NARROWEST: Final = min(_WIDTHS.values())
#: East Asian and further characters are as wide as high.
_FULL: Final = 0x1100
_BOLD: Final = 1.08
#: Characters that XML cannot hold. Line breaks can stand in tooltips only.
_FORBIDDEN: Final = dict.fromkeys((*(set(range(32)) - {10}), 65534, 65535, *range(55296, 57344)), "�")


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide words are at most, in pixels, at a font size in pixels."""
    em = sum(_WIDTHS.get(one, 1.0 if ord(one) >= _FULL else _USUAL) for one in text)
    return em * size * (_BOLD if bold else 1)


def shortened(text: str, size: float, widest: float, *, bold: bool = False) -> str:
    """Return words that are at most `widest` pixels wide: themselves, or both ends around an ellipsis.

    Names that differ often do so at their ends.
    """
    text = text.translate(_FORBIDDEN).replace("\n", " ")
    if text_width(text, size, bold=bold) <= widest:
        return text
    most = int(widest / (_NARROWEST * size))
    for kept in range(min(len(text) - 1, most), 0, -1):
        head = (kept + 1) // 2
        short = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
        if text_width(short, size, bold=bold) <= widest:
            return short
    return "…"


def number(value: float) -> str:
    """Return a coordinate with two decimals at most."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; `class_` is written as "class", other "_" as "-". None leaves an attribute out."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={_value(value)}"
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def words(text: str, x: float, y: float, **attributes: object) -> str:
    """Return text at its baseline."""
    return element("text", clean(text), x=x, y=y, **attributes)


def title(text: str) -> str:
    """Return the text that a viewer shows while the pointer rests on the element around it."""
    return element("title", clean(text))


def clean(text: str) -> str:
    """Return text as XML may hold it between tags."""
    return escape(text.translate(_FORBIDDEN))


def document(width: float, height: float, label: str, style: str, content: Iterable[str]) -> str:
    """Return a whole SVG document, with a background of its own.

    Args:
        width: in pixels.
        height: in pixels.
        label: what it is, for screen readers.
        style: rules, see `rules`.
        content: elements.
    """
    body = "\n".join(
        (
            element("style", style),
            element("rect", x=0, y=0, width=width, height=height, rx=8, class_="pk-page"),
            *content,
        )
    )
    size = {"width": width, "height": height, "viewBox": f"0 0 {number(width)} {number(height)}"}
    head = "".join(f" {key}={_value(value)}" for key, value in size.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pk" role="img" aria-label={_value(label)}{head}>\n'
        f"{body}\n</svg>\n"
    )


def rules(fixed: Mapping[str, str], light: Mapping[str, str], dark: Mapping[str, str]) -> str:
    """Return the rules of a drawing: selector below ".pk" → declarations.

    Args:
        fixed: the same in both.
        light: colours on a light page.
        dark: colours on a dark page.
    """
    common = {"text": f"font-family: {FONT}", **fixed}
    bright = {".pk-page": "fill: #ffffff", **light}
    night = {".pk-page": "fill: #14181d", **dark}
    return f"{_block(common)}{_block(bright)}@media (prefers-color-scheme: dark) {{\n{_block(night)}}}\n"


def _block(rules_: Mapping[str, str]) -> str:
    return "".join(
        f"{', '.join(f'.pk {one.strip()}' for one in selector.split(','))} {{ {declarations} }}\n"
        for selector, declarations in rules_.items()
    )


def _value(value: object) -> str:
    written = number(value) if isinstance(value, (int, float)) else str(value)
    return quoteattr(written.translate(_FORBIDDEN))
