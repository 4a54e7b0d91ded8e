"""Says on each page with `pip install penstock-...` where Penstock is installed from.

It is on no package index yet, so pip finds no such name. The install page says what works until then.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from docutils.nodes import Element, document
    from sphinx.application import Sphinx

#: A command that asks an index for a pack; not one for a folder or a file.
_ASKS: Final = re.compile(
    r"pip install (?!-e|\./|--find-links)[^`\n]*\bpenstock-[a-z]+(?:-[a-z]+)*(?![\w/-])"
)
#: Pages about the installation, and about how Penstock is made.
_LEFT_OUT: Final = ("install", "releasing", "decisions/")


def asks_an_index(text: str) -> bool:
    """Return whether a command in a text asks a package index for a pack of Penstock."""
    return bool(_ASKS.search(text))


def _add(app: Sphinx, page: document) -> None:
    from docutils import nodes  # comes with Sphinx, which the tests of this module do without
    from sphinx import addnodes

    if app.env.docname.startswith(_LEFT_OUT):
        return
    for code in page.findall(lambda one: isinstance(one, nodes.literal | nodes.literal_block)):
        if not asks_an_index(code.astext()):
            continue
        block: Element = code
        while not isinstance(block.parent, nodes.section):
            block = block.parent
        link = addnodes.pending_xref(
            "", nodes.inline("", "how to install it until then"), refdomain="std", reftype="doc",
            reftarget="/install", refexplicit=True, refwarn=True,
        )  # fmt: skip
        said = nodes.paragraph("", "Penstock is on no package index yet: ", link, nodes.Text("."))
        said["classes"].append("install-note")
        block.parent.insert(block.parent.index(block) + 1, said)
        return


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at each page when it has been read."""
    app.connect("doctree-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
