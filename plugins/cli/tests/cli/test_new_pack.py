from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock_cli.failures import WrongUsage
from penstock_cli.machine import environment
from penstock_cli.packs.new_pack import core_range
from penstock_cli.packs.pack_names import pack_names

pytestmark = pytest.mark.heavy

FILES = {
    "README.md",
    "pyproject.toml",
    "src/penstock_soil/__init__.py",
    "src/penstock_soil/deviation.pbtxt",
    "src/penstock_soil/difference.py",
    "src/penstock_soil/mean.py",
    "src/penstock_soil/plugin.py",
    "src/penstock_soil/py.typed",
    "tests/test_difference.py",
    "tests/test_mean.py",
    "tests/test_pack.py",
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(directory):
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()}


def project(directory):
    return tomllib.loads((directory / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def installed_by_hand(directory):
    """Write the metadata that pip would write beside a pack's package; return the directory for the path."""
    said = project(directory)
    sources = directory / "src"
    info = sources / f"{said['name'].replace('-', '_')}-{said['version']}.dist-info"
    info.mkdir()
    head = ["Metadata-Version: 2.1", f"Name: {said['name']}", f"Version: {said['version']}"]
    head += [f"Requires-Python: {said['requires-python']}"]
    head += [f"Requires-Dist: {line}" for line in said["dependencies"]]
    readme = (directory / "README.md").read_text(encoding="utf-8")
    (info / "METADATA").write_text("\n".join([*head, "", readme]), encoding="utf-8")
    points = [f"{name} = {module}" for name, module in said["entry-points"]["penstock"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[penstock]", *points]), encoding="utf-8")
    return sources


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.usefixtures("with_pip")
def test_a_pack_is_written_and_the_next_commands_are_printed(invoke, here):
    done = invoke("new", "pack", "soil")

    assert (done.exit_code, done.stderr) == (0, "")
    assert files(here / "penstock-soil") == FILES
    assert done.stdout == (
        "penstock-soil is a pack: a calculator as a class, one as a function, a subgraph, their tests\n"
        "\n"
        "go on with\n"
        f"  pip install -e '.{os.sep}penstock-soil[testing]'\n"
        "  pytest penstock-soil\n"
        "  penstock validate-pack soil\n"
        "\n"
        "build its wheel, uninstall it\n"
        f"  pip wheel --no-deps --wheel-dir .{os.sep}penstock-soil/dist .{os.sep}penstock-soil\n"
        f"  # it is in penstock-soil{os.sep}dist; others install it with: pip install FILE.whl\n"
        "  pip uninstall penstock-soil\n"
    )


def test_within_uv_run_the_next_commands_are_those_of_uv(invoke, here, monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "find_spec", lambda _name: None)
    monkeypatch.setattr(environment, "_scripts", lambda: str(tmp_path / "programs"))
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    monkeypatch.setenv("UV", "/opt/uv")
    monkeypatch.setenv("PATH", str(tmp_path))

    done = invoke("new", "pack", "soil")

    assert done.stdout.splitlines()[2:] == [
        "go on with",
        f"  /opt/uv pip install --python {sys.executable} -e '.{os.sep}penstock-soil[testing]'",
        "  /opt/uv run pytest penstock-soil",
        "  /opt/uv run penstock validate-pack soil",
        "",
        "build its wheel, uninstall it",
        f"  /opt/uv build --wheel .{os.sep}penstock-soil",
        f"  # it is in penstock-soil{os.sep}dist; others install it with: pip install FILE.whl",
        f"  /opt/uv pip uninstall --python {sys.executable} penstock-soil",
        "",
        "`uv sync` uninstalls it too; `uv sync --inexact` does not",
        "in a uv project of your own, this makes it a requirement",
        f"  /opt/uv add --editable '.{os.sep}penstock-soil[testing]'",
    ]


def test_in_an_environment_of_uv_the_hint_about_sync_is_printed_too(invoke, monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "find_spec", lambda _name: None)
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    (tmp_path / "uv").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    done = invoke("new", "pack", "soil")

    assert done.stdout.endswith("\n\n`uv sync` uninstalls it too; `uv sync --inexact` does not\n")


def test_a_new_pack_passes_its_own_tests_once_it_is_installed(invoke, here):
    invoke("new", "pack", "soil-2d", "--description", 'A "quoted" \\ one, of $5.')
    sources = installed_by_hand(here / "penstock-soil-2d")

    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=here / "penstock-soil-2d",
        env={**os.environ, "PYTHONPATH": str(sources)},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )

    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout


def test_the_tests_of_a_new_pack_do_not_use_the_settings_of_a_project_around_it(invoke, here):
    (here / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--no-such-option'\n")
    invoke("new", "pack", "soil")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "penstock-soil/tests/test_mean.py"],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(here / "penstock-soil" / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )

    assert "3 tests collected" in done.stdout, done.stderr


def test_no_placeholder_is_left(invoke, here):
    invoke("new", "pack", "soil")

    assert [path for path in files(here) if "$" in (here / path).read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("soil", ("soil", "penstock_soil", "Soil")),
        ("penstock-soil", ("soil", "penstock_soil", "Soil")),
        ("Penstock_Soil.Sensors", ("soil-sensors", "penstock_soil_sensors", "SoilSensors")),
        ("k2-x9", ("k2-x9", "penstock_k2_x9", "K2X9")),
    ],
)
def test_all_names_follow_from_one(invoke, here, name, names):
    plugin, package, camel = names
    assert invoke("new", "pack", name).exit_code == 0

    directory = here / f"penstock-{plugin}"
    said = project(directory)
    assert said["name"] == f"penstock-{plugin}"
    assert said["entry-points"] == {"penstock": {plugin: f"{package}.plugin"}}
    plugin_module = (directory / "src" / package / "plugin.py").read_text(encoding="utf-8")
    assert f'"{camel}MeanCalculator": "{package}.mean:{camel}MeanCalculator"' in plugin_module


@given(st.text("abzAZ019-_. ß", max_size=12) | st.text(max_size=12))
@settings(max_examples=60, deadline=None)
def test_any_text_gives_names_that_can_be_used_or_is_refused(name):
    try:
        names = pack_names(name)
    except WrongUsage:
        return

    assert names.package.isidentifier()
    assert names.camel.isidentifier()
    assert pack_names(names.distribution) == pack_names(names.package) == pack_names(names.plugin) == names


def test_what_the_pack_requires_follows_from_the_core_that_wrote_it(invoke, here):
    import penstock  # for this test alone

    invoke("new", "pack", "soil")

    said = project(here / "penstock-soil")
    assert said["dependencies"] == [
        f"penstock-{name}{core_range(penstock.__version__)}" for name in ("core",)
    ]
    assert said["optional-dependencies"]["testing"][0] == (
        f"penstock-core[testing]{core_range(penstock.__version__)}"
    )
    assert (core_range("0.1.3"), core_range("2.9.0")) == (">=0.1,<0.2", ">=2.9,<2.10")


@pytest.mark.parametrize(
    ("author", "table"),
    [
        ("Ada", {"name": "Ada"}),
        ('Ada "A" L <ada@example.org>', {"name": "Ada A L", "email": "ada@example.org"}),
    ],
)
def test_description_and_author_are_kept_as_they_are(invoke, here, author, table):
    text = 'What "my" sensors\\need, in 3 µs & <b>.'

    assert invoke("new", "pack", "soil", "--description", text, "--author", author).exit_code == 0

    said = project(here / "penstock-soil")
    assert (said["description"], said["authors"]) == (text, [table])
    assert text in (here / "penstock-soil" / "README.md").read_text(encoding="utf-8")


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["3d", "a b", "", "penstock-", "straße", "a/b", "-", "a-", "$x"])
def test_an_invalid_name_is_refused(invoke, here, name):
    done = invoke("new", "pack", "--", name)

    assert done.exit_code == 2
    assert done.stderr == (
        f"Error: pack name {name!r}: must begin with a letter and be words of letters and digits joined by "
        "'-', as in 'my-pack'\n"
    )
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["image", "penstock_core", "cli", "subgraphs-flow"])
def test_the_name_of_an_official_pack_is_refused(invoke, here, name):
    done = invoke("new", "pack", name)

    assert done.exit_code == 2
    assert done.stderr.endswith(" is an official pack; choose another name\n")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--description", "two\nlines"),
            "the new pack's description 'two\\nlines': must be one line of text",
        ),
        (("--description", " "), "the new pack's description ' ': must be one line of text"),
        (
            ("--author", "Ada <nowhere>"),
            "the new pack's author 'Ada <nowhere>': must be 'Name' or 'Name <address@host>'",
        ),
        (("--author", "<a@b>"), "the new pack's author '<a@b>': must be 'Name' or 'Name <address@host>'"),
    ],
)
def test_texts_that_are_not_one_line_are_refused(invoke, here, arguments, said):
    done = invoke("new", "pack", "soil", *arguments)

    assert (done.exit_code, done.stderr) == (2, f"Error: {said}\n")
    assert list(here.iterdir()) == []


def test_nothing_is_overwritten_and_the_file_in_the_way_is_named(invoke, here):
    (here / "mine" / "src").mkdir(parents=True)

    done = invoke("new", "pack", "soil", "--directory", "mine")

    assert done.exit_code == 2
    assert done.stderr == (
        f"Error: {str(Path('mine/src'))!r} exists already, and the new pack does not overwrite it; move it "
        "away, or name another directory with --directory\n"
    )
    assert [path.name for path in (here / "mine").iterdir()] == ["src"]


def test_a_pack_is_written_into_a_directory_with_other_files(invoke, here):
    (here / "mine" / ".git").mkdir(parents=True)

    assert invoke("new", "pack", "soil", "--directory", "mine").exit_code == 0

    assert files(here / "mine") == FILES
    assert (here / "mine" / ".git").is_dir()


def test_a_pack_is_written_into_the_current_directory(invoke, here):
    assert invoke("new", "pack", "soil", "--directory", ".").exit_code == 0

    assert files(here) == FILES


def test_a_file_as_the_directory_is_refused(invoke, here):
    (here / "mine").write_text("")

    done = invoke("new", "pack", "soil", "--directory", "mine")

    assert (done.exit_code, done.stderr) == (
        2,
        "Error: 'mine' is a file; name a directory for the new pack with --directory\n",
    )


def test_a_missing_parent_directory_is_not_made(invoke, here):
    done = invoke("new", "pack", "soil", "--directory", "far/away")

    assert done.exit_code == 4
    far = str(here / "far")
    assert done.stderr == f"Error: the directory {far!r} for the new pack does not exist; make it first\n"
    assert list(here.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_named(invoke, here, monkeypatch):
    def refuse(path, *_):
        raise OSError(30, "Read-only file system", path)

    monkeypatch.setattr("os.mkdir", refuse)
    done = invoke("new", "pack", "soil")

    assert done.exit_code == 4
    assert done.stderr == (
        f"Error: the new pack's directory {str(here)!r} cannot be written to: Read-only file system; name "
        "another one with --directory\n"
    )


@pytest.mark.parametrize("is_there", [False, True])
def test_a_write_that_fails_leaves_nothing_behind(with_a_full_disk, invoke, here, is_there):
    invoke("new", "pack", "soil", "--directory", "before")
    sizes = sorted(path.stat().st_size for path in (here / "before").rglob("*") if path.is_file())
    shutil.rmtree(here / "before")
    if is_there:
        (here / "penstock-soil").mkdir()

    done = with_a_full_disk(sizes[-1] - 1, "new", "pack", "soil")  # all files but the largest have room

    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert [path for path in here.rglob("*") if path != here / "penstock-soil"] == []


def test_an_entry_that_cannot_be_moved_takes_the_others_out_again(invoke, here, monkeypatch):
    rename = Path.rename

    def refuses_tests(path, target):
        if path.name == "tests":
            raise OSError(13, "Permission denied")
        return rename(path, target)

    (here / "penstock-soil").mkdir()
    (here / "penstock-soil" / "notes").write_text("mine")
    monkeypatch.setattr(Path, "rename", refuses_tests)
    done = invoke("new", "pack", "soil")

    assert done.exit_code == 1
    assert "Permission denied" in done.stderr
    assert [path.name for path in (here / "penstock-soil").rglob("*")] == ["notes"]
