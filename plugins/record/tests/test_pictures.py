"""Images in recordings: exact by default, lossy where that was asked for, and read in any order."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError
from penstock.packs import default_registry
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.image_format import LAYOUTS
from penstock_record import RecordingReader, RecordingRows, recording_graph, replay_graph
from penstock_record.lossless import REFERENCE, TABLE, Reference, head_of, may_refer, packed, unpacked
from penstock_record.options import Pictures
from penstock_record.recording_writer import PACKET
from penstock_record.repair import repair

GRAPH = """input_stream: "in" input_stream: "other" output_stream: "out" output_stream: "more"
node { calculator: "PassThroughCalculator" input_stream: "in" input_stream: "other"
  output_stream: "out" output_stream: "more" }"""
RNG = np.random.default_rng(5)


def scene(height, width, channels=3, seed=0):
    """Return a smooth picture with a little noise, as a camera's."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [128 + 90 * np.sin(x / 31 + y / 47 + c / 3 + seed) for c in range(channels)]
    noise = np.random.default_rng(int(seed * 9)).normal(0, 1.5, (height, width, channels))
    made = np.clip(np.stack(planes, -1) + noise, 0, 255).astype(np.uint8)
    return made[:, :, 0] if channels == 1 else made


def record(path, frames, pictures=Pictures.LOSSLESS, others=None):
    """Record frames at 1000, 2000, ... and, at the same timestamps, `others`."""
    config = recording_graph(GRAPH, path, ["in", "other"], pictures=pictures)
    with penstock.CalculatorGraph(config) as graph:
        graph.start_run()
        for i, frame in enumerate(frames):
            graph.add_packet_to_input_stream("in", penstock.Packet(frame, 1000 * (i + 1)))
            graph.wait_until_idle(30)
            if others is not None:
                graph.add_packet_to_input_stream("other", penstock.Packet(others[i], 1000 * (i + 1)))
                graph.wait_until_idle(30)
        graph.close_all_input_streams()
        graph.wait_until_done(30)


def packets(path, stream="in"):
    with RecordingReader(path) as reader:
        return [event.payload for event in reader.events() if event.kind == PACKET and event.stream == stream]


def codecs_in(path):
    with RecordingReader(path) as reader:
        return [event.payload[0] for event in reader.events(decoded=()) if event.kind == PACKET]


def same(one, other):
    return (
        one.format is other.format
        and one.array.dtype == other.array.dtype
        and one.array.shape == other.array.shape
        and np.ascontiguousarray(one.array).tobytes() == np.ascontiguousarray(other.array).tobytes()
    )


# --- packing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", sorted(LAYOUTS))
@pytest.mark.parametrize("size", [(1, 1), (1, 40), (33, 1), (37, 53), (128, 64)])
@pytest.mark.parametrize("kind", ["noise", "smooth", "flat"])
def test_images_of_all_formats_and_sizes_come_back_exactly(form, size, kind):
    layout, (height, width) = LAYOUTS[form], size
    shape = (2 * height, width + 3, layout.channels)
    if kind == "noise":
        whole = RNG.integers(0, 256, (*shape, layout.dtype.itemsize), np.uint8).view(layout.dtype)[..., 0]
    elif kind == "smooth":
        whole = (scene(*shape) if layout.channels > 1 else scene(*shape)[:, :, None]).astype(layout.dtype) * 3
    else:
        whole = np.full(shape, 7, layout.dtype)
    pixels = whole[::2, 2:-1]  # rows that do not touch
    frame = ImageFrame(pixels if layout.channels > 1 else pixels[:, :, 0], form)

    data = packed(frame.array, form)

    assert same(ImageFrame(unpacked(data), head_of(data).format), frame)  # NaN of the noise too
    if kind != "noise" and frame.array.nbytes > 2000:
        assert len(data) < frame.array.nbytes / 2


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    channels=st.sampled_from([1, 3, 4]),
)
def test_images_that_refer_to_others_come_back_exactly(data, height, width, channels):
    seed = data.draw(st.integers(0, 1000))
    other = scene(height, width, max(channels, 3), seed)
    operation = data.draw(st.sampled_from(["same", "grey", "darker", "half", "other", "inverted"]))
    pixels = other[:, :, 0].copy() if channels == 1 else other.copy()
    if operation == "grey" and channels == 1:
        pixels = (other[:, :, :3] @ (0.299, 0.587, 0.114)).astype(np.uint8)
    elif operation == "darker":
        pixels = (pixels * 0.6).astype(np.uint8)
    elif operation == "half":
        pixels[:, width // 2 :] //= 2
    elif operation == "other":
        pixels = scene(height, width, channels, seed + 1)
    elif operation == "inverted":
        pixels = 255 - pixels
    form = {1: ImageFormat.GRAY8, 3: ImageFormat.SRGB, 4: ImageFormat.SRGBA}[channels]
    of = ImageFormat.SRGBA if channels == 4 else ImageFormat.SRGB
    reference = Reference(9, other, of)

    assert may_refer(pixels, form, reference)
    made = packed(pixels, form, reference)

    head = head_of(made)
    assert (unpacked(made, reference if head.reference else None) == pixels).all()


def test_a_grey_picture_of_a_frame_takes_no_room_beside_the_frame():
    cv2 = pytest.importorskip("cv2")
    frame = scene(240, 320)
    grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)

    data = packed(grey, ImageFormat.GRAY8, Reference(3, frame, ImageFormat.SRGB))

    assert head_of(data).reference == 3
    assert len(data) < grey.nbytes / 500


def test_a_darkened_half_takes_a_table():
    frame = scene(240, 320)
    painted = frame.copy()
    painted[:, 160:] = (painted[:, 160:] * 0.65).astype(np.uint8)

    data = packed(painted, ImageFormat.SRGB, Reference(3, frame, ImageFormat.SRGB))

    assert head_of(data).steps & (REFERENCE | TABLE) == REFERENCE | TABLE
    assert len(data) < len(packed(painted, ImageFormat.SRGB)) / 20


def test_another_picture_is_packed_for_itself():
    frame, other = scene(120, 160), scene(120, 160, seed=4)[::-1]

    data = packed(other, ImageFormat.SRGB, Reference(3, frame, ImageFormat.SRGB))

    assert head_of(data).reference == 0
    assert len(data) == len(packed(other, ImageFormat.SRGB))


WIDE = scene(8, 8).astype(np.uint16)


@pytest.mark.parametrize(
    ("pixels", "form", "other", "of"),
    [
        (scene(8, 8), ImageFormat.SRGB, scene(8, 9), ImageFormat.SRGB),
        (scene(8, 8), ImageFormat.LAB8, scene(8, 8), ImageFormat.SRGB),
        (scene(8, 8, 1), ImageFormat.GRAY8, scene(8, 8, 4), ImageFormat.SBGRA),
        (WIDE, ImageFormat.SRGB48, WIDE, ImageFormat.SRGB48),
    ],
)
def test_a_picture_of_another_kind_is_no_reference(pixels, form, other, of):
    assert not may_refer(pixels, form, Reference(1, other, of))


# --- recordings -----------------------------------------------------------------------------------


def test_a_recording_is_smaller_and_exact_and_its_rows_are_read_in_any_order(tmp_path):
    frames = [ImageFrame(scene(97, 129, seed=i)) for i in range(6)]
    greys = [ImageFrame(np.ascontiguousarray(frame.array[:, :, 1])) for frame in frames]
    for kind in (Pictures.LOSSLESS, Pictures.RAW):
        record(tmp_path / kind.value, frames, kind, greys)
    path = tmp_path / "lossless"

    assert set(codecs_in(path)) == {"Picture"}
    assert all(map(same, packets(path), frames))
    assert all(map(same, packets(path, "other"), greys))
    assert path.stat().st_size < (tmp_path / "raw").stat().st_size / 2
    with RecordingRows(path, default_registry()) as rows:
        for number in (4, 0, 5, 2, 2):
            row = rows.row(number)
            assert same(row["in"], frames[number])
            assert same(row["other"], greys[number])


def test_what_refers_to_other_images_is_repaired_and_replayed(tmp_path):
    frames = [ImageFrame(scene(160, 240, seed=i)) for i in range(8)]
    record(tmp_path / "r", frames, others=[ImageFrame(frame.array.copy()) for frame in frames])
    whole = (tmp_path / "r").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) * 2 // 3])
    repair(tmp_path / "cut")

    with RecordingReader(tmp_path / "r") as reader:
        data = [event.payload[2] for event in reader.events(decoded=()) if event.kind == PACKET]
    assert sum(head_of(one).reference > 0 for one in data) == 8
    assert 0 < len(packets(tmp_path / "cut")) <= 8
    for found in (packets(tmp_path / "cut"), packets(tmp_path / "cut", "other")):
        assert all(map(same, found, frames))
    graph = penstock.CalculatorGraph(replay_graph(GRAPH, tmp_path / "r"))
    seen = []
    graph.observe_output_stream("more", lambda _, packet: seen.append(packet.payload))
    graph.run(timeout=30)
    assert len(seen) == 8
    assert all(map(same, seen, frames))


def test_many_large_images_at_one_time_are_kept_no_longer_than_the_limit(tmp_path, monkeypatch):
    from penstock_record import pictures

    monkeypatch.setattr(pictures, "_MOST_RECENT_BYTES", 64 * 96 * 3 * 2)
    frames = [ImageFrame(scene(64, 96, seed=i)) for i in range(6)]
    record(tmp_path / "r", frames, others=[ImageFrame(frame.array.copy()) for frame in frames])

    assert all(map(same, packets(tmp_path / "r", "other"), frames))


def test_a_stream_that_becomes_like_another_one_refers_to_it_soon(tmp_path):
    frames = [ImageFrame(scene(64, 96, seed=i)) for i in range(25)]
    others = [ImageFrame(scene(64, 96, seed=i + 40)) for i in range(5)] + frames[5:]
    record(tmp_path / "r", frames, others=others)

    with RecordingReader(tmp_path / "r") as reader:
        refers = [
            head_of(event.payload[2]).reference > 0
            for event in reader.events(decoded=())
            if event.kind == PACKET and event.stream == "other"
        ]
    assert refers == [False] * 10 + [True] * 15  # the first is tried, the next nine are not
    assert all(map(same, packets(tmp_path / "r", "other"), others))


def test_a_recording_of_before_is_read(tmp_path):
    frames = [ImageFrame(scene(20, 30, seed=i)) for i in range(3)]
    record(tmp_path / "r", frames, Pictures.RAW)

    assert codecs_in(tmp_path / "r") == ["ImageFrame"] * 3
    assert all(map(same, packets(tmp_path / "r"), frames))


# --- JPEG and H.264 -------------------------------------------------------------------------------

needs_av = pytest.mark.skipif(find_spec("av") is None, reason="PyAV is not installed")
LOSSY = [Pictures.JPEG, Pictures.H264]
NAMES = {Pictures.JPEG: "CompressedImage", Pictures.H264: "CompressedVideo"}


@needs_av
@pytest.mark.parametrize("kind", LOSSY)
@pytest.mark.parametrize("size", [(96, 128, 3), (97, 129, 3), (97, 129, 1), (1, 1, 3)])
def test_lossy_images_look_the_same(tmp_path, kind, size):
    height, width, channels = size
    frames = [ImageFrame(scene(height, width, channels, seed=i / 9)) for i in range(5)]
    record(tmp_path / "r", frames, kind)
    record(tmp_path / "raw", frames, Pictures.RAW)

    found = packets(tmp_path / "r")

    assert set(codecs_in(tmp_path / "r")) == {NAMES[kind]}
    assert len(found) == 5
    for frame, one in zip(frames, found, strict=True):
        assert (one.format, one.array.shape) == (frame.format, frame.array.shape)
        assert np.abs(one.array.astype(int) - frame.array).mean() < 4
    if height > 1:
        assert (tmp_path / "r").stat().st_size < (tmp_path / "raw").stat().st_size / 6
    with RecordingReader(tmp_path / "r") as reader:
        assert reader.about.lossy == kind.value


@needs_av
def test_a_row_of_a_video_is_what_it_is_when_it_is_read_from_the_beginning(tmp_path):
    frames = [ImageFrame(scene(96, 128, seed=i / 9)) for i in range(70)]  # more than one key frame
    record(tmp_path / "r", frames, Pictures.H264)
    found = packets(tmp_path / "r")

    with RecordingRows(tmp_path / "r", default_registry()) as rows:
        for number in (69, 3, 0, 60, 61, 59):
            assert same(rows.row(number)["in"], found[number])


@needs_av
def test_a_video_goes_on_where_the_size_or_the_format_changes(tmp_path):
    sizes = [(96, 128, 3), (96, 128, 3), (64, 80, 3), (64, 80, 1), (64, 80, 1), (96, 128, 3)]
    frames = [ImageFrame(scene(*size, seed=i / 9)) for i, size in enumerate(sizes)]
    record(tmp_path / "r", frames, Pictures.H264)

    found = packets(tmp_path / "r")

    assert [one.array.shape for one in found] == [frame.array.shape for frame in frames]
    for frame, one in zip(frames, found, strict=True):
        assert np.abs(one.array.astype(int) - frame.array).mean() < 4


@needs_av
@pytest.mark.parametrize("kind", LOSSY)
@pytest.mark.parametrize("form", sorted(set(LAYOUTS) - {ImageFormat.GRAY8, ImageFormat.SRGB}))
def test_what_has_no_lossy_form_stays_exact(tmp_path, kind, form):
    layout = LAYOUTS[form]
    shape = (9, 11, layout.channels) if layout.channels > 1 else (9, 11)
    frame = ImageFrame(RNG.integers(0, 250, shape).astype(layout.dtype), form)
    record(tmp_path / "r", [frame], kind)

    assert codecs_in(tmp_path / "r") == ["Picture"]
    assert same(packets(tmp_path / "r")[0], frame)


@needs_av
@pytest.mark.parametrize(("kind", "name"), NAMES.items())
def test_other_programs_find_lossy_pictures(tmp_path, kind, name):
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    record(tmp_path / "r", [ImageFrame(scene(48, 64))], kind)

    with RecordingReader(tmp_path / "r") as reader:
        payload = next(event.payload for event in reader.events(decoded=()) if event.kind == PACKET)
    _, schema, data = payload
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
        pool.Add(file)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"foxglove.{name}")).FromString(data)
    assert (schema.name, schema.message_encoding) == (f"foxglove.{name}", "protobuf")
    assert (message.timestamp.seconds, message.timestamp.nanos) == (0, 1_000_000)
    if kind is Pictures.JPEG:
        assert (message.format, message.data[:3], message.data[-2:]) == ("jpeg", b"\xff\xd8\xff", b"\xff\xd9")
    else:
        assert message.format == "h264"
        assert message.data.startswith(b"\x00\x00\x00\x01\x67")  # the parameters, with a start code


@needs_av
@pytest.mark.parametrize("kind", LOSSY)
def test_without_pyav_lossy_pictures_are_refused_before_a_packet(tmp_path, monkeypatch, kind):
    monkeypatch.setitem(sys.modules, "av", None)

    with pytest.raises(GraphRunError, match=r"H\.264 need PyAV, .* pip install 'penstock-rec"):
        record(tmp_path / "r", [], kind)

    assert not (tmp_path / "r").exists()


@needs_av
def test_without_x264_videos_are_refused(monkeypatch):
    import av.codec

    from penstock_record.pictures import PictureEncoder

    real, names = av.codec.Codec, {"libx264": "none"}
    monkeypatch.setattr(av.codec, "Codec", lambda name, mode: real(names.get(name, name), mode))

    PictureEncoder(Pictures.JPEG)
    with pytest.raises(InvalidArgumentError, match=r"PyAV has no libx264, which lossy pictures as H\.264"):
        PictureEncoder(Pictures.H264)
