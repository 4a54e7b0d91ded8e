"""Runs of MediaPipe's shipped graphs, recorded stream by stream, and what compares our packets with them.

The records are beside the repository, in `../shared/cases/door`; its README.md says what they hold. The
models are found as calculators find them: the variable PENSTOCK_MEDIAPIPE_MODELS names a folder or the
wheel `mediapipe==0.10.21`. Where either is missing, the tests skip and say so.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import zipfile
from collections import Counter
from functools import cache, cached_property
from importlib.metadata import distributions
from pathlib import Path

import attrs
import cv2
import numpy as np
import pytest
from google.protobuf import json_format

import penstock
import penstock_formats
from penstock import CalculatorGraph, Packet
from penstock_formats import Image, ImageFrame

RECORDED_RUNS = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "door"
#: Whether the kernels compute what those of the reference compute, as ai-edge-litert 1.1 and 1.3 do.
HAS_REFERENCE_KERNELS = all(
    one.version.startswith(("1.1.", "1.3.")) for one in distributions(name="ai-edge-litert")
)
#: The greatest differences of tensors, by their range; of masks; of all other numbers. With other kernels,
#: which depend on the processor too, a landmark differs by a ten-millionth, and after a few frames a pixel of
#: the region that it leads to by one or two steps of 256.
TENSOR, MASK, NUMBER = (1e-4, 2e-3, 1e-5) if HAS_REFERENCE_KERNELS else (4 / 255, 2e-3, 1e-3)
#: Microseconds between two frames of a run.
STEP = 33_333
#: The name of a graph in the records → that of its file.
FILES = {
    "hands": "hand_landmark_tracking_cpu",
    "face_short": "face_detection_short_range_cpu",
    "face_full": "face_detection_full_range_cpu",
    "face_mesh": "face_landmark_front_cpu",
    "pose": "pose_landmark_cpu",
    "holistic": "holistic_landmark_cpu",
    "selfie": "selfie_segmentation_cpu",
}
_NODE = re.compile(r"^node \{\n(?:.*\n)*?\}\n", re.MULTILINE)
_PORT = re.compile(r'^  ((?:in|out)put_(?:stream|side_packet)): "([^"]+)"', re.MULTILINE)
#: Kind of a record → the class of the message that it or its list holds.
_MESSAGE = re.compile(r"mediapipe::(\w+)>?$")


@attrs.frozen
class Node:
    """A node of an expanded graph: its config, and the names of what it reads and writes."""

    text: str

    @cached_property
    def type(self) -> str:
        return re.search(r'^  calculator: "(\w+)"', self.text, re.MULTILINE)[1]

    @cached_property
    def ports(self) -> list[tuple[str, str, str]]:
        """Kind, tag or "", name of each port."""
        found = []
        for kind, port in _PORT.findall(self.text):
            parts = port.split(":")
            found.append((kind, parts[0] if len(parts) > 1 else "", parts[-1]))
        return found

    def names(self, kind: str) -> list[str]:
        return [name for found, _, name in self.ports if found == kind]

    @cached_property
    def label(self) -> str:
        named = re.search(r'^  name: "(\w+)"', self.text, re.MULTILINE)
        return named[1] if named else f"{self.type}_{'_'.join(self.names('output_stream'))}"


@attrs.frozen
class Run:
    """A recorded run."""

    #: Name, graph, picture, frames, side packets.
    about: dict
    #: Name → records, in order.
    streams: dict
    #: Names of streams without a record.
    silent: list

    @property
    def name(self) -> str:
        return self.about["name"]

    @cached_property
    def frames(self) -> list[ImageFrame]:
        """The frames that the graph was given."""
        picture = cv2.cvtColor(cv2.imread(str(RECORDED_RUNS / self.about["picture"])), cv2.COLOR_BGR2RGB)
        rolled = [np.roll(picture, (4 * k, 6 * k), axis=(0, 1)) for k in range(self.about["frames"])]
        return [ImageFrame(np.ascontiguousarray(one)) for one in rolled]

    @cached_property
    def nodes(self) -> list[Node]:
        text = (RECORDED_RUNS / "expanded" / f"{FILES[self.about['graph']]}.expanded.pbtxt").read_text()
        return [Node(found) for found in _NODE.findall(text)]

    def packets(self, stream: str) -> list[tuple[int, object]] | None:
        """Return the packets of a stream; None where the record does not hold their values."""
        if stream == "image":
            return [(k * STEP, frame) for k, frame in enumerate(self.frames)]
        if stream not in self.streams:
            return None if "tensor" in stream.rpartition("__")[2] else []
        packets = [(record["t"], self._payload(stream, record)) for record in self.streams[stream]]
        return packets if all(payload is not None for _, payload in packets) else None

    def _payload(self, stream: str, record: dict) -> object:
        kind, payload = record["kind"], record.get("value")
        if "list" in record:
            payload = [_message(kind, one) for one in record["list"]]
        elif "message" in record:
            payload = _message(kind, record["message"])
        elif "floats" in record:
            payload = tuple(record["floats"])
        elif kind == "std::pair<int, int>":
            payload = (self.frames[0].width, self.frames[0].height)
        elif kind == "image" and (frame := self._by_hash.get(record["sha256"])):
            made_by = {name: node.type for node in self.nodes for name in node.names("output_stream")}
            payload = Image(frame) if made_by.get(stream) == "ToImageCalculator" else frame
        return payload

    @cached_property
    def _by_hash(self) -> dict[str, ImageFrame]:
        return {_hash(frame): frame for frame in self.frames}


def _hash(image: Image | ImageFrame) -> str:
    return hashlib.sha256(np.ascontiguousarray(image.array).tobytes()).hexdigest()


def _message(kind: str, fields: dict):
    made = getattr(penstock_formats, _MESSAGE.search(kind)[1])()
    return json_format.ParseDict(fields, made)


@cache
def run_named(name: str) -> Run:
    with gzip.open(RECORDED_RUNS / "reference" / f"{name}.json.gz", "rt") as file:
        found = json.load(file)
    return Run(found["run"], found["streams"], found["silent"])


def recorded_names() -> list[str]:
    return (
        [one["name"] for one in json.loads((RECORDED_RUNS / "runs.json").read_text())]
        if RECORDED_RUNS.is_dir()
        else []
    )


# --- differences --------------------------------------------------------------------------------------


class Differences:
    """What differs between packets of ours and their records."""

    def __init__(self) -> None:
        #: What is no difference of numbers, in words.
        self.faults: list[str] = []
        #: Kind of record → the greatest difference of two numbers.
        self.greatest: dict[str, float] = {}
        #: How many packets were compared.
        self.packets = 0
        #: How many tensors differ in a bit, and how many there were.
        self.unequal: Counter[str] = Counter()
        #: The streams of these.
        self.unequal_streams: set[str] = set()

    def expect_none(self) -> None:
        """Assert that there is no fault, and that numbers are as near as the specification asks."""
        assert not self.faults, "\n".join(self.faults[:20])
        far = {
            kind: found
            for kind, found in self.greatest.items()
            if found > {"tensor": TENSOR, "mask": MASK}.get(kind, NUMBER)
        }
        assert not far, f"{far} {self.unequal} {sorted(self.unequal_streams)[:5]}"

    def compare(self, stream: str, ours: list[tuple[int, object]], records: list[dict]) -> None:
        times, wanted = [stamp for stamp, _ in ours], [record["t"] for record in records]
        if times != wanted:
            self.faults.append(f"{stream}: packets at {times}, recorded at {wanted}")
            return
        for (stamp, payload), record in zip(ours, records, strict=True):
            self.packets += 1
            self._compare_one(f"{stream} at {stamp}", payload, record)

    def _compare_one(self, where: str, payload: object, record: dict) -> None:
        kind = record["kind"]
        if "list" in record:
            self._list(where, kind, payload, record["list"])
        elif "message" in record:
            self._message(where, kind, payload, _message(kind, record["message"]))
        elif "floats" in record:
            self._numbers(where, kind, np.asarray(payload, np.float64), np.asarray(record["floats"]))
        elif kind == "float":
            self._numbers(where, kind, np.float64(payload), np.float64(record["value"]))
        elif "value" in record:
            if payload != record["value"] or type(payload) is not type(record["value"]):
                self.faults.append(f"{where}: {payload!r}, recorded {record['value']!r}")
        elif kind in ("tensor", "mask"):
            self._sampled(where, kind, payload, record)
        elif kind == "image" and _hash(payload) != record["sha256"]:
            self.faults.append(f"{where}: another image than recorded")

    def _list(self, where: str, kind: str, ours: list, recorded: list[dict]) -> None:
        if len(ours) != len(recorded):
            self.faults.append(f"{where}: {len(ours)} elements, recorded {len(recorded)}")
            return
        for i, (one, fields) in enumerate(zip(ours, recorded, strict=True)):
            self._message(f"{where}[{i}]", kind, one, _message(kind, fields))

    def _sampled(self, where: str, kind: str, payload: object, record: dict) -> None:
        array = payload[0].array if isinstance(payload, list) else payload.array
        if array.dtype != np.float32 or array.size != record["length"]:
            self.faults.append(f"{where}: {array.size} {array.dtype}, recorded {record['length']} float32")
            return
        self.unequal[kind] += 1
        if hashlib.sha256(array.tobytes()).hexdigest() != record["sha256"]:
            self.unequal[f"{kind} unequal"] += 1
            self.unequal_streams.add(where.rpartition(" at ")[0])
            scale = max(1.0, abs(record["max"]), abs(record["min"])) if kind == "tensor" else 1.0
            values = np.asarray(record["values"])
            self._numbers(where, kind, array.ravel()[:: record["every"]] / scale, values / scale)

    def _numbers(self, where: str, kind: str, ours, recorded) -> None:
        if ours.shape != recorded.shape:
            self.faults.append(f"{where}: shape {ours.shape}, recorded {recorded.shape}")
        elif not np.array_equal(np.isfinite(ours), np.isfinite(recorded)):
            self.faults.append(f"{where}: {ours}, recorded {recorded}")
        elif ours.size:
            difference = float(np.abs(np.asarray(ours, np.float64) - recorded).max())
            self.greatest[kind] = max(self.greatest.get(kind, 0.0), difference)

    def _message(self, where: str, kind: str, ours: object, recorded: object) -> None:
        if type(ours) is not type(recorded):
            self.faults.append(f"{where}: a {type(ours).__name__}, recorded {type(recorded).__name__}")
            return
        left, right = ours.ListFields(), recorded.ListFields()
        if [field.name for field, _ in left] != [field.name for field, _ in right]:
            self.faults.append(f"{where}: {ours!r}, recorded {recorded!r}"[:600])
            return
        for (field, one), (_, other) in zip(left, right, strict=True):
            name = f"{where}.{field.name}"
            repeated = hasattr(one, "__len__") and not isinstance(one, str | bytes)
            ones, others = (list(one), list(other)) if repeated else ([one], [other])
            if len(ones) != len(others):
                self.faults.append(f"{name}: {len(ones)} elements, recorded {len(others)}")
            elif field.message_type is not None:
                for i, (a, b) in enumerate(zip(ones, others, strict=True)):
                    self._message(f"{name}[{i}]" if repeated else name, kind, a, b)
            elif field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
                self._numbers(name, kind, np.array(ones), np.array(others))
            elif ones != others:
                self.faults.append(f"{name}: {ones}, recorded {others}")


# --- graphs -------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def carried():
    """Run a graph with packets in the order of their timestamps; return what the watched streams carried.

    After each timestamp the bounds of all inputs are beyond it, and the graph is idle.
    """
    return _carried


def _carried(graph: CalculatorGraph, feeds: dict, sides: dict, watch: list[str]) -> dict[str, list]:
    seen: dict[str, list] = {name: [] for name in watch}
    for name in watch:
        graph.observe_output_stream(
            name, lambda stream, packet: seen[stream].append((int(packet.timestamp), packet.payload))
        )
    graph.start_run(sides)
    at: dict[int, dict] = {}
    for name, packets in feeds.items():
        for stamp, payload in packets:
            at.setdefault(stamp, {})[name] = payload
    for stamp in sorted(at):
        for name in feeds:
            if name in at[stamp]:
                graph.add_packet_to_input_stream(name, Packet(at[stamp][name], stamp), timeout=60)
            else:
                graph.set_input_stream_timestamp_bound(name, stamp + 1)
        graph.wait_until_idle(60)
    graph.close(60)
    return {name: sorted(packets, key=lambda packet: packet[0]) for name, packets in seen.items()}


@pytest.fixture(scope="session")
def models() -> Path:
    """Return where MediaPipe's models are."""
    pytest.importorskip("ai_edge_litert", reason='no ai-edge-litert: pip install "penstock-tensors[litert]"')
    named = os.environ.get("PENSTOCK_MEDIAPIPE_MODELS")
    if not named:
        pytest.skip("PENSTOCK_MEDIAPIPE_MODELS does not name the wheel of mediapipe==0.10.21")
    return Path(named)


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Return the folder of the pictures that the runs were recorded from."""
    if not (RECORDED_RUNS / "hands_two.png").is_file():
        pytest.skip("the pictures are not here: there is no ../shared/cases/door")
    return RECORDED_RUNS


@pytest.fixture(scope="session")
def graph_file(models, tmp_path_factory):
    """Return a function: the name of a graph in the records → the path of the shipped file."""
    folder = tmp_path_factory.mktemp("graphs")

    def find(name: str) -> Path:
        file = f"{FILES[name]}.binarypb"
        if models.is_dir():
            return next(models.rglob(file))
        with zipfile.ZipFile(models) as wheel:
            member = next(one for one in wheel.namelist() if one.endswith(f"/{file}"))
            (folder / file).write_bytes(wheel.read(member))
        return folder / file

    return find


@pytest.fixture
def differences() -> Differences:
    return Differences()


@pytest.fixture
def run(request) -> Run:
    return run_named(request.param)


def kinds() -> list[str]:
    """Return the calculators that the records hold nodes of, those of the standard packs left out."""
    text = "".join(path.read_text() for path in sorted(RECORDED_RUNS.glob("expanded/*.pbtxt")))
    found = set(re.findall(r'^  calculator: "(\w+)"', text, re.MULTILINE))
    catalog = json.loads((Path(penstock.__file__).parent / "plugins" / "catalog.json").read_text())
    return sorted(kind for kind in found if catalog["calculator"].get(kind) != "penstock-calculators")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Take each recorded run, and each kind of calculator that one of them has."""
    for name, indirect, found in (("run", True, recorded_names()), ("kind", False, kinds())):
        if name in metafunc.fixturenames:
            absent = pytest.mark.skip(reason="the records are not here: there is no ../shared/cases/door")
            metafunc.parametrize(name, found or [pytest.param("none", marks=absent)], indirect=indirect)


@pytest.fixture
def hands() -> Run:
    """Return a recorded run with two hands."""
    if "hands_two" not in recorded_names():
        pytest.skip("the records are not here: there is no ../shared/cases/door")
    return run_named("hands_two")


@pytest.fixture(scope="session")
def every_run() -> list[Run]:
    return [run_named(name) for name in recorded_names()]
