"""Each payload that a codec takes comes back equal and of the same type; broken bytes are typed errors."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InvalidArgumentError
from penstock.packs import default_registry
from penstock_formats import Detection, ImageFormat, ImageFrame, Matrix, VideoHeader
from penstock_formats.image_format import LAYOUTS
from penstock_record.codec import Codecs, Schema

NAMES = ("Protobuf", "ImageFrame", "Header", "Array", "Json", "Value")

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.binary(), inner)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def codecs():
    return Codecs(default_registry())


def same(one, other):
    """Whether two values are equal, of the same types all the way down, NaN included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isnan(one) == math.isnan(other) and (
            math.isnan(one) or (one, str(one)) == (other, str(other))
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(map(repr, one)) == list(map(repr, other)) and all(
            same(one[key], other[key]) for key in one
        )
    return bool(one == other)


def back(codecs, payload):
    name, codec = codecs.of(payload)
    return name, codec.decode(codec.encode(payload), codec.schema(payload))


@settings(max_examples=400, deadline=None)
@given(payload=plain)
def test_plain_values_come_back(codecs, payload):
    name, found = back(codecs, payload)
    assert name in ("Json", "Value")
    assert same(found, payload)


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        (3, "Json"),
        ([1.5, {"a": None}], "Json"),
        (math.nan, "Value"),
        (-math.inf, "Value"),
        (1 << 90, "Json"),
        ((1 << 90, b"x"), "Value"),
        ("\ud800", "Value"),
        ({1: 2}, "Value"),
    ],
)
def test_json_takes_what_it_can_hold_and_messagepack_the_rest(codecs, payload, name):
    assert back(codecs, payload)[0] == name
    assert same(back(codecs, payload)[1], payload)


@pytest.mark.parametrize("form", sorted(LAYOUTS))
def test_images_of_all_formats_come_back(codecs, form):
    layout = LAYOUTS[form]
    shape = (5, 7, layout.channels) if layout.channels > 1 else (5, 7)
    wide = np.random.default_rng(form).integers(0, 250, (10, *shape[1:])).astype(layout.dtype)
    frame = ImageFrame(wide[::2], form)  # rows that do not touch
    name, found = back(codecs, frame)
    assert name == "ImageFrame"
    assert (found.format, found.width, found.height) == (form, 7, 5)
    assert (found.array == frame.array).all()


def test_other_programs_find_the_pixels_of_an_image(codecs):
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    frame = ImageFrame(np.arange(24, dtype=np.uint8).reshape(2, 4, 3))
    _, codec = codecs.of(frame)
    schema = codec.schema(frame)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
        pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))
    image = kind.FromString(codec.encode(frame))
    assert (schema.name, image.encoding, image.width, image.height, image.step) == (
        "foxglove.RawImage", "rgb8", 4, 2, 12,
    )  # fmt: skip
    assert image.data == bytes(range(24))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.array(3.5),
        np.zeros((0, 4), np.float16),
        np.array([1 + 2j]),
        np.array(["a", "bc"]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8")]),
    ],
)
def test_arrays_come_back(codecs, array):
    name, found = back(codecs, array)
    assert (name, found.dtype, found.shape) == ("Array", array.dtype, array.shape)
    assert (found == array).all()


def test_matrices_headers_and_messages_come_back(codecs):
    matrix = Matrix(np.ones((2, 3), np.float32))
    name, found = back(codecs, matrix)
    assert (name, type(found)) == ("Array", Matrix)
    assert (found.array == matrix.array).all()
    header = VideoHeader(ImageFormat.SRGB, 640, 480, 29.97, 3.5)
    assert back(codecs, header) == ("Header", header)
    detection = Detection(label=["cat"], score=[0.5])
    assert back(codecs, detection) == ("Protobuf", detection)
    assert back(codecs, [detection, (detection, 1)]) == ("Value", [detection, (detection, 1)])


def test_a_message_whose_type_is_not_imported_is_made_from_its_schema(codecs):
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="elsewhere.proto", package="elsewhere", syntax="proto3")
    file.message_type.add(name="Thing").field.add(name="size", number=1, type=5, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    thing = message_factory.GetMessageClass(pool.FindMessageTypeByName("elsewhere.Thing"))(size=7)
    codec = codecs.named("Protobuf")
    assert codec.decode(codec.encode(thing), codec.schema(thing)).size == 7


@pytest.mark.parametrize("payload", [object(), {1, 2}, np.array([object()]), [object()], print])
def test_what_no_codec_takes_is_refused_with_its_type(codecs, payload):
    with pytest.raises(InvalidArgumentError, match=r"no codec takes the type \w+\.\w+; record other"):
        codecs.of(payload)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=80), name=st.sampled_from(NAMES))
def test_broken_bytes_are_typed_errors(codecs, data, name):
    schema = Schema("", "penstock.Detection" if name == "Protobuf" else "numpy.ndarray")
    with contextlib.suppress(InvalidArgumentError):
        codecs.named(name).decode(data, schema)
