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
from penstock_formats import ImageFormat, ImageFrame
from penstock_record import RecordingReader, lossless, lossy, recording_graph, replay_graph
from penstock_record.codec import Schema
from penstock_record.foxglove import compressed
from penstock_record.payload_codecs import ArrayCodec, JsonCodec, ValueCodec
from penstock_record.pictures import PictureDecoder, decode_packed
from penstock_record.repair import repair

pytestmark = pytest.mark.heavy

PASSING = """input_stream: "in" output_stream: "out"
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""
MAGIC = b"\x89MCAP0\r\n"
#: Far above what each takes here (0.1 to 1.5 s).
#: Of processor time.
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
    begin = time.process_time()

    with pytest.raises(error, match=r"hostile\.mcap"), RecordingReader(path) as reader:
        list(reader.events())
    with pytest.raises(PenstockError):
        penstock.CalculatorGraph(replay_graph(PASSING, path)).run(timeout=4 * SOON_S)
    repair(path, tmp_path / "repaired.mcap")

    assert time.process_time() - begin < SOON_S
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
    assert "a chunk of records of 2000000000 bytes, above 1073741824" in said
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
    with pytest.raises(InvalidArgumentError, match=r"bytes (are|that are) no"):
        codec.decode(data, Schema("", "penstock.Json", "", b""))


def test_arrays_of_every_version_of_the_format_are_read():
    for array in (np.arange(12.0).reshape(3, 4), np.zeros(0, np.int8), np.zeros(2, [("größe", "<f4")])):
        payload = ArrayCodec().encode(array)
        got = ArrayCodec().decode(payload, Schema("", "", "", b""))
        assert got.dtype == array.dtype
        assert got.tobytes() == array.tobytes()


# --- images -----------------------------------------------------------------------------------------


def head(  # noqa: PLR0913, PLR0917  # its fields
    version=1, steps=0, form=ImageFormat.SRGB, width=8, height=4, number=0
):
    return struct.pack("<BBHIII", version, steps, form, width, height, number)


def pixels(size):
    return zstandard.ZstdCompressor().compress(bytes(size))


SMALL = 8 * 4 * 3
PICTURES = {
    "nothing": (b"", InvalidArgumentError, "no lossless image"),
    "half a head": (head()[:9], InvalidArgumentError, "no lossless image"),
    "another version": (head(2) + pixels(SMALL), InvalidArgumentError, "version 2"),
    "unknown steps": (head(steps=64) + pixels(SMALL), InvalidArgumentError, "steps 64"),
    "no format": (head(form=0) + pixels(SMALL), InvalidArgumentError, "UNKNOWN"),
    "an unknown format": (head(form=77) + pixels(SMALL), InvalidArgumentError, "77 is not a valid"),
    "a format of headers": (head(form=5) + pixels(SMALL), InvalidArgumentError, "YCBCR420P"),
    "no pixel": (head(width=0) + pixels(0), InvalidArgumentError, "0x4"),
    "more than there is": (
        head(width=9) + pixels(SMALL),
        InvalidArgumentError,
        "hold 96 bytes, expected 108",
    ),
    "less than there is": (head(width=7) + pixels(SMALL), InvalidArgumentError, "hold 96 bytes, expected 84"),
    "no pixels": (head(), InvalidArgumentError, "no lossless image"),
    "half of the pixels": (head() + pixels(SMALL)[:-3], InvalidArgumentError, "no lossless image"),
    "noise": (head() + b"\x28\xb5\x2f\xfd" * 9, InvalidArgumentError, "no lossless image"),
    "16 gigapixels": (head(width=1 << 17, height=1 << 17), ResourceExhaustedError, "above 268435456"),
    "all pixels that fit into 32 bits": (
        head(width=2**32 - 1, height=2**32 - 1, form=ImageFormat.VEC32F4),
        ResourceExhaustedError,
        "above 268435456",
    ),
    "a reference that is not there": (
        head(steps=8, number=7) + pixels(SMALL),
        InvalidArgumentError,
        "needs that of message 7, which is not there",
    ),
    "a reference without a number": (head(steps=8) + pixels(SMALL), InvalidArgumentError, "reference 0"),
    "a number without a reference": (head(number=7) + pixels(SMALL), InvalidArgumentError, "reference 7"),
    "a table without a reference": (head(steps=16) + pixels(SMALL), InvalidArgumentError, "steps 16"),
    "a reference of floats": (
        head(steps=8, number=7, form=ImageFormat.VEC32F1) + pixels(8 * 4 * 4),
        InvalidArgumentError,
        "steps 8",
    ),
}


@pytest.mark.parametrize("case", PICTURES)
def test_a_packed_image_that_is_broken_or_claims_too_much_is_refused(case):
    data, error, words = PICTURES[case]

    with pytest.raises(error, match=words):
        PictureDecoder().decode("Picture", "in", 1, 0, data)


@pytest.mark.parametrize("at", range(16))
def test_a_head_with_another_byte_is_an_error_of_ours_or_an_image(at):
    frame = np.arange(SMALL, dtype=np.uint8).reshape(4, 8, 3)
    made = bytearray(lossless.packed(frame, ImageFormat.SRGB))
    for value in range(256):
        made[at] = value
        try:
            found = PictureDecoder().decode("Picture", "in", 1, 0, bytes(made))
        except PenstockError:
            continue
        assert found.array.nbytes == SMALL


@pytest.mark.parametrize(
    ("reference", "form"),
    [
        (np.zeros((4, 9, 3), np.uint8), ImageFormat.SRGB),
        (np.zeros((4, 8, 4), np.uint8), ImageFormat.SRGBA),
        (np.zeros((4, 8), np.uint8), ImageFormat.GRAY8),
        (np.zeros((4, 8, 3), np.uint16), ImageFormat.SRGB48),
    ],
)
def test_a_reference_of_another_kind_is_refused(reference, form):
    data = head(steps=8, number=7) + pixels(SMALL)

    with pytest.raises(
        InvalidArgumentError, match="the lossless image that message 7 has does not fit this one"
    ):
        decode_packed(data, lambda number: lossless.Reference(number, reference, form))


def test_an_image_whose_reference_refers_itself_is_refused():
    decoder = PictureDecoder()
    plain = np.zeros((4, 8, 3), np.uint8)
    decoder.decode("Picture", "in", 1, 0, lossless.packed(plain, ImageFormat.SRGB))
    decoder.decode("Picture", "in", 2, 0, head(steps=8, number=1) + pixels(SMALL))

    with pytest.raises(InvalidArgumentError, match="needs that of message 2, which is not there"):
        decoder.decode("Picture", "in", 3, 0, head(steps=8, number=2) + pixels(SMALL))


def test_the_memory_of_references_is_bounded(monkeypatch):
    decoder = PictureDecoder()
    made = lossless.packed(np.zeros((4, 8, 3), np.uint8), ImageFormat.SRGB)
    for number in range(1, 100):
        decoder.decode("Picture", "in", number, 0, made)

    assert decoder._recent.of(99 - 31) is not None
    assert decoder._recent.of(99 - 32) is None


LOSSY = {
    "no message": (b"\xff\xff", "no Foxglove foxglove.Compressed"),
    "nothing": (b"", "the format '', expected"),
    "no size": (("SRGB", b""), "this lossy picture says 'SRGB', expected a format and a size"),
    "another format": (("SRGBA 8x8", b"x"), "this lossy picture says 'SRGBA 8x8'"),
    "no pixel": (("SRGB 0x8", b"x"), "which has no pixel"),
    "an endless number": (("SRGB 8x" + "9" * 5000, b"x"), "expected a format and a size"),
    "too large": (("SRGB 99999x99999", b"x"), "a lossy picture of 99999x99999, above 268435456 bytes"),
    "no picture": (
        ("SRGB 8x8", b"xxxx"),
        "these bytes (are no lossy picture that libav decodes|hold 0 lossy pictures)",
    ),
    "no bytes": (
        ("SRGB 8x8", b""),
        "these bytes (are no lossy picture that libav decodes|hold 0 lossy pictures)",
    ),
}


@pytest.mark.parametrize("is_video", [False, True])
@pytest.mark.parametrize("case", LOSSY)
def test_a_lossy_picture_that_is_none_is_refused(case, is_video):
    pytest.importorskip("av")
    data, words = LOSSY[case]
    made = data if isinstance(data, bytes) else compressed(is_video, *data, 0)

    with pytest.raises(PenstockError, match=words):
        PictureDecoder().decode("CompressedVideo" if is_video else "CompressedImage", "in", 1, 0, made)


@pytest.mark.parametrize("is_video", [False, True])
def test_a_lossy_picture_of_another_size_than_it_says_is_refused(is_video):
    pytest.importorskip("av")
    made = lossy.Encoder(is_video=is_video).encode(ImageFrame(np.zeros((64, 96, 3), np.uint8)), 0)
    claimed = made.replace(b"SRGB 96x64", b"SRGB 64x64")

    with pytest.raises(InvalidArgumentError, match="this lossy picture is 96x64, and says 64x64"):
        lossy.Decoder(is_video=is_video).decode(claimed)


def test_a_jpeg_that_claims_gigapixels_is_refused_without_the_memory():
    pytest.importorskip("av")
    made = lossy.Encoder(is_video=False).encode(ImageFrame(np.zeros((64, 96, 3), np.uint8)), 0)
    at = made.index(b"\xff\xc0")
    huge = made[: at + 5] + b"\xff\xf0\xff\xf0" + made[at + 9 :]

    with pytest.raises(InvalidArgumentError, match="these bytes are no lossy picture that libav decodes"):
        lossy.Decoder(is_video=False).decode(huge)


def test_errors_of_images_name_file_stream_and_timestamp(tmp_path, monkeypatch):
    from penstock_record import pictures

    monkeypatch.setattr(pictures, "packed", lambda *_: head(width=1 << 17, height=1 << 17))
    monkeypatch.setattr(pictures, "head_of", lambda _: lossless.Head(0, ImageFormat.SRGB, 8, 4, 0))
    with penstock.CalculatorGraph(recording_graph(PASSING, tmp_path / "r.mcap", ["in"])) as graph:
        graph.start_run()
        graph.add_packet_to_input_stream(
            "in", penstock.Packet(ImageFrame(np.zeros((4, 8, 3), np.uint8)), 1000)
        )
        graph.close_all_input_streams()
        graph.wait_until_done(30)
    monkeypatch.undo()

    with (
        pytest.raises(
            ResourceExhaustedError, match=r"r\.mcap: stream 'in' at 1000: a lossless image of \d+ b"
        ),
        RecordingReader(tmp_path / "r.mcap") as reader,
    ):
        list(reader.events())
