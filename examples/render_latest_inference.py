"""Frames at their full rate, beside a slow model that runs on the GPU too.

    python examples/render_latest_inference.py

The graph is render_latest_inference.pbtxt: a limiter, a slow node in a GL context of its own, a cloner
that repeats its newest result at each frame, an overlay in the main context. A real model would be called
where `BrightPartsCalculator` draws its mask; here a pause replaces it. It needs OpenGL, but no screen.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import penstock
from penstock_formats import ImageFormat, ImageFrame
from penstock_gpu import (
    GPU,
    GlProgram,
    GlSimpleCalculator,
    GpuBuffer,
    GpuBufferFormat,
    GpuResources,
    draw_quad,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from penstock_gpu import GlTexture

GRAPH = Path(__file__).with_suffix(".pbtxt")
BRIGHT = 200


@penstock.register_calculator
class BrightPartsCalculator(GlSimpleCalculator):
    """Marks bright pixels: 255 where red is 200 or more, else 0. It is slow.

    Input side packet MODEL: a function of no arguments that is called for each frame; while it runs, only
    this node's context waits.
    """

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare the ports of a filter, and the model."""
        super().get_contract(cc)
        cc.input_side_packets["MODEL"].set_any("a function")

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Take the model."""
        super().open(cc)
        self._model: Callable[[], object] = cc.input_side_packets["MODEL"].payload  # type: ignore[assignment]

    def gl_setup(self) -> None:
        """Compile the shader."""
        self._program = GlProgram(
            """
            uniform sampler2D frame;
            void main() {
                gl_FragColor = vec4(step(199.5 / 255.0, texture(frame, sample_coordinate).r));
            }
            """,
            name="bright parts",
        )

    def gl_render(self, src: GlTexture, dst: GlTexture) -> None:  # noqa: ARG002  # it is bound already
        """Draw the mask, and call the model."""
        self._program.use()
        self._program.set("frame", 1)
        draw_quad()
        self._model()

    def gl_teardown(self) -> None:
        """Delete the shader."""
        self._program.delete()

    def cpu_render(self, src: NDArray[Any]) -> NDArray[Any]:
        """Do the same with NumPy."""
        mask = np.where(src[..., 0] >= BRIGHT, np.uint8(255), np.uint8(0))
        self._model()
        return mask

    def output_format(self) -> GpuBufferFormat:
        """Return the format of a mask: one channel."""
        return GpuBufferFormat.ONE_COMPONENT8


def start(
    model: Callable[[], object], show: Callable[[str, penstock.Packet], object], resources: GpuResources
) -> penstock.CalculatorGraph:
    """Start the graph, which waits for frames; the caller adds frames, and closes the graph.

    Args:
        model: called for each frame that the limiter lets through; after it returns, the next one follows.
        show: gets each painted frame, a `GpuBuffer`, and as stream "mask" each mask. Called on threads of
            the graph.
        resources: the contexts to draw with.
    """
    graph = penstock.CalculatorGraph(GRAPH)
    graph.set_service(GPU, resources)
    graph.observe_output_stream("painted", show)
    graph.observe_output_stream("mask", show)
    graph.start_run({"model": model})
    return graph


def picture(number: int) -> GpuBuffer:
    """Return frame `number` of the camera: a bright square that moves over grey, 320x180."""
    array = np.full((180, 320, 4), (80, 80, 80, 255), np.uint8)
    left = 2 * number % 280
    array[70:110, left : left + 40] = 255
    return GpuBuffer.of_frame(ImageFrame(array, ImageFormat.SRGBA))


def main() -> None:
    """Show a hundred frames at 50 a second, beside a model that processes ten a second."""
    counts = {"painted": 0, "mask": 0}

    def count(name: str, _: penstock.Packet) -> None:
        counts[name] += 1

    with GpuResources() as resources:
        graph = start(lambda: time.sleep(0.1), count, resources)
        began = time.monotonic()
        for number in range(100):
            graph.add_packet_to_input_stream("frame", penstock.Packet(picture(number), number * 20_000))
            time.sleep(max(began + (number + 1) * 0.02 - time.monotonic(), 0))  # a camera at work
        graph.close()
    print(f"{counts['painted']} frames shown, {counts['mask']} of them seen by the model")


if __name__ == "__main__":
    main()
