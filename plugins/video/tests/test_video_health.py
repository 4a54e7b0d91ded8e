from __future__ import annotations

import sys

import av
import pytest

from penstock_video import health, libav_encoders
from penstock_video.libav_encoders import encoder_name
from penstock_video.plugin import penstock_doctor


def test_libraries_and_usual_encoders_are_well_with_their_versions():
    libraries, *usual = penstock_doctor()

    assert libraries.is_well
    assert libraries.detail.startswith(f"PyAV {av.__version__}, libavcodec ")
    assert [(check.what, check.is_well, check.detail) for check in usual] == [
        ("encoder for H.264", True, "libx264, licence GPL-2.0-or-later"),
        ("encoder for VP9", True, "libvpx-vp9, licence BSD-3-Clause"),
    ]


def test_the_encoders_that_are_checked_are_those_that_files_get_by_default():
    _, *usual = penstock_doctor()

    found = [check.detail.partition(",")[0] for check in usual]
    assert found == [encoder_name("", ".mp4"), encoder_name("", ".webm")]


def test_the_licence_that_the_build_states_is_told():
    libraries, *_ = penstock_doctor()

    said = av._core.library_meta["libavcodec"]["license"]
    assert libraries.detail.endswith(f"licence of FFmpeg itself: {said}")


def test_without_x264_the_encoder_that_files_get_instead_is_well(monkeypatch):
    found = libav_encoders.is_video_encoder
    monkeypatch.setattr(libav_encoders, "is_video_encoder", lambda name: name != "libx264" and found(name))

    _, *usual = penstock_doctor()

    assert [(each.what, each.is_well) for each in usual] == [
        ("encoder for AV1", True),
        ("encoder for MPEG-4 part 2", True),
        ("encoder for VP9", True),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("libx265", "GPL-2.0-or-later"),
        ("libsvtav1", "BSD-3-Clause-Clear"),
        ("mpeg4", "that of FFmpeg"),
        ("mjpeg", "that of FFmpeg"),
        ("libother", "unknown"),
        ("h264_nvenc", "unknown"),
    ],
)
def test_the_licence_of_an_encoder_is_known_or_said_to_be_unknown(name, expected):
    assert libav_encoders.licence(name) == expected


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
