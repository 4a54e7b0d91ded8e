"""Warns of links to addresses that no browser can open.

docutils makes a link of any text that looks like an address, such as `TAG:1` or `file:line` in a
docstring. In backquotes it stays text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.util import logging

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

_LOGGER: Final = logging.getLogger(__name__)
#: "" is a link within the site.
_SCHEMES: Final = {"", "http", "https", "mailto"}


def dead_links(document: nodes.document) -> Iterator[nodes.reference]:
    """Yield the links of a document whose scheme is none that browsers open."""
    for link in document.findall(nodes.reference):
        if urlsplit(link.get("refuri", "")).scheme not in _SCHEMES:
            yield link


def _warn(_app: Sphinx, document: nodes.document, _docname: str) -> None:
    for link in dead_links(document):
        _LOGGER.warning("%r is a dead link; put the text in backquotes", link["refuri"], location=link)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at each page before it is written."""
    app.connect("doctree-resolved", _warn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
