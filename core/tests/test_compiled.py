from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import penstock
from penstock.compiled import engine_form, stale_modules
from penstock.engine import schedule
from penstock.testing import plugin

SUFFIX = EXTENSION_SUFFIXES[0]


@pytest.fixture
def package(tmp_path):
    """A package with one module in a subpackage, compiled when its source was as it is."""
    (tmp_path / "engine").mkdir()
    for name, time in (("loop.py", 1000), (f"loop{SUFFIX}", 1000), ("plain.py", 9000)):
        (tmp_path / "engine" / name).touch()
        os.utime(tmp_path / "engine" / name, (time, time))
    return tmp_path


def touch(path: Path, time: int) -> Path:
    path.touch()
    os.utime(path, (time, time))
    return path


# --- the form that runs ---------------------------------------------------------------------------


def test_the_form_of_the_engine_is_that_of_the_module_that_was_loaded():
    assert engine_form().startswith("compiled (") is not schedule.__file__.endswith(".py")


def test_a_compiled_engine_says_how_much_of_it_is(package, monkeypatch):
    (package / "engine" / "__init__.py").touch()
    monkeypatch.setattr("penstock.engine.__path__", [str(package / "engine")])
    for name in ("penstock.engine.loop", "penstock.engine.plain"):
        assert name not in sys.modules

    assert engine_form() == "compiled (1 of 2 modules)"
    (package / "engine" / f"loop{SUFFIX}").unlink()
    assert engine_form() == "plain Python"


def test_pytests_header_says_it():
    assert plugin.pytest_report_header() == f"penstock {penstock.__version__}, engine: {engine_form()}"


# --- what was compiled from another source --------------------------------------------------------


def test_what_was_compiled_from_the_source_beside_it_is_not_stale(package):
    assert stale_modules(package) == []


def test_what_is_older_than_its_source_is_stale(package):
    touch(package / "engine" / "loop.py", 1001)

    assert stale_modules(package) == [package / "engine" / f"loop{SUFFIX}"]


def test_what_has_no_source_is_stale(package):
    (package / "engine" / "loop.py").unlink()

    assert stale_modules(package) == [package / "engine" / f"loop{SUFFIX}"]


def test_what_another_interpreter_would_load_does_not_matter(package):
    touch(package / "engine" / "plain.cpython-27-other.so", 1)

    assert stale_modules(package) == []


@pytest.mark.parametrize("installed", ["site-packages", "dist-packages"])
def test_an_installed_distribution_is_never_stale(package, installed):
    moved = package / "lib" / installed / "engine"
    shutil.copytree(package / "engine", moved)
    touch(moved / "loop.py", 1001)

    assert stale_modules(package / "lib" / installed) == []


def test_pytest_refuses_to_test_what_is_stale(tmp_path):
    source = Path(penstock.__file__).parent
    shutil.copytree(source, tmp_path / "penstock", ignore=shutil.ignore_patterns("__pycache__", f"*{SUFFIX}"))
    # of a module that nobody imports here: what is not compiled code at all cannot be loaded either
    touch(tmp_path / "penstock" / "draw" / f"markup{SUFFIX}", 1)
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", tmp_path, "-c", os.devnull, "test_nothing.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    stale = Path("penstock", "draw", f"markup{SUFFIX}")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    assert done.stderr.startswith(
        f"ERROR: {tmp_path}: compiled modules are not what their source says now: "
    ), done.stderr
    assert str(stale) in done.stderr
    assert done.stderr.endswith("; delete them, or compile again\n\n")
    assert "passed" not in done.stdout
