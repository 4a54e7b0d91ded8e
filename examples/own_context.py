"""An application that shows a graph's frames in its own window and GL context.

    pip install "penstock-cli[show]"
    python examples/own_context.py [VIDEO]

The graph is as in edge_overlay_gpu.py. Its contexts share textures with the window's context, so a frame
goes from the shader that drew it to the screen without a copy to main memory. Three steps make that work:

* The window has an EGL context, and `ExternalContext.current()` captures it.
* `GpuResources(share_with=...)` makes the graph's contexts share textures with it.
* Where that context is current, `read_view(GlTextureView)` gives the frame's texture for the length of
  a `with` block, and sets the fences that order drawing and reading.

Frames come through a poller, whose bounded queue makes the graph wait for the screen. A callback could get
the same frames, on the thread of the GL context that drew them; it would have to pass them on without
waiting.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import edge_overlay_gpu
import glfw

import penstock
from penstock_gpu import GPU, ExternalContext, GlTextureView, GpuBuffer, GpuResources, gl

if TYPE_CHECKING:
    from collections.abc import Sequence


class FrameBlit:
    """Copies a frame's texture into the framebuffer of the current context, the right way up."""

    def __init__(self) -> None:
        self._source = gl.make("Framebuffer")

    def show(self, frame: GpuBuffer, width: int, height: int) -> None:
        """Fill a framebuffer of this size. Row 0 of a frame is its upper one, of a window the lower."""
        with frame.read_view(GlTextureView) as view:
            gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self._source)
            gl.glFramebufferTexture2D(
                gl.GL_READ_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, view.target, view.name, 0
            )
            whole = (0, 0, view.width, view.height)
            gl.glBlitFramebuffer(*whole, 0, height, width, 0, gl.GL_COLOR_BUFFER_BIT, gl.GL_LINEAR)
            gl.glFramebufferTexture2D(gl.GL_READ_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, view.target, 0, 0)


def make_window() -> Any:
    """Open a window with an EGL context of GL 3.3, and make the context current on this thread."""
    if not glfw.init():
        raise SystemExit(f"no screen: {glfw.get_error()[1]}")
    glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    window = glfw.create_window(640, 360, "frames of a graph", None, None)
    glfw.make_context_current(window)
    return window


def main(arguments: Sequence[str]) -> int:
    """Show the video that the command line names, or the test pattern; return how many frames were shown."""
    window = make_window()
    shown = 0
    try:
        with GpuResources(share_with=ExternalContext.current()) as resources:
            graph = penstock.CalculatorGraph(edge_overlay_gpu.GRAPH)
            graph.set_service(GPU, resources)
            frames = graph.add_output_stream_poller("painted")
            frames.set_max_queue_size(2)
            graph.start_run({"input_video": arguments[0]} if arguments else {})
            blit = FrameBlit()
            for packet in frames:
                blit.show(packet.get(GpuBuffer), *glfw.get_framebuffer_size(window))
                glfw.swap_buffers(window)
                glfw.poll_events()
                shown += 1
                if glfw.window_should_close(window):
                    break
            graph.close()
    finally:
        glfw.terminate()
    print(f"{shown} frames shown")
    return shown


if __name__ == "__main__":
    main(sys.argv[1:])
