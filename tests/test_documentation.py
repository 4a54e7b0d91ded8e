"""The documentation as files: every link leads somewhere, and every page is described where it is listed."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import penstock
from penstock import limits

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for pattern in (
        "*.md",
        "benchmarks/*.md",
        "core/*.md",
        "plugins/*/*.md",
        "subgraphs/**/*.md",
        "contrib/**/*.md",
        "docs/**/*.md",
    )
    for path in ROOT.glob(pattern)
    if not {"_build", ".venv"} & set(path.parts)
    and (path.parent.name != "calculators" or path.name == "README.md")
)
INDEXES = sorted(DOCS.rglob("index.md"))
API = sorted({*(DOCS / "reference" / "api").glob("*.md")} - {*INDEXES})

_CODE = re.compile(r"^(`{3,}).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|mailto:)(?P<path>[^)#\s]*)(?:#(?P<heading>[^)\s]*))?\)")


def text_of(page):
    return _CODE.sub(lambda found: " " * len(found[0]), page.read_text(encoding="utf-8"))


def headings_of(page):
    """The anchors of a page and of what it includes: headings in lower case, with hyphens for spaces."""
    text = page.read_text(encoding="utf-8")
    for included in re.findall(r"^```\{include\} (.*)$", text, re.MULTILINE):
        text += (page.parent / included).read_text(encoding="utf-8")
    lines = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def broken_links(page):
    for link in _LINK.finditer(text_of(page)):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        if not target.exists() or (link["heading"] and link["heading"] not in headings_of(target)):
            yield link[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(page):
    assert list(broken_links(page)) == []


def test_a_link_to_a_missing_file_or_heading_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A title\n[a](page.md#a-title) [b](gone.md) [c](#b) `[d](gone.md)` [e](https://pypi.org)\n"
    )

    assert list(broken_links(page)) == ["](gone.md)", "](#b)"]


@pytest.mark.parametrize("index", INDEXES, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_index_lists_and_describes_each_page_of_its_folder(index):
    text = index.read_text(encoding="utf-8")
    # The pages of some folders are in their index alone, and not in the navigation: docs/conf.py says why.
    listed = re.findall(r"^([\w/-]+)$", text.partition("```{toctree}")[2], re.MULTILINE)
    described = re.findall(r"^\| \[[^]]+\]\(([^)]+)\.md\) \| \w", text.replace("`", ""), re.MULTILINE)
    described += re.findall(r"^\* - \[[^]]+\]\(([^)]+)\.md\)\n  - \w", text, re.MULTILINE)
    in_folder = {page.stem for page in index.parent.glob("*.md")} - {"index"}

    assert in_folder <= set(described)
    # In the navigation pages stand in the order of the table.
    assert listed == (described if listed else [])


def test_every_public_name_is_on_a_page_of_the_reference_and_every_page_is_listed():
    pages = {
        page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "reference" / "api").glob("*.md")
    }
    text = pages["penstock"]

    assert [name for name in penstock.__all__ if not re.search(rf"\b{name}\b", text)] == []
    for module in (
        "errors",
        "config",
        "explain",
        "limits",
        "log",
        "tracing",
        "lowlevel",
        "ports",
        "error_text",
        "types",
        "readers",
        "runs",
        "packs",
    ):
        assert f".. automodule:: penstock.{module}\n" in pages[module]
        assert f"[`penstock.{module}`]({module}.md)" in pages["index"]


def test_the_table_of_limits_has_every_limit_with_its_default():
    page = (DOCS / "how-to" / "graphs-from-strangers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([0-9,]+) \| .+ \|$", page, re.MULTILINE)

    assert {name: int(value.replace(",", "")) for name, value in rows} == limits.Limits()._asdict()


# --- what the build does with docstrings ----------------------------------------------------------


def extension(name):
    """An extension of the documentation's build as a module; it belongs to no package."""
    spec = importlib.util.spec_from_file_location(
        f"penstock_docs_{name}", DOCS / "_extensions" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("address", "dead"),
    [
        ("TAG:1", True),
        ("TAG:index:name", True),
        ("file:line", True),
        ("https://ui.perfetto.dev", False),
        ("../how-to/log.html#log", False),
        ("", False),
    ],
)
def test_text_that_looks_like_an_address_is_a_dead_link(address, dead):
    assert extension("dead_links").is_dead(address) is dead


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["stream and count.", ":type: What was dropped"], ["What was dropped: stream and count."]),
        (
            ["text.", "", ":returns: text or a path", ":rtype: A graph"],
            ["text.", "", ":returns: A graph: text or a path"],
        ),
        (["", ":rtype: int"], ["", ":rtype: int"]),
        ([":ivar file, line: where it is."], [":ivar file,line: where it is."]),
        ([":ivar file: where it is."], [":ivar file: where it is."]),
        (["Two `Packet`s."], ["Two `Packet`\\ s."]),
        (
            ["Wait.", "", ":param s: seconds.", ":raises ValueError: never.", ":raises As `next`.:"],
            ["Wait.", "", "", "Errors: As `next`.", "", ":param s: seconds.", ":raises ValueError: never."],
        ),
    ],
)
def test_a_docstring_stays_what_its_author_wrote(before, after):
    assert extension("docstrings").mended(before) == after


def test_links_between_readmes_lead_to_the_pages_that_include_them():
    readmes = extension("readmes")
    pages = readmes.pages_of(DOCS)
    text = "[a](../../README.md) [b](../views/README.md#traces) [c](../image/README.md) [d](https://pypi.org)"
    beside = "[e](lint.md#rules) [f](notes.md)"

    assert pages[ROOT / "plugins" / "views" / "README.md"] == DOCS / "reference" / "views.md"
    assert readmes.with_pages(text, ROOT / "plugins" / "cli", pages) == (
        "[a](../../docs/index.md) [b](../../docs/reference/views.md#traces) [c](../image/README.md) "
        "[d](https://pypi.org)"
    )
    # An include mends only links that begin with dots.
    assert readmes.with_pages(beside, ROOT / "plugins" / "cli", pages) == (
        "[e](../../docs/reference/lint.md#rules) [f](../cli/notes.md)"
    )
    assert readmes.with_pages("[f](notes.md)", DOCS / "how-to", pages) == "[f](notes.md)"


@pytest.mark.parametrize("page", API, ids=lambda page: page.stem)
def test_what_the_reference_shows_or_leaves_out_is_there(page) -> None:
    directives = re.compile(r"^(?:\.\. auto\w+:: (\S+)| +:exclude-members: (.+))$", re.MULTILINE)
    shown = None
    for name, left_out in directives.findall(page.read_text(encoding="utf-8")):
        if name:
            shown = pkgutil.resolve_name(name)
        else:
            assert [one for one in left_out.split(", ") if not hasattr(shown, one)] == []
    assert shown is not None
