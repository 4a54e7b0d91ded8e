"""How Sphinx builds these pages: `tox run -e docs`, or `sphinx-build -W docs docs/_build/html`.

Pages are Markdown (MyST). The code in them is run by the tests (`docs/conftest.py`), not here.
"""

from __future__ import annotations

import logging
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(_DOCS / "_extensions"), str(_DOCS.parent / "scripts")]

import reference_pages  # noqa: E402  # found by the line above

project = "Penstock"
copyright = "the Penstock developers"  # noqa: A001  # Sphinx's name
author = "the Penstock developers"
version = release = penstock.__version__

extensions = [
    "code_colours",
    "dead_links",
    "docstrings",
    "front_film",
    "gallery_page",
    "install_note",
    "other_words",
    "readmes",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_llms_txt",
    "timelines",
]
exclude_patterns = ["_build", "_extensions", "_static"]
nitpicky = False
# Options of commands begin with two hyphens.
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
# Links out of docs/, to files of the repository, are for readers of the repository.
# An attribute called `name` is one of many; its docstring needs no link.
suppress_warnings = ["myst.xref_missing", "ref.python"]
#: The role of text between single backquotes in docstrings.
default_role = "code"

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
# Attributes are described once, in the docstring of their class.
napoleon_use_ivar = True

# The theme copies the contents of every page into every other one: with a line for each method of the API
# that took three quarters of the time.
toc_object_entries = False
html_theme = "furo"
html_title = "Penstock"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(_DOCS / "_extensions" / "search_scorer.js")
html_show_sourcelink = False
copybutton_exclude = ".linenos, .gp, .go"

llms_txt_title = "Penstock"
llms_txt_summary = (
    "Graphs of calculators over streams of timestamped packets, in Python: a graph is a text file "
    "(the format is MediaPipe's), calculators are Python functions or classes, and everything but the "
    "engine is a plugin."
)

#: The index of all calculators. Git holds it; the pages beside it are written before each build.
_INDEX = "reference/calculators/README"
#: Where there are hundreds of pages, which an index lists.
_MANY = ("reference/calculators/", "decisions/")


def _write_calculator_pages(_app: object) -> None:
    """Write the pages of the calculators where Sphinx then finds them."""
    # The theme makes log records visible. Warnings of an example's node alone are expected, because its back
    # edge closes no cycle, and each run of a picture tells of its start and end.
    logging.getLogger("penstock").setLevel(logging.ERROR)
    reference_pages.write_pages(_DOCS / "reference" / "calculators")


def _link_many_pages(_app: object, docname: str, source: list[str]) -> None:
    """Put links to the calculators into their index; keep them and the decisions out of the navigation.

    The theme writes the whole navigation into each page: with 400 more entries that took five minutes, and
    nobody looks for one among 400 there. The indexes have them all.
    """
    if docname == _INDEX:
        source[0] = reference_pages.with_links(source[0])
    elif docname.startswith(_MANY) and not docname.endswith("/index"):
        source[0] = f"---\norphan: true\n---\n\n{source[0]}"


def _answer_for_the_folder(app: Sphinx, error: Exception | None) -> None:
    """Let `reference/calculators/` show the index, which git holds as a README."""
    index = Path(app.outdir) / f"{_INDEX}.html"
    if error is None and index.is_file():
        shutil.copyfile(index, index.with_name("index.html"))


def _take_stars_as_they_are(_app: object, _context: object, lines: list[str]) -> None:
    """Escape the stars of help texts: `'videos/*.mp4'` has no emphasis."""
    lines[:] = [line.replace("*", r"\*") for line in lines]


def setup(app):  # noqa: ANN001, ANN201  # Sphinx's
    """Connect the functions above."""
    app.connect("builder-inited", _write_calculator_pages)
    app.connect("source-read", _link_many_pages)
    app.connect("build-finished", _answer_for_the_folder)
    for part in ("description", "options"):
        app.connect(f"sphinx-click-process-{part}", _take_stars_as_they_are)
