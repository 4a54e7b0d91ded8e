"""The reference of the calculators: a page for each can be made, and the index of them is current."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "reference_pages.py"
#: Git holds no page, so what a reader of the repository reads may link to the index only.
SOURCES = [
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "core/*.md",
        "plugins/*/*.md",
        "subgraphs/**/*.md",
        "contrib/**/*.md",
    )
    for path in ROOT.glob(pattern)
    if path.parent.name not in {"calculators", "_build"}
]


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False, timeout=100
    )


@pytest.fixture(scope="module")
def script():
    """The script as a module; it belongs to no package."""
    spec = importlib.util.spec_from_file_location("penstock_workspace_reference_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


@pytest.fixture(scope="module")
def pages(script):
    return script.pages()


@pytest.fixture(scope="module")
def pictures(script):
    return script.pictures()


@pytest.fixture
def made_once(script, pages, pictures, monkeypatch):
    """The script, with pages and pictures that are made once for all tests: they take seconds."""
    monkeypatch.setattr(script, "pages", lambda: pages)
    monkeypatch.setattr(script, "pictures", lambda: pictures)
    return script


def test_every_page_can_be_made_and_the_index_is_current(made_once, capsys):
    assert (made_once.main(["--check"]), capsys.readouterr().out) == (0, "")


def test_the_script_runs_by_itself():
    ended = run("--help")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "--check" in ended.stdout


def test_there_is_a_page_and_a_line_of_the_index_for_each_standard_calculator(script, pages):
    names = sorted(script.official_packs()["calculator"])

    assert list(pages) == [f"{name}.md" for name in names]
    listed = [line.split("`")[1] for line in script.index().splitlines() if line.startswith("| `")]
    assert sorted(listed) == names


def test_the_index_has_a_heading_for_each_pack_and_each_purpose(script):
    text = script.index()
    pack, _, _ = text.partition("## penstock-calculators\n")[2].partition("\n## ")

    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(script.GROUPS)
    assert "### Side packets\n" in pack
    assert "GateCalculator" in pack.partition("### Choose and route packets")[2].partition("###")[0]
    assert "GlScalerCalculator" not in pack


def test_a_calculator_without_purpose_is_an_error_that_says_where_to_add_it(script):
    packs = {name: script.describe(name, script.default_registry()).distribution for name in script._names()}

    with pytest.raises(script.GroupError, match=r"^BlurCalculator has no purpose; add it to a group in"):
        script.grouped({**packs, "BlurCalculator": "penstock-image"})


def test_a_group_that_names_a_calculator_that_is_gone_is_an_error(script):
    packs = {name: script.describe(name, script.default_registry()).distribution for name in script._names()}
    del packs["GateCalculator"]

    with pytest.raises(script.GroupError, match=r"^no calculator 'Gate\*' is left for 'Choose and route"):
        script.grouped(packs)


def test_a_missing_or_stale_index_is_reported_and_written(made_once, tmp_path, capsys):
    index = tmp_path / "README.md"
    check = ["--folder", str(tmp_path), "--check"]

    assert made_once.main(check) == 1
    assert capsys.readouterr().out == "README.md is missing; run: python scripts/reference_pages.py\n"
    index.write_text("# Calculators\n")
    assert made_once.main(check) == 1
    assert capsys.readouterr().out == "README.md is stale; run: python scripts/reference_pages.py\n"
    assert index.read_text() == "# Calculators\n"

    assert made_once.main(check[:2]) == 0
    assert made_once.main(check) == 0
    assert index.read_text() == made_once.index()


def test_pages_are_written_where_they_changed_and_removed_with_their_calculator(made_once, tmp_path):
    script = made_once
    script.write_pages(tmp_path)
    gate, mux, index = (tmp_path / name for name in ("GateCalculator.md", "MuxCalculator.md", "README.md"))
    before = gate.stat().st_mtime_ns
    text = mux.read_text()
    mux.write_text(text + "more\n")
    (tmp_path / "NoCalculator.md").write_text("of nothing\n")
    (tmp_path / "NoCalculator.svg").write_text("of nothing\n")
    index.write_text("the index\n")

    script.write_pages(tmp_path)

    assert gate.stat().st_mtime_ns == before
    assert mux.read_text() == text
    assert list(tmp_path.glob("NoCalculator.*")) == []
    assert (tmp_path / "CannyEdgeCalculator.svg").read_text() == script.pictures()["CannyEdgeCalculator.svg"]
    assert index.read_text() == "the index\n"


def test_a_page_that_cannot_be_made_is_an_error_that_names_the_calculator(
    script, tmp_path, monkeypatch, capsys
):
    described = script.describe

    def describe(name, registry):
        if name == "MuxCalculator":
            raise ValueError("no example")
        return described(name, registry)

    monkeypatch.setattr(script, "describe", describe)

    statuses = [script.main(["--folder", str(tmp_path), "--check"]), script.main(["--folder", str(tmp_path)])]

    assert statuses == [1, 1]
    message = "the page of MuxCalculator cannot be made: ValueError: no example\n"
    assert capsys.readouterr().out == 2 * message
    assert list(tmp_path.iterdir()) == []


def test_the_built_index_links_each_page_and_the_one_in_git_links_none(script, pages):
    index = script.index()
    built = script.with_links(index)

    assert "](" not in index
    assert [name for name in pages if f"]({name}) |" not in built] == []
    assert ("sphinx-build" in index, "sphinx-build" in built) == (True, False)


def test_no_page_of_the_repository_links_to_a_page_that_git_does_not_hold():
    assert ROOT / "README.md" in SOURCES
    assert [path for path in SOURCES if "Calculator.md" in path.read_text(encoding="utf-8")] == []


def test_types_of_ports_are_shown_without_their_modules(script, pages):
    page = pages["FlowLimiterCalculator.md"]

    assert "| `OPTIONS` | `FlowLimiterCalculatorOptions \\| CalculatorOptions` | optional; replaces" in page
    assert script._short("list[penstock_formats.messages.detection_pb2.Detection]") == "list[Detection]"
    assert script._short("same as input 0") == "same as input 0"


def test_every_page_has_an_example_and_knows_its_ports(pages):
    lacking = [
        name for name, text in pages.items() if "## Example" not in text or "ports are not known" in text
    ]

    assert lacking == []


def test_timelines_stay_within_a_hundred_columns(pages):
    wide = [
        (name, line)
        for name, text in pages.items()
        for line in text.partition("## Timeline")[2].partition("```text\n")[2].splitlines()
        if len(line) > 100
    ]

    assert wide == []


def test_no_calculator_is_left_without_timeline_that_is_not_there(script, pages):
    assert {f"{name}.md" for name in script.WITHOUT_TIMELINE} <= pages.keys()


def test_the_times_of_a_feed_are_for_streams_that_are_there(script):
    """An entry that matches no stream of its calculator's example would silently do nothing."""
    feeds = sys.modules["drawing.timeline_feeds"]
    unmatched = [
        (pattern, stream)
        for pattern, own in feeds.STAMPS.items()
        for stream in own
        if stream != "*" and not any(stream in _inputs(script, name) for name in _matching(script, pattern))
    ]

    assert unmatched == []


def _matching(script, pattern):
    feeds = sys.modules["drawing.timeline_feeds"]
    return [name for name in script.official_packs()["calculator"] if feeds.fnmatchcase(name, pattern)]


def _inputs(script, name):
    registry = script.default_registry()
    graph = script.read_graph(script.describe(name, registry).example, registry)
    return {entry.rpartition(":")[2] for entry in graph.node[0].input_stream}
