"""The page of a traced run: what the trace says, as text."""

from __future__ import annotations

import json

import pytest

from penstock_views.traces import report as report_module
from penstock_views.traces.reading import read_trace
from penstock_views.traces.report import report

GRAPH = """input_stream: "in" output_stream: "out"
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""


@pytest.fixture
def page(tmp_path):
    """Return a function that makes the page of a trace with a call, a drop and a full queue."""

    def page(**about):
        events = [
            {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "<run>"}},
            {
                "ph": "X", "name": "PassThroughCalculator", "cat": "process", "pid": 1, "tid": 1, "ts": 0.0,
                "dur": 2500.0, "args": {"inputs": {"in": [1]}, "outputs": {"out": [1]}},
            },
            {
                "ph": "C", "name": "queue of in at PassThroughCalculator", "pid": 1, "ts": 1,
                "args": {"packets": 7},
            },
            {
                "ph": "i", "name": "dropped at PassThroughCalculator", "pid": 1, "ts": 2,
                "args": {"stream": "in", "packets": 3, "reason": "<b>late</b> & wrong"},
            },
        ]  # fmt: skip
        file = tmp_path / "t.json"
        file.write_text(json.dumps({"traceEvents": events, "otherData": about}), encoding="utf-8")
        return report(read_trace(file), "a <title>")

    return page


def test_words_of_the_trace_are_never_markup(page):
    text = page(error="ValueError: <script>", why="<i>nothing</i>")
    assert "&lt;b&gt;late&lt;/b&gt; &amp; wrong" in text
    assert "ValueError: &lt;script&gt;" in text
    assert "&lt;i&gt;nothing" in text
    assert "<title>a &lt;title&gt;</title>" in text
    assert "<h2>&lt;run&gt;</h2>" in text


def test_the_picture_has_the_times_queues_and_drops_of_its_nodes(page):
    pytest.importorskip("pygraphviz", reason="the picture needs penstock-views[draw]")
    text = page(graph=GRAPH)
    picture = text[text.index("<svg") : text.index("</svg>")]
    for words in ("1 x 2.50 ms, 100%", "7 packets of in waited", "3 packets of in dropped"):
        assert words in picture


def test_lost_records_are_said(page):
    assert "1,200 older records were dropped" in page(lost_records=1200)
    assert "older records" not in page(lost_records=0)


def test_without_a_layout_or_a_graph_there_are_words_in_its_place(page, monkeypatch):
    from penstock.errors import UnavailableError

    def missing(_):
        raise UnavailableError("pip install <draw>")

    monkeypatch.setattr(report_module, "svg", missing)
    assert "There is no picture: pip install &lt;draw&gt;" in page(graph=GRAPH)
    assert "The graph cannot be drawn: " in page(graph="node {")
    assert "<svg" not in page()
