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


@pytest.fixture(scope="module")
def page(script):
    return script.PAGE.read_text(encoding="utf-8")


def projects():
    """Return folder → description of each member, and what else brings it."""
    found = {}
    for place in ("core", "plugins/*", "subgraphs/*", "contrib/*"):
        for path in ROOT.glob(f"{place}/pyproject.toml"):
            pyproject = tomllib.loads(path.read_text(encoding="utf-8"))
            table = pyproject.get("tool", {}).get("penstock", {})
            bringers = [f"`penstock[{extra}]`" for extra in table.get("extras", {})]
            if not bringers or table.get("standard"):
                bringers.insert(0, "`penstock`")
            said = "" if place == "contrib/*" else ", ".join(bringers)
            project = pyproject["project"]
            folder = path.parent.relative_to(ROOT).as_posix()
            found[folder] = (project["name"], project["description"], said)
    return found


def test_the_page_has_each_distribution_once_with_its_description_and_what_brings_it(page):
    row = re.compile(
        r"^\| \[`([\w-]+)`\]\(\.\./([\w/-]+)/README\.md\) \| (.+) \| .* \| (.*) \|$", re.MULTILINE
    )
    rows = row.findall(page)

    assert {folder: (name, said, bringer) for name, folder, said, bringer in rows} == projects()
    assert len(rows) == len(projects())


def test_a_row_says_what_a_distribution_requires_beside_the_core(page):
    assert re.search(
        r"^\| \[`penstock-core`\].* \| pluggy, attrs, protobuf \| `penstock` \|$", page, re.MULTILINE
    )
    assert re.search(
        r"^\| \[`penstock-video`\].* \| av, numpy \| `penstock`, `penstock\[live\]` \|$", page, re.MULTILINE
    )


def test_the_tables_of_the_page_are_current(script, page):
    assert script.written(page) == page, "docs/packs.md is stale; run: python scripts/pack_table.py"


def test_a_distribution_without_a_purpose_is_an_error(script, page, monkeypatch):
    purposes = {name: folders for name, folders in script.PURPOSES.items() if "plugins/video" not in folders}
    monkeypatch.setattr(script, "PURPOSES", purposes)

    with pytest.raises(ValueError, match=r"must have each distribution once: .*'plugins/video'"):
        script.written(page)


def test_a_page_without_marks_is_an_error(script, page):
    with pytest.raises(ValueError, match="0 tables are marked, expected 2"):
        script.written(page.replace(script.BEGIN, ""))


def test_the_page_names_every_extra_of_the_standard_packs_but_testing(page):
    extras = [
        f"{project['name']}[{extra}]"
        for place in (".", "core", "plugins/*", "subgraphs/*")
        for path in ROOT.glob(f"{place}/pyproject.toml")
        for project in [tomllib.loads(path.read_text(encoding="utf-8"))["project"]]
        for extra in project.get("optional-dependencies", {})
        if extra != "testing" or project["name"] == "penstock-core"
    ]

    assert sorted(re.findall(r"^\| `(penstock[\w-]*\[\w+\])` \| ", page, re.MULTILINE)) == sorted(extras)


def test_the_page_of_platforms_has_a_line_for_each_python_of_the_classifiers():
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))

    assert re.findall(r"^\| (3\.\d+) \|", page, re.MULTILINE) == claimed


def test_the_page_of_licences_has_every_library_and_what_is_asked_of_it():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        spec = importlib.util.spec_from_file_location(
            "dependencies", ROOT / "scripts" / "dependency_table.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    rows = re.findall(
        r"^\| `([\w.-]+)` \| (.+?) \| (.*?) \| (.+?) \| (.+?) \|$",
        module.PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )

    asked = module.asked_for()
    assert {name: (ranges, users) for name, _, _, ranges, users in rows} == {
        name: (" or ".join(sorted(ranges)), ", ".join(sorted(users)))
        for name, (ranges, users) in asked.items()
    }, "docs/licences.md is stale; run: python scripts/dependency_table.py"
    assert not [name for name, licence, *_ in rows if licence in {"not said", "not installed"}]
