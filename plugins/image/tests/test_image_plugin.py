"""The pack's declarations: names, options, the configs in docstrings, and what loading it imports."""

from __future__ import annotations

from penstock_testing import check_pack


def test_the_pack_is_as_packs_should_be() -> None:
    assert [str(fault) for fault in check_pack("image").faults] == []
