"""LiveVideoCalculator with real servers on 127.0.0.1, and what goes wrong with them."""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import penstock
from penstock.access import Access
from penstock.errors import GraphRunError

SECOND = 1_000_000
#: Quick ones, for servers on this machine.
QUICK = "read_timeout_seconds: 0.5 first_delay_seconds: 0.05 longest_delay_seconds: 0.2"
COUNTERS = ("camera-reconnects", "camera-ms_without_frames", "camera-broken_packets", "camera-clock_jumps")


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
    assert 0 <= np.median(ages) < 33_000  # at most one frame behind at 30 frames a second
    assert run.kinds() == ["connected"]


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


def test_motion_jpeg_over_http_has_the_times_of_arrival(web, runs) -> None:
    web.pages["cam"] = web.camera(rate=20)
    run = runs().start(web.url("cam"))
    run.wait_for_frames(10)

    assert np.median(np.diff(run.stamps)) == pytest.approx(50_000, abs=20_000)
    assert run.frames[3].array.shape == (48, 64, 3)
    assert abs(run.stamps[-1] - time.time_ns() // 1000) < 2 * SECOND


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
    assert f"'{url}' did not answer with video within 0.4 s (open_timeout_seconds)" in said


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


def test_a_camera_that_falls_silent_is_lost_after_the_time_out_and_while_lost_can_be_cancelled(
    web, runs
) -> None:
    web.pages["cam"] = web.camera(count=5, half=True)
    run = runs(options=QUICK + " reconnects: -1").start(web.url("cam"))
    run.wait(lambda: "lost" in run.kinds(), "the camera is lost")
    web.pages.clear()

    assert re.search(r"sent no video within 0.5 s \(read_timeout_seconds\)", run.events[1].reason)
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


# --- what is lost and comes back ----------------------------------------------------------------


def test_a_camera_that_is_killed_and_started_again_comes_back_each_time(web, runs, caplog) -> None:
    web.pages["cam"] = web.camera()
    run = runs(options=QUICK)
    with caplog.at_level(logging.WARNING, "penstock"):
        run.start(web.url("cam"))
        for times in range(1, 6):
            run.wait_for_frames(5)
            web.stop()
            run.wait_for_events("lost", times)
            web.start()
            run.wait_for_events("reconnected", times)
        run.wait_for_frames(5)
    run.cancel()

    assert run.kinds() == ["connected", *["lost", "reconnected"] * 5]
    back = [event for event in run.events if event.kind.value == "reconnected"]
    assert [event.reconnects for event in back] == [1, 2, 3, 4, 5]
    assert all(0 < event.gap_seconds < 10 for event in back)
    counters = run.graph.counters
    assert counters["camera-reconnects"] == 5
    total = sum(event.gap_seconds for event in back)
    assert counters["camera-ms_without_frames"] == pytest.approx(total * 1000, abs=200)
    assert "reconnected 5 times" in caplog.text
    assert "connecting again (attempt 1 of 20)" in caplog.text


def test_an_rtsp_camera_that_is_killed_comes_back_in_another_size(rtsp, runs, caplog) -> None:
    server = rtsp()
    run = runs(options=QUICK).start(server.url)
    run.wait_for_frames(5)
    server.kill()
    run.wait(lambda: "lost" in run.kinds(), "lost")
    before = len(run.frames)
    with caplog.at_level(logging.WARNING, "penstock"):
        server.start("--size", "160x120")
        run.wait(lambda: "reconnected" in run.kinds(), "back")
        run.wait_for_frames(5)

    assert {frame.array.shape for frame in run.frames[before:]} == {(180, 320, 3)}
    assert "sends 160x120 now, and sent 320x180 first; frames are scaled" in caplog.text


@pytest.mark.slow
def test_an_rtsp_camera_that_is_killed_50_times_comes_back_50_times(rtsp, runs) -> None:
    server = rtsp()
    run = runs(options=QUICK + " reconnects: -1").start(server.url)
    for times in range(1, 51):
        run.wait_for_frames(3)
        server.kill()
        run.wait_for_events("lost", times)
        server.start()
        run.wait_for_events("reconnected", times)
    run.cancel()

    assert run.graph.counters["camera-reconnects"] == 50


@pytest.mark.parametrize(
    ("change", "shapes"),
    [("SCALE", {(48, 64, 3)}), ("SEND", {(48, 64, 3), (96, 80, 3)}), ("FAIL", {(48, 64, 3)})],
)
def test_frames_of_another_size_are_scaled_sent_or_an_error(change, shapes, web, runs) -> None:
    web.pages["cam"] = web.camera(count=40, sizes=((64, 48), (80, 96)))
    run = runs(options=f"size_changes: {change} reconnects: 0 max_waiting: 100").start(web.url("cam"))
    said = run.error()

    assert {frame.array.shape for frame in run.frames} == shapes
    if change == "FAIL":
        assert "sends 80x96 now, and sent 64x48 first" in said
    else:
        assert len(run.frames) >= 39
        assert "the connection has broken off (input/output error); reconnects is 0" in said


def test_a_lost_camera_is_an_error_after_as_many_attempts_as_allowed(web, runs) -> None:
    web.pages["cam"] = web.camera()
    run = runs(options=QUICK + " reconnects: 3").start(web.url("cam"))
    run.wait_for_frames(3)
    web.stop()
    said = run.error()

    assert "nothing listens there (connection refused); 3 attempts to connect again have failed" in said
    assert re.search(r"\d\.\d s without frames; `reconnects` in the options allows more", said)


def test_a_restart_policy_connects_a_lost_camera_again(web) -> None:
    web.pages["cam"] = web.camera(count=5)
    graph = penstock.CalculatorGraph(
        """input_side_packet: "source" output_stream: "frames"
        node { calculator: "LiveVideoCalculator" name: "camera" input_side_packet: "SOURCE:source"
               output_stream: "VIDEO:frames"
               failure { on_error: RESTART max_restarts: 100 within_s: 60 backoff_ms: 10 }
               node_options { [type.googleapis.com/penstock_video.LiveVideoCalculatorOptions] {
                 reconnects: 0 } } }"""
    )
    came = threading.Semaphore(0)
    graph.observe_output_stream("frames", lambda *_: came.release())
    graph.start_run({"source": web.url("cam")})
    for _ in range(12):  # more than one connection has
        assert came.acquire(timeout=20)
    graph.close_all_packet_sources()
    graph.wait_until_done(20)

    assert len(web.requests) >= 3
    assert graph.ledger().adds_up


def test_a_sender_that_ends_is_never_the_end_of_a_file(web, runs) -> None:
    web.pages["cam"] = web.camera(count=6)
    said = runs(options="reconnects: 0").start(web.url("cam")).error()

    assert "the connection has broken off (input/output error); reconnects is 0" in said


def test_a_transport_stream_that_ends_is_never_the_end_of_a_file(web, runs) -> None:
    web.pages["cam"] = lambda handler: (
        handler.send_response(200),
        handler.end_headers(),
        handler.wfile.write(web.transport_stream(20)),
    )
    said = runs(options="reconnects: 0").start(web.url("cam")).error()

    assert "; reconnects is 0" in said


def test_a_sender_that_starts_again_at_0_goes_on_by_the_wall_clock(web, runs) -> None:
    def page(handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        content = web.transport_stream(30, start=0 if len(web.requests) > 1 else 100_000)
        for i in range(0, len(content), 1880):
            handler.wfile.write(content[i : i + 1880])
            if web.closing.wait(0.002):
                return

    web.pages["cam"] = page
    run = runs(options=QUICK).start(web.url("cam"))
    run.wait(lambda: run.kinds().count("reconnected") == 2, "back twice")

    assert abs(run.stamps[-1] - time.time_ns() // 1000) < 5 * SECOND


def test_while_a_camera_is_lost_the_bound_follows_the_clock_and_joins_go_on(web, runs) -> None:
    web.pages["cam"] = web.camera(count=5)
    run = runs(options=QUICK + " bound_lag_seconds: 0.2 reconnects: -1").start(web.url("cam"))
    run.wait(lambda: "lost" in run.kinds(), "lost")
    web.pages.clear()
    last = run.stamps[-1]
    run.wait(lambda: run.bounds and run.bounds[-1] > last + SECOND, "the bound has moved on by a second")

    behind = time.time_ns() // 1000 - run.bounds[-1]
    assert 0.2 * SECOND <= behind < 1.5 * SECOND
    web.pages["cam"] = web.camera()
    run.wait(lambda: "reconnected" in run.kinds(), "back")
    run.wait_for_frames(3)


def test_a_run_may_begin_without_its_camera(web, runs) -> None:
    web.stop()
    run = runs(options=QUICK + " must_be_there: false reconnects: -1").start(web.url("cam"))
    run.wait(lambda: run.kinds() == ["lost"], "not there")
    web.pages["cam"] = web.camera()
    web.start()
    run.wait_for_frames(3)

    assert run.kinds() == ["lost", "connected"]


def test_lost_datagrams_cost_frames_and_nothing_else(udp_sender, runs) -> None:
    sender = udp_sender(lose=9)
    run = runs(options=QUICK).start(f"udp://127.0.0.1:{sender.port}")
    run.wait_for_frames(60)
    sender.stop()
    run.wait(lambda: "lost" in run.kinds(), "lost when the sender is silent")

    assert sender.lost > 5
    assert run.cancel() < 1


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
def test_ctrl_c_ends_the_command_within_a_second(silent, tmp_path) -> None:
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
    assert time.monotonic() - began < 1.5  # and half a second for the interpreter to end
