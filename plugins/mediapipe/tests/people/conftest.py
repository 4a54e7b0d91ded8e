"""Models, pictures and videos for the tests of the pack; where one is missing, tests skip and say so."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from penstock_cli.main import penstock_command

PICTURES = Path(__file__).resolve().parents[4].parent / "shared" / "cases" / "door"


@pytest.fixture
def invoke():
    """Return a function that runs the command: arguments → click's result."""
    return lambda *arguments: CliRunner().invoke(penstock_command, [str(one) for one in arguments])


@pytest.fixture(scope="session")
def models():
    """Skip where MediaPipe's models or their runtime are missing."""
    pytest.importorskip(
        "ai_edge_litert", reason='no ai-edge-litert: pip install "penstock-mediapipe[litert]"'
    )
    from penstock.errors import NotFoundError  # as below
    from penstock_tensors.models.resource_finder import ResourceFinder  # after the runtime was found

    try:
        ResourceFinder().find("mediapipe/modules/hand_landmark/hand_landmark_full.tflite")
    except NotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def film(tmp_path_factory, models):
    """Return a function: the name of a picture → a video of 12 frames in which it moves."""

    def make(name: str) -> Path:
        picture = cv2.imread(str(PICTURES / f"{name}.png"))
        if picture is None:
            pytest.skip(f"no picture {PICTURES / name}.png")
        path = tmp_path_factory.mktemp("film") / f"{name}.mp4"
        height, width = (side // 2 * 2 for side in picture.shape[:2])
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=25, options={"crf": "18"})
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            for index in range(12):
                moved = np.roll(picture[:height, :width], (2 * index, 3 * index), axis=(0, 1))
                container.mux(stream.encode(av.VideoFrame.from_ndarray(moved, format="bgr24")))
            container.mux(stream.encode(None))
        return path

    return make
