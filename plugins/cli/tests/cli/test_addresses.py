"""Addresses in the place of a VIDEO: how they are recognised, and what is read."""

from __future__ import annotations

import http.server
import re
import socket
import threading
from pathlib import Path

import av
import click
import numpy as np
import pytest

from penstock.plugins.default_registry import default_registry
from penstock_cli.demo.demo_graph import demo_config
from penstock_cli.runs.addresses import Address, FileOrAddress, is_live_address
from penstock_cli.runs.manner import Manner
from penstock_cli.runs.over_video import OverVideo, config_over_video, run_over_video

GRAPH = """
input_side_packet: "input_video"
output_stream: "drawn"
output_stream: "results"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
}
node { calculator: "PassThroughCalculator" input_stream: "frame" output_stream: "results" }
node { calculator: "PassThroughCalculator" input_stream: "frame" output_stream: "drawn" }
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:drawn"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
  input_side_packet: "AUDIO_FILE_PATH:input_video"
}
"""


def over(**changes):
    return OverVideo(**{"graph": GRAPH, "command": "penstock look", "what": "looking at", **changes})


def nodes(config):
    return {node.calculator: list(node.input_side_packet) for node in config.node}


@pytest.fixture
def film():
    """Return the bytes of a video of 20 frames."""
    import io

    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for index in range(20):
            pixels = np.full((48, 64, 3), 10 * index, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return target.getvalue()


@pytest.fixture
def server(film):
    """Return the address of a web server with the film at /film.mp4."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(film)))
            self.end_headers()
            self.wfile.write(film)

        def log_message(self, *_):
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://ann:geheim@127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join(10)


def converted(text):
    return FileOrAddress(path_type=Path).convert(text, None, click.Context(click.Command("x")))


@pytest.mark.parametrize(
    ("text", "kind", "live"),
    [
        ("rtsp://10.0.0.5/cam", Address, True),
        ("http://10.0.0.5:80/video?x=1", Address, True),
        ("https://10.0.0.5/list.m3u8", Address, True),
        ("HTTP://10.0.0.5/clip.MP4?x=1", Address, False),
        ("rtsp://10.0.0.5/clip.mp4", Address, True),
        ("/dev/video0", Address, True),
        ("clip.mp4", Path, False),
        ("C:/clips/clip.mp4", Path, False),
        ("/dev/videos/clip.mp4", Path, False),
    ],
)
def test_what_a_video_names_is_a_file_or_an_address(text, kind, live):
    found = converted(text)

    assert isinstance(found, kind)
    assert str(found) == text
    assert is_live_address(found) is live


def test_a_live_address_is_read_by_the_live_calculator_with_a_limiter_behind_it():
    config, captured = config_over_video(over(video=Address("rtsp://h/cam")), default_registry())

    assert nodes(config)["LiveVideoCalculator"] == ["SOURCE:input_address"]
    assert "VideoDecoderCalculator" not in nodes(config)
    assert "FlowLimiterCalculator" in nodes(config)
    assert captured == "captured_frame"


def test_a_recording_on_a_server_is_read_to_its_end_without_dropping_frames(server, tmp_path, capsys):
    out = tmp_path / "out.mp4"

    run_over_video(over(video=Address(f"{server}/film.mp4"), out=out), Manner(progress=False))

    said = capsys.readouterr()
    assert re.search(r"^20 frames in, 20 processed, 0 dropped; ", said.out, re.MULTILINE)
    assert "geheim" not in said.out + said.err
    with av.open(str(out)) as container:
        assert sum(1 for _ in container.decode(video=0)) == 20


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_demo_reads_an_address(on_gpu):
    config = demo_config(default_registry(), on_gpu=on_gpu, address=Address("rtsp://h/cam"), writes=False)

    assert nodes(config)["LiveVideoCalculator"] == ["SOURCE:input_address"]
    assert config.max_queue_size == 1


def test_an_address_that_cannot_be_read_is_named_whole_and_without_its_password(invoke):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    result = invoke("demo", f"http://ann:geheim@127.0.0.1:{port}/cam", "--no-gpu")

    assert result.exit_code == 1
    assert f"drawing edges over http://ann:***@127.0.0.1:{port}/cam" in result.output
    assert f"'http://ann:***@127.0.0.1:{port}/cam' cannot be read: nothing listens there" in result.output
    assert "geheim" not in result.output
