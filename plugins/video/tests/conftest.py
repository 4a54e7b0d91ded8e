"""Small video files made by the tests, and one real film if it is there beside the repository."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FILM = DATA / "bigbuckbunny.mp4"
#: Films of MediaPipe's tests: 180 frames in six seconds.
REFERENCE = DATA / "reference" / "calculators" / "video"


@pytest.fixture
def film() -> Path:
    if not FILM.exists():
        pytest.skip(f"the real film is not here: {FILM}")
    return FILM


@pytest.fixture
def reference_film() -> Callable[[str], Path]:
    """Return a function that finds a film of the reference's tests, or skips the test."""

    def find(name: str) -> Path:
        path = REFERENCE / f"format_{name}.video"
        if not path.exists():
            pytest.skip(f"the reference's film is not here: {path}")
        return path

    return find


@pytest.fixture
def clip(tmp_path: Path) -> Callable[..., Path]:
    """Return a maker of lossless clips: 32 x 16, frame i all of grey level 10 * i."""

    def make(
        name: str = "clip.mkv",
        ticks: tuple[int, ...] = (0, 1, 2),
        time_base: Fraction = Fraction(1, 25),
        rotation: int = 0,
    ) -> Path:
        path = tmp_path / name
        with av.open(str(path), "w") as container:
            stream = container.add_stream("ffv1", rate=25)
            stream.width, stream.height, stream.pix_fmt = 32, 16, "bgr0"
            stream.codec_context.time_base = time_base
            if rotation and not hasattr(stream, "set_display_rotation"):
                pytest.skip("this PyAV cannot write a rotation")
            if rotation:
                stream.set_display_rotation(rotation)
            for index, tick in enumerate(ticks):
                picture = np.full((16, 32, 3), 10 * index, np.uint8)
                picture[:8, :8] = 255
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts, frame.time_base = tick, time_base
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
        return path

    return make
