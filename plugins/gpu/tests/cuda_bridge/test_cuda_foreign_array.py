"""Arrays of other libraries on a CUDA device: what is understood of them, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_gpu.cuda import dlpack
from penstock_gpu.cuda.driver import CudaError
from penstock_gpu.cuda.foreign_array import CudaSource

STREAM = 77


class Bridge:
    """The bridge that an array is described for."""

    ordinal = 1
    device_name = "Fake B"
    stream = STREAM

    def __init__(self):
        self.waited = []
        self.device = 1

    def wait_for(self, stream):
        self.waited.append(stream)

    def device_of(self, pointer):
        if self.device is None:
            raise CudaError("cuPointerGetAttribute: unknown")
        return self.device


@pytest.fixture
def bridge():
    return Bridge()


def image(*shape, dtype=np.uint8):
    return np.zeros(shape, dtype)


def test_a_dlpack_array_is_asked_for_in_the_order_of_our_stream(on_device, bridge):
    theirs = on_device(image(4, 6, 3))

    source = CudaSource.of(theirs, bridge)

    assert theirs.asked == [(STREAM, {"max_version": (1, 0)})]
    assert (source.pointer, source.shape, source.dtype) == (theirs.array.ctypes.data, (4, 6, 3), np.uint8)
    assert (source.width_bytes, source.pitch) == (18, 18)


def test_an_array_from_before_dlpack_1_is_asked_without_a_version(on_device, bridge):
    theirs = on_device(image(4, 6, dtype=np.float32), is_old=True)

    source = CudaSource.of(theirs, bridge)

    assert theirs.asked == [(STREAM, {})]
    assert (source.dtype, source.width_bytes) == (np.float32, 24)


def test_rows_may_be_apart(on_device, by_interface, bridge):
    part = image(4, 10, 3)[:, 2:6]

    for theirs in (on_device(part), by_interface(part)):
        source = CudaSource.of(theirs, bridge)
        assert (source.shape, source.width_bytes, source.pitch) == ((4, 4, 3), 12, 30)


@pytest.mark.parametrize(
    ("shape", "strides", "pitch"),
    [
        ((1, 5, 4), (1, 4, 1), 20),
        ((1, 5), (-3, 1), 5),
        ((3, 1, 4), (4, 99, 1), 4),
        ((3, 5, 1), (5, 1, 77), 5),
    ],
)
def test_strides_of_dimensions_of_one_do_not_matter(on_device, bridge, shape, strides, pitch):
    array = np.lib.stride_tricks.as_strided(image(64), shape, strides)

    source = CudaSource.of(on_device(array), bridge)

    assert (source.pitch, source.width_bytes) == (pitch, pitch)


def test_one_channel_has_no_dimension_of_its_own(on_device, bridge):
    assert CudaSource.of(on_device(image(4, 6, 1)), bridge).shape == (4, 6)


def test_the_capsule_is_held_as_long_as_the_description(on_device, bridge):
    theirs = on_device(image(4, 6))
    source = CudaSource.of(theirs, bridge)
    assert theirs.released == 0

    del source

    assert theirs.released == 1


def test_an_array_by_interface_is_waited_for_on_the_stream_that_it_names(by_interface, bridge):
    array = image(4, 6)
    CudaSource.of(by_interface(array), bridge)
    CudaSource.of(by_interface(array, stream=None), bridge)
    CudaSource.of(by_interface(array, stream=55), bridge)

    assert bridge.waited == [1, 1, 55]


def refused(array, bridge):
    with pytest.raises(InvalidArgumentError) as caught:
        CudaSource.of(array, bridge)
    return str(caught.value)


def test_an_array_in_main_memory_is_sent_to_of_array(on_device, bridge):
    said = "foreign array ndarray is in main memory, expected on a CUDA device; use GpuBuffer.of_array"
    assert refused(image(4, 6), bridge) == said
    assert refused(on_device(image(4, 6), 0, kind=dlpack.Device.CUDA_HOST), bridge) == said.replace(
        "ndarray", "OnDevice"
    )
    only_interface = SimpleNamespace(__array_interface__={})
    assert refused(only_interface, bridge) == said.replace("ndarray", "SimpleNamespace")


def test_an_array_on_another_device_names_both(on_device, by_interface, bridge):
    said = (
        " is on cuda:0, but the OpenGL context runs on cuda:1 (Fake B); "
        'copy it there, or open the context on device="cuda:0"'
    )
    assert refused(on_device(image(4, 6), 0), bridge) == "foreign array OnDevice" + said
    bridge.device = 0
    assert refused(by_interface(image(4, 6)), bridge) == "foreign array OnDeviceByInterface" + said


def test_what_cannot_be_an_image_is_refused_and_let_go(on_device, bridge):
    channels_first = on_device(image(3, 4, 6, 2))
    assert refused(channels_first, bridge) == (
        "the foreign array has shape (3, 4, 6, 2), expected (H, W) or (H, W, channels) with at least one "
        "pixel; for (channels, H, W) use permute(1, 2, 0).contiguous() or the like"
    )
    assert channels_first.released == 1
    assert refused(on_device(image(0, 4)), bridge).startswith(
        "the foreign array has shape (0, 4), expected (H, W)"
    )


@pytest.mark.parametrize(
    "array",
    [
        image(3, 4, 6).transpose(1, 2, 0),
        image(4, 6)[:, ::2],
        image(4, 6)[::-1],
        np.broadcast_to(image(1, 6), (4, 6)),
        image(4, 6, 4)[..., :3],
    ],
    ids=["channels first", "every second column", "upside down", "one row many times", "without alpha"],
)
def test_gaps_within_a_row_are_refused_with_the_cure(on_device, bridge, array):
    said = refused(on_device(array), bridge)

    assert said.startswith(
        f"the foreign array of shape {array.shape} has strides of {array.strides} bytes, expected "
    )
    assert said.endswith("; use tensor.contiguous() or cupy.ascontiguousarray")


def test_other_devices_elements_and_things_are_refused(on_device, by_interface, bridge):
    assert refused(on_device(image(4, 6), 0, kind=10), bridge) == (
        "foreign array OnDevice is on DLPack device type 10, expected 2, CUDA"
    )
    assert refused(on_device(image(4, 6, dtype=np.complex64)), bridge) == (
        "the foreign array has elements of type 5 with 64 bits, expected uint8, float16 or "
        "float32; convert the array before"
    )
    assert refused([1, 2], bridge) == (
        "list is no CUDA array, expected one with __dlpack__ or __cuda_array_interface__, "
        "such as a torch.Tensor or a cupy.ndarray"
    )
    assert refused(by_interface(image(4, 6), mask=3), bridge) == (
        "foreign array OnDeviceByInterface has a mask in its CUDA interface; fill in its elements before"
    )
    bridge.device = None
    assert refused(by_interface(image(4, 6)), bridge) == (
        "foreign array OnDeviceByInterface names an address that CUDA does not know: cuPointerGetAttribute: "
        "unknown"
    )
