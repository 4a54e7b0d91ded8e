"""Images and image frames from arrays of OpenCV and Pillow, as MediaPipe's own tests make them."""

from __future__ import annotations

import gc
import sys

import cv2
import numpy as np
import pytest

from penstock_mediapipe import Image, ImageFormat, ImageFrame

WIDTH, HEIGHT = 61, 47
EDGE = 10
#: The pixels of MediaPipe's tests are below these.
BYTES, WORDS = 2**8 - 1, 2**16 - 1

kinds = pytest.mark.parametrize("kind", [Image, ImageFrame])


@pytest.fixture
def pillow():
    """Return the module of Pillow's images."""
    return pytest.importorskip("PIL.Image", reason="Pillow is not installed")


@pytest.fixture
def noise():
    """Return a function: shape, element type and limit → random pixels, the same ones each time."""
    source = np.random.default_rng(7)

    def make(*shape, dtype=np.uint8, below=BYTES):
        return source.integers(below, size=shape, dtype=dtype)

    return make


def assert_holds(image, pixels):
    assert np.array_equal(image.numpy_view(), pixels)
    assert image.numpy_view().dtype == pixels.dtype
    assert (image.width, image.height) == (pixels.shape[1], pixels.shape[0])


@pytest.mark.reference(
    "python/image_frame_test.py", "ImageFrameTest.test_create_image_frame_from_gray_cv_mat"
)
@pytest.mark.reference("python/image_test.py", "ImageTest.test_create_image_from_gray_cv_mat")
@kinds
def test_a_gray_image_of_opencv_is_indexed_by_row_and_column(kind, noise):
    gray = cv2.cvtColor(noise(HEIGHT, WIDTH, 3), cv2.COLOR_RGB2GRAY)
    gray[2, 2] = 42
    image = kind(image_format=ImageFormat.GRAY8, data=gray)

    assert_holds(image, gray)
    assert image[2, 2] == 42
    with pytest.raises(IndexError, match="index dimension mismatch"):
        image[WIDTH, HEIGHT, 1]
    with pytest.raises(IndexError, match="out of bounds"):
        image[WIDTH, HEIGHT]


@pytest.mark.reference(
    "python/image_frame_test.py",
    "ImageFrameTest.test_create_image_frame_from_rgb_cv_mat",
    "ImageFrameTest.test_create_image_frame_from_rgb48_cv_mat",
)
@pytest.mark.reference(
    "python/image_test.py",
    "ImageTest.test_create_image_from_rgb_cv_mat",
    "ImageTest.test_create_image_from_rgb48_cv_mat",
)
@pytest.mark.parametrize(
    ("dtype", "below", "image_format"),
    [(np.uint8, BYTES, ImageFormat.SRGB), (np.uint16, WORDS, ImageFormat.SRGB48)],
)
@kinds
def test_a_color_image_of_opencv_is_indexed_by_row_column_and_channel(
    kind, dtype, below, image_format, noise
):
    color = cv2.cvtColor(noise(HEIGHT, WIDTH, 3, dtype=dtype, below=below), cv2.COLOR_RGB2BGR)
    color[2, 2, 1] = 42
    image = kind(image_format=image_format, data=color)

    assert_holds(image, color)
    assert image[2, 2, 1] == 42
    with pytest.raises(IndexError, match="out of bounds"):
        image[WIDTH, HEIGHT, 3]


@pytest.mark.reference(
    "python/image_frame_test.py", "ImageFrameTest.test_create_image_frame_from_gray_pil_image"
)
@pytest.mark.reference("python/image_test.py", "ImageTest.test_create_image_from_gray_pil_image")
@kinds
def test_a_gray_image_of_pillow_is_taken(kind, noise, pillow):
    gray = np.asarray(pillow.fromarray(noise(HEIGHT, WIDTH)))
    image = kind(image_format=ImageFormat.GRAY8, data=gray)

    assert_holds(image, gray)
    with pytest.raises(IndexError, match="index dimension mismatch"):
        image[WIDTH, HEIGHT, 1]
    with pytest.raises(IndexError, match="out of bounds"):
        image[WIDTH, HEIGHT]


@pytest.mark.reference(
    "python/image_frame_test.py",
    "ImageFrameTest.test_create_image_frame_from_rgb_pil_image",
    "ImageFrameTest.test_create_image_frame_from_rgba64_pil_image",
)
@pytest.mark.reference(
    "python/image_test.py",
    "ImageTest.test_create_image_from_rgb_pil_image",
    "ImageTest.test_create_image_from_rgba64_pil_image",
)
@pytest.mark.parametrize(
    ("dtype", "image_format", "beyond"),
    [
        (np.uint8, ImageFormat.SRGB, (WIDTH, HEIGHT, 3)),
        (np.uint16, ImageFormat.SRGBA64, (1000, 1000, 1000)),
    ],
)
@kinds
def test_a_color_image_of_pillow_is_taken(  # noqa: PLR0913, PLR0917  # fixtures and cases
    kind, dtype, image_format, beyond, noise, pillow
):
    channels = 3 if image_format == ImageFormat.SRGB else 4
    color = np.asarray(pillow.fromarray(noise(HEIGHT, WIDTH, channels))).astype(dtype)
    image = kind(image_format=image_format, data=color)

    assert_holds(image, color)
    assert image.channels == channels
    with pytest.raises(IndexError, match="out of bounds"):
        image[beyond]


@pytest.mark.reference("python/image_frame_test.py", "ImageFrameTest.test_image_frame_numby_view")
@pytest.mark.reference("python/image_test.py", "ImageTest.test_image_numby_view")
@kinds
def test_a_view_is_read_only_and_a_copy_of_it_is_not(kind, noise):
    color = noise(HEIGHT, WIDTH, 3)
    view = kind(image_format=ImageFormat.SRGB, data=color).numpy_view()

    with pytest.raises(ValueError, match="assignment destination is read-only"):
        view[0, 0, 0] = 0
    copy = np.copy(view)
    copy[0, 0, 0] = 0
    assert np.array_equal(view, color)


@pytest.mark.reference(
    "python/image_frame_test.py",
    "ImageFrameTest.test_cropped_gray8_image",
    "ImageFrameTest.test_cropped_rgb_image",
)
@pytest.mark.reference(
    "python/image_test.py", "ImageTest.test_cropped_gray8_image", "ImageTest.test_cropped_rgb_image"
)
@pytest.mark.parametrize(
    ("shape", "image_format"),
    [((HEIGHT, WIDTH), ImageFormat.GRAY8), ((HEIGHT, WIDTH, 3), ImageFormat.SRGB)],
)
@kinds
def test_a_part_of_an_array_is_taken(kind, shape, image_format, noise):
    part = noise(*shape)[EDGE:-EDGE, EDGE:-EDGE]

    assert_holds(kind(image_format=image_format, data=np.ascontiguousarray(part)), part)
    assert_holds(kind(image_format=image_format, data=part), part)


@pytest.mark.reference(
    "python/image_frame_test.py", "ImageFrameTest.test_image_frame_numpy_view_with_contiguous_data"
)
@pytest.mark.reference("python/image_test.py", "ImageTest.test_image_numpy_view_with_contiguous_data")
@kinds
def test_views_of_a_contiguous_image_hold_the_image(kind, noise):
    color = noise(480, 640, 3)
    image = kind(image_format=ImageFormat.SRGB, data=color)
    before = sys.getrefcount(image)

    assert image.is_contiguous()
    assert_holds(image, color)
    first = image.numpy_view()
    assert sys.getrefcount(image) == before + 1
    second = image.numpy_view()
    assert sys.getrefcount(image) == before + 2
    del first, second
    gc.collect()
    assert sys.getrefcount(image) == before


@pytest.mark.reference(
    "python/image_frame_test.py", "ImageFrameTest.test_image_frame_numpy_view_with_non_contiguous_data"
)
@pytest.mark.reference("python/image_test.py", "ImageTest.test_image_numpy_view_with_non_contiguous_data")
@kinds
def test_a_view_of_an_image_with_gaps_lets_the_image_go(kind, noise):
    color = noise(481, 641, 3)
    image = kind(image_format=ImageFormat.SRGB, data=color)
    before = sys.getrefcount(image)

    assert not image.is_contiguous()
    assert_holds(image, color)
    view = image.numpy_view()
    assert sys.getrefcount(image) == before
    del view
    gc.collect()
    assert sys.getrefcount(image) == before


@pytest.mark.reference(
    "python/image_test.py", "ImageTest.test_image_create_from_cvmat", "ImageTest.test_image_create_from_file"
)
def test_a_photo_of_720_times_382_pixels_is_read_as_rgb(noise, tmp_path):
    # As MediaPipe's hands.jpg is, which is not in its repository.
    photo = cv2.resize(noise(12, 20, 3), (720, 382))
    path = tmp_path / "photo.jpg"
    cv2.imwrite(str(path), photo)
    decoded = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)

    for image in (
        Image(image_format=ImageFormat.SRGB, data=decoded),
        Image.create_from_file(str(path)),
    ):
        assert (image.width, image.height, image.channels) == (720, 382, 3)
        assert image.image_format == ImageFormat.SRGB
        assert_holds(image, decoded)


@pytest.mark.parametrize(
    ("shape", "image_format"), [((4, 5), ImageFormat.GRAY8), ((4, 5, 3), ImageFormat.SRGB)]
)
def test_of_a_file_of_16_bits_the_upper_8_are_taken(shape, image_format, noise, tmp_path):
    upper = noise(*shape)
    stored = upper if len(shape) == 2 else upper[:, :, ::-1]
    cv2.imwrite(str(tmp_path / "deep.png"), stored.astype(np.uint16) * 256 + 200)

    image = Image.create_from_file(str(tmp_path / "deep.png"))

    assert image.image_format == image_format
    assert_holds(image, upper)


def test_a_file_that_is_no_image_is_refused_with_mediapipes_words(tmp_path):
    (tmp_path / "text.png").write_text("no image")

    with pytest.raises(RuntimeError, match=r"Image decoding failed \(unknown image type\): .*text.png"):
        Image.create_from_file(str(tmp_path / "text.png"))
    with pytest.raises(RuntimeError, match=r"Image decoding failed \(can't fopen\): .*none.png"):
        Image.create_from_file(str(tmp_path / "none.png"))
