"""Files that are made to cost time or memory, or to raise what is no error of ours: each ends soon, typed."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import zstandard

import penstock
from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError
from penstock_record import RecordingReader, recording_graph, replay_graph
from penstock_record.codec import Schema
from penstock_record.codecs import ArrayCodec, JsonCodec, ValueCodec
from penstock_record.repair import repair

pytestmark = pytest.mark.heavy

PASSING = """input_stream: "in" output_stream: "out"
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""
MAGIC = b"\x89MCAP0\r\n"
#: Far above what each takes here (0.1 to 1.5 s).
SOON_S = 20.0


def record(kind, data):
    return bytes([kind]) + struct.pack("<Q", len(data)) + data


def chunk(size, data, compression=b"zstd"):
    head = struct.pack("<QQQI", 0, 1, size, 0) + struct.pack("<I", len(compression)) + compression
    return record(6, head + struct.pack("<Q", len(data)) + data)


@pytest.fixture(scope="module")
def beginning(tmp_path_factory):
    """Return the bytes of a recording before its first chunk."""
    path = tmp_path_factory.mktemp("whole") / "r.mcap"
    with penstock.CalculatorGraph(recording_graph(PASSING, path, ["in"])) as graph:
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))
        graph.close_all_input_streams()
        graph.wait_until_done(30)
    whole, at = path.read_bytes(), len(MAGIC)
    while whole[at] != 6:
        at += 9 + struct.unpack_from("<Q", whole, at + 1)[0]
    return whole[:at]


def zeros(size, *, tells_size=True):
    packer = zstandard.ZstdCompressor(level=1, write_content_size=tells_size)
    if tells_size:
        return packer.compress(bytes(size))
    target = io.BytesIO()
    with packer.stream_writer(target, closefd=False) as writer:
        for _ in range(size // 100_000_000):
            writer.write(bytes(100_000_000))
    return target.getvalue()


CASES = {
    "a bomb of 2 GB": (lambda: chunk(2_000_000_000, zeros(2_000_000_000)), ResourceExhaustedError),
    "a bomb of 3 GB that claims 100 bytes": (
        lambda: chunk(100, zeros(3_000_000_000, tells_size=False)),
        InvalidArgumentError,
    ),
    "a chunk that claims 2^63 bytes": (lambda: chunk(2**63, zeros(1)), ResourceExhaustedError),
    "a broken frame of lz4": (lambda: chunk(100, b'\x04"M\x18', b"lz4"), InvalidArgumentError),
    "a record of 2^63 bytes": (lambda: b"\x06" + struct.pack("<Q", 2**63) + b"x", InvalidArgumentError),
    "3,000,000 empty records": (lambda: record(0x80, b"") * 3_000_000, ResourceExhaustedError),
    "800,000 schemas": (
        lambda: b"".join(
            record(3, struct.pack("<H", n % 65535 + 1) + struct.pack("<III", 0, 0, 0)) for n in range(800_000)
        ),
        ResourceExhaustedError,
    ),
    "200,000 empty chunks": (lambda: chunk(0, b"", b"") * 200_000, InvalidArgumentError),
}


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_file_is_refused_soon_and_repaired_as_far_as_it_goes(beginning, tmp_path, case):
    make, error = CASES[case]
    path = tmp_path / "hostile.mcap"
    path.write_bytes(beginning + make())
    begin = time.monotonic()

    with pytest.raises(error, match=r"hostile\.mcap"), RecordingReader(path) as reader:
        list(reader.events())
    with pytest.raises(PenstockError):
        penstock.CalculatorGraph(replay_graph(PASSING, path)).run(timeout=SOON_S)
    repair(path, tmp_path / "repaired.mcap")

    assert time.monotonic() - begin < SOON_S
    with RecordingReader(tmp_path / "repaired.mcap") as reader:
        assert not [event for event in reader.events() if event.payload is not None]


def test_the_memory_of_a_bomb_is_not_taken(beginning, tmp_path):
    path = tmp_path / "hostile.mcap"
    path.write_bytes(beginning + chunk(2_000_000_000, zeros(2_000_000_000)))
    code = """
        import resource, sys
        from penstock.errors import ResourceExhaustedError
        from penstock_record import RecordingReader
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            list(RecordingReader(sys.argv[1]).events())
        except ResourceExhaustedError as error:
            print(error)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    said, mib = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "a chunk of 2000000000 bytes, above 1073741824" in said
    assert int(mib) < 50


def npy(shape, kind="'<f8'"):
    head = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (ArrayCodec(), npy("(99999999999,)")),
        (ArrayCodec(), npy("(10**0*1000000000000,)")),
        (ArrayCodec(), npy("(-5,)")),
        (ArrayCodec(), npy("(1,)", "'|O'") + b"cos\nsystem\n"),
        (ArrayCodec(), npy("(" + "1," * 5000 + ")")),
        (ArrayCodec(), npy("()", "'" + "(" * 3000 + "'")),
        (ArrayCodec(), b"\x93NUMPY\x09\x00"),
        (JsonCodec(), b"[" * 200_000),
        (JsonCodec(), b"9" * 10_000),
        (ValueCodec(), b"\xdd\xff\xff\xff\xff"),
        (ValueCodec(), b"\x91" * 100_000 + b"\x01"),
        (ValueCodec(), b"\xdf\xff\xff\xff\xff"),
    ],
)
def test_a_payload_that_claims_too_much_is_refused(codec, data):
    with pytest.raises(InvalidArgumentError, match="these bytes are no"):
        codec.decode(data, Schema("", "penstock.Json", "", b""))


def test_arrays_of_every_version_of_the_format_are_read():
    for array in (np.arange(12.0).reshape(3, 4), np.zeros(0, np.int8), np.zeros(2, [("größe", "<f4")])):
        payload = ArrayCodec().encode(array)
        got = ArrayCodec().decode(payload, Schema("", "", "", b""))
        assert got.dtype == array.dtype
        assert got.tobytes() == array.tobytes()
