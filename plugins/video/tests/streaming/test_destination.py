"""Addresses are taken apart, and no message shows a password or a key."""

from __future__ import annotations

import pytest

from penstock.errors import InvalidArgumentError
from penstock_video.streaming.destination import destination, shown


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("rtsp://10.0.0.5/camera", ("rtsp", "10.0.0.5", 554, "/camera", "")),
        ("RTSPS://me:p%40ss@cam.example:322/a/b?x=1", ("rtsp", "cam.example", 322, "/a/b?x=1", "me:p%40ss")),
        ("rtmp://live.example/app/key", ("rtmp", "live.example", 1935, "/app/key", "")),
        ("rtmps://[::1]:443/app/key?a=b", ("rtmp", "::1", 443, "/app/key?a=b", "")),
        ("udp://239.1.2.3:5000", ("udp", "239.1.2.3", 5000, "", "")),
        ("http://127.0.0.1", ("http", "127.0.0.1", 0, "", "")),
        ("https://[::]:8443/", ("http", "::", 8443, "/", "")),
        ("out/live.m3u8", ("hls", "", 0, "out/live.m3u8", "")),
        ("C:\\videos\\live.M3U8", ("hls", "", 0, "C:\\videos\\live.M3U8", "")),
    ],
)
def test_the_parts_of_an_address(address, wanted):
    found = destination(address)

    assert (found.kind, found.host, found.port, found.path, found.user) == wanted
    assert found.is_secure == address.lower().startswith(("rtsps", "rtmps", "https"))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("camera.mp4", "'camera.mp4' is none that a live sink knows; give rtsp://HOST/PATH or"),
        ("srt://h:1?passphrase=secret", "'srt://h:1': SRT is not in the FFmpeg libraries of PyAV's wheels"),
        ("ftp://u:secret@h/x", r"'ftp://u:\*\*\*@h/x': the scheme 'ftp' is unknown; give"),
        ("udp://10.0.0.5", "'udp://10.0.0.5' has no port; give"),
        ("rtsp:///camera", "'rtsp:///camera' has no host; give"),
        ("rtsp://u:secret@h", r"'rtsp://u:\*\*\*@h' has no path; write rtsp://HOST/PATH"),
        ("rtmp://h/secret", "'rtmp://h/secret' has no stream; write rtmp://HOST/APP/KEY"),
        (
            "rtsp://u:secret@h:99999/x",
            r"'rtsp://u:\*\*\*@h:99999/x': the port is no number up to 65535; give",
        ),
        ("rtsp://u:secret@h:port/x", r"'rtsp://u:\*\*\*@h:port/x': the port is no number up to 65535; give"),
        ("rtsp://u:secret@[h/x", r"'rtsp://u:\*\*\*@\[h/x': it cannot be read; give"),
        ("http://127.0.0.1/secret", "has more than host and port, which http:// does not take"),
        ("udp://u:secret@h:1", r"'udp://u:\*\*\*@h:1' has more than host and port"),
    ],
)
def test_what_is_no_address_is_told_without_its_password(address, words):
    with pytest.raises(InvalidArgumentError, match=words) as caught:
        destination(address)

    assert "secret" not in str(caught.value).replace("rtmp://h/secret", "").replace("127.0.0.1/secret", "")


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("rtsp://user:secret@h/x?token=secret#secret", "rtsp://user:***@h/x"),
        ("rtsp://user:sec@ret@h/x", "rtsp://user:***@h/x"),
        ("rtsp://user@h/x", "rtsp://user@h/x"),
        ("rtmp://h/app/secret", "rtmp://h/app/***"),
        ("rtmps://u:secret@h/app/more/secret?secret", "rtmps://u:***@h/app/more/***"),
        ("out/live.m3u8", "out/live.m3u8"),
    ],
)
def test_an_address_is_shown_without_secrets(address, wanted):
    assert shown(address) == wanted
    assert "secret" not in repr(destination(address)).replace(f"path={destination(address).path!r}", "")
