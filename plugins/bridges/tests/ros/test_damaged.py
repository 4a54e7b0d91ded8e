"""Bags that are cut, damaged, or made to harm: an error that says so, within limits, and no file left "
"open."""

from __future__ import annotations

import gc
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bags import START, frame, payloads, read, sink, source, write
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import penstock
from penstock.access import Access
from penstock.errors import (
    AlreadyExistsError,
    GraphConfigError,
    GraphRunError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
)
from penstock_formats import ImageFormat, ImageFrame
from penstock_ros.client.bag_reader import check_names
from penstock_ros.client.from_ros import payload_of, stamp_us

pytestmark = pytest.mark.heavy

SOME = {"imu": payloads()["imu"], "cloud": payloads()["cloud"], "frame": frame(ImageFormat.SRGB)}
TOPICS = " ".join(f"/{name}" for name in SOME)


def files():
    """Return how many files are open."""
    gc.collect()  # errors hold what raised them
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0  # noqa: PTH208  # names


def cause(error):
    return error.value.errors[0].__cause__


def error_of(path, more="", topics=TOPICS):
    """Return the error of a run that reads a bag; None where it reads all."""
    try:
        read(path, topics, more)
    except GraphRunError as error:
        return error
    return None


@pytest.fixture
def whole(path):
    """Return a bag of some messages, and the file that holds them."""
    write(path, {name: [(START + n * 1000, one) for n in range(20)] for name, one in SOME.items()})
    return path, path if path.is_file() else next(path.glob("*.db3"))


def test_a_bag_that_is_cut_anywhere_ends_in_an_error_or_in_what_is_left(whole):
    path, file = whole
    data = file.read_bytes()
    before = files()
    failed = 0
    for part in np.linspace(0, len(data) - 1, 10).astype(int):
        file.write_bytes(data[:part])
        error = error_of(path)
        if error is not None:
            failed += 1
            assert isinstance(error.errors[0].__cause__, InvalidArgumentError), error
            assert re.search("cannot be read as a bag|is damaged|no topic", str(error))
    assert failed >= 8
    assert files() <= before


def test_a_bag_with_wrong_bytes_ends_in_an_error_or_is_read(whole):
    path, file = whole
    data = file.read_bytes()
    numbers = random.Random(3)  # noqa: S311  # repeatable
    before = files()
    for _ in range(12):
        wrong = bytearray(data)
        for _ in range(numbers.choice((1, 4, 60))):
            wrong[numbers.randrange(len(wrong))] = numbers.randrange(256)
        file.write_bytes(wrong)
        error = error_of(path, "max_message_bytes: 1000000")
        kinds = (InvalidArgumentError, ResourceExhaustedError)
        assert error is None or isinstance(error.errors[0].__cause__, kinds), error
    assert files() <= before


@pytest.mark.parametrize("name", ["a.bag", "a.mcap", "a.db3", "a.txt"])
def test_a_file_that_is_no_bag_says_so(tmp_path, name):
    (tmp_path / name).write_bytes(b"hello, this is no bag at all" * 40)
    with pytest.raises(GraphRunError, match=rf"{name} cannot be read as a bag: ") as caught:
        read(tmp_path / name, "/a")
    assert isinstance(cause(caught), InvalidArgumentError)


def test_what_does_not_exist_says_so(tmp_path):
    with pytest.raises(GraphRunError, match=r"the ROS source's bag '.*gone\.bag' does not exist"):
        read(tmp_path / "gone.bag", "/a")
    (tmp_path / "folder").mkdir()
    with pytest.raises(GraphRunError, match=r"metadata"):
        read(tmp_path / "folder", "/a")
    write(tmp_path / "a.bag", {"imu": [(START, 1)], "odom": [(START, 1)]})
    with pytest.raises(
        GraphRunError, match=r"has no topic '/imy' \(did you mean '/imu'\?\); it has /imu, /odom"
    ):
        read(tmp_path / "a.bag", "/imy")


def test_a_message_or_chunk_above_the_limit_is_refused(path):
    write(path, {"a": [(START, ImageFrame(np.zeros((100, 100), np.uint8)))]})
    with pytest.raises(
        GraphRunError,
        match=r"(message of 10[0-9]+ bytes, more than the limit|a chunk is larger)",
    ) as caught:
        read(path, "/a", "max_message_bytes: 2000")
    assert isinstance(cause(caught), ResourceExhaustedError)


@pytest.mark.parametrize("way", ["BZ2", "LZ4"])
def test_a_chunk_that_unpacks_to_much_is_refused_before_it_does(tmp_path, way):
    types = get_typestore(Stores.ROS1_NOETIC)
    kind = "std_msgs/msg/String"
    with Writer1(tmp_path / "a.bag") as writer:
        writer.bio, bio = None, writer.bio
        writer.set_compression(Writer1.CompressionFormat[way])
        writer.bio = bio
        connection = writer.add_connection("/a", kind, typestore=types)
        writer.write(
            connection, START * 1000, types.serialize_ros1(types.types[kind](data=" " * 20_000_000), kind)
        )
    assert (tmp_path / "a.bag").stat().st_size < 200_000
    with pytest.raises(
        GraphRunError, match="cannot read the ROS bag: a chunk is larger than 4000000 bytes"
    ) as caught:
        read(tmp_path / "a.bag", "/a", "max_message_bytes: 1000000")
    assert isinstance(cause(caught), ResourceExhaustedError)


@pytest.mark.parametrize("storage", list(StoragePlugin))
def test_a_definition_runs_no_code(tmp_path, monkeypatch, storage):
    """rosbags writes the name of a type into a line of Python, `class NAME:`."""
    monkeypatch.chdir(tmp_path)
    kind = "evil/msg/A(__import__('os').mkdir('mark'))"
    with Writer(tmp_path / "b", version=9, storage_plugin=storage) as writer:
        rihs01 = "RIHS01_" + "0" * 64
        connection = writer.add_connection("/a", kind, msgdef="int64 data\n", rihs01=rihs01)
        writer.write(connection, START * 1000, b"\x00\x01\x00\x00" + bytes(8))
    with pytest.raises(GraphRunError, match="cannot be read as a bag") as caught:
        read(tmp_path / "b", "/a")
    assert isinstance(cause(caught), InvalidArgumentError)
    assert not (tmp_path / "mark").exists()


def test_names_of_definitions_are_checked():
    base = (1, ("int64", 0))
    check_names({"a/msg/B": ([("C", "int64", 5)], [("data", base)])})
    for types in (
        {"a/msg/B'": ([], [("data", base)])},
        {"a/msg/B": ([("C", "int64=1\nX", 5)], [])},
        {"a/msg/B": ([("C\n", "int64", 5)], [])},
        {"a/msg/B": ([], [("da ta", base)])},
        {"a/msg/B": ([], [("data", (2, "c/msg/D:\n"))])},
        {"a/msg/B": ([], [("data", (4, ((2, "c/msg/D()"), 0)))])},
    ):
        with pytest.raises(InvalidArgumentError, match="which is none"):
            check_names(types)


# --- what a graph may touch -----------------------------------------------------------------------


def test_a_sandbox_reads_only_what_is_allowed(path):
    write(path, {"a": [(START, 1)]})
    text = source(path, "s0", "/a")
    with pytest.raises(GraphConfigError, match="may not read"):
        penstock.CalculatorGraph(text, access=Access(reads=()))
    graph = penstock.CalculatorGraph(text, access=Access(reads=[path]))
    graph.run(timeout=30)
    side = 'input_side_packet: "p" ' + source("", "s0", "/a").replace('path: "" ', "").replace(
        "node_options", 'input_side_packet: "PATH:p" node_options', 1
    )
    with pytest.raises(GraphRunError, match="may not read"):
        penstock.CalculatorGraph(side, access=Access(reads=())).run({"p": str(path)}, timeout=30)


def test_a_file_of_a_folder_that_leads_elsewhere_is_refused(tmp_path):
    path = tmp_path / "in" / "b"
    path.parent.mkdir()
    write(path, {"a": [(START, 1)]})
    shutil.move(path / "b.db3", tmp_path / "elsewhere.db3")
    (path / "b.db3").symlink_to(tmp_path / "elsewhere.db3")
    read(path, "/a")
    with pytest.raises(GraphRunError, match="may not read"):
        penstock.CalculatorGraph(source(path, "s0", "/a"), access=Access(reads=[tmp_path / "in"])).run(
            timeout=30
        )


def test_a_sandbox_writes_only_where_it_may_and_replaces_nothing(path, tmp_path):
    text = sink(path, ["a"])
    with pytest.raises(GraphConfigError, match="may not write"):
        penstock.CalculatorGraph(text, access=Access(writes=()))
    allowed = penstock.CalculatorGraph(text, access=Access(writes=[tmp_path]))
    with allowed as graph:
        graph.start_run()
        graph.add_packet_to_input_stream("a", penstock.Packet(5, START))
        graph.close_all_input_streams()
        graph.wait_until_done(30)
    assert read(path, "/a")[0] == [[(START, 5)]]
    graph = penstock.CalculatorGraph(text, access=Access(overwrites=False))
    graph.start_run()
    graph.close_all_input_streams()
    with pytest.raises(GraphRunError, match="exists"):
        graph.wait_until_done(30)


# --- writing ------------------------------------------------------------------------------------


def test_a_folder_is_never_replaced_and_a_file_is(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(
        GraphRunError, match=r"cannot write the ROS bag '.*folder': it exists; name another one"
    ) as caught:
        write(tmp_path / "folder", {"a": [(START, 1)]})
    assert isinstance(cause(caught), AlreadyExistsError)
    for number in (1, 2):
        write(tmp_path / "a.bag", {"a": [(START, number)]})
    assert read(tmp_path / "a.bag", "/a")[0] == [[(START, 2)]]


def test_another_ending_is_told(tmp_path):
    with pytest.raises(
        GraphRunError, match=r"ends in '\.rosbag'; the ending must be \.bag \(ROS 1\), \.mcap, \.db3, or none"
    ):
        write(tmp_path / "a.rosbag", {"a": [(START, 1)]})


def test_a_run_that_is_cancelled_leaves_a_whole_bag(path):
    with penstock.CalculatorGraph(sink(path, ["a"])) as graph:
        graph.start_run()
        for n in range(50):
            graph.add_packet_to_input_stream("a", penstock.Packet(n, START + n))
        graph.wait_until_idle(30)
        graph.cancel()
        with pytest.raises(GraphRunError):
            graph.wait_until_done(30)
    with AnyReader([path]) as reader:
        assert len(list(reader.messages())) == 50
    assert [one.name for one in path.parent.iterdir()] == [path.name]


FULL = """
import resource, signal, sys
import penstock
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
import numpy as np
from penstock_formats import ImageFrame
try:
    with penstock.CalculatorGraph(sys.argv[1]) as graph:
        graph.start_run()
        for n in range(60):
            pixels = np.random.default_rng(n).integers(0, 255, (100, 100), np.uint8)
            graph.add_packet_to_input_stream("a", penstock.Packet(ImageFrame(pixels), n))
        graph.close_all_input_streams()
        graph.wait_until_done(30)
except penstock.errors.PenstockError as error:
    print(error)
    for one in getattr(error, "errors", ()):
        print(type(one.__cause__).__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
@pytest.mark.parametrize(
    ("name", "most"), [("a.bag", 200_000), ("a.db3", 200_000), ("a.bag", 20)]
)  # 20: not even the beginning of a file
def test_a_disk_that_is_full_is_told_and_nothing_is_left(name, most, tmp_path):
    path = tmp_path / name
    done = subprocess.run(
        [sys.executable, "-c", FULL, sink(path, ["a"]), str(most)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert UnavailableError.__name__ in done.stdout, done.stdout + done.stderr
    assert f"cannot write the ROS bag {str(path)!r}" in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_bag_whose_own_types_have_other_fields_is_told(tmp_path):
    path = tmp_path / "a.bag"
    write(path, {"words": [(START, "hello")]})
    data = path.read_bytes()
    assert data.count(b"string data") == 2  # where the chunk is, and in the index at the end
    path.write_bytes(data.replace(b"string data", b"string dxta"))

    said = str(error_of(path, topics="/words"))

    assert "topic /words at" in said
    assert (
        "the fields of a message from ROS do not fit its type std_msgs/msg/String: 'std_msgs__msg__String' "
        "object has no" in said
    )


def test_transforms_without_headers_have_the_time_of_the_log():
    kind = "tf2_msgs/msg/TFMessage"
    assert stamp_us(SimpleNamespace(__msgtype__=kind, transforms=[object()])) is None
    with pytest.raises(
        InvalidArgumentError, match=f"the fields of a message from ROS do not fit its type {kind}: "
    ):
        payload_of(SimpleNamespace(__msgtype__=kind, transforms=[object()]))
