"""What the pack says it brings, and that finding it, or importing it, loads no OpenGL."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
import textwrap

import pytest

import penstock_gpu
import penstock_testing as testing
from penstock import CalculatorGraph, GraphConfigError, Registry
from penstock_gpu.plugin import penstock_components

COMPONENTS = penstock_components()


@pytest.fixture
def registry() -> Registry:
    made = testing.testing_registry()
    for kind, name, target in COMPONENTS.by_kind():
        made.add(kind, name, target)
    for full_name, (extendee, number, target) in COMPONENTS.options.items():
        made.add_option(full_name, extendee, number, target)
    return made


@pytest.mark.parametrize("name", COMPONENTS.calculators)
def test_every_calculator_is_there_under_its_name(registry, name):
    assert registry.find("calculator", name).__name__ == name


def test_the_calculators_are_those_of_the_pack():
    assert sorted(COMPONENTS.calculators) == [
        "GlOverlayCalculator",
        "GlScalerCalculator",
        "GpuBufferToImageFrameCalculator",
        "ImageFrameToGpuBufferCalculator",
        "LuminanceCalculator",
        "MaskOverlayCalculator",
        "ShaderCalculator",
        "SobelEdgesCalculator",
    ]


@pytest.mark.parametrize("full_name", COMPONENTS.options)
def test_every_options_message_has_the_name_and_number_that_the_plugin_says(registry, full_name):
    entry = registry.option(full_name)
    message = entry.load()

    extension = message.DESCRIPTOR.extensions_by_name["ext"]
    assert message.DESCRIPTOR.full_name == full_name
    assert extension.number == entry.number
    assert extension.containing_type.full_name == entry.extendee


@pytest.mark.parametrize("name", COMPONENTS.calculators)
def test_the_config_in_each_docstring_can_be_pasted(registry, name):
    node = textwrap.dedent(registry.find("calculator", name).__doc__.partition("Config::\n")[2])
    streams = re.findall(r'input_stream: "(?:\w+:)*(\w+)"', node)
    inputs = [f'input_stream: "{one}"' for one in dict.fromkeys(streams)]

    graph = CalculatorGraph("\n".join([*inputs, node]), registry=registry)

    assert "calculator:" in graph.text_config


def test_the_service_is_there_under_its_name(registry):
    assert registry.find("service", "gpu") is penstock_gpu.GPU


@pytest.mark.parametrize("name", penstock_gpu.__all__)
def test_every_public_name_leads_somewhere(name):
    assert name in dir(penstock_gpu)
    assert getattr(penstock_gpu, name) is not None


def test_a_name_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match=r"^module 'penstock_gpu' has no attribute 'GlCanvas'$"):
        penstock_gpu.GlCanvas  # noqa: B018  # asking is the test


def loaded_after(program):
    """Return the heavy modules and the GL libraries that a program has loaded."""
    look = """
        import sys
        names = {"OpenGL", "cv2", "av", "numpy", "google.protobuf"} & set(sys.modules)
        try:
            maps = open("/proc/self/maps", encoding="utf-8").read()
        except OSError:
            maps = ""
        names |= {name for name in ("libEGL", "libOpenGL", "libGL.so", "libGLESv2") if name in maps}
        print(*sorted(names))
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{textwrap.dedent(look)}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_listing_the_pack_imports_none_of_its_work():
    assert loaded_after("import penstock_gpu.plugin as p; p.penstock_components(); p.penstock_doctor") == []


def modules():
    found = pkgutil.walk_packages(penstock_gpu.__path__, "penstock_gpu.")
    return sorted(module.name for module in found)


def test_importing_every_module_imports_no_opengl_and_loads_no_library_of_it():
    assert len(modules()) > 20

    assert not {"OpenGL", "libEGL", "libOpenGL", "libGL.so", "libGLESv2"} & set(
        loaded_after("\n".join(f"import {name}" for name in modules()))
    )


def test_making_buffers_and_contracts_loads_no_opengl_either():
    program = """
import numpy, penstock, penstock_gpu
buffer = penstock_gpu.GpuBuffer.of_array(numpy.zeros((4, 4, 4), numpy.uint8))
assert buffer.frame().width == 4
penstock.CalculatorGraph('input_stream: "a" node { calculator: "LuminanceCalculator" input_stream: "VIDEO:a" '
                         'output_stream: "VIDEO:b" }')
"""
    assert not {"OpenGL", "libEGL", "libOpenGL", "libGL.so"} & set(loaded_after(program))


@pytest.mark.parametrize(
    ("first", "second", "cure"),
    [
        (
            "ImageFrameToGpuBufferCalculator",
            "ImageFrameToGpuBufferCalculator",
            "GpuBufferToImageFrameCalculator",
        ),
        ("GpuBufferToImageFrameCalculator", "LuminanceCalculator", "ImageFrameToGpuBufferCalculator"),
    ],
)
def test_a_graph_that_mixes_both_kinds_of_images_is_told_what_to_put_in_between(
    registry, first, second, cure
):
    with pytest.raises(GraphConfigError, match=f"put '{cure}' in between"):
        CalculatorGraph(
            f"""
            input_stream: "in"
            node {{ calculator: "{first}" input_stream: "in" output_stream: "made" }}
            node {{ calculator: "{second}" input_stream: "made" output_stream: "out" }}
            """,
            registry=registry,
        )
