"""ImageFrame: what it accepts, what it shares, what it gives out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.array_payload import NUMPY_EXPORTS_READ_ONLY
from penstock_formats.image_format import LAYOUTS
from penstock_formats.messages import image_format_pb2


class Consumer:
    """A frame that replaces the arguments of np.from_dlpack by `request`, as an old library's are."""

    def __init__(self, frame: ImageFrame, **request: object) -> None:
        self.frame = frame
        self.request = request

    def __dlpack__(self, **_: object) -> object:
        return self.frame.__dlpack__(**self.request)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.frame.__dlpack_device__()


def rgb(height: int = 4, width: int = 6) -> np.ndarray:
    return np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)


def test_numbers_are_those_of_the_reference():
    assert {kind.name: int(kind) for kind in ImageFormat} == {
        "UNKNOWN": 0,
        "SRGB": 1,
        "SRGBA": 2,
        "GRAY8": 3,
        "GRAY16": 4,
        "YCBCR420P": 5,
        "YCBCR420P10": 6,
        "SRGB48": 7,
        "SRGBA64": 8,
        "VEC32F1": 9,
        "LAB8": 10,
        "SBGRA": 11,
        "VEC32F2": 12,
        "VEC32F4": 13,
    }


def test_a_frame_knows_its_size_and_shares_the_memory():
    pixels = rgb()

    frame = ImageFrame(pixels, ImageFormat.SRGB)

    assert (frame.width, frame.height, frame.format, frame.nbytes) == (6, 4, ImageFormat.SRGB, 72)
    assert np.shares_memory(frame.array, pixels)
    assert frame.array is frame.array


def test_the_view_refuses_writing_and_the_makers_array_stays_writable():
    pixels = rgb()
    frame = ImageFrame(pixels)

    with pytest.raises(ValueError, match="read-only"):
        frame.array[0, 0, 0] = 1
    pixels[0, 0, 0] = 99

    assert pixels.flags.writeable
    assert frame.array[0, 0, 0] == 99


def test_a_copy_does_not_see_what_the_maker_writes_later():
    pixels = rgb()
    frame = ImageFrame(pixels, copy=True)

    pixels[:] = 0

    assert frame.array[3, 5, 2] == 71
    assert not frame.array.flags.writeable


def test_options_name_the_formats_by_the_same_numbers():
    assert dict(image_format_pb2.ImageFormat.Format.items()) == {one.name: int(one) for one in ImageFormat}


@pytest.mark.parametrize("kind", LAYOUTS, ids=lambda kind: kind.name)
def test_every_format_takes_its_own_layout(kind):
    layout = LAYOUTS[kind]
    shape = (2, 3) if layout.channels == 1 else (2, 3, layout.channels)

    frame = ImageFrame(np.zeros(shape, layout.dtype), kind)

    assert frame.format is kind
    assert kind.channels == layout.channels


@pytest.mark.parametrize(
    ("shape", "dtype", "kind"),
    [
        ((2, 3, 3), np.uint8, ImageFormat.SRGB),
        ((2, 3, 4), np.uint8, ImageFormat.SRGBA),
        ((2, 3), np.uint8, ImageFormat.GRAY8),
        ((2, 3, 1), np.uint8, ImageFormat.GRAY8),
        ((2, 3), np.uint16, ImageFormat.GRAY16),
        ((2, 3, 3), np.uint16, ImageFormat.SRGB48),
        ((2, 3, 4), np.uint16, ImageFormat.SRGBA64),
        ((2, 3), np.float32, ImageFormat.VEC32F1),
        ((2, 3, 2), np.float32, ImageFormat.VEC32F2),
        ((2, 3, 4), np.float32, ImageFormat.VEC32F4),
    ],
)
def test_without_a_format_the_usual_one_is_taken(shape, dtype, kind):
    assert ImageFrame(np.zeros(shape, dtype)).format is kind


def test_strided_memory_is_taken_as_it_is():
    pixels = rgb(8, 12)[::2, ::-1, ::-1]

    frame = ImageFrame(pixels, ImageFormat.SRGB)

    assert np.shares_memory(frame.array, pixels)
    assert np.array_equal(frame.array, pixels)


@pytest.mark.parametrize(
    ("array", "kind", "message"),
    [
        (
            np.zeros((2, 3, 4), np.uint8),
            ImageFormat.SRGB,
            r"^an array of \(2, 3, 4\) uint8 is no SRGB image, which is \(H, W, 3\) uint8; convert it",
        ),
        (
            np.zeros((2, 3), np.float64),
            ImageFormat.VEC32F1,
            r"^an array of \(2, 3\) float64 is no VEC32F1 image, which is \(H, W\) float32; ",
        ),
        (
            np.zeros((0, 3), np.uint8),
            ImageFormat.GRAY8,
            r"^an array of \(0, 3\) uint8 is no GRAY8 image",
        ),
        (
            np.zeros((0, 3), np.uint8),
            None,
            r"^an array of \(0, 3\) uint8 is no image",
        ),
        (
            np.zeros(3, np.uint8),
            None,
            r"^an array of \(3,\) uint8 is no image",
        ),
        (
            np.zeros(3, np.uint8),
            ImageFormat.GRAY8,
            r"^an array of \(3,\) uint8 is no GRAY8 image",
        ),
        (
            np.zeros((2, 3, 1, 3), np.uint8),
            None,
            r"^an array of \(2, 3, 1, 3\) uint8 is no image",
        ),
        (
            np.zeros((2, 3), np.dtype(np.uint16).newbyteorder()),
            ImageFormat.GRAY16,
            r"^an array of \(2, 3\) [<>]u2 is no GRAY16 image, which is \(H, W\) uint16",
        ),
        (
            np.zeros((2, 3), np.int64),
            None,
            r"^an array of \(2, 3\) int64 is no image frame: .*SRGB is \(H, W, 3\) uint8",
        ),
        (
            np.zeros((2, 3), np.uint8),
            ImageFormat.YCBCR420P,
            "^an image frame cannot have the format .*YCBCR420P.*; use one of SRGB",
        ),
        (np.zeros((2, 3), np.uint8), 77, "^an image frame cannot have the format 77; "),
    ],
)
def test_an_array_of_another_layout_is_refused_with_both_layouts(array, kind, message):
    with pytest.raises(InvalidArgumentError, match=message):
        ImageFrame(array, kind)


def test_numpy_gets_the_view_or_a_copy_as_it_asks():
    frame = ImageFrame(rgb())

    assert np.asarray(frame) is frame.array
    assert np.asarray(frame, dtype=np.float32).dtype == np.float32
    taken = np.array(frame)
    taken[:] = 0
    assert frame.array.any()
    with pytest.raises(ValueError, match=r"^an array of uint8 cannot become float32 without a copy"):
        frame.__array__(np.float32, copy=False)


@pytest.mark.skipif(not NUMPY_EXPORTS_READ_ONLY, reason="this NumPy exports no read-only arrays")
def test_a_new_dlpack_consumer_borrows_read_only():
    frame = ImageFrame(rgb(8, 12)[::2, ::2])

    taken = np.from_dlpack(frame)

    assert np.shares_memory(taken, frame.array)
    assert np.array_equal(taken, frame.array)
    assert not taken.flags.writeable


def test_an_old_dlpack_consumer_gets_a_copy():
    frame = ImageFrame(rgb())

    taken = np.from_dlpack(Consumer(frame))

    assert np.array_equal(taken, frame.array)
    assert not np.shares_memory(taken, frame.array)


def test_an_old_dlpack_consumer_that_forbids_copies_gets_the_reason():
    with pytest.raises(BufferError, match=r"without DLPack 1\.0 as a copy only; leave out copy=False"):
        ImageFrame(rgb()).__dlpack__(copy=False)


def test_a_dlpack_consumer_on_another_device_is_refused():
    with pytest.raises(BufferError, match=r"^the array is in main memory, not on DLPack device \(2, 0\)"):
        ImageFrame(rgb()).__dlpack__(dl_device=(2, 0), max_version=(1, 0))


def test_frames_are_equal_only_to_themselves():
    pixels = rgb()
    one, other = ImageFrame(pixels), ImageFrame(pixels)

    assert one == one  # noqa: PLR0124  # identity is what is tested
    assert one != other
    assert len({one, other}) == 2


@given(
    kind=st.sampled_from(list(LAYOUTS)),
    height=st.integers(1, 5),
    width=st.integers(1, 5),
    protocol=st.integers(2, pickle.HIGHEST_PROTOCOL),
)
def test_a_pickled_frame_comes_back_with_the_same_pixels(kind, height, width, protocol):
    layout = LAYOUTS[kind]
    shape = (height, width) if layout.channels == 1 else (height, width, layout.channels)
    pixels = np.random.default_rng(height * width).integers(0, 200, shape).astype(layout.dtype)
    frame = ImageFrame(pixels[:, ::-1], kind)

    back = pickle.loads(pickle.dumps(frame, protocol))  # noqa: S301  # our own bytes

    assert back.format is kind
    assert np.array_equal(back.array, frame.array)
    assert not back.array.flags.writeable


def test_a_frame_describes_itself_even_when_it_was_never_finished():
    assert repr(ImageFrame(rgb())) == "<ImageFrame SRGB 6x4>"
    assert repr(ImageFrame.__new__(ImageFrame)) == "<ImageFrame unfinished>"
