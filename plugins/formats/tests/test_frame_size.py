from __future__ import annotations

import pytest

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock_formats import check_frame_size


def test_a_frame_of_16k_video_is_accepted_and_one_pixel_more_than_the_limit_is_not():
    check_frame_size(15360, 8640, "option")
    check_frame_size(2**27, 1, "option")
    said = (
        "option: a frame of 134217729x1 has 134217729 pixels, but at most 134217728 are allowed; make it "
        "smaller, or set the environment variable PENSTOCK_MAX_PIXELS"
    )
    with pytest.raises(ResourceExhaustedError, match=said):
        check_frame_size(2**27 + 1, 1, "option")


def test_the_environment_sets_the_limit(monkeypatch):
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", "100")
    check_frame_size(10, 10, "option")
    with pytest.raises(ResourceExhaustedError, match="at most 100 are allowed"):
        check_frame_size(10, 11, "option")
    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", "many")
    with pytest.raises(InvalidArgumentError, match="PENSTOCK_MAX_PIXELS is 'many'"):
        check_frame_size(1, 1, "option")
