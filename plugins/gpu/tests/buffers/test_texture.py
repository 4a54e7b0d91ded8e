"""Texture views and copies: exact round trips, waits between contexts, and deletion in the right context."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu import ExternalContext, GlContext, GlError, GlTextureView, GpuBuffer, egl, gl
from penstock_gpu.buffers import texture_copy
from penstock_gpu.buffers.frame_storage import FrameStorage
from penstock_gpu.buffers.texture_storage import release_all
from penstock_gpu.contexts import native
from penstock_gpu.formats import GpuBufferFormat as F
from penstock_gpu.formats import pixel_bytes, pixel_layout, shape_of

FRAMEBUFFER, COLOR, TEXTURE = 0x8D40, 0x8CE0, 0x0DE1
RED = np.full((5, 7, 4), (255, 0, 0, 255), np.uint8)
WORKING = tuple(kind for kind in F if pixel_bytes(kind))


@pytest.fixture
def other(make_context, context):
    """A second context, which shares with `context`."""
    return make_context(share=context, name="other")


@pytest.fixture
def stranger(make_context):
    """A context that shares with no other."""
    return make_context(name="stranger")


def random_pixels(width: int, height: int, kind: F, seed: int = 3) -> np.ndarray:
    random, dtype = np.random.default_rng(seed), pixel_layout(kind).dtype
    shape = shape_of(width, height, kind)
    return (random.integers(0, 256, shape) if dtype == np.uint8 else random.normal(size=shape)).astype(dtype)


def draw(view: GlTextureView, *color: float) -> None:
    framebuffer = gl.make("Framebuffer")
    gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
    gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, view.target, view.name, 0)
    gl.glClearColor(*color)
    gl.glClear(gl.GL_COLOR_BUFFER_BIT)
    gl.glBindFramebuffer(FRAMEBUFFER, 0)
    gl.delete("Framebuffer", framebuffer)


def fill(buffer: GpuBuffer, *color: float) -> None:
    with buffer.write_view(GlTextureView) as view:
        draw(view, *color)


def drawn(context: GlContext, *color: float, size: tuple[int, int] = (7, 5), kind: F = F.BGRA32) -> GpuBuffer:
    buffer = GpuBuffer(*size, kind)
    context.run(lambda: fill(buffer, *color))
    return buffer


def texture_of(buffer: GpuBuffer):
    (found,) = (each.texture for each in buffer._image.storages if hasattr(each, "texture"))
    return found


def is_texture(context: GlContext, name: int) -> bool:
    """Return whether a texture exists after all posted jobs."""
    return bool(context.run(lambda: gl.glIsTexture(name)))


# --- copies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["gl", "gles"])
@pytest.mark.parametrize("kind", WORKING)
def test_an_image_goes_to_a_texture_and_back_exactly_also_at_odd_widths(make_context, api, kind):
    context = make_context(api=api)
    for size in ((1, 1), (7, 5), (3, 2), (2, 1), (641, 3)):
        pixels = random_pixels(*size, kind)
        storage = FrameStorage.of_array(pixels, kind)

        copied = context.run(lambda storage=storage: texture_copy.texture_of_frame(storage))
        back = texture_copy.frame_of_texture(copied).read_view(np.ndarray)

        assert back.dtype == pixels.dtype
        assert np.array_equal(back, pixels)


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        (F.BGRA32, (51, 102, 153, 204)),
        (F.RGB24, (51, 102, 153)),
        (F.ONE_COMPONENT8, 51),
        (F.TWO_COMPONENT8, (51, 102)),
        (F.RGBA_FLOAT128, np.float32((0.2, 0.4, 0.6, 0.8))),
        (F.GRAY_FLOAT32, np.float32(0.2)),
        (F.RGBA_HALF64, np.float16((0.2, 0.4, 0.6, 0.8))),
    ],
)
def test_all_formats_that_work_can_be_drawn_to(context, kind, want):
    buffer = drawn(context, 0.2, 0.4, 0.6, 0.8, kind=kind)

    assert np.abs(buffer.array() - want).max() <= (0.0005 if kind == F.RGBA_HALF64 else 0)


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        (F.BGRA32, (10, 20, 30, 40)),
        (F.RGB24, (10, 20, 30, 255)),
        (F.ONE_COMPONENT8, (10, 10, 10, 255)),
        (F.ONE_COMPONENT8_ALPHA, (0, 0, 0, 10)),
        (F.ONE_COMPONENT8_RED, (10, 0, 0, 255)),
        (F.TWO_COMPONENT8, (10, 20, 0, 255)),
        (F.GRAY_FLOAT32, (10, 10, 10, 255)),
        (F.GRAY_HALF16, (10, 10, 10, 255)),
    ],
)
def test_a_shader_reads_what_the_format_means(context, kind, want):
    channels = pixel_layout(kind).channels
    pixels = np.array([[[10, 20, 30, 40][:channels]] * 3], np.uint8)
    if (dtype := pixel_layout(kind).dtype) != np.uint8:
        pixels = (pixels / 255).astype(dtype)
    source, target = GpuBuffer.of_array(pixels, kind), GpuBuffer(3, 1)

    context.run(lambda: sample(source, target))

    assert (target.array() == want).all()


def test_the_fourth_channel_of_rgb_reads_as_one_whatever_was_drawn(context):
    source, target = drawn(context, 0.2, 0.4, 0.6, 0, size=(3, 1), kind=F.RGB24), GpuBuffer(3, 1)

    context.run(lambda: sample(source, target))

    assert (target.array() == (51, 102, 153, 255)).all()


VERTEX = """#version 330 core
void main() { gl_Position = vec4(vec2(gl_VertexID % 2, gl_VertexID / 2) * 4.0 - 1.0, 0.0, 1.0); }
"""
FRAGMENT = """#version 330 core
uniform sampler2D image;
out vec4 color;
void main() { color = texelFetch(image, ivec2(gl_FragCoord.xy), 0); }
"""


def sample(source: GpuBuffer, target: GpuBuffer) -> None:
    """Draw one image into the other by a shader that only looks it up."""
    program = gl.compile_program(VERTEX, FRAGMENT, {})
    vertices, framebuffer = gl.make("VertexArray"), gl.make("Framebuffer")
    with source.read_view(GlTextureView) as read, target.write_view(GlTextureView) as write:
        gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, write.target, write.name, 0)
        gl.glViewport(0, 0, write.width, write.height)
        gl.glUseProgram(program)
        gl.glBindVertexArray(vertices)
        gl.glBindTexture(TEXTURE, read.name)
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 3)
        gl.glBindTexture(TEXTURE, 0)
        gl.glUseProgram(0)
        gl.glBindFramebuffer(FRAMEBUFFER, 0)
    gl.delete("VertexArray", vertices)
    gl.delete("Framebuffer", framebuffer)
    gl.glDeleteProgram(program)


def test_three_channels_become_four_in_memory_that_is_used_again():
    staging: list[np.ndarray] = []
    whole = random_pixels(9, 7, F.RGB24)

    for rgb in (whole, whole[:, ::-1], whole[1:4, 2:5], whole[:1, :1], whole[:, :, ::-1]):
        made = texture_copy.with_alpha(rgb, staging)
        assert np.array_equal(made[:, :, :3], rgb)
        assert (made[:, :, 3] == 255).all()

    assert texture_copy.with_alpha(whole, staging) is texture_copy.with_alpha(whole, staging)
    assert len(staging) == 1


def test_copies_leave_the_state_of_gl_as_they_found_it(context):
    up, down = GpuBuffer.of_array(random_pixels(5, 3, F.RGB24)), drawn(context, 1, 0, 0, 1)
    states = (0x8069, 0x8CAA, 0x8CA6)  # GL_TEXTURE_BINDING_2D, GL_READ_ and GL_DRAW_FRAMEBUFFER_BINDING

    def convert() -> tuple[list[int], list[int]]:
        mine, framebuffer = gl.make("Texture"), gl.make("Framebuffer")
        gl.glBindTexture(TEXTURE, mine)
        gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 8)
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 8)
        before = [gl.get_integer(state) for state in states]
        up.read_view(GlTextureView).release()
        down.array()
        after = [gl.get_integer(state) for state in states]
        gl.delete("Texture", mine)
        gl.delete("Framebuffer", framebuffer)
        return before, after

    before, after = context.run(convert)

    assert before == after
    assert (down.array() == (255, 0, 0, 255)).all()
    back = texture_copy.frame_of_texture(up._image.storages[1]).read_view(np.ndarray)
    assert np.array_equal(back, up.array())


def test_an_image_of_a_context_that_does_not_share_comes_by_way_of_main_memory(context, stranger):
    buffer, target = drawn(context, 0, 1, 0, 1), GpuBuffer(7, 5)

    stranger.run(lambda: sample(buffer, target))

    assert (target.array() == (0, 255, 0, 255)).all()
    assert buffer.storages() == ("TextureStorage", "TextureStorage")
    assert (context.readbacks, stranger.uploads) == (1, 1)


def test_a_texture_is_read_back_without_a_current_context_and_after_its_context_has_ended(context, other):
    buffer = drawn(other, 0, 0, 1, 1)
    other.close()

    assert (buffer.array() == (0, 0, 255, 255)).all()


# --- views -----------------------------------------------------------------------------------------------


def test_a_view_says_what_it_is(context):
    buffer = GpuBuffer(7, 5, F.RGB24)

    def check() -> None:
        with buffer.write_view(GlTextureView, plane=0) as view:
            assert (view.width, view.height, view.plane, view.target) == (7, 5, 0, TEXTURE)
            assert view.format == F.RGB24
            assert view.context is context
            assert gl.glIsTexture(view.name) or gl.glBindTexture(TEXTURE, view.name) is None
            assert repr(view) == f"<GlTextureView to write of texture {view.name} RGB24 7x5>"
            draw(view, 0, 0, 0, 0)
        assert view.is_released
        assert "released" in repr(view)
        assert "to read" in repr(buffer.read_view(GlTextureView))

    context.run(check)


def test_a_view_without_a_current_context_is_refused(context):
    for buffer, ask in (
        (drawn(context, 0, 0, 0, 0), "read_view"),
        (drawn(context, 0, 0, 0, 0), "write_view"),
        (GpuBuffer(3, 2), "write_view"),
        (GpuBuffer.of_array(random_pixels(3, 2, F.BGRA32)), "read_view"),
    ):
        before = buffer.storages()
        with pytest.raises(
            FailedPreconditionError, match=r"no GL context is current on this thread.*in GlContext.run"
        ):
            getattr(buffer, ask)(GlTextureView)
        assert buffer.storages() == before


def test_an_image_that_is_being_written_is_not_read(context, other):
    buffer = GpuBuffer(3, 2)
    view = context.run(lambda: buffer.write_view(GlTextureView))

    with pytest.raises(
        FailedPreconditionError,
        match=r"<texture .* BGRA32 3x2> is being written to; release the texture object's view",
    ):
        other.run(lambda: buffer.read_view(GlTextureView))
    with pytest.raises(FailedPreconditionError, match="is being written to"):
        buffer.array()
    with pytest.raises(
        FailedPreconditionError,
        match="is being written to already; release the texture object's first view to write",
    ):
        context.run(lambda: buffer.write_view(GlTextureView))

    context.run(lambda: draw(view, 1, 1, 1, 1))
    view.release()
    assert (buffer.array() == 255).all()


def test_an_image_that_is_being_read_is_not_written(context):
    buffer = drawn(context, 0, 0, 0, 0)
    views = [context.run(lambda: buffer.read_view(GlTextureView)) for _ in range(2)]

    with pytest.raises(
        FailedPreconditionError,
        match="is being read; release the texture object's 2 views to read before writing",
    ):
        context.run(lambda: buffer.write_view(GlTextureView))

    for view in views:
        view.release()
    context.run(lambda: fill(buffer, 1, 1, 1, 1))
    assert (buffer.array() == 255).all()


@pytest.mark.usefixtures("other")  # else fences are put off, see test_late_fences
def test_a_view_is_released_once_and_from_any_thread(context, monkeypatch):
    buffer = GpuBuffer(3, 2)
    view = context.run(lambda: buffer.write_view(GlTextureView))
    context.run(lambda: draw(view, 1, 1, 1, 1))
    fences = []
    monkeypatch.setattr(gl, "glFenceSync", counted(gl.glFenceSync, fences))

    for _ in range(3):
        view.release()

    assert len(fences) == 1
    assert (buffer.array() == 255).all()


def counted(call, calls: list):
    """Return a function that records its calls."""
    return lambda *arguments: calls.append(arguments) or call(*arguments)


@pytest.fixture
def fences(monkeypatch):
    """Return a list that gets (context, fence) of each fence that is made."""
    made, make = [], gl.glFenceSync

    def note(*arguments):
        made.append((GlContext.current(), make(*arguments)))
        return made[-1][1]

    monkeypatch.setattr(gl, "glFenceSync", note)
    return made


@pytest.fixture
def waits(monkeypatch):
    """Return a list that gets each fence that a context waits for."""
    waited, wait = [], gl.glWaitSync

    def note(fence, *arguments):
        assert arguments == (0, gl.TIMEOUT_IGNORED)
        waited.append(fence)
        wait(fence, *arguments)

    monkeypatch.setattr(gl, "glWaitSync", note)
    return waited


def test_a_view_that_nobody_released_is_released_with_its_last_reference(context):
    buffer = GpuBuffer(3, 2)

    def forget() -> None:
        view = buffer.write_view(GlTextureView)
        draw(view, 1, 1, 1, 1)

    context.run(forget)
    assert (buffer.array() == 255).all()

    view = context.run(lambda: buffer.write_view(GlTextureView))
    context.run(lambda: draw(view, 0, 0, 0, 0))
    view = None  # on another thread: the release is posted
    context.run(lambda: None)
    assert (buffer.array() == 0).all()
    context.run(lambda: fill(buffer, 1, 1, 1, 1))


def test_a_view_is_released_where_its_block_is_left_by_an_exception(context):
    buffer = GpuBuffer(3, 2)

    def fail() -> None:
        with buffer.write_view(GlTextureView) as view:
            draw(view, 1, 1, 1, 1)
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        context.run(fail)

    assert (buffer.array() == 255).all()


def test_a_view_outlives_its_buffer(context):
    def check() -> np.ndarray:
        buffer = GpuBuffer.of_array(np.full((2, 3, 4), 9, np.uint8))
        view = buffer.read_view(GlTextureView)
        del buffer
        gc.collect()
        assert gl.glIsTexture(view.name)
        target = GpuBuffer(3, 2)
        with target.write_view(GlTextureView) as write:
            framebuffer = gl.make("Framebuffer")
            gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
            gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, view.target, view.name, 0)
            gl.glBindTexture(TEXTURE, write.name)
            gl.glCopyTexSubImage2D(TEXTURE, 0, 0, 0, 0, 0, 3, 2)
            gl.glBindFramebuffer(FRAMEBUFFER, 0)
            gl.delete("Framebuffer", framebuffer)
        view.release()
        return target.array()

    assert (context.run(check) == 9).all()


# --- life and death --------------------------------------------------------------------------------------


def test_a_texture_is_deleted_in_its_context_whichever_thread_lets_go(context, freed):
    buffer = drawn(context, 0, 0, 0, 0)
    name = texture_of(buffer).name
    assert is_texture(context, name)
    held = [buffer]
    del buffer

    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    freed(context)

    assert not is_texture(context, name)


def test_a_texture_in_a_cycle_is_deleted_by_the_garbage_collection(context, freed):
    buffer = drawn(context, 0, 0, 0, 0)
    name = texture_of(buffer).name
    cycle = [buffer]
    cycle.append(cycle)

    del buffer, cycle
    gc.collect()
    freed(context)

    assert not is_texture(context, name)


def test_a_texture_whose_context_has_ended_is_deleted_in_another_of_its_group(context, other):
    buffer = drawn(other, 0, 0, 0, 0)
    name = texture_of(buffer).name
    other.close()
    assert is_texture(context, name)

    del buffer

    assert not is_texture(context, name)


def test_a_texture_that_gl_refuses_leaves_nothing_behind(context, monkeypatch):
    made = []
    monkeypatch.setattr(gl, "glGenTextures", counted(gl.glGenTextures, made))
    limit = context.run(lambda: gl.get_integer(gl.GL_MAX_TEXTURE_SIZE))
    buffer = GpuBuffer(limit + 1, 2)

    with pytest.raises(InvalidArgumentError) as raised:
        context.run(lambda: buffer.write_view(GlTextureView))
    assert str(raised.value) == (
        f"a texture of {limit + 1}x2 cannot be allocated, the context allows 1 to {limit} a side; "
        "scale the image before"
    )
    assert not made

    monkeypatch.setattr(gl, "glTexImage2D", lambda *_: gl.glBindTexture(0, 0))
    names = []
    monkeypatch.setattr(
        gl, "delete", lambda kind, *name, delete=gl.delete: names.append(kind) or delete(kind, *name)
    )
    with pytest.raises(GlError, match="glBindTexture failed: GL_INVALID_ENUM"):
        context.run(lambda: GpuBuffer(3, 2).write_view(GlTextureView))
    assert names == ["Texture"]


# --- fences ----------------------------------------------------------------------------------------------


def test_a_reader_waits_for_the_producer_in_another_context_only(context, other, waits):
    buffer = drawn(context, 1, 0, 0, 1)

    context.run(lambda: buffer.read_view(GlTextureView).release())
    assert not waits
    other.run(lambda: buffer.read_view(GlTextureView).release())
    assert len(waits) == 1


def test_a_writer_waits_for_the_newest_read_of_each_other_context(  # fixtures
    make_context, context, other, fences, waits
):
    buffer = drawn(context, 1, 0, 0, 1)
    third = make_context(share=context)
    for reader in (other, other, third, other, context):
        reader.run(lambda: buffer.read_view(GlTextureView).release())
    newest = dict(fences)
    assert newest.keys() == {context, other, third}
    waits.clear()

    context.run(lambda: fill(buffer, 0, 1, 0, 1))

    assert {id(fence) for fence in waits} == {id(newest[other]), id(newest[third])}
    assert len(waits) == 2
    context.run(lambda: fill(buffer, 0, 1, 0, 1))
    assert len(waits) == 2


@pytest.mark.usefixtures("other")  # else fences are put off, see test_late_fences
def test_every_release_makes_a_fence_and_flushes_it(context, monkeypatch):
    calls = []
    fence, flush = gl.glFenceSync, gl.glFlush
    monkeypatch.setattr(
        gl, "glFenceSync", lambda *arguments: calls.append("glFenceSync") or fence(*arguments)
    )
    monkeypatch.setattr(gl, "glFlush", lambda: calls.append("glFlush") or flush())
    buffer = drawn(context, 1, 0, 0, 1)
    assert calls == ["glFenceSync", "glFlush"]

    context.run(lambda: buffer.read_view(GlTextureView).release())

    assert calls == ["glFenceSync", "glFlush"] * 2


def test_views_that_are_released_together_share_one_fence_which_others_wait_for(
    context, other, fences, waits
):
    source, target = drawn(context, 1, 0, 0, 1), GpuBuffer(7, 5)
    fences.clear()

    def work() -> None:
        views = source.read_view(GlTextureView), target.write_view(GlTextureView)
        draw(views[1], 0, 1, 0, 1)
        release_all(views)
        assert all(view.is_released for view in views)
        release_all(views)

    context.run(work)

    ((_, shared),) = fences
    other.run(lambda: target.read_view(GlTextureView).release())
    assert [fence is shared for fence in waits] == [True]
    waits.clear()
    other.run(lambda: fill(source, 0, 0, 1, 1))
    assert any(fence is shared for fence in waits)
    assert (target.array() == (0, 255, 0, 255)).all()


def test_views_of_several_contexts_are_released_each_in_its_own(context, other, fences, waits):
    source, target = drawn(context, 1, 0, 0, 1), GpuBuffer(7, 5)
    views = (
        other.run(lambda: source.read_view(GlTextureView)),
        context.run(lambda: target.write_view(GlTextureView)),
    )
    context.run(lambda: draw(views[1], 0, 1, 0, 1))
    fences.clear()

    context.run(lambda: release_all(views))

    assert {made_in for made_in, _ in fences} == {context, other}
    waits.clear()
    context.run(lambda: fill(source, 0, 0, 1, 1))
    other.run(lambda: target.read_view(GlTextureView).release())
    made = dict(fences[:2])
    assert [id(fence) for fence in waits] == [id(made[other]), id(made[context])]


@pytest.mark.usefixtures("other")  # else fences are put off, see test_late_fences
def test_views_are_released_together_also_where_gl_makes_no_fence(context, monkeypatch):
    source, target = drawn(context, 1, 0, 0, 1), GpuBuffer(7, 5)

    def refuse(*_: object) -> None:
        raise GlError("glFenceSync", 0x0505)

    def work() -> None:
        views = source.read_view(GlTextureView), target.write_view(GlTextureView)
        with pytest.raises(GlError, match="glFenceSync failed: GL_OUT_OF_MEMORY"):
            release_all(views)
        assert all(view.is_released for view in views)

    with monkeypatch.context() as patched:
        patched.setattr(gl, "glFenceSync", refuse)
        context.run(work)

    for buffer in (source, target):
        context.run(lambda buffer=buffer: fill(buffer, 0, 1, 0, 1))
        assert (buffer.array() == (0, 255, 0, 255)).all()


def test_reading_back_leaves_no_fence_since_the_pixels_are_there(context, other, fences, waits):
    buffer = drawn(context, 1, 0, 0, 1)
    fences.clear()

    other.run(buffer.array)

    assert not fences
    waits.clear()
    context.run(lambda: fill(buffer, 1, 0, 0, 1))  # there is nobody to wait for
    assert not waits
    context.run(lambda: fill(buffer, 0, 1, 0, 1))  # the view was released
    assert (buffer.array() == (0, 255, 0, 255)).all()


def test_a_foreign_texture_of_another_target_is_read_by_way_of_a_framebuffer(context):
    rectangle = 0x84F5  # GL_TEXTURE_RECTANGLE

    def make() -> GpuBuffer:
        name = gl.make("Texture")
        gl.glBindTexture(rectangle, name)
        gl.glTexImage2D(rectangle, 0, gl.GL_RGBA8, 7, 5, 0, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, RED)
        return GpuBuffer.of_texture(name, rectangle, 7, 5, release=lambda _: None)

    buffer = context.run(make)

    assert np.array_equal(buffer.array(), RED)


@pytest.mark.parametrize("call", ["upload", "read_into"])
def test_a_copy_that_fails_leaves_the_buffer_usable(context, monkeypatch, call):
    buffer = drawn(context, 1, 0, 0, 1) if call == "read_into" else GpuBuffer.of_array(RED)

    def refuse(*_: object, **__: object) -> None:
        raise GlError(call, 0x0505)

    def view() -> None:
        buffer.read_view(GlTextureView if call == "upload" else np.ndarray)

    with monkeypatch.context() as patched:
        patched.setattr(gl, call, refuse)
        with pytest.raises(GlError, match=f"{call} failed: GL_OUT_OF_MEMORY"):
            context.run(view)

    assert len(buffer.storages()) == 1
    assert (buffer.array()[0, 0] == (255, 0, 0, 255)).all()
    context.run(lambda: fill(buffer, 0, 1, 0, 1))
    assert (buffer.array() == (0, 255, 0, 255)).all()


def test_the_cpu_can_wait_for_what_was_drawn(context):
    buffer = drawn(context, 1, 0, 0, 1)

    assert texture_of(buffer).wait_until_complete(10)


def test_reading_one_image_for_ever_keeps_one_fence_for_each_context(context):
    buffer = drawn(context, 1, 0, 0, 1)

    def read() -> None:
        for _ in range(100):
            buffer.read_view(GlTextureView).release()

    context.run(read)

    assert len(texture_of(buffer)._consumers) == 1


@pytest.mark.usefixtures("other")  # else fences are put off, see test_late_fences
def test_a_fence_that_cannot_be_made_leaves_the_buffer_usable(context, monkeypatch):
    buffer = GpuBuffer(3, 2)

    def refuse(*_: object) -> None:
        raise GlError("glFenceSync", 0x0505)

    with monkeypatch.context() as patched:
        patched.setattr(gl, "glFenceSync", refuse)
        with pytest.raises(GlError, match="glFenceSync failed: GL_OUT_OF_MEMORY"):
            context.run(lambda: fill(buffer, 1, 1, 1, 1))

    context.run(lambda: fill(buffer, 0, 1, 0, 1))
    assert (buffer.array() == (0, 255, 0, 255)).all()


def test_a_wait_that_fails_leaves_the_buffer_usable(context, other, monkeypatch):
    buffer = drawn(context, 1, 0, 0, 1)

    def refuse(*_: object) -> None:
        raise GlError("glWaitSync", 0x0501)

    with monkeypatch.context() as patched:
        patched.setattr(gl, "glWaitSync", refuse)
        for ask in (buffer.read_view, buffer.write_view):
            with pytest.raises(GlError, match="glWaitSync failed: GL_INVALID_VALUE"):
                other.run(lambda ask=ask: ask(GlTextureView))

    other.run(lambda: fill(buffer, 0, 1, 0, 1))
    assert (buffer.array() == (0, 255, 0, 255)).all()


# --- textures of others ----------------------------------------------------------------------------------


def foreign(context: GlContext, *color: float) -> int:
    """Make a texture as an application would, and draw to it."""

    def make() -> int:
        name = gl.make("Texture")
        gl.glBindTexture(TEXTURE, name)
        gl.glTexImage2D(TEXTURE, 0, gl.GL_RGBA8, 3, 2, 0, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, None)
        gl.glTexParameteri(TEXTURE, gl.GL_TEXTURE_MIN_FILTER, gl.GL_NEAREST)
        framebuffer = gl.make("Framebuffer")
        gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, TEXTURE, name, 0)
        gl.glClearColor(*color)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT)
        gl.glBindFramebuffer(FRAMEBUFFER, 0)
        gl.delete("Framebuffer", framebuffer)
        return name

    return context.run(make)


def test_a_foreign_texture_is_used_and_given_back_with_its_readers_fences(context, other):
    name = foreign(context, 0, 1, 0, 1)
    given_back = []
    sync = context.run(context.create_sync)
    buffer = GpuBuffer.of_texture(name, TEXTURE, 3, 2, context=context, sync=sync, release=given_back.append)

    target = GpuBuffer(3, 2)
    other.run(lambda: sample(buffer, target))
    assert (target.array() == (0, 255, 0, 255)).all()
    assert not given_back
    buffer = None

    (consumers,) = given_back
    assert [token.context for token in consumers.tokens] == [other]
    assert consumers.wait(10)
    assert consumers.is_ready()
    context.run(consumers.wait_on_gpu)
    assert is_texture(context, name)
    context.run(lambda: gl.delete("Texture", name))


def test_what_is_drawn_to_a_foreign_texture_is_there(context):
    name = foreign(context, 0, 1, 0, 1)
    buffer = context.run(lambda: GpuBuffer.of_texture(name, TEXTURE, 3, 2, release=lambda consumers: None))

    context.run(lambda: fill(buffer, 0, 0, 1, 1))

    assert (buffer.array() == (0, 0, 255, 255)).all()
    buffer = None
    context.run(lambda: gl.delete("Texture", name))


def test_a_callback_that_fails_is_logged(context, caplog):
    def fail(consumers: object) -> None:
        raise RuntimeError("no room")

    buffer = GpuBuffer.of_texture(foreign(context, 0, 0, 0, 0), TEXTURE, 3, 2, context=context, release=fail)

    del buffer

    (record,) = caplog.records
    assert record.name == "penstock.gpu"
    assert "that gives texture" in record.getMessage()
    assert "RuntimeError: no room" in caplog.text


def test_a_foreign_texture_must_be_one(context):
    for arguments in ((0, TEXTURE, 3, 2), (1, TEXTURE, 0, 2), (1, TEXTURE, 3, -1)):
        with pytest.raises(InvalidArgumentError, match="does not exist; give its name and its size"):
            GpuBuffer.of_texture(*arguments, context=context, release=print)
    with pytest.raises(
        InvalidArgumentError,
        match="release is None, expected a function to call when the texture is free",
    ):
        GpuBuffer.of_texture(1, TEXTURE, 3, 2, context=context, release=None)
    with pytest.raises(
        FailedPreconditionError, match="no GL context is current on this thread; ask for a buffer of"
    ):
        GpuBuffer.of_texture(1, TEXTURE, 3, 2, release=print)


# --- the application's own context -----------------------------------------------------------------------


@pytest.fixture
def application(context):
    """A context of an application, current on this thread, which does not share yet."""
    library = egl.load()
    made = native.create(context.native_display, context.api)
    before = library.current()
    library.make_current(made.binding)
    yield ExternalContext.current()
    library.make_current(before if before.context else egl.Binding(made.display))
    made.destroy()


@pytest.fixture
def shared(make_context, application):
    """A context of this pack that shares with the application's."""
    return make_context(share=application, name="shared")


def pixel(name: int) -> tuple[int, ...]:
    """Read the first pixel of a texture in the context that is current."""
    framebuffer, found = gl.make("Framebuffer"), np.empty((1, 1, 4), np.uint8)
    gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
    gl.glFramebufferTexture2D(FRAMEBUFFER, COLOR, TEXTURE, name, 0)
    gl.read_into(found, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
    gl.glBindFramebuffer(FRAMEBUFFER, 0)
    gl.delete("Framebuffer", framebuffer)
    return tuple(found[0, 0])


def test_the_application_draws_with_a_buffer_in_its_own_context(shared, application):
    buffer = drawn(shared, 0, 1, 0, 1)

    with buffer.read_view(GlTextureView) as view:
        assert view.context.native_context == application.native_context
        assert pixel(view.name) == (0, 255, 0, 255)

    (token,) = texture_of(buffer)._consumers.values()
    assert token.context.native_context == application.native_context
    shared.run(lambda: fill(buffer, 1, 1, 1, 1))
    assert (buffer.array() == 255).all()


def test_an_image_in_main_memory_is_uploaded_for_the_application(shared):
    buffer = GpuBuffer.of_array(np.full((2, 3, 4), 77, np.uint8))

    with buffer.read_view(GlTextureView) as view:
        assert pixel(view.name) == (77, 77, 77, 77)

    assert shared.uploads == 1


def test_what_the_application_draws_to_a_buffer_is_for_all_to_see(shared):
    buffer = GpuBuffer(3, 2)

    fill(buffer, 0, 0, 1, 1)

    assert (buffer.array() == (0, 0, 255, 255)).all()
    target = GpuBuffer(3, 2)
    shared.run(lambda: sample(buffer, target))
    assert (target.array() == (0, 0, 255, 255)).all()


def test_a_texture_of_the_application_is_read_in_a_context_of_ours(shared, application):
    name = gl.make("Texture")
    gl.glBindTexture(TEXTURE, name)
    gl.glTexImage2D(TEXTURE, 0, gl.GL_RGBA8, 3, 2, 0, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, None)
    given_back = []
    buffer = GpuBuffer.of_texture(name, TEXTURE, 3, 2, release=given_back.append)

    fill(buffer, 0, 1, 0, 1)

    assert (buffer.array() == (0, 255, 0, 255)).all()
    del buffer
    assert len(given_back) == 1
    gl.delete("Texture", name)


def test_an_application_that_shares_with_nobody_is_told_how_to(context, application):
    name = gl.make("Texture")
    refused = pytest.raises(
        FailedPreconditionError, match=r"shares with no GlContext[,;] .*create\(share=ExternalContext"
    )
    with refused:
        drawn(context, 0, 0, 0, 0).read_view(GlTextureView)
    with refused:
        GpuBuffer(3, 2).write_view(GlTextureView)
    with refused:
        GpuBuffer.of_texture(name, TEXTURE, 3, 2, release=lambda consumers: None).array()
    gl.delete("Texture", name)


def test_fences_of_the_application_do_not_pile_up(shared):
    buffer = drawn(shared, 0, 1, 0, 1)

    for _ in range(20):
        buffer.read_view(GlTextureView).release()

    assert len(texture_of(buffer)._consumers) == 1
