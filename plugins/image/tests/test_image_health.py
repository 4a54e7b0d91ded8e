from __future__ import annotations

import sys

import cv2

from penstock_image.plugin import penstock_doctor


def test_opencv_is_well_with_its_version():
    opencv, holders = penstock_doctor()

    assert (opencv.is_well, opencv.detail.split(",")[0]) == (True, cv2.__version__)
    assert (holders.is_well, holders.detail) == (True, "opencv-python-headless")


def test_two_distributions_with_one_package_are_not_well(tmp_path, monkeypatch):
    metadata = tmp_path / "opencv_python-5.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: opencv-python\nVersion: 5.0\n")
    monkeypatch.syspath_prepend(tmp_path)

    _, holders = penstock_doctor()

    assert not holders.is_well
    assert holders.detail == "opencv-python-headless, opencv-python overwrite each other's files"
    assert holders.cure == (
        "pip uninstall opencv-python-headless opencv-python; pip install opencv-python-headless"
    )


def test_an_opencv_that_cannot_be_imported_is_not_well(tmp_path, monkeypatch):
    (tmp_path / "cv2.py").write_text('raise ImportError("libGL.so.1: cannot open shared object file")')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cv2")

    opencv, _ = penstock_doctor()

    assert (opencv.is_well, opencv.detail) == (
        False,
        "ImportError: libGL.so.1: cannot open shared object file",
    )
    assert opencv.cure == "pip install --force-reinstall opencv-python-headless"
