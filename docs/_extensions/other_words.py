"""The search finds pages by words that they do not have, and lists first what it finds by titles or by these.

The words of a calculator's name and of its first sentence bring the words of `search_words` along; other
pages have theirs in `PAGES` there. All become keywords, which Sphinx's search looks at as it looks at the
text, and `page_words.js`, by which `search_scorer.js` orders what is found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from docutils import nodes
from search_words import PAGES, keywords_of, stem, words_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_SCRIPT: Final = "page_words.js"


def _words(name: str, document: nodes.document) -> tuple[list[str], set[str]]:
    """Return the words that lead to a page, and the stems of words of its own that say what it is about."""
    folder, _, calculator = name.rpartition("/")
    if folder != "reference/calculators" or calculator == "README":
        return PAGES.get(name, []), set()
    summary = next(iter(document.findall(nodes.paragraph)), nodes.paragraph()).astext()
    return keywords_of(calculator, summary), words_of(f"{calculator} {summary}")


def _kept(env: BuildEnvironment) -> dict[str, list[str]]:
    """Return page → its words, which the environment keeps for the next build."""
    if not hasattr(env, "penstock_page_words"):
        env.penstock_page_words = {}  # type: ignore[attr-defined]
    return env.penstock_page_words  # type: ignore[attr-defined, no-any-return]


def _add(app: Sphinx, document: nodes.document) -> None:
    words, own = _words(app.env.docname, document)
    _kept(app.env)[app.env.docname] = sorted(own.union(map(stem, words)))
    if words:
        document += nodes.meta(name="keywords", content=", ".join(words))


def _merge(_app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    _kept(env).update({name: words for name, words in _kept(other).items() if name in docnames})


def _purge(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _kept(env).pop(docname, None)


def _load(app: Sphinx, page: str, _template: str, _context: dict[str, Any], _document: object) -> None:
    if page == "search":
        app.add_js_file(_SCRIPT)


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    words = {name: found for name, found in sorted(_kept(app.env).items()) if found}
    text = f"window.pageWords = {json.dumps(words, separators=(',', ':'))};\n"
    (Path(app.outdir) / "_static" / _SCRIPT).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Give pages their keywords, and the search the same words."""
    missing = sorted(name for name in PAGES if not (Path(app.srcdir) / f"{name}.md").is_file())
    if missing:
        raise ValueError(f"PAGES in search_words.py names pages that are gone: {', '.join(missing)}")
    app.connect("doctree-read", _add)
    app.connect("env-merge-info", _merge)
    app.connect("env-purge-doc", _purge)
    app.connect("html-page-context", _load)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
