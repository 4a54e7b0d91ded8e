"""The text of shaders: the header before a user's text, and the declarations in it. Calls no GL.

A shader is written once, without `#version`, and completed for desktop GL 3.3 or GLES 3.0. Lines keep their
numbers: line 7 in the driver's log is line 7 of the user's text.

Source of the versions and their rules: The OpenGL Shading Language 3.30, and OpenGL ES Shading Language 3.00.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Stage = Literal["vertex", "fragment"]

#: The default vertex shader: it draws the image over the whole viewport, unturned.
VERTEX: Final = """\
in vec4 position;
in vec4 texture_coordinate;
out vec2 sample_coordinate;

void main() {
  gl_Position = position;
  sample_coordinate = texture_coordinate.xy;
}
"""

_GL: Final = ("#version 330 core",)
#: `sampler2D` is lowp by default, and drivers do lower its precision.
_GLES: Final = (
    "#version 300 es",
    "precision highp float;",
    "precision highp int;",
    "precision highp sampler2D;",
)
#: Names of older versions, and of shaders written for the reference.
_OLDER: Final = ("#define texture2D texture", "#define DEFAULT_PRECISION(precision_, type_)")

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_VERSION: Final = re.compile(r"\s*#\s*version\b")
_EXTENSION: Final = re.compile(r"^[ \t]*#[ \t]*extension\b[^\n]*", re.MULTILINE)
_DECLARATION: Final = re.compile(
    r"\b(?P<storage>uniform|in|out|varying|attribute)\s+"
    r"(?:(?:lowp|mediump|highp|flat|smooth|centroid)\s+)*"
    r"(?P<kind>[A-Za-z_]\w*)\s+(?P<names>[A-Za-z_][^;{}()]*?(?:=[^;{}]*)?);"
)
_NAME: Final = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\[\s*(?P<length>\w*)\s*\])?\s*(?:=|$)", re.DOTALL)


@attrs.frozen
class Declaration:
    """One global variable that a shader declares."""

    #: "uniform", "in", "out", or the older "varying", "attribute".
    storage: str
    #: GLSL's name of the type: "vec3".
    kind: str
    #: The name of the variable.
    name: str
    #: The number of elements of an array; 1 if it is no array; 0 if the text gives it as a name.
    length: int = 1


def declarations(text: str) -> tuple[Declaration, ...]:
    """Return the global variables that a shader declares, in order; `#if` is ignored."""
    return tuple(_declarations(_without_comments(text)))


def complete(
    stage: Stage,
    text: str,
    *,
    is_es: bool,
    samplers: Iterable[str] = (),
    defines: Mapping[str, object] | None = None,
) -> str:
    """Return a complete shader: the text after the header that it leaves out.

    A text that has its own `#version` is returned unchanged. Else it gets the version, high precision for all
    floats, ints and 2D samplers, `texture2D` as a name of `texture`; a fragment shader also `in vec2
    sample_coordinate`, an output with the name `gl_FragColor`, and the samplers, each unless the text
    declares it itself. `#extension` lines are moved to where they must be.

    Args:
        stage: "vertex" or "fragment".
        text: GLSL.
        is_es: for GLES 3.0; else for desktop GL 3.3.
        samplers: names of 2D textures that the fragment shader may read.
        defines: macros, name → value.
    """
    bare = _without_comments(text)
    if _VERSION.match(bare):
        return text
    extensions = [match.group().strip() for match in _EXTENSION.finditer(bare)]
    version, *precision = _GLES if is_es else _GL
    lines = [version, *extensions, *precision, *_OLDER]
    lines += [f"#define {name} {value}" for name, value in (defines or {}).items()]
    if stage == "fragment":
        lines += ["#define varying in", *_fragment_lines(bare, samplers)]
    else:
        lines += ["#define attribute in", "#define varying out"]
    body = _EXTENSION.sub("", text) if extensions else text
    return "\n".join([*lines, "#line 1", body])


def _fragment_lines(bare: str, samplers: Iterable[str]) -> Iterator[str]:
    declared = tuple(_declarations(bare))
    names = {one.name for one in declared}
    if "sample_coordinate" not in names:
        yield "in vec2 sample_coordinate;"
    if not any(one.storage == "out" for one in declared):
        yield "out vec4 penstock_color;"
        yield "#define gl_FragColor penstock_color"
    for name in samplers:
        if name not in names:
            yield f"uniform sampler2D {name};"


def _declarations(bare: str) -> Iterator[Declaration]:
    for match in _DECLARATION.finditer(bare):
        for part in match["names"].split(","):
            one = _NAME.match(part)
            if one is not None:
                given = one["length"]
                length = 1 if given is None else int(given) if given.isdigit() else 0
                yield Declaration(match["storage"], match["kind"], one["name"], length)


def _without_comments(text: str) -> str:
    """Return the text with blanks for comments; line numbers stay the same."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
