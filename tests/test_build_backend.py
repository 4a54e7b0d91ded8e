"""What the wheel of `penstock` requires when pip builds it in a clone of the repository."""

from __future__ import annotations

import email
import importlib.util
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def backend():
    spec = importlib.util.spec_from_file_location(
        "penstock_build_backend", ROOT / "scripts" / "build_backend.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def placed(backend, url):
    """Return the project, and what it and its extras require."""
    project = tomllib.loads(backend.with_places(TEXT, ROOT, url, COMMIT))["project"]
    extras = project["optional-dependencies"].values()
    return project, [
        Requirement(each) for each in (*project["dependencies"], *(one for all_ in extras for one in all_))
    ]


def test_each_requirement_says_its_place_in_the_repository(backend):
    project, found = placed(backend, "https://forge.invalid/penstock")

    assert (
        f"penstock-core @ git+https://forge.invalid/penstock@{COMMIT}#subdirectory=core"
        in project["dependencies"]
    )
    named = tomllib.loads(TEXT)["project"]
    assert len(project["dependencies"]) == len(named["dependencies"])
    assert project["optional-dependencies"].keys() == named["optional-dependencies"].keys()
    for each in found:
        folder = ROOT / each.url.partition("#subdirectory=")[2]
        assert (
            tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
            == each.name
        )


def test_what_an_extra_brings_is_placed_with_all_that_it_requires(backend):
    project, found = placed(backend, "https://forge.invalid/penstock")

    known = {each.name for each in found}
    for name, lines in tomllib.loads(TEXT)["project"]["optional-dependencies"].items():
        asked = {(one.name, frozenset(one.extras)) for one in map(Requirement, lines)}
        given = map(Requirement, project["optional-dependencies"][name])
        assert asked <= {(one.name, frozenset(one.extras)) for one in given}
    extra = [Requirement(each) for each in project["optional-dependencies"]["mediapipe"]]
    assert {each.name for each in extra} <= {each.name for each in extra if not each.extras}
    for each in found:
        folder = ROOT / each.url.partition("#subdirectory=")[2]
        lines = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "dependencies"
        ]
        required = {Requirement(line).name for line in lines}
        assert {name for name in required if name.startswith("penstock-")} <= known


def test_of_a_repository_on_this_machine_it_is_the_folder(backend, tmp_path):
    project, _ = placed(backend, ROOT.as_uri())

    assert f"penstock-core @ {ROOT.as_uri()}/core" in project["dependencies"]
    with pytest.raises(ValueError, match="is a repository without files; clone it"):
        placed(backend, tmp_path.as_uri())


@pytest.mark.parametrize(
    ("folder", "has_git", "is_clone"),
    [
        ("pip-req-build-x1y2", True, True),
        ("pip-install-x1y2/penstock_00", True, True),
        ("pip-req-build-x1y2", False, False),
        ("penstock", True, False),
    ],
)
def test_only_what_pip_has_cloned_is_changed(backend, tmp_path, folder, has_git, is_clone):
    root = tmp_path / folder
    root.mkdir(parents=True)
    if has_git:
        (root / ".git").mkdir()

    assert backend.is_clone_of_pip(root) == is_clone


@pytest.mark.wheels
def test_a_wheel_that_is_built_in_a_clone_of_pip_has_the_places(tmp_path):
    git, uv = shutil.which("git"), shutil.which("uv")
    if git is None or uv is None or not (ROOT / ".git").exists():
        pytest.skip("needs git, uv and a repository")
    clone = tmp_path / "pip-req-build-x1y2"
    subprocess.run([git, "clone", "--quiet", ROOT.as_uri(), clone], check=True)

    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", tmp_path, clone], check=True)

    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        (name,) = (each for each in file.namelist() if each.endswith("/METADATA"))
        found = email.message_from_bytes(file.read(name)).get_all("Requires-Dist")
    assert f"penstock-core @ {ROOT.as_uri()}/core" in found
    assert [each for each in found if " @ " not in each] == []
