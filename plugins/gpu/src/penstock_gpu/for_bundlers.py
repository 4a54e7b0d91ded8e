"""What this pack imports by name, so that bundlers of programs see it: PyInstaller and its like.

They follow imports wherever they stand, and none that is made of strings.
"""

# mypy: disable-error-code="import-untyped"
# ruff: noqa: F401  # nothing here is used


def _followed_by_bundlers() -> None:
    """Import the platform of PyOpenGL and its raw modules; nobody calls this."""
    import OpenGL.arrays.ctypesarrays
    import OpenGL.arrays.numpymodule
    import OpenGL.platform.egl
    import OpenGL.raw.GL.VERSION.GL_1_0
    import OpenGL.raw.GL.VERSION.GL_1_1
    import OpenGL.raw.GL.VERSION.GL_1_2
    import OpenGL.raw.GL.VERSION.GL_1_3
    import OpenGL.raw.GL.VERSION.GL_1_4
    import OpenGL.raw.GL.VERSION.GL_1_5
    import OpenGL.raw.GL.VERSION.GL_2_0
    import OpenGL.raw.GL.VERSION.GL_2_1
    import OpenGL.raw.GL.VERSION.GL_3_0
    import OpenGL.raw.GL.VERSION.GL_3_1
    import OpenGL.raw.GL.VERSION.GL_3_2
    import OpenGL.raw.GL.VERSION.GL_3_3
    import OpenGL.raw.GL.VERSION.GL_4_0
    import OpenGL.raw.GL.VERSION.GL_4_1
    import OpenGL.raw.GL.VERSION.GL_4_2
    import OpenGL.raw.GL.VERSION.GL_4_3
    import OpenGL.raw.GL.VERSION.GL_4_4
    import OpenGL.raw.GL.VERSION.GL_4_5
    import OpenGL.raw.GL.VERSION.GL_4_6
