"""LiveVideoCalculator with real servers on 127.0.0.1, and what goes wrong with them."""

from __future__ import annotations

import logging
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import penstock
from penstock.access import Access
from penstock.errors import GraphRunError

#: Servers, and processes beside them.
pytestmark = pytest.mark.heavy

SECOND = 1_000_000
#: Quick ones, for servers on this machine.
QUICK = "read_timeout_seconds: 0.5 first_delay_seconds: 0.05 longest_delay_seconds: 0.2"


# --- what comes ---------------------------------------------------------------------------------


def test_frames_of_an_rtsp_camera_come_with_the_time_of_their_capture(rtsp, runs) -> None:
    run = runs().start(rtsp().url)
    run.wait_for_frames(30)
    run.wait_for_frames(25)
    run.cancel()

    assert run.frames[0].array.shape == (180, 320, 3)
    assert np.ptp(run.frames[0].array) > 25  # the pattern, not an empty picture
    steps = np.diff(run.stamps[-25:])
    assert np.median(steps) == pytest.approx(40_000, abs=1000)
    ages = np.array(run.came[-25:]) - run.stamps[-25:]
    assert 0 <= np.median(ages) < 0.5 * SECOND
    assert run.kinds() == ["connected"]


@pytest.mark.timing
def test_frames_are_at_most_one_frame_behind_at_30_frames_a_second(rtsp, runs) -> None:
    run = runs().start(rtsp("--rate", "30", "--size", "1280x720").url)
    run.wait_for_frames(60)
    run.wait_for_frames(90)

    ages = np.array(run.came[-90:]) - run.stamps[-90:]
    assert np.median(ages) < 15_000
    assert np.quantile(ages, 0.95) < 33_000


def test_the_header_says_size_and_rate_and_the_file_that_is_written_plays(rtsp, tmp_path) -> None:
    import av

    graph = penstock.CalculatorGraph(
        """input_side_packet: "source" output_stream: "frames"
        node { calculator: "LiveVideoCalculator" input_side_packet: "SOURCE:source"
               output_stream: "VIDEO:frames" output_stream: "VIDEO_PRESTREAM:header" }
        node { calculator: "VideoEncoderCalculator" input_stream: "VIDEO:frames"
               input_stream: "VIDEO_PRESTREAM:header" input_side_packet: "OUTPUT_FILE_PATH:out" }
        input_side_packet: "out" """
    )
    came = threading.Semaphore(0)
    graph.observe_output_stream("frames", lambda *_: came.release())
    graph.start_run({"source": rtsp().url, "out": str(tmp_path / "out.mp4")})
    for _ in range(20):
        assert came.acquire(timeout=20)
    graph.close_all_packet_sources()
    graph.wait_until_done(20)

    with av.open(str(tmp_path / "out.mp4")) as video:
        stream = video.streams.video[0]
        assert (stream.width, stream.height) == (320, 180)
        assert sum(1 for _ in video.decode(stream)) >= 20


@pytest.mark.timing
def test_motion_jpeg_over_http_has_the_times_of_arrival(web, runs) -> None:
    web.pages["cam"] = web.camera(rate=20)
    run = runs().start(web.url("cam"))
    run.wait_for_frames(10)

    assert np.median(np.diff(run.stamps)) == pytest.approx(50_000, abs=20_000)
    assert run.frames[3].array.shape == (48, 64, 3)
    assert abs(run.stamps[-1] - time.time_ns() // 1000) < 2 * SECOND


def test_hls_is_read_as_its_segments_come(web, runs, tmp_path) -> None:
    content = [web.transport_stream(25, start=25 * i) for i in range(8)]
    began = time.monotonic()

    def playlist(handler) -> None:
        newest = min(int((time.monotonic() - began) / 0.25) + 3, len(content))
        lines = [f"#EXTINF:1.0,\n{i}.ts" for i in range(max(newest - 3, 0), newest)]
        head = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:{max(newest - 3, 0)}\n"
        text = (head + "\n".join(lines) + "\n").encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/vnd.apple.mpegurl")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def segment(i: int):
        def page(handler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(content[i])))
            handler.end_headers()
            handler.wfile.write(content[i])

        return page

    web.pages.update({"list.m3u8": playlist, **{f"{i}.ts": segment(i) for i in range(len(content))}})
    run = runs(options="max_waiting: 200").start(web.url("list.m3u8"))
    run.wait_for_frames(100)

    assert run.frames[0].array.shape == (48, 64, 3)
    assert run.cancel() < 1


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg to send RTMP")
def test_rtmp_is_read_and_a_sender_that_is_killed_is_lost(runs, tmp_path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"rtmp://127.0.0.1:{port}/live/cam"
    command = [
        *(
            "ffmpeg",
            "-hide_banner",
            "-loglevel",
            "error",
            "-re",
            "-f",
            "lavfi",
            "-i",
            "testsrc=size=160x120:rate=25",
        ),
        *(
            "-c:v",
            "libx264",
            "-preset",
            "ultrafast",
            "-tune",
            "zerolatency",
            "-pix_fmt",
            "yuv420p",
            "-g",
            "25",
        ),
        *("-f", "flv", "-listen", "1", url),
    ]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as sender:
        try:
            run = runs(options=QUICK + " must_be_there: false reconnects: -1").start(url)
            run.wait_for_frames(20)
        finally:
            sender.kill()
    run.wait(lambda: run.kinds()[-1] == "lost", "lost")

    assert run.frames[0].array.shape == (120, 160, 3)
    assert run.cancel() < 1


def test_rtsp_may_come_by_udp(rtsp, runs) -> None:
    run = runs(options="transport: UDP").start(rtsp().url)
    run.wait_for_frames(10)

    assert run.frames[0].array.shape == (180, 320, 3)


def test_a_graph_that_is_too_slow_gets_the_newest_frame_and_the_ledger_says_what_was_dropped(
    web, runs
) -> None:
    web.pages["cam"] = web.camera(rate=200)
    run = runs(rest="max_queue_size: 1")
    poller = run.graph.add_output_stream_poller("frames")
    poller.set_max_queue_size(1)
    run.start(web.url("cam"))
    ages = []
    for _ in range(8):
        ages.append(time.time_ns() // 1000 - int(poller.next(20).timestamp))
        threading.Event().wait(0.1)  # what the slow graph does
    run.cancel()
    (drop,) = [one for one in run.graph.ledger().drops if one.reason == "a newer frame had come"]

    assert drop.place == "node 'camera'"
    assert drop.count >= 20
    assert np.median(ages[2:]) < 0.25 * SECOND  # one frame in the queue, one in the mailbox


# --- what is silent -----------------------------------------------------------------------------

ADDRESSES = (
    "rtsp://127.0.0.1:{port}/cam",
    "rtmp://127.0.0.1:{port}/live/cam",
    "http://127.0.0.1:{port}/cam",
    "https://127.0.0.1:{port}/cam",
    "tcp://127.0.0.1:{port}",
    "udp://127.0.0.1:{port}",
)


@pytest.mark.parametrize("pattern", ADDRESSES)
def test_a_silent_server_is_an_error_that_names_address_and_seconds(pattern, silent, runs) -> None:
    url = silent(pattern)
    began = time.monotonic()
    said = runs(options="open_timeout_seconds: 0.4").start(url).error()

    assert 0.4 <= time.monotonic() - began < 2
    assert f"no connection: '{url}' did not answer with video within 0.4 s (open_timeout_seconds)" in said


@pytest.mark.parametrize("calculator", ["LiveVideoCalculator", "VideoDecoderCalculator"])
@pytest.mark.parametrize("pattern", ADDRESSES)
def test_a_wait_for_a_silent_server_ends_when_the_run_is_cancelled(calculator, pattern, silent, runs) -> None:
    run = runs(calculator).start(silent(pattern))
    readers(1)

    assert run.cancel() < 1


def readers(count: int) -> None:
    """Wait until so many sources are being read."""
    end = time.monotonic() + 20
    while sum(one.name.startswith("penstock-video") for one in threading.enumerate()) < count:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_32_silent_cameras_end_together_within_two_seconds(silent) -> None:
    url = silent()
    nodes = "".join(
        f"""node {{ calculator: "LiveVideoCalculator" input_side_packet: "SOURCE:s"
        output_stream: "VIDEO:v{i}" }}"""
        for i in range(32)
    )
    graph = penstock.CalculatorGraph(f'input_side_packet: "s" {nodes}')
    graph.start_run({"s": url})
    readers(32)
    began = time.monotonic()
    graph.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        graph.wait_until_done(20)

    assert time.monotonic() - began < 2


def test_32_cameras_that_fell_silent_end_together_within_two_seconds(web) -> None:
    web.pages["cam"] = web.camera(count=3, half=True)
    nodes = "".join(
        f"""node {{ calculator: "LiveVideoCalculator" input_side_packet: "SOURCE:s"
        output_stream: "VIDEO:v{i}" output_stream: "EVENTS:e{i}" }}"""
        for i in range(32)
    )
    graph = penstock.CalculatorGraph(f'input_side_packet: "s" {nodes}')
    connected = threading.Semaphore(0)
    for i in range(32):
        graph.observe_output_stream(f"e{i}", lambda *_: connected.release())
    graph.start_run({"s": web.url("cam")})
    for _ in range(32):
        assert connected.acquire(timeout=20)
    began = time.monotonic()
    graph.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        graph.wait_until_done(20)

    assert time.monotonic() - began < 2


def test_a_camera_that_falls_silent_is_lost_after_the_time_out_and_while_lost_can_be_cancelled(
    web, runs
) -> None:
    silent = web.camera(count=5, half=True)

    def first_time_only(handler) -> None:
        web.pages.clear()  # what connects again gets no frames
        silent(handler)

    web.pages["cam"] = first_time_only
    run = runs(options=QUICK + " reconnects: -1").start(web.url("cam"))
    run.wait(lambda: "lost" in run.kinds(), "the camera is lost")

    assert re.search(
        r"the live connection with .* sent no video within 0.5 s \(read_timeout_seconds\)",
        run.events[1].reason,
    )
    assert 1 <= len(run.stamps) <= 5
    assert run.cancel() < 1


# --- what is refused ----------------------------------------------------------------------------


def test_a_wrong_password_is_an_error_and_nowhere_to_be_read(rtsp, runs, caplog, capfd) -> None:
    server = rtsp("--user", "ann", "--password", "right")
    url = server.url.replace("//", "//ann:geheim@")
    run = runs(options="reconnects: 0")
    with caplog.at_level(logging.DEBUG, "penstock"):
        run.start(url)
        said = run.error()
        told = f"{said} {run.graph.why()} {run.graph.snapshot()} {run.graph.access()}"

    shown = url.replace("geheim", "***")
    assert f"'{shown}' cannot be read: it refuses the user name or password (401)" in said
    for text in (told, caplog.text, *capfd.readouterr()):
        assert "geheim" not in text


def test_the_right_password_opens_a_camera(rtsp, runs, caplog) -> None:
    server = rtsp("--user", "ann", "--password", "geheim")
    with caplog.at_level(logging.DEBUG, "penstock"):
        run = runs().start(server.url.replace("//", "//ann:geheim@"))
        run.wait_for_frames(5)

    assert "geheim" not in repr(run.events)
    assert "geheim" not in caplog.text


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, r"refuses the user name or password \(401\)"),
        (403, r"does not allow this \(403\)"),
        (404, r"has no such stream \(404\)"),
        (503, r"cannot be read: "),
    ],
)
def test_what_a_web_server_refuses_is_said(status, words, web, runs) -> None:
    web.pages["cam"] = lambda handler: handler.send_error(status)

    said = runs().start(web.url("cam?token=geheim", "ann:secret@")).error()

    assert re.search(words, said)
    assert f"http://ann:***@127.0.0.1:{web.port}/cam?token=***" in said
    assert "geheim" not in said
    assert "secret" not in said


def test_a_port_where_nothing_listens_and_a_host_that_does_not_exist_are_errors(web, runs) -> None:
    web.stop()

    assert "nothing listens there (connection refused)" in runs().start(web.url("cam")).error()
    assert "the host 'no-such-camera.invalid' is not known" in (
        runs().start("rtsp://no-such-camera.invalid/cam").error()
    )


def test_a_page_that_is_no_video_is_an_error(web, runs) -> None:
    def page(handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "10000")
        handler.end_headers()
        handler.wfile.write(b"<html>hello" * 1000)

    web.pages["cam"] = page

    assert "cannot be read: Invalid data found" in runs().start(web.url("cam")).error()


def test_a_protocol_that_this_libav_lacks_is_named(runs) -> None:
    import av

    said = runs().start("srt://127.0.0.1:9").error()

    assert "does not know 'srt'" in said or "srt" in str(av.library_versions) or "did not answer" in said


def test_a_limited_graph_does_not_connect_elsewhere(web, runs) -> None:
    web.pages["cam"] = web.camera()

    said = runs(access=Access(connects=["10.0.0.5"])).start(web.url("cam", "ann:geheim@")).error()
    run = runs(access=Access(connects=["127.0.0.1"])).start(web.url("cam"))
    run.wait_for_frames(3)

    assert "may not connect to" in said
    assert "geheim" not in said
    assert [touch.kind for touch in run.graph.access()["camera"]] == ["connects", "devices"]


# --- how a run ends -----------------------------------------------------------------------------


def test_sources_that_are_asked_to_end_do(web, runs) -> None:
    web.pages["cam"] = web.camera()
    run = runs().start(web.url("cam"))
    run.wait_for_frames(3)
    began = time.monotonic()
    run.graph.close_all_packet_sources()
    run.graph.wait_until_done(20)

    assert time.monotonic() - began < 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other interrupts")
def test_ctrl_c_ends_the_command_long_before_the_time_out(silent, tmp_path) -> None:
    graph = tmp_path / "graph.pbtxt"
    graph.write_text(
        """input_side_packet: "source" node { calculator: "LiveVideoCalculator"
        input_side_packet: "SOURCE:source" output_stream: "VIDEO:frames" }"""
    )
    command = [sys.executable, "-m", "penstock_cli", "run", str(graph), "--side", f"source={silent()}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        silent.sockets[-1].settimeout(20)
        connection, _ = silent.sockets[-1].accept()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        connection.close()

    assert process.returncode == 130, said
    assert time.monotonic() - began < 4  # the interpreter ends too; the source would wait for 10 s
