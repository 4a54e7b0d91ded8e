"""`scripts/reference_calculators.py`, with a stand-in for the wheel: a package and a library of names."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "reference_calculators.py"
#: What the library of the wheel has: names, class names as C++ writes them, and source files.
LIBRARY = b"\0".join([
    b"GateCalculator",
    b"IllogicCalculator",
    b"NoSuchCalculator",
    b"calculators are no names",
    b"_ZTIN9mediapipe16AbsentCalculatorE",
    b"_ZTIN9mediapipe5tasks24TensorsToImageCalculatorE",
    b"CrashingCalculator",
    b"GateCalculatorOptions",
    b"mediapipe/calculators/util/illogic_calculator.cc",
    b"mediapipe/calculators/image/absent_calculator.cc",
])  # fmt: skip
WHEEL = """
import os, re
KNOWN = ["GateCalculator", "IllogicCalculator", "AbsentCalculator"]
KNOWN += ["mediapipe.tasks.TensorsToImageCalculator"]
class ValidatedGraphConfig:
    def initialize(self, graph_config):
        (name,) = re.findall('"(.*)"', graph_config)
        if name == "CrashingCalculator":
            os._exit(139)
        if name not in KNOWN:
            raise RuntimeError(f'No registered object with name: x; Unable to find Calculator "{name}"')
        if name == "IllogicCalculator":
            raise RuntimeError("RET_CHECK failure: an input is missing")
"""


def python_with_a_wheel(folder, version):
    """Return a command that runs Python where a package mediapipe of that version can be imported."""
    bindings = folder / "mediapipe" / "python" / "_framework_bindings"
    bindings.mkdir(parents=True)
    for package in (bindings, bindings.parent, bindings.parent.parent):
        (package / "__init__.py").touch()
    (bindings / "validated_graph_config.py").write_text(WHEEL)
    (bindings.parent / "_framework_bindings.so").write_bytes(LIBRARY)
    info = folder / f"mediapipe-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: mediapipe\nVersion: {version}\n")
    command = folder / "python"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    command.chmod(0o755)
    return command


def run(*arguments):
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for a Python is a shell script")
def test_what_the_wheel_registers_and_penstock_lacks_is_listed_in_groups(tmp_path):
    found = run("--python", python_with_a_wheel(tmp_path, "0.10.21"), "--json")

    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == {
        "calculators/image": ["AbsentCalculator"],
        "calculators/util": ["IllogicCalculator"],
        "elsewhere": ["CrashingCalculator", "mediapipe.tasks.TensorsToImageCalculator"],
    }


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for a Python is a shell script")
def test_the_list_for_people_has_counts(tmp_path):
    found = run("--python", python_with_a_wheel(tmp_path, "0.10.21"))

    assert found.stdout == textwrap.dedent("""\
        calculators/image (1)
          AbsentCalculator

        calculators/util (1)
          IllogicCalculator

        elsewhere (2)
          CrashingCalculator
          mediapipe.tasks.TensorsToImageCalculator

        4 calculators of mediapipe 0.10.21 are not in Penstock
    """)


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for a Python is a shell script")
def test_another_version_of_the_wheel_is_refused_with_the_commands_that_get_the_right_one(tmp_path):
    found = run("--python", python_with_a_wheel(tmp_path, "0.10.14"))

    assert found.returncode == 1
    assert "has mediapipe 0.10.14, but mediapipe==0.10.21 is needed" in found.stderr
    assert "uv pip install --python /tmp/wheel/bin/python mediapipe==0.10.21" in found.stderr


def test_an_environment_without_the_wheel_is_refused_in_words():
    found = run("--python", sys.executable)

    assert found.returncode == 1
    assert "has no mediapipe, but mediapipe==0.10.21 is needed" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_python_that_is_not_there_is_refused_in_words(tmp_path):
    found = run("--python", tmp_path / "nowhere")

    assert found.returncode == 1
    assert "no Python at" in found.stderr
