"""GlProgram, draw_quad, and the text that stands before a shader."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu import gl
from penstock_gpu.contexts.external_context import ExternalContext
from penstock_gpu.current import LOCAL
from penstock_gpu.drawing.glsl import Declaration, complete, declarations
from penstock_gpu.drawing.program import GlProgram
from penstock_gpu.drawing.quad import draw_quad
from penstock_gpu.drawing.uniform_values import numbers
from penstock_gpu.drawing.vertex_attributes import ATTRIB_TEXTURE_POSITION, ATTRIB_VERTEX
from penstock_gpu.errors import ShaderError

pytestmark = pytest.mark.heavy

PLACES = "void main() { gl_FragColor = vec4(sample_coordinate, 0.0, 1.0); }"


@pytest.fixture(params=["gl", "gles"])
def draw(request, make_context):
    """Return a function that draws in a context of either API: what `prepare` sets up, as bytes (H, W, 4)."""
    context = make_context(api=request.param)

    def drawn(prepare, width=4, height=2):
        return context.run(lambda: pixels_of(prepare, width, height))

    drawn.context = context
    return drawn


def pixels_of(prepare, width, height):
    """Draw into a texture of that size, in the current context, and return what it shows."""
    texture, framebuffer = gl.make("Texture"), gl.make("Framebuffer")
    try:
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        gl.glTexImage2D(
            gl.GL_TEXTURE_2D, 0, gl.GL_RGBA8, width, height, 0, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, None
        )
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, gl.GL_TEXTURE_2D, texture, 0)
        gl.glViewport(0, 0, width, height)
        program = prepare()
        program.use()
        draw_quad()
        found = np.empty((height, width, 4), np.uint8)
        gl.read_into(found, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
        program.delete()
        return found
    finally:
        gl.delete("Framebuffer", framebuffer)
        gl.delete("Texture", texture)


def test_a_quad_covers_the_viewport_with_row_0_at_t_0(draw):
    found = draw(lambda: GlProgram(PLACES))

    assert found[0, :, 0].tolist() == pytest.approx([255 * (x + 0.5) / 4 for x in range(4)], abs=1)
    assert found[:, 0, 1].tolist() == pytest.approx([255 * (y + 0.5) / 2 for y in range(2)], abs=1)
    assert (found[..., 3] == 255).all()


def test_the_attributes_have_the_numbers_that_are_public(draw):
    vertex = """
    in vec4 corner;
    in vec2 place;
    out vec2 sample_coordinate;
    void main() { gl_Position = vec4(corner.xy, 0.0, 1.0); sample_coordinate = place.yx; }
    """
    attributes = {"corner": ATTRIB_VERTEX, "place": ATTRIB_TEXTURE_POSITION}

    found = draw(lambda: GlProgram(PLACES, vertex, attributes=attributes), 2, 2)

    assert found[0, 1, :2].tolist() == pytest.approx([64, 191], abs=1)


def test_shaders_as_the_reference_writes_them_compile(draw):
    vertex = """
    attribute vec4 position;
    attribute mediump vec4 texture_coordinate;
    varying mediump vec2 sample_coordinate;
    void main() { gl_Position = position; sample_coordinate = texture_coordinate.xy; }
    """
    fragment = """
    DEFAULT_PRECISION(highp, float)
    varying vec2 sample_coordinate;
    uniform sampler2D video_frame;
    void main() { gl_FragColor = vec4(0.0, 0.2, 1.0, 1.0) + 0.0 * texture2D(video_frame, sample_coordinate); }
    """

    assert draw(lambda: GlProgram(fragment, vertex))[0, 0].tolist() == [0, 51, 255, 255]


def test_extensions_and_macros_come_where_they_must_be(draw):
    fragment = """
    // first a comment
    #extension GL_OES_standard_derivatives : enable
    void main() { gl_FragColor = vec4(LEVEL); }
    """

    assert (draw(lambda: GlProgram(fragment, defines={"LEVEL": 0.2})) == 51).all()


def test_the_precision_is_high_without_being_asked_for(draw):
    # 2049 and 2050 are one number in mediump, and in lowp there are none of this size
    fragment = "uniform float big; void main() { gl_FragColor = vec4((big + 1.0) - big); }"

    def prepare():
        program = GlProgram(fragment)
        program.set("big", 2049.0 * 64)
        return program

    assert (draw(prepare) == 255).all()


def test_the_log_has_the_lines_of_the_text(draw):
    text = "// one\n#extension GL_OES_standard_derivatives : enable\nvoid main() {\n  oops;\n}\n"

    with pytest.raises(ShaderError, match="the fragment shader of 'Wavy' does not compile") as caught:
        draw(lambda: GlProgram(text, name="Wavy"))

    assert caught.value.stage == "fragment"
    assert "4(" in caught.value.log
    assert caught.value.source == text
    assert "4:   oops;" in str(caught.value)


def test_a_shader_that_does_not_compile_is_told_what_it_may_read(draw):
    text = "void main() { gl_FragColor = texture(image, sample_coordinate); }"

    with pytest.raises(ShaderError) as caught:
        draw(lambda: GlProgram(text, samplers=["video", "mask"]))

    assert "\nit may read without declaring them: sample_coordinate, video, mask\n1: void main()" in str(
        caught.value
    )


def test_a_program_without_a_name_is_called_this_program(draw):
    def prepare():
        program = GlProgram(PLACES)
        with pytest.raises(
            InvalidArgumentError, match=r"^uniform values: this program has no uniform 'gain'"
        ):
            program.set("gain", 1)
        return program

    draw(prepare)


def test_a_vertex_shader_that_does_not_compile_is_shown_too(draw):
    with pytest.raises(ShaderError, match="the vertex shader of 'Wavy' does not compile") as caught:
        draw(lambda: GlProgram(PLACES, "void main() { oops; }", name="Wavy"))

    assert caught.value.source == "void main() { oops; }"


def test_shaders_that_do_not_fit_together_do_not_link(draw):
    fragment = "in vec3 sample_coordinate; void main() { gl_FragColor = vec4(sample_coordinate, 1.0); }"

    with pytest.raises(ShaderError, match="does not link") as caught:
        draw(lambda: GlProgram(fragment))

    assert caught.value.stage == "link"


def test_the_uniforms_in_use_are_listed_with_their_types(draw):
    fragment = """
    uniform float gain; uniform mat2 turn; uniform vec3 tint[4]; uniform int unused;
    void main() {
      gl_FragColor = vec4(gain * turn * tint[1].xy, tint[2].xy) + texture(frame, sample_coordinate);
    }
    """
    program = draw.context.run(lambda: GlProgram(fragment, samplers=["frame", "other"]))

    assert program.uniforms == {"gain": "float", "turn": "mat2", "tint": "vec3[4]", "frame": "sampler2D"}
    draw.context.run(lambda: [program.set("unused", 1), program.set("other", 2)])  # declared: no error


def test_a_wrong_uniform_changes_nothing(draw):
    def prepare():
        program = GlProgram("uniform vec2 level; void main() { gl_FragColor = level.xyxy; }", name="P")
        program.set("level", (0.2, 0.4))
        for name, value, message in (
            (
                "levle",
                1,
                "program 'P' has no uniform 'levle'; its uniforms: 'level'; did you mean 'level'?",
            ),
            (
                "colour",
                1,
                "program 'P' has no uniform 'colour'; its uniforms: 'level'; declare it in the shader",
            ),
            ("level", 1, "uniform 'level' is set to 1 number, but it is a vec2, which takes 2"),
            ("level", "ab", "uniform 'level' is set to 'ab', but it is a vec2, which takes 2; give numbers"),
            ("level", [[1, 2], [3]], "give numbers"),
        ):
            with pytest.raises(InvalidArgumentError) as caught:
                program.set(name, value)
            assert message in str(caught.value)
        return program

    assert draw(prepare)[0, 0].tolist() == [51, 102, 51, 102]


def test_setting_a_uniform_does_not_touch_another_program(draw):
    def prepare():
        text = "uniform float level; void main() { gl_FragColor = vec4(level); }"
        first, second = GlProgram(text), GlProgram(text)
        first.set("level", 0.2)
        second.set("level", 0.4)
        first.use()
        second.set("level", 0.6)
        second.delete()
        return first

    assert (draw(prepare) == 51).all()


def test_a_deleted_program_is_refused_and_deleting_again_does_nothing(draw):
    def job():
        program = GlProgram(PLACES, name="Gone")
        handle = program.handle
        program.delete()
        program.delete()
        with pytest.raises(FailedPreconditionError, match="program 'Gone' is deleted; make another"):
            program.use()
        return gl.glIsProgram(handle), program.handle

    assert draw.context.run(job) == (0, 0)


def test_a_program_that_nobody_has_any_more_is_deleted_in_its_context(draw):
    program = draw.context.run(lambda: GlProgram(PLACES))
    handle = program.handle
    assert draw.context.run(lambda: gl.glIsProgram(handle))

    del program
    gc.collect()

    assert not draw.context.run(lambda: gl.glIsProgram(handle))


@pytest.mark.gpu
def test_without_a_context_it_says_so():
    with pytest.raises(FailedPreconditionError, match="needs a GL context, and none is current"):
        GlProgram(PLACES)


def test_the_vertices_are_made_once_for_each_context(draw, monkeypatch):
    made = []
    make = gl.glGenVertexArrays
    monkeypatch.setattr(gl, "glGenVertexArrays", lambda *a: made.append(a) or make(*a))

    for _ in range(3):
        draw(lambda: GlProgram(PLACES))

    assert len(made) == 1


def test_in_a_context_of_the_application_a_quad_is_drawn_and_nothing_is_left(make_context):
    # a context of ours, made current without GlContext.run, is treated as one of the application's
    context = make_context(thread=False)

    def job():
        mine, LOCAL.context = LOCAL.context, None
        try:
            assert ExternalContext.current() is not None
            before = gl.make("VertexArray"), gl.make("Buffer")
            found = pixels_of(lambda: GlProgram(PLACES), 4, 2)
            left = gl.glIsVertexArray(before[0] + 1), gl.glIsBuffer(before[1] + 1)
            return found, left
        finally:
            LOCAL.context = mine

    found, left = context.run(job)

    assert found[0, 3, 0] == pytest.approx(223, abs=1)
    assert left == (0, 0)


# --- text ---------------------------------------------------------------------------------------------


def test_declarations_are_read_through_comments_precisions_lists_and_initial_values():
    text = """
    /* uniform float hidden; */ uniform highp vec3 tint, glow[ 2 ]; // uniform int hidden_too;
    uniform mat3 turn = mat3(1.0);
    layout(location = 0) out vec4 color;
    flat in int which;
    uniform float list[COUNT];
    float f(in vec2 place) { float uniformly = 1.0; return uniformly; }
    """

    assert declarations(text) == (
        Declaration("uniform", "vec3", "tint"),
        Declaration("uniform", "vec3", "glow", 2),
        Declaration("uniform", "mat3", "turn"),
        Declaration("out", "vec4", "color"),
        Declaration("in", "int", "which"),
        Declaration("uniform", "float", "list", 0),
    )


def test_what_a_text_declares_is_not_declared_again():
    text = "in vec2 sample_coordinate;\nout vec4 color;\nuniform sampler2D one;\nvoid main() {}"

    whole = complete("fragment", text, is_es=False, samplers=["one", "two"])

    assert whole.startswith("#version 330 core\n")
    assert whole.endswith("#line 1\n" + text)
    before = whole.removesuffix(text)
    assert "uniform sampler2D two;" in before
    assert not any(word in before for word in ("sample_coordinate", "gl_FragColor", "one"))


@pytest.mark.parametrize("stage", ["vertex", "fragment"])
def test_gles_gets_high_precision_of_all_that_has_one(stage):
    whole = complete(stage, "void main() {}", is_es=True).splitlines()

    assert whole[:4] == [
        "#version 300 es",
        "precision highp float;",
        "precision highp int;",
        "precision highp sampler2D;",
    ]


def test_a_text_with_a_version_stays_as_it_is():
    text = "// mine\n#version 450\nvoid main() {}"

    assert complete("fragment", text, is_es=True, samplers=["one"]) == text


@pytest.mark.parametrize(
    ("kind", "length", "value", "message"),
    [
        ("mat4", 1, range(9), "takes 16, row by row"),
        ("int", 1, 2**31, "give whole numbers from -2147483648 to 2147483647"),
        ("uint", 1, -1, "give whole numbers from 0 to 4294967295"),
        ("int", 1, float("nan"), "is set to nan"),
        ("vec3", 0, [1, 2, 3, 4], "an array of some vec3, which takes a multiple of 3"),
        ("vec3", 0, [], "is set to 0 numbers"),
        ("sampler3D", 1, 1, "is a sampler3D, which cannot be set here"),
        ("float", 1, 1j, "give numbers"),
        ("float", 1, None, "give numbers"),
    ],
)
def test_values_that_do_not_fit_are_refused(kind, length, value, message):
    with pytest.raises(InvalidArgumentError) as caught:
        numbers("u", kind, length, np.array(list(value)) if isinstance(value, range) else value)

    assert message in str(caught.value)


def test_numbers_of_any_nesting_and_type_are_taken():
    assert numbers("u", "mat2", 1, np.float16([[1, 2], [3, 4]])) == [1, 2, 3, 4]
    assert numbers("u", "ivec2", 2, [[1.0, 2.0], [3.0, 4.0]]) == [1, 2, 3, 4]
    assert numbers("u", "vec3", 0, range(6)) == [0, 1, 2, 3, 4, 5]
    assert numbers("u", "bool", 1, np.True_) == [1]
