from __future__ import annotations

import builtins

import av
import pytest

from penstock_video import health
from penstock_video.plugin import penstock_doctor
from penstock_video.writer import encoder_name


def test_libraries_and_usual_encoders_are_well_with_their_versions():
    libraries, *encoders = penstock_doctor()

    assert libraries.is_well
    assert libraries.detail.startswith(f"PyAV {av.__version__}, libavcodec ")
    assert [(check.what, check.is_well, check.detail) for check in encoders] == [
        ("encoder for H.264", True, "libx264"),
        ("encoder for VP9", True, "libvpx-vp9"),
    ]


@pytest.mark.parametrize(("suffix", "at"), [(".mp4", 0), (".webm", 1)])
def test_the_encoders_looked_at_are_those_that_files_get(suffix, at):
    assert health._ENCODERS[at][0] == encoder_name("", suffix)


def test_an_encoder_that_is_missing_is_not_well(monkeypatch):
    monkeypatch.setattr(health, "_ENCODERS", (("no-such-encoder", "Video"),))

    _, encoder = penstock_doctor()

    assert (encoder.what, encoder.is_well) == ("encoder for Video", False)
    assert encoder.detail == "this build has no 'no-such-encoder'"
    assert encoder.cure.startswith("use a PyAV wheel from PyPI")


def test_a_pyav_that_cannot_be_imported_is_not_well(monkeypatch):
    def refuse(name, *arguments, **more):
        if name == "av":
            raise ImportError("half of it is missing")
        return real(name, *arguments, **more)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", refuse)

    (libraries,) = penstock_doctor()

    assert (libraries.is_well, libraries.detail) == (False, "ImportError: half of it is missing")
