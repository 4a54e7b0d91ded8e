"""What makes programs of graphs travel: which files and modules of packs a frozen program needs.

Packs name their components in strings, and hold graphs as data: no bundler finds them by following imports.
`pack_contents` lists what all installed packs consist of. `hooks` gives it to PyInstaller, which finds the
folder by the core's entry point `pyinstaller40`; for other bundlers `python -m penstock.freezing` writes a
module that imports it all, with a table of the packs for their metadata (`table`), and prints options.
"""

from __future__ import annotations

from pathlib import Path


def hook_dirs() -> list[str]:
    """Return the folders in which PyInstaller finds hooks; called by it."""
    return [str(Path(__file__).parent / "hooks")]
