"""How Sphinx builds these pages: `tox run -e docs`, or `sphinx-build -W docs docs/_build/html`.

Pages are Markdown (MyST). The code in them is run by the tests (`docs/conftest.py`), not here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import penstock

sys.path.insert(0, str(Path(__file__).resolve().parent / "_extensions"))

project = "Penstock"
copyright = "the Penstock developers"  # noqa: A001  # Sphinx's name
author = "the Penstock developers"
version = release = penstock.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_llms_txt",
    "timelines",
]
exclude_patterns = ["_build", "_extensions"]
nitpicky = False
# Options of commands begin with two hyphens.
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
# Links out of docs/, to files of the repository, are for readers of the repository.
# An attribute called `name` is one of many; its docstring needs no link.
suppress_warnings = ["myst.xref_missing", "ref.python"]
#: What stands between single backquotes in docstrings.
default_role = "code"

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
# Attributes are said once, in the docstring of their class.
napoleon_use_ivar = True

html_theme = "furo"
html_title = "Penstock"
html_show_sourcelink = False
copybutton_exclude = ".linenos, .gp, .go"

llms_txt_title = "Penstock"
llms_txt_summary = (
    "Graphs of calculators over streams of timestamped packets, in Python: a graph is a text file "
    "(the format is MediaPipe's), calculators are Python functions or classes, all but the engine is a "
    "plugin."
)

#: The page of all calculators, which is also read where toctrees mean nothing.
_CALCULATORS = "reference/calculators/README"


def _add_calculator_pages(_app: object, docname: str, source: list[str]) -> None:
    """Put the pages of the calculators below the page that lists them."""
    if docname == _CALCULATORS:
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*Calculator\n```\n"


def setup(app):  # noqa: ANN001, ANN201  # Sphinx's
    """Connect what is said above."""
    app.connect("source-read", _add_calculator_pages)
