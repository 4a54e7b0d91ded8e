"""GpuBuffer: a handle, its forms, when they are made and dropped. Most of it as in the reference's tests."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.array_payload import NUMPY_EXPORTS_READ_ONLY
from penstock_gpu import GlTextureView, GpuBuffer, gl
from penstock_gpu.buffers.frame_storage import FrameStorage
from penstock_gpu.buffers.storage import (
    REGISTRY,
    Storage,
    StorageRegistry,
    register_converter,
    register_storage,
)
from penstock_gpu.formats import GpuBufferFormat as F

FRAMEBUFFER, COLOR, TEXTURE = 0x8D40, 0x8CE0, 0x0DE1


def pixels(height: int = 5, width: int = 7, channels: int = 4, seed: int = 1) -> np.ndarray:
    shape = (height, width) if channels == 1 else (height, width, channels)
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def fill(buffer: GpuBuffer, *color: float) -> None:
    """Draw one colour over the whole image; a context must be current."""
    with buffer.write_view(GlTextureView) as view:
        framebuffer = gl.make("Framebuffer")
        gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, view.target, view.name, 0)
        gl.glClearColor(*color)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT)
        gl.glBindFramebuffer(FRAMEBUFFER, 0)
        gl.delete("Framebuffer", framebuffer)


def look(buffer: GpuBuffer) -> None:
    """Take a texture view to read, and release it; a context must be current."""
    buffer.read_view(GlTextureView).release()


# --- the handle ------------------------------------------------------------------------------------------


def test_a_buffer_without_a_size_is_no_image():
    nothing = GpuBuffer()

    assert not nothing
    assert (nothing.width, nothing.height, nothing.format) == (0, 0, F.UNKNOWN)
    assert nothing == GpuBuffer()
    assert hash(nothing) == hash(GpuBuffer())
    assert repr(nothing) == "<GpuBuffer without an image>"
    with pytest.raises(
        FailedPreconditionError, match=r"this GpuBuffer is no image, .*; make it with a width"
    ):
        nothing.array()


def test_size_and_format_are_known_before_anything_is_allocated():
    buffer = GpuBuffer(300, 200)

    assert buffer
    assert (buffer.width, buffer.height, buffer.format) == (300, 200, F.BGRA32)
    assert buffer.storages() == ()
    assert repr(buffer) == "<GpuBuffer BGRA32 300x200 (empty)>"


def test_the_bytes_of_an_image_are_those_of_its_format_wherever_it_lies(context):
    buffer = GpuBuffer.of_array(np.zeros((5, 7, 3), np.uint8))

    assert buffer.nbytes == buffer.array().nbytes == 105
    context.run(lambda: buffer.read_view(GlTextureView).release())
    assert buffer.nbytes == 105
    assert GpuBuffer(4, 2, F.GRAY_FLOAT32).nbytes == 32
    assert (GpuBuffer().nbytes, GpuBuffer(4, 2, F.NV12).nbytes) == (0, 0)


def test_copies_are_equal_and_other_images_are_not():
    buffer = GpuBuffer(3, 2)
    other = copy.copy(buffer)

    assert buffer == other
    assert hash(buffer) == hash(other)
    assert buffer != GpuBuffer(3, 2)
    assert buffer != GpuBuffer()
    assert buffer != "a buffer"
    assert {buffer: 1}[other] == 1


@pytest.mark.parametrize("size", [(0, 2), (3, 0), (-1, 2), (3, -4)])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(
        InvalidArgumentError, match=f"a GpuBuffer of {size[0]}x{size[1]} is no image; give width"
    ):
        GpuBuffer(*size)


def test_reading_an_empty_buffer_says_that_nobody_has_written():
    for view in (ImageFrame, np.ndarray, GlTextureView):
        with pytest.raises(
            FailedPreconditionError,
            match=r"the image of GpuBuffer BGRA32 3x2 was never written to, .*take a write_view",
        ):
            GpuBuffer(3, 2).read_view(view)


def test_a_view_without_a_path_is_refused_with_view_and_storages():
    buffer = GpuBuffer.of_array(pixels())

    for ask, kind in ((buffer.read_view, "read"), (buffer.write_view, "write")):
        with pytest.raises(InvalidArgumentError) as raised:
            ask(bytes)
        assert str(raised.value).startswith(
            f"the image of GpuBuffer BGRA32 7x5 has no way to a view bytes to {kind} from its storages "
            "(FrameStorage); ask for one of "
        )
        assert "GlTextureView, ImageFrame" in str(raised.value)
    assert buffer.storages() == ("FrameStorage",)


def test_an_argument_that_a_view_does_not_take_is_refused(context):
    buffer = GpuBuffer.of_array(pixels())

    with pytest.raises(
        InvalidArgumentError, match=r"a frame's view numpy.ndarray takes no argument 'plane'; leave it out"
    ):
        buffer.read_view(np.ndarray, plane=0)
    with pytest.raises(
        InvalidArgumentError,
        match="the storage of a texture has plane 0 only, and no plane 1; leave plane out",
    ):
        context.run(lambda: buffer.read_view(GlTextureView, plane=1))
    with pytest.raises(InvalidArgumentError, match="a view GlTextureView takes no argument 'level'"):
        context.run(lambda: buffer.read_view(GlTextureView, level=1))


# --- main memory -----------------------------------------------------------------------------------------


def test_a_wrapped_frame_is_not_copied_and_comes_back_as_itself():
    array = pixels()
    frame = ImageFrame(array, ImageFormat.SRGBA)

    buffer = GpuBuffer.of_frame(frame)

    assert (buffer.width, buffer.height, buffer.format) == (7, 5, F.BGRA32)
    assert buffer.frame() is frame
    assert np.shares_memory(buffer.array(), array)
    assert buffer.storages() == ("FrameStorage",)


def test_a_wrapped_array_is_not_copied_and_is_read_only_outside():
    array = pixels()

    buffer = GpuBuffer.of_array(array)

    assert np.shares_memory(buffer.array(), array)
    assert np.shares_memory(buffer.frame().array, array)
    assert buffer.array() is buffer.array()
    assert buffer.frame() is buffer.frame()
    assert not buffer.array().flags.writeable
    assert array.flags.writeable


def test_an_array_is_copied_when_asked_for():
    array = pixels()
    buffer = GpuBuffer.of_array(array, copy=True)
    before = array.copy()

    array[:] = 0

    assert np.array_equal(buffer.array(), before)


def test_read_only_and_strided_arrays_are_taken_as_they_are(context):
    whole = pixels(9, 12)
    whole.flags.writeable = False
    for array in (
        whole,
        whole[1:6, 2:9],
        whole[::2, ::3],
        whole[::-1],
        whole.transpose(1, 0, 2),
        whole[:, :, :3],
    ):
        buffer = GpuBuffer.of_array(array)
        assert np.shares_memory(buffer.array(), whole)

        context.run(lambda buffer=buffer: look(buffer))
        back = GpuBuffer(buffer.width, buffer.height, buffer.format)
        context.run(lambda buffer=buffer, back=back: copy_texture(buffer, back))

        assert np.array_equal(back.array(), array)


def copy_texture(source: GpuBuffer, target: GpuBuffer) -> None:
    with source.read_view(GlTextureView) as read, target.write_view(GlTextureView) as write:
        framebuffer = gl.make("Framebuffer")
        gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, read.target, read.name, 0)
        gl.glBindTexture(TEXTURE, write.name)
        gl.glCopyTexSubImage2D(TEXTURE, 0, 0, 0, 0, 0, read.width, read.height)
        gl.glBindTexture(TEXTURE, 0)
        gl.glBindFramebuffer(FRAMEBUFFER, 0)
        gl.delete("Framebuffer", framebuffer)


def test_an_array_with_one_channel_may_have_a_dimension_for_it():
    assert GpuBuffer.of_array(pixels(channels=1)[:, :, None]).array().shape == (5, 7)


def test_what_is_no_image_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"an array of .5, 7, 4. uint8 is no RGB24 image"):
        GpuBuffer.of_array(pixels(), F.RGB24)
    with pytest.raises(
        InvalidArgumentError, match=r"no GPU buffer format holds an array of .5, 7, 4. float64"
    ):
        GpuBuffer.of_array(pixels().astype(np.float64))
    with pytest.raises(
        InvalidArgumentError, match="of_frame takes an ImageFrame, not 'ndarray'; use of_array"
    ):
        GpuBuffer.of_frame(pixels())
    with pytest.raises(
        InvalidArgumentError, match="image format GRAY16 has no GPU buffer format; convert the frame"
    ):
        GpuBuffer.of_frame(ImageFrame(np.zeros((2, 2), np.uint16)))


def test_a_buffer_that_nobody_wrote_to_gives_a_black_array_to_write_to():
    buffer = GpuBuffer(3, 2, F.RGB24)

    array = buffer.write_view(np.ndarray)

    assert array.shape == (2, 3, 3)
    assert array.flags.writeable
    assert array.flags.c_contiguous
    assert not array.any()
    array[:] = 9
    assert (buffer.frame().array == 9).all()
    assert np.shares_memory(buffer.array(), array)


@pytest.mark.parametrize("make", [GpuBuffer.of_array, lambda array: GpuBuffer.of_frame(ImageFrame(array))])
def test_writing_leaves_what_was_read_or_wrapped_before_as_it_was(make):
    array = pixels()
    before = array.copy()
    buffer = make(array)
    frame = buffer.frame()

    buffer.write_view(np.ndarray)[:] = 7

    assert (buffer.array() == 7).all()
    assert np.array_equal(array, before)
    assert np.array_equal(frame.array, before)
    assert buffer.frame() is not frame


def test_what_was_written_and_read_keeps_what_it_showed_when_it_is_written_again():
    buffer = GpuBuffer(3, 2)
    buffer.write_view(np.ndarray)[:] = 1
    frame, array = buffer.frame(), buffer.array()

    buffer.write_view(np.ndarray)[:] = 2

    assert (frame.array == 1).all()
    assert (array == 1).all()
    assert (buffer.frame().array == 2).all()


def test_a_second_write_goes_to_the_same_memory_while_nobody_has_read():
    buffer = GpuBuffer(3, 2)

    assert buffer.write_view(np.ndarray) is buffer.write_view(np.ndarray)


def test_a_written_array_begins_with_the_image_that_was_there(context):
    wrapped = GpuBuffer.of_array(pixels()[:, ::-1])
    drawn = GpuBuffer(7, 5)
    context.run(lambda: fill(drawn, 1, 0, 0, 1))

    assert np.array_equal(wrapped.write_view(np.ndarray), pixels()[:, ::-1])
    assert (drawn.write_view(np.ndarray) == (255, 0, 0, 255)).all()


def test_an_array_of_another_shape_or_into_a_read_view_is_refused_by_the_array():
    buffer = GpuBuffer.of_array(pixels())

    with pytest.raises(ValueError, match="could not broadcast"):
        buffer.write_view(np.ndarray)[:] = pixels(4, 4)
    with pytest.raises(ValueError, match="read-only"):
        buffer.array()[:] = 0


def test_an_image_frame_is_no_view_to_write():
    buffer = GpuBuffer.of_array(pixels())

    with pytest.raises(
        InvalidArgumentError,
        match=r"an ImageFrame, since that never changes; .*ask for write_view\(numpy.ndarray",
    ):
        buffer.write_view(ImageFrame)
    assert buffer.storages() == ("FrameStorage",)


@pytest.mark.parametrize("kind", [F.RGBA_HALF64, F.GRAY_HALF16, F.TWO_COMPONENT_HALF16, F.TWO_COMPONENT8])
def test_a_format_without_an_image_frame_says_so_and_gives_arrays(kind, context):
    written = GpuBuffer(3, 2, kind)
    written.write_view(np.ndarray)[:] = 1
    drawn = GpuBuffer(3, 2, kind)
    context.run(lambda: fill(drawn, 0, 0, 0, 0))

    for buffer in (written, drawn):
        with pytest.raises(InvalidArgumentError) as raised:
            buffer.frame()
        assert str(raised.value) == (
            f"no stored frame is an ImageFrame of GPU buffer format {kind.name}; "
            "ask for read_view(numpy.ndarray), or draw to a buffer of BGRA32 or RGBA_FLOAT128"
        )
    assert (written.array() == 1).all()
    assert (drawn.array() == 0).all()


def test_a_format_of_several_planes_has_size_and_name_but_no_view(context):
    buffer = GpuBuffer(4, 4, F.NV12)

    for view in (np.ndarray, GlTextureView):
        with pytest.raises(
            InvalidArgumentError, match=r"GPU buffer format NV12 has several planes, .* use one of RGB24"
        ):
            context.run(lambda view=view: buffer.write_view(view))
    assert buffer.storages() == ()


# --- between main memory and textures --------------------------------------------------------------------


def test_a_drawn_image_is_read_as_a_frame(context):
    buffer = GpuBuffer(30, 20)

    context.run(lambda: fill(buffer, 1, 0, 0, 1))

    frame = buffer.frame()
    assert (frame.width, frame.height, frame.format) == (30, 20, ImageFormat.SRGBA)
    assert (frame.array == (255, 0, 0, 255)).all()


def test_a_written_image_is_read_as_a_texture(context):
    array = pixels()
    source, target = GpuBuffer.of_array(array), GpuBuffer(7, 5)

    context.run(lambda: copy_texture(source, target))

    assert np.array_equal(target.frame().array, array)


def test_each_form_is_made_once(context):
    buffer = GpuBuffer.of_array(pixels())
    for _ in range(3):
        context.run(lambda: look(buffer))
        buffer.array()
    assert (context.uploads, context.readbacks) == (1, 0)
    assert buffer.storages() == ("FrameStorage", "TextureStorage")

    context.run(lambda: fill(buffer, 0, 1, 0, 1))
    frames = {id(buffer.frame()) for _ in range(3)}
    arrays = {id(buffer.array()) for _ in range(3)}

    assert (context.uploads, context.readbacks, len(frames), len(arrays)) == (1, 1, 1, 1)
    assert np.shares_memory(buffer.array(), buffer.frame().array)


def test_copies_share_what_was_converted(context):
    buffer = GpuBuffer.of_array(pixels())
    other = copy.copy(buffer)

    context.run(lambda: look(buffer))
    context.run(lambda: look(other))

    assert other.storages() == ("FrameStorage", "TextureStorage")
    assert context.uploads == 1


def test_a_write_drops_all_other_forms_and_a_read_none(context):
    buffer = GpuBuffer.of_array(pixels())
    context.run(lambda: look(buffer))
    assert buffer.storages() == ("FrameStorage", "TextureStorage")

    context.run(lambda: fill(buffer, 0, 0, 1, 1))
    assert buffer.storages() == ("TextureStorage",)
    assert (buffer.array() == (0, 0, 255, 255)).all()
    assert buffer.storages() == ("TextureStorage", "FrameStorage")

    buffer.write_view(np.ndarray)[:] = 5
    assert buffer.storages() == ("FrameStorage",)
    target = GpuBuffer(7, 5)
    context.run(lambda: copy_texture(buffer, target))
    assert (target.array() == 5).all()


def test_each_reader_sees_the_image_of_its_time(context):
    buffer, red, green = GpuBuffer(7, 5), GpuBuffer(7, 5), GpuBuffer(7, 5)

    buffer.write_view(np.ndarray)[:] = (255, 0, 0, 255)
    context.run(lambda: copy_texture(buffer, red))
    buffer.write_view(np.ndarray)[:] = (0, 255, 0, 255)
    context.run(lambda: copy_texture(buffer, green))
    context.run(lambda: fill(buffer, 0, 0, 1, 1))

    assert (red.array() == (255, 0, 0, 255)).all()
    assert (green.array() == (0, 255, 0, 255)).all()
    assert (buffer.array() == (0, 0, 255, 255)).all()


def test_a_refused_write_leaves_the_buffer_as_it_was(context):
    buffer = GpuBuffer.of_array(pixels())
    context.run(lambda: look(buffer))

    with pytest.raises(InvalidArgumentError, match="no plane 3"):
        context.run(lambda: buffer.write_view(GlTextureView, plane=3))

    assert buffer.storages() == ("FrameStorage", "TextureStorage")


# --- the registry ----------------------------------------------------------------------------------------


class Letters(str):
    """A view of another pack."""

    __slots__ = ()


class LetterStorage(Storage):
    """A storage of another pack: it counts its instances."""

    made = 0

    def __init__(self, text: str, width: int = 2, height: int = 1, kind: F = F.BGRA32) -> None:
        self.text = text
        self.width, self.height, self.format = width, height, kind
        type(self).made += 1

    def provides(self, view: type, *, for_writing: bool) -> bool:
        return view is Letters

    def read_view(self, view: type, **arguments: object) -> Letters:
        return Letters(self.text)

    def write_view(self, view: type, **arguments: object) -> Letters:
        self.text = str(arguments.get("text", "written"))
        return Letters(self.text)


@pytest.fixture
def registry(monkeypatch):
    """Restore the registry after the test."""
    monkeypatch.setattr(REGISTRY, "_factories", REGISTRY._factories)
    monkeypatch.setattr(REGISTRY, "_converters", REGISTRY._converters)
    LetterStorage.made = 0
    return REGISTRY


def test_a_further_pack_adds_a_view_and_a_storage(registry):
    register_storage(Letters, lambda width, height, kind: LetterStorage("new", width, height, kind))
    register_converter(
        Letters, FrameStorage, lambda storage: LetterStorage(str(storage.read_view(np.ndarray)[0, 0]))
    )
    register_converter(
        np.ndarray,
        LetterStorage,
        lambda storage: FrameStorage.of_array(np.full((1, 2, 4), len(storage.text), np.uint8)),
    )

    empty, full = GpuBuffer(2, 1), GpuBuffer.of_array(np.full((1, 2), 42, np.uint8))

    assert empty.write_view(Letters, text="three") == "three"
    assert (empty.array() == 5).all()
    assert empty.storages() == ("LetterStorage", "FrameStorage")
    assert full.read_view(Letters) == "42"
    assert full.storages() == ("FrameStorage", "LetterStorage")
    assert GpuBuffer.of_storage(LetterStorage("kept")).read_view(Letters) == "kept"


def test_of_two_registrations_the_last_wins(registry):
    for text in ("first", "last"):
        register_storage(Letters, lambda width, height, kind, text=text: LetterStorage(text))
        register_converter(Letters, FrameStorage, lambda storage, text=text: LetterStorage(text))
    buffer = GpuBuffer(2, 1)

    assert REGISTRY.factory(Letters)(2, 1, F.BGRA32).text == "last"
    assert GpuBuffer.of_array(pixels()).read_view(Letters) == "last"
    assert buffer.write_view(Letters) == "written"


def test_the_first_storage_with_a_converter_is_the_one_that_is_converted(registry, context):
    asked = []
    register_converter(Letters, FrameStorage, lambda storage: asked.append("frame") or LetterStorage("frame"))
    buffer = GpuBuffer(2, 1)
    context.run(lambda: fill(buffer, 1, 1, 1, 1))
    buffer.array()
    assert buffer.storages() == ("TextureStorage", "FrameStorage")

    assert (
        buffer.read_view(Letters) == "frame"
    )  # a texture has no converter to letters, so that its turn passes
    assert buffer.read_view(Letters) == "frame"
    assert asked == ["frame"]


def test_a_write_view_without_a_storage_to_begin_with_replaces_all(registry):
    register_storage(Letters, lambda width, height, kind: LetterStorage("new"))
    buffer = GpuBuffer.of_array(pixels())

    buffer.write_view(Letters)

    assert buffer.storages() == ("LetterStorage",)


def test_of_two_readers_that_convert_at_once_the_first_result_is_kept(registry):
    both_convert = threading.Barrier(2, timeout=10)
    first_is_kept = threading.Event()
    names = iter(("first", "second"))

    def convert(storage: FrameStorage) -> LetterStorage:
        made = LetterStorage(next(names))
        both_convert.wait()
        if made.text == "second":
            assert first_is_kept.wait(10)
        return made

    register_converter(Letters, FrameStorage, convert)
    buffer = GpuBuffer.of_array(pixels())
    seen = []

    def read() -> None:
        seen.append(buffer.read_view(Letters))
        first_is_kept.set()

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert seen == ["first", "first"]
    assert LetterStorage.made == 2
    assert buffer.storages() == ("FrameStorage", "LetterStorage")


def test_what_was_converted_while_somebody_wrote_is_not_kept(registry):
    """Writers need exclusive access; a concurrent write is not replaced by older pixels."""
    buffer = GpuBuffer.of_array(pixels())

    def convert(storage: FrameStorage) -> LetterStorage:
        buffer._image._storages = (FrameStorage.of_array(pixels(seed=2)),)  # what a writer leaves
        return LetterStorage("old")

    register_converter(Letters, FrameStorage, convert)

    assert buffer.read_view(Letters) == "old"
    assert buffer.storages() == ("FrameStorage",)


def test_a_converter_that_fails_leaves_the_buffer_as_it_was(registry):
    def fail(storage: Storage) -> Storage:
        raise RuntimeError("no letters today")

    register_converter(Letters, FrameStorage, fail)
    buffer = GpuBuffer.of_array(pixels())

    with pytest.raises(RuntimeError, match="no letters today"):
        buffer.read_view(Letters)

    assert buffer.storages() == ("FrameStorage",)
    assert np.array_equal(buffer.array(), pixels())


def test_only_types_are_registered():
    registry = StorageRegistry()

    with pytest.raises(
        InvalidArgumentError, match="view is 'ImageFrame', but must be a type; give the class itself"
    ):
        registry.register_storage("ImageFrame", FrameStorage.make)
    with pytest.raises(InvalidArgumentError, match="source is None, but must be a type"):
        registry.register_converter(Letters, None, FrameStorage.make)


# --- other libraries -------------------------------------------------------------------------------------


class Consumer:
    """The requests of np.from_dlpack, as a library of a certain version makes them."""

    def __init__(self, buffer: GpuBuffer, **request: object) -> None:
        self.buffer = buffer
        self.request = request

    def __dlpack__(self, **_: object) -> object:
        return self.buffer.__dlpack__(**self.request)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.buffer.__dlpack_device__()


def test_dlpack_gives_the_pixels_in_main_memory(context):
    buffer = GpuBuffer(3, 2)
    context.run(lambda: fill(buffer, 0, 1, 0, 1))

    seen = np.from_dlpack(buffer)

    assert (seen == (0, 255, 0, 255)).all()
    assert buffer.__dlpack_device__() == (1, 0)


@pytest.mark.skipif(not NUMPY_EXPORTS_READ_ONLY, reason="NumPy before 2.1 cannot flag an export as read-only")
def test_a_consumer_that_knows_read_only_views_gets_the_memory_itself():
    array = pixels()
    seen = np.from_dlpack(Consumer(GpuBuffer.of_array(array), max_version=(1, 0)))

    assert np.shares_memory(seen, array)
    assert not seen.flags.writeable


def test_an_older_consumer_gets_a_copy():
    array = pixels()
    seen = np.from_dlpack(Consumer(GpuBuffer.of_array(array)))

    assert np.array_equal(seen, array)
    assert not np.shares_memory(seen, array)


def test_half_floats_are_exported_too_and_other_devices_are_refused():
    buffer = GpuBuffer.of_array(np.ones((2, 3), np.float16))

    assert np.from_dlpack(buffer).dtype == np.float16
    with pytest.raises(BufferError, match=r"the array is in main memory, not on DLPack device \(2, 0\)"):
        buffer.__dlpack__(dl_device=(2, 0))


def test_the_exported_memory_outlives_the_buffer():
    buffer = GpuBuffer.of_array(pixels().copy())
    seen = np.from_dlpack(buffer)

    del buffer

    assert np.array_equal(seen, pixels())


def test_a_buffer_pickles_as_a_copy_of_its_pixels(context):
    drawn = GpuBuffer(3, 2)
    context.run(lambda: fill(drawn, 1, 0, 0, 1))
    for buffer in (drawn, GpuBuffer.of_array(np.ones((2, 3), np.uint8), F.ONE_COMPONENT8_ALPHA)):
        other = pickle.loads(pickle.dumps(buffer))  # noqa: S301  # our own
        assert (other.format, other.storages()) == (buffer.format, ("FrameStorage",))
        assert np.array_equal(other.array(), buffer.array())
        assert other != buffer

    for empty in (GpuBuffer(), GpuBuffer(3, 2, F.NV12)):
        other = pickle.loads(pickle.dumps(empty))  # noqa: S301  # our own
        assert (other.width, other.height, other.format, bool(other)) == (
            empty.width, empty.height, empty.format, bool(empty)
        )  # fmt: skip


def test_a_notebook_shows_the_image_as_the_frame_does(context):
    pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    buffer = GpuBuffer(30, 20)
    context.run(lambda: fill(buffer, 0, 0, 1, 1))

    png = buffer._repr_png_()

    assert png == buffer.frame()._repr_png_()
    assert png.startswith(b"\x89PNG")


def test_a_notebook_gets_no_image_and_no_error_where_there_is_none(context):
    drawn = GpuBuffer(3, 2)
    context.run(lambda: fill(drawn, 0, 0, 1, 1))
    open_view = context.run(lambda: drawn.write_view(GlTextureView))

    for buffer in (GpuBuffer(), GpuBuffer(3, 2), GpuBuffer.of_array(np.ones((2, 3), np.float16)), drawn):
        assert buffer._repr_png_() is None
    open_view.release()


def test_buffers_of_main_memory_need_no_opengl():
    program = """
import sys
import numpy as np
from penstock_formats import ImageFrame
from penstock_gpu import GpuBuffer, GpuBufferPool, GlTextureView
buffer = GpuBuffer.of_array(np.zeros((2, 3, 4), np.uint8))
buffer.frame(), buffer.array(), buffer.write_view(np.ndarray), np.from_dlpack(buffer), buffer._repr_png_()
print(sorted(name for name in sys.modules if name.startswith("OpenGL")))
with open("/proc/self/maps") as maps:
    print([line for line in maps if "libEGL" in line or "libGL" in line])
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (run.stdout, run.stderr, run.returncode) == ("[]\n[]\n", "", 0)
