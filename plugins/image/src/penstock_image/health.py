"""What the pack needs of this machine: OpenCV, once. Imported when somebody asks."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Final

from penstock import DoctorCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The one that the pack requires; it needs no library of a desktop.
_WANTED: Final = "opencv-python-headless"
#: Distributions that hold a package `cv2`: whichever is installed last overwrites the others' files.
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
        import cv2  # that it may fail is the question
    except Exception as error:  # noqa: BLE001  # a missing system library, half of an installation, ...
        cure = f"pip install --force-reinstall {_WANTED}"
        return DoctorCheck("OpenCV", is_well=False, detail=f"{type(error).__name__}: {error}", cure=cure)
    threads = cv2.getNumThreads()
    return DoctorCheck("OpenCV", is_well=True, detail=f"{cv2.__version__}, {threads} threads")


def _holders() -> DoctorCheck:
    there = [name for name in _HOLDERS if _is_installed(name)]
    what = "distributions with cv2"
    if len(there) < 2:  # noqa: PLR2004  # one, or none, which is the other check's business
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
