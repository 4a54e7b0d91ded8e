"""Pictures, and what the reference's graphs made of them, from `../shared/cases/door` beside the repository.

Tests that need them, MediaPipe's models or the models' runtime skip where these are missing.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import cv2
import numpy as np
import pytest

RECORDED_RUNS = Path(__file__).resolve().parents[4].parent / "shared" / "cases" / "door"


def _rgb(name):
    path = RECORDED_RUNS / f"{name}.png"
    if not path.is_file():
        pytest.skip(f"the picture is not here: {path}")
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)


@pytest.fixture(scope="session")
def picture():
    """Return a function: the name of a picture → a red, green and blue array."""
    return _rgb


@pytest.fixture(scope="session")
def picture_file():
    """Return a function: the name of a picture → its path, as text."""

    def find(name):
        _rgb(name)
        return str(RECORDED_RUNS / f"{name}.png")

    return find


@pytest.fixture(scope="session")
def frames():
    """Return a function: the name of a picture and a number → as many frames, in which it moves."""

    def make(name, count):
        return [np.roll(_rgb(name), (4 * k, 6 * k), axis=(0, 1)) for k in range(count)]

    return make


@pytest.fixture(scope="session")
def recorded():
    """Return a function: the name of a run and a stream → timestamp → record."""

    def read(run, stream):
        with gzip.open(RECORDED_RUNS / "reference" / f"{run}.json.gz", "rt") as file:
            streams = json.load(file)["streams"]
        return {record["t"]: record for record in streams.get(stream, ())}

    return read


@pytest.fixture(scope="session")
def models():
    """Skip where the models or their runtime are missing; return where the models are."""
    pytest.importorskip(
        "ai_edge_litert",
        reason='no ai-edge-litert: pip install "penstock-mediapipe[litert]"',
        exc_type=ImportError,
    )
    named = os.environ.get("PENSTOCK_MEDIAPIPE_MODELS")
    if not named:
        pytest.skip("PENSTOCK_MEDIAPIPE_MODELS does not name the wheel of mediapipe==0.10.21")
    return Path(named)
