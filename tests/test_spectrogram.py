"""The example that draws the sound of a video beside it: where the line is, and when."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from click.testing import CliRunner

import penstock
from penstock_formats import Matrix

pytestmark = pytest.mark.heavy

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "spectrogram.py"
FPS, RATE = 25, 16_000
WIDTH, HEIGHT = 320, 240
#: The picture becomes white, and a whistle begins, at this frame.
ONSET = 50
FRAMES = 120


def hertz(seconds):
    """Return the frequency of the whistle so many seconds after it has begun."""
    return 400 + 700 * seconds


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("penstock_example_spectrogram", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def sound():
    """Return silence, and from `ONSET` on the whistle."""
    seconds = np.arange((FRAMES - ONSET) * RATE // FPS) / RATE
    whistle = 0.5 * np.sin(2 * np.pi * (400 + 350 * seconds) * seconds)
    return np.concatenate([np.zeros(ONSET * RATE // FPS), whistle])


def write(path, codec="aac", delay=0):
    """Write a video whose picture becomes white when its sound begins; `delay` moves both, in frames."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=FPS)
        video.width, video.height, video.pix_fmt, video.bit_rate = WIDTH, HEIGHT, "yuv420p", 2_000_000
        audio = container.add_stream(codec, rate=RATE, layout="mono")
        for i in range(FRAMES):
            picture = np.full((HEIGHT, WIDTH, 3), 235 if i >= ONSET else 16, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, "rgb24")
            frame.pts, frame.time_base = i + delay, Fraction(1, FPS)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        samples = av.AudioFrame.from_ndarray((sound() * 32767).astype(np.int16)[None], "s16", "mono")
        samples.sample_rate, samples.pts = RATE, delay * RATE // FPS
        size = audio.codec_context.frame_size or 1000
        resampler = av.AudioResampler(audio.codec_context.format, "mono", RATE, size)
        for one in (*resampler.resample(samples), *resampler.resample(None)):
            container.mux(audio.encode(one))
        container.mux(audio.encode(None))
    return path


def pictures(path):
    """Return the time of each frame, and the frames, (n, H, W, 3)."""
    with av.open(str(path)) as container:
        frames = [(one.time, one.to_ndarray(format="rgb24")) for one in container.decode(video=0)]
    return [time for time, _ in frames], np.stack([picture for _, picture in frames])


def heard(path):
    """Return the sound of a file, and the time of its first sample."""
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
    return np.concatenate([one.to_ndarray() for one in frames], axis=1)[0], frames[0].time


@pytest.fixture(scope="module", params=["aac", "pcm_s16le"])
def drawn(request, tmp_path_factory):
    """Run the example as a program on a video; return where the result is."""
    folder = tmp_path_factory.mktemp("drawn")
    video = write(folder / ("whistle.mp4" if request.param == "aac" else "whistle.mkv"), request.param)
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE, video, "-o", folder / "out.mkv"],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{FRAMES} frames, written to {folder / 'out.mkv'} with the sound of {video}\n"
    return folder / "out.mkv"


def row_of(example, frequency):
    return np.abs(np.geomspace(RATE / 2, example.LOWEST, example.ROWS) - frequency).argmin()


def test_the_loudest_row_follows_the_whistle_at_the_right_edge_and_before_it(example, drawn):
    times, frames = pictures(drawn)
    panels = frames[:, :, WIDTH:].astype(int).sum(axis=3)
    width = panels.shape[2]
    assert (len(times), panels.shape[1:]) == (FRAMES, (example.ROWS, WIDTH // 2))

    for frame in (70, 95, 119):
        # from the right edge back to where the whistle has begun, but for the length of a window
        seconds_ago = np.arange(width) * example.SPAN / 1e6 / width
        since = (frame - ONSET) / FPS - seconds_ago
        columns = np.flatnonzero((since > 0.05) & (seconds_ago < 1.9))  # frequencies are written on the left
        assert len(columns) > 35
        rows = panels[frame][:, width - 1 - columns].argmax(axis=0)
        expected = np.array([row_of(example, hertz(seconds)) for seconds in since[columns]])
        assert np.abs(rows - expected).max() <= 3, frame
        assert np.abs(rows - expected).mean() <= 1, frame


def test_the_whistle_is_seen_in_the_frame_in_which_the_picture_changes(drawn):
    _, frames = pictures(drawn)
    is_white = frames[:, :, :WIDTH].mean(axis=(1, 2, 3)) > 128
    # The middle of a window meets the whistle when it begins; its end, 23 ms before.
    edge = frames[:, 40:, -1].astype(int).sum(axis=2).max(axis=1)
    is_loud = edge > 300

    assert is_white.argmax() == ONSET
    assert abs(int(is_loud.argmax()) - ONSET) <= 1
    assert is_loud[is_loud.argmax() :].all()


def test_the_file_has_the_sound_in_step_with_the_picture(drawn):
    samples, begin = heard(drawn)
    times, frames = pictures(drawn)
    white = times[int((frames[:, :, :WIDTH].mean(axis=(1, 2, 3)) > 128).argmax())]

    # a lossy codec spreads the beginning over some milliseconds
    loud = np.flatnonzero(np.abs(samples) > 0.1 * np.abs(samples).max())[0]

    assert begin + loud / RATE == pytest.approx(white, abs=1 / FPS)
    assert samples.size == pytest.approx(sound().size, abs=3000)


def test_a_video_that_does_not_begin_at_zero_is_drawn_in_step_too(example, tmp_path):
    write(tmp_path / "late.mkv", "pcm_s16le", delay=75)

    ran = CliRunner().invoke(example.main, [str(tmp_path / "late.mkv"), "-o", str(tmp_path / "out.mkv")])

    assert ran.exit_code == 0, ran.output
    _, frames = pictures(tmp_path / "out.mkv")
    is_white = frames[:, :, :WIDTH].mean(axis=(1, 2, 3)) > 128
    is_loud = frames[:, 40:, -1].astype(int).sum(axis=2).max(axis=1) > 300
    assert abs(int(is_loud.argmax()) - int(is_white.argmax())) <= 1


def test_odd_sides_are_made_even(example, tmp_path):
    path = tmp_path / "odd.mkv"
    with av.open(str(path), "w") as container:
        video = container.add_stream("ffv1", rate=FPS)
        video.width, video.height, video.pix_fmt = 33, 17, "bgr0"
        audio = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        frame = av.VideoFrame.from_ndarray(np.zeros((17, 33, 3), np.uint8), "rgb24")
        container.mux(video.encode(frame))
        container.mux(video.encode(None))
        samples = av.AudioFrame.from_ndarray(np.zeros((1, 640), np.int16), "s16", "mono")
        samples.sample_rate, samples.pts = RATE, 0
        container.mux(audio.encode(samples))
        container.mux(audio.encode(None))

    ran = CliRunner().invoke(example.main, [str(path), "-o", str(tmp_path / "out.mkv")])

    assert ran.exit_code == 0, ran.output
    assert pictures(tmp_path / "out.mkv")[1].shape[1:] == (16, 50, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--microphone"], (2, "--microphone goes with --show, and with neither a VIDEO nor -o")),
        (["--show"], (2, "there is nothing to show; name a VIDEO, or say --microphone")),
        (["none.mp4"], (2, "File 'none.mp4' does not exist")),
        (["silent.mkv"], (1, "audio file 'silent.mkv' has no audio streams, but stream_index is 0")),
        (
            ["silent.mkv", "-o", "silent.mkv"],
            (2, "'silent.mkv' is the video that is read; name another file with -o"),
        ),
        (["text.mp4"], (1, "audio file 'text.mp4' cannot be read")),
        (["whistle.mkv", "-o", "none/out.mp4"], (1, "there is no directory 'none'; make it first")),
    ],
)
def test_mistakes_are_said_in_a_line_without_a_traceback(example, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("text.mp4").write_text("no video")
    write("whistle.mkv", "pcm_s16le")
    with av.open("silent.mkv", "w") as container:
        video = container.add_stream("ffv1", rate=FPS)
        video.width, video.height, video.pix_fmt = 32, 16, "bgr0"
        container.mux(video.encode(av.VideoFrame.from_ndarray(np.zeros((16, 32, 3), np.uint8), "rgb24")))
        container.mux(video.encode(None))

    code, words = said
    ran = CliRunner().invoke(example.main, arguments)

    assert ran.exit_code == code
    assert words in " ".join(ran.output.split())
    assert "Traceback" not in ran.output


def test_without_a_microphone_nothing_is_started_and_the_command_that_brings_it_is_said(example, monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    monkeypatch.setattr(example, "run", lambda *_, **__: pytest.fail("a run was started"))

    ran = CliRunner().invoke(example.main, ["--microphone", "--show"])

    assert ran.exit_code == 1
    assert "needs sounddevice" in ran.output
    assert "[microphone]" in ran.output  # in the words that fit this environment


def test_a_microphone_is_drawn_alone_thirty_times_a_second(example):
    text = (
        'input_stream: "samples" node { calculator: "AddAudioHeaderCalculator" input_stream: "samples" '
        'output_stream: "sound" node_options '
        "{ [type.googleapis.com/penstock.AddAudioHeaderCalculatorOptions] "
        "{ sample_rate: 16000 } } }" + example.SPECTRA + example.DRAWING % ""
    )
    graph = penstock.CalculatorGraph(text)
    shown, loudest = [], []
    graph.observe_output_stream("shown", lambda _, packet: shown.append(packet))
    graph.observe_output_stream("loudest", lambda _, packet: loudest.append(packet.payload))
    graph.start_run()
    tone = np.sin(2 * np.pi * 1000 * np.arange(16_000) / 16_000).astype(np.float32)
    for i, part in enumerate(np.split(tone, 50)):
        graph.add_packet_to_input_stream("samples", penstock.Packet(Matrix(part[None]), 20_000 * i))
    graph.close()

    assert 20 <= len(shown) <= 31
    assert shown[-1].payload.array.shape == (480, 960, 3)
    assert loudest[-1] == pytest.approx(1000, rel=0.02)
    grey = cv2.cvtColor(shown[-1].payload.array, cv2.COLOR_RGB2GRAY)
    assert abs(grey[:, -1].argmax() / 2 - row_of(example, 1000)) <= 3


def test_ctrl_c_ends_it_and_what_was_drawn_plays(tmp_path):
    video = write(tmp_path / "whistle.mkv", "pcm_s16le")
    words = [str(one) for one in (EXAMPLE, video, "-o", tmp_path / "out.mkv")]
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.argv = {words!r}\n{SLOWED}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "drawing\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said
    assert 0 < len(pictures(tmp_path / "out.mkv")[0]) < FRAMES
    assert not list(tmp_path.glob("*partial*"))


#: Runs the example; it says when ten frames are drawn, and draws no more before the sources are closed.
SLOWED = """
import runpy, sys, threading
import penstock
module = runpy.run_path(sys.argv[0])
beside, graph = module["SpectrogramBesideCalculator"], penstock.CalculatorGraph
draw, close, closed, drawn = beside._draw, graph.close_all_packet_sources, threading.Event(), []
def drawing(self, *arguments):
    draw(self, *arguments)
    drawn.append(1)
    if len(drawn) == 10:
        print("drawing", flush=True)
        assert closed.wait(60)
def closing(self):
    close(self)
    closed.set()
beside._draw, graph.close_all_packet_sources = drawing, closing
module["main"]()
"""
