from __future__ import annotations

import re
from pathlib import Path

import av
import pytest

from penstock.plugins.default_registry import default_registry
from penstock_cli.demo_graph import demo_config, graph_text

ROOT = Path(__file__).resolve().parents[3]
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
def test_the_demo_paints_green_edges_on_the_frames(invoke, in_folder, on_gpu, request):
    if on_gpu:
        request.getfixturevalue("gl")

    result = invoke("demo", "--frames", "1", "--gpu" if on_gpu else "--no-gpu")

    assert ("on the GPU: " if on_gpu else "on the CPU, because of --no-gpu\n") in result.output

    with av.open(str(in_folder / "penstock-demo.mp4")) as container:
        picture = next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    green = (picture[..., 1] - picture[..., 0] > 60) & (picture[..., 1] - picture[..., 2] > 60)
    assert green[300:420].mean(axis=0).max() > 0.5, "no upright edge of the disc or ramp is green"


def test_the_demo_reads_a_video_and_keeps_its_times(invoke, in_folder):
    invoke("demo", "--frames", "8", "-o", "first.mp4", "-q")

    result = invoke("demo", "first.mp4", "-o", "second.mkv")

    assert result.exit_code == 0
    assert result.output.startswith("drawing edges over first.mp4, into second.mkv\non the ")
    assert times(in_folder / "second.mkv") == times(in_folder / "first.mp4")


@pytest.mark.slow
def test_the_demo_keeps_every_frame_of_a_real_film(invoke, in_folder):
    if not FILM.exists():
        pytest.skip(f"the real film is not here: {FILM}")

    result = invoke("demo", FILM, "-o", "out.mp4")

    assert (result.exit_code, "132 frames at" in result.output) == (0, True)
    assert times(in_folder / "out.mp4") == times(FILM)


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


def test_with_opengl_the_demo_uses_it_and_names_the_device(command, gl):
    done = command("demo", "--frames", "3")

    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[1].startswith(f"on the GPU: {gl.renderer} (")
    assert ("(a software renderer)" in done.stderr) == gl.is_software
    assert "GlOverlayCalculator" in done.stdout


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
        r"^0:0\d  \d+ packets  [\d.]+/s on '(frame|decoded)'  queued \d+ \([\d.]+ k?M?B\).*  dropped 0$",
        done.stderr,
        re.MULTILINE,
    )
    assert "VideoEncoderCalculator" in done.stdout
    assert "queued" not in done.stdout


def test_without_progress_only_the_summary_is_left(command):
    done = command("demo", "--frames", "60", "--no-progress")

    lines = done.stderr.splitlines()
    assert lines[0] == "drawing edges over the moving test pattern, into penstock-demo.mp4"
    assert (len(lines), lines[1][:7]) == (2, "on the ")
    assert "60 frames at" in done.stdout
