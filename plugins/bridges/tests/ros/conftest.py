from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="penstock-bridges[ros] is not installed")
sys.path.insert(0, str(Path(__file__).parent))  # bags.py


@pytest.fixture(params=["a.bag", "folder", "a.mcap", "a.db3"])
def path(request, tmp_path):
    """Return where a bag of each form is to be."""
    return tmp_path / request.param
