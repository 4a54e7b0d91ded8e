"""`scripts/trials/mediapipe_python_tests.py`: MediaPipe's tests run with changed imports, and are counted."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/trials/mediapipe_python_tests.py"

#: A test as MediaPipe writes them: of the five, one passes, two want files, two fail.
SOLUTION = """
import os
import unittest

import cv2

import mediapipe.python.packet_creator
from mediapipe.python import packet_creator
from mediapipe.python.solutions import pose

HERE = os.path.dirname(__file__)


class FiveTest(unittest.TestCase):
  def test_pass(self):
    # from mediapipe, as the comment says
    self.assertEqual(packet_creator.__name__.split('.')[0], 'penstock_mediapipe')

  def test_picture(self):
    cv2.imread(os.path.join(HERE, 'testdata/hands.jpg')).shape

  def test_model(self):
    pose.Pose(model_complexity=2)

  def test_wrong(self):
    self.assertEqual(1, 2)

  def test_tempfile(self):
    self.assertNotIn('tempfile', tempfile.gettempdir() + 'tempfile')
"""
BROKEN = "from mediapipe.python import nobody_has_this\n"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("penstock_workspace_mediapipe_python_tests", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]


@pytest.fixture
def clone(tmp_path):
    solutions = tmp_path / "clone/mediapipe/python/solutions"
    solutions.mkdir(parents=True)
    (solutions / "five_test.py").write_text(SOLUTION)
    (solutions.parent / "broken_test.py").write_text(BROKEN)
    (solutions.parent / "other.py").write_text(BROKEN)
    return tmp_path / "clone"


@pytest.fixture
def results(script, clone, tmp_path, monkeypatch):
    """Return a function: a folder of pictures or None → outcomes of the clone's tests, and their files."""
    # Without a wheel, so that no model is found.
    (tmp_path / "no models").mkdir()
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path / "no models"))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")

    def run(pictures=None):
        target = tmp_path / "target"
        target.mkdir()
        tests = script.copy_tests(clone, pictures, target)
        report, printed = script.run_tests(target)
        assert report, printed
        return script.outcomes_of(report, tests), tests

    return run


def test_only_imports_are_changed(script):
    changed = script.changed(SOLUTION)

    ours = [line for line in changed.splitlines() if line not in SOLUTION.splitlines()]
    assert ours == [
        "import os, tempfile",
        "import penstock_mediapipe.python.packet_creator",
        "from penstock_mediapipe.python import packet_creator",
        "from penstock_mediapipe.python.solutions import pose",
    ]
    assert script.changed(changed) == changed


def test_outcomes_are_told_apart_by_what_a_failure_says(results, script, capsys):
    outcomes, tests = results()

    assert tests == ["broken_test.py", "solutions/five_test.py"]
    assert {one.name: (one.state, one.file) for one in outcomes} == {
        "broken_test": ("fail", "broken_test.py"),
        "test_pass": ("pass", "solutions/five_test.py"),
        "test_picture": ("want", "solutions/five_test.py"),
        "test_model": ("want", "solutions/five_test.py"),
        "test_wrong": ("fail", "solutions/five_test.py"),
        "test_tempfile": ("fail", "solutions/five_test.py"),
    }
    assert {one.why for one in outcomes if one.state == "want"} == {
        "hands.jpg",
        "pose_landmark_heavy.tflite",
    }
    assert script.report_on(outcomes, tests) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[:4] == [
        "file                   | tests |  pass |  fail | want files that are not here",
        "broken_test.py         |     1 |     0 |     1 |     0",
        "solutions/five_test.py |     5 |     1 |     2 |     2",
        "all                    |     6 |     1 |     3 |     2",
    ]
    assert "not here: hands.jpg (tests that want it: 1)" in printed
    assert "FAILED solutions/five_test.py test_wrong: AssertionError: 1 != 2" in printed


def test_pictures_that_are_here_are_given_to_the_tests(results, tmp_path):
    import cv2
    import numpy as np

    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for name in ("hands.jpg", "unwanted.jpg"):
        cv2.imwrite(str(pictures / name), np.zeros((4, 5, 3), np.uint8))

    outcomes, _ = results(pictures)

    assert {one.state for one in outcomes if one.name == "test_picture"} == {"pass"}
    assert [path.name for path in (tmp_path / "target/solutions/testdata").iterdir()] == ["hands.jpg"]


def test_without_failures_the_exit_code_is_0(script, capsys):
    outcomes = [
        script.Outcome("a_test.py", "A.one", "pass"),
        script.Outcome("a_test.py", "A.two", "want", "b"),
    ]

    assert script.report_on(outcomes, ["a_test.py"]) == 0
    assert "not here: b (tests that want it: 1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "[ WARN] findDecoder imread_('/x/portrait.jpg'): can't open/read file: check file path/integrity",
        "E FileNotFoundError: [Errno 2] No such file or directory: '/x/testdata/portrait.jpg'",
        "RuntimeError: Image decoding failed (can't fopen): /x/portrait.jpg [it cannot be read]",
        "FileNotFoundError: the model 'mediapipe/modules/portrait.jpg' was not found, and",
    ],
)
def test_a_missing_file_is_found_in_what_a_failure_says(text, script):
    assert script.missing_file(text) == "portrait.jpg"


def test_a_file_that_is_here_is_not_missing(script):
    assert script.missing_file(f"No such file or directory: '{SCRIPT}'") is None
    assert script.missing_file("AssertionError: 1 != 2") is None


def run(*words, **environment):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | environment,
    )


def test_a_folder_that_is_no_clone_is_refused(tmp_path):
    done = run(str(tmp_path))

    assert done.returncode == 2
    assert "is no clone of MediaPipe: it has no folder mediapipe/python" in done.stderr


def test_what_is_missing_is_said_with_the_command_that_installs_it(script, monkeypatch, clone, capsys):
    known = script.find_spec
    monkeypatch.setattr(script, "find_spec", lambda name: None if name == "absl" else known(name) or True)
    monkeypatch.setattr(sys, "argv", ["mediapipe_python_tests.py", str(clone)])

    with pytest.raises(SystemExit) as ended:
        script.main()
    assert ended.value.code == 2
    assert "the tests need more: pip install absl-py" in capsys.readouterr().err
