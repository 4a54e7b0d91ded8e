"""LiveVideoCalculator with senders that are killed, start again, end, or change."""

from __future__ import annotations

import logging
import re
import socket
import threading
import time

import av
import numpy as np
import pytest

import penstock

#: Servers, and processes beside them.
pytestmark = pytest.mark.heavy

SECOND = 1_000_000
#: Quick ones, for servers on this machine.
QUICK = "read_timeout_seconds: 0.5 first_delay_seconds: 0.05 longest_delay_seconds: 0.2"


def test_a_camera_that_is_killed_and_started_again_comes_back_each_time(web, runs, caplog) -> None:
    web.pages["cam"] = web.camera()
    run = runs(options=QUICK)
    with caplog.at_level(logging.WARNING, "penstock"):
        run.start(web.url("cam"))
        for times in range(1, 6):
            run.wait_for_frames(5)
            web.stop()
            run.wait_for_events("lost", times)
            run.wait(lambda: run.graph.counters["camera-source_lost"] == 1, "counted as lost")
            web.start()
            run.wait_for_events("reconnected", times)
        run.wait_for_frames(5)
    assert run.graph.counters["camera-source_lost"] == 0
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
    assert re.search(r"\d\.\d s without live frames; `reconnects` in the options allows more", said)


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


def test_a_connection_that_is_closed_in_good_order_is_a_loss_too(web, runs) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def send() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(web.transport_stream(20))

        thread = threading.Thread(target=send)
        thread.start()
        said = runs(options="reconnects: 0").start(f"tcp://127.0.0.1:{server.getsockname()[1]}").error()
        thread.join(20)

    assert "has ended: nothing more comes to the live reader; reconnects is 0" in said


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


def test_a_clock_that_jumps_in_the_middle_of_a_stream_is_counted_and_frames_go_on(web, runs) -> None:
    def page(handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for start in (100_000, 0, 50_000):
            content = web.transport_stream(40, start=start)
            for i in range(0, len(content), 1880):
                handler.wfile.write(content[i : i + 1880])
                if web.closing.wait(0.002):
                    return
        web.closing.wait(20)

    web.pages["cam"] = page
    run = runs(options=QUICK + " max_waiting: 200").start(web.url("cam"))
    run.wait(lambda: "lost" in run.kinds(), "all was sent")

    assert len(run.stamps) >= 110
    assert max(run.stamps) - min(run.stamps) < 20 * SECOND
    assert run.graph.counters["camera-clock_jumps"] == 2


def test_a_camera_that_comes_back_with_another_codec_goes_on(web, runs) -> None:
    motion_jpeg = web.camera(count=5)

    def page(handler) -> None:
        if len(web.requests) % 2:
            motion_jpeg(handler)
            return
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(web.transport_stream(10))

    web.pages["cam"] = page
    run = runs(options=QUICK).start(web.url("cam"))
    run.wait_for_events("reconnected", 3)

    assert {frame.array.shape for frame in run.frames} == {(48, 64, 3)}


def test_a_sender_that_has_sent_as_much_as_it_said_ends_the_stream(web, runs, tmp_path, caplog) -> None:
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in range(50):
            picture = np.full((48, 64, 3), 5 * i, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))

    def page(handler) -> None:
        content = path.read_bytes()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    web.pages["film.mp4"] = page
    run = runs().start(web.url("film.mp4"))
    run.graph.wait_until_done(20)

    assert "has sent all its 2.0 s" in caplog.text
    assert run.kinds() == ["connected"]


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
