"""Which engine runs, in the words of `penstock demo`, `doctor` and `plugins`."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock_cli.machine import engine


@pytest.mark.parametrize(
    ("form", "root", "said"),
    [
        ("plain Python", Path("clone"), f"plain Python (to compile it: {engine.COMPILE})"),
        ("plain Python", None, "plain Python"),
        ("compiled (9 of 17 modules)", Path("clone"), "compiled (9 of 17 modules)"),
    ],
)
def test_a_clone_with_plain_python_names_the_command_that_compiles(monkeypatch, form, root, said):
    monkeypatch.setattr(engine, "engine_form", lambda: form)
    monkeypatch.setattr(engine, "root_of_clone", lambda: root)
    monkeypatch.setattr(engine.sysconfig, "get_config_var", lambda _: None)

    assert engine.engine_words() == said


@pytest.mark.parametrize("root", [Path("clone"), None])
def test_a_python_that_can_run_without_its_lock_names_no_command_that_compiles(monkeypatch, root):
    monkeypatch.setattr(engine, "engine_form", lambda: "plain Python")
    monkeypatch.setattr(engine, "root_of_clone", lambda: root)
    monkeypatch.setattr(engine.sysconfig, "get_config_var", lambda name: int(name == "Py_GIL_DISABLED"))

    assert engine.engine_words() == "plain Python, as on each Python that can run without its lock"


def test_the_demo_says_which_engine_runs(command, tmp_path):
    done = command("demo", "--frames", "2", "-o", "out.mp4", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert f"engine: {engine.engine_words()}" in " ".join((done.stdout + done.stderr).split())
