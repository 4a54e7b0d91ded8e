"""`penstock paths` and `penstock report`, of traces that `penstock run --trace` writes."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium")
SINK = 'node { calculator: "CliWrites" input_stream: "n" input_side_packet: "TARGET:target" }'


@pytest.fixture
def trace(graph, invoke, tmp_path):
    """Return the trace of a run of five packets from a source to a sink."""
    file = tmp_path / "trace.json"
    path = graph(SINK)
    sides = ("--side", "count=5", "--side", f"target={tmp_path / 'numbers.txt'}")
    assert invoke("run", path, *sides, "--trace", file, "--quiet").exit_code == 0
    return file


def test_a_traced_run_says_how_long_packets_took(graph, invoke, tmp_path):
    sides = ("--side", "count=5", "--side", f"target={tmp_path / 'numbers.txt'}")
    file = tmp_path / "trace.json"
    said = invoke("run", graph(SINK), *sides, "--trace", file, "--no-progress").stderr
    assert re.search(
        r"^path: n to CliWrites: 5 packets, median \S+ [mu]s, p99 \S+ [mu]s, worst ", said, re.MULTILINE
    )
    assert f"path: `penstock paths {file}` shows where the time goes" in said


def test_a_trace_in_perfettos_form_is_much_smaller_than_json(graph, invoke, tmp_path):
    path, small, large = graph(), tmp_path / "t.pftrace", tmp_path / "t.json"
    for file in (small, large):
        result = invoke("run", path, "--side", "count=400", "--trace", file, "--no-progress")
        assert result.exit_code == 0
        assert f"in {file} (" in result.stderr
    assert small.stat().st_size * 3 < large.stat().st_size
    result = invoke("paths", small)
    assert result.exit_code == 2
    assert "t.pftrace is no trace that `penstock run --trace FILE.json` writes" in result.stderr


def test_paths_are_tables_of_where_the_time_went(invoke, trace):
    result = invoke("paths", trace)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("graph.pbtxt, run ")
    assert lines[2].startswith("n to CliWrites: 5 packets, median ")
    heads = [line.split() for line in lines if "own queue" in line]
    assert [line[0] for line in heads] == ["mean", "worst"]
    assert [line.split()[0] for line in lines if "CliWrites  " in line] == ["CliWrites", "CliWrites"]


def test_paths_as_json_have_the_same_numbers(invoke, trace):
    (run,) = json.loads(invoke("paths", trace, "--json").output)["runs"]
    (path,) = run["paths"]
    assert (path["source"], path["end"], path["packets"]) == ("n", "CliWrites", 5)
    assert 0 < path["median_ms"] <= path["p99_ms"] <= path["worst_ms"]
    (leg,) = path["worst"]["legs"]
    parts = ("work_ms", "own_queue_ms", "thread_ms", "other_input_ms")
    assert sum(leg[part] for part in parts) == pytest.approx(path["worst_ms"], abs=0.01)


@pytest.mark.parametrize(
    ("budget", "code", "words"),
    [
        ("CliWrites=10s", 0, ""),
        ("n>CliWrites=10s", 0, ""),
        ("CliWrites=0.1us", 1, "n to CliWrites: 99 of 100 packets took up to"),
        ("other=1s", 2, "the trace has no such path; there are: n>CliWrites"),
        ("m>CliWrites=1s", 2, "the trace has no such path"),
        ("CliWrites", 2, "write it as out=80ms, or in>out=80ms"),
        ("CliWrites=3h", 2, "units are us, ms and s"),
    ],
)
def test_a_budget_that_is_exceeded_exits_with_1(invoke, trace, budget, code, words):
    result = invoke("paths", trace, "--budget", budget)
    assert result.exit_code == code
    assert words in result.stderr


def test_what_is_missing_or_no_trace_is_said(invoke, tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}", encoding="utf-8")
    for command in ("paths", "report"):
        missing = invoke(command, tmp_path / "nosuch.json")
        assert (missing.exit_code, "does not exist" in missing.stderr) == (4, True)
        no_trace = invoke(command, wrong)
        assert (no_trace.exit_code, "wrong.json is no trace" in no_trace.stderr) == (2, True)


# --- the page --------------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """What a page holds: its text, its tags, and every address in it."""

    def __init__(self, text):
        super().__init__()
        self.words, self.tags, self.addresses, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action")]

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_has_all_that_the_trace_tells_and_needs_nothing_else(invoke, trace, tmp_path):
    pytest.importorskip("pygraphviz", reason="the picture needs penstock-views[draw]")
    result = invoke("report", trace)
    page = tmp_path / "trace.html"
    assert result.exit_code == 0
    assert f"report: {page} (" in result.stderr
    text = page.read_text(encoding="utf-8")
    read = Page(text)
    said = " ".join(read.words)
    for words in ("n to CliWrites: 5 packets", "From sources to ends", "Nodes", "Queues", "How it ended"):
        assert words in said
    assert "svg" in read.tags
    assert re.search(r"5 x \S+ [mu]s, \d+%", said)  # in the picture
    assert {"script", "link", "img", "iframe"}.isdisjoint(read.tags)
    assert read.addresses == []
    assert "default-src 'none'" in text


def test_names_and_errors_are_text_and_never_markup(graph, invoke, tmp_path):
    path = graph('node { calculator: "CliFailsAtThree" input_stream: "n" name: "fails" }')
    file = tmp_path / "<b>trace&.json"
    invoke("run", path, "--side", "count=5", "--trace", file, "--quiet")
    out = tmp_path / "r.html"
    assert invoke("report", file, "-o", out).exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert "&lt;b&gt;trace&amp;.json" in text
    assert "<b>" not in text
    assert "three is too much" in text


def test_a_page_that_cannot_be_written_is_said(invoke, trace, tmp_path):
    result = invoke("report", trace, "-o", tmp_path / "no" / "r.html")
    assert result.exit_code == 4
    assert "there is no directory" in result.stderr


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt install chromium")
def test_a_browser_shows_the_page_without_complaint(invoke, trace, tmp_path):
    assert invoke("report", trace).exit_code == 0
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
            f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", (tmp_path / "trace.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )  # fmt: skip
    assert "n to CliWrites: 5 packets" in done.stdout
    assert "CONSOLE" not in done.stderr  # a refused style or address would be said there
