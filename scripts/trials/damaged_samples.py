"""Small whole files of each kind that a pack reads, and the graphs that read them.

A `Sample` has the bytes of a file, and names the `Reader` that runs a graph over it. Where a library is not
installed, its samples are left out, and `samples` tells why.
"""

from __future__ import annotations

import importlib
import io
import sys
import wave
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import penstock
from penstock import Packet
from penstock.config import build_plan
from penstock.packs import default_registry
from penstock_formats import ImageFormat, ImageFrame, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).resolve().parents[2]
#: How long a graph that reads a file may take before that counts as a hang.
PATIENCE_S: Final = 60.0


class Sample(NamedTuple):
    """A whole file."""

    #: What kind of file: "recording", "bag", "picture", "video", "sound", "tflite" or "onnx".
    kind: str
    #: With the ending that the file has.
    name: str
    data: bytes
    #: Reads a file with this name; raises what the graph raises.
    read: Callable[[Path], None]


def run(text: str, sides: dict[str, Any] | None = None, inputs: dict[str, list[Any]] | None = None) -> int:
    """Run a graph to its end, and count the packets of its outputs.

    Raises:
        PenstockError: whatever is wrong with the file.
        AssertionError: the ledger does not add up.
    """
    seen = 0

    def see(_name: str, packet: Packet) -> None:
        nonlocal seen
        seen += 1
        repr(packet.payload)

    with penstock.CalculatorGraph(text) as graph:
        for name in graph.output_streams:
            graph.observe_output_stream(name, see)
        graph.start_run(sides or {})
        try:
            for name, payloads in (inputs or {}).items():
                for number, payload in enumerate(payloads):
                    graph.add_packet_to_input_stream(name, Packet(payload, number), timeout=PATIENCE_S)
            graph.close_all_input_streams()
            graph.wait_until_done(PATIENCE_S)
        finally:
            if graph.is_running:
                graph.close(PATIENCE_S)
        if not graph.ledger().adds_up:
            raise AssertionError(f"the ledger does not add up: {graph.ledger()}")
    return seen


def pixels(channels: int = 3, kind: Any = np.uint8) -> Any:
    """Return a small picture that is no plain colour."""
    rows, columns = np.mgrid[0:24, 0:32]
    plane = (rows * 7 + columns * 3) % 251
    return np.stack([plane + one for one in range(channels)], -1).astype(kind)


# --- recordings and bags ------------------------------------------------------------------------------


def _recordings(folder: Path) -> Iterator[Sample]:
    from penstock_record import recording_graph

    passing = """input_stream: "in" output_stream: "out"
        node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""
    payloads: dict[str, list[Any]] = {
        "numbers": [1, 2.5, "words", [1, 2, 3], b"bytes", None, {"a": 1}, True],
        "arrays": [np.arange(12.0).reshape(3, 4), np.zeros((2, 2), np.uint8)],
        "images": [ImageFrame(pixels(), ImageFormat.SRGB), ImageFrame(pixels(1)[..., 0], ImageFormat.GRAY8)],
    }
    for name, values in payloads.items():
        path = folder / f"{name}.mcap"
        graph: Any = recording_graph(passing, path, ["in"])
        run(graph, inputs={"in": values})
        yield Sample("recording", path.name, path.read_bytes(), _read_recording)


def _read_recording(path: Path) -> None:
    from penstock_record import RecordingReader
    from penstock_record.repair import repair

    run(
        'output_stream: "in" input_side_packet: "path" node { calculator: "McapSourceCalculator" '
        'input_side_packet: "PATH:path" output_stream: "in" }',
        {"path": str(path)},
    )
    with RecordingReader(path, default_registry()) as reader:
        str(reader.about)
    repair(path, path.with_suffix(".again.mcap"))


def _bags(folder: Path) -> Iterator[Sample]:
    sys.path.insert(0, str(ROOT / "plugins" / "bridges" / "tests" / "ros"))
    bags: Any = importlib.import_module("bags")
    some = {name: bags.payloads()[name] for name in ("imu", "cloud", "words")}
    some["frame"] = bags.frame(ImageFormat.SRGB)
    topics = " ".join(f"/{name}" for name in some)

    def read(path: Path) -> None:
        bags.read(path, topics)

    for ending in (".bag", ".mcap"):
        path = folder / f"some{ending}"
        streams = {name: [(bags.START + n * 1000, one) for n in range(3)] for name, one in some.items()}
        bags.write(path, streams)
        yield Sample("bag", path.name, path.read_bytes(), read)


# --- pictures, videos, sound --------------------------------------------------------------------------


def _pictures(_folder: Path) -> Iterator[Sample]:
    import cv2
    import PIL.Image

    for ending, picture in (
        (".png", pixels()), (".png", pixels(4, np.uint16)), (".jpg", pixels()), (".webp", pixels()),
        (".tiff", pixels()), (".bmp", pixels()), (".jp2", np.tile(pixels(), (4, 4, 1))), (".ppm", pixels()),
    ):  # fmt: skip
        fine, data = cv2.imencode(ending, picture)
        if fine:
            bits = "16" if picture.dtype == np.uint16 else ""
            yield Sample("picture", f"picture{bits}{ending}", data.tobytes(), _read_picture)
    file = io.BytesIO()
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8769).update({0x920A: 4.2, 0xA405: 28, 0x9003: "2026:01:02 03:04:05"})
    PIL.Image.fromarray(pixels()).save(file, "jpeg", exif=exif)
    yield Sample("picture", _PHOTO, file.getvalue(), _read_picture)
    file = io.BytesIO()
    PIL.Image.fromarray(pixels()).save(file, "gif")
    yield Sample("picture", "picture.gif", file.getvalue(), _read_picture)


#: The picture with EXIF data.
_PHOTO: Final = "photo.jpg"
_OF_FILE: Final = """
    input_side_packet: "path" output_stream: "VIDEO:frame"
    node { calculator: "PictureSourceCalculator" input_side_packet: "INPUT_FILE_PATH:path"
      output_stream: "VIDEO:frame" %s }"""
_OF_BYTES: Final = """
    input_stream: "file" output_stream: "out"
    node { calculator: "%s" input_stream: "file" output_stream: "out" %s }"""


def _read_picture(path: Path) -> None:
    data = path.read_bytes()
    turned = (
        "options { [mediapipe.OpenCvEncodedImageToImageFrameCalculatorOptions.ext] "
        "{ apply_orientation_from_exif_data: true } }"
    )
    by_exif = (
        "node_options { [type.googleapis.com/penstock_image.PictureSourceCalculatorOptions] "
        "{ times: EXIF format: KEEP } }"
    )
    decoder = "OpenCvEncodedImageToImageFrameCalculator"
    ways: list[Callable[[], int]] = [
        lambda: run(_OF_FILE % "", {"path": str(path)}),
        lambda: run(_OF_BYTES % (decoder, ""), inputs={"file": [data]}),
        lambda: run(_OF_BYTES % (decoder, turned), inputs={"file": [data]}),
    ]
    if path.name == _PHOTO:
        ways += [
            lambda: run(_OF_FILE % by_exif, {"path": str(path)}),
            lambda: run(_OF_BYTES % ("ImageFilePropertiesCalculator", ""), inputs={"file": [data]}),
        ]
    all_of(ways)


def all_of(ways: list[Callable[[], int]]) -> None:
    """Read a file in several ways; raise the first error, when all have been tried."""
    first: penstock.errors.PenstockError | None = None
    for way in ways:
        try:
            way()
        except penstock.errors.PenstockError as error:
            first = first or error
    if first is not None:
        raise first


def _videos(folder: Path) -> Iterator[Sample]:
    import av

    for ending, codec, form in (
        (".mp4", "libx264", "yuv420p"), (".webm", "libvpx-vp9", "yuv420p"), (".mkv", "ffv1", "yuv420p"),
        (".ts", "mpeg2video", "yuv420p"), (".avi", "mjpeg", "yuvj420p"), (".mov", "libx264", "yuv420p"),
    ):  # fmt: skip
        path = folder / f"video{ending}"
        with av.open(str(path), "w") as file:
            stream: Any = file.add_stream(codec, rate=25)
            stream.width, stream.height, stream.pix_fmt = 64, 48, form
            for number in range(6):
                picture = np.roll(np.tile(pixels(), (2, 2, 1)), number * 3, 1)
                for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                    file.mux(packet)
            for packet in stream.encode():
                file.mux(packet)
        yield Sample("video", path.name, path.read_bytes(), _read_video)


def _read_video(path: Path) -> None:
    run(
        'input_side_packet: "path" output_stream: "VIDEO:frame" node { calculator: "VideoDecoderCalculator" '
        'input_side_packet: "INPUT_FILE_PATH:path" output_stream: "VIDEO:frame" }',
        {"path": str(path)},
    )


def _sounds(folder: Path) -> Iterator[Sample]:
    import av

    tone = (np.sin(np.arange(4000) / 10) * 8000).astype(np.int16)
    path = folder / "sound.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(tone.tobytes())
    yield Sample("sound", path.name, path.read_bytes(), _read_sound)
    for ending, codec in ((".flac", "flac"), (".ogg", "libopus"), (".m4a", "aac"), (".mp3", "libmp3lame")):
        path = folder / f"sound{ending}"
        with av.open(str(path), "w") as out:
            stream: Any = out.add_stream(codec, rate=48000, layout="mono")
            frame = av.AudioFrame.from_ndarray(tone.reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate = 48000
            resampler = av.AudioResampler(stream.format, "mono", 48000, stream.frame_size or None)
            for one in (*resampler.resample(frame), None):
                for packet in stream.encode(one):
                    out.mux(packet)
        yield Sample("sound", path.name, path.read_bytes(), _read_sound)


def _read_sound(path: Path) -> None:
    run(
        'input_side_packet: "path" output_stream: "AUDIO:sound" node { calculator: "AudioDecoderCalculator" '
        'input_side_packet: "INPUT_FILE_PATH:path" output_stream: "AUDIO:sound" }',
        {"path": str(path)},
    )


# --- models -------------------------------------------------------------------------------------------


def _inference(calculator: str, inputs: list[Tensor]) -> Callable[[Path], None]:
    options = {
        "InferenceCalculatorCpu": "options { [mediapipe.InferenceCalculatorOptions.ext] "
        "{ model_path: '%s' } }",
        "OnnxInferenceCalculator": "node_options { [type.googleapis.com/"
        "penstock_tensors.OnnxInferenceCalculatorOptions] { model_path: '%s' } }",
    }[calculator]

    def read(path: Path) -> None:
        run(
            f'input_stream: "TENSORS:in" output_stream: "TENSORS:out" node {{ calculator: "{calculator}" '
            f'input_stream: "TENSORS:in" output_stream: "TENSORS:out" {options % path} }}',
            inputs={"in": [inputs]},
        )

    return read


def _tflite(_folder: Path) -> Iterator[Sample]:
    importlib.import_module("ai_edge_litert.interpreter")
    sys.path.insert(0, str(ROOT / "plugins" / "tensors" / "tests"))
    made: Any = importlib.import_module("conftest")
    tensors = [Tensor(np.ones((1, 4), np.float32))]
    for operations in (("add",), ("add", "add", "add")):
        data = made._tflite(*operations).data  # noqa: SLF001  # of the pack's tests
        read = _inference("InferenceCalculatorCpu", tensors)
        yield Sample("tflite", f"{len(operations)}.tflite", bytes(data), read)


def _onnx(_folder: Path) -> Iterator[Sample]:
    importlib.import_module("onnxruntime")
    onnx: Any = importlib.import_module("onnx")
    helper: Any = importlib.import_module("onnx.helper")
    numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

    weights = [
        numpy_helper.from_array(np.ones((2, 3, 3, 3), np.float32), "w"),
        numpy_helper.from_array(np.array([1, -1], np.int64), "shape"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Reshape", ["r", "shape"], ["y"]),
    ]
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", kind, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", kind, [1, 128])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    tensors = [Tensor(np.ones((1, 3, 8, 8), np.float32))]
    read = _inference("OnnxInferenceCalculator", tensors)
    yield Sample("onnx", "small.onnx", model.SerializeToString(), read)


_MAKERS: Final[dict[str, Callable[[Path], Iterator[Sample]]]] = {
    "recording": _recordings,
    "bag": _bags,
    "picture": _pictures,
    "video": _videos,
    "sound": _sounds,
    "tflite": _tflite,
    "onnx": _onnx,
}


def samples(folder: Path, kinds: str) -> tuple[list[Sample], list[str]]:
    """Return the whole files whose kind has a word in its name, and why kinds are left out."""
    build_plan("", default_registry())
    found: list[Sample] = []
    missing = []
    for kind, make in _MAKERS.items():
        if kinds in kind:
            try:
                found += make(folder)
            except ImportError as error:
                missing.append(f"{kind}: {error}")
    return found, missing
