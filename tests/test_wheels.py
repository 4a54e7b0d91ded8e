"""The wheels, as a stranger gets them: built, installed into an empty environment, used there.

Run with `-m wheels`: it builds every distribution from its sdist and asks a package index for what
they require. The workspace itself is not on the path of what runs here.
"""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.wheels, pytest.mark.timeout(600)]

PLUGINS = """
import json

from penstock.plugins.discovery import PluginHost

print(json.dumps({record.name: record.state for record in PluginHost().records}))
"""

GRAPH = """
import json
import pathlib
import sys

import penstock

graph = '''
input_stream: "in"
output_stream: "out"
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "between" }
node { calculator: "PassThroughCalculator" input_stream: "between" output_stream: "out" }
'''
seen = []
with penstock.CalculatorGraph(graph) as running:
    running.observe_output_stream("out", lambda name, packet: seen.append(packet))
    running.start_run()
    for timestamp in range(100):
        running.add_packet_to_input_stream("in", penstock.Packet(str(timestamp), timestamp))
print(json.dumps({
    "packets": [(int(packet.timestamp), packet.payload) for packet in seen],
    "from": str(pathlib.Path(penstock.__file__).resolve().is_relative_to(pathlib.Path(sys.prefix).resolve())),
}))
"""


def projects():
    """Return the table `project` of every distribution of the workspace, the one of the root included."""
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]["workspace"][
        "members"
    ]
    files = [
        ROOT / "pyproject.toml",
        *(path for glob in folders for path in ROOT.glob(f"{glob}/pyproject.toml")),
    ]
    return [tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in files]


def distributions():
    return sorted(project["name"] for project in projects())


def plugins():
    return [name for project in projects() for name in project.get("entry-points", {}).get("penstock", {})]


def test_every_distribution_builds_a_wheel_for_any_python_with_its_licence(built):
    wheels = {path.name.split("-")[0].replace("_", "-"): path for path in built.glob("*-py3-none-any.whl")}

    assert sorted(wheels) == distributions()
    for name, path in wheels.items():
        files = zipfile.ZipFile(path).namelist()
        assert [each for each in files if each.endswith("licenses/LICENSE")], name


def test_the_wheel_of_the_whole_holds_no_code(built):
    (path,) = built.glob("penstock-[0-9]*.whl")

    assert {name.split("/")[0] for name in zipfile.ZipFile(path).namelist()} == {
        path.name.removesuffix("-py3-none-any.whl") + ".dist-info"
    }


def test_the_sdist_of_the_whole_holds_no_member(built):
    (path,) = built.glob("penstock-[0-9]*.tar.gz")

    with tarfile.open(path) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames()}
    assert names == {
        "CHANGELOG.md",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "pyproject.toml",
        ".gitignore",
        "scripts/build_backend.py",
    }


def test_wheels_carry_their_data(built):
    files = {name for path in built.glob("*.whl") for name in zipfile.ZipFile(path).namelist()}

    assert "penstock/py.typed" in files
    assert "penstock/plugins/catalog.json" in files
    assert "penstock/config/calculator.proto" in files
    assert "penstock_subgraphs_flow/two_pass_through.pbtxt" in files
    assert "penstock_subgraphs_image/edge_overlay.pbtxt" in files


def test_what_is_installed_fits_together(call, uv, installed):
    call(uv, "pip", "check", "--python", installed.parent, cwd=installed)


def test_a_graph_runs_in_the_empty_environment(call, installed, tmp_path):
    printed = json.loads(call(installed / "python", "-c", GRAPH, cwd=tmp_path))

    assert printed["packets"] == [[timestamp, str(timestamp)] for timestamp in range(100)]
    assert printed["from"] == "True"


def test_every_plugin_is_found_and_loaded(call, installed, tmp_path):
    printed = json.loads(call(installed / "python", "-c", PLUGINS, cwd=tmp_path))

    assert printed == dict.fromkeys(plugins(), "loaded")
    assert len(printed) > 20


def test_the_command_lists_every_plugin(call, installed, tmp_path):
    printed = call(installed / "penstock", "plugins", cwd=tmp_path)

    assert [name for name in plugins() if name not in printed] == []


def test_the_demo_makes_a_video(call, installed, tmp_path):
    call(installed / "penstock", "demo", "-o", "out.mp4", cwd=tmp_path)

    assert (tmp_path / "out.mp4").stat().st_size > 0


@pytest.fixture(scope="module")
def with_test_tools(built, environment_of):
    """Return the programs of an environment that has every wheel, and what the core's extra is for."""
    (core,) = built.glob("penstock_core-*.whl")
    others = sorted(set(built.glob("*.whl")) - {core})
    return environment_of("tested", *others, f"penstock-core[testing] @ {core.as_uri()}")


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in ROOT.glob("contrib/*/pyproject.toml")))
def test_the_tests_of_a_contributed_pack_pass_where_wheels_are_installed(
    call, with_test_tools, tmp_path, folder
):
    shutil.copytree(
        ROOT / "contrib" / folder / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__")
    )

    printed = call(
        with_test_tools / "python",
        *("-W", "error", "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", "tests"),
        cwd=tmp_path,
    )

    assert re.search(r"^\d+ passed in ", printed, re.MULTILINE), printed
