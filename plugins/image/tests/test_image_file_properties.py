"""ImageFilePropertiesCalculator: what EXIF data say, from files written byte by byte."""

from __future__ import annotations

import math
import struct
import sys

import cv2
import numpy as np
import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import GraphConfigError, GraphRunError
from penstock_image.files.image_file_properties import ImageFilePropertiesCalculator
from penstock_testing import run_calculator, testing_registry

pytest.importorskip("PIL")

JPEG = cv2.imencode(".jpg", np.zeros((30, 40, 3), np.uint8))[1].tobytes()
#: Tags of EXIF.
FOCAL, FOCAL_35MM, WIDTH, HEIGHT = 0x920A, 0xA405, 0xA002, 0xA003


def photo(**tags) -> bytes:
    """Return a JPEG file with EXIF data: focal=(numerator, denominator), focal_35mm, width and height."""
    entries, after = [], b""
    numbers = {"focal": FOCAL, "width": WIDTH, "height": HEIGHT, "focal_35mm": FOCAL_35MM}
    # offsets count from the byte order: header 8, the first table 18, and the second's own entries
    start = 8 + 18 + 2 + 12 * len(tags) + 4
    for name, value in sorted(tags.items(), key=lambda item: numbers[item[0]]):
        if name == "focal":
            entries.append(struct.pack("<HHII", FOCAL, 5, 1, start + len(after)))
            after += struct.pack("<II", *value)
        else:
            entries.append(struct.pack("<HHII", numbers[name], 4, 1, value))
    first = struct.pack("<HHHIII", 1, 0x8769, 4, 1, 8 + 18, 0)
    second = struct.pack("<H", len(entries)) + b"".join(entries) + struct.pack("<I", 0)
    body = b"Exif\0\0" + b"II*\0\x08\0\0\0" + first + second + after
    return JPEG[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + JPEG[2:]


def properties(file):
    (packet,) = run_calculator(ImageFilePropertiesCalculator, {0: [(1, file)]}, outputs=[0]).outputs[0]
    assert packet.timestamp == 1
    return packet.payload


#: EXIF data of the photo in the reference's tests.
PIXEL2 = {"focal": (338, 100), "focal_35mm": 25, "width": 2448, "height": 3264}


def check_pixel2(found):
    assert (found.image_width, found.image_height) == (2448, 3264)
    assert (found.focal_length_mm, found.focal_length_35mm) == (3.38, 25)
    assert round(found.focal_length_pixels, 2) == 2357.48


@pytest.mark.reference(
    "calculators/image/image_file_properties_calculator_test.cc",
    "ImageFilePropertiesCalculatorTest.ReadsFocalLengthFromJpegInStreams",
)
def test_size_and_focal_lengths_are_those_of_the_file():
    check_pixel2(properties(photo(**PIXEL2)))


def test_a_lens_that_sees_the_diagonal_of_film_at_90_degrees_is_half_a_diagonal_away():
    half = math.hypot(36, 24) / 2

    found = properties(photo(focal=(500, 100), focal_35mm=22, width=300, height=400))

    assert found.focal_length_pixels == pytest.approx(500 / 2 * 22 / half)


def test_without_a_size_in_the_exif_data_it_is_that_of_the_image():
    found = properties(photo(focal=(5, 1), focal_35mm=30))

    assert (found.image_width, found.image_height) == (40, 30)


@pytest.mark.reference(
    "calculators/image/image_file_properties_calculator_test.cc",
    "ImageFilePropertiesCalculatorTest.ReadsFocalLengthFromJpegInSidePackets",
    "ImageFilePropertiesCalculatorTest.ReadsFocalLengthFromJpegStreamToSidePacket",
)
@pytest.mark.parametrize("source", ["input_stream", "input_side_packet"])
def test_properties_can_be_a_side_packet(source):
    registry = testing_registry()
    registry.add("calculator", "ImageFilePropertiesCalculator", ImageFilePropertiesCalculator)
    text = (
        f'node {{ calculator: "ImageFilePropertiesCalculator" {source}: "photo" '
        'output_side_packet: "properties" }'
    )
    file = photo(**PIXEL2)
    is_stream = source == "input_stream"
    graph = CalculatorGraph('input_stream: "photo"\n' * is_stream + text, registry=registry)

    graph.start_run({} if is_stream else {"photo": file})
    if is_stream:
        graph.add_packet_to_input_stream("photo", Packet(file, 1))
    graph.close()

    check_pixel2(graph.get_output_side_packet("properties").payload)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", r"0 bytes that begin with b'' are no image with EXIF data that Pillow reads"),
        (b"no image at all", r"15 bytes that begin with b'no image' are no image with EXIF data that Pillow"),
        (
            JPEG,
            r"the file says focal length 0 mm, and 0 mm for film of 35 mm, but both must be above 0; take",
        ),
        (
            photo(focal=(5, 1)),
            r"the file says focal length 5 mm, and 0 mm for film of 35 mm, but both must be",
        ),
        (
            photo(focal=(5, 0), focal_35mm=30),
            r"focal length (nan|inf|0) mm, and 30 mm|that Pillow reads \(division by",
        ),
    ],
)
def test_files_that_do_not_say_it_are_refused(file, message):
    with pytest.raises(GraphRunError, match=message):
        properties(file)


def test_a_stream_cannot_come_of_a_side_packet():
    with pytest.raises(
        GraphConfigError, match=r"has 0 input streams, 1 input side packets, 1 output streams"
    ):
        run_calculator(ImageFilePropertiesCalculator, {}, outputs=[0], side_packets={0: b""})


def test_without_pillow_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)

    with pytest.raises(
        GraphRunError, match=r"image file properties are read by Pillow, which is not there .*; pip install p"
    ):
        properties(b"")
