from __future__ import annotations

import ctypes
import logging
import sysconfig

import numpy as np
import pytest

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu import gl, gl_library
from penstock_gpu.errors import GlError, ShaderError

VERTEX = "#version 330 core\nin vec4 place;\nvoid main() { gl_Position = place; }\n"
FRAGMENT = "#version 330 core\nout vec4 color;\nvoid main() { color = vec4(1.0); }\n"
#: What one hands over is not what the other takes.
UNLIKE = (
    "#version 330 core\nout vec2 depth;\nvoid main() { depth = vec2(1.0); gl_Position = vec4(0.0); }\n",
    "#version 330 core\nin vec3 depth;\nout vec4 color;\nvoid main() { color = depth.xyzx; }\n",
)


def has_library(name):
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


@pytest.fixture
def target(context):
    """Return a function that binds a new texture and a framebuffer to read it, and returns them."""
    made = []

    def bind():
        texture, framebuffer = gl.make("Texture"), gl.make("Framebuffer")
        made.append((texture, framebuffer))
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, gl.GL_TEXTURE_2D, texture, 0)

    context.run(bind)
    yield context
    for texture, framebuffer in made:
        context.run(lambda t=texture, f=framebuffer: (gl.delete("Texture", t), gl.delete("Framebuffer", f)))


def uploaded(array, form, kind, internal):
    gl.upload(array, format=form, type=kind, internal=internal)


def test_importing_loads_neither_opengl_nor_a_library_of_the_system(python):
    done = python("""
        import sys
        import penstock_gpu.contexts.context, penstock_gpu.contexts.device, penstock_gpu.contexts.sync
        import penstock_gpu.egl, penstock_gpu.gl
        loaded = [name for name in sys.modules if name.partition(".")[0] == "OpenGL"]
        with open("/proc/self/maps") as maps:
            lines = [line for line in maps if "libEGL" in line or "libGL" in line or "libOpenGL" in line]
        print(loaded, lines)
    """)

    assert (done.stdout, done.stderr) == ("[] []\n", "")


@pytest.mark.gpu
def test_constants_are_plain_numbers_and_names_are_kept(context):
    assert type(gl.GL_TEXTURE_2D) is int
    assert gl.GL_TEXTURE_2D == 0x0DE1
    assert gl.GL_TIMEOUT_IGNORED == 0xFFFFFFFFFFFFFFFF
    assert gl.glUseProgram is gl.glUseProgram


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["glNoSuchThing", "GL_NO_SUCH_THING", "nothing"])
def test_a_name_that_gl_does_not_have_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=name):
        getattr(gl, name)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "near"), [("glEnabel", "glEnable"), ("GL_TEXTURE2D", "GL_TEXTURE_2D")])
def test_a_misspelt_name_is_told_what_is_near(name, near):
    with pytest.raises(AttributeError, match=f"the GL library has no name '{name}'; did you mean '{near}'?"):
        getattr(gl, name)


def test_a_failing_call_is_named_with_the_error(context):
    with pytest.raises(GlError, match=r"^glEnable failed: GL_INVALID_ENUM: a constant is not one") as caught:
        context.run(lambda: gl.glEnable(0x1234))

    assert (caught.value.call, caught.value.gl_code) == ("glEnable", 0x0500)
    assert context.run(lambda: gl.get_integer(gl.GL_MAX_TEXTURE_SIZE)) >= 1024


def test_an_error_of_plain_pyopengl_comes_as_ours(context):
    def draw():
        from OpenGL.GL import glEnable  # which needs a current context

        glEnable(0x1234)

    with pytest.raises(GlError, match=r"^glEnable failed: GL_INVALID_ENUM") as caught:
        context.run(draw)

    assert type(caught.value.__cause__).__module__ == "OpenGL.error"


def test_an_error_that_nobody_checked_is_logged_and_blamed_on_no_later_call(context, caplog):
    def unchecked():
        gl_library.library()["glEnable"](0x1234)  # an unchecked call

    with caplog.at_level(logging.WARNING, "penstock.gpu"):
        context.run(unchecked)
    context.run(gl.glFlush)

    assert [record.getMessage() for record in caplog.records] == [
        "a job in context 'main' left unchecked GL errors: GL_INVALID_ENUM"
    ]


@pytest.mark.parametrize("width", [1, 3, 5, 8])
@pytest.mark.parametrize(
    ("channels", "dtype", "form", "kind", "internal"),
    [
        (4, np.uint8, "GL_RGBA", "GL_UNSIGNED_BYTE", "GL_RGBA8"),
        (3, np.uint8, "GL_RGB", "GL_UNSIGNED_BYTE", "GL_RGBA8"),
        (1, np.uint8, "GL_RED", "GL_UNSIGNED_BYTE", "GL_R8"),
        (2, np.float32, "GL_RG", "GL_FLOAT", "GL_RG32F"),
        (4, np.float16, "GL_RGBA", "GL_HALF_FLOAT", "GL_RGBA16F"),
    ],
)
def test_what_is_uploaded_is_read_back_bit_for_bit(  # noqa: PLR0913, PLR0917  # columns of the table above
    target, width, channels, dtype, form, kind, internal
):
    values = np.random.default_rng(width).integers(0, 256, (7, width, channels))
    array = (values if dtype is np.uint8 else values / 256).astype(dtype)
    array = array[:, :, 0] if channels == 1 else array
    back = np.zeros_like(array)

    def there_and_back():
        form_, kind_ = getattr(gl, form), getattr(gl, kind)
        gl.upload(array, format=form_, type=kind_, internal=getattr(gl, internal))
        gl.read_into(back, format=form_, type=kind_)

    target.run(there_and_back)

    np.testing.assert_array_equal(back, array)
    assert (target.uploads, target.readbacks) == (1, 1)


@pytest.fixture(params=["bound", "direct"])
def texture(request, target):
    """Return the arguments that name the texture for copies: none if it is bound, else its name."""
    if request.param == "bound":
        return lambda: 0
    if not target.has_direct_access:
        pytest.skip(f"OpenGL {target.version} copies only what is bound")

    def name():
        found = gl.get_integer(gl.GL_TEXTURE_BINDING_2D)
        gl.glBindTexture(gl.GL_TEXTURE_2D, 0)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, 0)
        return found

    return name


def test_rows_that_are_apart_are_copied_as_they_lie(target, texture):
    wide = np.random.default_rng(1).integers(0, 256, (6, 20, 4), np.uint8)
    array = wide[::2, 3:10]
    space = np.zeros((3, 11, 4), np.uint8)

    def there_and_back():
        uploaded(np.zeros_like(array), gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, gl.GL_RGBA8)
        kind = {"format": gl.GL_RGBA, "type": gl.GL_UNSIGNED_BYTE, "texture": texture()}
        gl.upload(array, **kind)
        gl.read_into(space[:, 2:9], **kind)
        return gl.get_integer(gl.GL_UNPACK_ROW_LENGTH), gl.get_integer(gl.GL_PACK_ROW_LENGTH)

    assert target.run(there_and_back) == (0, 0)
    np.testing.assert_array_equal(space[:, 2:9], array)
    assert not space[:, :2].any()
    assert not space[:, 9:].any()


def test_part_of_a_texture_is_written_and_read(target, texture):
    patch = np.full((2, 3, 4), 200, np.uint8)
    back = np.zeros((1, 2, 4), np.uint8)
    whole = np.zeros((5, 6, 4), np.uint8)

    def draw():
        uploaded(np.zeros((5, 6, 4), np.uint8), gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, gl.GL_RGBA8)
        kind = {"format": gl.GL_RGBA, "type": gl.GL_UNSIGNED_BYTE, "texture": texture()}
        gl.upload(patch, x=1, y=2, **kind)
        gl.read_into(whole, **kind)
        gl.read_into(back, x=1, y=2, **kind)

    target.run(draw)

    expected = np.zeros((5, 6, 4), np.uint8)
    expected[2:4, 1:4] = 200
    np.testing.assert_array_equal(whole, expected)
    np.testing.assert_array_equal(back, patch[:1, :2])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            np.zeros((4, 4, 4), np.float32),
            "the array has elements of float32, expected uint8; use array.astype",
        ),
        (
            np.zeros((4, 4, 3), np.uint8),
            r"the array has shape \(4, 4, 3\), expected \(height, width, 4\)",
        ),
        (np.zeros((4, 4), np.uint8), r"the array has shape \(4, 4\), expected \(height, width, 4\)"),
        (
            np.zeros((0, 4, 4), np.uint8),
            r"the array has shape \(0, 4, 4\), expected .* with at least one pixel",
        ),
        (
            np.zeros((4, 8, 4), np.uint8)[:, ::2],
            r"of a row are not contiguous, the array's strides are \(32, 8, 1\); pass a copy",
        ),
        (
            np.zeros((4, 4, 4), np.uint8)[::-1],
            r"of a row are not contiguous, the array's strides are \(-16, 4, 1\); pass a copy",
        ),
        (np.zeros((4, 4, 4), np.uint8)[..., ::-1], "are not contiguous"),
        (np.broadcast_to(np.zeros((1, 4, 4), np.uint8), (4, 4, 4)), "are not contiguous|read-only"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_both_ways_and_nothing_is_copied(target, array, message):
    before = array.copy()
    with pytest.raises(InvalidArgumentError, match=message):
        target.run(lambda: uploaded(array, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, gl.GL_RGBA8))
    with pytest.raises(InvalidArgumentError, match=message):
        target.run(lambda: gl.read_into(array, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE))

    np.testing.assert_array_equal(array, before)
    assert (target.uploads, target.readbacks) == (0, 0)


def test_a_read_only_array_is_uploaded_but_never_read_into(target):
    array = np.full((2, 2, 4), 7, np.uint8)
    array.flags.writeable = False

    target.run(lambda: uploaded(array, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, gl.GL_RGBA8))
    with pytest.raises(InvalidArgumentError, match=r"gl\.read_into: the array is read-only"):
        target.run(lambda: gl.read_into(array, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE))


#: Name of the state, and what a user of GL may have left it at.
LEFT_BEHIND = [
    *(
        (f"GL_{way}_{name}", value)
        for way in ("UNPACK", "PACK")
        for name, value in [("ALIGNMENT", 8), ("ROW_LENGTH", 9), ("SKIP_ROWS", 2), ("SKIP_PIXELS", 3)]
    ),
    ("GL_PIXEL_UNPACK_BUFFER", 0),
    ("GL_PIXEL_PACK_BUFFER", 0),
]


@pytest.mark.parametrize(("name", "value"), LEFT_BEHIND, ids=[name for name, _ in LEFT_BEHIND])
@pytest.mark.parametrize("is_apart", [False, True])
def test_what_a_user_of_gl_has_set_moves_no_pixel_and_writes_none_behind_the_array(
    target, texture, name, value, is_apart
):
    image = np.random.default_rng(3).integers(0, 256, (5, 3, 3), dtype=np.uint8)
    source = np.zeros((5, 7, 3), np.uint8)[:, :3] if is_apart else np.zeros_like(image)
    source[:] = image
    memory = np.full((12, 9, 4), 77, np.uint8)  # a frame around what is read, to see what goes beyond

    def leave(buffer):
        if buffer:
            gl.glBindBuffer(getattr(gl, name), buffer)
            gl.glBufferData(getattr(gl, name), 10_000, None, gl.GL_STREAM_DRAW)
        else:
            gl.glPixelStorei(getattr(gl, name), value)

    def work():
        buffer = gl.make("Buffer") if "BUFFER" in name else 0
        nothing = np.zeros_like(source)
        leave(buffer)
        gl.upload(nothing, format=gl.GL_RGB, type=gl.GL_UNSIGNED_BYTE, internal=gl.GL_RGB8)
        of = texture()
        leave(buffer)
        gl.upload(source, format=gl.GL_RGB, type=gl.GL_UNSIGNED_BYTE, texture=of)
        seen = memory[3:8, :3] if is_apart else memory.reshape(-1)[:60].reshape(5, 3, 4)
        leave(buffer)
        gl.read_into(seen, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE, texture=of)
        gl.delete("Buffer", *([buffer] if buffer else []))
        return seen.copy(), seen

    copy, seen = target.run(work)
    seen[:] = 77

    np.testing.assert_array_equal(copy[:, :, :3], image)
    assert (memory == 77).all()


def test_pixels_of_an_unknown_kind_are_refused(target):
    with pytest.raises(InvalidArgumentError, match="format 0x84F9 and type 0x1401 are not copied"):
        target.run(lambda: gl.upload(np.zeros((2, 2), np.uint8), format=0x84F9, type=gl.GL_UNSIGNED_BYTE))


def test_an_array_larger_than_the_texture_is_refused_by_gl(target):
    def draw():
        uploaded(np.zeros((2, 2, 4), np.uint8), gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, gl.GL_RGBA8)
        gl.upload(np.zeros((3, 3, 4), np.uint8), format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)

    with pytest.raises(GlError, match=r"^glTexSubImage2D failed: GL_INVALID_VALUE"):
        target.run(draw)
    assert target.uploads == 1


def test_an_array_in_pieces_is_never_copied_in_silence_by_a_plain_call(context):
    array = np.zeros((4, 8, 4), np.uint8)[:, ::2]
    with pytest.raises(Exception, match=r"is not contiguous; pass a copy by numpy\."):
        context.run(
            lambda: gl.glReadPixels(0, 0, 4, 4, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, array),
        )


def test_a_program_has_the_numbers_of_its_attributes(context):
    def build():
        program = gl.compile_program(VERTEX, FRAGMENT, {"place": 5})
        try:
            return gl.glGetAttribLocation(program, b"place")
        finally:
            gl.glDeleteProgram(program)

    assert context.run(build) == 5


def test_a_shader_that_does_not_compile_gives_the_log_and_its_numbered_lines(context):
    source = "#version 330 core\nout vec4 color;\nvoid main() { color = nonsense(1.0); }\n"

    with pytest.raises(ShaderError) as caught:
        context.run(lambda: gl.compile_program(VERTEX, source, name="sepia"))

    text = str(caught.value)
    assert text.startswith("the fragment shader of 'sepia' does not compile: ")
    assert "nonsense" in caught.value.log
    assert "3: void main() { color = nonsense(1.0); }" in text
    assert (caught.value.stage, caught.value.source) == ("fragment", source)


def test_a_program_that_does_not_link_gives_the_log(context):
    with pytest.raises(ShaderError, match=r"the program of 'x' does not link: .*depth") as caught:
        context.run(lambda: gl.compile_program(*UNLIKE, name="x"))

    assert caught.value.stage == "link"


def test_failing_programs_leave_no_object_behind(context):
    def names():
        made = gl.glCreateProgram(), gl.glCreateShader(gl.GL_VERTEX_SHADER)
        gl.glDeleteProgram(made[0])
        gl.glDeleteShader(made[1])
        return made

    def fail():
        for sources in ((VERTEX, "void"), ("void", FRAGMENT), UNLIKE):
            with pytest.raises(ShaderError):
                gl.compile_program(*sources)

    for _ in range(20):
        context.run(fail)

    last = max(context.run(names))
    assert not any(context.run(lambda: [gl.glIsProgram(n) + gl.glIsShader(n) for n in range(1, last + 1)]))


def test_without_a_current_context_nothing_is_made_in_silence(context):
    with pytest.raises(FailedPreconditionError, match="glGenTextures of the GL library was called where"):
        gl.make("Texture")
    with pytest.raises(
        FailedPreconditionError,
        match="glClear of the GL library was called where no GL context is current, so",
    ):
        gl.glClear(gl.GL_COLOR_BUFFER_BIT)
    with pytest.raises(
        FailedPreconditionError, match=r"gl\.compile_program needs a GL context, and none is current"
    ):
        gl.compile_program(VERTEX, FRAGMENT)


def test_alignment_of_rows_is_one_in_every_context(make_context):
    for context in (make_context(), make_context(thread=False), make_context(api="gles")):
        alignment = context.run(
            lambda: (gl.get_integer(gl.GL_UNPACK_ALIGNMENT), gl.get_integer(gl.GL_PACK_ALIGNMENT))
        )
        assert alignment == (1, 1)


@pytest.mark.gpu
@pytest.mark.parametrize("platform", ["", "x11", "glx", "egl"])
def test_pyopengl_imported_before_with_another_platform_does_no_harm(python, platform):
    """The platform is PyOpenGL's own choice at its first import; for "" it guesses, which gives GLX."""
    if platform != "egl" and not has_library("libGL.so.1"):
        pytest.skip("PyOpenGL's GLX platform needs libGL.so.1")
    done = python(
        """
        import os
        from OpenGL import platform
        import OpenGL.GL
        before = type(platform.PLATFORM).__name__
        import numpy as np
        from penstock_gpu import gl, gl_library
        from penstock_gpu.contexts.context import GlContext

        array = np.arange(5 * 7 * 4, dtype=np.uint8).reshape(5, 7, 4)
        back = np.zeros_like(array)

        def draw():
            texture, framebuffer = gl.make("Texture"), gl.make("Framebuffer")
            gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
            gl.glTexStorage2D(gl.GL_TEXTURE_2D, 1, gl.GL_RGBA8, 7, 5)
            gl.upload(array, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
            gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, framebuffer)
            where = gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0
            gl.glFramebufferTexture2D(*where, gl.GL_TEXTURE_2D, texture, 0)
            gl.read_into(back, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
            gl.glBindVertexArray(gl.make("VertexArray"))
            gl.glBindBuffer(gl.GL_ARRAY_BUFFER, gl.make("Buffer"))
            gl.glVertexAttribPointer(0, 2, gl.GL_FLOAT, False, 0, None)
            try:
                gl.glEnable(0x1234)
            except Exception as error:
                print(before, error.call)

        with GlContext.create() as context:
            context.run(draw)
            assert all(name.startswith("GL_") for name in context.extensions), context.extensions
        assert (array == back).all()
        """,
        PYOPENGL_PLATFORM=platform or None,
        DISPLAY=None,
        WAYLAND_DISPLAY=None,
        XDG_SESSION_TYPE=None,
        # So that memory which is read after it was given back holds no text any more: by the C library, or by
        # the only allocator that there is without the interpreter's lock.
        PYTHONMALLOC="mimalloc_debug" if sysconfig.get_config_var("Py_GIL_DISABLED") else "malloc",
        MALLOC_PERTURB_="85",
    )

    assert done.stderr == ""
    assert done.stdout == ("EGLPlatform" if platform == "egl" else "GLXPlatform") + " glEnable\n"


def test_the_environment_is_as_it_was_after_pyopengl_was_imported(python, gl_available):
    done = python(
        """
        import os
        before = dict(os.environ)
        from penstock_gpu.contexts.context import GlContext
        GlContext.create().close()
        from OpenGL import platform
        print(before == dict(os.environ), type(platform.PLATFORM).__name__)
        """,
        PYOPENGL_PLATFORM=None,
    )
    assert (done.stdout, done.stderr) == ("True EGLPlatform\n", "")
