"""What calculators touch: declared, refused where it is not allowed, and opened in one place."""

from __future__ import annotations

import inspect
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError, PermissionDeniedError, StatusCode
from penstock.plugins.default_registry import default_registry
from penstock_testing.packs.opening import opening_calls

ROOT = Path(__file__).parent.parent
NOTHING = Access(reads=(), writes=(), connects=(), devices=(), runs=())
#: What a stranger's graph tries, with {0} for a path or address: how the node says it.
READS = {
    "LocalFileContentsCalculator": """
        node { calculator: "LocalFileContentsCalculator" input_side_packet: "FILE_PATH:path"
               output_side_packet: "CONTENTS:x" }""",
    "ResourceProviderCalculator": """
        node { calculator: "ResourceProviderCalculator" input_side_packet: "RESOURCE_ID:path"
               output_side_packet: "RESOURCE:x" }""",
    "LocalFilePatternContentsCalculator": """
        node { calculator: "LocalFilePatternContentsCalculator" input_side_packet: "FILE_DIRECTORY:folder"
               input_side_packet: "FILE_SUFFIX:name" output_stream: "CONTENTS:o" }""",
    "McapSourceCalculator": """
        node { calculator: "McapSourceCalculator" input_side_packet: "PATH:path" output_stream: "o" }""",
    "VideoDecoderCalculator": """
        node { calculator: "VideoDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:path"
               output_stream: "VIDEO:o" }""",
    "PictureSourceCalculator": """
        node { calculator: "PictureSourceCalculator" input_side_packet: "INPUT_FILE_PATH:path"
               output_stream: "VIDEO:o" }""",
    "AudioDecoderCalculator": """
        node { calculator: "AudioDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:path"
               output_stream: "AUDIO:o" }""",
}
OPTIONS = {
    "TopKScoresCalculator": ("TopKScoresCalculatorOptions", 'top_k: 1 label_map_path: "{0}"',
                             'input_stream: "SCORES:in" output_stream: "TOP_K_LABELS:o"'),
    "DetectionLabelIdToTextCalculator": ("DetectionLabelIdToTextCalculatorOptions", 'label_map_path: "{0}"',
                                         'input_stream: "in" output_stream: "o"'),
    "TimedBoxListIdToLabelCalculator": ("TimedBoxListIdToLabelCalculatorOptions", 'label_map_path: "{0}"',
                                        'input_stream: "in" output_stream: "o"'),
    "InferenceCalculator": ("InferenceCalculatorOptions", 'model_path: "{0}"',
                            'input_stream: "TENSORS:in" output_stream: "TENSORS:o"'),
    "TensorsToClassificationCalculator": ("TensorsToClassificationCalculatorOptions", 'label_map_path: "{0}"',
                                          'input_stream: "TENSORS:in" output_stream: "CLASSIFICATIONS:o"'),
}  # fmt: skip
SIDES = 'input_side_packet: "path" input_side_packet: "folder" input_side_packet: "name"'


def denied(error):
    """Return the refusal that an error was raised from."""
    found = error
    while found is not None and not isinstance(found, PermissionDeniedError):
        found = found.__cause__
    assert found is not None, error
    assert error.code is StatusCode.PERMISSION_DENIED
    return str(found)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret" / "passwords.txt"
    path.parent.mkdir()
    path.write_text("hunter2")
    return path


@pytest.mark.parametrize("calculator", READS)
def test_a_side_packet_reads_no_file_that_is_not_allowed(calculator, secret):
    sides = {"path": str(secret), "folder": str(secret.parent), "name": secret.name}
    graph = penstock.CalculatorGraph(SIDES + READS[calculator], access=NOTHING)
    assert all(touch.kind in {"reads", "connects"} for touch in graph.access()[calculator])
    with pytest.raises(GraphRunError) as caught:
        graph.run(sides, timeout=30)
    assert "may not read" in denied(caught.value)


@pytest.mark.parametrize("calculator", OPTIONS)
def test_options_read_no_file_that_is_not_allowed(calculator, secret, tmp_path):
    message, text, ports = OPTIONS[calculator]

    def graph(path):
        options = f"options {{ [penstock.{message}.ext] {{ {text.format(path)} }} }}"
        return f'input_stream: "in" node {{ calculator: "{calculator}" {ports} {options} }}'

    with pytest.raises(GraphConfigError, match="may not read") as caught:
        penstock.CalculatorGraph(graph(secret), access=NOTHING)
    assert caught.value.faults[0].code is StatusCode.PERMISSION_DENIED
    # A name that is searched is found beside the graph file, which is no reason to allow it.
    beside = tmp_path / "graph.pbtxt"
    beside.write_text(graph("secret/passwords.txt"))
    loaded = penstock.CalculatorGraph(beside, access=NOTHING)
    loaded.start_run()
    with pytest.raises(GraphRunError) as caught:
        loaded.wait_until_idle(30)
    assert "may not read" in denied(caught.value)


WRITERS = {
    "McapSinkCalculator": (
        'input_stream: "a" node { calculator: "McapSinkCalculator" input_stream: "a" '
        'input_side_packet: "PATH:path" }'
    ),
    "PictureSinkCalculator": (
        'node { calculator: "VideoDecoderCalculator" output_stream: "VIDEO:v" options { '
        "[penstock.VideoDecoderCalculatorOptions.ext] { test_pattern { width: 64 height: 64 frames: 1 } } "
        "} } "
        'node { calculator: "PictureSinkCalculator" input_stream: "VIDEO:v" '
        'input_side_packet: "OUTPUT_FILE_PATH:path" }'
    ),
    "VideoEncoderCalculator": (
        'node { calculator: "VideoDecoderCalculator" output_stream: "VIDEO:v" options { '
        "[penstock.VideoDecoderCalculatorOptions.ext] { test_pattern { width: 64 height: 64 frames: 3 } } "
        "} } "
        'node { calculator: "VideoEncoderCalculator" input_stream: "VIDEO:v" '
        'input_side_packet: "OUTPUT_FILE_PATH:path" }'
    ),
    "WavSinkCalculator": (
        'input_stream: "a" node { calculator: "AddAudioHeaderCalculator" input_stream: "a" '
        'output_stream: "s" '
        "node_options { [type.googleapis.com/penstock.AddAudioHeaderCalculatorOptions] { num_channels: 1 "
        'sample_rate: 8000 } } } node { calculator: "WavSinkCalculator" input_stream: "s" '
        'input_side_packet: "OUTPUT_FILE_PATH:path" }'
    ),
}


@pytest.mark.parametrize(
    ("calculator", "ending"), list(zip(WRITERS, (".mcap", ".png", ".mp4", ".wav"), strict=True))
)
def test_no_file_is_written_that_is_not_allowed_or_exists(calculator, ending, tmp_path):
    path = tmp_path / f"precious{ending}"
    path.write_text("precious")
    text = 'input_side_packet: "path" ' + WRITERS[calculator]

    def run(access):
        with penstock.CalculatorGraph(text, access=access) as graph:
            graph.start_run({"path": str(path)})
            graph.close_all_input_streams()
            graph.wait_until_done(30)

    with pytest.raises(GraphRunError) as caught:
        run(NOTHING)
    assert "may not write" in denied(caught.value)
    with pytest.raises(GraphRunError, match="exists; name another one"):
        run(Access(overwrites=False))
    assert path.read_text() == "precious"
    run(Access(writes=[tmp_path]))
    assert path.read_bytes() != b"precious"


@pytest.mark.parametrize("calculator", ["VideoDecoderCalculator", "AudioDecoderCalculator"])
def test_no_request_is_made_to_an_address_that_is_not_allowed(calculator, tmp_path):
    calls = []
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/internal"

        def serve():
            connection, _ = server.accept()
            with connection:
                calls.append(connection.recv(100))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        sides = {"path": address, "folder": "", "name": ""}
        graph = penstock.CalculatorGraph(SIDES + READS[calculator], access=NOTHING)
        with pytest.raises(GraphRunError) as caught:
            graph.run(sides, timeout=30)
        assert "may not connect to" in denied(caught.value)
        assert not calls
        allowed = Access(reads=(), connects=["127.0.0.1"])
        graph = penstock.CalculatorGraph(SIDES + READS[calculator], access=allowed)
        with pytest.raises(GraphRunError, match="cannot be read"):
            graph.run(sides, timeout=30)
        thread.join(30)
        assert calls[0].startswith(b"GET /internal")


@pytest.fixture
def servers():
    """Return a function that starts a server of the local host, and returns its address.

    The server calls `answer` with the handler of each request.
    """
    made = []

    def _start(answer):
        class Handler(BaseHTTPRequestHandler):
            do_GET = answer  # noqa: N815  # the library's

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        made.append((server, thread))
        return f"127.0.0.1:{server.server_port}"

    yield _start
    for server, thread in made:
        server.shutdown()
        server.server_close()
        thread.join(30)


@pytest.mark.parametrize("calculator", ["VideoDecoderCalculator", "AudioDecoderCalculator"])
def test_a_server_in_a_sandbox_leads_to_no_other(servers, calculator):
    asked = []

    def refuse(handler):
        asked.append(handler.path)
        handler.send_error(404)

    def lead(handler):
        handler.send_response(302)
        handler.send_header("Location", f"http://{forbidden}/internal")
        handler.end_headers()

    forbidden = servers(refuse)
    allowed = servers(lead)
    sides = {"path": f"http://{allowed}/x", "folder": "", "name": ""}
    text = SIDES + READS[calculator]
    with pytest.raises(GraphRunError, match="cannot be read"):
        penstock.CalculatorGraph(text, access=Access(connects=[allowed])).run(sides, timeout=30)
    assert not asked
    with pytest.raises(GraphRunError, match="cannot be read"):
        penstock.CalculatorGraph(text).run(sides, timeout=30)
    assert asked == ["/internal"]


def test_a_playlist_in_a_sandbox_leads_nowhere(tmp_path):
    secret = tmp_path / "secret.ts"
    secret.write_bytes(b"G" * 188 * 10)
    (tmp_path / "in").mkdir()
    playlist = tmp_path / "in" / "list.m3u8"
    playlist.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{secret}\n#EXT-X-ENDLIST\n")
    sides = {"path": str(playlist), "folder": "", "name": ""}
    text = SIDES + READS["VideoDecoderCalculator"]
    with pytest.raises(GraphRunError, match="cannot be read as a video"):
        penstock.CalculatorGraph(text, access=Access(reads=[tmp_path / "in"])).run(sides, timeout=30)


@pytest.mark.parametrize("name", ["KafkaSourceCalculator", "KafkaSinkCalculator"])
def test_brokers_are_addresses(name):
    port = 'output_stream: "VALUE:v"' if "Source" in name else 'input_stream: "VALUE:in"'
    text = f"""input_stream: "in" node {{ calculator: "{name}" {port} node_options {{
        [type.googleapis.com/penstock_kafka.{name}Options] {{
        bootstrap_servers: "10.0.0.5:9092, 10.0.0.6:9092" topic: "t" }} }} }}"""
    text = text.replace('topic: "t"', 'topic: "t" group_id: "g"') if "Source" in name else text
    with pytest.raises(GraphConfigError, match=r"may not connect to '10.0.0.6:9092'"):
        penstock.CalculatorGraph(text, access=Access(connects=["10.0.0.5"]))
    assert len(penstock.CalculatorGraph(text, access=Access(connects=["10.0.0.5", "10.0.0.6"])).access()) == 1


@pytest.mark.parametrize(
    ("node", "device"),
    [
        (
            (
                'calculator: "VideoDecoderCalculator" output_stream: "VIDEO:v" options { '
                "[penstock.VideoDecoderCalculatorOptions.ext] { camera_index: 3 } }"
            ),
            "camera 3",
        ),
        ('calculator: "MicrophoneSourceCalculator" output_stream: "AUDIO:a"', "microphone"),
        (
            (
                'calculator: "LiveVideoCalculator" output_stream: "VIDEO:v" node_options { '
                '[type.googleapis.com/penstock_video.LiveVideoCalculatorOptions] { source: "3" } }'
            ),
            "camera 3",
        ),
    ],
)
def test_cameras_and_microphones_are_devices(node, device):
    with pytest.raises(GraphConfigError, match=f"may not use the device '{device}'; .*--allow-device"):
        penstock.CalculatorGraph(f"node {{ {node} }}", access=NOTHING)
    touches = penstock.CalculatorGraph(f"node {{ {node} }}", access=Access(devices=[device])).access()
    assert [touch.what for found in touches.values() for touch in found] == [device]


# --- the code of packs -----------------------------------------------------------------------------


#: Modules of packs with calculators → why they open something themselves.
ALLOWED = {
    "penstock_audio/files/audio_file.py": "libav opens what `Access.medium` has returned",
    "penstock_audio/files/wav_writer.py": "writes beside a path that `Access.writing` has returned",
    "penstock_detect/command_graph.py": "reads a graph file of the package itself",
    "penstock_detect/model_file.py": "zipfile opens bytes in memory",
    "penstock_detect/zones/command_zones.py": "opens the file that a user has named to the command",
    "penstock_detect/zones/event_files.py": "opens a path that `Access.writing` has returned",
    "penstock_image/files/image_file_properties.py": "Pillow opens bytes in memory",
    "penstock_image/pictures/picture_encoding.py": "writes beside a path that `Access.writing` has returned",
    "penstock_record/recording_reader.py": "opens a path that `Access.reading` or the command line gave",
    "penstock_record/repair.py": "a command of the user",
    "penstock_record/recording_rows.py": "the application's own file",
    "penstock_record/recording_writer.py": "opens a path that `Access.writing` has returned",
    "penstock_rerun/log.py": "looks whether a viewer is at an address that `Access.connecting` has returned",
    "penstock_ros/client/images.py": "Pillow opens bytes in memory",
    "penstock_ros/client/bag_reader.py": "rosbags opens paths that `Access.reading` and `.folder` returned",
    "penstock_ros/client/bag_writer.py": "writes beside a path that `Access.writing` has returned",
    "penstock_video/copied_audio.py": "libav opens what `Access.medium` and `reading` have returned",
    "penstock_video/file_and_camera_reader.py": "libav opens what `Access.medium` has returned",
    "penstock_video/hardware.py": "opens an encoder of a device, which `Access.using` has allowed",
    "penstock_video/live/live_connection.py": "libav opens what `Access` has allowed, see "
    "`live/live_source.py`",
    "penstock_video/partial.py": "writes beside a path that `Access.writing` has returned",
    "penstock_video/streaming/hls.py": "writes beside a path that `Access.writing` has returned",
    "penstock_video/streaming/muxer.py": "libav writes where `Access.connecting` allows it",
    "penstock_video/streaming/muxing.py": "the pack's own process",
    "penstock_video/writer.py": "libav writes into a `PartialFile`",
}
PACKS = (
    "audio",
    "bridges",
    "calculators",
    "detect",
    "formats",
    "image",
    "record",
    "tensors",
    "video",
    "vision",
)


def test_packs_open_things_through_the_access_of_the_graph_only():
    found = set()
    for pack in PACKS:
        source = ROOT / "plugins" / pack / "src"
        found |= {
            str(path.relative_to(source))
            for path in source.rglob("*.py")
            if opening_calls(path.read_text(encoding="utf-8"))
        }
    assert found - set(ALLOWED) == set(), "use cc.service(ACCESS), or say in ALLOWED why not"
    assert set(ALLOWED) - found == set(), "these open nothing any more"


#: Calculators that only make a path, which another node opens and declares.
MAKES_A_PATH = {"UnpackMediaSequenceCalculator"}


def test_every_calculator_that_names_a_path_declares_it():
    """A path in an option, or a side packet that is a path, is what a graph touches."""
    missing = []
    for name in default_registry().names("calculator"):
        found = default_registry().find("calculator", name)
        words = (getattr(found, "__doc__", None) or "").replace("\n", " ")
        if "_PATH" in words or "_path`" in words:
            sources = [inspect.getsource(one) for one in inspect.getmro(found)[:-1]]
            if not any("reads=" in source or "writes=" in source for source in sources):
                missing.append(name)
    assert set(missing) == MAKES_A_PATH


def test_a_file_that_is_called_like_an_address_is_a_file(tmp_path, monkeypatch):
    (tmp_path / "concat:a").write_bytes(b"no video")
    monkeypatch.chdir(tmp_path)
    for access in (Access(connects=()), Access(reads=[tmp_path])):
        assert access.medium("concat:a") == str(tmp_path / "concat:a")
    with pytest.raises(PermissionDeniedError, match="may not connect to"):
        Access(connects=()).medium("concat:b")
