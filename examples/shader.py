"""A shader of your own over a video, in the graph file itself.

    python examples/shader.py [VIDEO]

The shader bends each frame, and darkens its rim. `ShaderCalculator` compiles it when the run starts, runs it
on the GPU, and sets the uniform `time`; streams, sizes, textures and the GL thread are taken care of. It
needs OpenGL, but neither a graphics card nor a screen; `penstock doctor` says what a machine lacks.
Without VIDEO it runs on the built-in test pattern.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import penstock
from penstock_formats import ImageFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAPH = """
max_queue_size: 6
input_side_packet: "input_video"
output_stream: "bent"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 320 height: 180 frames: 8 }
    }
  }
}
node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "frame" output_stream: "texture" }
node {
  calculator: "ShaderCalculator"
  input_stream: "VIDEO:texture"
  output_stream: "VIDEO:drawn"
  node_options {
    [type.googleapis.com/penstock_gpu.ShaderCalculatorOptions] {
      fragment:
        "uniform sampler2D video;"
        "uniform float time;"
        "uniform float strength;"
        "void main() {"
        "  vec2 place = sample_coordinate;"
        "  place.x += strength * sin(20.0 * place.y + 12.0 * time);"
        "  place.y += strength * sin(14.0 * place.x);"
        "  float rim = 1.0 - 1.4 * dot(sample_coordinate - 0.5, sample_coordinate - 0.5);"
        "  gl_FragColor = vec4(texture(video, place).rgb * rim, 1.0);"
        "}"
      uniform { name: "strength" value: 0.03 }
    }
  }
}
node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "drawn" output_stream: "bent" }
"""


def main(arguments: Sequence[str]) -> None:
    """Print the brightness of each frame that the shader has drawn."""
    sides = {"input_video": arguments[0]} if arguments else {}
    for packet in penstock.run(GRAPH, side_packets=sides)["bent"]:
        frame = packet.get(ImageFrame)  # the pixels are back in main memory
        brightness = frame.array[..., :3].mean()
        print(f"frame at {packet.timestamp.seconds:.2f} s: {frame.width} x {frame.height}, {brightness:.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
