"""Programs: a vertex and a fragment shader, compiled and linked, with uniforms that are set by name."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any, Final, final

from penstock.errors import FailedPreconditionError
from penstock_gpu import gl
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.drawing.glsl import VERTEX, complete, declarations
from penstock_gpu.drawing.uniform_values import KINDS, check_uniform_name, numbers, setter, type_name
from penstock_gpu.drawing.vertex_attributes import ATTRIBUTES
from penstock_gpu.errors import ShaderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock_gpu.drawing.uniform_values import UniformValue


_LONGEST_NAME: Final = 256


@final
class GlProgram:
    """A program of the context that is current when it is made, and of those that share with it.

    The sources are written once, without `#version`, and get the header that desktop GL 3.3 or GLES 3.0
    needs; see `penstock_gpu.drawing.glsl.complete`. An image is drawn with it like this, in a job of the
    context and with a framebuffer bound::

        text = "void main() { gl_FragColor = texture(frame, sample_coordinate).bgra; }"
        program = GlProgram(text, samplers=["frame"])
        program.set("frame", 1)  # the texture that is bound to unit GL_TEXTURE1
        draw_quad()

    Uniforms keep their values until they are set again. One thread uses a program at a time.

    Args:
        fragment: the fragment shader's text. It may read `sample_coordinate`, 0 to 1 over the viewport.
        vertex: the vertex shader's text, with the attributes `position` and `texture_coordinate`; None
            draws the texture unchanged.
        name: its name in errors, such as a calculator's or a node's name.
        samplers: names of 2D textures, declared in the fragment shader if it does not declare them.
        defines: macros for both, name → value.
        attributes: the location of each vertex attribute, if the vertex shader has other names.

    Raises:
        ShaderError: a shader does not compile, with the driver's log and the text's numbered lines, or
            they do not link. Nothing is kept.
        FailedPreconditionError: no context is current.
    """

    def __init__(  # noqa: PLR0913  # the parts of a program
        self,
        fragment: str,
        vertex: str | None = None,
        *,
        name: str = "",
        samplers: Iterable[str] = (),
        defines: Mapping[str, object] | None = None,
        attributes: Mapping[str, int] | None = None,
    ) -> None:
        context = GlContext.current()
        is_es = _is_es(context)
        samplers = tuple(samplers)
        vertex = VERTEX if vertex is None else vertex
        whole_vertex = complete("vertex", vertex, is_es=is_es, defines=defines)
        whole = complete("fragment", fragment, is_es=is_es, samplers=samplers, defines=defines)
        numbers_of = ATTRIBUTES if attributes is None else attributes
        #: As given.
        self.name: Final = name
        try:
            #: Its GL name; 0 once it is deleted.
            self.handle = gl.compile_program(whole_vertex, whole, numbers_of, name)
        except ShaderError as error:
            written = {"vertex": vertex, "fragment": fragment}.get(error.stage, "")
            hint = ""
            if error.stage == "fragment" and samplers and whole != fragment:
                names = ", ".join(("sample_coordinate", *samplers))
                hint = f"it may read without declaring them: {names}"
            raise ShaderError(error.stage, error.log, written, name=name, hint=hint) from None
        self._finalizer = weakref.finalize(self, _forget, context, self.handle)
        self._finalizer.atexit = False
        self._declared: Final = dict.fromkeys(samplers, 1) | {
            one.name: one.length
            for text in (vertex, fragment)
            for one in declarations(text)
            if one.storage == "uniform"
        }
        #: Name → GLSL type, such as "vec3" or "float[9]", of the uniforms that the program uses.
        self._setters, self.uniforms = _uniforms(self.handle, self._declared)

    def use(self) -> None:
        """Make it the current program.

        Raises:
            FailedPreconditionError: it is deleted.
        """
        if not self.handle:
            raise FailedPreconditionError(f"{_called(self.name)} is deleted; make another program")
        gl.glUseProgram(self.handle)

    def set(self, name: str, value: UniformValue) -> None:
        """Set a uniform; this also makes the program current.

        Nothing is set for a uniform that the shaders declare and do not use: GL does not have it.

        Args:
            name: the uniform's name; for an array, without brackets.
            value: as many numbers as its type has, in any nesting; matrices row by row; for a sampler the
                number of the texture unit: 1 for GL_TEXTURE1.

        Raises:
            InvalidArgumentError: there is no such uniform, or the value does not fit. Nothing is set.
            FailedPreconditionError: it is deleted.
        """
        found = self._setters.get(name)
        if found is None:
            check_uniform_name(name, {*self._setters, *self._declared}, self.name)
        self.use()
        if found is not None:
            kind, length, put = found
            put(numbers(name, kind, length, value))

    def delete(self) -> None:
        """Delete it, in its context; it also goes with its last reference. A second call does nothing."""
        if self._finalizer.detach() is not None:
            handle, self.handle = self.handle, 0
            if gl.get_integer(gl.GL_CURRENT_PROGRAM) == handle:  # else it stays until another is used
                gl.glUseProgram(0)
            gl.glDeleteProgram(handle)

    def __repr__(self) -> str:
        return f"<GlProgram {self.name!r} {getattr(self, 'handle', 0)}>"


def _called(program: str) -> str:
    return f"program {program!r}" if program else "this program"


def _uniforms(
    handle: int, declared: Mapping[str, int]
) -> tuple[dict[str, tuple[str, int, Callable[[Sequence[Any]], None]]], dict[str, str]]:
    """Return the active uniforms of a program: name → type, length and setter; name → type as text."""
    count = ctypes.c_int32()
    gl.glGetProgramiv(handle, gl.GL_ACTIVE_UNIFORMS, ctypes.byref(count))
    setters, kinds = {}, {}
    for index in range(count.value):
        size, kind, written = ctypes.c_int32(), ctypes.c_uint32(), ctypes.c_int32()
        buffer = ctypes.create_string_buffer(_LONGEST_NAME)
        gl.glGetActiveUniform(
            handle,
            index,
            _LONGEST_NAME,
            ctypes.byref(written),
            ctypes.byref(size),
            ctypes.byref(kind),
            buffer,
        )
        location = int(gl.glGetUniformLocation(handle, buffer.value))
        if location < 0:  # in a uniform block, or GL's own
            continue
        name, type_of = buffer.value.decode().removesuffix("[0]"), type_name(kind.value)
        known = KINDS.get(type_of)
        is_array = buffer.value.endswith(b"[0]")
        # for an array GL counts only the elements that are used
        length = declared.get(name, 0) if is_array else 1
        put = _nothing if known is None else setter(known, location, is_array=is_array)
        setters[name] = (type_of, length, put)
        kinds[name] = f"{type_of}[{length or ''}]" if is_array else type_of
    return setters, kinds


def _nothing(_: Sequence[Any]) -> None:
    """Never called: `numbers` refuses a type that is not known."""


def _is_es(context: GlContext | None) -> bool:
    """Return whether the current context, ours or the application's, is of GLES."""
    if context is not None:
        return bool(context.api == "gles")
    return gl.get_string(gl.GL_VERSION).startswith("OpenGL ES")


def _forget(context: GlContext | None, handle: int) -> None:
    """Delete an unreferenced program. A finaliser on any thread calls this, so it only posts a job."""
    if context is not None:
        context.share_group.discard(lambda: gl.glDeleteProgram(handle), context)
