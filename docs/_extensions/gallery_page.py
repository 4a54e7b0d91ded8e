"""The gallery begins with a thumbnail of each example, and its programs are folded.

    ```{thumbnails}
    ```

A thumbnail is the last frame in the picture of a section, or the picture where it has none; a click leads to
the section. The code hosts show the page as it is written.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from docutils import nodes
from docutils.parsers.rst import Directive

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PAGE: Final = "gallery"
_FRAME: Final = re.compile(r'href="(data:image/\w+;base64,[\w+/=]+)"')


class Thumbnails(nodes.General, nodes.Element):
    """Stands where the thumbnails are put when the page has been read."""


class ThumbnailsDirective(Directive):
    """Puts thumbnails of all sections with a picture."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the place of the thumbnails."""
        return [Thumbnails()]


def frame_of(svg: str) -> str | None:
    """Return the last frame inside of a picture, as an address with the data; None where it has none."""
    frames: list[str] = _FRAME.findall(svg)
    return frames[-1] if frames else None


def _thumbnails(page: nodes.document, folder: Path) -> nodes.raw:
    items = []
    for image in page.findall(nodes.image):
        section = image
        while not isinstance(section, nodes.section):
            section = section.parent
        place = image["uri"]
        source = frame_of((folder / place).read_text(encoding="utf-8")) or f"_images/{Path(place).name}"
        title = nodes.Text(section[0].astext()).astext().replace("&", "&amp;").replace("<", "&lt;")
        items.append(
            f'<li><a href="#{section["ids"][0]}"><img src="{source}" alt="" loading="lazy">'
            f"<span>{title}</span></a></li>"
        )
    return nodes.raw(
        "", f'<ul class="thumbnails">{"".join(items)}</ul>', format="html", classes=["no-search"]
    )


def _fold(block: nodes.Element) -> None:
    """Let a program be shown on a click: its lines are many."""
    name = "/".join(Path(block["source"]).parts[-2:])
    lines = len(block.astext().splitlines())
    head = f'<details class="program"><summary>The program: <code>{name}</code>, {lines} lines</summary>'
    at = block.parent.index(block)
    opened, closed = (nodes.raw("", text, format="html") for text in (head, "</details>"))
    block.parent[at : at + 1] = [opened, block, closed]


def _arrange(app: Sphinx, page: nodes.document) -> None:
    if app.env.docname != _PAGE:
        return
    for place in list(page.findall(Thumbnails)):
        place.replace_self(_thumbnails(page, Path(app.srcdir)))
    for block in list(page.findall(nodes.literal_block)):
        if str(block.get("source", "")).endswith(".py"):
            _fold(block)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and fold the programs."""
    app.add_directive("thumbnails", ThumbnailsDirective)
    app.connect("doctree-read", _arrange)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
