"""Image: a handle of a frame or of an image on the GPU."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from penstock.errors import PacketTypeError
from penstock_formats import Image, ImageFormat, ImageFrame, NormalizedRect


class OnGpu:
    """An image that is not in main memory: what `Image` needs of penstock-gpu's GpuBuffer."""

    width, height, nbytes = 4, 3, 48

    def __init__(self):
        self.reads = 0

    def frame(self):
        self.reads += 1
        return ImageFrame(np.zeros((3, 4, 4), np.uint8))

    def read_view(self, view):
        raise NotImplementedError


def test_an_image_shares_the_frame():
    frame = ImageFrame(np.zeros((2, 5, 3), np.uint8))

    image = Image(frame)

    assert image.frame is frame
    assert image.held is frame
    assert image.array is frame.array
    assert (image.width, image.height, image.format, image.nbytes) == (5, 2, ImageFormat.SRGB, 30)
    assert not image.uses_gpu
    assert np.asarray(image) is frame.array
    assert repr(image) == "<Image of <ImageFrame SRGB 5x2>>"
    assert image._repr_png_() == frame._repr_png_()


def test_an_image_on_the_gpu_is_read_only_when_its_pixels_are_asked_for():
    held = OnGpu()

    image = Image(held)

    assert (image.uses_gpu, image.width, image.height, image.nbytes) == (True, 4, 3, 48)
    assert image._repr_png_() is None
    assert held.reads == 0
    assert image.format is ImageFormat.SRGBA
    assert held.reads == 1


@pytest.mark.parametrize("other", [np.zeros((2, 2)), NormalizedRect(), None])
def test_nothing_else_is_an_image(other):
    with pytest.raises(PacketTypeError, match=r"^an Image holds an ImageFrame or an image on the GPU, not a"):
        Image(other)


def test_a_pickled_image_comes_back_with_the_same_pixels():
    image = Image(ImageFrame(np.arange(6, dtype=np.uint8).reshape(2, 3)))

    back = pickle.loads(pickle.dumps(image))  # noqa: S301  # our own bytes

    assert np.array_equal(back.array, image.array)
    assert back != image
