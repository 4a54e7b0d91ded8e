"""VideoDecoderCalculator where it is given an address: an end is an end, and a loss an error."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

import penstock
from penstock.errors import GraphRunError

#: Servers, and processes beside them.
pytestmark = pytest.mark.heavy


def as_file(content: bytes, *, cut: int = 0, says_length: bool = True):
    """Return a page with a file; `cut` bytes are missing at its end."""

    def page(handler) -> None:
        handler.send_response(200)
        if says_length:
            handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        left = content[: len(content) - cut]
        for i in range(0, len(left), 4096):
            handler.wfile.write(left[i : i + 4096])

    return page


@pytest.fixture
def film(tmp_path):
    """Return an mp4 of 2 s, with sound, and its bytes."""
    import numpy as np

    path = tmp_path / "film.mp4"
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        video = container.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        audio = container.add_stream("aac", rate=16000, layout="mono")
        random = np.random.default_rng(0)
        for i in range(50):
            picture = random.integers(0, 255, (48, 64, 3), np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = i
            container.mux(video.encode(frame))
        for i in range(0, 32000, 1024):
            sound = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            sound.sample_rate, sound.pts = 16000, i
            container.mux(audio.encode(sound))
        for stream in (video, audio):
            container.mux(stream.encode(None))
    return path.read_bytes()


def test_a_file_on_a_web_server_is_read_to_its_end_with_its_own_times(web, runs, film) -> None:
    web.pages["film.mp4"] = as_file(film)
    run = runs("VideoDecoderCalculator").start(web.url("film.mp4"))
    run.graph.wait_until_done(20)

    assert run.stamps == [i * 40_000 for i in range(50)]


def test_a_graph_that_takes_its_time_gets_every_frame(web, runs, film) -> None:
    web.pages["film.mp4"] = as_file(film)
    run = runs("VideoDecoderCalculator", rest="max_queue_size: 1")
    poller = run.graph.add_output_stream_poller("frames")
    poller.set_max_queue_size(1)
    run.start(web.url("film.mp4"))
    got = []
    while (packet := poller.next(20)) is not None:
        got.append(int(packet.timestamp))
    run.graph.wait_until_done(20)

    assert got == [i * 40_000 for i in range(50)]
    assert not run.graph.ledger().drops


def test_the_sound_of_a_file_on_a_web_server_is_saved(web, film) -> None:
    web.pages["film.mp4"] = as_file(film)
    graph = penstock.CalculatorGraph(
        """input_side_packet: "source" output_side_packet: "sound"
        node { calculator: "VideoDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:source"
               output_stream: "VIDEO:frames" output_side_packet: "SAVED_AUDIO_PATH:sound" }"""
    )
    graph.start_run({"source": web.url("film.mp4")})
    graph.wait_until_done(20)
    saved = graph.get_output_side_packet("sound").payload

    with av.open(saved) as sound:
        assert sound.streams.audio[0].codec_context.name == "aac"
    Path(saved).unlink()


def test_a_graph_that_copies_the_sound_of_its_video_runs_with_an_address(web, film, tmp_path, caplog) -> None:
    web.pages["film.mp4"] = as_file(film)
    graph = penstock.CalculatorGraph(
        """input_side_packet: "source" input_side_packet: "out"
        node { calculator: "VideoDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:source"
               output_stream: "VIDEO:frames" }
        node { calculator: "VideoEncoderCalculator" input_stream: "VIDEO:frames"
               input_side_packet: "OUTPUT_FILE_PATH:out" input_side_packet: "AUDIO_FILE_PATH:source" }"""
    )
    graph.start_run({"source": web.url("film.mp4", "ann:geheim@"), "out": str(tmp_path / "out.mp4")})
    graph.wait_until_done(20)

    assert "AUDIO_FILE_PATH is the address http://ann:***@127.0.0.1:" in caplog.text
    assert "geheim" not in caplog.text
    with av.open(str(tmp_path / "out.mp4")) as video:
        assert sum(1 for _ in video.decode(video=0)) == 50


@pytest.mark.parametrize("says_length", [True, False])
def test_a_file_whose_sender_dies_in_the_middle_is_an_error(says_length, web, runs, film) -> None:
    web.pages["film.mp4"] = as_file(film, cut=len(film) // 2, says_length=says_length)
    run = runs("VideoDecoderCalculator").start(web.url("film.mp4"))
    said = run.error()

    assert 5 < len(run.stamps) < 45
    assert f"'{web.url('film.mp4')}'" in said
    assert "has broken off" in said or "was lost after" in said


def test_a_stream_that_nobody_said_the_length_of_is_lost_when_it_ends(web, runs) -> None:
    web.pages["cam"] = web.camera(count=5)
    run = runs("VideoDecoderCalculator").start(web.url("cam"))
    said = run.error()

    assert len(run.stamps) >= 4
    assert "has broken off" in said or "LiveVideoCalculator goes on when a sender is lost" in said


def test_an_rtsp_sender_that_is_killed_is_an_error_and_no_end(rtsp, runs) -> None:
    server = rtsp()
    run = runs("VideoDecoderCalculator").start(server.url)
    run.wait_for_frames(5)
    server.kill()
    said = run.error()

    assert f"'{server.url}' was lost after" in said
    assert "LiveVideoCalculator goes on when a sender is lost, and connects again" in said


def test_a_restart_policy_fires_when_a_sender_was_lost(web) -> None:
    web.pages["cam"] = web.camera(count=5)
    graph = penstock.CalculatorGraph(
        """input_side_packet: "source" output_stream: "frames"
        node { calculator: "VideoDecoderCalculator" name: "camera"
               input_side_packet: "INPUT_FILE_PATH:source" output_stream: "VIDEO:frames"
               failure { on_error: RESTART max_restarts: 2 within_s: 60 backoff_ms: 10 } }"""
    )
    graph.start_run({"source": web.url("cam")})
    with pytest.raises(GraphRunError):
        graph.wait_until_done(20)

    assert len(web.requests) >= 2


def test_the_password_of_an_address_is_in_no_error(web, runs) -> None:
    said = runs("VideoDecoderCalculator").start(web.url("cam", "ann:geheim@")).error()

    assert "it has no such stream (404)" in said
    assert "geheim" not in said
