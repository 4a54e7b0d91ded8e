"""VideoDecoderCalculator where it is given an address: formats are kept, and times go on, as for files."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO

import av
import numpy as np
import pytest

import penstock
from penstock_formats import ImageFormat

TIMEOUT = 20


@pytest.fixture
def decoded(web):
    """Return a function: bytes of a file, and options → frames with their timestamps, and the graph."""

    def decode(content: bytes, name: str, options: str):
        def page(handler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)

        web.pages[name] = page
        graph = penstock.CalculatorGraph(
            f"""input_side_packet: "source"
            node {{ calculator: "VideoDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:source"
                   output_stream: "VIDEO:frames"
                   options {{ [penstock.VideoDecoderCalculatorOptions.ext] {{ {options} }} }} }}"""
        )
        seen = []
        graph.observe_output_stream("frames", lambda _, p: seen.append((int(p.timestamp), p.payload)))
        graph.start_run({"source": web.url(name)})
        graph.wait_until_done(TIMEOUT)
        assert graph.ledger().adds_up
        return seen, graph

    return decode


def test_depth_from_a_web_server_is_exact(decoded):
    depth = np.random.default_rng(38).integers(0, 65536, (16, 32), np.uint16)
    target = BytesIO()
    with av.open(target, "w", format="matroska") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 32, 16, "gray16le"
        for _ in range(3):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(depth, format="gray16le")))
        container.mux(stream.encode(None))

    seen, _ = decoded(target.getvalue(), "depth.mkv", "format: KEEP")

    assert len(seen) == 3
    for _, frame in seen:
        assert frame.format is ImageFormat.GRAY16
        assert np.array_equal(frame.array, depth)


def recording(count: int) -> bytes:
    """Return a video of so many frames, from 0 on."""
    target = BytesIO()
    with av.open(target, "w", format="matroska") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "bgr0"
        for index in range(count):
            picture = np.full((48, 64, 3), 10 * index, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return target.getvalue()


def test_times_that_start_again_on_a_web_server_go_on_or_are_counted(decoded):
    joined = recording(10) + recording(8)

    on, whole = decoded(joined, "joined.mkv", "restart: CONTINUE")
    late, graph = decoded(joined, "joined.mkv", "")

    assert [time for time, _ in on] == [40_000 * number for number in range(18)]
    assert [time for time, _ in late] == [40_000 * number for number in range(10)]
    assert whole.ledger().drops == ()
    assert [(drop.stream, drop.reason, drop.count) for drop in graph.ledger().drops] == [
        ("frames", "not later than the frame before", 8)
    ]
