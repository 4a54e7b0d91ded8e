"""`penstock run --publish`, and where the command line says that browsers find the streams of a graph."""

from __future__ import annotations

import re

import av
import pytest
from click.testing import CliRunner

from penstock_cli.main import penstock_command
from penstock_video.streaming.announcing import LISTENERS

GRAPH = """
node {
  calculator: "VideoDecoderCalculator"
  output_stream: "VIDEO:frames"
  node_options { [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
    test_pattern { width: 64 height: 48 fps: 25 frames: 20 } } }
}
"""
FOR_BROWSERS = """
node {
  calculator: "LiveVideoSinkCalculator"
  input_stream: "VIDEO:frames"
  node_options { [type.googleapis.com/penstock_video.LiveVideoSinkCalculatorOptions] {
    address: "http://127.0.0.1:0" } }
}
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the graph with more arguments."""

    def call(*arguments, graph=GRAPH):
        path = tmp_path / "graph.pbtxt"
        path.write_text(graph, encoding="utf-8")
        return CliRunner().invoke(penstock_command, ["run", str(path), "--no-progress", *arguments])

    yield call
    assert LISTENERS == []


def test_frames_are_sent_and_the_command_says_what_became_of_them(run, aid, tmp_path):
    path = tmp_path / "live.m3u8"
    with aid.nothing_left():
        done = run("--publish", f"frames={path}", "--publish", "frames=http://127.0.0.1:0")

    assert done.exit_code == 0, done.output
    assert re.search(r"stream 'frames' is shown at http://127\.0\.0\.1:\d+/\?token=\S{32}\n", done.output)
    told = re.search(r"stream 'frames': (\d+) frames? sent to \S+live\.m3u8(.*)\n", done.output)
    dropped = [int(count) for count in re.findall(r"(\d+) \(", told[2])]
    assert int(told[1]) + sum(dropped) == 20
    with av.open(str(path)) as container:
        assert len(list(container.decode(video=0))) == int(told[1])


def test_streams_for_browsers_of_the_graph_itself_are_told(run):
    done = run(graph=GRAPH + FOR_BROWSERS)

    assert done.exit_code == 0, done.output
    assert re.search(
        r"^stream 'frames' is shown at http://127\.0\.0\.1:\d+/\?token=\S{32}$", done.output, re.MULTILINE
    )


def test_quiet_says_where_but_not_what_became_of_them(run, tmp_path):
    done = run("--quiet", "--publish", f"frames={tmp_path / 'live.m3u8'}")

    assert (done.exit_code, done.output) == (0, "")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("frames", "--publish 'frames': write STREAM=ADDRESS"),
        ("=rtsp://h/x", "--publish '=rtsp://h/x': write STREAM=ADDRESS"),
        (
            "frames=clip.mp4",
            "--publish frames: streaming destination 'clip.mp4' is none that a live sink knows",
        ),
        ("elsewhere=udp://127.0.0.1:9", "--publish elsewhere: there is no stream 'elsewhere'"),
    ],
)
def test_what_cannot_be_published_is_wrong_usage(run, aid, given, words):
    with aid.nothing_left():
        done = run("--publish", given)

    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_a_stream_of_something_else_than_frames_ends_the_run(run, aid):
    graph = """
        input_side_packet: "count"
        node { calculator: "CountingSourceCalculator" input_side_packet: "MAX_COUNT:count"
               output_stream: "numbers" }"""
    with aid.nothing_left():
        address = f"udp://127.0.0.1:{aid.free_port()}"
        done = run("--side", "count=3", "--publish", f"numbers={address}", graph=graph)

    assert done.exit_code == 1
    assert "--publish numbers: a packet holds int, but must hold an ImageFrame" in " ".join(
        done.output.split()
    )


def test_a_port_that_is_taken_ends_the_command_before_the_run(run, aid):
    with aid.peer(lambda _: None) as server:
        done = run("--publish", f"frames=http://127.0.0.1:{server.port}")

    assert done.exit_code == 1
    assert "take another port" in done.output
    assert "packets" not in done.output
