from __future__ import annotations

import re

import pytest

from penstock.errors import UnknownNameError
from penstock.registry import Registry, official_packs
from penstock.registry_entries import KINDS

EVERY_NAME = [
    (kind, name, pack)
    for kind, names in official_packs().items()
    for name, pack in names.items()
    if kind not in {"command", "door"}
]


def test_the_catalog_maps_names_of_known_kinds_to_distributions_of_ours() -> None:
    assert set(official_packs()) <= {*KINDS, "option", "command", "subcommand"}
    assert EVERY_NAME
    assert [entry for entry in EVERY_NAME if not re.fullmatch(r"penstock(-[a-z]+)+", entry[2])] == []


@pytest.mark.parametrize(
    ("kind", "name", "pack"),
    [
        ("input stream handler", "DefaultInputStreamHandler", "penstock-stream-handlers"),
        ("executor", "ThreadPoolExecutor", "penstock-executors"),
        ("calculator", "PassThroughCalculator", "penstock-calculators"),
        ("calculator", "CannyEdgeCalculator", "penstock-image"),
    ],
)
def test_the_core_alone_says_what_to_install(kind: str, name: str, pack: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        Registry().find(kind, name)

    assert str(caught.value) == f"no {kind} {name!r} is registered; install it: pip install {pack}"
    assert caught.value.install == pack


def test_every_name_of_the_catalog_is_a_hint() -> None:
    registry = Registry()

    for kind, name, pack in EVERY_NAME:
        assert registry.install_hint(kind, name) == pack


def test_the_hint_is_found_from_inside_a_package_and_by_the_absolute_name() -> None:
    registry = Registry()

    assert registry.install_hint("calculator", "CannyEdgeCalculator", "my.graphs") == "penstock-image"
    assert registry.install_hint("calculator", ".CannyEdgeCalculator", "my.graphs") == "penstock-image"
    assert registry.install_hint("executor", "CannyEdgeCalculator") is None


def test_what_is_installed_is_not_to_be_installed_again() -> None:
    blocked = Registry()
    blocked.fail("image", "blocked by name", distribution="Penstock_Image")
    older = Registry()
    older.add("calculator", "OtherCalculator", "penstock_image.other:Other", distribution="penstock-image")

    with pytest.raises(UnknownNameError) as caught:
        blocked.find("calculator", "CannyEdgeCalculator")
    assert str(caught.value) == (
        "no calculator 'CannyEdgeCalculator' is registered; "
        "plugins that are not loaded: image (blocked by name)"
    )
    assert older.install_hint("calculator", "CannyEdgeCalculator") is None
    assert older.child().install_hint("calculator", "CannyEdgeCalculator") is None


def test_a_name_that_no_pack_has_gives_no_distribution_to_install() -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"^no calculator 'NobodyHasThis' is registered; install the pack that has it,"
        r" or decorate your own with @penstock.register_calculator$",
    ) as caught:
        Registry().find("calculator", "NobodyHasThis")

    assert caught.value.install is None
