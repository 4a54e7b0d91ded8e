"""Buffers that outlive their graph and its resources can be read, and nothing stays when they are gone."""

from __future__ import annotations

import gc
import os
import sysconfig
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError
from penstock_formats import ImageFrame
from penstock_gpu import GlContext, GlTextureView, GpuBuffer, GpuResources, gl
from penstock_gpu.calculators.luminance import LuminanceCalculator
from penstock_testing import testing_registry

PATIENCE_S = 20

pytestmark = [pytest.mark.gpu, pytest.mark.heavy]

GRAPH = """
input_stream: "in"
output_stream: "out"
node { calculator: "LuminanceCalculator" input_stream: "VIDEO:in" output_stream: "VIDEO:out" }
"""


def gl_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("penstock-gpu")]


@pytest.fixture(autouse=True)
def _leaves_no_thread():
    """Fail if a GL thread is left when all objects of a test are gone."""
    before = set(gl_threads())
    yield
    gc.collect()
    expect_no_threads_but(before)


def expect_no_threads_but(before: set[threading.Thread]) -> None:
    for thread in set(gl_threads()) - before:
        join_in_turns(thread)
    assert set(gl_threads()) <= before


def join_in_turns(thread: threading.Thread) -> None:
    """Wait for the end of a thread, and run Python code: only then is freed what this thread has made.

    That is so without the interpreter's lock, also where another thread drops it.
    """
    deadline = time.monotonic() + PATIENCE_S
    while thread.is_alive() and time.monotonic() < deadline:
        thread.join(0.1)


@pytest.fixture
def live(monkeypatch):
    """Return how many textures there are now, as GL counts them."""
    made, deleted = [], []
    make, delete = gl.glGenTextures, gl.glDeleteTextures
    monkeypatch.setattr(gl, "glGenTextures", lambda number, names: (make(number, names), made.extend(names)))
    monkeypatch.setattr(
        gl, "glDeleteTextures", lambda number, names: (deleted.extend(names), delete(number, names))
    )
    return lambda: len(made) - len(deleted)


def grey(shade: int) -> GpuBuffer:
    return GpuBuffer.of_array(np.full((5, 7, 4), shade, np.uint8))


def run(count: int = 3, **environment) -> list[GpuBuffer]:
    """Run a graph once, and return its images; each shows its number as a plain colour."""
    packets = penstock.run(GRAPH, {"in": [(number, grey(number)) for number in range(count)]}, **environment)
    return [packet.payload for packet in packets["out"]]


def expect_image(buffer: GpuBuffer, shade: int) -> None:
    assert (buffer.array() == shade).all()
    assert isinstance(buffer.frame(), ImageFrame)


# --- of a graph --------------------------------------------------------------------------------


def test_the_images_of_a_run_are_read_when_it_is_over_and_then_nothing_is_left():
    before, files = gl_threads(), open_files()

    images = run()

    assert [image.storages() for image in images] == [("TextureStorage",)] * 3
    assert images[0]._repr_png_().startswith(b"\x89PNG")
    for shade, image in enumerate(images):
        expect_image(image, shade)
    del images, image
    expect_no_threads_but(set(before))
    assert open_files() == files


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_the_thread_stays_for_as_long_as_an_image_is_only_there_and_goes_with_the_last():
    before = set(gl_threads())
    images = run()

    (thread,) = set(gl_threads()) - before
    images.pop()
    expect_image(images[0], 0)  # from now on it is in main memory too
    assert thread.is_alive()
    images.pop()

    join_in_turns(thread)
    assert not thread.is_alive()
    expect_image(images[0], 0)


def test_a_graph_that_is_closed_ends_its_thread_at_once_where_no_image_is_left():
    before = gl_threads()
    seen = []

    with penstock.CalculatorGraph(GRAPH) as graph:
        graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload.array()[0, 0, 0]))
        graph.start_run()
        for number in range(3):
            graph.add_packet_to_input_stream("in", penstock.Packet(grey(number), number))
        graph.close_all_packet_sources()
        graph.wait_until_done(PATIENCE_S)

    assert seen == [0, 1, 2]
    assert gl_threads() == before


def test_images_in_a_cycle_of_garbage_end_the_thread_when_they_are_collected(live):
    before = set(gl_threads())
    cycle = run()
    cycle.append(cycle)
    assert len(set(gl_threads()) - before) == 1

    del cycle
    gc.collect()

    expect_no_threads_but(before)
    assert live() == 0


def test_the_last_image_may_go_on_another_thread_or_on_that_of_gl(live):
    before = set(gl_threads())
    images = run()
    dropper = threading.Thread(target=images.clear)
    dropper.start()
    dropper.join(PATIENCE_S)
    expect_no_threads_but(before)

    images = run()
    context = images[0]._image.storages[0].texture.context
    context.run(images.clear)
    expect_no_threads_but(before)
    assert context.is_closed
    assert live() == 0


def test_an_image_that_goes_in_keeps_nothing_of_a_graph_it_went_through():
    before = gl_threads()
    image = grey(9)
    for _ in range(5):
        (packet,) = penstock.run(GRAPH, {"in": [(0, image)]})["out"]
        expect_image(packet.payload, 9)
        assert len(image.storages()) <= 2
    del packet

    expect_no_threads_but(set(before))


def test_an_image_of_one_run_goes_into_the_next():
    (first,) = run(1)
    (second,) = penstock.run(GRAPH, {"in": [(0, first)]})["out"]

    expect_image(second.payload, 0)


def test_the_images_of_a_run_that_failed_are_read_all_the_same():
    class Fails(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set(GpuBuffer)

        def process(self, cc):
            if cc.input_timestamp == penstock.Timestamp(1):
                raise ValueError("broken")

    registry = testing_registry(Fails, LuminanceCalculator)
    graph = penstock.CalculatorGraph(
        GRAPH + 'node { calculator: "Fails" input_stream: "out" }', registry=registry
    )
    images = []
    graph.observe_output_stream("out", lambda _, packet: images.append(packet.payload))
    graph.start_run()
    for number in range(2):
        graph.add_packet_to_input_stream("in", penstock.Packet(grey(number), number))
    with pytest.raises(GraphRunError, match="broken"):
        graph.wait_until_done(PATIENCE_S)
    graph.close()

    expect_image(images[0], 0)


# --- of resources --------------------------------------------------------------------------------


def drawn(resources: GpuResources, key: str = "") -> GpuBuffer:
    """Return an image whose pixels, 255, are in a texture only."""
    made = GpuBuffer(7, 5)

    def draw() -> None:
        with resources.pool.used_by_default(), made.write_view(GlTextureView) as view:
            framebuffer = gl.make("Framebuffer")
            gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
            gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, view.target, view.name, 0)
            gl.glClearColor(1, 1, 1, 1)
            gl.glClear(gl.GL_COLOR_BUFFER_BIT)
            gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, 0)
            gl.delete("Framebuffer", framebuffer)

    resources.context(key).run(draw)
    return made


@pytest.mark.parametrize("threads", [True, False])
def test_an_image_outlives_resources_that_are_closed_and_only_its_own_context_stays(threads):
    resources = GpuResources(threads=threads)
    other, main = resources.context("user:x"), resources.context()
    image = drawn(resources, "user:x")

    assert resources.close()
    assert main.is_closed
    assert not other.is_closed
    with pytest.raises(FailedPreconditionError, match=r"^the GPU service is closed; make new GpuResources$"):
        resources.context()
    expect_image(image, 255)

    assert other.is_closed
    del image
    GlContext.create(thread=False).close()  # one without a thread ends when another is made
    assert other.thread.has_ended or other.thread.join(PATIENCE_S)
    assert resources.close()


def test_an_image_of_closed_resources_is_drawn_with_in_its_context(live):
    resources = GpuResources()
    context, image = resources.context(), drawn(resources)
    resources.close()

    held = [image]
    del image

    def check() -> bool:
        with held[0].read_view(GlTextureView) as view:
            return bool(gl.glIsTexture(view.name))

    assert context.run(check)
    context.run(lambda: held[0].write_view(GlTextureView).release())
    assert not context.is_closed
    held.clear()
    assert context.close(PATIENCE_S)
    assert live() == 0


def test_a_texture_that_somebody_else_drew_holds_the_context_too():
    resources = GpuResources()
    context, given_back = resources.context(), []

    def make() -> GpuBuffer:
        name = gl.make("Texture")
        gl.glBindTexture(gl.GL_TEXTURE_2D, name)
        pixels = np.full((5, 7, 4), 80, np.uint8)
        gl.upload(pixels, internal=gl.GL_RGBA8, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
        return GpuBuffer.of_texture(name, gl.GL_TEXTURE_2D, 7, 5, release=given_back.append)

    image = context.run(make)
    resources.close()

    expect_image(image, 80)
    del image
    assert context.thread.join(PATIENCE_S)
    assert len(given_back) == 1


def test_an_image_that_is_written_again_holds_its_context_again(live):
    resources = GpuResources()
    first, second = drawn(resources), drawn(resources)
    expect_image(first, 255)
    context = resources.context()
    resources.close()

    context.run(lambda: first.write_view(GlTextureView).release())
    assert first.storages() == ("TextureStorage",)
    del second

    assert not context.is_closed
    assert first.array().shape == (5, 7, 4)
    assert context.close(PATIENCE_S)


def test_a_pooled_texture_comes_back_to_a_closed_pool_and_is_deleted(live):
    resources = GpuResources()
    images = [drawn(resources) for _ in range(4)]
    assert resources.pool.in_use > 0
    images.pop()
    context = resources.context()

    resources.close()
    assert resources.pool.free == 0
    context.run(lambda: None)
    assert live() == 3
    images.clear()

    assert context.close(PATIENCE_S)
    assert live() == 0


def test_resources_end_behind_the_release_of_views_that_nobody_released():
    resources = GpuResources()
    held: list[object] = [drawn(resources)]
    held.append(resources.context().run(lambda: held[0].read_view(GlTextureView)))
    thread = resources.context().thread
    held.clear()  # the release of the view is posted

    assert resources.close()
    # Without the interpreter's lock the thread frees the view that it has made, and then ends.
    assert thread.join(PATIENCE_S if sysconfig.get_config_var("Py_GIL_DISABLED") else 0)


def test_close_says_where_a_context_that_is_held_is_busy_and_it_ends_all_the_same():
    resources = GpuResources()
    image = drawn(resources)
    context, go_on = resources.context(), threading.Event()
    context.post(lambda: go_on.wait(PATIENCE_S))

    assert not resources.close(0.01)
    go_on.set()
    assert resources.close(PATIENCE_S)
    assert not context.is_closed
    del image
    assert context.close(PATIENCE_S)


def test_an_image_whose_context_was_ended_by_hand_says_what_to_do_before():
    resources = GpuResources()
    image, saved = drawn(resources), drawn(resources)
    frame = saved.frame()
    resources.context().close()

    for ask in (image.frame, image.array):
        with pytest.raises(
            FailedPreconditionError,
            match=r"^no copy of <texture \d+ BGRA32 7x5>: it was made in context 'main', which has ended, "
            r"and its pixels went with it; read it back before, with GpuBuffer\.frame\(\) or array\(\)$",
        ):
            ask()
    assert image._repr_png_() is None
    assert saved.frame() is frame
    with GlContext.create() as another:
        assert another.run(lambda: saved.read_view(GlTextureView).release()) is None
        assert saved.storages() == ("FrameStorage", "TextureStorage")  # the lost one is gone
        with pytest.raises(FailedPreconditionError, match="which has ended, and its pixels went with it"):
            another.run(lambda: image.read_view(GlTextureView))


def test_resources_that_are_dropped_and_not_closed_leave_the_image_too(live):
    before = set(gl_threads())
    image = drawn(GpuResources())

    gc.collect()
    expect_image(image, 255)
    del image

    expect_no_threads_but(before)
    assert live() == 0


# --- at the end of Python ------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["by a graph", "threads=False", "threads=True"])
def test_python_ends_quietly_with_images_that_nobody_read(python, how):
    script = f"""
import numpy as np, penstock
from penstock_gpu import GlTextureView, GpuBuffer, GpuResources

how = {how!r}
if how == "by a graph":
    image = GpuBuffer.of_array(np.zeros((5, 7, 4), np.uint8))
    kept = penstock.run('''{GRAPH}''', {{"in": [(0, image), (1, image)]}})
    kept["cycle"] = kept
else:
    with GpuResources(threads=how == "threads=True") as resources:
        kept = [GpuBuffer(7, 5) for _ in range(3)]
        resources.context().run(lambda: [each.write_view(GlTextureView).release() for each in kept])
    print(kept.pop().array().shape)
print("done")
"""
    done = python(script, timeout=60, PYTHONPATH=os.environ.get("PYTHONPATH"))

    said = "done\n" if how == "by a graph" else "(5, 7, 4)\ndone\n"
    assert (done.stdout, done.stderr, done.returncode) == (said, "", 0)
