"""Buffers drawn to and read by two contexts from four threads at once; what is left behind afterwards."""

from __future__ import annotations

import gc
import os
import threading

import numpy as np
import pytest

from penstock_gpu import GlContext, GlTextureView, GpuBuffer, GpuBufferPool, TexturePoolOptions, gl
from penstock_gpu.formats import GpuBufferFormat as F

pytestmark = pytest.mark.heavy

DRAW, READ, BOTH, COLOR = 0x8CA9, 0x8CA8, 0x8D40, 0x8CE0
THREADS = 4
#: Formats with their channels in use: drawing gives four.
FORMATS = ((F.BGRA32, 4), (F.RGB24, 3), (F.ONE_COMPONENT8, 1))


class Fence:
    """A fence without effect: the state without synchronization."""

    def __init__(self, context: GlContext) -> None:
        self.context = context

    def wait_on_gpu(self) -> None:
        pass

    def wait(self, timeout: float) -> bool:
        return True


def no_sync(context: GlContext) -> Fence:
    return Fence(context)


def framebuffers(context: GlContext) -> tuple[int, int]:
    return context.attachment("stress", lambda: (gl.make("Framebuffer"), gl.make("Framebuffer")))


def box(view: GlTextureView, corner: tuple[int, int], color: np.ndarray) -> None:
    """Paint all columns and rows from a corner on."""
    gl.glEnable(gl.GL_SCISSOR_TEST)
    gl.glScissor(*corner, view.width - corner[0], view.height - corner[1])
    gl.glClearColor(*(color / 255))
    gl.glClear(gl.GL_COLOR_BUFFER_BIT)
    gl.glDisable(gl.GL_SCISSOR_TEST)


def paint(target: GpuBuffer, colors: np.ndarray, corner: tuple[int, int]) -> None:
    """Draw an image of two colours; a context must be current."""
    with target.write_view(GlTextureView) as view:
        gl.glBindFramebuffer(BOTH, framebuffers(view.context)[0])
        gl.glFramebufferTexture2D(BOTH, COLOR, view.target, view.name, 0)
        box(view, (0, 0), colors[0])
        box(view, corner, colors[1])
        gl.glFramebufferTexture2D(BOTH, COLOR, view.target, 0, 0)


def repaint(source: GpuBuffer, target: GpuBuffer, color: np.ndarray, corner: tuple[int, int]) -> None:
    """Draw a copy of an image with a box in it; a context must be current."""
    with source.read_view(GlTextureView) as read, target.write_view(GlTextureView) as write:
        first, second = framebuffers(write.context)
        gl.glBindFramebuffer(READ, first)
        gl.glFramebufferTexture2D(READ, COLOR, read.target, read.name, 0)
        gl.glBindFramebuffer(DRAW, second)
        gl.glFramebufferTexture2D(DRAW, COLOR, write.target, write.name, 0)
        size = (0, 0, read.width, read.height)
        gl.glBlitFramebuffer(*size, *size, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
        box(write, corner, color)
        gl.glFramebufferTexture2D(READ, COLOR, read.target, 0, 0)
        gl.glFramebufferTexture2D(DRAW, COLOR, write.target, 0, 0)


class Worker(threading.Thread):
    """Draws images in one context, copies them in the other, and compares the results."""

    def __init__(
        self, seed: int, contexts: list[GlContext], pool: GpuBufferPool, frames: int, largest: int
    ) -> None:
        super().__init__(name=f"stress {seed}")
        self.random = np.random.default_rng(seed)
        self.contexts = contexts
        self.pool = pool
        self.frames = frames
        self.largest = largest
        #: How many images had a wrong pixel.
        self.wrong = 0
        #: What went wrong otherwise, or None.
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for _ in range(self.frames):
                self.wrong += not self.one_is_right()
        except BaseException as error:
            self.error = error
            raise

    def one_is_right(self) -> bool:
        random = self.random
        width, height = (int(side) for side in random.integers(1, self.largest, 2))
        kind, channels = FORMATS[random.integers(len(FORMATS))]
        colors = random.integers(0, 256, (3, 4))
        corners = [(int(random.integers(width)), int(random.integers(height))) for _ in range(2)]
        first, second = random.permutation(len(self.contexts))

        def begin() -> GpuBuffer:
            made = self.pool.get(width, height, kind)
            paint(made, colors[:2], corners[0])
            return made

        def go_on() -> GpuBuffer:
            made = self.pool.get(width, height, kind)
            repaint(source, made, colors[2], corners[1])
            return made

        source = self.contexts[first].run(begin)
        target = self.contexts[second].run(go_on)
        is_elsewhere = random.integers(2)
        seen = target.array() if is_elsewhere else self.contexts[first].run(target.array)
        return np.array_equal(seen, image(width, height, colors, corners, channels))


def image(
    width: int, height: int, colors: np.ndarray, corners: list[tuple[int, int]], channels: int
) -> np.ndarray:
    """Return what `paint` and `repaint` draw, by NumPy."""
    want = np.empty((height, width, 4), np.uint8)
    want[:] = colors[0]
    for color, (column, row) in zip(colors[1:], corners, strict=True):
        want[row:, column:] = color
    return want[:, :, 0] if channels == 1 else want[:, :, :channels]


def stress(context: GlContext, other: GlContext, frames: int, largest: int) -> int:
    """Return how many of `frames` images had a wrong pixel."""
    pool = GpuBufferPool(TexturePoolOptions(min_requests_before_pool=1))
    workers = [Worker(seed, [context, other], pool, frames // THREADS, largest) for seed in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(300)
    assert not any(worker.is_alive() for worker in workers), "a worker hangs"
    assert [worker.error for worker in workers] == [None] * THREADS
    assert pool.in_use == 0
    pool.close()
    return sum(worker.wrong for worker in workers)


def test_two_contexts_and_four_threads_draw_no_wrong_pixel(make_context):
    context = make_context()

    assert stress(context, make_context(share=context), 1000, 64) == 0


@pytest.mark.slow
def test_two_contexts_and_four_threads_draw_no_wrong_pixel_for_long(make_context):
    context = make_context()
    other = make_context(share=context)

    assert stress(context, other, 20_000, 64) == 0
    assert stress(context, other, 1000, 1000) == 0


def test_without_fences_pixels_are_wrong(make_context, monkeypatch):
    """Shows that the test above can fail: software renderers need the flush, and GPUs the wait too."""
    context = make_context()
    other = make_context(share=context)
    monkeypatch.setattr(GlContext, "create_sync", no_sync)

    assert stress(context, other, 200, 400) > 0


def resident() -> int:
    """Return how much memory the process has, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  # no path of ours
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts in /proc, which this system has not")  # noqa: PTH112  # as above
def test_a_thousand_frames_leave_nothing_behind(make_context, monkeypatch, freed):
    context = make_context()
    other = make_context(share=context)
    fences = {"glFenceSync": 0, "glDeleteSync": 0}

    def count(name: str, call) -> None:
        def counting(*arguments: object) -> object:
            fences[name] += 1
            return call(*arguments)

        monkeypatch.setattr(gl, name, counting)

    def settle() -> tuple[int, ...]:
        """Return the objects of GL, the fences, the threads and the open files, after all posted jobs."""
        gc.collect()
        freed(context, other)
        for each in (context, other, context):
            each.run(lambda: None)
        textures = context.run(lambda: sum(map(gl.glIsTexture, range(1, 5000))))
        drawn_to = [
            each.run(lambda: sum(map(gl.glIsFramebuffer, range(1, 500)))) for each in (context, other)
        ]
        alive = fences["glFenceSync"] - fences["glDeleteSync"]
        return textures, *drawn_to, alive, threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # as above

    for name in fences:
        count(name, getattr(gl, name))
    assert stress(context, other, 200, 64) == 0
    before, memory = settle(), resident()

    assert stress(context, other, 1000, 64) == 0

    assert settle() == before
    assert before[3] == 0
    assert resident() - memory < 16 << 20
