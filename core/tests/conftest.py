from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.entry_points import OrdinaryPoint, ordinary_points
from penstock.plugins import discovery
from penstock.plugins.default_registry import plugins_renewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Give a test a function that hides entry points of distributions, as if these were not installed."""
    hidden: set[str] = set()

    def left(group: str) -> list[OrdinaryPoint]:
        found = ordinary_points(group)
        assert found is not None, "the environment of the tests has entry points that pip did not write"
        return [point for point in found if point.distribution not in hidden]

    monkeypatch.setattr(discovery, "ordinary_points", left)
    with plugins_renewed():
        yield lambda *distributions: hidden.update(distributions)
