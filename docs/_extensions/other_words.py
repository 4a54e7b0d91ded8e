"""The search finds calculators by words that their pages do not have.

The words of a calculator's name and of its first sentence bring the words of `search_words` along as
keywords, which Sphinx's search looks at as it looks at the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from search_words import keywords_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def _add(app: Sphinx, document: nodes.document) -> None:
    folder, _, name = app.env.docname.rpartition("/")
    summary = next(iter(document.findall(nodes.paragraph)), None)
    if folder != "reference/calculators" or name == "README" or summary is None:
        return
    words = keywords_of(name, summary.astext())
    if words:
        document += nodes.meta(name="keywords", content=", ".join(words))


def setup(app: Sphinx) -> dict[str, bool]:
    """Give each page of a calculator its keywords."""
    app.connect("doctree-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
