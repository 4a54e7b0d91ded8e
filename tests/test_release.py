"""The command that builds a release: what it takes, in which order, and what it refuses."""

from __future__ import annotations

import importlib.util
import re
import sys
import sysconfig
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
    (tmp_path / "pyproject.toml").write_text(
        "[tool.penstock.addresses]\nrepository = 'https://forge.invalid/penstock'\n"
        "documentation = 'https://docs.invalid/'\nfiles = 'https://forge.invalid/v{version}/'\n"
    )
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


def test_a_missing_address_is_reported_with_the_place_where_it_is_filled_in(script, changelog):
    text = (changelog / "pyproject.toml").read_text()
    (changelog / "pyproject.toml").write_text(text.replace("https://docs.invalid/", ""))

    assert list(script.unready(changelog)) == [
        (
            "the project has no public address: documentation in [tool.penstock.addresses] of pyproject.toml "
            "is empty"
        )
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


# --- compiled cores -------------------------------------------------------------------------------


def program(path, *lines):
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    return path


def test_a_core_is_compiled_for_each_installed_python_and_the_others_are_named(
    script, tmp_path, monkeypatch, capsys
):
    asked = []
    monkeypatch.setattr(script.compiled_wheel, "pythons", lambda: {"3.11": "a/python", "3.13": "b/python"})
    monkeypatch.setattr(
        script.compiled_wheel, "build", lambda *given, **flags: asked.append((given, flags)) or ["wheel"]
    )

    assert script.build_compiled(tmp_path, ROOT / "core") == ["wheel"]

    assert asked == [((tmp_path, ROOT / "core", ["a/python", "b/python"]), {"is_portable": True})]
    assert capsys.readouterr().out == (
        "== no compiled core for Python 3.12, 3.14, which is not installed\n"
        "== build penstock-core, compiled for Python 3.11, 3.13\n"
    )


def test_a_core_that_cannot_be_compiled_ends_the_release(script, tmp_path, monkeypatch):
    usual = program(tmp_path / "python3.11", "echo 0")
    monkeypatch.setattr(script.compiled_wheel, "pythons", lambda: {"3.11": usual})
    monkeypatch.setattr(
        script.compiled_wheel, "uv", lambda: str(script.compiled_wheel.Path(sys.executable))
    )  # which has no command "build"
    monkeypatch.setattr(script.compiled_wheel, "_auditwheel", lambda: ("auditwheel",))

    with pytest.raises(script.ReleaseError, match=r"could not be built; is there a C compiler\?\n"):
        script.build_compiled(tmp_path, ROOT / "core")


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel is for Linux")
def test_nothing_is_compiled_where_the_wheels_could_get_no_portable_tag(script, tmp_path, monkeypatch):
    usual = program(tmp_path / "python3.11", "echo 0")
    monkeypatch.setattr(script.compiled_wheel.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(script.compiled_wheel, "_run", None)

    with pytest.raises(script.compiled_wheel.CompileError, match="auditwheel is not installed; run"):
        script.compiled_wheel.build(tmp_path, ROOT / "core", [usual], is_portable=True)


def test_no_core_is_compiled_for_a_python_without_the_interpreters_lock(script, tmp_path, monkeypatch):
    free = program(tmp_path / "python3.99t", "echo 1")  # what it says of Py_GIL_DISABLED
    usual = program(tmp_path / "python3.98", "echo 0")
    finder = program(
        tmp_path / "uv", f"case $4 in 3.99) echo {free};; 3.98+gil) echo {usual};; *) echo {free};; esac"
    )
    monkeypatch.setattr(script.compiled_wheel, "uv", lambda: str(finder))
    monkeypatch.setattr(script.compiled_wheel, "VERSIONS", ("3.98", "3.99"))

    assert script.compiled_wheel.pythons() == {"3.98": usual}
    with pytest.raises(script.compiled_wheel.CompileError, match=r"python3\.99t has no interpreter lock"):
        script.compiled_wheel.build(tmp_path, ROOT / "core", [usual, free])


def test_this_python_is_among_those_that_are_found(script):
    version = f"{sys.version_info.major}.{sys.version_info.minor}"

    found = script.compiled_wheel.pythons()

    has_lock = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert (found.get(version) == Path(sys.executable)) is has_lock
    assert list(found) == [each for each in script.compiled_wheel.VERSIONS if each in found]


# --- the project's addresses ----------------------------------------------------------------------


@pytest.fixture
def given(script):
    """Addresses as a project may have them; `.invalid` is reserved for such use."""
    return script.Addresses(
        "https://forge.invalid/penstock",
        "https://docs.invalid/penstock/",
        "https://forge.invalid/penstock/blob/v{version}/",
    )


def test_a_release_without_addresses_is_not_ready_and_each_missing_one_is_named(script):
    lacks = list(script.Addresses("", "http://docs.invalid/", "https://forge.invalid/files").lacks())

    place = "in [tool.penstock.addresses] of pyproject.toml"
    assert lacks == [
        f"the project has no public address: repository {place} is empty",
        f"documentation {place} is 'http://docs.invalid/', but must begin with 'https://'",
        f"files {place} is 'https://forge.invalid/files', but must end with '/'",
    ]


def test_complete_addresses_lack_nothing(given):
    assert list(given.lacks()) == []


def test_every_distribution_has_a_place_for_its_addresses_and_invents_none(script):
    for folder in [*script.distributions().values(), ROOT / "contrib" / "room-sensors"]:
        assert project(folder)["urls"] == {}, folder


def test_a_staged_distribution_has_the_addresses_and_the_repository_stays_as_it_is(script, given, tmp_path):
    before = (ROOT / "core" / "README.md").read_text(encoding="utf-8")

    copy = script.stage(ROOT / "core", tmp_path, given, "1.2.3")

    assert project(copy)["urls"] == {
        "Documentation": "https://docs.invalid/penstock/",
        "Source": "https://forge.invalid/penstock",
        "Changelog": "https://forge.invalid/penstock/blob/v1.2.3/CHANGELOG.md",
    }
    readme = (copy / "README.md").read_text(encoding="utf-8")
    assert "](https://docs.invalid/penstock/how-to/index.html)" in readme
    assert "](https://forge.invalid/penstock/blob/v1.2.3/plugins/views/README.md)" in readme
    assert (ROOT / "core" / "README.md").read_text(encoding="utf-8") == before
    assert not list(copy.rglob("__pycache__"))


def test_no_staged_readme_has_a_link_that_dies_on_an_index(script, given, tmp_path):
    for name, folder in script.distributions().items():
        (tmp_path / name).mkdir()
        readme = (script.stage(folder, tmp_path / name, given, "1.2.3") / "README.md").read_text("utf-8")
        links = re.findall(r"\]\(([^)]*)\)", readme)
        assert [link for link in links if not link.startswith(("https://", "#"))] == [], name


def test_pages_images_and_other_files_get_the_address_where_each_is(script, given):
    readme = "[a](docs/install.md#with-pip-alone) ![b](docs/images/b.svg) [c](LICENSE) [d](#d) [e](https://pypi.org)"

    assert sys.modules["addresses"].with_absolute_links(readme, ".", given, "1.2.3") == (
        "[a](https://docs.invalid/penstock/install.html#with-pip-alone) "
        "![b](https://docs.invalid/penstock/_images/b.svg) "
        "[c](https://forge.invalid/penstock/blob/v1.2.3/LICENSE) [d](#d) [e](https://pypi.org)"
    )


def test_a_draft_without_addresses_keeps_the_files_as_they_are(script, tmp_path):
    copy = script.stage(ROOT / "core", tmp_path, script.Addresses("", "", ""), "1.2.3")

    for file in ("README.md", "pyproject.toml"):
        assert (copy / file).read_bytes() == (ROOT / "core" / file).read_bytes()


def test_the_root_is_staged_without_the_members_of_the_workspace(script, given, tmp_path):
    copy = script.stage(ROOT, tmp_path, given, "1.2.3")

    assert {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()} == {
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "scripts/build_backend.py",
    }


def test_a_pyproject_without_the_table_is_refused(script, given):
    module = sys.modules["addresses"]

    with pytest.raises(module.AddressError, match=r"has 0 tables \[project\.urls\], but must have 1"):
        module.with_urls('[project]\nname = "penstock-core"\n', given, "1.2.3")
