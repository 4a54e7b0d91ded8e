"""The application's own context, made here by EGL itself."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu import egl, gl
from penstock_gpu.contexts import device, native
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.external_context import ExternalContext
from penstock_gpu.contexts.share_group import ShareGroup
from penstock_gpu.errors import GpuUnavailableError

PATIENCE_S = 20


@pytest.fixture(params=["gl", "gles"])
def application(request, make_context):
    """Make a context as an application would, current on this thread, and capture it."""
    display = device.candidates(make_context().device.name.removeprefix("device ") or None)[0].display()
    library = egl.load()
    made = native.create(display, request.param)
    library.make_current(made.binding)
    yield ExternalContext.current()
    library.make_current(egl.Binding(display))
    made.destroy()


def test_what_is_current_is_captured(application):
    binding = egl.load().current()

    assert application.is_current()
    assert (application.native_display, application.native_context) == (binding.display, binding.context)
    assert application.api in repr(application)
    assert application.share_group is ExternalContext.current().share_group
    assert GlContext.current() is None


def test_a_texture_of_ours_is_drawn_in_the_applications_context(application, make_context):
    context = make_context(application)
    image = np.random.default_rng(5).integers(0, 256, (9, 5, 4), np.uint8)
    seen = np.zeros_like(image)

    def draw():
        texture = gl.make("Texture")
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        gl.upload(image, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE, internal=gl.GL_RGBA8)
        return texture, context.create_sync()

    assert context.api == application.api
    assert context.share_group is application.share_group
    texture, token = context.run(draw)
    token.wait_on_gpu()  # in the application's context
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, gl.make("Framebuffer"))
    gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, gl.GL_TEXTURE_2D, texture, 0)
    gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
    gl.read_into(seen, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)

    np.testing.assert_array_equal(seen, image)


def test_a_fence_of_the_application_is_waited_for_in_ours(application, make_context):
    context = make_context(application)
    token = application.create_sync()

    context.run(token.wait_on_gpu)
    assert context.run(lambda: token.wait(PATIENCE_S))
    assert token.context is application


def test_a_context_without_a_thread_gives_the_application_back_what_was_current(application, make_context):
    context = make_context(application, thread=False)
    before = egl.load().current()

    assert context.run(GlContext.current) is context
    assert egl.load().current() == before
    assert application.is_current()


def test_an_applications_context_that_is_not_current_is_not_used(application):
    egl.load().make_current(egl.Binding(application.native_display))

    for use in (application.create_sync, lambda: application.run(int)):
        with pytest.raises(
            FailedPreconditionError, match=r"external 0x[0-9a-f]+' is not current on this thread; make"
        ):
            use()


def test_its_jobs_are_plain_calls(application):
    assert application.run(lambda: gl.get_integer(gl.GL_MAX_TEXTURE_SIZE)) > 0
    assert application.post_deletion(int) is False
    assert application.is_closed is False


def test_without_a_current_context_there_is_nothing_to_capture(gl_available):
    with pytest.raises(
        FailedPreconditionError, match=r"no EGL context is current on this thread; make the application's"
    ):
        ExternalContext.current()


def test_another_api_than_that_of_the_one_to_share_with_is_refused(application):
    other = "gl" if application.api == "gles" else "gles"
    with pytest.raises(
        InvalidArgumentError, match=f"opening a context: API '{other}' cannot share with 'external"
    ):
        GlContext.create(application, api=other)


def test_a_context_that_is_gone_cannot_be_shared_with(make_context):
    gone = ExternalContext.__new__(ExternalContext)  # as if the application had destroyed it since
    gone.native_display, gone.native_context = make_context().native_display, 0xDEAD0
    gone.api, gone.name, gone.share_group = "gl", "gone", ShareGroup()

    with pytest.raises(
        GpuUnavailableError, match="that shares with 'gone' was refused: eglCreateContext: EGL_BAD"
    ):
        GlContext.create(gone)


def test_a_context_shares_with_one_on_its_own_device_only(make_context):
    first = make_context(name="first")
    if first.device.name == "surfaceless":
        pytest.skip("there is one device only")

    with pytest.raises(
        InvalidArgumentError, match="opening a context: device 'surfaceless' cannot share with 'first' on "
    ):
        GlContext.create(first, device="surfaceless")
    assert make_context(first, device=first.device.index).share_group is first.share_group


def test_contexts_made_alone_do_not_share(make_context):
    assert make_context().share_group is not make_context().share_group
