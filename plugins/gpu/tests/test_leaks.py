"""Nothing grows: objects of OpenGL, threads, file descriptors and memory, over many frames and many contexts.

Objects are counted where the pack calls OpenGL: one more with each that is made, one less with each that is
deleted.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.packs import default_registry
from penstock_formats import ImageFormat, ImageFrame
from penstock_gpu import GPU, GlContext, GlTextureView, GpuBuffer, GpuResources, gl

pytestmark = pytest.mark.heavy

FRAMES = 1000
CONTEXTS = 200
RUNS = 30
#: Frames until every pool, cache and allocator has what it keeps.
WARM_UP = 40
#: What the allocator may still take after that, in MB; a frame is 61 kB, so that a thousand are 60.
ROOM_MB = 12
SIZE = (96, 160)

GRAPH = """
input_stream: "in"
node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "in" output_stream: "image" }
node { calculator: "SobelEdgesCalculator" input_stream: "image" output_stream: "edges" }
node { calculator: "LuminanceCalculator" input_stream: "edges" output_stream: "grey" }
node {
  calculator: "GlOverlayCalculator"
  input_stream: "VIDEO:image"
  input_stream: "OVERLAY:grey"
  output_stream: "VIDEO:painted"
}
node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "painted" output_stream: "out" }
"""

#: Makes objects → (deletes them, what they are).
MAKERS = {
    "glGenTextures": ("glDeleteTextures", "textures"),
    "glGenFramebuffers": ("glDeleteFramebuffers", "framebuffers"),
    "glGenBuffers": ("glDeleteBuffers", "buffers"),
    "glGenVertexArrays": ("glDeleteVertexArrays", "vertex arrays"),
}
SINGLE = {
    "glFenceSync": ("glDeleteSync", "fences"),
    "glCreateProgram": ("glDeleteProgram", "programs"),
    "glCreateShader": ("glDeleteShader", "shaders"),
}


@pytest.fixture
def live(gl_available, monkeypatch):
    """The number of existing OpenGL objects, by kind."""
    counts = Counter()
    lock = threading.Lock()

    def counted(call, kind, sign, number):
        def wrapper(*arguments):
            result = call(*arguments)
            with lock:
                counts[kind] += sign * number(arguments)
            return result

        return wrapper

    for makers, of_one in ((MAKERS, False), (SINGLE, True)):
        for make, (delete, kind) in makers.items():
            for name, sign in ((make, 1), (delete, -1)):
                number = (lambda _: 1) if of_one else (lambda arguments: arguments[0])
                monkeypatch.setattr(gl, name, counted(getattr(gl, name), kind, sign, number))
    return counts


class Process:
    """The resources of this process besides OpenGL objects."""

    def __init__(self):
        gc.collect()
        self.threads = _entries("/proc/self/task")
        self.python_threads = threading.active_count()
        self.files = _entries("/proc/self/fd")
        try:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            self.resident_mb = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
        except OSError:
            self.resident_mb = 0.0

    def expect_as_before(self, before):
        assert (self.python_threads, self.threads, self.files) == (
            before.python_threads,
            before.threads,
            before.files,
        )
        assert self.resident_mb - before.resident_mb < ROOM_MB


def _entries(folder):
    """Return how many entries a folder has; 0 where the system has no such folder."""
    return len(list(Path(folder).iterdir())) if Path(folder).exists() else 0


def frame(number, height=SIZE[0], width=SIZE[1]):
    array = np.random.default_rng(number).integers(0, 256, (height, width, 4), np.uint8)
    return ImageFrame(array, ImageFormat.SRGBA)


def settled(resources, live):
    """Return the counts after all posted jobs."""
    gc.collect()
    for key in resources.keys:
        resources.context(key).run(gl.glFinish)
    return +live


def test_a_graph_holds_no_more_after_many_frames(live):
    came = threading.Semaphore(0)
    with GpuResources() as resources:
        graph = penstock.CalculatorGraph(GRAPH)
        graph.set_service(GPU, resources)
        graph.observe_output_stream("out", lambda _name, _packet: came.release())
        graph.start_run()
        before = counts = None
        for number in range(FRAMES + WARM_UP):
            if number == WARM_UP:
                counts, before = settled(resources, live), Process()
            graph.add_packet_to_input_stream("in", penstock.Packet(frame(number), number))
            assert came.acquire(timeout=60)
        assert settled(resources, live) == counts
        Process().expect_as_before(before)
        graph.close_all_packet_sources()
        graph.wait_until_done()
        graph.close()

    assert counts["textures"] > 0
    assert counts["programs"] == 3
    gc.collect()
    left = +live
    del left["fences"]  # those of a context that has ended went with it
    assert left == {}


def test_images_of_ever_new_sizes_do_not_pile_up(live):
    random = np.random.default_rng(0)
    most = 0
    with GpuResources() as resources:
        context = resources.context()

        def draw(number):
            height, width = random.integers(8, 64, 2)
            with resources.pool.used_by_default():
                buffer = GpuBuffer.of_frame(frame(number, int(height), int(width)))
                with buffer.write_view(GlTextureView):
                    pass
                return int(buffer.array().size)

        for number in range(FRAMES):
            assert context.run(lambda n=number: draw(n)) > 0
            most = max(most, live["textures"])
        options = resources.pool.options
        kept = 2 * options.max_pool_count
        assert settled(resources, live)["textures"] <= kept
        assert most <= kept + 4  # those that wait for their deletion


class Failing(penstock.Calculator):
    """Fails at the first image."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(GpuBuffer)

    def process(self, cc):
        raise ValueError("on purpose")


def test_runs_that_fail_or_are_cancelled_leave_nothing(live):
    registry = default_registry().child()
    registry.add("calculator", "Failing", Failing)
    failing = GRAPH + 'node { calculator: "Failing" input_stream: "grey" }'

    def run(text, end):
        graph = penstock.CalculatorGraph(text, registry=registry)
        graph.set_service(GPU, resources)
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(frame(0), 0))
        try:
            end(graph)
        finally:
            graph.close()

    def complete(graph):
        graph.close_all_packet_sources()
        graph.wait_until_done()

    def cancel(graph):
        graph.cancel()
        with pytest.raises(penstock.PenstockError, match="cancel"):
            graph.wait_until_done()

    def fail(graph):
        with pytest.raises(penstock.PenstockError, match="on purpose"):
            graph.wait_until_done()

    with GpuResources() as resources:
        for text, end in ((GRAPH, complete), (GRAPH, cancel), (failing, fail)):
            run(text, end)
        counts, before = settled(resources, live), Process()
        for _ in range(RUNS):
            run(GRAPH, cancel)
            run(failing, fail)
        after = settled(resources, live)
        for kind in ("programs", "shaders", "framebuffers", "buffers", "vertex arrays"):
            assert after[kind] == counts[kind], kind
        assert after["textures"] <= counts["textures"] + 4
        Process().expect_as_before(before)


def test_contexts_that_come_and_go_leave_nothing(live):
    def once(share):
        context = GlContext.create(share)
        image = frame(0)

        def there_and_back():
            buffer = GpuBuffer.of_frame(image)
            with buffer.write_view(GlTextureView):
                pass
            return buffer.array()

        np.testing.assert_array_equal(context.run(there_and_back), image.array)
        assert context.close()

    with GlContext.create() as first:
        for share in (None, first):
            once(share)
        first.run(gl.glFinish)
        before, counts = Process(), +live
        for number in range(CONTEXTS):
            once(first if number % 2 else None)
        first.run(gl.glFinish)
        gc.collect()
        after = +live
        for kind in ("textures", "framebuffers", "buffers", "vertex arrays", "programs", "shaders"):
            assert after[kind] == counts[kind], kind
        Process().expect_as_before(before)


def test_a_texture_that_comes_back_from_a_garbage_collection_is_used_again(gl_available):
    """Its fences were garbage together with it, and the next writer waits for them."""
    with GpuResources() as resources:
        main, other = resources.context(), resources.context("user:other")

        def drawn():
            with resources.pool.used_by_default():
                buffer = GpuBuffer(8, 8)
                with buffer.write_view(GlTextureView) as view:
                    return buffer, view.name

        first, _ = main.run(drawn)  # the first of a size is not kept
        buffer, name = main.run(drawn)
        cycle = [buffer]
        cycle.append(cycle)
        other.run(lambda: cycle[0].read_view(GlTextureView).release())
        del buffer
        cycle = None
        gc.collect()
        for context in (other, main):
            context.run(gl.glFinish)

        _, again = main.run(drawn)

        assert again == name
        del first


def test_the_count_sees_what_is_left_behind(live):
    with GlContext.create() as context:
        before = +live
        context.run(lambda: gl.make("Texture"))
        context.run(lambda: gl.glFenceSync(gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0))

        assert +live - before == {"textures": 1, "fences": 1}
