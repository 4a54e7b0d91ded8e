"""The command that builds a release: what it takes, in which order, and what it refuses."""

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
    path = ROOT / "scripts" / "release.py"
    spec = importlib.util.spec_from_file_location("penstock_workspace_release", path)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


@pytest.fixture
def changelog(script, tmp_path):
    """A root with a changelog for the current version, and no fragment."""
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "README.md").write_text("how to\n")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n## {script.version()} (2026-11-22)\n")
    return tmp_path


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_a_release_is_of_every_distribution_but_those_of_contrib(script):
    folders = {
        path.parent for place in ("plugins", "subgraphs") for path in ROOT.glob(f"{place}/*/pyproject.toml")
    }
    expected = {project(folder)["name"]: folder for folder in folders | {ROOT, ROOT / "core"}}

    assert script.distributions() == expected


def test_each_distribution_comes_after_those_that_it_requires(script):
    order = list(script.distributions())
    required = {
        name: {re.match(r"[\w-]+", line)[0] for line in project(folder).get("dependencies", ())}
        for name, folder in script.distributions().items()
    }

    assert (order[0], order[-1]) == ("penstock-core", "penstock")
    assert [
        (name, needed)
        for place, name in enumerate(order)
        for needed in required[name] & set(order)
        if needed not in order[:place]
    ] == []


def test_the_files_of_a_distribution_have_its_name_and_the_version(script):
    assert script.files_of("penstock-stream-handlers") == (
        f"penstock_stream_handlers-{script.version()}.tar.gz",
        f"penstock_stream_handlers-{script.version()}-py3-none-any.whl",
    )


def test_a_changelog_with_a_section_and_no_fragment_is_ready(script, changelog):
    assert list(script.unready(changelog)) == []


def test_fragments_and_a_missing_section_are_reported(script, changelog):
    version = script.version()
    (changelog / "changelog.d" / "+a.feature.md").write_text("penstock-core: gained a.\n")
    (changelog / "CHANGELOG.md").write_text(f"# Changes\n\n## {version}.post1 (2026-11-23)\n")

    assert list(script.unready(changelog)) == [
        f"changelog.d holds +a.feature.md, 1 in all; run: towncrier build --version {version}",
        f"CHANGELOG.md has no section for {version}; run: towncrier build --version {version}",
    ]


def test_a_release_that_is_not_ready_builds_nothing(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "unready", lambda: iter(["something is missing"]))

    status = script.main(["--out", str(tmp_path / "out")])

    assert status == 1
    assert capsys.readouterr().err == "release: something is missing (or try the build with --draft)\n"
    assert not (tmp_path / "out").exists()


def test_what_a_former_run_left_is_removed(script, tmp_path):
    (tmp_path / "compiled").mkdir()
    for name in (
        "penstock-0.0.9.tar.gz",
        "penstock_core-0.0.9-py3-none-any.whl",
        "compiled/a.whl",
        ".gitignore",
    ):
        (tmp_path / name).touch()

    script.clear(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_files_of_others_is_refused_and_left_alone(script, tmp_path):
    for name in ("penstock-0.0.9.tar.gz", "thesis.txt"):
        (tmp_path / name).touch()

    with pytest.raises(
        script.ReleaseError, match=r"holds 'thesis\.txt', which no release wrote; choose another"
    ):
        script.clear(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["penstock-0.0.9.tar.gz", "thesis.txt"]
