"""DLPack capsules, both ways, with NumPy at the other end."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading

import numpy as np
import pytest

from penstock_gpu.cuda import dlpack


class Giver:
    """Exports a NumPy array through this pack's capsules."""

    def __init__(self, array, *, versioned=True, is_read_only=False, strides=None):
        self.array = array
        self.released = 0
        self.versioned = versioned
        self.tensor = dlpack.Tensor(
            array.ctypes.data,
            array.shape,
            strides or tuple(step // array.itemsize for step in array.strides),
            {"u": dlpack.Kind.UINT, "f": dlpack.Kind.FLOAT, "i": dlpack.Kind.INT}[array.dtype.kind],
            8 * array.itemsize,
            (dlpack.Device.CPU, 0),
            is_read_only,
        )

    def __dlpack_device__(self):
        return self.tensor.device

    def __dlpack__(self, **_):
        return dlpack.give(self.tensor, self._release, versioned=self.versioned)

    def _release(self):
        self.released += 1


PICTURES = [
    np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.arange(12, dtype=np.float16).reshape(2, 3, 2),
    np.arange(60, dtype=np.int64).reshape(3, 4, 5)[:, ::2],
]


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("image", PICTURES, ids=str)
def test_what_is_given_is_the_same_memory(image, versioned):
    giver = Giver(image, versioned=versioned)

    taken = np.from_dlpack(giver)

    np.testing.assert_array_equal(taken, image)
    assert np.shares_memory(taken, image)
    assert taken.strides == image.strides
    assert giver.released == 0


@pytest.mark.parametrize("versioned", [False, True])
def test_the_release_is_called_once_when_the_consumer_lets_go(versioned):
    before = dlpack.exported()
    giver = Giver(PICTURES[0], versioned=versioned)
    taken = np.from_dlpack(giver)
    part = taken[1:]
    assert dlpack.exported() == before + 1

    del taken
    assert giver.released == 0
    del part

    assert giver.released == 1
    assert dlpack.exported() == before


@pytest.mark.parametrize("versioned", [False, True])
def test_a_capsule_that_nobody_consumes_releases_when_it_goes(versioned):
    giver = Giver(PICTURES[0], versioned=versioned)

    capsule = giver.__dlpack__()
    del capsule

    assert giver.released == 1


def test_a_consumer_may_let_go_on_any_thread():
    giver = Giver(PICTURES[0])
    held = [np.from_dlpack(giver)]
    thread = threading.Thread(target=held.clear)

    thread.start()
    thread.join()

    assert giver.released == 1


def test_read_only_memory_is_told_by_capsules_with_a_version():
    assert np.from_dlpack(Giver(PICTURES[0], is_read_only=False)).flags.writeable
    assert not np.from_dlpack(Giver(PICTURES[0], is_read_only=True)).flags.writeable


@pytest.mark.parametrize("max_version", [None, (1, 0)])
@pytest.mark.parametrize("image", PICTURES, ids=str)
def test_what_numpy_gives_is_taken_as_it_lies(image, max_version):
    taken = dlpack.take(image.__dlpack__(max_version=max_version))

    tensor = taken.tensor
    assert tensor.pointer == image.ctypes.data
    assert tensor.shape == image.shape
    assert tuple(step * image.itemsize for step in tensor.strides) == image.strides
    assert (tensor.kind, tensor.bits) == ({"u": 1, "f": 2, "i": 0}[image.dtype.kind], 8 * image.itemsize)
    assert tensor.device == (dlpack.Device.CPU, 0)
    taken.close()


def test_what_was_taken_is_given_back_once():
    giver = Giver(PICTURES[0])
    taken = dlpack.take(giver.__dlpack__())

    taken.close()
    taken.close()
    del taken

    assert giver.released == 1


def test_what_nobody_gives_back_is_given_back_at_its_end():
    giver = Giver(PICTURES[0])
    taken = dlpack.take(giver.__dlpack__())
    assert giver.released == 0

    del taken
    gc.collect()

    assert giver.released == 1


def test_numpy_keeps_its_array_until_what_was_taken_is_given_back():
    image = np.zeros((4, 4), np.uint8)
    before = sys.getrefcount(image)
    taken = dlpack.take(image.__dlpack__())
    assert sys.getrefcount(image) > before

    taken.close()

    assert sys.getrefcount(image) == before


def test_a_byte_offset_is_part_of_the_address():
    giver = Giver(PICTURES[0])
    capsule = giver.__dlpack__()
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )(capsule, b"dltensor_versioned")
    dlpack._Versioned.from_address(address).tensor.byte_offset = 5

    assert dlpack.take(capsule).tensor.pointer == PICTURES[0].ctypes.data + 5


def test_a_capsule_is_consumed_once():
    capsule = PICTURES[0].__dlpack__()
    taken = dlpack.take(capsule)

    with pytest.raises(ValueError, match="has been consumed already; call __dlpack__ again"):
        dlpack.take(capsule)
    taken.close()


def test_what_is_no_capsule_is_refused():
    with pytest.raises(ValueError, match="list is no DLPack capsule; give what __dlpack__ returns"):
        dlpack.take([1, 2])


def test_a_capsule_of_another_major_version_is_refused_and_left_to_others():
    giver = Giver(PICTURES[0])
    capsule = giver.__dlpack__()
    dlpack.VERSION, real = (2, 0), dlpack.VERSION
    try:
        with pytest.raises(ValueError, match=r"has version 1\.0, expected 2\.x"):
            dlpack.take(capsule)
    finally:
        dlpack.VERSION = real

    assert giver.released == 0
    del capsule
    assert giver.released == 1


@pytest.mark.parametrize(
    ("shape", "strides"), [((), ()), ((5,), (1,)), ((2, 3), (3, 1)), ((2, 3, 4), (12, 4, 1))]
)
def test_compact_strides_are_those_of_row_major_order(shape, strides):
    assert dlpack.compact_strides(shape) == strides
