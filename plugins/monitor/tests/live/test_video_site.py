"""Pictures for many viewers: the newest one first, with limits for viewers who are slow, idle or gone."""

from __future__ import annotations

import http.client
import socket
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from penstock.errors import InvalidArgumentError
from penstock_live import connections, video_site
from penstock_live.api import VideoSite, listen

PATIENCE_S = 10.0


def part(answer):
    """Return the next picture; None at the end."""
    line = answer.readline()
    if line == b"\r\n":
        line = answer.readline()
    if line in {b"--penstock-picture--\r\n", b""}:
        return None
    if line == b"--penstock-picture\r\n":
        line = answer.readline()
    if line in {b"--penstock-picture--\r\n", b""}:
        return None
    assert line == b"Content-Type: image/jpeg\r\n"
    length = int(answer.readline().partition(b": ")[2])
    assert answer.readline() == b"\r\n"
    return answer.read(length)


def until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """Let each picture be sent once, so that tests may read one after the other, however slowly."""
    monkeypatch.setattr(video_site, "AGAIN_S", video_site.HEARTBEAT_S)


def test_a_viewer_gets_the_newest_picture_at_once_and_each_one_that_follows(site_of, viewer):
    with site_of(VideoSite, newest=lambda: b"before") as site, viewer(site) as answer:
        assert answer.headers["content-type"] == "multipart/x-mixed-replace; boundary=penstock-picture"
        assert part(answer) == b"before"
        for picture in (b"one", b"two"):
            site.show(picture)
            assert part(answer) == picture
        assert site.viewers == 1
        site.close()
        assert part(answer) is None
    assert site.viewers == 0


def test_before_the_first_picture_a_viewer_waits(site_of, viewer):
    with site_of(VideoSite) as site, viewer(site) as answer:
        site.show(b"first")
        assert part(answer) == b"first"
        with viewer(site, "picture.jpg") as none:
            assert (none.status, none.read()) == (503, b"no frame has come yet\n")


def test_each_picture_is_followed_by_its_end_so_that_browsers_show_it_at_once(site_of, viewer):
    with site_of(VideoSite, newest=lambda: b"one") as site, viewer(site) as answer:
        assert part(answer) == b"one"
        assert answer.readline() == b"\r\n"
        assert answer.readline() == b"--penstock-picture\r\n"


def test_a_single_picture_is_the_newest(site_of, viewer):
    with site_of(VideoSite, newest=lambda: b"now") as site, viewer(site, "picture.jpg") as answer:
        assert (answer.status, answer.headers["content-type"], answer.read()) == (200, "image/jpeg", b"now")


def test_a_head_has_no_end_to_wait_for(site_of, viewer):
    with site_of(VideoSite, newest=lambda: b"now") as site:
        for path in ("", "video.mjpeg", "picture.jpg"):
            with viewer(site, path, method="HEAD") as answer:
                assert (answer.status, answer.read()) == (200, b"")
        assert site.viewers == 0


def test_more_viewers_than_may_look_are_told_to_come_again(site_of, viewer):
    with site_of(VideoSite, newest=lambda: b"now", most_viewers=2) as site:
        with viewer(site) as first, viewer(site) as second, viewer(site) as third:
            assert (part(first), part(second)) == (b"now", b"now")
            assert third.status == 503
            assert third.read() == b"2 viewers look at this stream, and no more may (max_viewers)\n"
        until(lambda: site.viewers == 0, "the viewers are gone")
        with viewer(site) as again:
            assert part(again) == b"now"


@pytest.mark.parametrize("path", ["", "video.mjpeg", "picture.jpg", "nothing"])
def test_without_the_token_nobody_learns_anything(site_of, path):
    with site_of(VideoSite, newest=lambda: b"now") as site:
        url = urlsplit(site.url)
        for query, headers, words in (
            ("", {}, b"the token is missing or wrong"),
            ("token=0123456789abcdef0123456789abcdef", {}, b"the token is missing or wrong"),
            (url.query, {"Host": "evil.example"}, b"but this server answers only for"),
            (url.query, {"Origin": "http://evil.example"}, b"the request comes from a page of"),
        ):
            connection = http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE_S)
            connection.request("GET", f"/{path}?{query}", headers=headers)
            answer = connection.getresponse()
            assert answer.status == 403
            assert words in answer.read()
            connection.close()
        assert site.viewers == 0


def test_another_path_is_told_what_there_is(site_of, viewer):
    with site_of(VideoSite) as site, viewer(site, "live.m3u8") as answer:
        assert answer.status == 404
        said = b"there is no page '/live.m3u8'; there are /, /video.mjpeg, /picture.jpg\n"
        assert answer.read() == said


def test_the_page_escapes_the_title_and_loads_nothing_from_elsewhere(site_of, viewer):
    with site_of(VideoSite) as site, viewer(site, "") as answer:
        page = answer.read().decode()
        assert "<title>a &lt;b&gt; &amp; c</title>" in page
        assert "<script" not in page
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'nonce-")
        assert "img-src 'self'" in policy


def test_a_short_token_is_refused_and_one_of_the_application_is_taken(site_of, viewer):
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    with (
        listening,
        pytest.raises(InvalidArgumentError, match="a web token of 5 characters could be guessed"),
    ):
        VideoSite(listening, address, title="x", token="short")  # noqa: S106  # no secret
    token = "with & signs and more"  # noqa: S105  # no secret
    with site_of(VideoSite, token=token) as site, viewer(site, "") as answer:
        assert answer.status == 200
        assert b"/video.mjpeg?token=with%20%26%20signs%20and%20more" in answer.read()


def test_a_slow_viewer_gets_the_newest_picture_and_misses_those_between(site_of, viewer):
    with site_of(VideoSite, newest=lambda: b"before") as site, viewer(site) as answer:
        assert part(answer) == b"before"
        for number in range(200):
            site.show(b"%03d" % number * 100_000)
        last = b"199" * 100_000
        seen = [part(answer)]
        while seen[-1] != last:
            seen.append(part(answer))
        assert len(seen) < 150


def test_a_viewer_who_stops_reading_is_let_go(site_of, viewer, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE_S", 0.3)
    with site_of(VideoSite, newest=lambda: b"x" * 8_000_000) as site, viewer(site):
        until(lambda: site.viewers == 1, "a viewer")
        for _ in range(4):
            site.show(b"x" * 8_000_000)
        until(lambda: site.viewers == 0, "the viewer is let go")


def test_a_viewer_who_reads_slowly_but_does_stays(site_of, viewer, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE_S", 0.8)
    with site_of(VideoSite, newest=lambda: b"x" * 20_000_000) as site, viewer(site) as answer:
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            answer.read(300_000)  # not less: the kernel tells the sender of large pieces only
            time.sleep(0.03)  # a slow network
        assert site.viewers == 1


def test_the_last_picture_is_sent_again_so_that_a_viewer_who_has_vanished_is_noticed(
    site_of, viewer, monkeypatch
):
    monkeypatch.setattr(video_site, "AGAIN_S", 0.05)
    monkeypatch.setattr(video_site, "HEARTBEAT_S", 0.05)
    with site_of(VideoSite, newest=lambda: b"last") as site:
        with viewer(site) as answer:
            assert [part(answer) for _ in range(4)] == [b"last"] * 4
        until(lambda: site.viewers == 0, "the viewer who is gone is noticed")


def test_each_picture_is_sent_again_at_once_since_browsers_show_it_with_the_next(
    site_of, viewer, monkeypatch
):
    monkeypatch.setattr(video_site, "AGAIN_S", 0.05)
    with site_of(VideoSite, newest=lambda: b"red") as site, viewer(site) as answer:
        began = time.monotonic()
        assert [part(answer), part(answer)] == [b"red"] * 2
        site.show(b"blue")
        assert [part(answer), part(answer)] == [b"blue"] * 2
        assert time.monotonic() - began < video_site.HEARTBEAT_S / 2


def test_many_connections_that_say_nothing_are_closed_and_viewers_go_on(site_of, viewer, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE_S", 0.3)
    with site_of(VideoSite, newest=lambda: b"now") as site:
        url = urlsplit(site.url)
        idle = [socket.create_connection((url.hostname, url.port)) for _ in range(40)]
        with viewer(site) as answer:
            assert part(answer) == b"now"
            for one in idle:
                one.settimeout(PATIENCE_S)
                assert one.recv(100) == b""
                one.close()
            site.show(b"next")
            assert part(answer) == b"next"


def test_closing_takes_no_longer_than_a_second_with_a_viewer_who_does_not_read(site_of, viewer):
    with site_of(VideoSite, newest=lambda: b"x" * 8_000_000) as site, viewer(site):
        until(lambda: site.viewers == 1, "a viewer")
        began = time.monotonic()
        site.close()
        assert time.monotonic() - began < 1.2


def test_files_are_served_and_the_playlist_names_segments_with_the_token(site_of, viewer):
    there = {"live.m3u8": b"#EXTM3U\n#EXTINF:2,\nlive-1.ts\n", "live-1.ts": b"segment"}
    files = SimpleNamespace(playlist="live.m3u8", read=there.get)
    with site_of(VideoSite, files=files) as site:
        token = urlsplit(site.url).query
        with viewer(site, "live.m3u8") as answer:
            assert answer.headers["content-type"] == "application/vnd.apple.mpegurl"
            assert answer.read().decode() == f"#EXTM3U\n#EXTINF:2,\nlive-1.ts?{token}\n"
        with viewer(site, "live-1.ts") as answer:
            assert (answer.headers["content-type"], answer.read()) == ("video/mp2t", b"segment")
        with viewer(site, "") as answer:
            assert f'<video src="/live.m3u8?{token}"' in answer.read().decode()
        for path in ("video.mjpeg", "live-2.ts", "%2e%2e%2fpasswords"):
            with viewer(site, path) as answer:
                assert answer.status == 404
