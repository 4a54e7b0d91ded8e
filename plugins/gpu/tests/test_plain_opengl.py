"""Calculators written in plain `OpenGL.GL` calls, as a user has them from books, work in our base class."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock_gpu import (
    ATTRIB_TEXTURE_POSITION,
    ATTRIB_VERTEX,
    GPU,
    GlSimpleCalculator,
    GpuBuffer,
    GpuResources,
    gl,
)
from penstock_gpu.calculators.luminance import LuminanceCalculator
from penstock_testing import testing_registry

PATIENCE_S = 20

VERTEX = """
#version 330
in vec4 position;
in vec2 texture_coordinate;
out vec2 sample_coordinate;
void main() {
  gl_Position = position;
  sample_coordinate = texture_coordinate;
}
"""

FRAGMENT = """
#version 330
in vec2 sample_coordinate;
uniform sampler2D video_frame;
out vec4 frag_color;
const vec3 W = vec3(0.2125, 0.7154, 0.0721);
void main() {
  vec4 color = texture(video_frame, sample_coordinate);
  frag_color = vec4(vec3(dot(color.rgb, W)), color.a);
}
"""


class PlainLuminance(GlSimpleCalculator):
    """Brightness, every GL call of it PyOpenGL's own; only the context and the textures are this pack's."""

    def gl_setup(self):
        from OpenGL import GL  # only where there is GL

        attributes = {"position": ATTRIB_VERTEX, "texture_coordinate": ATTRIB_TEXTURE_POSITION}
        self.program = gl.compile_program(VERTEX.strip(), FRAGMENT.strip(), attributes, "PlainLuminance")
        self.frame = GL.glGetUniformLocation(self.program, "video_frame")

    def gl_render(self, src, dst):
        from OpenGL import GL

        square = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
        corners = np.array([0, 0, 1, 0, 0, 1, 1, 1], np.float32)
        # program
        GL.glUseProgram(self.program)
        GL.glUniform1i(self.frame, 1)
        # vertex storage
        buffers = GL.glGenBuffers(2)
        vertex_array = GL.glGenVertexArrays(1)
        GL.glBindVertexArray(vertex_array)
        for buffer, attribute, numbers in (
            (buffers[0], ATTRIB_VERTEX, square),
            (buffers[1], ATTRIB_TEXTURE_POSITION, corners),
        ):
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
            GL.glBufferData(GL.GL_ARRAY_BUFFER, numbers.nbytes, numbers, GL.GL_STATIC_DRAW)
            GL.glEnableVertexAttribArray(attribute)
            GL.glVertexAttribPointer(attribute, 2, GL.GL_FLOAT, GL.GL_FALSE, 0, None)
        # draw
        GL.glDrawArrays(GL.GL_TRIANGLE_STRIP, 0, 4)
        # clean up
        GL.glDisableVertexAttribArray(ATTRIB_VERTEX)
        GL.glDisableVertexAttribArray(ATTRIB_TEXTURE_POSITION)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, 0)
        GL.glBindVertexArray(0)
        GL.glDeleteVertexArrays(1, [vertex_array])
        GL.glDeleteBuffers(2, buffers)

    def gl_teardown(self):
        from OpenGL import GL

        GL.glDeleteProgram(self.program)


def outputs(kind, resources, images):
    graph = penstock.CalculatorGraph(
        f'input_stream: "in" '
        f'node {{ calculator: "{kind.__name__}" input_stream: "in" output_stream: "out" }}',
        registry=testing_registry(kind),
    )
    graph.set_service(GPU, resources)
    made = []
    graph.observe_output_stream("out", lambda _, packet: made.append(packet.payload))
    with graph:
        graph.start_run()
        for t, image in enumerate(images):
            graph.add_packet_to_input_stream("in", penstock.Packet(GpuBuffer.of_array(image), t))
    return [buffer.array() for buffer in made]


@pytest.mark.gpu
@pytest.mark.parametrize("threads", [True, False])
def test_the_luminance_calculator_in_plain_gl_calls_equals_ours(threads):
    rng = np.random.default_rng(5)
    sizes = [(64, 48), (63, 47), (1, 1), (5, 200), (64, 48)]
    images = [rng.integers(0, 256, (height, width, 4), np.uint8) for width, height in sizes]
    with GpuResources(api="gl", threads=threads) as resources:
        plain = outputs(PlainLuminance, resources, images)
        ours = outputs(LuminanceCalculator, resources, images)

    assert len(plain) == len(ours) == len(images)
    for one, other, image in zip(plain, ours, images, strict=True):
        np.testing.assert_array_equal(one, other)
        brightness = image[..., :3] @ np.array([0.2125, 0.7154, 0.0721])
        assert np.abs(one[..., 0] - brightness).max() <= 1
        np.testing.assert_array_equal(one[..., 3], image[..., 3])
