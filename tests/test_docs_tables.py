"""The documentation lists every distribution of the workspace, from one source."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def script():
    """The script as a module; it belongs to no package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        spec = importlib.util.spec_from_file_location(
            "penstock_workspace_pack_table", ROOT / "scripts" / "pack_table.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    return module


def projects(*places):
    """Return distribution → description of the places' members, and what else brings it."""
    found = {}
    for place in places:
        for path in (ROOT / place).glob("pyproject.toml" if place == "core" else "*/pyproject.toml"):
            pyproject = tomllib.loads(path.read_text(encoding="utf-8"))
            table = pyproject.get("tool", {}).get("penstock", {})
            bringers = [f"`penstock[{extra}]`" for extra in table.get("extras", {})]
            if not bringers or table.get("standard"):
                bringers.insert(0, "`penstock`")
            said = "" if place == "contrib" else ", ".join(bringers)
            found[pyproject["project"]["name"]] = (pyproject["project"]["description"], said)
    return found


@pytest.mark.parametrize("places", [("core", "plugins", "subgraphs"), ("contrib",)])
def test_the_table_has_each_distribution_with_its_description_and_command(script, places):
    row = re.compile(r"\| `pip install ([\w-]+)` \| (.+) \| (.*) \| `[\w/-]+` \|")
    found = [row.fullmatch(line).groups() for line in script.table_of(places)[2:]]
    rows = {name: (description, bringers) for name, description, bringers in found}

    assert rows == projects(*places)


def test_an_unknown_place_is_refused(script):
    with pytest.raises(ValueError, match="there is no place 'attic', expected some of core, plugins, "):
        script.table_of(["attic"])


def test_the_page_lists_all_places():
    page = (ROOT / "docs" / "packs.md").read_text(encoding="utf-8")

    listed = [place for line in re.findall(r"```\{packs\} (.+)", page) for place in line.split()]

    assert sorted(listed) == ["contrib", "core", "plugins", "subgraphs"]


def test_the_page_names_every_extra_of_the_standard_packs_but_testing():
    page = (ROOT / "docs" / "packs.md").read_text(encoding="utf-8")
    extras = [
        f"{project['name']}[{extra}]"
        for place in (".", "core", "plugins/*", "subgraphs/*")
        for path in ROOT.glob(f"{place}/pyproject.toml")
        for project in [tomllib.loads(path.read_text(encoding="utf-8"))["project"]]
        for extra in project.get("optional-dependencies", {})
        if extra != "testing" or project["name"] == "penstock-core"
    ]

    assert sorted(re.findall(r'pip install "([^"]+)"', page)) == sorted(extras)


def test_the_page_of_platforms_has_a_line_for_each_python_of_the_classifiers():
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))

    assert re.findall(r"^\| (3\.\d+) \|", page, re.MULTILINE) == claimed
