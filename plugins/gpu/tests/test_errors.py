from __future__ import annotations

import pickle

import pytest

from penstock import PenstockError, StatusCode
from penstock_gpu.errors import GlError, GpuUnavailableError, ShaderError, gl_error_name


def test_a_missing_gpu_says_cause_and_cure():
    error = GpuUnavailableError("libEGL.so.1 not found", "apt-get install libegl1")

    assert str(error) == "libEGL.so.1 not found; apt-get install libegl1"
    assert (error.cause, error.cure, error.code) == (
        "libEGL.so.1 not found",
        "apt-get install libegl1",
        StatusCode.UNAVAILABLE,
    )


def test_a_failing_call_names_itself_and_the_error_of_gl():
    error = GlError("glTexImage2D", 0x0501)

    assert str(error) == "glTexImage2D failed: GL_INVALID_VALUE: a number is out of range"
    assert (error.call, error.gl_code, error.code) == ("glTexImage2D", 0x0501, StatusCode.INTERNAL)


def test_a_failing_call_of_an_unknown_error_gives_its_number():
    assert str(GlError("glFoo", 0x9999)) == "glFoo failed: 0x9999"
    assert gl_error_name(0x0505) == "GL_OUT_OF_MEMORY"


def test_a_shader_error_has_the_log_and_numbered_lines():
    source = "\n".join(["#version 330", "void main() {", *["  // line"] * 8, "}"])
    error = ShaderError("fragment", "0:3(1): error: oops\n", source, name="sepia")

    assert str(error).startswith("the fragment shader of 'sepia' does not compile: 0:3(1): error: oops\n")
    assert "\n 1: #version 330\n 2: void main() {\n" in str(error)
    assert str(error).endswith("\n11: }")
    assert isinstance(error, ValueError)
    assert (error.stage, error.log, error.source) == ("fragment", "0:3(1): error: oops\n", source)


def test_of_a_list_of_overloads_the_message_shows_the_first_and_the_log_all():
    first, last = "0:1(4): error: `image' undeclared", "0:9(1): error: no function with name 'blur'"
    listed = [f"0:1(2): error:    vec4 texture({kind})" for kind in "abcdefg"]
    log = "\n".join([first, *listed, last, *listed[:4]])
    error = ShaderError("fragment", log)

    assert str(error).splitlines()[1:] == [
        *listed[:3],
        "... and 4 more, see the error's log",
        last,
        *listed[:3],
        "... and 1 more, see the error's log",
    ]
    assert error.log == log
    assert listed[2] in str(ShaderError("fragment", "\n".join(listed[:3])))
    assert "more" not in str(ShaderError("fragment", "\n".join([*listed[:3], last])))


def test_a_program_that_does_not_link_says_so():
    assert (
        str(ShaderError("link", "", name="x"))
        == "the program of 'x' does not link: the driver gives no reason"
    )


@pytest.mark.parametrize(
    "error",
    [
        GpuUnavailableError("no", "yes"),
        GlError("glFoo", 0x0500),
        ShaderError("vertex", "log", "source", name="n"),
    ],
)
def test_errors_survive_pickling(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # made here

    assert type(again) is type(error)
    assert isinstance(again, PenstockError)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
