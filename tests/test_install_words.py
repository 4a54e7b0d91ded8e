"""No page tells anybody to install the other project that is called `penstock` on PyPI."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
try:
    from install_note import asks_an_index
finally:
    del sys.path[0]

#: What people read: pages, and texts of which pages are made. Decisions and changes tell what once was.
READ = sorted(
    path
    for place in ("docs", "examples", "core", "plugins", "subgraphs", "contrib", "benchmarks", ".")
    for pattern in (("*.md",) if place == "." else ("**/*.md", "**/*.py", "**/*.pbtxt"))
    for path in (ROOT / place).glob(pattern)
    if not {"_build", "tests", "decisions", ".venv"} & set(path.parts) and path.name != "CHANGELOG.md"
)
#: `penstock` or `penstock[...]` by name: not from git (`@`), not a file, not a pack (`penstock-...`).
_COMMAND = re.compile(r"\b(?:pip install|uv add|uvx|pipx install|uv tool install)\b(?P<asked>[^`\n&|#]*)")
_NAME = re.compile(r"""(?:^|[\s"'(])penstock(?:\[[\w,-]*\])?(?=["'\s),;`]|$)(?!["']? @ )""")
_PYPI = re.compile(r"pypi\.org/(?:project|p)/penstock\b(?!-)")


def strays(text):
    """Return the commands and links of a text that lead to the other project."""
    commands = [found[0] for found in _COMMAND.finditer(text) if _NAME.search(found["asked"])]
    return commands + [found[0] for found in _PYPI.finditer(text)]


def test_no_page_installs_the_other_project_of_the_name():
    found = {
        path.relative_to(ROOT).as_posix(): stray
        for path in READ
        if (stray := strays(path.read_text(encoding="utf-8")))
    }

    assert found == {}, "write [the extra `x`](.../docs/install.md#extras), or the form with `@ git+https://`"
    assert len(READ) > 500


@pytest.mark.parametrize(
    "text",
    [
        "`pip install penstock` brings it",
        'pip install "penstock[live]"',
        "RUN pip install 'penstock[ray]' your-pack",
        "uv pip install --upgrade penstock",
        "uv add penstock[audio]",
        "[Penstock](https://pypi.org/project/penstock/)",
    ],
)
def test_a_command_for_the_other_project_is_found(text):
    assert len(strays(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        'pip install "penstock[live] @ git+https://..."',
        'pip install --find-links dist "dist/penstock-0.1.0-py3-none-any.whl[live]"',
        "pip install -e plugins/video",
        "pip install penstock-video",
        "pip install uv && uv run penstock demo",
        "https://pypi.org/project/penstock-core/",
    ],
)
def test_other_commands_are_left_alone(text):
    assert strays(text) == []


def test_pages_with_names_of_packs_get_a_note_where_penstock_is_installed_from():
    assert asks_an_index('pip install "penstock-editor[picture]"')
    assert asks_an_index("$ pip install penstock-record")
    assert not asks_an_index("pip install -e './penstock-my-pack[testing]'")
    assert not asks_an_index("pip install ./core ./plugins/executors")
    assert not asks_an_index('pip install --find-links dist "dist/penstock-0.1.0-py3-none-any.whl[live]"')
