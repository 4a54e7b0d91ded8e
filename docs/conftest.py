"""Every code block of the documentation is run: it must work, and print the output that the page shows.

Blocks of one page share their names and a temporary directory, and run in order:

* `python` is executed; a block `output` after it is its output (`...` matches anything).
* `console`: each line that begins with `$ ` is run by the shell and must succeed, or exit with the code
  that a comment `# exits with N` promises; `output` after it is the output of the last line.
* `protobuf` must be graph text, `toml`, `yaml` and `json` must parse. `text` is a drawing or a quotation.

A block that cannot be run here has a line before it: `% skip: next "why"`. Blocks that need OpenGL come after
`% skip: start if(why_no_gl(), reason=why_no_gl())`; if PENSTOCK_REQUIRE_GL is 1 they are always run. Blocks
that make and run .onnx models come after the same line with `why_no_models()`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from sybil import Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.myst import CodeBlockParser, SkipParser

if TYPE_CHECKING:
    from sybil import Document, Example

#: Pages whose code takes much of a small machine.
_HEAVY: Final = {"a-folder-of-videos.md", "use-opencv.md", "a-graph-as-a-service.md", "opencv.md"}
_PRINTED: Final = "__printed__"
_HOME: Final = "__home__"
_LANGUAGES: Final = {"python", "output", "console", "protobuf", "toml", "json", "text", "mermaid", "yaml"}
_DOCS: Final = Path(__file__).parent
_CONSOLE_TIMEOUT_S: Final = 100
_run_python: Final = PythonEvaluator()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the blocks of pages that are heavy."""
    for item in items:
        if item.path.name in _HEAVY and item.path.is_relative_to(_DOCS):
            item.add_marker(pytest.mark.heavy)


def _python(example: Example) -> str | None:
    example.namespace.pop(_PRINTED, None)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        failure: str | None = _run_python(example)
    example.namespace[_PRINTED] = printed.getvalue()
    return failure


def _output(example: Example) -> str | None:
    printed = example.namespace.get(_PRINTED)
    if printed is None:
        return "there is no block before this one that prints"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if doctest.OutputChecker().check_output(example.parsed, printed, flags):
        return None
    return (
        f"expected:\n{textwrap.indent(example.parsed, '    ')}\nprinted:\n{textwrap.indent(printed, '    ')}"
    )


def _console(example: Example) -> str | None:
    programs = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    for line in example.parsed.splitlines():
        if not line.startswith("$ "):
            continue
        promised = re.search(r"# exits with (\d+)", line)
        done = subprocess.run(  # noqa: S603  # a command of the page itself
            ["bash", "-c", line[2:]],  # noqa: S607  # the shell of the page's readers
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_CONSOLE_TIMEOUT_S,
        )
        example.namespace[_PRINTED] = done.stdout
        if done.returncode != (int(promised[1]) if promised else 0):
            return f"{line}\nexited with {done.returncode}:\n{done.stdout}"
    return None


def _graph(example: Example) -> None:
    from penstock.config import read_graph  # only where a page has a graph
    from penstock.plugins.default_registry import default_registry

    read_graph(str(example.parsed), default_registry())


def _json(example: Example) -> None:
    json.loads(example.parsed)


def _toml(example: Example) -> None:
    tomllib.loads(example.parsed)


def _yaml(example: Example) -> None:
    yaml.safe_load(example.parsed)


def _nothing(_: Example) -> None:
    """Take a block that is not code."""


_EVALUATORS: Final[dict[str, Any]] = {
    "python": _python,
    "output": _output,
    "console": _console,
    "protobuf": _graph,
    "json": _json,
    "toml": _toml,
    "yaml": _yaml,
    "text": _nothing,
    "mermaid": _nothing,
}


def why_no_models() -> str:
    """Return why .onnx models cannot be made and run here, "" if they can."""
    missing = [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]
    wanted = " and ".join(missing)
    return f"{wanted} not installed: penstock-detect[onnx,testing] brings them" if missing else ""


@cache
def why_no_gl() -> str:
    """Return why blocks that need OpenGL cannot be run here; "" where they can, or must."""
    from penstock_gpu import GlContext, GpuUnavailableError  # only where a page asks

    if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
        return ""
    try:
        GlContext.create().close()
    except GpuUnavailableError as error:
        return f"no OpenGL: {error}"
    return ""


class _KnownLanguages:
    """Fails for a block whose language has no evaluator."""

    _FENCE: Final = re.compile(
        r"^(?P<ticks>`{3,})(?P<language>[^\n`]*)\n.*?^(?P=ticks)$", re.MULTILINE | re.DOTALL
    )

    def __call__(self, document: Document) -> list[Any]:
        for fence in self._FENCE.finditer(document.text):
            language = fence["language"].strip()
            if language not in _LANGUAGES and not language.startswith("{"):
                line = document.text.count("\n", 0, fence.start()) + 1
                raise ValueError(
                    f"{document.path}:{line}: code block of {language!r}; must be one of "
                    f"{', '.join(sorted(_LANGUAGES))}"
                )
        return []


def _enter(namespace: dict[str, Any]) -> None:
    namespace[_HOME] = (os.getcwd(), tempfile.TemporaryDirectory(prefix="penstock-docs-"))  # noqa: PTH109  # as chdir wants it
    os.chdir(namespace[_HOME][1].name)
    # As in a script. Under this name the next page may register the same names again.
    namespace["__name__"] = "__main__"
    namespace["why_no_gl"] = why_no_gl
    namespace["why_no_models"] = why_no_models


def _leave(namespace: dict[str, Any]) -> None:
    before, directory = namespace[_HOME]
    os.chdir(before)
    directory.cleanup()


pytest_collect_file = Sybil(
    parsers=[
        *(CodeBlockParser(language, evaluator) for language, evaluator in _EVALUATORS.items()),
        SkipParser(),
        _KnownLanguages(),
    ],
    patterns=["*.md"],
    excludes=["reference/calculators/*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
