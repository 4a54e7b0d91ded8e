"""The errors of this pack: no GL is available, a GL call failed, a shader does not compile.

Each error says what to do about it. Importing this module imports no GL.
"""

from __future__ import annotations

import re
from typing import Final

from penstock.errors import InternalError, InvalidArgumentError, UnavailableError

#: The packages that bring GL to a machine without a GPU; with a GPU, the vendor's driver and the first two.
#: Source: `apt-get install` in empty Debian 12 and 13 systems, tried one package after the other.
_PACKAGES: Final = "libegl1 libopengl0 libgl1-mesa-dri (on Debian 13 libegl1 libopengl0)"
INSTALL: Final = f"apt-get install --no-install-recommends {_PACKAGES}"

#: A line of Mesa's list of all overloads of a function, which can have dozens of lines.
_CANDIDATE: Final = re.compile(r"\d+:\d+\(\d+\): error: {2,}")
#: How many such lines a message shows.
_SHOWN: Final = 3

#: What `glGetError` returns, and what it means. Source: OpenGL 4.6 core profile, table 2.3.
_MEANINGS: Final = {
    0x0500: ("GL_INVALID_ENUM", "a constant is not one that this call takes"),
    0x0501: ("GL_INVALID_VALUE", "a number is out of range"),
    0x0502: ("GL_INVALID_OPERATION", "the call is not allowed in this state"),
    0x0503: ("GL_STACK_OVERFLOW", "a stack is full"),
    0x0504: ("GL_STACK_UNDERFLOW", "a stack is empty"),
    0x0505: ("GL_OUT_OF_MEMORY", "there is not enough memory left"),
    0x0506: ("GL_INVALID_FRAMEBUFFER_OPERATION", "the framebuffer is not complete"),
    0x0507: ("GL_CONTEXT_LOST", "the context was lost; make another"),
}


def gl_error_name(code: int) -> str:
    """Return the name of a GL error, such as "GL_INVALID_ENUM", or its number as text."""
    known = _MEANINGS.get(code)
    return known[0] if known else f"0x{code:04X}"


class GpuUnavailableError(UnavailableError):
    """GL is not available here, or no longer. Nothing has changed."""

    def __init__(self, cause: str, cure: str = "", *, node: str | None = None) -> None:
        super().__init__(f"{cause}; {cure}" if cure else cause, node=node)
        #: What is missing or failed, as in the message.
        self.cause = cause
        #: What to do about it, as in the message; "" where that is not known.
        self.cure = cure


class CudaUnavailableError(GpuUnavailableError):
    """CUDA cannot be used here, or not with this OpenGL context; the message says why and what to do."""


class GlError(InternalError):
    """A GL call failed. It has done nothing, and the context can still be used."""

    def __init__(self, call: str, gl_code: int = 0, detail: str = "", *, node: str | None = None) -> None:
        name, meaning = _MEANINGS.get(gl_code, (gl_error_name(gl_code), ""))
        said = [part for part in (name if gl_code else "", detail or meaning) if part]
        super().__init__(f"{call or 'a GL call'} failed: {': '.join(said) or 'no reason given'}", node=node)
        #: The name of the call, such as "glTexImage2D"; "" where it is not known.
        self.call = call
        #: What glGetError returned, such as 0x0500; 0 where the call failed in another way.
        self.gl_code = gl_code


class ShaderError(InvalidArgumentError):
    """A shader does not compile, or a program does not link. Nothing is kept."""

    def __init__(  # noqa: PLR0913  # all that is known about the failure
        self,
        stage: str,
        log: str,
        source: str = "",
        *,
        name: str = "",
        node: str | None = None,
        hint: str = "",
    ) -> None:
        of = f" of {name!r}" if name else ""
        what = (
            f"the program{of} does not link"
            if stage == "link"
            else f"the {stage} shader{of} does not compile"
        )
        text = f"{what}: {_shortened(log.strip()) or 'the driver gives no reason'}"
        if hint:
            text += f"\n{hint}"
        if source:
            text += "\n" + numbered(source)
        super().__init__(text, node=node)
        #: "vertex", "fragment" or "link".
        self.stage = stage
        #: The driver's whole log; the message leaves out most of a list of overloads.
        self.log = log
        #: The compiled source, whose lines count from 1 as in the log; "" for "link".
        self.source = source


def _shortened(log: str) -> str:
    """Return a driver's log with only the first lines of each list of overloads."""
    kept: list[str] = []
    listed = 0
    for line in [*log.splitlines(), ""]:
        listed = listed + 1 if _CANDIDATE.match(line) else -max(listed - _SHOWN, 0)
        if listed < 0:
            kept.append(f"... and {-listed} more, see the error's log")
            listed = 0
        if listed <= _SHOWN:
            kept.append(line)
    return "\n".join(kept[:-1])


def numbered(source: str) -> str:
    """Return `source` with the number of each line before it, counted from 1."""
    lines = source.splitlines()
    width = len(str(len(lines)))
    return "\n".join(f"{number:{width}}: {line}" for number, line in enumerate(lines, 1))
