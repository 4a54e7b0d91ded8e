"""LiveVideoSinkCalculator in graphs: what it takes, what it refuses, and what becomes of each frame."""

from __future__ import annotations

import io
import json
import socket
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from time import monotonic

import av
import numpy as np
import pytest
from PIL import Image

import penstock
from penstock.access import Access
from penstock.errors import (
    AlreadyExistsError,
    GraphConfigError,
    GraphRunError,
    StatusCode,
)
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_video.pattern import pattern_index
from penstock_video.streaming import live_stream

NOTHING = Access(reads=(), writes=(), connects=(), devices=(), runs=())


def graph_of(address="", options="", sides="", **given):
    """Return a graph of one sink. `sides` are lines of the node."""
    return penstock.CalculatorGraph(
        f"""
        input_stream: "v"
        input_side_packet: "address"
        input_side_packet: "token"
        output_side_packet: "url"
        node {{
          calculator: "LiveVideoSinkCalculator"
          input_stream: "VIDEO:v"
          output_side_packet: "URL:url"
          {sides}
          node_options {{
            [type.googleapis.com/penstock_video.LiveVideoSinkCalculatorOptions] {{
              {f"address: {json.dumps(str(address))}" if address else ""} {options}
            }}
          }}
        }}""",
        **given,
    )


def add(graph, frames):
    for frame, time in frames:
        graph.add_packet_to_input_stream("v", penstock.Packet(frame, time))


def run(graph, frames, sides=None, header=None):
    graph.start_run(sides or {}, stream_headers={"v": header} if header else None)
    add(graph, frames)
    graph.close_all_input_streams()
    graph.wait_until_done(timeout=30)


def drops(graph):
    return {drop.reason: drop.count for drop in graph.ledger().drops}


def counters(graph):
    return {name.partition("-")[2]: value for name, value in graph.counters.items()}


def url_of(graph, aid):
    def found():
        try:
            return graph.get_output_side_packet("url").payload
        except penstock.errors.UnavailableError:
            return ""

    return aid.until(found, "the address for browsers")


def got(url, path=""):
    with opened(url.replace("/?", f"/{path}?")) as answer:
        return answer.read()


def opened(url):
    return urllib.request.urlopen(url, timeout=10)  # noqa: S310  # of the test's own server


# --- HLS and UDP -------------------------------------------------------------------------------------


def test_with_drop_none_each_frame_is_in_the_playlist_and_the_ledger_adds_up(aid, tmp_path):
    path = tmp_path / "live.m3u8"
    graph = graph_of(path, "drop: NONE keyframe_s: 1")
    with aid.nothing_left():
        run(graph, aid.frames(40), header=VideoHeader(ImageFormat.SRGB, 64, 48, 25.0))

    with av.open(str(path)) as container:
        found = [pattern_index(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    assert found == list(range(40))
    assert path.read_text().endswith("#EXT-X-ENDLIST\n")
    assert drops(graph) == {}
    assert counters(graph) == {"sent": 40, "connections": 1}
    assert graph.ledger().adds_up


def test_by_default_the_graph_does_not_wait_and_each_frame_was_sent_or_is_counted(aid, tmp_path):
    graph = graph_of(tmp_path / "live.m3u8")
    run(graph, aid.frames(300))

    counted = counters(graph)
    assert counted["sent"] + sum(drops(graph).values()) == 300
    assert set(drops(graph)) <= {"a newer frame came", "not connected"}
    assert graph.ledger().adds_up


def test_a_full_disk_is_a_loss_that_is_logged_and_the_stream_comes_back(aid, tmp_path, caplog):
    path = tmp_path / "live.m3u8"
    frames = list(aid.frames(60))
    graph = graph_of(path, "drop: NONE keyframe_s: 0.4 retry_s: 30")
    with aid.nothing_left():
        graph.start_run({})
        add(graph, frames[:15])
        aid.until(path.exists, "a segment")
        with aid.largest_file(500):
            add(graph, frames[15:30])
            aid.until(
                lambda: (
                    "lost: writing the HLS playlist failed: File too large; make room on the disk; conn"
                    in caplog.text
                ),
                "a loss",
            )
        add(graph, frames[30:])
        graph.close_all_input_streams()
        graph.wait_until_done(timeout=30)

    with av.open(str(path)) as container:
        found = [pattern_index(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    assert found[:10] == list(range(10))
    assert found[-20:] == list(range(40, 60))
    assert "#EXT-X-DISCONTINUITY\n" in path.read_text()
    assert counters(graph)["sent"] == len(found)
    assert drops(graph) == {"the connection was lost": 60 - len(found)}
    assert graph.ledger().adds_up


def test_a_disk_that_stays_full_ends_the_run(aid, tmp_path):
    graph = graph_of(tmp_path / "live.m3u8", "drop: NONE keyframe_s: 0.4 retry_s: 0")
    words = (
        r"the publisher was cut off: writing the HLS playlist failed: File too large; make room on the disk$"
    )
    with (
        aid.nothing_left(),
        aid.largest_file(500),
        pytest.raises(GraphRunError, match=words) as caught,
    ):
        run(graph, aid.frames(40))
    assert caught.value.code is StatusCode.RESOURCE_EXHAUSTED
    assert list(tmp_path.iterdir()) == []


def test_grey_and_alpha_are_sent_and_other_formats_are_told_what_makes_them_fit(aid, tmp_path):
    picture = np.random.default_rng(1).integers(190, 211, (48, 64), np.uint8)
    frames = [
        (ImageFrame(picture, ImageFormat.GRAY8), 0),
        (ImageFrame(np.dstack([picture] * 4), ImageFormat.SRGBA), 40_000),
    ]
    path = tmp_path / "live.m3u8"
    run(graph_of(path, "drop: NONE"), frames)
    with av.open(str(path)) as container:
        means = [frame.to_ndarray(format="rgb24").mean() for frame in container.decode(video=0)]
    assert means == pytest.approx([200, 200], abs=3)

    deep = ImageFrame(picture.astype(np.uint16), ImageFormat.GRAY16)
    with pytest.raises(
        GraphRunError, match=r"but live coding takes GRAY8, SRGB or SRGBA; put a .*Calculator before"
    ):
        run(graph_of(path), [(deep, 0)])


def test_a_frame_without_a_time_is_refused(aid, tmp_path):
    frame, _ = next(aid.frames(1))
    with pytest.raises(
        GraphRunError, match=r"the live sink has no place for a frame at .*; give it an ordinary timestamp"
    ):
        run(graph_of(tmp_path / "x.m3u8"), [(frame, penstock.Timestamp.PRESTREAM)])


def test_datagrams_are_a_stream_that_can_be_read(aid):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.2)
        graph = graph_of(f"udp://127.0.0.1:{receiver.getsockname()[1]}", "drop: NONE")
        with aid.nothing_left():
            run(graph, aid.frames(10))
        parts = []
        with suppress(TimeoutError):
            while True:
                parts.append(receiver.recv(2000))
    assert max(map(len, parts)) <= 1316
    with av.open(io.BytesIO(b"".join(parts)), format="mpegts") as container:
        found = [pattern_index(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    assert found == list(range(10))


def test_datagrams_that_nobody_takes_are_no_error(aid):
    graph = graph_of(f"udp://127.0.0.1:{aid.free_port()}", "drop: NONE")
    run(graph, aid.frames(10))
    assert counters(graph)["sent"] == 10


# --- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "options", "words"),
    [
        ("", "", "the live sink has no address for streaming frames; set it in the options, or give"),
        ("clip.mp4", "", "streaming destination 'clip.mp4' is none that a live sink knows"),
        ("nowhere/x.m3u8", "", "there is no directory 'nowhere'; make it first"),
        ("rtsp://h/x", "crf: 99", "crf is 99.0, but must be from 0 to 63"),
        ("rtsp://h/x", "retry_s: -2", "retry_s is -2.0, but must be -1, or 0 or more"),
        ("rtsp://h/x", "connect_timeout_s: 0", "connect_timeout_s is 0.0, but must be more than 0"),
        ("rtsp://h/x", "window: 2", "window is 2, but must be 0, or 3 or more"),
        ("rtsp://h/x", "fps: 1e9", "fps is 1000000000.0, but must be 0 or from 0.01 to 1000000"),
        ("rtsp://h/x", "threads: 1000", "threads is 1000, but must be from 0 to 256"),
        ("rtsp://h/x", "max_rate: 0", "max_rate is 0.0, but must be from 0.01 to 1000000"),
        ("rtsp://h/x", "jpeg_quality: 99", "jpeg_quality is 99, but must be from 1 to 95"),
        ("rtsp://h/x", "max_viewers: 0", "max_viewers is 0, but must be from 1 to 1000"),
        ("rtsp://h/x", 'codec: "nonsense"', "codec 'nonsense' is unknown"),
        ("rtsp://h/x", 'serve: "http://127.0.0.1"', "serve is 'http://127.0.0.1', but must be"),
        ("x.m3u8", 'serve: "rtsp://127.0.0.1/x"', "serve is 'rtsp://127.0.0.1/x', but must be"),
        ("https://127.0.0.1", "", "streaming options certificate and key go with https://, and need it"),
        (
            "http://127.0.0.1",
            'certificate: "a" key: "b"',
            "streaming options certificate and key go with https://",
        ),
        ("http://0.0.0.0", "", "listening at address '0.0.0.0', which other machines can reach, needs TLS"),
    ],
)
def test_what_does_not_fit_is_told_before_a_frame_comes(address, options, words):
    with pytest.raises((GraphConfigError, GraphRunError), match=words):
        run(graph_of(address, options), [])


def test_a_missing_library_is_told_with_what_installs_it(monkeypatch):
    monkeypatch.setattr(live_stream, "find_spec", lambda name: None if name == "PIL" else name)
    words = r"\(http://127.0.0.1\) needs PIL, which is not installed; pip install \"penstock-video\[http\]\""
    with pytest.raises(GraphRunError, match=words):
        run(graph_of("http://127.0.0.1"), [])


def test_a_port_that_is_taken_is_told(aid):
    words = "take another port, or 0 for any"
    with socket.create_server(("127.0.0.1", 0)) as taken, aid.nothing_left():
        graph = graph_of(f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(GraphRunError, match=words):
            run(graph, [])


# --- what a graph may touch --------------------------------------------------------------------------


def test_the_contract_says_where_frames_go_without_secrets():
    touched = [
        str(touch)
        for address, options in (
            ("rtsp://u:secret@10.0.0.5/x", ""),
            ("rtmp://10.0.0.5/app/secret", ""),
            ("out/live.m3u8", 'serve: "http://127.0.0.1:8080"'),
        )
        for touch in graph_of(address, options).access()["LiveVideoSinkCalculator"]
    ]
    assert touched == [
        "connect to 'rtsp://u:***@10.0.0.5/x'",
        "connect to 'rtmp://10.0.0.5/app/***'",
        "write 'out/live.m3u8'",
        "write 'out/live-*.ts'",
        "connect to 'http://127.0.0.1:8080'",
    ]


@pytest.mark.parametrize(
    "address", ["rtsp://u:secret@10.0.0.5/x", "udp://10.0.0.5:1", "http://127.0.0.1:0", "out/live.m3u8"]
)
def test_a_limited_graph_sends_nothing_where_it_may_not(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    with pytest.raises(GraphConfigError, match="this graph may not") as caught:
        graph_of(address, access=NOTHING)
    assert "secret" not in str(caught.value)

    graph = graph_of(sides='input_side_packet: "ADDRESS:address"', access=NOTHING)
    with pytest.raises(GraphRunError, match="this graph may not") as refused:
        run(graph, [], {"address": address})
    assert refused.value.code is StatusCode.PERMISSION_DENIED
    assert "secret" not in str(refused.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_limited_graph_writes_where_it_may(aid, tmp_path):
    graph = graph_of(tmp_path / "live.m3u8", "drop: NONE", access=Access(writes=[tmp_path]))
    run(graph, aid.frames(3))
    assert len(list(tmp_path.iterdir())) == 2

    only = Access(writes=[tmp_path / "live.m3u8"])
    with pytest.raises(GraphConfigError, match=r"may not write '.*live-\*\.ts'"):
        graph_of(tmp_path / "live.m3u8", access=only)
    with pytest.raises(GraphRunError, match=r"may not write '.*live-\d+-000000\.ts'"):
        run(
            graph_of(sides='input_side_packet: "ADDRESS:address"', access=only),
            [],
            {"address": tmp_path / "live.m3u8"},
        )


def test_a_playlist_that_must_not_be_replaced_stays(tmp_path):
    (tmp_path / "live.m3u8").write_text("mine")
    with pytest.raises(GraphRunError, match="exists; name another one") as caught:
        run(graph_of(tmp_path / "live.m3u8", access=Access(overwrites=False)), [])
    assert isinstance(caught.value.errors[0].__cause__, AlreadyExistsError)
    assert (tmp_path / "live.m3u8").read_text() == "mine"


# --- browsers ----------------------------------------------------------------------------------------


def test_browsers_get_pages_pictures_and_a_video(aid):
    graph = graph_of("http://127.0.0.1:0")
    with aid.nothing_left():
        graph.start_run({})
        url = url_of(graph, aid)
        with refused("503"):
            got(url, "picture.jpg")
        (first, _), (second, time) = aid.frames(2)
        add(graph, [(first, 0)])
        aid.until(lambda: pictures(url), "a picture")
        with opened(url.replace("/?", "/video.mjpeg?")) as video:
            assert pattern_index(part(video)) == 0
            add(graph, [(second, time)])
            assert pattern_index(part(video)) == 1
            page = got(url).decode()
            assert '<img src="/video.mjpeg?token=' in page
            assert "<title>v</title>" in page
            began = monotonic()
            graph.cancel()
            with pytest.raises(GraphRunError, match="cancelled"):
                graph.wait_until_done(timeout=10)
            assert monotonic() - began < 1.5
    assert drops(graph) == {}


def pictures(url):
    try:
        return got(url, "picture.jpg")
    except urllib.error.HTTPError as error:
        error.close()
        return b""


@contextmanager
def refused(code):
    """Expect a refusal, which is an open answer."""
    with pytest.raises(urllib.error.HTTPError, match=code) as caught:
        yield
    caught.value.close()


def part(video):
    """Return the next picture of an answer."""
    assert video.readline() in {b"--penstock-picture\r\n", b"\r\n"}
    heads = {}
    while (line := video.readline().decode().strip()) or not heads:
        if ":" in line:
            heads.update([line.split(": ")])
    with Image.open(io.BytesIO(video.read(int(heads["Content-Length"])))) as found:
        picture = np.asarray(found.convert("RGB"))
    assert video.readline() == b"\r\n"
    return picture


def test_a_token_of_the_application_is_what_browsers_need(aid):
    sides = 'input_side_packet: "TOKEN:token"'
    graph = graph_of("http://127.0.0.1:0", sides=sides)
    graph.start_run({"token": "0123456789abcdef"})
    url = url_of(graph, aid)
    assert url.endswith("/?token=0123456789abcdef")
    for wrong in (url.replace("cdef", "0000"), url.partition("?")[0]):
        with refused("403"):
            got(wrong)
    graph.close_all_input_streams()
    graph.wait_until_done(timeout=10)

    with (
        aid.nothing_left(),
        pytest.raises(GraphRunError, match="a web token of 5 characters could be guessed"),
    ):
        run(graph_of("http://127.0.0.1:0", sides=sides), [], {"token": "short"})
    with pytest.raises(
        GraphRunError,
        match="streaming options: the address 'rtsp://h/x' is not for browsers, and takes no TOKEN",
    ):
        run(graph_of("rtsp://h/x", sides=sides), [], {"token": "0123456789abcdef"})


def test_the_files_of_hls_are_served_with_the_token_in_the_playlist(aid, tmp_path):
    path = tmp_path / "live.m3u8"
    graph = graph_of(path, 'drop: NONE keyframe_s: 0.2 serve: "http://127.0.0.1:0"')
    with aid.nothing_left():
        graph.start_run({})
        url = url_of(graph, aid)
        add(graph, aid.frames(16))
        aid.until(path.exists, "the playlist")
        playlist = aid.until(lambda: got(url, "live.m3u8").decode(), "the playlist over HTTP")
        names = [line for line in playlist.splitlines() if not line.startswith("#")]
        assert names[0].endswith(f".ts?{url.partition('?')[2]}")
        with opened(f"{url.partition('?')[0]}{names[0]}") as answer:
            assert answer.headers["content-type"] == "video/mp2t"
            assert answer.read() == path.with_name(names[0].partition("?")[0]).read_bytes()
        assert '<video src="/live.m3u8?token=' in got(url).decode()
        with refused("403"):
            opened(f"{url.partition('?')[0]}{names[0].partition('?')[0]}")
        with refused("404"):
            got(url, "passwords.txt")
        graph.close_all_input_streams()
        graph.wait_until_done(timeout=10)


def test_frames_that_come_faster_than_viewers_may_see_them_are_counted(aid):
    graph = graph_of("http://127.0.0.1:0", "max_rate: 5")
    graph.start_run({})
    url = url_of(graph, aid)
    add(graph, aid.frames(1))
    aid.until(lambda: pictures(url), "a picture")
    with opened(url.replace("/?", "/video.mjpeg?")) as video:
        part(video)
        add(graph, aid.frames(50, first=1_000_000))
        found = [pattern_index(part(video))]
        while found[-1] != 49:
            found.append(pattern_index(part(video)))
        graph.close_all_input_streams()
        graph.wait_until_done(timeout=10)
    assert len(found) <= 3
    assert drops(graph)["a newer frame came"] >= 45
    assert graph.ledger().adds_up


# --- without a server --------------------------------------------------------------------------------


def test_a_server_that_refuses_ends_the_run_at_once_where_it_is_told_so(aid):
    address = f"rtsp://u:secret@127.0.0.1:{aid.free_port()}/camera"
    graph = graph_of(address, "retry_s: 0 drop: NONE")
    with (
        aid.nothing_left(),
        pytest.raises(GraphRunError, match="no connection at the first try: connection") as caught,
    ):
        run(graph, aid.frames(50))
    assert caught.value.code is StatusCode.UNAVAILABLE
    assert "rtsp://u:***@127.0.0.1:" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_tries_become_rarer_and_end_with_an_error_that_says_how_many_there_were(aid, caplog):
    graph = graph_of(f"rtmp://127.0.0.1:{aid.free_port()}/live/secret", "retry_s: 1 drop: NONE")
    with (
        aid.nothing_left(),
        pytest.raises(GraphRunError, match=r"no connection after 2 tries in \d\.\d s") as caught,
    ):
        run(graph, aid.frames(50))
    assert "retry_s says how long to try" in str(caught.value)
    assert "no connection: connection refused; the next try is in 0." in caplog.text
    assert "secret" not in caplog.text + str(caught.value)
    assert counters(graph)["failed_connections"] == 2


def test_the_graph_goes_on_without_a_server_and_frames_are_counted_as_not_connected(aid):
    def silent(connection):
        connection.recv(1)
        threading.Event().wait(0.5)

    with aid.nothing_left(), aid.peer(silent) as server:
        graph = graph_of(f"rtsp://127.0.0.1:{server.port}/camera", "retry_s: -1")
        graph.start_run({})
        began = monotonic()
        add(graph, aid.frames(200))
        graph.wait_until_idle()
        assert monotonic() - began < 5
        graph.cancel()
        began = monotonic()
        with pytest.raises(GraphRunError, match="cancelled"):
            graph.wait_until_done(timeout=10)
        assert monotonic() - began < 1.5
    assert drops(graph) in ({"not connected": 199, "the stream was over": 1}, {"not connected": 199})
    assert graph.ledger().adds_up


@pytest.mark.parametrize("options", ["", "drop: NONE", "pace: true"])
def test_whatever_it_waits_for_a_cancelled_run_ends_within_a_second(aid, options):
    is_over = threading.Event()
    with aid.nothing_left(), aid.peer(lambda _: is_over.wait(20)) as server:
        graph = graph_of(f"rtmp://127.0.0.1:{server.port}/live/key", options)
        graph.start_run({})
        add(graph, aid.frames(3))
        aid.until(lambda: server.taken, "a connection")
        began = monotonic()
        graph.cancel()
        with pytest.raises(GraphRunError, match="cancelled"):
            graph.wait_until_done(timeout=10)
        assert monotonic() - began < 1.5
        is_over.set()
    assert graph.ledger().adds_up


def test_a_server_that_accepts_and_is_silent_is_told_with_address_and_seconds(aid):
    is_over = threading.Event()
    with aid.nothing_left(), aid.peer(lambda _: is_over.wait(20)) as server:
        graph = graph_of(
            f"rtsp://127.0.0.1:{server.port}/camera", "retry_s: 0 connect_timeout_s: 0.5 drop: NONE"
        )
        words = rf"rtsp://127.0.0.1:{server.port}/camera: no connection .*it did not answer within 0.5 s"
        with pytest.raises(GraphRunError, match=words):
            run(graph, aid.frames(50))
        is_over.set()
