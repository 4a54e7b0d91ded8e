"""Audio that VideoEncoderCalculator copies: the same packets, in step with the frames, or why not."""

from __future__ import annotations

import logging
import os
import sys
from fractions import Fraction
from pathlib import Path

import av
import av.error
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_testing import run_calculator
from penstock_video import copied_audio
from penstock_video.copied_audio import AudioError, AudioTracks
from penstock_video.decoder import VideoDecoderCalculator
from penstock_video.encoder import VideoEncoderCalculator
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.messages.encoder_pb2 import OpenCvVideoEncoderCalculatorOptions as Options

pytestmark = pytest.mark.heavy

RATE = 48_000
FPS = 25


@pytest.fixture
def record(tmp_path):
    """Return a maker of files: 64 x 48, with a tone of another height in each audio stream."""

    def make(  # noqa: PLR0913  # each is one thing that differs
        name, *codecs, video="libx264", seconds=2.0, audio_seconds=None, start=0.0, languages=()
    ):
        path = tmp_path / name
        with av.open(str(path), "w") as container:
            pictures = container.add_stream(video, rate=FPS)
            pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
            tones = [container.add_stream(codec, rate=RATE, layout="mono") for codec in codecs]
            for tone, language in zip(tones, languages, strict=False):
                tone.metadata["language"] = language
            for index in range(round(seconds * FPS)):
                frame = av.VideoFrame.from_ndarray(
                    np.full((48, 64, 3), 3 * index % 256, np.uint8), format="rgb24"
                )
                frame.pts, frame.time_base = index + round(start * FPS), Fraction(1, FPS)
                container.mux(pictures.encode(frame))
            container.mux(pictures.encode(None))
            for number, tone in enumerate(tones):
                _play(container, tone, 440 + 220 * number, start, audio_seconds or seconds)
        return path

    return make


def _play(container, stream, pitch, start, seconds):
    context = stream.codec_context
    wave = (8000 * np.sin(2 * np.pi * pitch / RATE * np.arange(round(seconds * RATE)))).astype(np.int16)
    resampler = av.AudioResampler(format=context.format.name, layout="mono", rate=RATE)
    step = context.frame_size or 1024
    for begin in range(0, len(wave), step):
        frame = av.AudioFrame.from_ndarray(wave[None, begin : begin + step], format="s16", layout="mono")
        frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
        frame.pts = begin + round(start * RATE)
        for part in resampler.resample(frame):
            container.mux(stream.encode(part))
    container.mux(stream.encode(None))


def packets(path, number=0):
    """Return (begin in seconds, bytes) of each packet of an audio stream."""
    with av.open(str(path)) as container:
        found = container.demux(container.streams.audio[number])
        return [(float(one.pts * one.time_base), bytes(one)) for one in found if one.size]


def contents(path, number=0):
    return [content for _, content in packets(path, number)]


def codec(path, number=0):
    with av.open(str(path)) as container:
        return container.streams.audio[number].codec_context.codec.canonical_name


def kinds(path):
    with av.open(str(path)) as container:
        return [stream.type for stream in container.streams]


def frame_times(path):
    with av.open(str(path)) as container:
        return [float(one.pts * one.time_base) for one in container.decode(video=0)]


def duration(path):
    """Return the duration in seconds, of all streams."""
    with av.open(str(path)) as container:
        return container.duration / 1_000_000


def copy(source, target, *, count=None, moved=0, audio_file=None, **options):
    """Decode `source`, and encode its first `count` frames into `target`, with its audio."""
    run = run_calculator(
        VideoDecoderCalculator, outputs=["VIDEO"], side_packets={"INPUT_FILE_PATH": str(source)}
    )
    frames = [(int(one.timestamp) + moved, one.payload) for one in run.outputs["VIDEO"][:count]]
    return run_calculator(
        VideoEncoderCalculator,
        {"VIDEO": frames},
        options=Options(preset="ultrafast", **options),
        side_packets={"OUTPUT_FILE_PATH": str(target), "AUDIO_FILE_PATH": str(audio_file or source)},
        headers={"VIDEO": run.headers["VIDEO"]},
    )


# --- the same packets, in step --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("in.mp4", "aac", "out.mp4"),
        ("in.mp4", "aac", "out.mov"),
        ("in.mp4", "aac", "out.mkv"),
        ("in.mkv", "aac", "out.mp4"),
        ("in.mkv", "libopus", "out.mp4"),
        ("in.mkv", "libopus", "out.webm"),
        ("in.mkv", "flac", "out.mp4"),
        ("in.mkv", "pcm_s16le", "out.mov"),
        ("in.avi", "libmp3lame", "out.mkv"),
        ("in.ts", "libopus", "out.ts"),
    ],
)
def test_every_packet_of_the_audio_is_copied_and_stays_in_step_with_the_frames(
    tmp_path, record, name, kind, target
):
    source = record(name, kind, video="mpeg4" if name.endswith("avi") else "libx264")

    copy(source, tmp_path / target)

    before, after = packets(source), packets(tmp_path / target)
    assert codec(tmp_path / target) == codec(source)
    assert [content for _, content in after] == [content for _, content in before]
    assert len(before) > 15
    old, new = frame_times(source), frame_times(tmp_path / target)
    moved = new[0] - old[0]
    assert np.allclose(np.array(new) - moved, old, atol=0.0011)
    assert np.allclose([at - moved for at, _ in after], [at for at, _ in before], atol=0.0011)
    assert duration(tmp_path / target) == pytest.approx(duration(source) + moved, abs=1 / FPS)


def test_the_file_begins_later_only_where_the_audio_needs_it_and_the_container_has_no_negative_times(
    tmp_path, record
):
    source = record("in.mp4", "aac")
    assert packets(source)[0][0] == pytest.approx(-1024 / RATE)

    copy(source, tmp_path / "out.mp4")
    copy(source, tmp_path / "out.mkv")

    assert frame_times(tmp_path / "out.mp4") == frame_times(source)
    # libav moves an mkv file whose times would be negative; the libav of PyAV 19 writes them.
    moved = frame_times(tmp_path / "out.mkv")[0]
    assert min(abs(moved), abs(moved - 1024 / RATE)) < 0.001
    assert packets(tmp_path / "out.mkv")[0][0] == pytest.approx(moved - 1024 / RATE, abs=0.0011)


def test_the_audio_of_the_real_film_is_copied_whole(tmp_path, film):
    copy(film, tmp_path / "out.mp4")

    assert packets(tmp_path / "out.mp4") == packets(film)
    assert codec(tmp_path / "out.mp4") == codec(film)
    assert abs(duration(tmp_path / "out.mp4") - duration(film)) < 1 / FPS


def test_all_audio_streams_are_copied_with_their_languages(tmp_path, record):
    source = record("in.mkv", "aac", "libopus", languages=("eng", "deu"))

    copy(source, tmp_path / "out.mp4")

    assert [contents(tmp_path / "out.mp4", one) for one in (0, 1)] == [
        contents(source, one) for one in (0, 1)
    ]
    with av.open(str(tmp_path / "out.mp4")) as container:
        assert [one.metadata["language"] for one in container.streams.audio] == ["eng", "deu"]


def test_audio_is_written_between_the_frames_and_not_held_until_the_end(tmp_path, record, monkeypatch):
    source = record("in.mkv", "aac", seconds=12)
    ahead = []
    copy_until = AudioTracks.copy_until

    def watched(tracks, time):
        copy_until(tracks, time)
        if time is not None:
            ahead.append(tracks._time - time)

    monkeypatch.setattr(AudioTracks, "copy_until", watched)

    copy(source, tmp_path / "out.mkv")

    assert max(ahead) < 0.05, "packets are read long before their time"
    latest, furthest = {"video": 0.0, "audio": 0.0}, 0.0
    with av.open(str(tmp_path / "out.mkv")) as container:
        for packet in container.demux():  # in the order of the file
            if packet.size and packet.pts is not None:
                latest[packet.stream.type] = float(packet.pts * packet.time_base)
                furthest = max(furthest, abs(latest["video"] - latest["audio"]))
    assert furthest < 1


# --- how much of it -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["in.mp4", "in.mkv"])
@pytest.mark.parametrize("audio_seconds", [1.0, 3.5])
def test_audio_that_is_shorter_or_longer_than_the_video_is_copied_whole(
    tmp_path, record, name, audio_seconds
):
    source = record(name, "aac", audio_seconds=audio_seconds)

    copy(source, tmp_path / "out.mp4")

    assert contents(tmp_path / "out.mp4") == contents(source)
    assert len(frame_times(tmp_path / "out.mp4")) == 50


@pytest.mark.parametrize("name", ["in.mp4", "in.mkv", "in.avi", "in.ts"])
def test_a_video_that_was_cut_has_audio_up_to_its_last_frame(tmp_path, record, name):
    source = record(name, "libmp3lame", video="mpeg4", seconds=4.0)
    times = frame_times(source)

    copy(source, tmp_path / "out.mp4", count=30)

    end = times[29] + 1 / FPS
    before, after = packets(source), packets(tmp_path / "out.mp4")
    assert [content for _, content in after] == [content for at, content in before if at < end - 1e-6]


def test_without_its_last_frame_a_video_is_cut_too(tmp_path, record):
    source = record("in.mp4", "aac", audio_seconds=6.0)

    copy(source, tmp_path / "out.mp4", count=49)

    assert packets(tmp_path / "out.mp4")[-1][0] < 49 / FPS


def test_music_without_video_ends_with_the_last_frame(tmp_path, record):
    source = record("in.mp4")
    with av.open(str(tmp_path / "music.mka"), "w") as container:
        _play(container, container.add_stream("flac", rate=RATE, layout="mono"), 440, 0, 5.0)

    copy(source, tmp_path / "out.mp4", audio_file=tmp_path / "music.mka")

    assert contents(tmp_path / "out.mp4") == contents(tmp_path / "music.mka")[:21]
    assert packets(tmp_path / "out.mp4")[-1][0] == pytest.approx(2.0, abs=0.1)


# --- where it begins ------------------------------------------------------------------------------


def test_times_that_begin_late_are_kept_in_step(tmp_path, record):
    source = record("in.mp4", "aac", start=5.0)

    copy(source, tmp_path / "out.mp4")

    assert frame_times(tmp_path / "out.mp4") == frame_times(source)
    assert frame_times(source)[0] == 5
    assert packets(tmp_path / "out.mp4") == packets(source)


def test_audio_moves_with_frames_that_are_moved_to_zero_and_is_copied_whole(tmp_path, record):
    source = record("in.mp4", "aac", start=5.0, audio_seconds=3.5)

    copy(source, tmp_path / "out.mp4", timeline=Options.FROM_ZERO)

    assert frame_times(tmp_path / "out.mp4")[0] == 0
    assert contents(tmp_path / "out.mp4") == contents(source)
    moved = [before - after for (before, _), (after, _) in zip(
        packets(source), packets(tmp_path / "out.mp4"), strict=True
    )]  # fmt: skip
    assert np.allclose(moved, 5, atol=0.001)


def test_audio_moves_with_frames_whose_times_are_negative(tmp_path, record):
    source = record("in.mp4", "aac")

    copy(source, tmp_path / "out.mp4", moved=-300_000)

    assert frame_times(tmp_path / "out.mp4")[0] == 0
    assert packets(tmp_path / "out.mp4")[1][0] == pytest.approx(0.3, abs=0.001)


def test_audio_before_the_first_frame_is_left_out_where_that_was_moved_to_zero(tmp_path, record):
    source = record("in.mkv", "flac")

    copy(source, tmp_path / "out.mkv", moved=500_000, timeline=Options.FROM_ZERO)

    before, after = packets(source), packets(tmp_path / "out.mkv")
    assert [content for _, content in after] == [content for _, content in before][-len(after) :]
    assert len(before) - len(after) == 4  # of 96 ms; one stays, which begins at 384 ms
    assert frame_times(tmp_path / "out.mkv")[0] == pytest.approx(0.5 - 0.384, abs=0.001)


def test_with_times_since_1970_the_audio_is_in_step_with_the_first_frame(tmp_path, record):
    source = record("in.mp4", "aac", start=1.0)
    run = run_calculator(
        VideoDecoderCalculator,
        outputs=["VIDEO"],
        options=VideoDecoderCalculatorOptions(wall_clock=True),
        side_packets={"INPUT_FILE_PATH": str(source)},
    )

    run_calculator(
        VideoEncoderCalculator,
        {"VIDEO": run.outputs["VIDEO"]},
        side_packets={"OUTPUT_FILE_PATH": str(tmp_path / "out.mp4"), "AUDIO_FILE_PATH": str(source)},
    )

    assert frame_times(tmp_path / "out.mp4")[0] == 0
    after = packets(tmp_path / "out.mp4")
    assert [content for _, content in after] == contents(source)
    assert after[0][0] == pytest.approx(packets(source)[0][0] - 1, abs=0.001)


# --- what cannot be copied ------------------------------------------------------------------------

CASES = [
    ("in.mkv", "libopus", "out.avi", "opus", "avi"),
    ("in.mkv", "libopus", "out.mov", "opus", "mov"),
    ("in.mkv", "flac", "out.webm", "flac", "webm"),
    ("in.mkv", "flac", "out.ts", "flac", "mpegts"),
]


@pytest.mark.parametrize(("name", "encoder", "target", "kind", "container"), CASES)
def test_audio_that_a_container_cannot_hold_is_refused_with_the_cure(  # noqa: PLR0913, PLR0917  # a case
    tmp_path, record, name, encoder, target, kind, container
):
    source = record(name, encoder)

    with pytest.raises(GraphRunError) as caught:
        copy(source, tmp_path / target)

    assert (
        f"the {kind} audio of '{source}' (stream 1) cannot be copied: a file of kind '{container}' cannot "
        "hold it; write an .mkv file, which can hold most audio, or set audio_optional to leave it out"
    ) in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("name", "encoder", "target", "kind", "container"), CASES)
def test_optional_audio_is_left_out_in_one_line_that_says_why(  # noqa: PLR0913, PLR0917  # a case
    tmp_path, record, caplog, name, encoder, target, kind, container
):
    source = record(name, encoder)

    with caplog.at_level(logging.WARNING, "penstock.video"):
        copy(source, tmp_path / target, audio_optional=True)

    said = f"the {kind} audio of '{source}' (stream 1) is left out: a file of kind '{container}' cannot "
    assert caplog.messages == [f"{said}hold it; write an .mkv file, which can hold most audio"]
    assert kinds(tmp_path / target) == ["video"]
    assert len(frame_times(tmp_path / target)) == 50


def test_of_several_streams_only_those_that_do_not_fit_are_left_out(tmp_path, record, caplog):
    source = record("in.mkv", "libopus", "libmp3lame")

    with caplog.at_level(logging.WARNING, "penstock.video"):
        copy(source, tmp_path / "out.avi", audio_optional=True, codec="MJPG", bit_rate=400_000)

    assert len(caplog.messages) == 1
    assert "the opus audio" in caplog.text
    assert kinds(tmp_path / "out.avi") == ["video", "audio"]
    assert contents(tmp_path / "out.avi") == contents(source, 1)


def test_a_file_without_audio_is_copied_without_a_warning_where_audio_is_optional(tmp_path, record, caplog):
    source = record("in.mp4")

    with caplog.at_level(logging.INFO, "penstock.video"):
        copy(source, tmp_path / "out.mp4", audio_optional=True)

    assert kinds(tmp_path / "out.mp4") == ["video"]
    assert [(one.levelname, one.message) for one in caplog.records if "become" not in one.message] == [
        ("INFO", f"file '{source}' has no audio stream; check AUDIO_FILE_PATH")
    ]
    with pytest.raises(GraphRunError, match=r"in\.mp4' has no audio stream; check AUDIO_FILE_PATH"):
        copy(source, tmp_path / "out.mp4")


def test_a_file_that_is_no_media_is_an_error_even_where_audio_is_optional(tmp_path, record):
    source = record("in.mp4")
    (tmp_path / "notes.txt").write_text("la la la")

    with pytest.raises(GraphRunError, match=r"audio file '.*notes\.txt' cannot be read: Invalid data"):
        copy(source, tmp_path / "out.mp4", audio_file=tmp_path / "notes.txt", audio_optional=True)


# --- errors in the middle -------------------------------------------------------------------------


class Failing:
    """An audio file whose reading fails after some packets; the rest is as in the real file."""

    def __init__(self, real, good):
        self._real, self._good = real, good

    def __getattr__(self, name):
        return getattr(self._real, name)

    def demux(self, *streams):
        for number, packet in enumerate(self._real.demux(*streams)):
            if number == self._good:
                raise av.error.InvalidDataError(1094995529, "Invalid data found when processing input")
            yield packet


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("count", [50, 20])
def test_audio_that_cannot_be_read_further_is_an_error_and_no_frame_is_lost(
    tmp_path, record, monkeypatch, count, optional
):
    source = record("in.mp4", "aac")
    before = contents(source)
    good = 40 if count == 50 else 39  # in `process`, and in `close`
    opened = copied_audio._opened
    monkeypatch.setattr(copied_audio, "_opened", lambda path: Failing(opened(path), good))

    with pytest.raises(GraphRunError) as caught:
        copy(source, tmp_path / "out.mp4", count=count, audio_optional=optional)

    words = (
        rf"audio file '{source}': cannot be read after {(good - 2) * 1024 / RATE:.3f} s: Invalid data found"
    )
    assert words in str(caught.value)
    (error,) = caught.value.errors
    assert isinstance(error.__cause__, AudioError)
    assert contents(tmp_path / "out.mp4") == before[:good]
    written = frame_times(tmp_path / "out.mp4")
    assert written == pytest.approx([index / FPS for index in range(len(written))])
    assert len(written) == (20 if count == 20 else 22)  # packet 39 begins at 0.811 s


def test_a_packet_that_the_container_refuses_is_an_error_that_names_the_audio(tmp_path, record):
    source = record("in.mkv", "pcm_s16le")
    with av.open(str(source)) as whole, av.open(str(tmp_path / "twice.mkv"), "w") as twice:
        stream = whole.streams.audio[0]
        written = twice.add_stream_from_template(stream)
        last = 0
        for number, packet in enumerate(whole.demux(stream)):
            if packet.size:
                packet.stream = written
                if number == 10:  # at the time of the one before, which mkv allows and mp4 does not
                    packet.pts = packet.dts = last
                last = packet.dts
                twice.mux(packet)

    with pytest.raises(
        GraphRunError, match=r"twice\.mkv': cannot be copied after 0\.\d+ s: Invalid argument"
    ):
        copy(source, tmp_path / "out.mp4", audio_file=tmp_path / "twice.mkv")

    assert contents(tmp_path / "out.mp4") == contents(tmp_path / "twice.mkv")[:10]


# --- files ----------------------------------------------------------------------------------------


def open_files():
    """Return the paths of the files that this process has open."""
    found = []
    for one in Path("/proc/self/fd").iterdir():
        try:
            found.append(os.readlink(one))  # noqa: PTH115  # a pipe's name is no path
        except FileNotFoundError:  # the one that lists them
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", ["copied", "left out", "refused", "failed"])
def test_the_audio_file_is_closed_however_it_ends(tmp_path, record, monkeypatch, how):
    source = record("in.mkv", "libopus")
    if how == "failed":
        opened = copied_audio._opened
        monkeypatch.setattr(copied_audio, "_opened", lambda path: Failing(opened(path), 5))
    target = tmp_path / ("out.mp4" if how in ("copied", "failed") else "out.avi")

    if how in ("copied", "left out"):
        copy(source, target, audio_optional=True)
    else:
        with pytest.raises(GraphRunError):
            copy(source, target)

    assert [one for one in open_files() if str(tmp_path) in one] == []
