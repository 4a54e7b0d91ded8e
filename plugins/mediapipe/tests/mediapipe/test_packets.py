"""Packets with the values of MediaPipe's own tests: what is put in comes out, and nobody else holds it."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

from penstock_mediapipe import CalculatorGraph, Image, ImageFormat, ImageFrame, packet_creator, packet_getter
from penstock_mediapipe import Packet as EmptyPacket
from penstock_mediapipe.framework.formats import detection_pb2

SRGB = ImageFormat.SRGB
HEIGHT, WIDTH, EDGE = 57, 83, 10
#: A graph that hands a side packet on.
HANDING_ON = """
    node { calculator: "PassThroughCalculator" input_side_packet: "in" output_side_packet: "out" }"""


@pytest.fixture
def noise():
    """Return a function: shape, element type and limit → random pixels, the same ones each time."""
    source = np.random.default_rng(8)

    def make(*shape, dtype=np.uint8, below=255):
        return source.integers(below, size=shape, dtype=dtype)

    return make


#: Kind of image → its creator, getter and class.
IMAGES = {
    "image_frame": (packet_creator.create_image_frame, packet_getter.get_image_frame, ImageFrame),
    "image": (packet_creator.create_image, packet_getter.get_image, Image),
}
kinds = pytest.mark.parametrize(("create", "get", "kind"), IMAGES.values(), ids=IMAGES)


@pytest.mark.reference("python/packet_test.py", "PacketTest.test_empty_packet")
def test_a_packet_that_nobody_filled_is_empty():
    assert EmptyPacket().is_empty()
    assert not packet_creator.create_int(0).is_empty()


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_int_packet",
    "PacketTest.test_int8_packet",
    "PacketTest.test_int16_packet",
    "PacketTest.test_int32_packet",
    "PacketTest.test_int64_packet",
    "PacketTest.test_uint8_packet",
    "PacketTest.test_uint16_packet",
    "PacketTest.test_uint32_packet",
    "PacketTest.test_uint64_packet",
)
@pytest.mark.parametrize(
    ("name", "get", "too_large", "value", "numpy"),
    [
        ("int", "int", 2**32, 42, np.intc),
        ("int8", "int", 2**7, 2**7 - 1, np.int8),
        ("int16", "int", 2**15, 2**15 - 1, np.int16),
        ("int32", "int", 2**31, 2**31 - 1, np.int32),
        ("int64", "int", None, 2**63 - 1, np.int64),
        ("uint8", "uint", 2**8, 2**8 - 1, np.uint8),
        ("uint16", "uint", 2**16, 2**16 - 1, np.uint16),
        ("uint32", "uint", 2**32, 2**32 - 1, np.uint32),
        ("uint64", "uint", None, 2**64 - 1, np.uint64),
    ],
)
def test_an_int_of_each_size_comes_back(name, get, too_large, value, numpy):
    create, read = getattr(packet_creator, f"create_{name}"), getattr(packet_getter, f"get_{get}")

    for given in (value, numpy(1)):
        packet = create(given)
        packet.timestamp = 0
        assert read(packet) == given
        assert packet.timestamp == 0
    if too_large is not None:
        with pytest.raises(OverflowError, match="execeeds the maximum value"):  # MediaPipe's spelling
            create(too_large)


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_boolean_packet",
    "PacketTest.test_float_packet",
    "PacketTest.test_double_packet",
)
@pytest.mark.parametrize(
    ("name", "get", "value", "wanted"),
    [
        ("bool", "bool", True, True),
        ("float", "float", 0.42, float(np.float32(0.42))),
        ("double", "float", 0.42, 0.42),
        ("double", "float", np.double(0.42), 0.42),
    ],
)
def test_a_number_comes_back_at_its_timestamp(name, get, value, wanted):
    packet = getattr(packet_creator, f"create_{name}")(value)
    packet.timestamp = 0

    assert getattr(packet_getter, f"get_{get}")(packet) == wanted
    assert packet.timestamp == 0


@pytest.mark.reference("python/packet_test.py", "PacketTest.test_detection_proto_packet")
def test_a_message_comes_back_at_its_timestamp():
    detection = detection_pb2.Detection(score=[0.5])
    packet = packet_creator.create_proto(detection).at(100)

    assert packet.timestamp == 100
    assert packet_getter.get_proto(packet) == detection


@pytest.mark.reference(
    "python/packet_test.py", "PacketTest.test_string_packet", "PacketTest.test_bytes_packet"
)
def test_text_and_bytes_come_back_and_the_time_can_be_changed():
    text = packet_creator.create_string("abc").at(100)
    raw = packet_creator.create_string(b"xd0\xba\xd0").at(300)

    assert packet_getter.get_str(text) == "abc"
    assert text.timestamp == 100
    text.timestamp = 200
    assert text.timestamp == 200
    assert packet_getter.get_bytes(raw) == b"xd0\xba\xd0"
    assert raw.timestamp == 300


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_int_array_packet",
    "PacketTest.test_float_array_packet",
    "PacketTest.test_int_vector_packet",
    "PacketTest.test_float_vector_packet",
    "PacketTest.test_string_vector_packet",
)
@pytest.mark.parametrize(
    ("name", "get", "values"),
    [
        ("int_array", None, [1, 2, 3]),
        ("float_array", None, [0.1, 0.2, 0.3]),
        ("int_vector", "int_list", [1, 2, 3]),
        ("float_vector", "float_list", [0.1, 0.2, 0.3]),
        ("string_vector", "str_list", ["a", "b", "c"]),
    ],
)
def test_a_list_comes_back_at_its_timestamp(name, get, values):
    packet = getattr(packet_creator, f"create_{name}")(values).at(100)

    assert packet.timestamp == 100
    assert not packet.is_empty()
    if get is not None:
        found = getattr(packet_getter, f"get_{get}")(packet)
        assert found == (values if values[0] != 0.1 else pytest.approx(values, abs=1e-7))


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_packet_vector_packet",
    "PacketTest.test_string_to_packet_map_packet",
)
def test_packets_in_a_list_or_under_names_come_back():
    inner = {
        "float": packet_creator.create_float(0.42),
        "int": packet_creator.create_int(42),
        "string": packet_creator.create_string("42"),
    }
    listed = packet_creator.create_packet_vector(list(inner.values())).at(100)
    named = packet_creator.create_string_to_packet_map(inner).at(100)

    assert listed.timestamp == named.timestamp == 100
    by_name = packet_getter.get_str_to_packet_dict(named)
    for number, whole, text in (
        packet_getter.get_packet_list(listed),
        [by_name[name] for name in ("float", "int", "string")],
    ):
        assert packet_getter.get_float(number) == pytest.approx(0.42, abs=1e-7)
        assert packet_getter.get_int(whole) == 42
        assert packet_getter.get_str(text) == "42"


# --- images -------------------------------------------------------------------------------------------


@pytest.mark.reference("python/packet_test.py", "PacketTest.test_image_vector_packet")
def test_a_list_of_images_comes_back(noise):
    pixels = noise(40, 80, 3)
    part = pixels[EDGE:-EDGE, EDGE:-EDGE]
    packet = packet_creator.create_image_vector(
        [
            Image(image_format=SRGB, data=pixels),
            Image(image_format=SRGB, data=np.ascontiguousarray(part)),
        ]
    ).at(100)

    whole, cut = packet_getter.get_image_list(packet)
    assert np.array_equal(whole.numpy_view(), pixels)
    assert np.array_equal(cut.numpy_view(), part)
    assert packet.timestamp == 100


@pytest.mark.reference("python/packet_test.py", "PacketTest.test_image_frame_vector_packet")
def test_a_list_of_image_frames_of_two_formats_comes_back(noise):
    color, gray = noise(30, 40, 3), noise(40, 30).astype(np.float32) / 255
    packet = packet_creator.create_image_frame_vector(
        [
            ImageFrame(image_format=SRGB, data=color),
            ImageFrame(image_format=ImageFormat.VEC32F1, data=gray),
        ]
    ).at(100)

    first, second = packet_getter.get_image_frame_list(packet)
    assert np.array_equal(first.numpy_view(), color)
    assert np.array_equal(second.numpy_view(), gray)
    assert packet.timestamp == 100


@pytest.mark.reference("python/packet_test.py", "PacketTest.test_get_image_frame_list_packet_capture")
def test_image_frames_of_a_list_outlive_the_packet():
    frame = ImageFrame(image_format=SRGB, data=np.ones((30, 40, 3), np.uint8))
    packet = packet_creator.create_image_frame_vector([frame]).at(100)
    (found,) = packet_getter.get_image_frame_list(packet)
    del packet, frame
    gc.collect()

    assert found.image_format == SRGB
    assert np.array_equal(found.numpy_view(), np.ones((30, 40, 3), np.uint8))


@pytest.mark.reference("python/packet_test.py", "PacketTest.test_create_image_frame_vector_type_error")
def test_a_list_of_image_frames_takes_nothing_else():
    with pytest.raises(TypeError, match="Item 0 is not an ImageFrame"):
        packet_creator.create_image_frame_vector([None])


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_uint8_image_packet",
    "PacketTest.test_uint16_image_packet",
    "PacketTest.test_float_image_frame_packet",
)
@pytest.mark.parametrize(
    ("channels", "dtype", "image_format"),
    [
        (3, np.uint8, SRGB),
        (4, np.uint16, ImageFormat.SRGBA64),
        (2, np.float32, ImageFormat.VEC32F2),
    ],
)
@pytest.mark.parametrize("name", IMAGES)
def test_an_image_of_each_kind_of_number_comes_back(name, channels, dtype, image_format, noise):
    create, get, kind = IMAGES[name]
    pixels = noise(HEIGHT, WIDTH, channels, dtype=np.uint16, below=2**16 - 1).astype(dtype)
    if dtype is np.float32:
        pixels /= 3

    found = get(create(kind(image_format=image_format, data=pixels))).numpy_view()

    assert found.dtype == dtype
    assert np.array_equal(found, pixels)


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_image_frame_packet_creation_copy_mode",
    "PacketTest.test_image_packet_creation_copy_mode",
)
@pytest.mark.parametrize("backwards", [False, True])
@kinds
def test_a_writable_array_is_copied_and_not_held(create, get, kind, backwards, noise):
    pixels = noise(HEIGHT, WIDTH, 3)[:, :, :: -1 if backwards else 1]
    assert pixels.flags.c_contiguous is not backwards
    before = sys.getrefcount(pixels)
    packet = create(image_format=SRGB, data=pixels)
    assert sys.getrefcount(pixels) == before

    found = get(packet)
    assert isinstance(found, kind)
    assert (found.height, found.width, found.channels) == (HEIGHT, WIDTH, 3)
    assert np.array_equal(found.numpy_view(), pixels)
    del packet, found
    gc.collect()
    assert sys.getrefcount(pixels) == before


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_image_frame_packet_copy_creation_with_cropping",
    "PacketTest.test_image_packet_copy_creation_with_cropping",
)
@kinds
def test_a_part_of_a_writable_array_is_copied_and_not_held(create, get, kind, noise):
    pixels = noise(HEIGHT, WIDTH, 3)
    before = sys.getrefcount(pixels)
    packet = create(image_format=SRGB, data=pixels[EDGE:-EDGE, EDGE:-EDGE, :])
    assert sys.getrefcount(pixels) == before

    found = get(packet)
    assert isinstance(found, kind)
    assert (found.height, found.width, found.channels) == (HEIGHT - 2 * EDGE, WIDTH - 2 * EDGE, 3)
    assert np.array_equal(found.numpy_view(), pixels[EDGE:-EDGE, EDGE:-EDGE, :])
    del packet, found
    gc.collect()
    assert sys.getrefcount(pixels) == before


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_image_frame_packet_creation_reference_mode",
    "PacketTest.test_image_packet_creation_reference_mode",
)
@kinds
def test_a_read_only_array_is_held_once_also_by_a_graph(create, get, kind, noise):
    pixels = noise(HEIGHT, WIDTH, 3)
    pixels.flags.writeable = False
    copy = pixels.copy()
    before = sys.getrefcount(pixels)
    packet = create(image_format=SRGB, data=pixels)
    assert sys.getrefcount(pixels) == before + 1
    del packet
    gc.collect()
    assert sys.getrefcount(pixels) == before

    graph = CalculatorGraph(graph_config=HANDING_ON)
    graph.start_run(input_side_packets={"in": create(image_format=SRGB, data=pixels)})
    assert sys.getrefcount(pixels) == before + 1
    graph.wait_until_done()
    output = graph.get_output_side_packet("out")
    del pixels, graph
    gc.collect()
    assert isinstance(get(output), kind)
    assert np.array_equal(get(output).numpy_view(), copy)


# --- matrices -----------------------------------------------------------------------------------------


@pytest.mark.reference(
    "python/packet_test.py",
    "PacketTest.test_matrix_packet",
    "PacketTest.test_matrix_packet_with_non_c_contiguous_data",
)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_is_copied_and_not_held(dtype, backwards):
    matrix = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], dtype)[:, :: -1 if backwards else 1]
    wanted = matrix.astype(np.float32)
    assert matrix.flags.c_contiguous is not backwards
    before = sys.getrefcount(matrix)
    packet = packet_creator.create_matrix(matrix)
    assert sys.getrefcount(matrix) == before

    found = packet_getter.get_matrix(packet)
    matrix[:] = 0
    del matrix, packet
    gc.collect()
    assert np.array_equal(found, wanted)
