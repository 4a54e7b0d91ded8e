"""Links to READMEs lead to pages of the site, where the README is included in one.

READMEs of packs are pages of the reference too (`{include}`). They link to each other and pages link to them,
by their places in the repository, which the site does not have.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx

_DOCS: Final = Path(__file__).resolve().parents[1]
_INCLUDED: Final = re.compile(r"^```\{include\} (?P<path>\S+\.md)$", re.MULTILINE)
_LINK: Final = re.compile(r"(?<=\]\()(?P<path>[^)#:\s]*\.md)(?=[)#])")


def pages_of(docs: Path) -> dict[Path, Path]:
    """Return README → the page of the reference that includes it; the root's is the first page."""
    found = {docs.parent / "README.md": docs / "index.md"}
    for page in sorted((docs / "reference").glob("*.md")):
        for include in _INCLUDED.finditer(page.read_text(encoding="utf-8")):
            found[(page.parent / include["path"]).resolve()] = page
    return found


def with_pages(text: str, folder: Path, pages: Mapping[Path, Path]) -> str:
    """Return the text of a page or README in `folder`, whose links to other READMEs lead to their pages."""

    def link(found: re.Match[str]) -> str:
        page = pages.get((folder / found["path"]).resolve())
        if page is not None:
            return Path(os.path.relpath(page, folder)).as_posix()
        if "/" in found["path"] or _DOCS in {folder, *folder.parents}:
            return found["path"]
        # `:relative-docs:` of an include mends only the links that begin with dots.
        return f"../{folder.name}/{found['path']}"

    return _LINK.sub(link, text)


def _read(_app: object, path: Path, _docname: str, content: list[str]) -> None:
    content[0] = with_pages(content[0], (_DOCS / path).resolve().parent, pages_of(_DOCS))


def _read_page(_app: object, docname: str, content: list[str]) -> None:
    content[0] = with_pages(content[0], (_DOCS / docname).parent, pages_of(_DOCS))


def setup(app: Sphinx) -> dict[str, bool]:
    """Change the links of each page, and of each README that a page includes."""
    app.connect("include-read", _read)
    app.connect("source-read", _read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
