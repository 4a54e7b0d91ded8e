from __future__ import annotations

import gc
import types

import pytest

#: What a calculator shares with others.
SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


@pytest.fixture
def kept():
    """Return a function that returns how many objects a calculator keeps, directly and through others."""

    def count(calculator):
        found, todo = {}, list(vars(calculator).values())
        while todo:
            one = todo.pop()
            if id(one) not in found and not isinstance(one, SHARED):
                found[id(one)] = one
                todo.extend(gc.get_referents(one))
        return len(found)

    return count
