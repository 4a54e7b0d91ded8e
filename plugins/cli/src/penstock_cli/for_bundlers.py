"""What this pack imports by name, so that bundlers of programs see it: PyInstaller and its like.

They follow imports wherever they stand, and none that is made of strings.
"""

# mypy: disable-error-code="import-untyped,import-not-found,unused-ignore"
# ruff: noqa: F401  # nothing here is used


def _followed_by_bundlers() -> None:
    """Import what opens windows; nobody calls this."""
    import glfw
