from __future__ import annotations

import builtins
import importlib.metadata

import cv2
import pytest

from penstock_image.plugin import penstock_doctor


@pytest.fixture
def installed(monkeypatch):
    """Return a function that makes exactly the named distributions look installed."""

    def install(*names):
        def version(name):
            if name not in names:
                raise importlib.metadata.PackageNotFoundError(name)
            return "1.0"

        monkeypatch.setattr(importlib.metadata, "version", version)

    return install


def test_opencv_is_well_with_its_version(installed):
    installed("opencv-python-headless")

    opencv, holders = penstock_doctor()

    assert (opencv.is_well, opencv.detail.split(",")[0]) == (True, cv2.__version__)
    assert (holders.is_well, holders.detail) == (True, "opencv-python-headless")


def test_two_distributions_with_one_package_are_not_well(installed):
    installed("opencv-python", "opencv-python-headless")

    _, holders = penstock_doctor()

    assert not holders.is_well
    assert holders.detail == "opencv-python-headless, opencv-python overwrite each other's files"
    assert holders.cure == (
        "pip uninstall opencv-python-headless opencv-python; pip install opencv-python-headless"
    )


def test_an_opencv_that_cannot_be_imported_is_not_well(monkeypatch):
    def refuse(name, *arguments, **more):
        if name == "cv2":
            raise ImportError("libGL.so.1: cannot open shared object file")
        return real(name, *arguments, **more)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", refuse)

    opencv, _ = penstock_doctor()

    assert (opencv.is_well, opencv.detail) == (
        False,
        "ImportError: libGL.so.1: cannot open shared object file",
    )
    assert opencv.cure == "pip install --force-reinstall opencv-python-headless"
