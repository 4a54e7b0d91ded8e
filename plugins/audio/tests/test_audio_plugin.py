"""The pack's declarations: every name can be imported, and every docstring's config loads."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import pytest

import penstock_testing as testing
from penstock import CalculatorGraph, Registry
from penstock_audio.plugin import penstock_components

COMPONENTS = penstock_components()


@pytest.fixture
def registry() -> Registry:
    made = testing.testing_registry()
    for kind, name, target in COMPONENTS.by_kind():
        made.add(kind, name, target)
    for full_name, declared in COMPONENTS.options.items():
        if isinstance(declared, str):
            made.add_option(full_name, None, None, declared)
        else:
            made.add_option(full_name, *declared)
    return made


@pytest.mark.parametrize("name", COMPONENTS.calculators)
def test_every_calculator_is_there_under_its_name(registry, name):
    found = registry.find("calculator", name)

    assert name == found.__name__


@pytest.mark.parametrize("full_name", COMPONENTS.options)
def test_every_options_message_has_the_name_and_number_that_the_plugin_says(registry, full_name):
    entry = registry.option(full_name)
    message = entry.load()
    if entry.number is None:  # for node_options only
        assert not message.DESCRIPTOR.extensions_by_name
        assert message.DESCRIPTOR.full_name == full_name
        return

    extension = message.DESCRIPTOR.extensions_by_name["ext"]
    assert message.DESCRIPTOR.full_name == full_name
    assert extension.number == entry.number
    assert extension.containing_type.full_name == entry.extendee


@pytest.mark.parametrize("name", COMPONENTS.calculators)
def test_the_config_in_each_docstring_can_be_pasted(registry, name):
    node = textwrap.dedent(registry.find("calculator", name).__doc__.partition("config::\n")[2])
    streams = re.findall(r'input_stream: "(?:\w+:)?(\w+)"', node)
    sides = re.findall(r'input_side_packet: "(?:\w+:)?(\w+)"', node)
    inputs = [
        *(f'input_stream: "{one}"' for one in streams),
        *(f'input_side_packet: "{one}"' for one in sides),
    ]

    graph = CalculatorGraph("\n".join([*inputs, node]), registry=registry)

    assert "calculator:" in graph.text_config


def test_listing_the_pack_imports_none_of_its_dependencies():
    program = (
        "import sys, penstock_audio.plugin as p; p.penstock_components(); "
        "print(sorted({'av', 'numpy', 'google.protobuf', 'soxr', 'sounddevice'} & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
