"""Edges found on the CPU and drawn on the GPU over the right half of a video, frame by frame in Python.

    python examples/edge_overlay_gpu.py [VIDEO]

The graph is edge_overlay_gpu.pbtxt without the nodes that write a file: frames are GpuBuffers, one path
leads through OpenCV in main memory and back, the other goes straight to a shader, and a callback gets each
frame that the shader has drawn. Here the callback reads the frame back and prints the share of its pixels
that are edges; examples/own_context.py draws it in a context of the application instead. Without VIDEO it
runs on the built-in test pattern.

It needs OpenGL, but no screen; with PENSTOCK_GPU=prefer it runs without OpenGL too, and logs a warning.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import penstock
from penstock_gpu import GPU, GpuBuffer, GpuResources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GRAPH = """
max_queue_size: 6
input_side_packet: "input_video"
output_stream: "painted"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:decoded"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] { test_pattern { frames: 50 } }
  }
}
node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "decoded" output_stream: "frame" }

node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "frame" output_stream: "read" }
node { calculator: "ColorConvertCalculator" input_stream: "RGB_IN:read" output_stream: "GRAY_OUT:gray" }
node {
  calculator: "CannyEdgeCalculator"
  input_stream: "VIDEO:gray"
  output_stream: "VIDEO:edges"
  node_options { [type.googleapis.com/penstock.CannyEdgeCalculatorOptions] { line_width: 3 } }
}
node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "edges" output_stream: "mask" }

node {
  calculator: "GlOverlayCalculator"
  input_stream: "VIDEO:frame"
  input_stream: "OVERLAY:mask"
  output_stream: "VIDEO:painted"
  node_options {
    [type.googleapis.com/penstock_gpu.GlOverlayCalculatorOptions] {
      color { r: 255 g: 180 b: 0 }
      darkening: 0.65
      region { xmin: 0.5 width: 0.5 }
    }
  }
}
"""


def watch(video: str | None, show: Callable[[str, penstock.Packet], object], resources: GpuResources) -> None:
    """Run the graph and call `show(stream name, packet)` for each painted frame, in order.

    Args:
        video: a file; None for the test pattern.
        show: gets a `GpuBuffer` as the packet's payload. Called on a thread of the graph, never twice at
            once; an exception that it raises ends the run with an error.
        resources: the contexts to draw with; the caller closes them.
    """
    graph = penstock.CalculatorGraph(GRAPH)
    graph.set_service(GPU, resources)
    graph.observe_output_stream("painted", show)
    graph.start_run({} if video is None else {"input_video": video})
    graph.wait_until_done()


def tell(name: str, packet: penstock.Packet) -> None:
    """Read a frame back from the GPU, and print one line for it."""
    pixels = packet.get(GpuBuffer).array()  # (H, W, 4) uint8, RGBA, read-only
    share = (pixels[..., :3] == (255, 180, 0)).all(axis=2).mean()
    print(f"{name} at {packet.timestamp.seconds:6.2f} s: {share:6.2%} edge")


def main(arguments: Sequence[str]) -> None:
    """Run on the video that the command line names, or on the test pattern."""
    logging.basicConfig(format="%(message)s")
    with GpuResources() as resources:
        if resources.is_on:
            print(f"drawing with {resources.context().renderer}")
        watch(arguments[0] if arguments else None, tell, resources)


if __name__ == "__main__":
    main(sys.argv[1:])
