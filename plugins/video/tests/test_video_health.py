from __future__ import annotations

import sys

import av

from penstock_video import health
from penstock_video.plugin import penstock_doctor
from penstock_video.encoders import encoder_name


def test_libraries_and_usual_encoders_are_well_with_their_versions():
    libraries, *encoders = penstock_doctor()

    assert libraries.is_well
    assert libraries.detail.startswith(f"PyAV {av.__version__}, libavcodec ")
    assert [(check.what, check.is_well, check.detail) for check in encoders] == [
        ("encoder for H.264", True, "libx264"),
        ("encoder for VP9", True, "libvpx-vp9"),
    ]


def test_the_encoders_that_are_checked_are_those_that_files_get_by_default():
    _, *encoders = penstock_doctor()

    assert [check.detail for check in encoders] == [encoder_name("", ".mp4"), encoder_name("", ".webm")]


def test_an_encoder_that_is_missing_is_not_well():
    _, encoder = health.checks([("no-such-encoder", "Video")])

    assert (encoder.what, encoder.is_well) == ("encoder for Video", False)
    assert encoder.detail == "this build has no 'no-such-encoder'"
    assert encoder.cure.startswith("use a PyAV wheel from PyPI")


def test_a_pyav_that_cannot_be_imported_is_not_well(tmp_path, monkeypatch):
    (tmp_path / "av.py").write_text('raise ImportError("half of it is missing")')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "av")

    (libraries,) = penstock_doctor()

    assert (libraries.is_well, libraries.detail) == (False, "ImportError: half of it is missing")
