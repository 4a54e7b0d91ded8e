"""What a graph may touch: `Access`, contracts that declare it, and checks at load and at the call."""

from __future__ import annotations

import concurrent.futures
import os
import pickle
import socket

import pytest

import penstock
from penstock.access import (
    ACCESS,
    EVERYTHING,
    Access,
    Searched,
    SearchedPort,
    current,
    is_address,
    override,
    redacted,
)
from penstock.errors import (
    AlreadyExistsError,
    GraphConfigError,
    GraphRunError,
    InvalidArgumentError,
    PermissionDeniedError,
    StatusCode,
)
from penstock.shown import shown as shown_payload
from penstock.touches import touches
from penstock_testing import testing_registry


@pytest.fixture
def folder(tmp_path):
    """Return a folder `open` with a file, beside a folder `closed` with a secret."""
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text(name)
    return tmp_path


@pytest.fixture
def access(folder):
    return Access(reads=[folder / "open"], writes=[folder / "open"])


def test_everything_is_allowed_by_default(folder):
    with EVERYTHING.open(folder / "closed" / "file.txt") as file:
        assert file.read() == b"closed"
    assert EVERYTHING.writing("relative.txt").name == "relative.txt"
    assert EVERYTHING.connecting("http://10.0.0.1/") == "http://10.0.0.1/"
    assert EVERYTHING.using("devices", "camera 0") == "camera 0"
    assert not any(EVERYTHING.is_limited(kind) for kind in ("reads", "writes", "connects", "devices", "runs"))


def test_files_below_a_listed_folder_are_opened_and_no_others(access, folder):
    with access.open(folder / "open" / "file.txt") as file:
        assert file.read() == b"open"
    assert access.reading(folder / "closed" / ".." / "open" / "file.txt") == folder / "open" / "file.txt"
    refused = r"this graph may not read '.*closed.*'; allowed: only '.*open'; --allow-read DIR"
    for path in (folder / "closed" / "file.txt", folder / "open" / ".." / "closed" / "file.txt"):
        with pytest.raises(PermissionDeniedError, match=refused) as caught:
            access.open(path)
        assert caught.value.code is StatusCode.PERMISSION_DENIED
    with pytest.raises(PermissionDeniedError):
        access.reading(f"{folder}/open-too/file.txt")  # not below "open"
    with pytest.raises(PermissionDeniedError, match="may not write"):
        access.writing(folder / "closed" / "new.txt")
    assert access.writing(folder / "open" / "new.txt") == folder / "open" / "new.txt"


def test_links_are_followed_before_the_check(access, folder):
    (folder / "open" / "out").symlink_to(folder / "closed" / "file.txt")
    (folder / "open" / "dir").symlink_to(folder / "closed")
    (folder / "closed" / "in").symlink_to(folder / "open" / "file.txt")
    for path in ("out", "dir/file.txt"):
        with pytest.raises(PermissionDeniedError):
            access.open(folder / "open" / path)
        with pytest.raises(PermissionDeniedError):
            access.writing(folder / "open" / path)
    with access.open(folder / "closed" / "in") as file:
        assert file.read() == b"open"


@pytest.mark.parametrize(
    ("changed", "refused"),
    [("sub/file.txt", OSError), ("sub", PermissionDeniedError)],
    ids=["file", "folder"],
)
def test_a_link_that_changes_between_check_and_opening_is_refused(
    access, folder, monkeypatch, changed, refused
):
    for name in ("open", "closed"):
        (folder / name / "sub").mkdir()
        (folder / name / "sub" / "file.txt").write_text(name)
    checked = access.reading

    def change(given):
        found = checked(given)
        (folder / "open" / changed).rename(folder / "open" / "before")
        (folder / "open" / changed).symlink_to(folder / "closed" / changed)
        return found

    monkeypatch.setattr(access, "reading", change)
    with pytest.raises(refused, match=r"file\.txt"):
        access.open(folder / "open" / "sub" / "file.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_what_is_no_plain_file_is_refused_and_holds_nobody(access, folder):
    os.mkfifo(folder / "open" / "fifo")
    server = socket.socket(socket.AF_UNIX)
    with server:
        server.bind(str(folder / "open" / "socket"))
        for name in ("fifo", "socket", "."):
            with pytest.raises(PermissionDeniedError):
                access.open(folder / "open" / name)
    wide = Access(reads=["/"])
    for path in ("/dev/zero", "/proc/self"):
        with pytest.raises(PermissionDeniedError):
            wide.open(path)


def test_an_existing_file_is_replaced_only_where_that_is_allowed(folder):
    path = folder / "open" / "file.txt"
    for access in (Access(overwrites=False), Access(writes=[folder], overwrites=False)):
        with pytest.raises(AlreadyExistsError, match=r"the file '.*file.txt' exists; .*--force"):
            access.writing(path)
        assert access.writing(folder / "open" / "new.txt")
    assert Access(writes=[folder]).writing(path) == path
    assert Access(overwrites=False).writing(os.devnull)


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("10.0.0.5:9092", True),
        ("10.0.0.5:9093", False),
        ("camera.local:8554", True),
        ("rtsp://camera.local/stream", True),
        ("rtsp://user:secret@camera.local:99/stream", True),
        ("rtsp://camera.local@evil.com/stream", False),
        ("rtsp://camera.local.evil.com/", False),
        ("http://site.org/a.mp4", True),
        ("http://site.org:81/a.mp4", False),
        ("https://site.org/a.mp4", False),
        ("HTTP://SITE.ORG/a.mp4", True),
        ("http://[::1]:80/", True),
        ("http://[::1].evil/", False),
        ("http:///etc/passwd", False),
        ("concat:camera.local|/etc/passwd", False),
        ("subfile,,start,0,end,100,,:/etc/passwd", False),
        ("data:text/plain,x", False),
        ("file:/etc/passwd", False),
        ("", False),
    ],
)
def test_addresses_are_compared_by_host_and_port(address, is_allowed):
    access = Access(connects=["10.0.0.5:9092", "camera.local", "site.org:80", "[::1]:80"])
    if is_allowed:
        assert access.connecting(address) == address
    else:
        with pytest.raises(PermissionDeniedError, match="may not connect to"):
            access.connecting(address)


def test_a_medium_is_a_file_or_an_address(access, folder):
    assert access.medium(str(folder / "open" / "file.txt")) == str(folder / "open" / "file.txt")
    with pytest.raises(PermissionDeniedError, match="may not read"):
        access.medium("/etc/passwd")
    limited = Access(reads=["/"], connects=[])
    for name in ("http://10.0.0.1/x", "udp:1", "concat:/etc/passwd"):
        assert is_address(name)
        with pytest.raises(PermissionDeniedError, match="may not connect to"):
            limited.medium(name)
    assert not is_address(r"C:\video.mp4")


def test_devices_and_programs_are_compared_by_name():
    access = Access(devices=["camera 0"], runs=())
    assert access.using("devices", "camera 0") == "camera 0"
    with pytest.raises(
        PermissionDeniedError, match=r"may not use the device 'camera 1'.*--allow-device NAME"
    ):
        access.using("devices", "camera 1")
    with pytest.raises(PermissionDeniedError, match="may not run 'sh'; allowed: none"):
        access.using("runs", "sh")


def test_a_str_in_place_of_a_list_is_refused():
    with pytest.raises(InvalidArgumentError, match="reads of the access is the str '/data'; give a list"):
        Access(reads="/data")


def test_an_access_can_go_to_another_process(access, folder):
    copy = pickle.loads(pickle.dumps(access))  # noqa: S301  # just made
    assert repr(copy) == repr(access)
    with pytest.raises(PermissionDeniedError):
        copy.open(folder / "closed" / "file.txt")


# --- graphs ----------------------------------------------------------------------------------------


class ReadsCalculator(penstock.Calculator):
    """Reads the file that its side packet, or its input, names."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(str)
        cc.outputs[0].set(bytes)
        cc.input_side_packets["PATH"].set(str).optional()
        cc.input_side_packets["NAME"].set(str).optional()
        name = SearchedPort(cc.input_side_packets["NAME"])
        cc.declare(reads=[Searched("model.tflite"), cc.input_side_packets["PATH"], cc.inputs[0], "", name])

    def process(self, cc):
        with cc.service(ACCESS).open(cc.input.payload) as file:
            cc.output.add(file.read(), cc.input_timestamp)


class FixedCalculator(penstock.Calculator):
    """Has in its options what it touches."""

    said: dict[str, list[str]] = {}  # noqa: RUF012  # a test sets it

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.declare(**cls.said)

    def process(self, cc):
        pass


@pytest.fixture
def registry():
    return testing_registry(ReadsCalculator, FixedCalculator)


READS = """input_stream: "in" output_stream: "out" input_side_packet: "path"
node { calculator: "ReadsCalculator" name: "r" input_stream: "in" output_stream: "out"
       input_side_packet: "PATH:path" }"""
FIXED = """input_stream: "in" node { calculator: "FixedCalculator" name: "f" input_stream: "in" }"""


def test_a_graph_tells_what_its_nodes_touch(registry):
    touches = penstock.CalculatorGraph(READS, registry=registry).access()["r"]
    assert [str(touch) for touch in touches] == [
        "read 'model.tflite'",
        "read the file that side packet PATH names",
        "read the file that input 0 names",
    ]
    unconnected = READS.replace('input_side_packet: "PATH:path"', "").replace('input_side_packet: "path"', "")
    assert len(penstock.CalculatorGraph(unconnected, registry=registry).access()["r"]) == 2
    searched = READS.replace("PATH:path", "NAME:path")
    found = penstock.CalculatorGraph(searched, registry=registry).access()["r"]
    assert [(touch.source, touch.is_searched) for touch in found] == [
        ("options", True), ("input 0", False), ("side packet NAME", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"reads": ["/etc/passwd"]}, "may not read '/etc/passwd'"),
        ({"reads": [Searched("/etc/passwd")]}, "may not read '/etc/passwd'"),
        ({"writes": ["/data/x.mcap"]}, "may not write '/data/x.mcap'"),
        ({"connects": ["127.0.0.1:9092"]}, "may not connect to '127.0.0.1:9092'"),
        ({"devices": ["camera 3"]}, "may not use the device 'camera 3'"),
        ({"runs": ["sh"]}, "may not run 'sh'"),
    ],
)
def test_what_the_file_says_is_a_fault_with_its_place_when_the_graph_is_loaded(
    registry, monkeypatch, said, fault
):
    monkeypatch.setattr(FixedCalculator, "said", said)
    nothing = Access(reads=(), writes=(), connects=(), devices=(), runs=())
    with pytest.raises(
        GraphConfigError, match=rf"line 1, column 20: node 'f' \(FixedCalculator\): .*{fault}"
    ) as caught:
        penstock.CalculatorGraph(FIXED, registry=registry, access=nothing)
    assert caught.value.faults[0].code is StatusCode.PERMISSION_DENIED
    assert penstock.CalculatorGraph(FIXED, registry=registry).access()["f"]


def test_what_comes_later_is_an_error_of_the_node_at_the_call(registry, access, folder):
    graph = penstock.CalculatorGraph(READS, {"path": "unused"}, registry, access=access)
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload))
    failed = r"node 'r' \(ReadsCalculator\): process\(\) failed at 1: .*may not read '/etc/passwd'"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        graph.set_executor("", pool)
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(str(folder / "open" / "file.txt"), 0))
        graph.wait_until_idle(30)
        graph.add_packet_to_input_stream("in", penstock.Packet("/etc/passwd", 1))
        with pytest.raises(GraphRunError, match=failed) as caught:
            graph.wait_until_idle(30)
    assert out == [b"open"]
    assert caught.value.code is StatusCode.PERMISSION_DENIED


def test_a_block_gives_its_graphs_an_access(registry, access):
    with override(access):
        assert current() is access
        graph = penstock.CalculatorGraph(READS, registry=registry)
        own = penstock.CalculatorGraph(READS, registry=registry, access=EVERYTHING)
    assert current() is EVERYTHING
    assert graph.get_service(ACCESS) is access
    assert own.get_service(ACCESS) is EVERYTHING


@pytest.mark.parametrize("said", [{"reads": "/etc"}, {"reads": [3]}])
def test_what_is_no_list_of_names_and_ports_is_a_fault(registry, monkeypatch, said):
    monkeypatch.setattr(FixedCalculator, "said", said)
    with pytest.raises(
        GraphConfigError,
        match=r"reads is the str '/etc'|reads: what is touched, 3, is neither a str nor a port",
    ):
        penstock.CalculatorGraph(FIXED, registry=registry)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rtsp://ann:pw@10.0.0.5:554/cam", "rtsp://ann:***@10.0.0.5:554/cam"),
        ("rtsp://ann:p@w:2@10.0.0.5/cam", "rtsp://ann:***@10.0.0.5/cam"),
        ("rtsp://ann:p/w?@10.0.0.5/cam", "rtsp://ann:***@10.0.0.5/cam"),
        ("http://sometoken@host/x", "http://***@host/x"),
        ("http://host/x?access_token=abc&b=2", "http://host/x?access_token=***&b=2"),
        ("http://host/x?b=2&Password=a%20c", "http://host/x?b=2&Password=***"),
        ("srt://host:9?passphrase=abc", "srt://host:9?passphrase=***"),
        ("'rtsp://a:b@c/d' and \"http://e:f@g\"", "'rtsp://a:***@c/d' and \"http://e:***@g\""),
        ("http://host:80/a@b", "http://host:80/a@b"),
        ("rtsp://[::1]:554/cam", "rtsp://[::1]:554/cam"),
        ("http://host/x?keyframe=1&monkey=2", "http://host/x?keyframe=1&monkey=2"),
        ("clip.mp4", "clip.mp4"),
    ],
)
def test_passwords_are_left_out_of_addresses(text, shown) -> None:
    assert redacted(text) == shown


def test_no_error_and_no_list_of_what_is_touched_has_a_password() -> None:
    with pytest.raises(PermissionDeniedError) as refused:
        Access(connects=["10.0.0.9"]).connecting("rtsp://ann:geheim@10.0.0.5/cam")
    (touch,) = touches("connects", ["rtsp://ann:geheim@10.0.0.5/cam"], ())

    assert "rtsp://ann:***@10.0.0.5/cam" in str(refused.value)
    assert "geheim" not in str(refused.value)
    assert touch.what == "rtsp://ann:***@10.0.0.5/cam"
    assert Access(connects=["10.0.0.5"]).refused(touch) is None
    assert "geheim" not in shown_payload(["rtsp://ann:geheim@10.0.0.5/cam"])
