"""A registry that needs no plugin: one input stream handler, one executor, and what a test adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Registry
from penstock_testing.inline import InlineExecutor
from penstock_testing.one_set import OneSetInputStreamHandler

if TYPE_CHECKING:
    from penstock import Calculator


def testing_registry(*calculators: type[Calculator]) -> Registry:
    """Return a registry with these calculators under their class names, and no plugin.

    Its default input stream handler keeps all streams in step; its default executor is inline.
    """
    registry = Registry()
    registry.add("input stream handler", "DefaultInputStreamHandler", OneSetInputStreamHandler)
    registry.add("executor", "ThreadPoolExecutor", InlineExecutor)
    for calculator in calculators:
        registry.add("calculator", calculator.__name__, calculator)
    return registry


testing_registry.__test__ = False  # type: ignore[attr-defined]  # its name begins as a test's does
