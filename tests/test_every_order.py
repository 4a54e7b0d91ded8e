"""All orders of a graph for each input policy, and others that may depend on order: the short form."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.packs import official_packs

pytestmark = pytest.mark.heavy

SCRIPTS = Path(__file__).parent.parent / "scripts" / "proof"
sys.path.insert(0, str(SCRIPTS))
try:
    import order_cases
finally:
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def registry():
    return order_cases.registry()


@pytest.mark.parametrize(
    "case", [case for case in order_cases.CASES if not case.is_long], ids=lambda case: case.name
)
def test_no_order_shows_what_it_must_not(case, registry):
    orders = case.orders(registry)

    assert case.fault(orders) == ""
    assert orders.orders > orders.states / 2


def test_each_input_policy_of_an_official_pack_has_a_case():
    installed = official_packs()["input stream handler"]
    texts = " ".join(case.text for case in order_cases.CASES)

    # they wait for a stream of numbers, or for an offset between streams
    left_out = {"MuxInputStreamHandler", "TimestampAlignInputStreamHandler"}
    assert {name for name in installed if name not in texts} == left_out
