"""Real servers: GStreamer's of RTSP, and ffmpeg as a server of RTMP; killed, back again, with a password."""

from __future__ import annotations

import json
import re
import threading

import av
import pytest

import penstock
from penstock.errors import GraphRunError, StatusCode
from penstock_video.pattern import pattern_index

pytestmark = pytest.mark.heavy


def graph_of(address, options):
    return penstock.CalculatorGraph(
        f"""
        input_stream: "v"
        node {{
          calculator: "LiveVideoSinkCalculator"
          input_stream: "VIDEO:v"
          node_options {{
            [type.googleapis.com/penstock_video.LiveVideoSinkCalculatorOptions] {{
              address: {json.dumps(address)} crf: 10 {options}
            }}
          }}
        }}"""
    )


def add(graph, frames):
    for frame, time in frames:
        graph.add_packet_to_input_stream("v", penstock.Packet(frame, time))


def run(graph, frames):
    graph.start_run()
    add(graph, frames)
    graph.close_all_input_streams()
    graph.wait_until_done(timeout=60)


def counters(graph):
    return {name.partition("-")[2]: value for name, value in graph.counters.items()}


def numbers(path):
    """Return the numbers of the pattern's frames in a file."""
    with av.open(str(path)) as container:
        return [pattern_index(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]


@pytest.mark.usefixtures("gst")
def test_a_server_of_rtsp_gets_every_frame_as_it_was(aid, tmp_path):
    with aid.rtsp_server(tmp_path / "got.h264") as server, aid.nothing_left():
        graph = graph_of(f"rtsp://127.0.0.1:{server.port}/camera", "pace: true keyframe_s: 0.4")
        run(graph, aid.frames(30, width=320, height=240))

        aid.until(lambda: len(numbers(tmp_path / "got.h264")) >= 29, "the frames in the server's file")
    found = numbers(tmp_path / "got.h264")
    assert found == list(range(len(found)))
    assert counters(graph) == {"sent": 30, "connections": 1}
    assert graph.ledger().drops == ()


@pytest.mark.usefixtures("gst")
@pytest.mark.parametrize(("password", "is_right"), [("secret", True), ("wrong", False)])
def test_the_password_of_the_address_is_what_the_server_asks_for(aid, tmp_path, caplog, password, is_right):
    with aid.rtsp_server(tmp_path / "got.h264", user=("me", "secret")) as server, aid.nothing_left():
        graph = graph_of(f"rtsp://me:{password}@127.0.0.1:{server.port}/camera", "pace: true")
        if is_right:
            run(graph, aid.frames(20, width=320, height=240))  # what comes with the end, the server drops
            aid.until(lambda: numbers(tmp_path / "got.h264"), "frames in the server's file")
        else:
            with pytest.raises(
                GraphRunError, match="the outlet's server refuses the user or the password"
            ) as caught:
                run(graph, aid.frames(10, width=320, height=240))
            assert caught.value.code is StatusCode.PERMISSION_DENIED
            assert f"rtsp://me:***@127.0.0.1:{server.port}/camera" in str(caught.value)
            assert "wrong" not in str(caught.value) + caplog.text


@pytest.mark.usefixtures("gst")
def test_a_path_that_the_server_does_not_know_is_told(aid, tmp_path):
    with aid.rtsp_server(tmp_path / "got.h264") as server, aid.nothing_left():
        graph = graph_of(f"rtsp://127.0.0.1:{server.port}/elsewhere", "drop: NONE retry_s: 0")
        with pytest.raises(
            GraphRunError, match=r"no connection at the first try: Server returned 404 Not Found;"
        ):
            run(graph, aid.frames(10))


@pytest.mark.usefixtures("gst")
def test_a_server_that_is_killed_and_started_again_gets_the_stream_again(aid, tmp_path, caplog):
    first, second = tmp_path / "first.h264", tmp_path / "second.h264"
    with aid.nothing_left():
        with aid.rtsp_server(first) as server:
            graph = graph_of(f"rtsp://127.0.0.1:{server.port}/camera", "keyframe_s: 0.2")
            graph.start_run()
            camera = _Camera(graph, aid)
            aid.until(lambda: first.exists() and numbers_or_none(first), "frames before")
            server.kill()
            aid.until(lambda: "; connecting again" in caplog.text, "the loss in the log")
        with aid.rtsp_server(second, server.port):
            aid.until(lambda: second.exists() and numbers_or_none(second), "frames afterwards")
            camera.stop()
        graph.close_all_input_streams()
        graph.wait_until_done(timeout=30)

    found = counters(graph)
    assert found["connections"] == 2
    assert found["ms_without_connection"] > 0
    assert "connected again after" in caplog.text
    dropped = {drop.reason: drop.count for drop in graph.ledger().drops}
    assert found["sent"] + sum(dropped.values()) == camera.count
    assert dropped["not connected"] > 0
    assert set(dropped) <= {"not connected", "a newer frame came", "the connection was lost"}
    assert graph.ledger().adds_up


class _Camera:
    """Adds a frame every 20 ms, until it is stopped."""

    def __init__(self, graph, aid):
        self.count = 0
        self._graph = graph
        self._frame = next(aid.frames(1, width=320, height=240))[0]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._play, name="camera")
        self._thread.start()

    def _play(self):
        while not self._is_over.wait(0.02):
            add(self._graph, [(self._frame, 20_000 * self.count)])
            self.count += 1

    def stop(self):
        self._is_over.set()
        self._thread.join()


def numbers_or_none(path):
    """Return what is in a file that grows; None where that cannot be read yet."""
    try:
        return numbers(path)
    except (av.error.FFmpegError, IndexError):
        return None


@pytest.mark.usefixtures("ffmpeg")
def test_a_server_of_rtmp_gets_every_frame(aid, tmp_path):
    port = aid.free_port()
    with aid.nothing_left(), aid.rtmp_server(tmp_path / "got.flv", port) as server:
        graph = graph_of(f"rtmp://127.0.0.1:{port}/live/key", "drop: NONE")
        run(graph, aid.frames(30, width=320, height=240))
        assert server.wait(20) == 0
    assert numbers(tmp_path / "got.flv") == list(range(30))
    assert counters(graph) == {"sent": 30, "connections": 1}


@pytest.mark.usefixtures("ffmpeg")
@pytest.mark.parametrize("options", ["", "retry_s: 0"])
def test_a_server_that_is_gone_at_the_end_is_no_error_where_losses_are_none(aid, tmp_path, caplog, options):
    port = aid.free_port()
    graph = graph_of(f"rtmp://127.0.0.1:{port}/live/key", f"drop: NONE {options}")
    with aid.nothing_left():
        with aid.rtmp_server(tmp_path / "got.flv", port):
            graph.start_run()
            add(graph, aid.frames(5, width=320, height=240))
            aid.until(lambda: counters(graph).get("sent", 0) >= 3, "frames that were sent")
        graph.close_all_input_streams()
        failed = ""
        try:
            graph.wait_until_done(timeout=30)
        except GraphRunError as error:
            failed = str(error)
        # The system may take the last bytes before it learns that nobody reads them.
        if not failed:
            assert counters(graph)["sent"] == 5 or (not options and "lost" in caplog.text)
        else:
            assert options
            assert re.search("(could not be ended|connection was lost): ", failed)


@pytest.mark.usefixtures("ffmpeg")
def test_frames_of_another_size_begin_the_stream_again(aid, tmp_path, caplog):
    caplog.set_level("INFO")
    port = aid.free_port()
    graph = graph_of(f"rtmp://127.0.0.1:{port}/live/key", "drop: NONE")
    with aid.nothing_left():
        with aid.rtmp_server(tmp_path / "first.flv", port) as server:
            graph.start_run()
            add(graph, aid.frames(5, width=320, height=240))
            add(graph, aid.frames(5, width=160, height=120, first=1_000_000))
            assert server.wait(20) == 0
        with aid.rtmp_server(tmp_path / "second.flv", port) as server:
            graph.close_all_input_streams()
            graph.wait_until_done(timeout=30)
            assert server.wait(20) == 0
    assert "frames are 160x120 from here on, and were 320x240: the stream begins again" in caplog.text
    assert (numbers(tmp_path / "first.flv"), numbers(tmp_path / "second.flv")) == ([*range(5)], [*range(5)])


@pytest.mark.usefixtures("ffmpeg")
def test_a_codec_that_the_server_cannot_take_is_told(aid, tmp_path):
    port = aid.free_port()
    graph = graph_of(f"rtmp://127.0.0.1:{port}/live/key", 'drop: NONE retry_s: 0 codec: "mpeg4"')
    with (
        aid.nothing_left(),
        aid.rtmp_server(tmp_path / "got.flv", port),
        pytest.raises(GraphRunError, match="mpeg4") as caught,
    ):
        run(graph, aid.frames(5))
    assert caught.value.code is StatusCode.INVALID_ARGUMENT
