"""Fences that are put off while one context draws alone on the CPU: nobody who asks for one is kept waiting.

The software renderer is what CI has. Elsewhere the contexts here are told that they draw on the CPU.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from penstock_gpu import (
    ExternalContext,
    GlContext,
    GlTextureView,
    GpuBuffer,
    GpuUnavailableError,
    gl,
    gl_state,
    native,
)
from penstock_gpu.errors import GlError

PATIENCE_S = 20
SIZE = 256


@pytest.fixture
def alone(make_context):
    """A context that shares with nobody yet, and draws on the CPU."""
    made = make_context(name="alone")
    made.is_software = True
    return made


@pytest.fixture
def fences(monkeypatch):
    """Name the context of each fence that is made."""
    made, make = [], gl.glFenceSync

    def note(*arguments):
        made.append(GlContext.current().name)
        return make(*arguments)

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
    storage = buffer._picture.storages[0]
    return storage.texture._done_writing


def test_one_context_makes_no_fence_and_all_its_textures_share_the_one_that_is_put_off(alone, fences):
    buffers = alone.run(lambda: [paint(GpuBuffer(SIZE, SIZE), level) for level in (1, 2)])
    alone.run(lambda: [read_view_and_release(one) for one in buffers])

    assert not fences
    assert token_of(buffers[0]) is token_of(buffers[1])
    assert [int(one.array()[0, 0, 0]) for one in buffers] == [1, 2]
    assert not fences


def test_a_context_on_a_gpu_makes_each_at_once(alone, fences):
    alone.is_software = False
    alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 1))

    assert fences == ["alone"]


@pytest.mark.parametrize("place", ["nowhere", "its own", "a stranger"])
@pytest.mark.parametrize("ask", ["wait", "is_ready", "wait_until_complete"])
def test_who_asks_gets_the_fence_and_what_comes_later_gets_another(alone, make_context, fences, place, ask):
    stranger = make_context(name="stranger")
    buffer = alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 1))
    token = token_of(buffer)
    calls = {
        "wait": lambda: token.wait(PATIENCE_S),
        "is_ready": token.is_ready,
        "wait_until_complete": lambda: buffer._picture.storages[0].texture.wait_until_complete(PATIENCE_S),
    }
    run = {"nowhere": lambda call: call(), "its own": alone.run, "a stranger": stranger.run}[place]

    answer = run(calls[ask])

    assert answer or ask == "is_ready"
    assert fences == ["alone"]
    alone.run(lambda: paint(buffer, 2))
    assert token_of(buffer) is not token
    assert token.wait(PATIENCE_S)
    assert fences == ["alone"]


def test_a_second_context_finds_all_fences_made_and_the_first_puts_none_off_any_more(
    alone, make_context, fences
):
    buffer = alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 7))
    other = make_context(alone, name="other")

    alone.run(lambda: None)
    assert fences == ["alone"]
    waits, wait = [], gl.glWaitSync
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(gl), "glWaitSync", lambda *a: (waits.append(a), wait(*a))[1])
        other.run(lambda: read_view_and_release(buffer))
    assert [fence for fence, *_ in waits] == [token_of(buffer)._fence]
    assert fences == ["alone", "other"]
    alone.run(lambda: paint(buffer, 8))
    assert fences == ["alone", "other", "alone"]


def test_a_second_context_sees_what_the_first_has_drawn_alone(make_context):
    """Contexts come and go; the first draws before each, and each reads at once."""
    wrong = 0
    for level in range(1, 31):
        first = make_context(name="first")
        first.is_software = True
        buffer = first.run(lambda level=level: paint(GpuBuffer(SIZE, SIZE), level))
        second = make_context(first, name="second")
        wrong += bool((second.run(buffer.array)[..., 0] != level).any())
    assert wrong == 0


def test_who_asks_in_a_second_context_waits_for_no_more_than_the_job_under_way(alone, make_context, fences):
    """The first is busy while the second comes and reads: it makes the fence as soon as it is free."""
    buffer = alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 9))
    may_go = threading.Event()
    alone.post(lambda: may_go.wait(PATIENCE_S))
    second = make_context(alone, name="second")
    waits, wait = [], gl.glWaitSync
    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(gl), "glWaitSync", lambda *a: (waits.append(a[0]), wait(*a))[1])
        reading = pool.submit(second.run, buffer.array)
        assert not fences
        may_go.set()
        assert (reading.result(PATIENCE_S)[..., 0] == 9).all()
    assert fences == ["alone"]
    assert waits == [token_of(buffer)._fence]


def test_a_job_that_waits_for_another_context_has_made_its_fences_before(alone, make_context, fences):
    """Else both would wait for each other: the job for the other's, and that for the fence."""

    def job():
        buffer = paint(GpuBuffer(SIZE, SIZE), 5)
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(make_context, alone, name="second").result(PATIENCE_S)
        assert not fences  # what the second's coming has posted is behind this job
        return second.run(lambda: buffer.array()[..., 0], PATIENCE_S)

    assert (alone.run(job, PATIENCE_S) == 5).all()
    assert fences[0] == "alone"


@pytest.mark.parametrize("thread", [True, False])
def test_a_context_that_ends_has_made_its_fences(make_context, fences, thread):
    first = make_context(name="first", thread=thread)
    first.is_software = True
    buffer = first.run(lambda: paint(GpuBuffer(SIZE, SIZE), 3))
    token = token_of(buffer)

    assert first.close()

    assert fences == ["first"]
    assert token.wait(PATIENCE_S)
    assert token.is_ready()


def test_a_context_that_is_about_to_end_is_waited_for(alone, fences, monkeypatch):
    buffer = alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 3))
    token = token_of(buffer)
    may_go = threading.Event()
    alone.post(lambda: may_go.wait(PATIENCE_S))
    assert not alone.close(0.0)
    assert not fences
    close = GlContext.close
    monkeypatch.setattr(GlContext, "close", lambda *a: (may_go.set(), close(*a))[1])

    assert token.wait(PATIENCE_S)
    assert fences == ["alone"]


def test_a_context_whose_driver_makes_no_fence_ends_and_says_so(alone, monkeypatch, caplog):
    alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 3))
    buffer = alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 3))

    def refuse(*_):
        raise GlError("glFenceSync", 0x0505)

    with monkeypatch.context() as patch:
        patch.setitem(vars(gl), "glFenceSync", refuse)
        with pytest.raises(GlError, match="glFenceSync failed: GL_OUT_OF_MEMORY"):
            token_of(buffer).wait(1)
        assert alone.close()

    assert "glFenceSync failed: GL_OUT_OF_MEMORY" in caplog.text
    assert token_of(buffer).wait(1)  # it has ended


def test_a_context_with_a_lock_puts_fences_off_too_and_makes_them_on_any_thread(make_context, fences):
    locked = make_context(name="locked", thread=False)
    locked.is_software = True
    buffer = locked.run(lambda: paint(GpuBuffer(SIZE, SIZE), 4))
    assert not fences
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(token_of(buffer).wait, PATIENCE_S).result(PATIENCE_S)
    assert fences == ["locked"]


def test_the_applications_context_makes_a_group_shared(make_context, fences):
    maker = make_context(name="maker")
    here = ExternalContext(maker.native_display, maker.native_context)  # as an application has one
    shares = make_context(here, name="shares")
    shares.is_software = True

    shares.run(lambda: paint(GpuBuffer(SIZE, SIZE), 1))

    assert fences == ["shares"]


def test_what_is_left_without_a_fence_is_begun_at_the_end_of_the_job_once(alone, monkeypatch):
    flushes, flush = [], gl.glFlush
    monkeypatch.setitem(vars(gl), "glFlush", lambda: flushes.append(1) or flush())

    def job():
        for level in range(3):
            paint(GpuBuffer(SIZE, SIZE), level)
        assert not flushes

    alone.run(job)
    assert len(flushes) == 1
    alone.run(lambda: None)
    assert len(flushes) == 1


def test_a_flush_blames_nobody_for_an_error_that_was_left(alone, caplog):
    def job():
        paint(GpuBuffer(SIZE, SIZE), 1)
        gl_state._calls()[0](0xFFFF)  # glDisable of nothing, unchecked
        return "done"

    assert alone.run(job) == "done"
    assert "left unchecked GL errors: GL_INVALID_ENUM" in caplog.text


def test_a_fence_that_nobody_can_ask_for_any_more_is_never_made(alone, fences):
    alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 1) and None)  # the buffer is gone
    alone.run(alone.settle)
    assert not fences


def test_a_forked_process_gets_no_late_fence(alone, monkeypatch):
    buffer = alone.run(lambda: paint(GpuBuffer(SIZE, SIZE), 1))
    with monkeypatch.context() as patch:
        patch.setattr(native._Process, "is_forked", True)
        with pytest.raises(GpuUnavailableError, match="fork"):
            token_of(buffer).wait(1)
    assert np.array_equal(buffer.array()[0, 0], [1, 0, 0, 255])
