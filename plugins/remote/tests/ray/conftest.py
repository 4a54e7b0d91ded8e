from __future__ import annotations

import pytest
from driving import chains


@pytest.fixture(scope="module", autouse=True)
def all_in_own_directory(own_directory):
    """Also the tests that start clusters of their own write there."""


@pytest.fixture
def driven(registry, cluster):
    """Make a `Driven` of a chain of calculators on the cluster; it is closed with the test."""
    with chains(registry, "RayExecutor", "cancel_grace_s: 0.2") as make:
        yield make
