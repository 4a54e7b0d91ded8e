"""The reference pages of the calculators: written, current, and of every calculator."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "reference_pages.py"


def check(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False, timeout=100
    )


@pytest.fixture(scope="module")
def script():
    """The script as a module; it is no package's."""
    spec = importlib.util.spec_from_file_location("penstock_workspace_reference_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


@pytest.fixture(scope="module")
def pages(script):
    return script.pages()


def test_the_reference_pages_are_current():
    ended = check("--check")

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_missing_stale_and_left_over_pages_are_told_and_written(tmp_path):
    assert check("--folder", str(tmp_path)).returncode == 0
    (tmp_path / "GateCalculator.md").unlink()
    (tmp_path / "NoCalculator.md").write_text("of nothing\n")
    with (tmp_path / "MuxCalculator.md").open("a") as file:
        file.write("more\n")

    told = check("--folder", str(tmp_path), "--check")

    assert told.returncode == 1
    assert told.stdout.splitlines() == [
        "GateCalculator.md is missing; run: python scripts/reference_pages.py",
        "MuxCalculator.md is stale; run: python scripts/reference_pages.py",
        "NoCalculator.md is of no calculator; run: python scripts/reference_pages.py",
    ]
    check("--folder", str(tmp_path))
    assert check("--folder", str(tmp_path), "--check").returncode == 0


def test_every_page_has_an_example_and_knows_its_ports(pages):
    lacking = [
        name
        for name, text in pages.items()
        if name != "README.md" and ("## Example" not in text or "ports are not known" in text)
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
    feeds = sys.modules["timeline_feeds"]
    unmatched = [
        (pattern, stream)
        for pattern, own in feeds.STAMPS.items()
        for stream in own
        if stream != "*" and not any(stream in _inputs(script, name) for name in _matching(script, pattern))
    ]

    assert unmatched == []


def _matching(script, pattern):
    feeds = sys.modules["timeline_feeds"]
    return [name for name in script.official_packs()["calculator"] if feeds.fnmatchcase(name, pattern)]


def _inputs(script, name):
    registry = script.default_registry()
    graph = script.read_graph(script.describe(name, registry).example, registry)
    return {entry.rpartition(":")[2] for entry in graph.node[0].input_stream}
