"""OpenCvImageEncoderCalculator and its opposite: files in memory, byte by byte and pixel by pixel."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError, StatusCode
from penstock_formats import ImageFormat, ImageFrame
from penstock_image.files.encoded_image_to_image_frame import OpenCvEncodedImageToImageFrameCalculator
from penstock_image.files.image_encoder import OpenCvImageEncoderCalculator
from penstock_image.messages.encoded_image_to_image_frame_pb2 import (
    OpenCvEncodedImageToImageFrameCalculatorOptions,
)
from penstock_image.messages.image_encoder_pb2 import (
    OpenCvImageEncoderCalculatorOptions,
    OpenCvImageEncoderCalculatorResults,
)
from penstock_testing import run_calculator

RANDOM = np.random.default_rng(4)
#: A picture without noise, which JPEG would change much.
SLOPE = np.dstack([np.tile(np.linspace(a, b, 48), (32, 1)) for a, b in ((0, 255), (250, 60), (90, 100))])
RGB = SLOPE.astype(np.uint8)
GRAY = RGB[..., 0].copy()
#: Pictures of MediaPipe's tests.
PICTURES = Path(__file__).resolve().parents[4] / "shared/data/reference/calculators/image"
#: By so much pixels of JPEGs may differ there.
JPEG = 10


def picture(name) -> bytes:
    """Return a file of the reference's tests, or skip the test where it is not there."""
    path = PICTURES / name
    if not path.exists():
        pytest.skip(f"the reference's picture is not here: {path}")
    return path.read_bytes()


def opencv(file, flags=cv2.IMREAD_COLOR):
    """Return the pixels of a file, blue first, as integers that can be subtracted."""
    return cv2.imdecode(np.frombuffer(file, np.uint8), flags).astype(int)


def encoded(pixels, **options) -> OpenCvImageEncoderCalculatorResults:
    result = run_calculator(
        OpenCvImageEncoderCalculator,
        {0: [(1, ImageFrame(pixels))]},
        outputs=[0],
        options=OpenCvImageEncoderCalculatorOptions(**options),
    )
    (packet,) = result.outputs[0]
    assert packet.timestamp == 1
    return packet.payload


def decoded(file, **options) -> ImageFrame:
    result = run_calculator(
        OpenCvEncodedImageToImageFrameCalculator,
        {0: [(1, file)]},
        outputs=[0],
        options=OpenCvEncodedImageToImageFrameCalculatorOptions(**options),
    )
    (packet,) = result.outputs[0]
    assert packet.timestamp == 1
    return packet.payload


def file_of(pixels, suffix=".png") -> bytes:
    return cv2.imencode(suffix, pixels)[1].tobytes()


# --- into files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("quality", [1, 80, 100])
def test_a_file_is_the_one_that_opencv_writes(quality):
    found = encoded(RGB, quality=quality)

    want = cv2.imencode(".jpg", RGB[..., ::-1], (cv2.IMWRITE_JPEG_QUALITY, quality))[1].tobytes()
    assert found.encoded_image == want
    assert (found.width, found.height, found.colorspace) == (48, 32, OpenCvImageEncoderCalculatorResults.RGB)


@pytest.mark.reference(
    "calculators/image/opencv_image_encoder_calculator_test.cc",
    "OpenCvImageEncoderCalculatorTest.TestJpegWithQualities",
)
@pytest.mark.parametrize("quality", [50, 80])
def test_files_are_those_of_the_reference(quality):
    pixels = opencv(picture("dino.jpg"))

    found = encoded(np.ascontiguousarray(pixels[..., ::-1], np.uint8), quality=quality)

    assert (found.height, found.width) == pixels.shape[:2]
    assert found.colorspace == OpenCvImageEncoderCalculatorResults.RGB
    wanted = opencv(picture(f"dino_quality_{quality}.jpg"))
    again = opencv(found.encoded_image, cv2.IMREAD_UNCHANGED)
    assert np.abs(again - wanted).max() <= JPEG


def test_a_grey_frame_becomes_a_grey_file():
    found = encoded(GRAY, quality=90)

    again = cv2.imdecode(np.frombuffer(found.encoded_image, np.uint8), cv2.IMREAD_UNCHANGED)
    assert found.colorspace == OpenCvImageEncoderCalculatorResults.GRAYSCALE
    assert again.shape == (32, 48)
    assert np.abs(again.astype(int) - GRAY).max() <= 3


def test_the_quality_is_that_of_opencv_unless_set():
    assert encoded(RGB).encoded_image == encoded(RGB, quality=95).encoded_image
    assert len(encoded(RGB, quality=10).encoded_image) < len(encoded(RGB, quality=95).encoded_image)


@pytest.mark.parametrize("quality", [0, 101, -1])
def test_another_quality_is_refused(quality):
    with pytest.raises(GraphRunError, match=rf"quality is {quality}, but must be 1 to 100; change it in the"):
        encoded(RGB, quality=quality)


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (
            np.zeros((4, 4, 4), np.uint8),
            r"takes frames of GRAY8 or SRGB; put a ColorConvertCalculator with RGB",
        ),
        (np.zeros((4, 4), np.uint16), r"holds <ImageFrame GRAY16 4x4>, but takes frames of GRAY8 or SRGB"),
        (
            np.zeros((1, 65501), np.uint8),
            r"65501x1>, but an encoded JPEG has at most 65500 pixels on a side; scale the",
        ),
    ],
)
def test_frames_that_are_no_jpeg_are_refused(pixels, message):
    with pytest.raises(GraphRunError, match=message):
        encoded(pixels)


# --- out of files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "dtype", "kind"),
    [
        ((6, 9), np.uint8, ImageFormat.GRAY8),
        ((6, 9, 3), np.uint8, ImageFormat.SRGB),
        ((6, 9, 4), np.uint8, ImageFormat.SRGBA),
        ((6, 9), np.uint16, ImageFormat.GRAY16),
        ((6, 9, 3), np.uint16, ImageFormat.SRGB48),
        ((6, 9, 4), np.uint16, ImageFormat.SRGBA64),
    ],
)
def test_a_file_becomes_a_frame_of_its_channels_and_bits_with_red_first(shape, dtype, kind):
    pixels = RANDOM.integers(0, np.iinfo(dtype).max, shape).astype(dtype)
    order = {2: pixels, 3: pixels[..., [2, 1, 0, 3][: shape[-1]]]}[len(shape)]

    found = decoded(file_of(order))

    assert found.format is kind
    assert np.array_equal(found.array, pixels)


@pytest.mark.reference(
    "calculators/image/opencv_encoded_image_to_image_frame_calculator_test.cc",
    "OpenCvEncodedImageToImageFrameCalculatorTest.TestRgbJpeg",
    "OpenCvEncodedImageToImageFrameCalculatorTest.TestGrayscaleJpeg",
)
@pytest.mark.parametrize("kind", [ImageFormat.SRGB, ImageFormat.GRAY8])
def test_a_jpeg_of_the_reference_becomes_a_frame(kind):
    file = picture("dino.jpg")
    wanted = opencv(file)[..., ::-1]
    if kind is ImageFormat.GRAY8:  # as in the reference: with the weights of red and blue exchanged
        wanted = cv2.cvtColor(opencv(file).astype(np.uint8), cv2.COLOR_RGB2GRAY).astype(int)
        file = cv2.imencode(".jpg", wanted.astype(np.uint8), (cv2.IMWRITE_JPEG_QUALITY, 100))[1].tobytes()

    found = decoded(file)

    assert found.format is kind
    assert np.abs(found.array - wanted).max() <= JPEG


def test_an_encoded_frame_comes_back_nearly_as_it_was():
    found = decoded(encoded(RGB, quality=100).encoded_image)

    assert found.format is ImageFormat.SRGB
    assert np.abs(found.array.astype(int) - RGB).max() <= 3


def turned(file: bytes, orientation: int) -> bytes:
    """Return a JPEG file with an orientation in EXIF data."""
    entry = struct.pack("<HHIHH", 0x112, 3, 1, orientation, 0)
    body = b"Exif\0\0" + b"II*\0\x08\0\0\0" + struct.pack("<H", 1) + entry + b"\0\0\0\0"
    return file[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + file[2:]


def test_a_photo_is_turned_as_its_exif_data_say_only_if_asked_for():
    photo = turned(encoded(RGB).encoded_image, 6)  # 6: the camera was turned, turn clockwise

    as_it_is, upright = decoded(photo), decoded(photo, apply_orientation_from_exif_data=True)

    assert np.array_equal(as_it_is.array, decoded(encoded(RGB).encoded_image).array)
    assert np.array_equal(upright.array, np.rot90(as_it_is.array, -1))


def test_turning_drops_the_alpha_channel():
    file = file_of(RANDOM.integers(0, 256, (4, 4, 4)).astype(np.uint8))

    assert decoded(file, apply_orientation_from_exif_data=True).format is ImageFormat.SRGB


@pytest.mark.reference(
    "calculators/image/opencv_encoded_image_to_image_frame_calculator_test.cc",
    "OpenCvEncodedImageToImageFrameCalculatorTest.TestInvalidJpeg",
)
@pytest.mark.parametrize("file", [b"", b"invalid jpeg data", file_of(RGB)[:40]])
def test_what_is_no_image_is_refused(file):
    with pytest.raises(
        GraphRunError, match=rf"is none that OpenCV .* reads.*: {len(file)} bytes that begin with"
    ) as caught:
        decoded(file)

    assert caught.value.code is StatusCode.INTERNAL  # as in the reference


def test_a_small_file_of_a_huge_image_is_refused():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 0, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")
    file = b"\x89PNG\r\n\x1a\n" + chunks

    with pytest.raises(
        GraphRunError, match=r"is none that OpenCV .* reads \(pixels <= CV_IO_MAX_IMAGE_PIXELS"
    ):
        decoded(file)


def test_an_image_of_floats_is_refused():
    with pytest.raises(GraphRunError, match=r"has 1 channels of float32, but frames are made of 1, 3 or"):
        decoded(file_of(np.ones((4, 4), np.float32), ".tiff"))
