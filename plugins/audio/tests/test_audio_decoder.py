"""AudioDecoderCalculator on files that the tests make, and on a real film where it is there."""

from __future__ import annotations

import logging
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.errors import GraphConfigError, GraphRunError
from penstock_audio.files.audio_decoder import AudioDecoderCalculator
from penstock_audio.files.audio_file import AudioFile
from penstock_audio.messages.audio_decoder_pb2 import AudioDecoderOptions, AudioStreamOptions
from penstock_formats import TimeSeriesHeader
from penstock_testing import run_calculator

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FILM = DATA / "bigbuckbunny.mp4"
#: Sounds of MediaPipe's tests: a sine of 1 kHz that lasts two seconds.
SINES = DATA / "reference" / "calculators" / "audio"
RATE = 8000


def ramp(channels, count):
    """Return whole numbers from -2**15 to 2**15, other ones in each channel."""
    n = np.arange(count)
    return np.stack([(n * n * 7 + n * (13 + c)) % 65536 - 32768 for c in range(channels)]).astype(np.int64)


def encode(container, stream, samples, kind, begins=(0,)):
    """Write blocks of packed samples that begin at these places."""
    layout = "mono" if samples.shape[0] == 1 else "stereo"
    for begin, block in zip(begins, np.split(samples, len(begins), axis=1), strict=True):
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block.T).reshape(1, -1), kind, layout)
        frame.sample_rate, frame.pts, frame.time_base = RATE, begin, Fraction(1, RATE)
        container.mux(stream.encode(frame))
    container.mux(stream.encode(None))


@pytest.fixture
def made(tmp_path):
    """Return a maker of files of one audio stream."""

    def make(name, samples, codec="pcm_s16le", kind="s16", **more):
        path = tmp_path / name
        with av.open(str(path), "w") as container:
            stream = container.add_stream(
                codec, rate=RATE, layout="mono" if samples.shape[0] == 1 else "stereo"
            )
            encode(container, stream, samples, kind, **more)
        return path

    return make


def decoded(path, outputs=("AUDIO",), side_packets=None, **options):
    """Return the run, timestamps and the samples together."""
    ran = run_calculator(
        AudioDecoderCalculator,
        outputs=outputs,
        side_packets={"INPUT_FILE_PATH": path, **(side_packets or {})},
        options=AudioDecoderOptions(**options),
    )
    packets = ran.outputs["AUDIO"]
    samples = [one.payload.array for one in packets]
    return ran, [int(one.timestamp) for one in packets], np.concatenate(samples, axis=1) if samples else None


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize(
    ("codec", "kind", "of", "exact"),
    [
        ("pcm_u8", "u8", lambda s: ((s >> 8) + 128).astype(np.uint8), lambda s: (s >> 8) / 128),
        ("pcm_s16le", "s16", lambda s: s.astype(np.int16), lambda s: s / 2**15),
        ("pcm_s32le", "s32", lambda s: (s << 16).astype(np.int32), lambda s: s / 2**15),
        ("pcm_f32le", "flt", lambda s: (s / 2**14).astype(np.float32), lambda s: s / 2**14),
        ("pcm_f64le", "dbl", lambda s: s / 2**14, lambda s: s / 2**14),
        ("flac", "s16", lambda s: s.astype(np.int16), lambda s: s / 2**15),
    ],
)
def test_samples_of_every_format_become_float32(made, channels, codec, kind, of, exact):  # noqa: PLR0913, PLR0917
    samples = ramp(channels, 3000)
    path = made("sound.flac" if codec == "flac" else "sound.wav", of(samples), codec, kind)

    ran, stamps, found = decoded(path)

    assert np.array_equal(found, exact(samples).astype(np.float32))
    assert found.dtype == np.float32
    assert ran.headers["AUDIO"] == TimeSeriesHeader(sample_rate=RATE, num_channels=channels)
    counts = np.cumsum([0, *(one.payload.columns for one in ran.outputs["AUDIO"])])
    assert stamps == [count * 125 for count in counts[:-1]]


@pytest.mark.parametrize(
    ("name", "codec"), [("sound.mp3", "libmp3lame"), ("sound.m4a", "aac"), ("sound.ogg", "libopus")]
)
def test_lossy_sound_begins_at_its_time_and_keeps_its_tone(tmp_path, name, codec):
    rate = 48000
    tone = (8000 * np.sin(2 * np.pi * 1000 * np.arange(rate) / rate)).astype(np.int16)[None]
    with av.open(str(tmp_path / name), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(tone, "s16", "mono")
        frame.sample_rate, frame.pts = rate, 0
        resampler = av.AudioResampler(
            stream.codec_context.format, "mono", rate, stream.codec_context.frame_size
        )
        for one in (*resampler.resample(frame), *resampler.resample(None)):
            container.mux(stream.encode(one))
        container.mux(stream.encode(None))

    _, stamps, found = decoded(tmp_path / name)

    with av.open(str(tmp_path / name)) as container:
        assert stamps[0] == pytest.approx(container.start_time, abs=1)
    # libav leaves out the samples with which encoders begin
    expected = 8000 / 32768 * np.sin(2 * np.pi * 1000 * np.arange(10_000, 14_800) / rate)
    assert found[0, 10_000:14_800] == pytest.approx(expected, abs=0.02)


def test_the_sound_of_a_video_is_found_beside_its_pictures(tmp_path):
    path = tmp_path / "film.mkv"
    with av.open(str(path), "w") as container:
        video = container.add_stream("ffv1", rate=25)
        video.width, video.height, video.pix_fmt = 32, 16, "bgr0"
        audio = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        for i in range(3):
            frame = av.VideoFrame.from_ndarray(np.zeros((16, 32, 3), np.uint8), "rgb24")
            frame.pts, frame.time_base = i, Fraction(1, 25)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        encode(container, audio, ramp(1, 960).astype(np.int16), "s16")

    _, stamps, found = decoded(path)

    assert stamps[0] == 0
    assert np.array_equal(found, (ramp(1, 960) / 2**15).astype(np.float32))


def test_a_real_film_is_decoded_as_libav_says():
    if not FILM.exists():
        pytest.skip(f"the real film is not here: {FILM}")
    ran, stamps, found = decoded(FILM)

    with av.open(str(FILM)) as container:
        (stream,) = container.streams.audio
        frames = list(container.decode(stream))
    expected = np.concatenate([one.to_ndarray() for one in frames], axis=1)
    assert np.array_equal(found, expected)
    assert ran.headers["AUDIO"].sample_rate == stream.rate
    # within a sample of the file's own times, rounded to its ticks
    own = [float(one.pts * one.time_base * 1_000_000) for one in frames]
    assert np.abs(np.array(stamps) - own).max() <= 1e6 / stream.rate


@pytest.mark.reference(
    "calculators/audio/audio_decoder_calculator_test.cc",
    "AudioDecoderCalculatorTest.TestWAV",
    "AudioDecoderCalculatorTest.Test48KWAV",
    "AudioDecoderCalculatorTest.TestMP3",
    "AudioDecoderCalculatorTest.TestAAC",
)
@pytest.mark.parametrize(
    ("name", "rate", "channels", "frame"),
    [
        ("44100_mono_2_sec_wav", 44100, 1, 2048),
        ("48000_stereo_2_sec_wav", 48000, 2, 1024),
        ("44100_stereo_2_sec_mp3", 44100, 2, 1152),
        ("44100_stereo_2_sec_aac", 44100, 2, 1024),
    ],
)
def test_the_sines_of_the_reference_are_decoded(name, rate, channels, frame):
    path = SINES / f"sine_wave_1k_{name}.audio"
    if not path.exists():
        pytest.skip(f"the reference's sound is not here: {path}")

    ran, _, found = decoded(path, outputs=["AUDIO", "AUDIO_HEADER"], audio_stream=[{"stream_index": 0}])

    assert ran.headers["AUDIO_HEADER"] == TimeSeriesHeader(sample_rate=rate, num_channels=channels)
    assert len(ran.outputs["AUDIO"]) >= np.ceil(rate * 2 / frame)
    # the tone is the strongest of the middle second, in each channel
    middle = found[:, rate // 2 : rate // 2 + rate]
    assert np.abs(np.fft.rfft(middle, axis=1)).argmax(axis=1).tolist() == [1000] * channels


def test_the_header_is_beside_the_sound_too_without_packets(made):
    ran, _, _ = decoded(made("a.wav", ramp(2, 50).astype(np.int16)), outputs=["AUDIO", "AUDIO_HEADER"])

    assert ran.outputs["AUDIO_HEADER"] == []
    assert (
        ran.headers["AUDIO_HEADER"]
        == ran.headers["AUDIO"]
        == TimeSeriesHeader(sample_rate=RATE, num_channels=2)
    )


def test_only_packets_that_begin_between_two_times_are_sent(made):
    path = made("a.wav", ramp(1, 4 * RATE).astype(np.int16))
    _, every, _ = decoded(path)

    for source in (str(path), path):
        _, stamps, _ = decoded(source, start_time=1.0, end_time=every[-3] / 1e6)
        assert stamps == [one for one in every if 1_000_000 <= one <= every[-3]]
    assert len(every) > len(stamps) > 2


@pytest.mark.parametrize("as_calculator_options", [False, True])
def test_a_side_packet_replaces_options(made, as_calculator_options):
    path = made("a.wav", ramp(1, 4 * RATE).astype(np.int16))
    given = AudioDecoderOptions(start_time=2)
    if as_calculator_options:
        whole = CalculatorOptions()
        whole.Extensions[AudioDecoderOptions.ext].CopyFrom(given)
        given = whole

    _, stamps, _ = decoded(path, side_packets={"OPTIONS": given}, start_time=1, end_time=3)

    assert 2_000_000 <= stamps[0] < 2_600_000
    assert 2_400_000 < stamps[-1] <= 3_000_000


@pytest.mark.parametrize(("gap", "begins"), [(5.0, [0, 100_000]), (0.05, [0, 1_100_000])])
def test_a_pause_counts_where_it_is_longer_than_the_allowed_gap(made, caplog, gap, begins):
    path = made("a.mkv", ramp(1, 1600).astype(np.int16), begins=(0, 8800))

    with caplog.at_level(logging.WARNING, "penstock"):
        ran, _, found = decoded(path, allowed_gap_seconds=gap)

    at = {int(one.timestamp): one.payload.array[0, 0] for one in ran.outputs["AUDIO"]}
    assert at[begins[1]] == np.float32(ramp(1, 1600)[0, 800] / 2**15)
    assert found.shape[1] == 1600
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == (gap < 1)
    assert all(
        "after 0.100 s of sound the file says 1.100 s; times are counted from there on" in one for one in said
    )


def test_sound_that_begins_later_has_its_time(made):
    _, stamps, _ = decoded(made("a.mkv", ramp(1, 800).astype(np.int16), begins=(4000,)))

    assert stamps[0] == 500_000


def test_another_stream_can_be_chosen(tmp_path):
    path = tmp_path / "two.mkv"
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("pcm_s16le", rate=RATE, layout="mono") for _ in range(2)]
        for stream, level in zip(streams, (100, 200), strict=True):
            encode(container, stream, np.full((1, 80), level, np.int16), "s16")

    for index, level in ((0, 100), (1, 200)):
        _, _, found = decoded(path, audio_stream=[AudioStreamOptions(stream_index=index)])
        assert (found == np.float32(level / 2**15)).all()
    with pytest.raises(
        GraphRunError, match=r"two.mkv' has 2 audio streams, but stream_index is 2, counted from 0"
    ):
        decoded(path, audio_stream=[AudioStreamOptions(stream_index=2)])
    ran, stamps, _ = decoded(path, audio_stream=[AudioStreamOptions(stream_index=2, allow_missing=True)])
    assert (stamps, ran.headers["AUDIO"]) == ([], None)


def test_a_broken_part_ends_the_run_or_is_left_out(tmp_path, made, caplog):
    path = tmp_path / "a.mkv"
    whole_path = made("whole.mkv", ramp(1, 40_000).astype(np.int16), "flac")
    with av.open(str(whole_path)) as whole, av.open(str(path), "w") as container:
        stream = container.add_stream_from_template(whole.streams.audio[0])
        for number, packet in enumerate(whole.demux(whole.streams.audio[0])):
            if packet.dts is None:
                break
            copy = av.Packet(b"noise" * 50 if number == 4 else bytes(packet))
            copy.pts, copy.dts, copy.time_base = packet.pts, packet.dts, packet.time_base
            copy.stream = stream
            container.mux(copy)

    with pytest.raises(GraphRunError, match=r"a.mkv' cannot be decoded after \d\.\d+ s: .*; check the file"):
        decoded(path)
    with caplog.at_level(logging.WARNING, "penstock"):
        _, _, found = decoded(path, audio_stream=[AudioStreamOptions(ignore_decode_failures=True)])
    assert "left out 1 packets that cannot be decoded" in caplog.text
    assert 30_000 < found.shape[1] < 40_000


def test_an_mpeg_clock_that_begins_again_is_counted_on(made):
    path = made("a.wav", ramp(1, 10).astype(np.int16))
    ticks = [2**33 - 9000, 2**33 - 10, 5, 9000, 2**33 - 20, 30]

    for corrects, expected in (
        (True, [2**33 - 9000, 2**33 - 10, 2**33 + 5, 2**33 + 9000, 2**33 - 20, 2**33 + 30]),
        (False, ticks),
    ):
        file = AudioFile(path, AudioStreamOptions(correct_pts_for_rollover=corrects), 5.0, "node")
        assert [file._ticks(one) for one in ticks] == expected
        file.close()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "audio file '.*none.wav' does not exist; check INPUT_FILE_PATH"),
        (b"no sound at all", "audio file '.*none.wav' cannot be read: .*; check INPUT_FILE_PATH"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, words):
    path = tmp_path / "none.wav"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(GraphRunError, match=words):
        decoded(path)


def test_a_codec_that_libav_does_not_know_is_told(tmp_path, made):
    whole = bytearray(made("whole.wav", ramp(1, 100).astype(np.int16)).read_bytes())
    assert whole[20:22] == b"\x01\x00"  # PCM
    whole[20:22] = b"\x34\x12"
    path = tmp_path / "odd.wav"
    path.write_bytes(whole)

    with pytest.raises(GraphRunError, match=r"odd.wav': stream 0 is in a codec that libav does not decode"):
        decoded(path)


def test_a_video_without_sound_is_named(tmp_path):
    path = tmp_path / "silent.mkv"
    with av.open(str(path), "w") as container:
        video = container.add_stream("ffv1", rate=25)
        video.width, video.height, video.pix_fmt = 32, 16, "bgr0"
        container.mux(video.encode(av.VideoFrame.from_ndarray(np.zeros((16, 32, 3), np.uint8), "rgb24")))
        container.mux(video.encode(None))

    with pytest.raises(GraphRunError, match=r"silent.mkv' has no audio streams, but stream_index is 0"):
        decoded(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"audio_stream": [{}, {}]}, "options have 2 audio_stream, but one is decoded; use a node for each"),
        (
            {"audio_stream": [{"output_regressing_timestamps": True}]},
            "no stream can carry packets whose times go back",
        ),
        ({"allowed_gap_seconds": -1}, "allowed_gap_seconds is -1.0, but must be from 0 to 1e"),
    ],
)
def test_options_that_cannot_be_are_refused_when_the_graph_is_loaded(tmp_path, options, words):
    with pytest.raises(GraphConfigError, match=words):
        decoded(tmp_path / "a.wav", **options)
