from __future__ import annotations

import sysconfig
import threading
import time

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, WaitTimeoutError
from penstock_gpu import egl, gl
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.errors import GlError

SIZE = 512
CYCLES = 30
PATIENCE_S = 20


@pytest.fixture
def pair(make_context):
    """Return two contexts with threads that share textures."""
    first = make_context(name="first")
    return first, make_context(first, name="second")


class Shared:
    """A texture of two contexts; one draws a colour into it, the other reads it."""

    def __init__(self, drawing, reading):
        self.drawing, self.reading = drawing, reading
        self.texture = drawing.run(self._make)
        self.pixels = np.zeros((SIZE, SIZE, 4), np.uint8)

    def _make(self):
        texture = gl.make("Texture")
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        gl.glTexStorage2D(gl.GL_TEXTURE_2D, 1, gl.GL_RGBA8, SIZE, SIZE)
        gl.glFinish()
        return texture

    def _bind(self):
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._framebuffer())
        gl.glFramebufferTexture2D(
            gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, gl.GL_TEXTURE_2D, self.texture, 0
        )

    def _framebuffer(self):
        from penstock_gpu.contexts.context import GlContext  # the one that is current

        return GlContext.current().attachment("framebuffer", lambda: gl.make("Framebuffer"))

    def draw(self, level, *, fence):
        def job():
            self._bind()
            gl.glClearColor(level / 255, 0, 0, 1)
            gl.glClear(gl.GL_COLOR_BUFFER_BIT)
            return self.drawing.create_sync() if fence else None

        return self.drawing.run(job)

    def read(self, token):
        def job():
            if token is not None:
                token.wait_on_gpu()
            self._bind()
            gl.read_into(self.pixels, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
            gl.glFinish()

        self.reading.run(job)
        return self.pixels[:, :, 0]

    def wrong_cycles(self, *, fence):
        wrong = 0
        for cycle in range(CYCLES):
            level = 1 + cycle
            token = self.draw(level, fence=fence)
            wrong += bool((self.read(token) != level).any())
        return wrong


def test_an_image_behind_a_fence_is_whole_in_the_other_context(pair):
    assert Shared(*pair).wrong_cycles(fence=True) == 0


def test_without_fence_and_flush_the_other_context_sees_an_old_image(pair):
    """Shows that the test above can fail: drivers do not order the contexts by themselves."""
    assert Shared(*pair).wrong_cycles(fence=False) > 0


def test_a_fence_belongs_to_its_context_and_comes_to_pass(pair):
    first, second = pair
    token = first.run(first.create_sync)

    assert token.context is first
    assert token.wait(PATIENCE_S)
    assert token.is_ready()
    assert second.run(lambda: token.wait(PATIENCE_S))


def test_every_place_may_wait_on_the_cpu(pair, make_context):
    first, second = pair
    stranger = make_context(name="stranger")

    assert first.run(first.create_sync).wait(PATIENCE_S)  # no context
    in_first = first.run(first.create_sync)
    assert first.run(lambda: in_first.wait(PATIENCE_S))  # its own
    in_first = first.run(first.create_sync)
    assert second.run(lambda: in_first.wait(PATIENCE_S))  # one that shares
    in_first = first.run(first.create_sync)
    assert stranger.run(lambda: in_first.wait(PATIENCE_S))  # one that does not
    in_first = first.run(first.create_sync)
    stranger.run(in_first.wait_on_gpu)
    assert in_first.is_ready()


def test_a_fence_is_waited_for_after_the_end_of_its_context(pair, make_context):
    first, _ = pair
    token = first.run(first.create_sync)
    first.close()
    assert token.wait(PATIENCE_S)

    alone = make_context()
    token = alone.run(alone.create_sync)
    alone.close()
    assert token.wait(PATIENCE_S)


def test_the_time_of_a_wait_is_what_was_asked_and_its_end_is_no_error(context, monkeypatch):
    asked = []

    def never(fence, flags, nanoseconds):
        asked.append((flags, nanoseconds))
        return gl.GL_TIMEOUT_EXPIRED

    token = context.run(context.create_sync)
    with monkeypatch.context() as patch:
        patch.setitem(vars(gl), "glClientWaitSync", never)
        assert token.wait(0.25) is False
        assert token.is_ready() is False
        assert context.run(lambda: token.wait(-1)) is False

    assert asked == [(gl.GL_SYNC_FLUSH_COMMANDS_BIT, 250_000_000), (1, 0), (1, 0)]
    assert token.wait(PATIENCE_S)


def test_a_wait_that_gl_refuses_is_an_error(context, monkeypatch):
    token = context.run(context.create_sync)
    monkeypatch.setitem(vars(gl), "glClientWaitSync", lambda *_: gl.GL_WAIT_FAILED)
    with pytest.raises(GlError, match="glClientWaitSync failed: the wait failed"):
        token.wait(1)


def test_a_gpu_wait_of_strangers_ends_when_its_time_is_over(make_context, monkeypatch):
    first, stranger = make_context(name="first"), make_context()
    token = first.run(first.create_sync)
    monkeypatch.setitem(vars(gl), "glClientWaitSync", lambda *_: gl.GL_TIMEOUT_EXPIRED)
    with pytest.raises(
        WaitTimeoutError, match=r"context 'first' has not drawn up to its GlSyncToken within 0.5 s"
    ):
        stranger.run(lambda: token.wait_on_gpu(0.5))


def test_who_waits_for_a_busy_context_is_not_kept_for_ever(context, monkeypatch):
    monkeypatch.setattr("penstock_gpu.contexts.sync._GRACE_S", 0.05)
    token = context.run(context.create_sync)
    may_go = threading.Event()
    context.post(lambda: may_go.wait(PATIENCE_S))
    begin = time.monotonic()
    try:
        with pytest.raises(WaitTimeoutError, match="has not begun"):
            token.wait(0.05)
    finally:
        may_go.set()
    assert time.monotonic() - begin < PATIENCE_S / 2


def test_a_gpu_wait_is_told_to_gl_only_where_it_is_needed(pair, monkeypatch):
    first, second = pair
    waits = []
    wait = gl.glWaitSync
    monkeypatch.setitem(
        vars(gl), "glWaitSync", lambda *arguments: (waits.append(arguments), wait(*arguments))
    )
    token = first.run(first.create_sync)

    first.run(token.wait_on_gpu)
    assert waits == []
    second.run(token.wait_on_gpu)
    assert [arguments[1:] for arguments in waits] == [(0, 0xFFFFFFFFFFFFFFFF)]
    assert token.wait(PATIENCE_S)
    second.run(token.wait_on_gpu)
    assert len(waits) == 1


def test_there_is_no_gpu_wait_without_a_current_context(context):
    token = context.run(context.create_sync)
    with pytest.raises(
        FailedPreconditionError,
        match=r"no GL context is current to wait for the GlSyncToken in; wait in GlContext\.run",
    ):
        token.wait_on_gpu()


def test_a_fence_is_made_where_its_context_is_current(pair):
    first, second = pair
    for place in (lambda call: call(), second.run):
        with pytest.raises(
            FailedPreconditionError,
            match="GlContext 'first' makes no fence where it is not current; make the fence in",
        ):
            place(first.create_sync)


@pytest.fixture
def deleted(monkeypatch):
    """Name the context of each deletion of a fence."""
    found = []
    delete = gl.glDeleteSync

    def note(fence):
        found.append(GlContext.current().name)
        delete(fence)

    monkeypatch.setitem(vars(gl), "glDeleteSync", note)
    return found


def test_a_fence_is_deleted_at_once_where_a_context_of_its_group_is_current(
    pair, make_context, deleted, freed
):
    first = pair[0]
    tokens = [first.run(first.create_sync) for _ in range(3)]
    for context in pair:
        context.run(lambda: (tokens.pop(), None)[1])
        freed(first)
        # Without the interpreter's lock the thread that has made a token frees it.
        assert deleted.pop() == (first if sysconfig.get_config_var("Py_GIL_DISABLED") else context).name

    make_context(name="stranger").run(lambda: (tokens.pop(), None)[1])
    first.run(lambda: None)
    freed(first)
    assert deleted == [first.name]


def test_fences_that_are_dropped_elsewhere_are_deleted_by_one_job_in_their_context(pair, deleted):
    first = pair[0]
    tokens = [first.run(first.create_sync) for _ in range(5)]
    may_go = threading.Event()
    first.post(lambda: may_go.wait(PATIENCE_S))
    waiting = first.thread._jobs.qsize()
    tokens.pop()
    dropper = threading.Thread(target=tokens.clear)
    dropper.start()
    dropper.join(PATIENCE_S)
    assert deleted == []
    assert first.thread._jobs.qsize() <= waiting + 1

    may_go.set()
    first.run(lambda: None)
    assert deleted == [first.name] * 5

    token = first.run(first.create_sync)
    del token
    first.run(lambda: None)
    assert deleted == [first.name] * 6


def test_fences_whose_deletion_was_lost_with_the_last_context_go_with_the_next(make_context, deleted):
    first = make_context(name="first")
    group = first.share_group
    token = first.run(first.create_sync)
    group._is_posted = True  # by a job that the first could not do any more
    second = make_context(share=first, name="second")

    del token
    second.run(lambda: None)
    first.run(lambda: None)

    assert deleted == ["first"]


def test_no_context_is_taken_for_current_while_another_is_made_current(make_context, monkeypatch):
    """A finaliser may run at any moment, and deletes a fence at once if `LOCAL` has a context."""
    outer, inner = make_context(), make_context(thread=False)
    seen = []
    make_current = egl.Egl.make_current

    def note(library, binding):
        seen.append(GlContext.current())
        make_current(library, binding)

    def job():
        monkeypatch.setattr(egl.Egl, "make_current", note)
        inner.run(lambda: outer.run(lambda: seen.append("outer inside")))
        monkeypatch.setattr(egl.Egl, "make_current", make_current)
        return GlContext.current()

    assert outer.run(job) is outer
    assert seen == [None, None, "outer inside", None, None]


def test_a_fence_is_flushed_so_that_who_waits_elsewhere_is_not_kept(context, monkeypatch):
    """Drivers may delay commands; Mesa does not show that, since its own wait sends them."""
    calls = []
    for name in ("glFenceSync", "glFlush"):
        call = getattr(gl, name)
        monkeypatch.setitem(vars(gl), name, lambda *a, n=name, c=call: (calls.append(n), c(*a))[1])

    token = context.run(context.create_sync)

    assert calls == ["glFenceSync", "glFlush"]
    assert token.wait(PATIENCE_S)
