"""The page as one HTML file, from the files in `page/`: markup, style, and modules of plain JavaScript.

The modules are ES modules that import each other; here they are put together in the order of their imports,
without the words `import` and `export`: all their names are in one scope, and unique.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

_IMPORT: Final = re.compile(r'^import \{[^}]*\} from "\./(?P<file>\w+\.js)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(async )?(function|class|const|let) )", re.MULTILINE)


def page(title: str, nonce: str) -> str:
    """Return the page.

    Args:
        title: of the page, until it knows more.
        nonce: of its script and its style, as its Content-Security-Policy names it.
    """
    parts = {"TITLE": escape(title), "NONCE": nonce, "STYLE": _read("page.css"), "SCRIPT": script("main.js")}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read("index.html"))


@cache
def script(entry: str) -> str:
    """Return a module and all that it imports, as one script in the order of the imports."""
    found: dict[str, str] = {}
    _collect(entry, found)
    return "\n".join(found.values())


def _collect(name: str, found: dict[str, str]) -> None:
    """Add a module to `found`, those that it imports before it. They import in no circles."""
    if name in found:
        return
    text = _read(name)
    for match in _IMPORT.finditer(text):
        _collect(match["file"], found)
    found[name] = f"// {name}\n{_EXPORT.sub('', _IMPORT.sub('', text))}"


def _read(name: str) -> str:
    return (files("penstock_live") / "page" / name).read_text(encoding="utf-8")
