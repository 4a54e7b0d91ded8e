"""Fences that are deferred to the end of a job while one context draws alone on the CPU, and waits for them.

The software renderer is what CI has. Elsewhere `is_software` of the contexts here is set.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import penstock_gpu.contexts.context
from penstock.errors import WaitTimeoutError
from penstock_gpu import (
    ExternalContext,
    GlContext,
    GlTextureView,
    GpuBuffer,
    GpuUnavailableError,
    gl,
    gl_state,
)
from penstock_gpu.contexts import native
from penstock_gpu.contexts.sync import GlSyncToken
from penstock_gpu.errors import GlError

pytestmark = pytest.mark.heavy

PATIENCE_S = 20
SIZE = 256


@pytest.fixture
def alone(make_context):
    """A context that does not share yet, and draws on the CPU."""
    made = make_context(name="alone")
    made.is_software = True
    return made


class Fences(list):
    """The names of contexts, and the fences that they made."""

    def __init__(self):
        super().__init__()
        self.handles = []


@pytest.fixture
def fences(monkeypatch):
    """Name the context of each fence that is made; its `handles` are the fences."""
    made, make = Fences(), gl.glFenceSync

    def note(*arguments):
        made.append(GlContext.current().name)
        made.handles.append(make(*arguments))
        return made.handles[-1]

    monkeypatch.setitem(vars(gl), "glFenceSync", note)
    return made


def paint(buffer: GpuBuffer, level: int) -> GpuBuffer:
    """Draw one level of red in the current context."""
    with buffer.write_view(GlTextureView) as view:
        framebuffer = gl.make("Framebuffer")
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, view.target, view.name, 0)
        gl.glClearColor(level / 255, 0, 0, 1)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, 0)
        gl.delete("Framebuffer", framebuffer)
    return buffer


def read_view_and_release(buffer: GpuBuffer) -> None:
    buffer.read_view(GlTextureView).release()


def token_of(buffer: GpuBuffer):
    storage = buffer._image.storages[0]
    return storage.texture._done_writing


def painted(context, level: int) -> GpuBuffer:
    return context.run(lambda: paint(GpuBuffer(SIZE, SIZE), level))


@pytest.fixture
def busy(alone):
    """A context in whose job an image has just been drawn; "go" lets the job end."""
    job = SimpleNamespace(context=alone, go=threading.Event(), buffer=None)
    has_drawn = threading.Event()

    def work():
        job.buffer = paint(GpuBuffer(SIZE, SIZE), 9)
        has_drawn.set()
        assert job.go.wait(PATIENCE_S)

    alone.post(work)
    assert has_drawn.wait(PATIENCE_S)
    job.token = token_of(job.buffer)
    yield job
    job.go.set()


def test_all_that_a_job_draws_and_reads_is_one_fence_at_its_end(alone, fences):
    def job():
        buffers = [paint(GpuBuffer(SIZE, SIZE), level) for level in (1, 2)]
        for one in buffers:
            read_view_and_release(one)
        assert token_of(buffers[0]) is token_of(buffers[1])
        assert not fences
        return buffers

    buffers = alone.run(job)

    assert fences == ["alone"]
    assert all(token_of(one).wait(PATIENCE_S) for one in buffers)
    assert [int(one.array()[0, 0, 0]) for one in buffers] == [1, 2]
    alone.run(lambda: None)
    assert fences == ["alone"]


def test_a_context_on_a_gpu_makes_each_at_once(alone, fences):
    alone.is_software = False

    def job():
        paint(GpuBuffer(SIZE, SIZE), 1)
        assert fences == ["alone"]

    alone.run(job)
    assert fences == ["alone"]


@pytest.mark.parametrize("ask", ["wait", "is_ready", "wait_until_complete"])
def test_the_job_itself_gets_the_fence_when_it_asks_and_another_for_what_it_draws_then(alone, fences, ask):
    def job():
        buffer = paint(GpuBuffer(SIZE, SIZE), 1)
        token = token_of(buffer)
        texture = buffer._image.storages[0].texture
        calls = {
            "wait": lambda: token.wait(PATIENCE_S),
            "is_ready": token.is_ready,
            "wait_until_complete": lambda: texture.wait_until_complete(PATIENCE_S),
        }
        assert calls[ask]() or ask == "is_ready"
        assert fences == ["alone"]
        paint(buffer, 2)
        assert token_of(buffer) is not token
        return buffer

    buffer = alone.run(job)
    assert fences == ["alone"] * 2
    assert token_of(buffer).wait(PATIENCE_S)


def test_a_second_context_waits_for_the_fence_that_the_first_has_made(alone, make_context, fences):
    buffer = painted(alone, 7)
    other = make_context(alone, name="other")
    waits, wait = [], gl.glWaitSync

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(gl), "glWaitSync", lambda *a: (waits.append(a[0]), wait(*a))[1])
        other.run(lambda: read_view_and_release(buffer))

    assert waits == fences.handles[:1]
    assert fences == ["alone", "other"]

    def job():
        paint(buffer, 8)
        assert fences == ["alone", "other", "alone"]  # no more puts any off

    alone.run(job)


def test_who_asks_while_the_job_is_under_way_waits_for_its_end(busy, make_context, fences):
    second = make_context(busy.context, name="second")
    waits, wait = [], gl.glWaitSync
    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(gl), "glWaitSync", lambda *a: (waits.append(a[0]), wait(*a))[1])
        reading = pool.submit(second.run, busy.buffer.array)
        assert not fences
        busy.go.set()
        assert (reading.result(PATIENCE_S)[..., 0] == 9).all()
    assert fences == ["alone"]
    assert waits == fences.handles


def test_who_asks_between_two_steps_of_a_job_that_goes_on_gets_the_fence(alone, fences):
    has_drawn, may_end, drawn = threading.Event(), threading.Event(), []

    def job():
        drawn.append(paint(GpuBuffer(SIZE, SIZE), 4))
        has_drawn.set()
        while not may_end.is_set():
            alone.thread.serve()  # as a graph's job does between two of its steps

    alone.post(job)
    assert has_drawn.wait(PATIENCE_S)
    try:
        assert token_of(drawn[0]).wait(PATIENCE_S)
        assert fences == ["alone"]
    finally:
        may_end.set()


@pytest.mark.parametrize("place", ["nowhere", "a stranger", "a second context"])
def test_who_does_not_wait_so_long_is_told_that_it_is_not_done(busy, make_context, fences, place):
    name = {"a stranger": None, "a second context": busy.context}
    context = make_context(name[place]) if place in name else None
    run = (lambda call: call()) if context is None else context.run

    assert run(lambda: busy.token.wait(0.02)) is False
    assert run(busy.token.is_ready) is False
    if context is not None:
        with pytest.raises(
            WaitTimeoutError, match=r"context 'alone' has not drawn up to its GlSyncToken within 0.02 s"
        ):
            run(lambda: busy.token.wait_on_gpu(0.02))
    assert busy.context.close(0.0) is False  # nor when it is about to end
    assert run(lambda: busy.token.wait(0.02)) is False
    assert not fences

    busy.go.set()
    assert run(lambda: busy.token.wait(PATIENCE_S))
    assert fences == ["alone"]


def test_a_write_that_could_not_wait_for_a_reader_waits_for_it_again(alone, make_context, monkeypatch):
    buffer = painted(alone, 1)
    other = make_context(alone, name="other")
    other.run(lambda: read_view_and_release(buffer))
    wait, refused = GlSyncToken.wait_on_gpu, []

    def refuse(token, *_):
        if not refused:
            refused.append(token)
            raise WaitTimeoutError("not now")
        wait(token)

    monkeypatch.setattr(GlSyncToken, "wait_on_gpu", refuse)
    with pytest.raises(WaitTimeoutError, match="not now"):
        alone.run(lambda: paint(buffer, 2))
    (reader,) = buffer._image.storages[0].texture._consumers.values()

    assert [reader] == refused
    alone.run(lambda: paint(buffer, 2))
    assert not buffer._image.storages[0].texture._consumers


def test_a_job_that_waits_for_another_context_has_made_its_fences_before(alone, make_context, fences):
    """Otherwise both would wait for each other: the job for the other's job, and that for the fence."""

    def job():
        buffer = paint(GpuBuffer(SIZE, SIZE), 5)
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(make_context, alone, name="second").result(PATIENCE_S)
        assert not fences
        return second.run(lambda: buffer.array()[..., 0], PATIENCE_S)

    assert (alone.run(job, PATIENCE_S) == 5).all()
    assert fences[0] == "alone"


def test_who_waits_for_a_job_that_then_waits_for_it_goes_on(alone, make_context):
    """The second's job asks for a fence of the first's, whose running job then needs the second."""
    comes, asks = threading.Event(), threading.Event()
    seen = []

    def job():
        seen.append(paint(GpuBuffer(SIZE, SIZE), 6))
        comes.set()
        assert asks.wait(PATIENCE_S)
        return seen[1].run(lambda: "done", PATIENCE_S)

    def ask():
        asks.set()
        return seen[0].array()[..., 0]

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(alone.run, job)
        assert comes.wait(PATIENCE_S)
        seen.append(make_context(alone, name="second"))
        second = pool.submit(seen[1].run, ask)
        assert first.result(PATIENCE_S) == "done"
        assert (second.result(PATIENCE_S) == 6).all()


def test_a_wait_for_another_context_is_not_blamed_for_an_error_that_was_left(alone, make_context, caplog):
    stranger = make_context(name="stranger")

    def job():
        paint(GpuBuffer(SIZE, SIZE), 1)
        gl_state._calls()[0](0xFFFF)  # glDisable of nothing, unchecked
        return stranger.run(lambda: "done")

    assert alone.run(job) == "done"
    assert "left unchecked GL errors: GL_INVALID_ENUM" in caplog.text


@pytest.mark.parametrize("thread", [True, False])
def test_a_context_that_ends_has_made_its_fences(make_context, fences, thread):
    first = make_context(name="first", thread=thread)
    first.is_software = True
    buffer = painted(first, 3)
    assert fences == ["first"]

    assert first.close()

    assert token_of(buffer).wait(PATIENCE_S)
    assert token_of(buffer).is_ready()


def test_a_fence_that_the_driver_does_not_make_is_told_and_made_after_the_next_job(
    alone, monkeypatch, caplog
):
    def refuse(*_):
        raise GlError("glFenceSync", 0x0505)

    with monkeypatch.context() as patch:
        patch.setitem(vars(gl), "glFenceSync", refuse)
        buffer = painted(alone, 3)
        assert token_of(buffer).wait(0.02) is False

    assert "glFenceSync failed: GL_OUT_OF_MEMORY" in caplog.text
    alone.run(lambda: None)
    assert token_of(buffer).wait(PATIENCE_S)


def test_a_wait_for_a_context_whose_thread_was_killed_ends(alone, monkeypatch):
    monkeypatch.setattr(GlContext, "settle", lambda _: None)
    buffer = painted(alone, 3)
    assert token_of(buffer).wait(0.02) is False
    assert alone.close()
    assert token_of(buffer).wait(0.02) is True
    other = GlContext.create()
    other.run(token_of(buffer).wait_on_gpu)
    assert other.close()


def test_a_finaliser_that_releases_a_view_meanwhile_leaves_no_fence_unmade(alone, monkeypatch):
    """A garbage collection may run within any line, also within the one that stores the job's fence."""
    made = []

    def token(context, **how):
        if how and not made:
            made.append(None)
            made.append(context.leave_fence())  # as the finaliser of a view does
        return GlSyncToken(context, **how)

    monkeypatch.setattr(penstock_gpu.contexts.context, "GlSyncToken", token)
    outer = alone.run(alone.leave_fence)

    assert outer is not made[1]
    assert outer.wait(PATIENCE_S)
    assert made[1].wait(PATIENCE_S)


def test_what_is_drawn_after_a_finaliser_within_the_settling_gets_another_fence(alone, monkeypatch):
    left, settle = [], GlSyncToken.settle

    def and_leave(token):
        settle(token)
        if not left:
            left.append(token.context.leave_fence())  # as the finaliser of a view does

    monkeypatch.setattr(GlSyncToken, "settle", and_leave)

    def job():
        first = alone.leave_fence()
        alone.settle()
        return first, alone.leave_fence()

    first, later = alone.run(job)

    assert later not in {first, left[0]}
    assert all(token.wait(PATIENCE_S) for token in (first, left[0], later))


def test_a_context_with_a_lock_makes_its_fence_when_it_is_let_go(make_context, fences):
    locked = make_context(name="locked", thread=False)
    locked.is_software = True

    def job():
        buffer = paint(GpuBuffer(SIZE, SIZE), 4)
        assert not fences
        return buffer

    buffer = locked.run(job)
    assert fences == ["locked"]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(token_of(buffer).wait, PATIENCE_S).result(PATIENCE_S)


def test_the_applications_context_makes_a_group_shared(make_context, fences):
    maker = make_context(name="maker")
    here = ExternalContext(maker.native_display, maker.native_context)  # as an application has one
    shares = make_context(here, name="shares")
    shares.is_software = True

    def job():
        paint(GpuBuffer(SIZE, SIZE), 1)
        assert fences == ["shares"]

    shares.run(job)


def test_a_forked_process_is_told_and_does_not_hang(alone, monkeypatch):
    buffer = painted(alone, 1)

    def job():
        with monkeypatch.context() as patch:
            patch.setattr(native._Process, "is_forked", True)
            with pytest.raises(GpuUnavailableError, match="fork"):
                buffer.array()

    alone.run(job)
    assert np.array_equal(buffer.array()[0, 0], [1, 0, 0, 255])
