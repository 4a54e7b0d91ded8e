"""Aliases that `type` makes, from Python 3.12 on, mean what they stand for."""

from __future__ import annotations

import sys

import pytest

import penstock
from penstock.type_hints import HintParts

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python has no `type` statement")
ALIASES = """
type Plain = int | None
type Listed[T] = list[T]
"""


@pytest.fixture
def aliases():
    found = {}
    exec(ALIASES, found)  # noqa: S102  # older Pythons cannot read it
    return found


def test_an_alias_stands_for_its_value(aliases) -> None:
    parts = HintParts(aliases["Plain"])
    assert (parts.members, parts.allows_none) == ([int], True)


def test_the_parameters_of_an_alias_are_filled_in(aliases) -> None:
    assert HintParts(aliases["Listed"][int]).members == [list[int]]


def test_a_function_takes_them(aliases) -> None:
    def total(numbers, more):
        return sum(numbers) + (more or 0)

    total.__annotations__ = {"numbers": aliases["Listed"][int], "more": aliases["Plain"], "return": int}
    made = penstock.calculator("TotalOfAliases")(total).calculator
    inputs = made.definition.parameters.inputs
    assert [(one.meaning.type, one.is_optional) for one in inputs] == [(list[int], False), (int, True)]
