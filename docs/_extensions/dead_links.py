"""Warns of links to addresses that no browser can open.

docutils makes a link of any text that looks like an address, such as `TAG:1` or `file:line` in a
docstring. In backquotes it stays text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx

#: "" is a link within the site.
_SCHEMES: Final = {"", "http", "https", "mailto"}
#: Addresses of cameras, which the help of commands has as examples: they become text.
_EXAMPLES: Final = {"rtsp", "rtsps", "rtmp", "udp", "srt"}


def is_dead(address: str) -> bool:
    """Return whether a browser can do nothing with an address."""
    return urlsplit(address).scheme not in _SCHEMES


def _warn(_app: Sphinx, page: document, _docname: str) -> None:
    from docutils import nodes  # comes with Sphinx, which the tests of this module do without
    from sphinx.util import logging

    for link in list(page.findall(nodes.reference)):
        if urlsplit(link.get("refuri", "")).scheme in _EXAMPLES:
            link.replace_self(link.children)
        elif is_dead(link.get("refuri", "")):
            logging.getLogger(__name__).warning(
                "%r is a dead link; put the text in backquotes", link["refuri"], location=link
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at each page before it is written."""
    app.connect("doctree-resolved", _warn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
