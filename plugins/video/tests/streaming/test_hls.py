"""Playlist and segments: what is there, when, and what a player reads."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess

import av
import pytest

from penstock.errors import ResourceExhaustedError, UnavailableError
from penstock_video.pattern import pattern_index
from penstock_video.streaming import hls
from penstock_video.streaming.hls import HlsOutlet, Playlist
from penstock_video.streaming.live_coding import Quality, live_encoder

QUALITY = Quality(live_encoder(""), fps=25.0, keyframe_s=0.4, crf=10.0)
SIZE = (64, 48)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "live.m3u8"


@pytest.fixture
def outlet(path):
    made = opened(path)
    yield made
    made.discard()


def opened(path, window=6, size=SIZE):
    made = HlsOutlet(Playlist(path, 0.6, window), QUALITY, 0.2)
    made.begin(size, lambda: False)
    return made


def send(outlet, frames):
    for frame, time in frames:
        outlet.send(frame, time)


def lines(path):
    return path.read_text().splitlines()


def segments(path):
    return [line for line in lines(path) if line and not line.startswith("#")]


def files(path):
    return sorted(one.name for one in path.parent.iterdir())


def decoded(path):
    """Return (number of the pattern's frame, time) of each frame that a player reads."""
    with av.open(str(path), timeout=10) as container:  # of a list without an end it waits for more
        return [
            (pattern_index(frame.to_ndarray(format="rgb24")), round(frame.time, 4))
            for frame in container.decode(video=0)
        ]


def test_all_frames_come_out_with_their_times_in_segments_that_each_begin_with_a_key_frame(aid, path, outlet):
    send(outlet, aid.frames(35))
    outlet.finish()

    assert decoded(path) == [(number, number / 25) for number in range(35)]
    assert len(segments(path)) == 4
    for name in segments(path):
        with av.open(str(path.with_name(name))) as container:
            packets = [one for one in container.demux(video=0) if one.size]
        assert packets[0].is_keyframe
        assert len(packets) == (5 if name == segments(path)[-1] else 10)
    assert lines(path) == [
        "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:0",
        "#EXT-X-DISCONTINUITY-SEQUENCE:0",
        "#EXTINF:0.400000,", segments(path)[0], "#EXTINF:0.400000,", segments(path)[1],
        "#EXTINF:0.400000,", segments(path)[2], "#EXTINF:0.200000,", segments(path)[3],
        "#EXT-X-ENDLIST",
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg: apt install ffmpeg")
def test_ffmpeg_finds_no_fault_in_it(aid, path, outlet):
    send(outlet, aid.frames(30))
    outlet.finish()

    command = ["ffmpeg", "-v", "warning", "-i", str(path), "-f", "null", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert done.stderr == ""


def test_the_playlist_grows_while_the_stream_goes_on_and_says_that_it_does(aid, path, outlet):
    seen = []
    for frame, time in aid.frames(21):
        outlet.send(frame, time)
        seen.append(len(segments(path)) if path.exists() else None)

    assert seen == [None] * 10 + [1] * 10 + [2]
    assert "#EXT-X-ENDLIST" not in lines(path)


def test_old_segments_leave_the_playlist_and_later_the_disk(aid, path):
    outlet = opened(path, window=3)
    names = []
    for frame, time in aid.frames(121):
        outlet.send(frame, time)
        names += [name for name in (segments(path) if path.exists() else ()) if name not in names]
    outlet.finish()
    names.append(segments(path)[-1])

    assert len(names) == 13
    assert segments(path) == names[-3:]
    assert "#EXT-X-MEDIA-SEQUENCE:10" in lines(path)
    assert files(path) == sorted([*names[-7:], "live.m3u8"])


def test_without_a_window_all_stays(aid, path):
    outlet = opened(path, window=0)
    send(outlet, aid.frames(121))
    outlet.finish()

    assert len(segments(path)) == 13
    assert "#EXT-X-PLAYLIST-TYPE:EVENT" in lines(path)
    assert [number for number, _ in decoded(path)] == list(range(121))


def test_a_gap_in_time_and_another_size_are_breaks_that_the_playlist_tells(aid, path):
    outlet = opened(path)
    send(outlet, aid.frames(5))
    send(outlet, aid.frames(5, first=60_000_000))
    outlet.finish_segments()
    outlet.begin((32, 32), lambda: False)
    send(outlet, aid.frames(3, width=32, height=32, first=60_200_000))
    outlet.finish()

    tags = [line for line in lines(path)[5:] if not line.endswith(".ts")]
    assert tags == [
        "#EXTINF:0.200000,", "#EXT-X-DISCONTINUITY", "#EXTINF:0.200000,", "#EXT-X-DISCONTINUITY",
        "#EXTINF:0.120000,", "#EXT-X-ENDLIST",
    ]  # fmt: skip
    with av.open(str(path.with_name(segments(path)[2]))) as container:
        assert [frame.width for frame in container.decode(video=0)] == [32] * 3


def test_breaks_that_have_left_the_playlist_are_counted(aid, path):
    outlet = opened(path, window=3)
    for count in range(6):
        send(outlet, aid.frames(2, first=count * 10_000_000))
    outlet.finish()

    assert "#EXT-X-MEDIA-SEQUENCE:3" in lines(path)
    assert "#EXT-X-DISCONTINUITY-SEQUENCE:2" in lines(path)


def test_another_run_deletes_what_an_earlier_one_left_and_nothing_else(aid, path):
    foreign = path.with_name("live-film.ts")
    foreign.write_bytes(b"mine")
    first = opened(path)
    send(first, aid.frames(5))
    first.finish()
    left = path.with_name(f".{segments(path)[0]}.growing")
    left.write_bytes(b"of a process that was killed")
    before = segments(path)

    second = HlsOutlet(Playlist(path, 0.6, 6), QUALITY, 0.2)
    second._files._run = "live-9999999999999-"  # of a later moment
    second.begin(SIZE, lambda: False)
    send(second, aid.frames(5))
    assert segments(path) == before  # until there is something new
    second.finish()

    assert files(path) == sorted([*segments(path), "live-film.ts", "live.m3u8"])
    assert before[0] not in files(path)


def test_odd_sides_and_one_pixel_are_sent_too(aid, path):
    outlet = opened(path, size=(65, 49))
    send(outlet, aid.frames(2, width=65, height=49))
    outlet.finish()

    with av.open(str(path)) as container:
        assert [(frame.width, frame.height) for frame in container.decode(video=0)] == [(64, 48)] * 2


def test_a_full_disk_costs_a_segment_and_the_playlist_stays_valid(aid, path, outlet):
    frames = list(aid.frames(40))
    send(outlet, frames[:11])
    before = lines(path)
    with aid.largest_file(1000), pytest.raises(ResourceExhaustedError, match="File too large; make room on"):
        send(outlet, frames[11:21])
    assert lines(path) == before
    assert files(path) == sorted([*segments(path), "live.m3u8"])

    outlet.discard()
    outlet.begin(SIZE, lambda: False)
    send(outlet, frames[21:])
    outlet.finish()

    assert [line for line in lines(path) if "DISCONTINUITY" in line] == [
        "#EXT-X-DISCONTINUITY-SEQUENCE:0", "#EXT-X-DISCONTINUITY",
    ]  # fmt: skip
    found = [number for number, _ in decoded(path)]
    assert found == [*range(10), *range(21, 40)]


def test_a_playlist_that_cannot_be_replaced_names_what_it_named(aid, path, outlet, monkeypatch):
    frames = list(aid.frames(21))
    send(outlet, frames[:11])
    before = lines(path)
    replace = hls._replace

    def failing(target, content):
        if target.suffix == ".m3u8":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(target, content)

    monkeypatch.setattr(hls, "_replace", failing)
    with pytest.raises(UnavailableError, match="writing the HLS playlist failed: Input/output error; check"):
        send(outlet, frames[11:])

    assert lines(path) == before
    assert files(path) == sorted([*segments(path), "live.m3u8"])


def test_only_files_of_this_run_are_read(aid, path, outlet):
    other = path.with_name("live-1111111111111-000000.ts")
    path.write_text("of an earlier run")
    other.write_bytes(b"of an earlier run")
    (path.parent / "passwords.txt").write_text("hunter2")
    found = outlet._files
    assert found.read("live.m3u8") is None

    send(outlet, aid.frames(11))

    assert re.match(rb"#EXTM3U\n", found.read("live.m3u8"))
    assert found.read(segments(path)[0]) == path.with_name(segments(path)[0]).read_bytes()
    for name in (other.name, "passwords.txt", "../live.m3u8", f"{found._run}../x.ts", found._run, ""):
        assert found.read(name) is None
    path.with_name(segments(path)[0]).unlink()
    assert found.read(segments(path)[0]) is None
