"""Each test of a schedule runs with the short cuts and without them."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, params=[True, False], ids=["short cuts", "plain"])
def takes_short_cuts(request, monkeypatch) -> bool:
    """Whether the runs of this test are made with the short cuts."""
    monkeypatch.setattr("penstock.runtime.build.TAKES_SHORT_CUTS", request.param)
    return request.param
