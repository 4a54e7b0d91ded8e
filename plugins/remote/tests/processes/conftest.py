from __future__ import annotations

import pytest
from driving import chains


@pytest.fixture
def driven(registry):
    """Make a `Driven` of a chain of calculators on workers; it is closed with the test."""
    with chains(registry, "ProcessExecutor", "num_processes: 2 cancel_grace_s: 0.2") as make:
        yield make
