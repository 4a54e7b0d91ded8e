from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import attrs
import pytest

from penstock.plugins.default_registry import plugins_renewed
from penstock_cli.packs import validate_pack
from penstock_cli.packs.new_pack import write_pack
from penstock_testing.packs import PackFault

POINTS = '[project.entry-points.penstock]\nsoil = "penstock_soil.plugin"\n'
METADATA = """Metadata-Version: 2.1
Name: penstock-soil
Version: 0.1.0
Requires-Python: >=3.11
Requires-Dist: penstock-core>=0.1,<0.2

Soil.
"""


@pytest.fixture
def soil(tmp_path, monkeypatch):
    """Write a new pack, put it on the path as pip would install it, and return its directory."""
    monkeypatch.chdir(tmp_path)
    write_pack("soil", None, None, None)
    info = Path("penstock-soil/src/penstock_soil-0.1.0.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(METADATA, encoding="utf-8")
    (info / "entry_points.txt").write_text("[penstock]\nsoil = penstock_soil.plugin\n", encoding="utf-8")
    with plugins_renewed():
        monkeypatch.syspath_prepend(tmp_path / "penstock-soil" / "src")
        yield Path("penstock-soil")
    for name in [name for name in sys.modules if name.partition(".")[0] == "penstock_soil"]:
        del sys.modules[name]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["soil", "penstock-soil", "Penstock.Soil", "./penstock-soil", "penstock-soil/pyproject.toml"]
)
@pytest.mark.usefixtures("soil")
def test_a_good_pack_is_fine_by_each_of_its_names(invoke, name):
    done = invoke("validate-pack", name)

    assert (done.exit_code, done.stderr) == (0, "")
    assert re.fullmatch(
        r"penstock-soil 0\.1\.0, plugin 'soil', loaded in [\d.]+ (us|ms|s)\n"
        r"2 calculators, 1 subgraph: fine\n",
        done.stdout,
    )


def test_without_a_name_it_is_the_current_directory(invoke, soil, monkeypatch):
    monkeypatch.chdir(soil)

    assert invoke("validate-pack").stdout.endswith("\n2 calculators, 1 subgraph: fine\n")


def test_faults_are_listed_and_the_exit_code_says_so(invoke, soil):
    change(soil / "src/penstock_soil/deviation.pbtxt", '"SoilMeanCalculator"', '"SoilMeanCalculater"')
    (soil / "src/penstock_soil/py.typed").unlink()

    done = invoke("validate-pack", "soil")

    assert (done.exit_code, done.stderr) == (1, "Error: 1 fault in penstock-soil\n")
    _, warning, fault, last = done.stdout.splitlines()
    assert warning.startswith(
        "  warning: distribution 'penstock-soil': package 'penstock_soil' has no file py.typed"
    )
    assert fault.startswith("  fault: subgraph 'SoilDeviationSubgraph': it does not stand for a node: ")
    assert "did you mean 'SoilMeanCalculator'" in fault
    assert last == "2 calculators, 1 subgraph: 1 fault, 1 warning"


def test_warnings_alone_are_no_failure(invoke, soil):
    (soil / "src/penstock_soil/py.typed").unlink()

    done = invoke("validate-pack", "soil")

    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("\n2 calculators, 1 subgraph: 0 faults, 1 warning\n")


def test_json_has_the_report_and_the_same_exit_code(invoke, soil):
    change(soil / "src/penstock_soil/plugin.py", "mean:SoilMeanCalculator", "mean:LENGTH")

    done = invoke("validate-pack", "soil", "--json")

    (report,) = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (report["plugin"], report["version"], report["components"]) == (
        "soil",
        "0.1.0",
        {"calculator": 2, "subgraph": 1},
    )
    assert {fault["subject"]: fault["is_warning"] for fault in report["faults"]} == {
        "calculator 'SoilMeanCalculator'": False,
        "subgraph 'SoilDeviationSubgraph'": False,
    }


# --- the installed pack differs from the directory ------------------------------------------------


@pytest.mark.usefixtures("with_pip")
@pytest.mark.parametrize(
    ("what", "found", "changed"),
    [
        ("version", "0.1.0", "0.2.0"),
        ("entry point", "penstock_soil.plugin", "penstock_soil.other"),
        ("distribution", "penstock-soil", "penstock-loam"),
    ],
)
def test_a_directory_that_has_changed_must_be_installed_again(invoke, soil, what, found, changed):
    change(soil / "pyproject.toml", f'"{found}"', f'"{changed}"')

    done = invoke("validate-pack", soil)

    assert done.exit_code == 1
    assert (
        f"  fault: plugin 'soil': the {what} to validate is {changed!r} in {str(soil / 'pyproject.toml')!r}, "
        f"but that of the installed pack is {found!r}; install it again: pip install -e penstock-soil\n"
    ) in done.stdout


@pytest.mark.parametrize(
    ("found", "alike"), [('"0.1.0"', '"0.1.00"'), ('name = "penstock-soil"', 'name = "Penstock_Soil"')]
)
def test_a_spelling_that_a_build_may_change_is_no_difference(invoke, soil, found, alike):
    change(soil / "pyproject.toml", found, alike)

    assert invoke("validate-pack", soil).exit_code == 0


@pytest.mark.usefixtures("with_pip")
def test_the_suggested_command_is_quoted_for_a_shell(invoke, soil):
    soil.rename(soil.with_name("my soil"))
    change(soil.with_name("my soil") / "pyproject.toml", POINTS, POINTS.replace("soil =", "loam ="))

    done = invoke("validate-pack", "my soil")

    assert done.stderr.endswith("is not installed here; pip install -e 'my soil'\n")


def test_a_version_that_the_build_computes_is_not_compared(invoke, soil):
    change(soil / "pyproject.toml", 'version = "0.1.0"', 'dynamic = ["version"]')

    assert invoke("validate-pack", soil).exit_code == 0


@pytest.mark.usefixtures("with_pip")
def test_a_directory_that_is_not_installed_says_how_to(invoke, soil):
    change(soil / "pyproject.toml", POINTS, POINTS.replace("soil =", "loam ="))

    done = invoke("validate-pack", soil)

    assert done.exit_code == 2
    assert done.stderr == (
        "Error: penstock validate-pack checks installed packs, and plugin 'loam' of "
        f"{str(soil / 'pyproject.toml')!r} is not installed here; pip install -e penstock-soil\n"
    )


@pytest.mark.parametrize("project", [None, "project = 3\n", "[project.entry-points]\npenstock = 'x'\n"])
def test_a_directory_without_an_entry_point_is_no_pack(invoke, soil, project):
    if project is None:
        change(soil / "pyproject.toml", POINTS, "")
    else:
        (soil / "pyproject.toml").write_text(project)

    done = invoke("validate-pack", soil)

    assert done.exit_code == 1
    assert "finds no entry point of the group 'penstock', by which packs are found, in" in done.stderr


def test_a_project_that_cannot_be_read_is_reported(invoke, soil):
    (soil / "pyproject.toml").write_text("[project\n")

    done = invoke("validate-pack", soil)

    assert done.exit_code == 4
    assert done.stderr.startswith(f"Error: {str(soil / 'pyproject.toml')!r} cannot be read: ")


# --- no pack --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "there is no pyproject.toml here; give the name of an installed pack, or its directory"),
        (
            ["empty"],
            4,
            "penstock validate-pack needs a pack's project directory, but 'empty' has no pyproject.toml",
        ),
        (["./gone"], 4, "penstock validate-pack finds no directory './gone'; check the path"),
        (
            ["stream-handler"],
            2,
            "there is no pack to check: no plugin and no distribution with one is named 'stream-handler'",
        ),
    ],
)
def test_names_and_directories_that_are_no_pack_are_refused(invoke, elsewhere, arguments, code, said):
    (elsewhere / "empty").mkdir()

    done = invoke("validate-pack", *arguments)

    assert done.exit_code == code
    assert done.stderr.startswith(f"Error: {said}")


def test_findings_name_the_pip_of_the_environment(invoke, soil, monkeypatch):
    checked = validate_pack.check_pack

    def with_a_finding(*given, **options):
        return attrs.evolve(checked(*given, **options), faults=(PackFault("x", "missing; pip install y"),))

    monkeypatch.setattr(validate_pack, "check_pack", with_a_finding)
    monkeypatch.setattr(validate_pack, "in_this_environment", lambda text: text.replace("pip", "uv pip"))

    assert "  fault: x: missing; uv pip install y\n" in invoke("validate-pack", soil).stdout
