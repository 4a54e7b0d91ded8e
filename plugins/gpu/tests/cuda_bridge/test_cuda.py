"""GpuBuffers and CUDA: real pixels of a real OpenGL, through a driver that is none (see conftest.py)."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_gpu import gl
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.buffers.texture_storage import GlTextureView
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.cuda import CudaArray, CudaUnavailableError, dlpack, of_cuda, why_no_cuda
from penstock_gpu.cuda import bridge as cuda_bridge
from penstock_gpu.cuda.bridge import KEPT, CudaBridge, bridge_of
from penstock_gpu.cuda.driver import CudaError
from penstock_gpu.errors import GpuUnavailableError
from penstock_gpu.formats import GpuBufferFormat, pixel_layout, shape_of

F = GpuBufferFormat
#: Every format that has pixels.
FORMATS = [
    F.BGRA32, F.RGBA32, F.IMMUTABLE_RGBA32, F.RGB24, F.TWO_COMPONENT8,
    F.ONE_COMPONENT8, F.ONE_COMPONENT8_RED, F.ONE_COMPONENT8_ALPHA,
    F.GRAY_FLOAT32, F.TWO_COMPONENT_FLOAT32, F.RGBA_FLOAT128,
    F.GRAY_HALF16, F.TWO_COMPONENT_HALF16, F.RGBA_HALF64,
]  # fmt: skip
#: Odd, so that rows are not aligned.
WIDTH, HEIGHT = 7, 5


@pytest.fixture
def gl_context(gl_available):
    context = GlContext.create(name="cuda test", api="gl")
    yield context
    assert context.close()


@pytest.fixture
def bridge(cuda, gl_context):
    return gl_context.run(lambda: bridge_of(gl_context))


def pixels(kind, seed=0, width=WIDTH, height=HEIGHT):
    random = np.random.default_rng(seed)
    dtype = pixel_layout(kind).dtype
    shape = shape_of(width, height, kind)
    return (
        random.integers(0, 256, shape, np.uint8) if dtype == np.uint8 else random.random(shape).astype(dtype)
    )


def in_texture(context, array, kind=None):
    """Return a buffer whose pixels are in a texture only."""

    def make():
        buffer = GpuBuffer.of_array(array, kind)
        with buffer.write_view(GlTextureView):
            return buffer

    buffer = context.run(make)
    assert buffer.storages() == ("TextureStorage",)
    return buffer


def settle(context):
    """Wait for the posted jobs."""
    context.run(lambda: None)


# --- there and back -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_a_texture_comes_to_cuda_unchanged(cuda, gl_context, taker, kind):
    array = pixels(kind)
    buffer = in_texture(gl_context, array, kind)
    before = gl_context.readbacks

    view = buffer.read_view(CudaArray)
    taken = taker(view)

    np.testing.assert_array_equal(taken.array, array)
    assert (view.shape, view.dtype, view.nbytes) == (array.shape, array.dtype, array.nbytes)
    assert gl_context.readbacks == before
    assert buffer.storages() == ("TextureStorage", "CudaStorage")
    taken.free()


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_an_array_of_cuda_comes_to_a_texture_unchanged(cuda, gl_context, on_device, kind):
    array = pixels(kind)
    before = gl_context.uploads

    buffer = of_cuda(on_device(array), kind, context=gl_context)
    assert (buffer.width, buffer.height, buffer.format) == (WIDTH, HEIGHT, kind)
    assert buffer.storages() == ("CudaStorage",)

    def through_a_texture():
        with buffer.read_view(GlTextureView) as view:
            assert (view.width, view.height) == (WIDTH, HEIGHT)
        read = in_texture_only(buffer)
        return read.array()

    np.testing.assert_array_equal(gl_context.run(through_a_texture), array)
    assert gl_context.uploads == before


def in_texture_only(buffer):
    """Drop all storages but the texture."""
    with buffer.write_view(GlTextureView):
        return buffer


def test_the_usual_format_of_an_array_is_found(cuda, gl_context, on_device, by_interface):
    for shape, dtype, kind in [
        ((4, 6, 4), np.uint8, F.BGRA32),
        ((4, 6, 3), np.uint8, F.RGB24),
        ((4, 6, 1), np.uint8, F.ONE_COMPONENT8),
        ((4, 6), np.float16, F.GRAY_HALF16),
    ]:
        for made in (on_device, by_interface):
            assert of_cuda(made(np.zeros(shape, dtype)), context=gl_context).format == kind


def test_rows_that_are_apart_are_copied_together(cuda, gl_context, on_device):
    whole = pixels(F.BGRA32, width=20)

    buffer = of_cuda(on_device(whole[:, 4:11]), context=gl_context)

    np.testing.assert_array_equal(buffer.array(), whole[:, 4:11])


def test_alignments_that_a_user_of_opengl_has_set_shear_nothing(cuda, gl_context, on_device, taker):
    array = pixels(F.RGB24)

    def align():
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 8)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 8)

    buffer = in_texture(gl_context, array)
    gl_context.run(align)
    held = taker(buffer.read_view(CudaArray))
    np.testing.assert_array_equal(held.array, array)
    held.free()
    other = of_cuda(on_device(array), context=gl_context)
    gl_context.run(align)
    np.testing.assert_array_equal(gl_context.run(lambda: in_texture_only(other)).array(), array)


def test_pixels_in_main_memory_are_uploaded_for_cuda_once(cuda, gl_context, taker):
    array = pixels(F.RGB24)
    buffer = GpuBuffer.of_array(array)
    before = gl_context.uploads

    views = [gl_context.run(lambda: buffer.read_view(CudaArray)) for _ in range(2)]

    for view in views:
        taken = taker(view)
        np.testing.assert_array_equal(taken.array, array)
        taken.free()
    assert views[0].pointer == views[1].pointer
    assert gl_context.uploads == before + 1


def test_what_cuda_has_is_read_as_array_and_as_frame(cuda, gl_context, on_device):
    array = pixels(F.BGRA32)
    buffer = of_cuda(on_device(array), context=gl_context)

    np.testing.assert_array_equal(buffer.array(), array)
    assert isinstance(buffer.frame(), ImageFrame)
    np.testing.assert_array_equal(buffer.frame().array, array)
    assert gl_context.readbacks == 1


def test_what_is_written_by_cuda_is_what_the_buffer_has(cuda, gl_context, on_device):
    first, second = pixels(F.BGRA32, 1), pixels(F.BGRA32, 2)
    buffer = in_texture(gl_context, first)

    with gl_context.run(lambda: buffer.write_view(CudaArray)) as view:
        view.copy_from(on_device(second))

    assert buffer.storages() == ("CudaStorage",)
    np.testing.assert_array_equal(buffer.array(), second)


def test_writing_leaves_alone_what_somebody_still_holds(cuda, gl_context, on_device, taker):
    first, second = pixels(F.BGRA32, 1), pixels(F.BGRA32, 2)
    buffer = of_cuda(on_device(first), context=gl_context)
    held = taker(buffer.read_view(CudaArray))

    with buffer.write_view(CudaArray) as view:
        view.copy_from(on_device(second))

    np.testing.assert_array_equal(held.array, first)
    np.testing.assert_array_equal(buffer.array(), second)
    held.free()


def test_opengl_reads_a_copy_of_what_somebody_still_holds(cuda, gl_context, on_device, taker):
    array = pixels(F.BGRA32)
    buffer = of_cuda(on_device(array), context=gl_context)
    held = taker(buffer.read_view(CudaArray))

    shown = gl_context.run(lambda: in_texture_only(buffer)).array()

    np.testing.assert_array_equal(shown, array)
    np.testing.assert_array_equal(held.array, array)
    held.free()


def test_a_texture_of_one_context_is_read_by_cuda_in_another_of_its_group(cuda, gl_context, taker):
    array = pixels(F.BGRA32)
    buffer = in_texture(gl_context, array)
    other = GlContext.create(gl_context)

    taken = taker(other.run(lambda: buffer.read_view(CudaArray)))

    np.testing.assert_array_equal(taken.array, array)
    taken.free()
    assert other.close()


def test_what_cuda_has_is_seen_in_contexts_that_share_and_in_those_that_do_not(cuda, gl_context, on_device):
    array = pixels(F.BGRA32)
    alien, sharing = GlContext.create(api="gl"), GlContext.create(gl_context)
    for context in (sharing, alien):
        buffer = of_cuda(on_device(array), context=gl_context)
        shown = context.run(lambda b=buffer: in_texture_only(b).array())
        np.testing.assert_array_equal(shown, array)
        del buffer
    assert alien.close()
    assert sharing.close()


# --- how long the memory is lent ----------------------------------------------------------------------


def test_memory_is_mapped_until_the_last_consumer_lets_go(cuda, gl_context, taker):
    buffer = in_texture(gl_context, pixels(F.BGRA32))
    view = buffer.read_view(CudaArray)
    first, second = taker(view), taker(view)

    view.release()
    first.free()
    del buffer
    gc.collect()
    settle(gl_context)
    assert len(cuda.mapped) == 1
    np.testing.assert_array_equal(second.array, pixels(F.BGRA32))
    second.free()
    settle(gl_context)

    assert cuda.mapped == {}


def test_a_view_that_nobody_releases_is_released_at_its_end(cuda, gl_context):
    buffer = in_texture(gl_context, pixels(F.BGRA32))
    view = buffer.read_view(CudaArray)
    settle(gl_context)
    assert len(cuda.mapped) == 1

    del view
    settle(gl_context)

    assert cuda.mapped == {}


def test_a_consumer_may_let_go_on_a_thread_without_opengl(cuda, gl_context, taker):
    held = [taker(in_texture(gl_context, pixels(F.BGRA32)).read_view(CudaArray))]

    def let_go():
        held.pop().free()

    thread = threading.Thread(target=let_go)
    thread.start()
    thread.join()
    settle(gl_context)

    assert cuda.mapped == {}


def test_a_buffer_is_registered_once_and_used_again(cuda, gl_context, on_device, freed):
    array = pixels(F.BGRA32)
    for _ in range(20):
        buffer = of_cuda(on_device(array), context=gl_context)
        view = buffer.read_view(CudaArray)
        del view, buffer
        freed(gl_context)
        settle(gl_context)

    assert cuda.calls().count("cuGraphicsGLRegisterBuffer") == 1


def test_so_many_free_buffers_are_kept_and_no_more(cuda, gl_context, bridge):
    def take_and_give_back():
        taken = [bridge.take(100 + size) for size in range(KEPT + 3)]
        for each in taken:
            bridge.give_back(each)
        return bridge.take(100), [bridge.take(100 + size) for size in range(3, 6)]

    gl_context.run(take_and_give_back)

    # The three oldest were ended, so the first size must be registered again; the others are kept.
    assert bridge.registered == KEPT + 3 + 1
    assert len(cuda.registered) == KEPT + 1
    names = {name for call, name, *_ in cuda.log if call == "cuGraphicsGLRegisterBuffer"}
    there = gl_context.run(lambda: {name for name in names if gl.glIsBuffer(name)})
    assert there == set(cuda.registered.values())


def test_nothing_is_left_when_the_context_ends(cuda, gl_available, on_device, taker):
    context = GlContext.create(api="gl")
    held = taker(of_cuda(on_device(pixels(F.BGRA32)), context=context).read_view(CudaArray))
    in_texture(context, pixels(F.BGRA32)).read_view(CudaArray).release()
    assert cuda.live
    assert cuda.retained == 1
    held.array = None

    assert context.close()

    assert (cuda.live, cuda.registered, cuda.mapped, cuda.retained, cuda.pushed) == (set(), {}, {}, 0, [])
    held.free()  # too late, and harmless


def test_arrays_that_are_still_held_when_the_context_ends_are_told(
    cuda, gl_available, on_device, taker, caplog
):
    context = GlContext.create(api="gl")
    buffer = of_cuda(on_device(pixels(F.BGRA32)), context=context)
    held = taker(buffer.read_view(CudaArray))
    held.array = None

    context.close()

    said = "1 CUDA arrays were still held when their OpenGL context ended: their memory is gone; "
    assert [record.message for record in caplog.records] == [said + "release them before, or copy them"]
    held.free()


def test_the_source_of_a_copy_is_kept_until_the_copy_is_done(cuda, gl_context, on_device):
    first, second = on_device(pixels(F.BGRA32)), on_device(pixels(F.BGRA32))
    cuda.busy_events = True
    of_cuda(first, context=gl_context)
    of_cuda(second, context=gl_context)
    assert first.released == 0

    cuda.busy_events = False
    of_cuda(on_device(pixels(F.BGRA32)), context=gl_context)

    assert (first.released, second.released) == (1, 1)


# --- the order of work --------------------------------------------------------------------------------


def test_what_opengl_draws_is_done_before_the_consumer_begins_and_the_other_way_round(
    cuda, gl_context, bridge, taker
):
    stream = bridge.stream
    buffer = in_texture(gl_context, pixels(F.BGRA32))
    cuda.log.clear()

    view = buffer.read_view(CudaArray)
    held = taker(view, stream=2)
    view.release()
    held.free()
    settle(gl_context)

    mapped, recorded, waits, *back = [call for call in cuda.log if call[0] != "cuGraphicsGLRegisterBuffer"]
    assert (mapped[0], mapped[2]) == ("cuGraphicsMapResources", stream)
    assert (recorded[0], recorded[2]) == ("cuEventRecord", stream)
    assert waits == ("cuStreamWaitEvent", 2, recorded[1])
    # Back: the legacy stream waits for every ordinary one, our stream waits for it, then comes the unmapping.
    assert [call[0] for call in back] == ["cuEventRecord", "cuStreamWaitEvent", "cuGraphicsUnmapResources"]
    assert (back[0][2], back[1][1], back[2][2]) == (1, stream, stream)


@pytest.mark.parametrize(
    ("stream", "waits_for_all"), [(None, False), (1, False), (70, False), (71, True), (-1, True)]
)
def test_only_streams_that_wait_for_nobody_make_the_host_wait(cuda, gl_context, taker, stream, waits_for_all):
    cuda.streams |= {70: 0, 71: 1}  # an ordinary one, and a non-blocking one
    buffer = in_texture(gl_context, pixels(F.BGRA32))
    with buffer.read_view(CudaArray) as view:
        taker(view, stream=stream).free()
    settle(gl_context)

    assert ("cuCtxSynchronize" in cuda.calls()) is waits_for_all


def test_a_consumer_that_needs_no_order_gets_none(cuda, gl_context, taker):
    view = in_texture(gl_context, pixels(F.BGRA32)).read_view(CudaArray)
    cuda.calls()

    held = taker(view, stream=-1)

    assert cuda.calls() == []
    held.free()


def test_the_cuda_array_interface_describes_the_memory_in_the_order_of_the_legacy_stream(cuda, gl_context):
    view = in_texture(gl_context, pixels(F.RGBA_HALF64)).read_view(CudaArray)
    cuda.calls()

    said = view.__cuda_array_interface__

    assert [call for call, *_ in cuda.log] == ["cuEventRecord", "cuStreamWaitEvent"]
    assert cuda.log[1][1] == 1  # the legacy stream waits
    assert said == {
        "shape": (HEIGHT, WIDTH, 4),
        "typestr": "<f2",
        "data": (view.pointer, True),
        "version": 3,
        "strides": None,
        "stream": 1,
    }
    view.release()
    settle(gl_context)
    assert "cuCtxSynchronize" in cuda.calls()


# --- what is refused ----------------------------------------------------------------------------------


def test_dlpack_says_which_device_and_refuses_others_and_copies(cuda, gl_context, taker):
    view = in_texture(gl_context, pixels(F.BGRA32)).read_view(CudaArray)

    assert view.__dlpack_device__() == (2, 1)
    with pytest.raises(
        BufferError, match=r"on CUDA device 1 were asked for on DLPack device \(1, 0\); for the CPU read"
    ):
        view.__dlpack__(dl_device=(1, 0))
    with pytest.raises(
        BufferError, match="a copy of the CUDA array was asked for; this view only lends memory"
    ):
        view.__dlpack__(copy=True)
    for stream in (0, -2):
        with pytest.raises(
            ValueError,
            match=f"the stream for the CudaArray is {stream}, expected None, -1, 1, 2 or a stream's handle",
        ):
            view.__dlpack__(stream=stream)
    held = taker(view, max_version=None)
    assert not held.taken.tensor.is_read_only  # an old consumer cannot learn it
    assert taker(view).taken.tensor.is_read_only
    view.release()
    settle(gl_context)
    assert len(cuda.mapped) == 1  # the refused ones hold nothing
    held.free()
    settle(gl_context)
    assert cuda.mapped == {}


def test_a_released_view_lends_nothing(cuda, gl_context):
    view = in_texture(gl_context, pixels(F.BGRA32)).read_view(CudaArray)
    view.release()
    view.release()

    said = (
        "the CUDA array has been released; ask the buffer for another, or take it by DLPack, which holds it"
    )
    for use in (view.__dlpack__, lambda: view.__cuda_array_interface__, lambda: view.pointer):
        with pytest.raises(FailedPreconditionError, match=said):
            use()
    assert repr(view) == "<CudaArray (5, 7, 4) uint8 on cuda:1 released>"


def test_a_view_to_read_is_not_written_to(cuda, gl_context, on_device):
    view = in_texture(gl_context, pixels(F.BGRA32)).read_view(CudaArray)

    with pytest.raises(FailedPreconditionError, match=r"on a view to read; take write_view\(CudaArray\)"):
        view.copy_from(on_device(pixels(F.BGRA32)))


def test_an_array_of_another_shape_or_type_is_refused(cuda, gl_context, on_device):
    buffer = in_texture(gl_context, pixels(F.BGRA32))
    with (
        gl_context.run(lambda: buffer.write_view(CudaArray)) as view,
        pytest.raises(InvalidArgumentError) as caught,
    ):
        view.copy_from(on_device(pixels(F.RGB24)))

    assert str(caught.value) == (
        "the array to copy into a CudaArray is (5, 7, 3) uint8, expected (5, 7, 4) uint8, as the buffer's "
        "size and format say"
    )
    with pytest.raises(InvalidArgumentError, match="is no BGRA32 image"):
        of_cuda(on_device(pixels(F.RGB24)), F.BGRA32, context=gl_context)
    with pytest.raises(InvalidArgumentError, match="no GPU buffer format holds an array of"):
        of_cuda(on_device(np.zeros((4, 4), np.int64)), context=gl_context)


def test_a_tensor_of_another_device_names_both_and_one_of_the_cpu_says_what_to_use(
    cuda, gl_context, on_device
):
    with pytest.raises(
        InvalidArgumentError, match=r"is on cuda:0, but the OpenGL context runs on cuda:1 \(Fake B\)"
    ):
        of_cuda(on_device(pixels(F.BGRA32), 0), context=gl_context)
    with pytest.raises(InvalidArgumentError, match=r"is in main memory, .* use GpuBuffer\.of_array"):
        of_cuda(pixels(F.BGRA32), context=gl_context)
    assert cuda.mapped == {}


def test_without_a_current_context_the_error_says_where_to_ask(cuda, gl_context, on_device):
    for what, ask in (
        ("of_cuda", lambda: of_cuda(on_device(pixels(F.BGRA32)))),
        ("a CUDA view", lambda: GpuBuffer(4, 4).write_view(CudaArray)),
        ("a CUDA view", lambda: GpuBuffer.of_array(pixels(F.BGRA32)).read_view(CudaArray)),
    ):
        with pytest.raises(FailedPreconditionError) as caught:
            ask()
        assert str(caught.value) == (
            f"CUDA storage needs a GL context, and none is current on this thread; ask for {what} in "
            "GlContext.run, or in run_in_gl_context of a node's helper"
        )


def test_a_context_on_a_software_renderer_or_another_device_names_both(cuda, gl_context, monkeypatch):
    cuda.of_gl = ()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    kind = "software" if gl_context.is_software else "another device"

    said = why_no_cuda(gl_context)

    assert said == (
        f"no bridge to CUDA: the OpenGL context runs on {gl_context.renderer!r} ({kind}), expected one of "
        "CUDA's devices: cuda:0 'Fake A', cuda:1 'Fake B', of which CUDA_VISIBLE_DEVICES='0,1' hides others; "
        'choose it with device="cuda:0" or PENSTOCK_GPU_DEVICE=cuda:0'
    )
    with pytest.raises(CudaUnavailableError, match="the OpenGL context runs on"):
        in_texture(gl_context, pixels(F.BGRA32)).read_view(CudaArray)
    assert (cuda.retained, cuda.live) == (0, set())


def test_a_context_of_gles_is_refused(cuda, gl_available):
    try:
        context = GlContext.create(api="gles")
    except GpuUnavailableError as error:
        pytest.skip(f"no OpenGL ES: {error}")

    assert (
        why_no_cuda(context)
        == f"context {context.name!r} speaks gles, but the bridge to CUDA needs desktop GL; "
        'make it with api="gl"'
    )
    context.close()


def test_without_cuda_the_reason_is_told(gl_context, monkeypatch):
    def nothing():
        raise CudaUnavailableError("no CUDA driver: libcuda.so.1 not found", "install one")

    monkeypatch.setattr(cuda_bridge, "load", nothing)

    assert why_no_cuda(gl_context) == "no CUDA driver: libcuda.so.1 not found; install one"


def test_a_buffer_that_cuda_refuses_is_deleted_and_the_view_can_be_asked_for_again(cuda, gl_context, bridge):
    status = type(cuda.cuInit(0)[0]).CUDA_ERROR_INVALID_VALUE
    buffer = in_texture(gl_context, pixels(F.BGRA32))
    for name in (
        "cuGraphicsGLRegisterBuffer",
        "cuGraphicsMapResources",
        "cuGraphicsResourceGetMappedPointer",
    ):
        cuda.refuse[name] = status
        with pytest.raises(CudaError, match=f"{name}: CUDA_ERROR_INVALID_VALUE: fake words for 1"):
            buffer.read_view(CudaArray)
        cuda.refuse.clear()
        settle(gl_context)
        assert cuda.mapped == {}

    buffer.read_view(CudaArray).release()
    settle(gl_context)
    assert cuda.mapped == {}


def test_a_view_takes_no_arguments(cuda, gl_context):
    buffer = in_texture(gl_context, pixels(F.BGRA32))
    with pytest.raises(
        InvalidArgumentError, match="a view CudaArray of the storage takes no argument 'plane'; leave it out"
    ):
        buffer.read_view(CudaArray, plane=0)


def test_the_state_of_opengl_is_as_before(cuda, gl_context, on_device):
    def state():
        return [
            gl.get_integer(name)
            for name in (
                gl.GL_READ_FRAMEBUFFER_BINDING,
                gl.GL_TEXTURE_BINDING_2D,
                gl.GL_PIXEL_PACK_BUFFER_BINDING,
                gl.GL_PIXEL_UNPACK_BUFFER_BINDING,
            )
        ]

    def there_and_back():
        name = gl.make("Texture")
        gl.glBindTexture(gl.GL_TEXTURE_2D, name)
        before = state()
        buffer = GpuBuffer.of_array(pixels(F.BGRA32))
        with buffer.write_view(GlTextureView):
            pass
        buffer.read_view(CudaArray).release()
        with of_cuda(on_device(pixels(F.BGRA32))).read_view(GlTextureView):
            pass
        after = state()
        gl.delete("Texture", name)
        return before, after

    before, after = gl_context.run(there_and_back)
    assert before == after
    assert before[1] != 0


def test_a_bridge_is_made_once_for_a_context(cuda, gl_context, bridge):
    assert gl_context.run(lambda: bridge_of(gl_context)) is bridge
    assert isinstance(bridge, CudaBridge)
    assert (bridge.ordinal, bridge.device_name) == (1, "Fake B")


def test_a_thousand_frames_through_both_sides_leave_nothing_behind(cuda, gl_context, on_device, taker):
    array = pixels(F.BGRA32)
    exported = dlpack.exported()
    for number in range(1000):
        theirs = on_device(array)
        buffer = of_cuda(theirs, context=gl_context)
        gl_context.run(lambda b=buffer: in_texture_only(b))
        held = taker(buffer.read_view(CudaArray), stream=(None, 1, 2, -1)[number % 4])
        held.free()
        del buffer
    settle(gl_context)

    assert dlpack.exported() <= exported + 1  # the last source, until the next copy
    assert cuda.mapped == {}
    assert len(cuda.registered) <= KEPT
    assert len(cuda.live) <= 3  # the stream, its event, and the event of the last copy
