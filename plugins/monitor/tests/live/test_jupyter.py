"""The widgets of notebooks: what they send, and that nothing is left behind. Their JavaScript: browser/."""

from __future__ import annotations

import base64
import gc
import json
import sys
import threading
from textwrap import dedent

import numpy as np
import pytest

import penstock
from penstock.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    WaitTimeoutError,
)
from penstock_formats import ImageFormat, ImageFrame

pytest.importorskip("anywidget", reason="penstock-monitor[jupyter] is not installed")
from penstock_live.jupyter import Live, Recording
from penstock_record import recording_graph

pytestmark = pytest.mark.heavy

PATIENCE_S = 30.0
GRAPH = """
input_stream: "in"
output_stream: "out"
node { calculator: "PassThroughCalculator" name: "first" input_stream: "in" output_stream: "between" }
node { calculator: "PassThroughCalculator" name: "second" input_stream: "between" output_stream: "out" }
"""


def threads():
    """Return the threads that look at graphs; a picture that is being drawn is finished in any case."""
    return {one for one in threading.enumerate() if one.name in {"penstock-live-cell", "penstock-monitor"}}


def feed(graph, numbers):
    for number in numbers:
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number))


@pytest.fixture
def graph():
    before = threads()
    graph = penstock.CalculatorGraph(GRAPH)
    yield graph
    if graph.is_running:
        graph.close(PATIENCE_S)
    assert threads() <= before


@pytest.fixture
def live(graph):
    made = Live(graph, ["out"], interval_s=0.05)
    yield made
    made.close()


def packets(live):
    return {stream["name"]: stream["packets"] for stream in live.reading["streams"]}


# --- a running graph ------------------------------------------------------------------------------


def test_it_has_a_reading_at_once_and_the_numbers_of_the_run_after_an_update(graph, live) -> None:
    before = (live.reading["state"], live.names, live.streams, packets(live))
    graph.start_run()
    feed(graph, range(20))
    graph.wait_until_idle(PATIENCE_S)
    live.update(PATIENCE_S)

    assert before == ("not started", ["in", "between", "out"], ["out"], {"in": 0, "between": 0, "out": 0})
    assert live.reading["state"] == "running"
    assert packets(live) == {"in": 20, "between": 20, "out": 20}
    assert json.loads(json.dumps(live.reading)) == live.reading
    assert live.picture.startswith("<svg")
    assert 'data-node="second"' in live.picture
    assert live.picture_words == ""


def test_the_numbers_go_on_by_themselves_from_run_to_run(graph, live) -> None:
    seen, came = [], threading.Event()

    def note(change):
        seen.append(change["new"]["state"])
        if "running" in seen and seen[-1] == "over":
            came.set()

    live.observe(note, "reading")
    for _ in range(2):
        came.clear()
        seen.clear()
        began = threading.Event()
        live.observe(lambda _, began=began: began.set(), "reading")
        graph.start_run()
        feed(graph, range(3))
        assert began.wait(PATIENCE_S)
        while "running" not in seen:
            assert began.wait(PATIENCE_S)
            began.clear()
        graph.close(PATIENCE_S)
        assert came.wait(PATIENCE_S)


def test_a_stream_that_is_chosen_is_shown_with_its_packet(graph, live) -> None:
    graph.start_run()
    picture = ImageFrame(np.full((40, 60, 3), 200, np.uint8), ImageFormat.SRGB)
    live.streams = ["out", "between", "nothing of that name"]
    shown = {}
    for stamp in range(1000):
        graph.add_packet_to_input_stream("in", penstock.Packet(picture, stamp))
        shown = live.cards
        if {shown.get(name, {}).get("kind") for name in ("out", "between")} == {"image"}:
            break
        live.update(PATIENCE_S)

    assert shown["out"]["content"].startswith("data:image/jpeg;base64,")
    assert base64.b64decode(shown["out"]["content"].partition(",")[2])[:2] == b"\xff\xd8"
    assert shown["between"]["words"] == "<ImageFrame SRGB 60x40>"
    assert "there is no stream 'nothing of that name'" in shown["nothing of that name"]["content"]


def test_closing_it_ends_its_threads_and_it_says_so(graph, live) -> None:
    assert {one.name for one in threads()} >= {"penstock-monitor", "penstock-live-cell"}
    live.update(PATIENCE_S)
    live.close()
    live.close()

    assert not threads()
    with pytest.raises(
        FailedPreconditionError, match=r"this live widget shows nothing new: closed; make another one"
    ):
        live.update()


def test_a_graph_that_is_dropped_ends_its_threads_and_the_cell_keeps_the_last_numbers() -> None:
    graph = penstock.CalculatorGraph(GRAPH)
    live = Live(graph, interval_s=0.05)
    gone = threading.Event()
    live.observe(lambda _: gone.set(), "status")
    graph.start_run()
    feed(graph, range(4))
    graph.close(PATIENCE_S)
    live.update(PATIENCE_S)
    thread = live._thread
    del graph
    gc.collect()
    assert gone.wait(PATIENCE_S)
    thread.join(PATIENCE_S)

    assert live.status == "the graph is gone"
    assert not threads()
    assert packets(live) == {"in": 4, "between": 4, "out": 4}
    live.close()


def test_nothing_is_read_while_the_last_view_is_closed(graph, live) -> None:
    live.update(PATIENCE_S)
    for change in (1, 1, -1):
        live._handle_custom_msg({"views": change}, [])
    assert live.status == "live"
    live._handle_custom_msg({"views": -1}, [])
    assert live.status == "paused"
    assert not threads()
    graph.start_run()
    feed(graph, range(5))
    graph.wait_until_idle(PATIENCE_S)
    assert packets(live)["out"] == 0
    live._handle_custom_msg({"views": 1}, [])
    live.update(PATIENCE_S)

    assert live.status == "live"
    assert packets(live)["out"] == 5
    for content in ("nonsense", {"views": 7}, {}):
        live._handle_custom_msg(content, [])
    assert live.status == "live"


def test_what_cannot_be_shown_is_refused_and_leaves_no_thread(graph) -> None:
    with pytest.raises(NotFoundError, match=r"there is no stream 'outt'"):
        Live(graph, ["outt"])
    with pytest.raises(InvalidArgumentError, match=r"interval_s 0: must be above 0"):
        Live(graph, interval_s=0)
    slow = Live(graph, interval_s=60.0)
    slow._drawing.join(PATIENCE_S)
    with pytest.raises(WaitTimeoutError, match=r"the live widget had no new reading within 0\.01 s"):
        slow.update(0.01)
    slow.close()

    assert not threads()


def test_a_graph_that_cannot_be_drawn_is_shown_by_its_table(graph, monkeypatch) -> None:
    def refuse(_):
        raise UnavailableError("the graph cannot be drawn: no library")

    monkeypatch.setattr("penstock_live.drawing.picture", refuse)
    live = Live(graph, interval_s=0.05)
    live.update(PATIENCE_S)
    live.close()

    assert live.picture == ""
    assert live.picture_words == (
        "There is no picture: the graph cannot be drawn: no library. The table has all numbers."
    )


def test_it_says_what_to_install_where_anywidget_is_missing(monkeypatch) -> None:
    for name in ("live", "recording"):
        monkeypatch.delitem(sys.modules, f"penstock_live.jupyter.{name}")
    monkeypatch.setitem(sys.modules, "anywidget", None)

    for name in ("live", "recording"):
        with pytest.raises(
            UnavailableError, match=r'needs anywidget, .*pip install "penstock-monitor\[jupyter\]"'
        ):
            __import__(f"penstock_live.jupyter.{name}")


# --- a recording ----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.mcap"
    graph = penstock.CalculatorGraph(recording_graph(GRAPH, path, ["in", "out"]))
    graph.start_run()
    feed(graph, range(0, 100, 10))
    graph.close(PATIENCE_S)
    return path


def test_a_slider_shows_the_row_that_it_is_at(file) -> None:
    recording = Recording(file)
    first = (recording.count, recording.row, recording.timestamp, recording.cards)
    recording.row = 7
    seventh = (recording.timestamp, recording.cards["out"]["content"])
    recording.row = 500
    last = (recording.row, recording.timestamp)
    recording.close()

    assert first[:3] == (10, 0, "0")
    assert {name: card["content"] for name, card in first[3].items()} == {
        "in": '{"value":0}',
        "out": '{"value":0}',
    }
    assert seventh == ("70", '{"value":70}')
    assert last == (9, "90")
    with pytest.raises(FailedPreconditionError, match="the recording's rows were closed"):
        recording.row = 3


def test_streams_of_a_recording_are_chosen_and_unknown_ones_refused(file) -> None:
    recording = Recording(file, ["out"])
    recording.close()

    assert list(recording.cards) == ["out"]
    assert recording.title == "run.mcap"
    with pytest.raises(
        NotFoundError, match=r"the recording's rows have no stream 'no'; there are: 'in', 'out'"
    ):
        Recording(file, ["no"])


# --- a notebook -----------------------------------------------------------------------------------


def test_a_notebook_that_is_run_without_a_browser_has_the_data_of_its_widgets(file) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = [
        f"""
        import penstock
        from penstock_live.jupyter import Live, Recording
        graph = penstock.CalculatorGraph({GRAPH!r})
        graph.start_run()
        live = Live(graph, ["out"])
        live
        """,
        """
        for number in range(12):
            graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
        graph.wait_until_idle()
        live.update()
        """,
        f"""
        recording = Recording({str(file)!r})
        recording.row = 4
        recording
        """,
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(dedent(cell)) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    client = nbclient.NotebookClient(notebook, timeout=PATIENCE_S * 2)
    client.execute()
    states = {
        one["state"]["kind"]: one["state"]
        for one in notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
        if "kind" in one["state"]
    }
    shown = [
        output["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
        for cell in notebook.cells
        for output in cell.outputs
        if "application/vnd.jupyter.widget-view+json" in output.get("data", {})
    ]
    reading = states["graph"]["reading"]

    assert len(shown) == 2
    assert {one["name"]: one["packets"] for one in reading["streams"]} == {"in": 12, "between": 12, "out": 12}
    assert states["graph"]["picture"].startswith("<svg")
    assert "export default" in states["graph"]["_esm"]
    assert (states["recording"]["timestamp"], states["recording"]["cards"]["out"]["content"]) == (
        "40",
        '{"value":40}',
    )
