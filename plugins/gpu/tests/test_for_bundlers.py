"""What is imported by name stands where bundlers of programs look for it."""

from __future__ import annotations

import ast
import inspect

from penstock_gpu import for_bundlers, gl_library


def test_bundlers_find_all_raw_modules_and_the_platform() -> None:
    nodes = ast.walk(ast.parse(inspect.getsource(for_bundlers)))
    followed = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}

    assert followed >= {f"OpenGL.raw.GL.VERSION.GL_{version}" for version in gl_library._VERSIONS}  # the list
    assert "OpenGL.platform.egl" in followed
