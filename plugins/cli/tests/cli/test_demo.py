from __future__ import annotations

import re
import threading
from pathlib import Path

import av
import numpy as np
import pytest

from penstock.plugins.default_registry import default_registry
from penstock_cli.demo.demo_graph import demo_config, graph_text
from penstock_cli.demo.on_gpu import choose
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.pattern import PatternSource

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples"
FILM = ROOT.parent / "shared" / "data" / "bigbuckbunny.mp4"


def times(path):
    """Return the presentation time of each frame of a video, in microseconds."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return [round(1_000_000 * frame.pts * stream.time_base) for frame in container.decode(stream)]


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_graphs_are_those_of_the_examples(on_gpu):
    if not EXAMPLES.exists():
        pytest.skip(f"the examples are not here: {EXAMPLES}")

    file = EXAMPLES / ("edge_overlay_gpu.pbtxt" if on_gpu else "edge_overlay.pbtxt")
    assert graph_text(on_gpu=on_gpu) == file.read_text(encoding="utf-8")


def test_the_demo_paints_the_test_pattern_and_says_where_it_is(invoke, in_folder):
    result = invoke("demo", "--frames", "12")

    assert result.exit_code == 0
    assert re.match(
        r"drawing edges over the moving test pattern, into penstock-demo\.mp4\non the [GC]PU: .+\n",
        result.output,
    )
    assert re.search(
        r"^12 frames at [\d.]+/s, written to penstock-demo\.mp4 \([\d.]+ kB\)\n\Z",
        result.output,
        re.MULTILINE,
    )
    assert times(in_folder / "penstock-demo.mp4") == [40_000 * index for index in range(12)]


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_demo_keeps_the_left_half_and_paints_edges_on_the_darkened_right_half(
    invoke, in_folder, on_gpu, request
):
    if on_gpu:
        request.getfixturevalue("gl")

    result = invoke("demo", "--frames", "1", "--gpu" if on_gpu else "--no-gpu")

    assert ("on the GPU: " if on_gpu else "on the CPU, because of --no-gpu\n") in result.output

    with av.open(str(in_folder / "penstock-demo.mp4")) as container:
        picture = next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    pattern = PatternSource(VideoDecoderCalculatorOptions.TestPattern(width=1280, height=720))
    before = pattern.read()[1].astype(int)
    left, right = picture[:, :640], picture[:, 640:]
    assert np.median(np.abs(left - before[:, :640])) <= 3
    assert np.median(np.abs(right - 0.35 * before[:, 640:])) <= 3
    orange = (np.abs(picture - (255, 180, 0)) < 60).all(axis=2)
    assert not orange[:, :630].any()
    columns = orange[:300, 640:].mean(axis=0) > 0.9
    # The upright edges of three bars, each line three pixels wide but for what compression makes of it.
    assert 3 <= columns.sum() <= 12


def test_the_demo_reads_a_video_and_keeps_its_times(invoke, in_folder):
    invoke("demo", "--frames", "8", "-o", "first.mp4", "-q")

    result = invoke("demo", "first.mp4", "-o", "second.mkv")

    assert result.exit_code == 0
    assert result.output.startswith("drawing edges over first.mp4, into second.mkv\non the ")
    assert times(in_folder / "second.mkv") == times(in_folder / "first.mp4")


def tone(path, codec, video="libx264"):
    """Write a video of a second with a tone."""
    with av.open(str(path), "w") as container:
        pictures = container.add_stream(video, rate=25)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream(codec, rate=48_000, layout="mono")
        for index in range(25):
            pixels = np.full((48, 64, 3), 10 * index, np.uint8)
            container.mux(pictures.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(pictures.encode(None))
        resampler = av.AudioResampler(format=sound.codec_context.format.name, layout="mono", rate=48_000)
        step = sound.codec_context.frame_size or 960
        wave = (8000 * np.sin(np.arange(48_000) / 17)).astype(np.int16)
        for begin in range(0, len(wave), step):
            frame = av.AudioFrame.from_ndarray(wave[None, begin : begin + step], format="s16", layout="mono")
            frame.sample_rate, frame.pts = 48_000, begin
            for part in resampler.resample(frame):
                container.mux(sound.encode(part))
        container.mux(sound.encode(None))
    return path


def sound(path):
    """Return codec, and (begin in seconds, bytes) of each packet, of the sound of a video."""
    with av.open(str(path)) as container:
        (stream,) = container.streams.audio
        packets = [(one.pts * one.time_base, bytes(one)) for one in container.demux(stream) if one.size]
        return stream.codec_context.name, packets


def test_the_demo_copies_the_sound_of_the_video(invoke, in_folder):
    tone(in_folder / "in.mp4", "aac")

    result = invoke("demo", "in.mp4", "-o", "out.mp4")

    assert result.exit_code == 0
    assert "warning" not in result.output
    assert sound(in_folder / "out.mp4") == sound(in_folder / "in.mp4")
    assert len(sound(in_folder / "out.mp4")[1]) == 48
    assert times(in_folder / "out.mp4") == times(in_folder / "in.mp4")


@pytest.mark.parametrize("on_gpu", [False, True])
def test_where_the_file_cannot_hold_the_sound_one_line_says_so(invoke, in_folder, on_gpu, request):
    if on_gpu:
        request.getfixturevalue("gl")
    tone(in_folder / "in.webm", "libopus", "libvpx")

    result = invoke("demo", "in.webm", "-o", "out.avi", "--gpu" if on_gpu else "--no-gpu", "--no-progress")

    assert result.exit_code == 0
    (line,) = [line for line in result.output.splitlines() if "audio" in line]
    assert line == (
        "warning: the opus audio of 'in.webm' (stream 1) is left out: a file of kind 'avi' cannot hold it; "
        "write an .mkv file, which can hold most audio"
    )
    with av.open(str(in_folder / "out.avi")) as container:
        assert [stream.type for stream in container.streams] == ["video"]


@pytest.mark.slow
def test_the_demo_keeps_every_frame_and_the_sound_of_a_real_film(invoke, in_folder):
    if not FILM.exists():
        pytest.skip(f"the real film is not here: {FILM}")

    result = invoke("demo", FILM, "-o", "out.mp4")

    assert (result.exit_code, "132 frames at" in result.output) == (0, True)
    assert times(in_folder / "out.mp4") == times(FILM)
    assert sound(in_folder / "out.mp4") == sound(FILM)


def test_a_quiet_demo_prints_nothing(invoke, in_folder):
    result = invoke("demo", "--frames", "2", "-q")

    assert (result.exit_code, result.output) == (0, "")
    assert len(times(in_folder / "penstock-demo.mp4")) == 2


def test_a_missing_video_has_exit_code_4(invoke, in_folder):
    (in_folder / "holiday.mp4").write_bytes(b"")

    result = invoke("demo", "hollyday.mp4")

    assert (result.exit_code, result.output) == (
        4,
        "Error: video 'hollyday.mp4' does not exist; did you mean 'holiday.mp4'?\n",
    )


@pytest.mark.usefixtures("in_folder")
def test_the_number_of_frames_of_a_video_cannot_be_chosen(invoke):
    result = invoke("demo", "in.mp4", "--frames", "3")

    assert result.exit_code == 2
    assert "--frames is for the test pattern; a VIDEO is read to its end" in result.output


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["in.mp4", "--camera", "0"], "--camera reads a camera and VIDEO is a file; leave out one of them"),
        (["--camera", "0", "--frames", "3"], "--frames is for the test pattern"),
        (["--camera", "-1"], "-1 is not in the range x>=0"),
    ],
)
def test_a_camera_excludes_a_video_and_the_pattern(invoke, arguments, words):
    result = invoke("demo", *arguments)

    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.parametrize("on_gpu", [False, True])
def test_with_a_camera_queues_are_short_and_no_pattern_is_left(on_gpu):
    config = demo_config(default_registry(), on_gpu=on_gpu, camera=2, writes=False)
    options = default_registry().option("penstock.VideoDecoderCalculatorOptions").load()()
    decoder = config.node[0]

    assert decoder.node_options[0].Unpack(options)
    assert (options.camera_index, options.HasField("test_pattern")) == (2, False)
    assert config.max_queue_size == 1
    assert "VideoEncoderCalculator" not in {node.calculator for node in config.node}


@pytest.mark.usefixtures("in_folder")
def test_a_missing_camera_is_named(invoke):
    result = invoke("demo", "--camera", "97", "--no-gpu")

    assert result.exit_code == 1
    assert "camera 97" in result.output
    assert "Traceback" not in result.output


# --- on the GPU, or why not -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "environment", "demand"),
    [(["--gpu"], {}, "--gpu"), ([], {"PENSTOCK_GPU": "require"}, "PENSTOCK_GPU=require")],
)
def test_the_demo_uses_what_opengl_there_is_where_that_is_demanded(
    command, gl, arguments, environment, demand
):
    done = command("demo", "--frames", "3", *arguments, **environment)

    assert done.returncode == 0, done.stderr
    kind = f"a software renderer, because of {demand}" if gl.is_software else f"hardware of {gl.vendor}"
    assert done.stderr.splitlines()[1] == f"on the GPU: {gl.renderer} ({kind})"
    assert "GlOverlayCalculator" in done.stdout


@pytest.mark.parametrize("environment", [{}, {"PENSTOCK_GPU": "prefer"}])
def test_by_default_a_software_renderer_is_left_for_the_cpu(command, gl, environment):
    done = command("demo", "--frames", "3", **environment)

    assert done.returncode == 0, done.stderr
    if gl.is_software:
        assert done.stderr.splitlines()[1] == (
            f"on the CPU: OpenGL has only a software renderer here, {gl.renderer}, which is slower; "
            "--gpu uses it"
        )
        assert "ImageOverlayCalculator" in done.stdout
    else:
        assert done.stderr.splitlines()[1] == f"on the GPU: {gl.renderer} (hardware of {gl.vendor})"
        assert "GlOverlayCalculator" in done.stdout


def test_by_default_hardware_draws_and_software_leaves_no_thread(monkeypatch, gl):
    """A context says itself whether hardware draws, so a machine without a card can try both."""
    from penstock_gpu.contexts.context import GlContext  # only where there is a GPU pack

    learn = GlContext.learn
    for is_software in (False, True):

        def say(context, is_software=is_software):
            learn(context)
            context.is_software = is_software

        monkeypatch.setattr(GlContext, "learn", say)
        before = set(threading.enumerate())
        place = choose(None, default_registry())

        assert place.is_gpu != is_software
        assert place.said.startswith(
            "on the CPU: " if is_software else f"on the GPU: {gl.renderer} (hardware"
        )
        assert (set(threading.enumerate()) == before) == is_software
        place.close()
        assert set(threading.enumerate()) == before


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({"PENSTOCK_GPU_DEVICE": "cuda:97"}, "cuda:97|libEGL"),
        ({"PENSTOCK_GPU": "off"}, "PENSTOCK_GPU"),
        ({"PENSTOCK_BLOCK_PLUGINS": "gpu"}, r"gpu \(blocked by name, see PENSTOCK_BLOCK_PLUGINS\)"),
    ],
)
def test_without_opengl_the_demo_uses_the_cpu_and_says_why(command, environment, why):
    done = command("demo", "--frames", "2", **environment)

    assert done.returncode == 0, done.stderr
    assert re.search(rf"^on the CPU: .*({why})", done.stderr, re.MULTILINE)
    assert "ImageOverlayCalculator" in done.stdout

    forced = command("demo", "--frames", "2", "--gpu", **environment)

    assert forced.returncode == 1
    assert re.search(rf"^Error: --gpu: .*({why})", forced.stderr, re.MULTILINE)
    assert "Traceback" not in forced.stderr


def test_where_the_environment_requires_the_gpu_the_demo_fails_without_it(command):
    environment = {"PENSTOCK_GPU": "require", "PENSTOCK_GPU_DEVICE": "cuda:97"}
    done = command("demo", "--frames", "2", **environment)

    assert done.returncode == 1
    assert re.search(r"^Error: PENSTOCK_GPU=require: .*(cuda:97|libEGL)", done.stderr, re.MULTILINE)
    assert "on NumPy" not in done.stderr  # which would not help here

    assert command("demo", "--frames", "2", "--no-gpu", **environment).returncode == 0


@pytest.mark.parametrize(
    ("variable", "value"), [("PENSTOCK_GPU", "perfer"), ("PENSTOCK_GPU_DEVICE", "nonsense")]
)
def test_a_misspelt_variable_is_an_error_and_does_not_mean_a_missing_gpu(command, variable, value, gl):
    done = command("demo", "--frames", "2", **{variable: value})

    assert done.returncode == 1
    assert re.search(rf"^Error: .*'{value}' \(from {variable}\)", done.stderr, re.MULTILINE)


def test_the_video_that_is_read_is_not_overwritten(invoke, in_folder):
    invoke("demo", "--frames", "2", "-q")
    before = (in_folder / "penstock-demo.mp4").read_bytes()

    result = invoke("demo", in_folder / "penstock-demo.mp4")

    assert result.exit_code == 2
    assert "'penstock-demo.mp4' is the video that is read; name another file with -o" in result.output
    assert (in_folder / "penstock-demo.mp4").read_bytes() == before


@pytest.mark.usefixtures("in_folder")
def test_a_directory_that_does_not_exist_is_named(invoke):
    result = invoke("demo", "-o", "none/out.mp4")

    assert result.exit_code == 1
    assert "there is no directory 'none'; make it first\n" in result.output


@pytest.mark.parametrize("arguments", [[], ["--frames", "3"]])
def test_without_the_video_pack_the_demo_says_what_is_missing(command, arguments):
    done = command("demo", *arguments, PENSTOCK_BLOCK_PLUGINS="video")

    assert done.returncode == 3
    assert "penstock.VideoDecoderCalculatorOptions" in done.stderr
    assert "video (blocked by name, see PENSTOCK_BLOCK_PLUGINS)" in done.stderr
    assert "Traceback" not in done.stderr


def test_progress_goes_to_stderr_and_the_summary_to_stdout(command):
    done = command("demo", "--frames", "60")

    assert done.returncode == 0
    assert re.search(
        r"^0:0\d  \d+ packets  [\d.]+/s on '(frame|decoded)'  queued \d+ \(.*B\).*packets dropped 0$",
        done.stderr,
        re.MULTILINE,
    )
    assert "VideoEncoderCalculator" in done.stdout
    assert "queued" not in done.stdout


def test_without_progress_only_the_summary_is_left(command):
    done = command("demo", "--frames", "60", "--no-progress")

    lines = done.stderr.splitlines()
    assert lines[0] == "drawing edges over the moving test pattern, into penstock-demo.mp4"
    assert (len(lines), lines[1][:7], lines[2][:8]) == (3, "on the ", "engine: ")
    assert "60 frames at" in done.stdout
