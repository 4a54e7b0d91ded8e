"""The pytest plugin of Penstock, found through `penstock-core[testing]`.

It brings fixtures and one line in pytest's header; it changes nothing about how tests run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import penstock

if TYPE_CHECKING:
    from penstock.registry import Registry


def pytest_report_header() -> str:
    """Say which Penstock is tested, and whether its engine is compiled."""
    from penstock.engine import schedule  # noqa: PLC0415  # only when pytest starts

    form = "pure Python" if str(schedule.__file__).endswith(".py") else "compiled"
    return f"penstock {penstock.__version__}, engine: {form}"


@pytest.fixture
def penstock_registry() -> Registry:
    """Give a test a registry of its own, with no plugin: one input stream handler, the inline executor."""
    from penstock.testing.handlers import testing_registry  # noqa: PLC0415  # only when it is used

    return testing_registry()
