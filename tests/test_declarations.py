"""Each calculator of the official packs declares may_skip and stateless in its contract."""

import inspect

import pytest

from penstock.lowlevel import default_registry

#: Of functions: the core declares what their annotations say.
FUNCTIONS = "penstock.functions"


def calculators():
    registry = default_registry()
    for name in registry.names("calculator"):
        origin = registry.origin("calculator", name)
        if (origin.distribution or "").startswith("penstock"):
            yield name


@pytest.mark.parametrize("name", sorted(calculators()))
def test_a_calculator_declares_how_it_behaves(name):
    made = default_registry().find("calculator", name)
    contract = made.get_contract.__func__
    if contract.__module__.startswith(FUNCTIONS):
        return
    source = inspect.getsource(contract)
    declared = source.partition("cc.declare(")[2]
    assert "may_skip=" in declared, (
        f"{contract.__module__}: get_contract of {name} has no cc.declare(may_skip=)"
    )
    assert "stateless=" in declared, f"{contract.__module__}: get_contract of {name} does not say stateless="


def test_there_are_calculators_to_look_at():
    assert len(list(calculators())) > 150
