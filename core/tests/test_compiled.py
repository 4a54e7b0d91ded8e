from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import penstock
from penstock.engine import schedule
from penstock.engine_form import engine_form
from penstock_testing import pytest_plugin

SUFFIX = EXTENSION_SUFFIXES[0]
#: Not in the package: only the build, and tests of a source tree, need it.
BUILD_RECORD = Path(__file__).resolve().parents[1] / "build_record.py"
build_record = runpy.run_path(str(BUILD_RECORD))
RECORD, source_digests, write_record = (
    build_record[name] for name in ("RECORD", "source_digests", "write_record")
)
changed_modules, stale_modules = build_record["changed_modules"], build_record["stale_modules"]


LIBRARY = f"loops__mypyc{SUFFIX}"
#: Of a package that has a compiled module, a plain one whose constant it uses, and what is not in it.
SOURCES = {
    "engine/__init__.py": "",
    "engine/loop.py": """
from __future__ import annotations
import json
from typing import TYPE_CHECKING
from loops.limits import LIMIT
if TYPE_CHECKING:
    from loops.shapes import Shape
def last() -> int:
    import loops.late
    return LIMIT
""",
    "engine/plain.py": "from loops.limits import LIMIT\n",
    "limits.py": "from loops import sizes\nLIMIT = 2 * sizes.SIZE\n",
    "sizes.py": "SIZE = 4\n",
    "late.py": "",
    "shapes.py": "class Shape: ...\n",
}


def filled(package):
    for name, text in SOURCES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    (package / "engine" / f"loop{SUFFIX}").write_bytes(b"jumps into the library")
    (package.parent / LIBRARY).write_bytes(b"the code of all modules")
    write_record(package, source_digests(package))
    return package


@pytest.fixture
def package(tmp_path):
    """A package as the build leaves it: one compiled module, and what it was compiled from written down."""
    return filled(tmp_path / "loops")


def loop(package):
    return package / "engine" / f"loop{SUFFIX}"


def change(path):
    path.write_bytes(path.read_bytes() + b"\n")


def age(path, seconds):
    os.utime(path, (seconds, seconds))


# --- the form that runs ---------------------------------------------------------------------------


def test_the_form_of_the_engine_is_that_of_the_module_that_was_loaded():
    assert engine_form().startswith("compiled (") is not schedule.__file__.endswith(".py")


def test_a_compiled_engine_says_how_much_of_it_is(package, monkeypatch):
    monkeypatch.setattr("penstock.engine.__path__", [str(package / "engine")])
    for name in ("penstock.engine.loop", "penstock.engine.plain"):
        assert name not in sys.modules

    assert engine_form() == "compiled (1 of 2 modules)"
    (package / "engine" / f"loop{SUFFIX}").unlink()
    assert engine_form() == "plain Python"


def test_pytests_header_says_it():
    assert pytest_plugin.pytest_report_header() == f"penstock {penstock.__version__}, engine: {engine_form()}"


# --- what was compiled from another source --------------------------------------------------------


def test_what_was_compiled_from_the_source_beside_it_is_not_stale(package):
    assert stale_modules(package) == []


def test_the_times_of_files_say_nothing(package):
    age(package / "engine" / "loop.py", 9000)
    age(loop(package), 1000)
    assert stale_modules(package) == []

    change(package / "engine" / "loop.py")
    age(package / "engine" / "loop.py", 1000)
    age(loop(package), 9000)
    assert stale_modules(package) == [loop(package)]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("engine/loop.py", id="its source"),
        pytest.param("limits.py", id="a plain module whose constant is in the code"),
        pytest.param("sizes.py", id="what that constant is made of"),
        pytest.param("late.py", id="what a function imports"),
        pytest.param(f"engine/loop{SUFFIX}", id="itself, compiled by something else"),
        pytest.param(f"../{LIBRARY}", id="the code of all modules"),
    ],
)
def test_what_is_not_as_it_was_when_it_was_compiled_is_stale(package, name):
    change(package / name)
    assert stale_modules(package) == [loop(package)]

    filled(package)
    assert stale_modules(package) == []
    if not name.endswith(loop(package).name):
        (package / name).unlink()
        assert stale_modules(package) == [loop(package)]


@pytest.mark.parametrize("name", ["engine/plain.py", "shapes.py"])
def test_what_is_not_in_the_code_may_change(package, name):
    change(package / name)

    assert stale_modules(package) == []


def test_a_compiled_module_that_the_build_did_not_write_down_is_stale(package):
    other = package / "engine" / f"plain{SUFFIX}"
    other.touch()

    assert stale_modules(package) == [other]


@pytest.mark.parametrize(
    "text",
    [None, "", "not JSON", "[]", "{}", '{"NAME": null}', '{"NAME": {}}', '{"NAME": {"NAME": 1}}', "\\xff"],
)
def test_without_a_record_that_speaks_of_it_a_compiled_module_is_stale(package, text):
    record = package / RECORD
    record.unlink()
    if text is not None:
        name = f"engine/loop{SUFFIX}"
        record.write_bytes(text.replace("NAME", name).encode("latin-1").replace(b"\\xff", b"\xff"))

    assert stale_modules(package) == [loop(package)]


def test_a_source_that_changed_while_the_compiler_ran_is_stale_at_once(package):
    before = source_digests(package)
    change(package / "engine" / "loop.py")

    write_record(package, before)

    assert stale_modules(package) == [loop(package)]


def test_a_record_of_nothing_is_refused(package):
    loop(package).unlink()

    with pytest.raises(
        FileNotFoundError, match=f"{package} has no compiled module for this interpreter, exp"
    ):
        write_record(package, source_digests(package))


def test_a_package_without_compiled_modules_needs_no_record(package):
    loop(package).unlink()
    (package / RECORD).unlink()

    assert stale_modules(package) == []


def test_what_another_interpreter_would_load_does_not_matter(package):
    (package / "engine" / "plain.cpython-27-other.so").touch()

    assert stale_modules(package) == []


@pytest.mark.parametrize("installed", ["site-packages", "dist-packages"])
def test_an_installed_distribution_is_never_stale(package, installed):
    moved = filled(package.parent / "lib" / installed / "loops")
    change(moved / "engine" / "loop.py")

    assert stale_modules(moved) == []
    assert changed_modules(moved) == [loop(moved)]


def test_the_engine_that_is_tested_is_what_the_build_wrote_down():
    assert changed_modules(Path(penstock.__file__).parent) == []


def test_the_build_writes_its_record_without_importing_penstock(package):
    code = (
        f"import pathlib, runpy, sys; found = runpy.run_path({str(BUILD_RECORD)!r})\n"
        f"package = pathlib.Path({str(package)!r})\n"
        "found['write_record'](package, found['source_digests'](package))\n"
        "print([name for name in sys.modules if name.partition('.')[0] in {'penstock', 'attrs', 'google'}])"
    )

    assert subprocess.check_output([sys.executable, "-I", "-S", "-c", code], text=True) == "[]\n"
    assert stale_modules(package) == []


def test_pytest_refuses_to_test_what_is_stale(tmp_path):
    source, tree = Path(penstock.__file__).parent, tmp_path / "src"
    shutil.copytree(source, tree / "penstock", ignore=shutil.ignore_patterns("__pycache__", f"*{SUFFIX}"))
    shutil.copy(BUILD_RECORD, tmp_path)
    # beside a module that nothing imports here: an empty file cannot be loaded
    (tree / "penstock" / "plugins" / f"doctor{SUFFIX}").touch()
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", tmp_path, "-c", os.devnull, "test_nothing.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    stale = Path("penstock", "plugins", f"doctor{SUFFIX}")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    words = "pytest would test compiled modules that are not what their source says now: "
    assert done.stderr.startswith(f"ERROR: {tree}: {words}"), done.stderr
    assert str(stale) in done.stderr
    assert done.stderr.endswith("; delete them, or compile again\n\n")
    assert "passed" not in done.stdout
