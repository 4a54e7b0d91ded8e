"""Checks whether OpenCV is installed, and only once. Imported when `penstock doctor` runs."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Final

from penstock import DoctorCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The distribution that the pack requires; it needs no desktop libraries.
_WANTED: Final = "opencv-python-headless"
#: Distributions with a package `cv2`: the one installed last overwrites the others' files.
#: Source: README of opencv-python on PyPI, "Installation and Usage".
_HOLDERS: Final = (
    _WANTED,
    "opencv-contrib-python-headless",
    "opencv-python",
    "opencv-contrib-python",
)


def checks() -> Iterator[DoctorCheck]:
    """Yield whether OpenCV can be imported, and whether it is installed more than once."""
    yield _opencv()
    yield _holders()


def _opencv() -> DoctorCheck:
    try:
        import cv2  # whether this fails is what the check reports
    except Exception as error:  # noqa: BLE001  # a missing system library, half of an installation, ...
        cure = f"pip install --force-reinstall {_WANTED}"
        return DoctorCheck("OpenCV", is_well=False, detail=f"{type(error).__name__}: {error}", cure=cure)
    threads = cv2.getNumThreads()
    return DoctorCheck("OpenCV", is_well=True, detail=f"{cv2.__version__}, {threads} threads")


def _holders() -> DoctorCheck:
    there = [name for name in _HOLDERS if _is_installed(name)]
    what = "distributions with cv2"
    if len(there) < 2:  # noqa: PLR2004  # one, or none: the other check reports a missing one
        return DoctorCheck(what, is_well=True, detail=", ".join(there) or "none")
    return DoctorCheck(
        what,
        is_well=False,
        detail=f"{', '.join(there)} overwrite each other's files",
        cure=f"pip uninstall {' '.join(there)}; pip install {_WANTED}",
    )


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
