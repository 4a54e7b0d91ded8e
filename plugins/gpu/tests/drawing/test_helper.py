"""The helper: a calculator's way into its context, and to its textures."""

from __future__ import annotations

import copy
from contextlib import suppress

import numpy as np
import pytest

import penstock
from penstock import Calculator
from penstock.errors import FailedPreconditionError, GraphRunError, InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_gpu import (
    GPU,
    GlCalculatorHelper,
    GlContext,
    GlError,
    GlProgram,
    GlSimpleCalculator,
    GlTextureView,
    GpuBuffer,
    GpuBufferFormat,
    GpuResources,
    GpuUnavailableError,
    ShaderError,
    gl,
)
from penstock_gpu.drawing.gl_texture import GlTexture
from penstock_gpu.drawing.quad import draw_quad
from penstock_testing import calculator, testing_registry

PATIENCE_S = 20


class Opens(Calculator):
    """Opens a helper, and calls the test's function with it."""

    optional = False
    declares = True
    call = staticmethod(lambda helper, cc: None)

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        if cls.declares:
            GlCalculatorHelper.update_contract(cc, optional=cls.optional)

    def open(self, cc):
        self.helper = GlCalculatorHelper()
        self.helper.open(cc)

    def process(self, cc):
        type(self).call(self.helper, cc)

    def close(self, cc):
        self.helper.close()
        self.helper.close()


def run_in_node(call, resources=None, *, name="Opens", **fields):
    """Run a graph of one node that calls `call(helper, cc)` once; return what it returned."""
    made = []
    kind = type(
        name, (Opens,), {"call": staticmethod(lambda helper, cc: made.append(call(helper, cc))), **fields}
    )
    graph = penstock.CalculatorGraph(
        f'input_stream: "in" node {{ name: "the node" calculator: "{name}" input_stream: "in" }}',
        registry=testing_registry(kind),
    )
    if resources is not None:
        graph.set_service(GPU, resources)
    with graph:
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    return made[0] if made else None


@pytest.fixture(params=["thread", "lock"])
def resources(request, gl_available):
    with GpuResources(threads=request.param == "thread") as made:
        yield made


@pytest.fixture
def off():
    return GpuResources("off")


# --- the way in -------------------------------------------------------------------------------


def test_a_helper_that_is_not_open_says_so_whatever_it_is_asked():
    helper = GlCalculatorHelper()
    wanted = (
        r"^the GL helper is not open; call helper\.open\(cc\), or super\(\)\.open\(cc\), in open\(\) before$"
    )
    assert not helper.is_open
    assert not helper.uses_gl
    for call in (
        lambda: helper.run_in_gl_context(lambda: None),
        lambda: helper.gl_context,
        lambda: helper.create_source_texture(GpuBuffer(2, 2)),
        lambda: helper.create_destination_texture(2, 2),
        lambda: helper.bind_framebuffer(None),
    ):
        with pytest.raises(FailedPreconditionError, match=wanted):
            call()


def test_a_calculator_that_does_not_ask_for_the_service_is_told_how(resources):
    with pytest.raises(
        GraphRunError,
        match=r"node 'the node' may not use the GPU service; call "
        r"GlCalculatorHelper\.update_contract\(cc\) in get_contract",
    ):
        run_in_node(lambda helper, cc: None, resources, declares=False)


def test_an_optional_service_that_is_absent_means_no_gl(monkeypatch):
    monkeypatch.setattr(GPU, "create", None)
    said = run_in_node(lambda helper, cc: (helper.is_open, helper.uses_gl, helper.why_off), optional=True)

    assert said == (True, False, "the optional GPU service is not there")


def test_an_optional_service_that_cannot_be_made_says_why(monkeypatch):
    monkeypatch.setattr(GPU, "create", lambda: int("no driver"))
    said = run_in_node(lambda helper, cc: (helper.uses_gl, helper.why_off), optional=True)

    assert said[0] is False
    assert said[1].startswith("the optional GPU service could not be made: ValueError: invalid literal")


def test_without_gl_the_helper_is_open_and_says_why_it_cannot(off):
    def ask(helper, cc):
        assert (helper.is_open, helper.uses_gl, helper.why_off) == (True, False, "its policy is 'off'")
        helper.run_in_gl_context(lambda: None)

    with pytest.raises(
        GraphRunError,
        match=r"node 'the node' asks its helper for GL, but there is none: its policy is 'off'; look at",
    ) as caught:
        run_in_node(ask, off)
    assert isinstance(caught.value.errors[0].__cause__, GpuUnavailableError)


def test_what_runs_in_the_context_returns_its_result_and_may_run_more(resources):
    def ask(helper, cc):
        assert helper.uses_gl
        assert helper.gl_context is resources.context()
        return helper.run_in_gl_context(
            lambda: (GlContext.current(), helper.run_in_gl_context(GlContext.current))
        )

    assert run_in_node(ask, resources) == (resources.context(), resources.context())


def test_what_is_raised_in_the_context_comes_out_as_it_is(resources):
    class OwnError(Exception):
        pass

    def fail():
        raise OwnError("no")

    with pytest.raises(GraphRunError) as caught:
        run_in_node(lambda helper, cc: helper.run_in_gl_context(fail), resources)
    assert isinstance(caught.value.errors[0].__cause__, OwnError)


def test_a_gl_call_that_fails_names_the_node_and_the_call(resources):
    def fail():
        gl.glBindTexture(0x1234, 0)

    with pytest.raises(
        GraphRunError,
        match=r"node 'the node' \(Opens\): process\(\) failed at 1: glBindTexture failed: GL_INVALID_EN",
    ) as caught:
        run_in_node(lambda helper, cc: helper.run_in_gl_context(fail), resources)
    cause = caught.value.errors[0].__cause__
    assert isinstance(cause, GlError)
    assert (cause.node, cause.call, cause.gl_code) == ("the node", "glBindTexture", 0x0500)
    assert resources.context().run(gl.glGetError) == 0


def test_a_shader_that_does_not_compile_names_the_node_and_the_line(resources):
    def fail():
        GlProgram("void main() {\n  gl_FragColor = nonsense;\n}", name="Broken")

    with pytest.raises(
        GraphRunError,
        match=r"node 'the node' \(Opens\): process\(\) failed at 1: the fragment shader of 'Broken' ",
    ) as caught:
        run_in_node(lambda helper, cc: helper.run_in_gl_context(fail), resources)
    cause = caught.value.errors[0].__cause__
    assert isinstance(cause, ShaderError)
    assert cause.node == "the node"
    assert "2:   gl_FragColor = nonsense;" in str(cause)


# --- textures ---------------------------------------------------------------------------------


def in_context(call, resources):
    return run_in_node(lambda helper, cc: helper.run_in_gl_context(lambda: call(helper)), resources)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda helper: helper.create_source_texture(GpuBuffer(2, 2)), "create_source_texture"),
        (lambda helper: helper.create_destination_texture(2, 2), "create_destination_texture"),
        (lambda helper: helper.bind_framebuffer(None), "bind_framebuffer"),
    ],
)
def test_textures_outside_the_context_are_refused(gl_available, call, what):
    def ask(helper, cc):
        helper._context = other  # as if the node had no thread of its own
        call(helper)

    with (
        GlContext.create() as other,
        pytest.raises(
            GraphRunError,
            match=rf"{what} outside the node's GL context; call it in helper\.run_in_gl_context",
        ),
        GpuResources() as resources,
    ):
        run_in_node(ask, resources)


@pytest.fixture
def image():
    return np.random.default_rng(3).integers(0, 256, (5, 7, 4), np.uint8)


@pytest.mark.parametrize("wrap", [GpuBuffer.of_array, lambda array: ImageFrame(array, ImageFormat.SRGBA)])
def test_a_source_has_the_pixels_of_a_buffer_or_a_frame(resources, image, wrap):
    def read(helper):
        with helper.create_source_texture(wrap(image)) as src:
            assert (src.width, src.height, src.target) == (7, 5, gl.GL_TEXTURE_2D)
            helper.bind_framebuffer(src)
            pixels = np.empty((5, 7, 4), np.uint8)
            gl.read_into(pixels, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
        return pixels

    np.testing.assert_array_equal(in_context(read, resources), image)


@pytest.mark.parametrize("source", [None, np.zeros((2, 2, 4), np.uint8)])
def test_a_source_that_is_no_image_is_refused(resources, source):
    with pytest.raises(
        GraphRunError,
        match=f"create_source_texture takes a GpuBuffer or an ImageFrame, not a '{type(source).__name__}'",
    ):
        in_context(lambda helper: helper.create_source_texture(source), resources)


def fill(helper, texture, colour):
    helper.bind_framebuffer(texture)
    gl.glClearColor(*colour)
    gl.glClear(gl.GL_COLOR_BUFFER_BIT)


@pytest.mark.parametrize(
    ("target", "kind", "shape"),
    [
        ((7, 5), GpuBufferFormat.BGRA32, (5, 7, 4)),
        ((7, 5, GpuBufferFormat.ONE_COMPONENT8), GpuBufferFormat.ONE_COMPONENT8, (5, 7)),
        ((GpuBuffer(7, 5, GpuBufferFormat.RGBA_FLOAT128),), GpuBufferFormat.RGBA_FLOAT128, (5, 7, 4)),
        (
            (ImageFrame(np.zeros((5, 7), np.uint8), ImageFormat.GRAY8),),
            GpuBufferFormat.ONE_COMPONENT8,
            (5, 7),
        ),
    ],
)
def test_what_is_drawn_to_a_destination_is_the_image_of_its_frame(resources, target, kind, shape):
    target = tuple(copy.deepcopy(each) if isinstance(each, GpuBuffer) else each for each in target)

    def draw(helper):
        dst = helper.create_destination_texture(*target)
        fill(helper, dst, (1.0, 0.0, 1.0, 1.0))
        return dst, dst.get_frame()

    texture, made = in_context(draw, resources)
    if isinstance(target[0], GpuBuffer):
        assert made == target[0]
    assert (made.width, made.height, made.format) == (7, 5, kind)
    assert made.array().shape == shape
    full = 1 if kind is GpuBufferFormat.RGBA_FLOAT128 else 255
    assert (made.array().reshape(35, -1)[:, 0] == full).all()
    assert "released" in repr(texture)


def test_a_frame_in_main_memory_is_read_back_once(resources):
    def draw(helper):
        dst = helper.create_destination_texture(7, 5)
        fill(helper, dst, (0.0, 1.0, 0.0, 1.0))
        frame = dst.get_frame(ImageFrame)
        again = dst.get_frame(ImageFrame)
        return frame, again

    before = resources.context().readbacks
    frame, again = in_context(draw, resources)
    assert isinstance(frame, ImageFrame)
    assert again is frame
    assert resources.context().readbacks == before + 1
    assert frame.format is ImageFormat.SRGBA
    assert frame.array[0, 0].tolist() == [0, 255, 0, 255]


def test_a_texture_gives_no_other_kinds_of_frame(resources):
    with pytest.raises(
        GraphRunError,
        match=r"GlTexture.get_frame: <class 'int'> is no kind of frame; use GpuBuffer or ImageFrame",
    ):
        in_context(lambda helper: helper.create_destination_texture(1, 1).get_frame(int), resources)


def test_a_texture_is_released_once_and_also_where_drawing_fails(resources):
    def draw(helper):
        buffer = GpuBuffer(4, 4)
        with suppress(ZeroDivisionError), helper.create_destination_texture(buffer) as dst:
            dst.width / 0
        with helper.create_destination_texture(buffer) as dst:
            fill(helper, dst, (1.0, 1.0, 1.0, 1.0))
            dst.release()
            dst.release()
        with helper.create_source_texture(buffer) as src:
            return src.name

    assert in_context(draw, resources) > 0


def test_new_textures_come_from_the_pool_of_the_graph_and_go_back_to_it(resources):
    def draw(helper):
        names = set()
        for _ in range(10):
            with helper.create_destination_texture(6, 6) as dst:
                names.add(dst.name)
            made = GpuBuffer(6, 6)
            with made.write_view(GlTextureView) as view:
                names.add(view.name)
            del dst, made, view
        return names

    assert len(in_context(draw, resources)) <= 3  # the first is not pooled, two are in turn
    assert resources.pool.sizes == ((6, 6, GpuBufferFormat.BGRA32),)


def test_a_texture_that_cannot_be_drawn_to_names_what_it_is(resources):
    def draw(helper):
        name = gl.make("Texture")
        gl.glBindTexture(gl.GL_TEXTURE_2D, name)
        gl.glTexImage2D(gl.GL_TEXTURE_2D, 0, 0x8C3D, 3, 3, 0, gl.GL_RGB, gl.GL_FLOAT, None)  # GL_RGB9_E5
        buffer = GpuBuffer.of_texture(name, gl.GL_TEXTURE_2D, 3, 3, release=lambda sync: None)
        try:
            helper.bind_framebuffer(GlTexture(buffer, buffer.write_view(GlTextureView)))
        finally:
            gl.delete("Texture", name)

    with pytest.raises(
        GraphRunError,
        match=r"glCheckFramebufferStatus failed: 0x8CD[6D], .*GpuBuffer BGRA32 3x3.*, use BGRA32",
    ):
        in_context(draw, resources)


def test_a_texture_is_asked_once_whether_it_can_be_drawn_to(resources, monkeypatch):
    asked, ask = [], gl.glCheckFramebufferStatus
    monkeypatch.setitem(vars(gl), "glCheckFramebufferStatus", lambda *a: asked.append(a) or ask(*a))

    def draw(helper):
        for _ in range(10):
            with helper.create_destination_texture(6, 6) as dst:
                helper.bind_framebuffer(dst)

    in_context(draw, resources)

    assert len(asked) <= 3  # the first is not pooled, two are in turn


def test_one_framebuffer_of_a_context_serves_all_nodes_and_goes_with_it(resources):
    def bound(helper):
        fill(helper, helper.create_destination_texture(2, 2), (0.0, 0.0, 0.0, 0.0))
        return gl.get_integer(gl.GL_FRAMEBUFFER_BINDING)

    assert in_context(bound, resources) == in_context(bound, resources)


def test_frames_are_wrapped_without_a_copy_or_with_one(image):
    frame = ImageFrame(image, ImageFormat.SRGBA)
    helper = GlCalculatorHelper()

    wrapped = helper.gpu_buffer_with_image_frame(frame)
    assert np.shares_memory(wrapped.array(), frame.array)
    assert wrapped.frame() is frame
    copied = helper.gpu_buffer_copying_image_frame(frame)
    assert not np.shares_memory(copied.array(), frame.array)
    np.testing.assert_array_equal(copied.array(), frame.array)


# --- composition ------------------------------------------------------------------------------


class Bands(Calculator):
    """Takes and gives ImageFrames: the negative is made in GL, if it is used; the rest is NumPy.

    The rest: a frame of black around the image, one pixel wide.
    """

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(ImageFrame)
        cc.outputs[0].set(ImageFrame)
        GlCalculatorHelper.update_contract(cc)

    def open(self, cc):
        self.helper = GlCalculatorHelper()
        self.helper.open(cc)
        self.program = None

    def process(self, cc):
        frame = cc.input.payload
        if self.helper.uses_gl:
            negative = self.helper.run_in_gl_context(lambda: self.draw(frame)).array
        else:
            negative = 255 - frame.array
        framed = np.zeros((frame.height + 2, frame.width + 2, 4), np.uint8)
        framed[1:-1, 1:-1] = negative
        cc.output.add(ImageFrame(framed, ImageFormat.SRGBA), cc.input_timestamp)

    def draw(self, frame):
        if self.program is None:
            self.program = GlProgram(
                "uniform sampler2D frame; void main() {"
                " gl_FragColor = vec4(1.0) - texture(frame, sample_coordinate); }"
            )
        with (
            self.helper.create_source_texture(frame) as src,
            self.helper.create_destination_texture(frame) as dst,
        ):
            self.helper.bind_framebuffer(dst)
            gl.glActiveTexture(gl.GL_TEXTURE1)
            gl.glBindTexture(src.target, src.name)
            self.program.set("frame", 1)
            draw_quad()
            return dst.get_frame(ImageFrame)

    def close(self, cc):
        if self.program is not None:
            self.helper.run_in_gl_context(self.program.delete)


def composed(resources, image):
    text = 'input_stream: "in" node { calculator: "Bands" input_stream: "in" output_stream: "out" }'
    graph = penstock.CalculatorGraph(text, registry=testing_registry(Bands))
    graph.set_service(GPU, resources)
    made = []
    graph.observe_output_stream("out", lambda _, packet: made.append(packet.payload))
    graph.start_run()
    for t in range(3):
        graph.add_packet_to_input_stream("in", penstock.Packet(ImageFrame(image, ImageFormat.SRGBA), t))
    graph.close(PATIENCE_S)
    return made


def test_a_calculator_of_image_frames_does_one_step_in_gl_and_the_rest_in_numpy(resources, off, image):
    wanted = np.zeros((7, 9, 4), np.uint8)
    wanted[1:-1, 1:-1] = 255 - image
    for each in (resources, off):
        frames = composed(each, image)
        assert len(frames) == 3
        for frame in frames:
            np.testing.assert_array_equal(frame.array, wanted)


def test_the_errors_of_bad_sizes_and_formats_say_what_may_be(resources):
    with pytest.raises(
        GraphRunError, match=r"the helper can draw nothing on an image of 2\.5 x 4; give whole numbers: //"
    ):
        in_context(lambda helper: helper.create_destination_texture(2.5, 4), resources)
    with pytest.raises(GraphRunError, match="texture of 0x5 cannot be allocated,"):
        in_context(lambda helper: helper.create_destination_texture(0, 5), resources)
    with pytest.raises(GraphRunError) as caught:
        in_context(lambda helper: helper.create_destination_texture(4, 4, GpuBufferFormat.NV12), resources)
    assert isinstance(caught.value.errors[0].__cause__, InvalidArgumentError)


def test_a_failing_call_of_plain_pyopengl_comes_as_ours_with_the_nodes_name(resources):
    def fail(_helper):
        from OpenGL.GL import glEnable  # imports OpenGL

        glEnable(0x1234)

    with pytest.raises(GraphRunError, match=r"'the node'.*glEnable failed: GL_INVALID_ENUM") as caught:
        in_context(fail, resources)

    error = caught.value.errors[0].__cause__
    assert isinstance(error, GlError)
    assert (error.node, error.call, error.gl_code) == ("the node", "glEnable", 0x0500)
    assert type(error.__cause__).__name__ == "GLError"


# --- what others left behind ------------------------------------------------------------------

#: What a calculator may leave in its context, and the next one must not see.
LEFT_BEHIND = {
    "scissors": lambda: (gl.glEnable(gl.GL_SCISSOR_TEST), gl.glScissor(0, 0, 1, 1)),
    "blending": lambda: (gl.glEnable(gl.GL_BLEND), gl.glBlendFunc(gl.GL_ZERO, gl.GL_ZERO)),
    "culling": lambda: (gl.glEnable(gl.GL_CULL_FACE), gl.glCullFace(gl.GL_FRONT_AND_BACK)),
    "discarding": lambda: gl.glEnable(gl.GL_RASTERIZER_DISCARD),
    "a logical operation": lambda: (gl.glEnable(gl.GL_COLOR_LOGIC_OP), gl.glLogicOp(gl.GL_CLEAR)),
    "masked colours": lambda: gl.glColorMask(0, 1, 0, 0),
    "a framebuffer": lambda: gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, gl.make("Framebuffer")),
    "a viewport": lambda: gl.glViewport(0, 0, 1, 1),
    "a texture unit": lambda: gl.glActiveTexture(gl.GL_TEXTURE0 + 5),
    "a vertex array": lambda: gl.glBindVertexArray(gl.make("VertexArray")),
    "rows apart": lambda: (
        gl.glPixelStorei(gl.GL_UNPACK_ROW_LENGTH, 50),
        gl.glPixelStorei(gl.GL_PACK_ROW_LENGTH, 50),
    ),
}


@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_what_one_calculator_leaves_in_the_context_does_not_change_the_image_of_the_next(left, gl_available):
    image = np.random.default_rng(1).integers(0, 256, (6, 7, 4), dtype=np.uint8)

    def leave(cc):
        LEFT_BEHIND[left]()
        cc.output.add(cc.input.payload, cc.input_timestamp)

    node = calculator(leave, contract=lambda cc: cc.run_on(GPU), name="Leaves")
    text = """
        input_stream: "in" output_stream: "out"
        node { calculator: "Leaves" input_stream: "in" output_stream: "same" }
        node { calculator: "Copies" input_stream: "same" output_stream: "out" }
    """
    with GpuResources() as resources:
        graph = penstock.CalculatorGraph(text, registry=testing_registry(node, Copies))
        graph.set_service(GPU, resources)
        seen = []
        graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload.array()))
        with graph:
            graph.start_run()
            for t in range(2):
                graph.add_packet_to_input_stream("in", penstock.Packet(GpuBuffer.of_array(image), t))

    assert len(seen) == 2
    for each in seen:
        np.testing.assert_array_equal(each, image)


class Copies(GlSimpleCalculator):
    """Draws its input."""

    def gl_setup(self):
        self.program = GlProgram(
            "void main() { gl_FragColor = texture(frame, sample_coordinate); }", samplers=["frame"]
        )
        self.program.set("frame", 1)

    def gl_render(self, src, dst):
        self.program.use()
        draw_quad()

    def gl_teardown(self):
        self.program.delete()
