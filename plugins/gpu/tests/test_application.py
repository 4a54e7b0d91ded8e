"""An application with an EGL context of its own draws what a callback gets, without a copy to main memory."""

from __future__ import annotations

import queue
from contextlib import contextmanager

import numpy as np
import pytest

import penstock
from penstock_formats import ImageFormat, ImageFrame
from penstock_gpu import GPU, ExternalContext, GlTextureView, GpuBuffer, GpuResources, egl, gl
from penstock_gpu.contexts import native
from penstock_gpu.contexts.device import candidates

GRAPH = """
input_stream: "image"
output_stream: "gray"
node { calculator: "LuminanceCalculator" input_stream: "VIDEO:image" output_stream: "VIDEO:gray" }
"""
WAIT_S = 60
#: Source: ITU-R BT.709, as rounded by the reference's luminance shader.
WEIGHTS = (0.2125, 0.7154, 0.0721)


@contextmanager
def own_context():
    """Make an EGL context as an application would, without this pack's contexts, current on this thread."""
    for device in candidates():
        try:
            made = native.create(device.display(), "gl")
            break
        except egl.EglError:
            continue
    else:
        pytest.fail("no device gives an application a context of desktop GL")
    library = egl.load()
    before = library.current()
    with library.api(egl.OPENGL_API):
        library.make_current(made.binding)
    try:
        yield made
    finally:
        library.make_current(egl.Binding(made.display, 0, 0, 0))
        made.destroy()
        assert not before.context


def images(count):
    random = np.random.default_rng(7)
    return [random.integers(0, 256, (37, 51, 4), np.uint8) for _ in range(count)]


def luminance(image):
    """Return the exact result of the graph for an image."""
    gray = image[..., :3] @ np.array(WEIGHTS)
    return np.dstack([gray, gray, gray, image[..., 3]])


def drawn(buffer):
    """Draw a buffer in the current context, and return the drawn pixels, (H, W, 4)."""
    height, width = buffer.height, buffer.width
    target, framebuffer, source = gl.make("Texture"), gl.make("Framebuffer"), gl.make("Framebuffer")
    pixels = np.zeros((height, width, 4), np.uint8)
    try:
        gl.glBindTexture(gl.GL_TEXTURE_2D, target)
        gl.glTexImage2D(
            gl.GL_TEXTURE_2D, 0, gl.GL_RGBA8, width, height, 0, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, None
        )
        gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, framebuffer)
        attach = gl.GL_COLOR_ATTACHMENT0
        gl.glFramebufferTexture2D(gl.GL_DRAW_FRAMEBUFFER, attach, gl.GL_TEXTURE_2D, target, 0)
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, source)
        with buffer.read_view(GlTextureView) as view:
            gl.glFramebufferTexture2D(gl.GL_READ_FRAMEBUFFER, attach, view.target, view.name, 0)
            whole = (0, 0, width, height)
            gl.glBlitFramebuffer(*whole, *whole, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, framebuffer)
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
        gl.read_into(pixels, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
    finally:
        gl.delete("Framebuffer", framebuffer, source)
        gl.delete("Texture", target)
    return pixels


def wrong(seen, given):
    """Return the numbers of images that are off by more than one level."""
    pairs = enumerate(zip(seen, given, strict=True))
    return [number for number, (one, image) in pairs if np.abs(one - luminance(image)).max() > 1]


@pytest.fixture
def application(context):  # `context` skips, or fails, where no context can be had
    context.close()
    with own_context() as made:
        yield made


@pytest.mark.usefixtures("application")
def test_each_buffer_of_a_callback_is_drawn_in_the_applications_context():
    given = images(20)
    ready = queue.Queue()
    seen = []
    with GpuResources(share_with=ExternalContext.current()) as resources:
        graph = penstock.CalculatorGraph(GRAPH)
        graph.set_service(GPU, resources)
        graph.observe_output_stream("gray", lambda _, packet: ready.put(packet.payload))
        graph.start_run()
        for at, image in enumerate(given):
            buffer = GpuBuffer.of_frame(ImageFrame(image, ImageFormat.SRGBA))
            graph.add_packet_to_input_stream("image", penstock.Packet(buffer, at))
            seen.append(drawn(ready.get(timeout=WAIT_S)))
        graph.close(WAIT_S)
        main = resources.context()

        assert (main.uploads, main.readbacks) == (len(given), 0), "the way to the application is no copy"
    assert [
        number for number, pixels in enumerate(seen) if np.abs(pixels - luminance(given[number])).max() > 1
    ] == []


@pytest.mark.usefixtures("application")
def test_the_application_draws_while_the_graph_goes_on():
    given = images(30)
    ready = queue.Queue()
    with GpuResources(share_with=ExternalContext.current()) as resources:
        graph = penstock.CalculatorGraph(GRAPH)
        graph.set_service(GPU, resources)
        graph.observe_output_stream("gray", lambda _, packet: ready.put(packet.payload))
        graph.start_run()
        for at, image in enumerate(given):
            buffer = GpuBuffer.of_frame(ImageFrame(image, ImageFormat.SRGBA))
            graph.add_packet_to_input_stream("image", penstock.Packet(buffer, at))
        seen = [drawn(ready.get(timeout=WAIT_S)) for _ in given]
        graph.close(WAIT_S)

    assert [
        number for number, pixels in enumerate(seen) if np.abs(pixels - luminance(given[number])).max() > 1
    ] == []


def test_without_a_context_of_its_own_the_application_is_told_to_make_one_current():
    try:
        egl.load()
    except penstock.PenstockError as error:
        pytest.skip(f"no EGL: {error}")

    with pytest.raises(penstock.PenstockError, match="no EGL context is current on this thread; make"):
        ExternalContext.current()
