"""ShaderCalculator and shader_calculator: text, uniforms, inputs, sizes, errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError, NotFoundError, StatusCode
from penstock_formats import VideoHeader
from penstock_gpu import gl
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.shader import ShaderCalculator, shader_calculator
from penstock_gpu.calculators.shader_options import ShaderCalculatorOptions, ShaderUniform
from penstock_gpu.errors import ShaderError
from penstock_gpu.formats import GpuBufferFormat

pytestmark = pytest.mark.heavy

INVERT = "void main() { vec4 c = texture(video, sample_coordinate); gl_FragColor = vec4(1.0 - c.rgb, c.a); }"
GAIN = """\
uniform float gain;
void main() {
  vec4 color = texelFetch(video, ivec2(gl_FragCoord.xy), 0);
  gl_FragColor = vec4(color.rgb * gain, color.a);
}
"""


def options(fragment="", uniforms=None, **named):
    given = tuple(
        ShaderUniform(name, tuple(np.ravel(value).astype(float).tolist()))
        for name, value in (uniforms or {}).items()
    )
    return ShaderCalculatorOptions(fragment, uniform=given, **named)


@pytest.fixture
def pixels(random):
    return random.integers(0, 256, (5, 8, 4), np.uint8)


def test_a_filter_in_options_is_drawn(run_shader, pixels):
    found = run_shader.image(ShaderCalculator, {"VIDEO": pixels}, options=options(INVERT))

    assert np.array_equal(found, np.dstack([255 - pixels[..., :3], pixels[..., 3]]))


def test_a_filter_of_python_runs_with_and_without_gl(run, pixels):
    invert = shader_calculator(
        "void main() { gl_FragColor = vec4(1.0) - texture(video, sample_coordinate); }",
        cpu=lambda video: 255 - video,
    )

    assert np.array_equal(run.image(invert, {"VIDEO": pixels}), 255 - pixels)


def test_text_with_its_own_version_and_names_is_taken_as_it_is(run_gl, pixels):
    text = (
        "#version 330 core\nuniform sampler2D video;\nout vec4 result;\n"
        "void main() { result = texelFetch(video, ivec2(gl_FragCoord.xy), 0).bgra; }"
    )

    found = run_gl.image(ShaderCalculator, {"VIDEO": pixels}, options=options(text))

    assert np.array_equal(found, pixels[..., [2, 1, 0, 3]])


def test_the_text_may_come_as_a_side_packet(run_gl, pixels):
    found = run_gl.image(ShaderCalculator, {"VIDEO": pixels}, side_packets={"FRAGMENT": INVERT})

    assert np.array_equal(found[..., :3], 255 - pixels[..., :3])


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the name of an installed package with a shader in it, which must not be imported."""
    root = tmp_path / "pack_with_shaders"
    (root / "filters").mkdir(parents=True)
    (root / "__init__.py").write_text("raise AssertionError('imported')")
    (root / "filters" / "invert.frag").write_text(INVERT)
    (root / "filters" / "noise.frag").write_bytes(b"\xff\xfe")
    (tmp_path / "secret.frag").write_text(INVERT)
    monkeypatch.syspath_prepend(tmp_path)
    yield "pack_with_shaders"
    assert "pack_with_shaders" not in sys.modules


def test_the_text_may_lie_in_an_installed_package(run_gl, pixels, package):
    found = run_gl.image(
        ShaderCalculator, {"VIDEO": pixels}, options=options(resource=f"{package}:filters/invert.frag")
    )
    again = shader_calculator(resource=f"{package}.filters:invert.frag")

    assert np.array_equal(found[..., :3], 255 - pixels[..., :3])
    assert np.array_equal(run_gl.image(again, {"VIDEO": pixels}), found)


@pytest.mark.parametrize(
    ("resource", "error", "message"),
    [
        ("{}:filters/none.frag", NotFoundError, "holds no file 'filters/none.frag'"),
        ("no_such_pack:a.frag", NotFoundError, "package 'no_such_pack' is not installed"),
        ("{}:../secret.frag", InvalidArgumentError, "'../secret.frag' is no file inside of package"),
        ("{}:filters", InvalidArgumentError, "'filters' is no file inside of package"),
        ("{}:filters/noise.frag", InvalidArgumentError, "is no text in UTF-8"),
        ("invert.frag", InvalidArgumentError, "another form than 'package:path'"),
    ],
)
def test_a_resource_that_cannot_be_read_is_refused(package, resource, error, message):
    with pytest.raises(error, match=message):
        shader_calculator(resource=resource.format(package))


KINDS = """\
uniform int whole;
uniform bool flag;
uniform vec2 two;
uniform vec3 three;
uniform vec4 four;
uniform ivec2 pair;
uniform mat2 square;
uniform mat3 cube;
uniform float list[3];
uniform vec2 places[2];

void main() {
  // each in a pixel of its own, as parts of 255
  int x = int(gl_FragCoord.x);
  vec4 found = vec4(0.0);
  if (x == 0) found = vec4(float(whole), flag ? 1.0 : 0.0, float(pair.x), float(pair.y));
  if (x == 1) found = vec4(two, three.xy);
  if (x == 2) found = four;
  if (x == 3) found = vec4(square * vec2(1.0, 0.0), square * vec2(0.0, 1.0));
  if (x == 4) found = vec4(cube * vec3(1.0, 0.0, 0.0), list[0]);
  if (x == 5) found = vec4(list[1], list[2], places[1]);
  gl_FragColor = found / 255.0;
}
"""
VALUES = {
    "whole": 7,
    "flag": True,
    "two": [1, 2],
    "three": [3, 4, 5],
    "four": [6, 7, 8, 9],
    "pair": [10, 11],
    "square": [[12, 13], [14, 15]],
    "cube": np.arange(20, 29).reshape(3, 3),
    "list": [30, 31, 32],
    "places": [[40, 41], [42, 43]],
}
#: Matrices times unit vectors are their columns.
READ = [[7, 1, 10, 11], [1, 2, 3, 4], [6, 7, 8, 9], [12, 14, 13, 15], [20, 23, 26, 30], [31, 32, 42, 43]]


@pytest.mark.parametrize("by", ["options", "python"])
def test_uniforms_of_every_kind_arrive(run_shader, by):
    size = {"width": 6, "height": 1}
    if by == "options":
        calculator, given = ShaderCalculator, options(KINDS, VALUES, **size)
    else:
        calculator, given = shader_calculator(KINDS, uniforms=VALUES), ShaderCalculatorOptions(**size)

    found = run_shader.image(calculator, {"VIDEO": np.zeros((1, 1), np.uint8)}, options=given)

    assert found[0].tolist() == READ


def test_options_go_before_the_values_of_the_calculator_itself(run_gl, pixels):
    halve = shader_calculator(GAIN, uniforms={"gain": 0.5})

    as_made = run_gl.image(halve, {"VIDEO": pixels})
    changed = run_gl.image(halve, {"VIDEO": pixels}, options=options(uniforms={"gain": 0.0}))

    assert np.abs(as_made[..., :3] - pixels[..., :3] / 2).max() <= 1
    assert not changed[..., :3].any()


def test_a_value_that_the_shader_declares_and_does_not_use_is_left_alone(run_gl, pixels):
    text = "uniform vec3 unused;\n" + INVERT

    found = run_gl.image(ShaderCalculator, {"VIDEO": pixels}, options=options(text, {"unused": [1, 2, 3]}))

    assert np.array_equal(found[..., :3], 255 - pixels[..., :3])


MIX = """\
uniform bool has_overlay;
uniform vec2 overlay_size;
uniform vec2 size;
uniform float time;
void main() {
  vec4 over = texture(overlay, sample_coordinate);
  gl_FragColor = has_overlay ? over : vec4(overlay_size, size) / 255.0 + vec4(time / 255.0, 0.0, 0.0, 0.0);
}
"""


def test_several_inputs_have_samplers_of_their_tags_and_may_differ_in_size(run_shader, random):
    text = """
    uniform vec2 video1_size;
    void main() {
      vec4 a = texelFetch(video, ivec2(gl_FragCoord.xy), 0), b = texture(video1, sample_coordinate);
      gl_FragColor = vec4(a.r, b.g, texture(mask, sample_coordinate).r, video1_size.x / 255.0);
    }
    """
    first = random.integers(0, 256, (4, 6, 4), np.uint8)
    second = np.full((1, 3, 3), 77, np.uint8)
    mask = np.full((9, 2), 200, np.uint8)

    found = run_shader.image(
        ShaderCalculator,
        {"VIDEO:0": first, "VIDEO:1": second, "MASK": mask},
        output="OUT",
        options=options(text),
    )

    assert np.array_equal(found[..., 0], first[..., 0])
    assert (found[..., 1:] == (77, 200, 3)).all()


def test_what_is_missing_reads_as_nothing_and_the_shader_is_told(run_shader, pixels):
    half_a_minute = 30_000_000

    result = run_shader(
        ShaderCalculator,
        {
            "VIDEO": [(t, pixels) for t in (half_a_minute, 2 * half_a_minute)],
            "OVERLAY": [(half_a_minute, pixels), (half_a_minute + 1, pixels)],
        },
        options=options(MIX),
    )

    first, second = result.outputs["VIDEO"]
    assert [int(first.timestamp), int(second.timestamp)] == [half_a_minute, 2 * half_a_minute]
    assert np.array_equal(first.payload.array(), pixels)
    # no overlay: its size is 0, the result is 8x5, and 30 seconds have passed
    assert (second.payload.array() == (30, 0, 8, 5)).all()


def test_the_function_for_numpy_gets_what_it_names(run_numpy, pixels):
    seen = []

    def look(video, overlay, gain, time, size, has_overlay, video_size, further=None):  # noqa: PLR0913, PLR0917  # each is one thing that differs
        seen.append((overlay is None, gain, time, size, has_overlay, video_size, further))
        return video.copy()

    made = shader_calculator("uniform float gain; void main() {}", uniforms={"gain": 2.5}, cpu=look)
    result = run_numpy(made, {"VIDEO": [(0, pixels), (500_000, pixels)], "OVERLAY": [(0, pixels[:2])]})

    assert seen == [
        (False, 2.5, 0.0, (8, 5), True, (8, 5), None),
        (True, 2.5, 0.5, (8, 5), False, (8, 5), None),
    ]
    assert np.array_equal(result.outputs["VIDEO"][1].payload.array(), pixels)


def test_the_function_may_take_all_there_is(run_numpy, pixels):
    made = shader_calculator("void main() {}", cpu=lambda **given: given["video"] // 2)

    assert np.array_equal(run_numpy.image(made, {"VIDEO": pixels}), pixels // 2)


def test_images_for_the_function_are_read_only(run_numpy, pixels):
    def spoil(video):
        video[:] = 0

    with pytest.raises(GraphRunError, match="read-only"):
        run_numpy.image(shader_calculator("void main() {}", cpu=spoil), {"VIDEO": pixels})


def test_without_gl_a_shader_alone_is_refused_with_the_cure(run_numpy, pixels):
    with pytest.raises(
        GraphRunError, match=r"node 'under_test': its shader needs GL.*cpu=a_function"
    ) as caught:
        run_numpy.image(ShaderCalculator, {"VIDEO": pixels}, options=options(INVERT))

    assert caught.value.code is StatusCode.UNAVAILABLE


def test_size_and_format_of_the_result_can_be_chosen(run, pixels):
    made = shader_calculator(
        "void main() { gl_FragColor = vec4(0.25); }", cpu=lambda size: np.full(size[::-1], 0.25, np.float32)
    )
    given = ShaderCalculatorOptions(width=3, height=2, format=GpuBufferFormat.GRAY_FLOAT32)

    found = run.image(made, {"VIDEO": pixels}, options=given)

    assert found.dtype == np.float32
    assert np.array_equal(found, np.full((2, 3), 0.25))


def test_sizes_change_midway_the_header_is_passed_on_and_programs_are_not_made_again(run_gl, monkeypatch):
    compiled = []
    compile_program = gl.compile_program
    monkeypatch.setattr(gl, "compile_program", lambda *a: compiled.append(a) or compile_program(*a))
    images = [np.full(shape, 5, np.uint8) for shape in ((2, 3, 4), (1, 1, 4), (2, 3, 4))]

    result = run_gl(
        ShaderCalculator,
        {0: list(enumerate(images))},
        (0,),
        options=options(INVERT),
        headers={0: VideoHeader(width=3)},
    )

    assert [packet.payload.array().shape for packet in result.outputs[0]] == [p.shape for p in images]
    assert result.headers[0] == VideoHeader(width=3)
    assert len(compiled) == 1


def test_a_shader_that_does_not_compile_gives_the_log_in_the_lines_of_the_text_and_the_node(run_gl, pixels):
    text = "// one\n// two\nvoid main() {\n  gl_FragColor = vec5(1);\n}\n"

    with pytest.raises(GraphRunError, match=r"node 'under_test'.*open\(\) failed") as caught:
        run_gl.image(ShaderCalculator, {"VIDEO": pixels}, options=options(text))

    error = caught.value.errors[0].__cause__
    assert isinstance(error, ShaderError)
    assert error.stage == "fragment"
    assert "4(" in error.log  # Mesa: "0:4(18): error: ..."
    assert error.source == text
    assert "4:   gl_FragColor = vec5(1);" in str(caught.value)
    assert error.node == "under_test"
    assert "'under_test'" in str(error)


def test_a_result_of_too_many_pixels_is_refused_in_open(run_gl, pixels):
    given = options(GAIN, width=2**31 - 1, height=2**31 - 1)
    with pytest.raises(GraphRunError, match="options width and height: a frame of 2147483647x") as caught:
        run_gl.image(ShaderCalculator, {"VIDEO": pixels}, options=given)

    assert caught.value.code is StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (options(), r"the shader's text: there is none; give it in exactly one way"),
        (options(INVERT, resource="a:b"), r"option 'fragment' and option 'resource' both give one"),
        (options(GAIN, {"gian": 1}), r"program 'under_test' has no uniform 'gian'.*did you mean 'gain'"),
        (options(GAIN, {"gain": [1, 2]}), r"uniform 'gain' is set to 2 numbers, but it is a float"),
        (options(KINDS, {"cube": [1, 2]}), r"'cube' is set to 2 numbers.*takes 9, row by row"),
        (options(KINDS, {"list": [1, 2]}), r"'list' is set to 2 numbers.*array of 3 float"),
        (options(KINDS, {"whole": 1.5}), r"'whole' is set to 1.5, but it is of type int; give whole numbers"),
        (options(GAIN, {"time": 1}), r"uniform 'time', which the calculator sets itself"),
        (options(GAIN, {"video": 1}), r"uniform 'video', which the calculator sets itself"),
        (options(GAIN, width=3), r"width 3 and height 0, but both must be above 0"),
        (options(GAIN, width=-3, height=-2), r"width -3 and height -2"),
        (options(GAIN, format=GpuBufferFormat.NV12), r"NV12 has several planes"),
        (
            ShaderCalculatorOptions(
                GAIN, uniform=(ShaderUniform("gain", (1.0,)), ShaderUniform("gain", (2.0,)))
            ),
            r"uniform 'gain' is given twice",
        ),
    ],
)
def test_options_that_cannot_be_are_refused_in_open(run_gl, pixels, given, message):
    with pytest.raises(GraphRunError, match=rf"under_test.*open\(\) failed(.|\n)*{message}") as caught:
        run_gl.image(ShaderCalculator, {"VIDEO": pixels}, options=given)

    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("uniforms", "message"),
    [
        ({"gian": 1}, "has no uniform 'gian'.*did you mean 'gain'"),
        ({"gain": [1, 2]}, "'gain' is set to 2 numbers"),
    ],
)
def test_values_are_checked_without_gl_too(run_numpy, pixels, uniforms, message):
    made = shader_calculator(GAIN, uniforms=uniforms, cpu=lambda video: video)

    with pytest.raises(GraphRunError, match=message):
        run_numpy.image(made, {"VIDEO": pixels})


def test_a_calculator_with_its_own_text_takes_no_other(run_gl, pixels):
    made = shader_calculator(INVERT)

    with pytest.raises(GraphRunError, match="the calculator itself and option 'fragment' both give one"):
        run_gl.image(made, {"VIDEO": pixels}, options=options(GAIN))


@pytest.mark.parametrize(
    ("cpu", "message"),
    [
        (lambda image: image, "takes 'image', but there are .*'video'.*rename the parameter"),
        (lambda video: video[..., 0], r"returned \(5, 8\) uint8, but BGRA32 of 8x5 is \(5, 8, 4\) uint8"),
        (lambda video: None, "returned 'NoneType'"),
    ],
)
def test_a_function_that_does_not_fit_is_refused(run_numpy, pixels, cpu, message):
    with pytest.raises(GraphRunError, match=message):
        run_numpy.image(shader_calculator(INVERT, cpu=cpu), {"VIDEO": pixels})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "there is none; give it in exactly one way"),
        ({"fragment": INVERT, "resource": "a:b"}, "fragment and resource both give one"),
        ({"fragment": INVERT, "cpu": eval("lambda video, /: video")}, "write it without '/'"),  # noqa: S307
    ],
)
def test_arguments_that_cannot_be_are_refused_at_once(arguments, message):
    with pytest.raises(InvalidArgumentError, match=message):
        shader_calculator(**arguments)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (["VIDEO"], ["A", "B"], "has 1 inputs and 2 outputs"),
        (["A:0", "A:1", "A1"], ["VIDEO"], "inputs 'A:1' and 'A1' would both be the shader's sampler 'a1'"),
    ],
)
def test_ports_that_cannot_be_are_refused(run_gl, inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_gl(ShaderCalculator, {port: [] for port in inputs}, outputs, options=options(INVERT))


@pytest.mark.gpu
def test_with_a_name_graphs_of_the_process_can_use_it(pixels):
    made = shader_calculator(INVERT, name="InvertOfTestShader")
    graph = """
        input_stream: "in"
        output_stream: "out"
        node { calculator: "InvertOfTestShader" input_stream: "VIDEO:in" output_stream: "VIDEO:inverted" }
        node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "inverted" output_stream: "out" }
    """

    (found,) = penstock.run(graph, inputs={"in": [(0, GpuBuffer.of_array(pixels))]})["out"]

    assert made.__module__ == __name__
    assert np.array_equal(found.payload.array[..., :3], 255 - pixels[..., :3])


@pytest.mark.gpu
def test_a_graph_file_gives_text_values_size_and_format():
    graph = """
        input_stream: "in"
        output_stream: "out"
        node {
          calculator: "ShaderCalculator"
          input_stream: "VIDEO:in"
          output_stream: "VIDEO:drawn"
          node_options {
            [type.googleapis.com/penstock_gpu.ShaderCalculatorOptions] {
              fragment:
                "uniform vec2 levels;"
                "void main() { gl_FragColor = vec4(levels.x + levels.y); }"
              uniform { name: "levels" value: [0.5, 0.25] }
              width: 3
              height: 2
              format: GRAY_FLOAT32
            }
          }
        }
        node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "drawn" output_stream: "out" }
    """

    (found,) = penstock.run(graph, inputs={"in": [(0, GpuBuffer.of_array(np.zeros((1, 1), np.uint8)))]})[
        "out"
    ]

    assert np.array_equal(found.payload.array, np.full((2, 3), 0.75, np.float32))
