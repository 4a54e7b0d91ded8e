"""A sample of random graphs, here and in MediaPipe, and what counts as a difference."""

from __future__ import annotations

import copy
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "trials" / "beside" / "beside_reference.py"
CASES = ROOT.parent / "shared" / "cases"
#: An interpreter with mediapipe==0.10.21.
REFERENCE = os.environ.get("PENSTOCK_REFERENCE_PYTHON")

CASE = {
    "observe": [["out", False]],
    "steps": [["idle"], ["add", "in", "int", 1, 1], ["close_all"], ["done"], ["start"], ["idle"], ["done"]],
    "mistakes": [],
    "is_serial": True,
}
RESULT = {
    "init": "OK",
    "start": "OK",
    "steps": [[step, "OK"] for step in CASE["steps"]],
    "out": {"out": [[0, "EMPTY", 1], [1, 5, 2], [2, "EMPTY", 3], [7, 8, 6]]},
}


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return importlib.import_module("beside_reference")


def changed(**fields):
    made = copy.deepcopy(RESULT)
    for name, value in fields.items():
        place, _, number = name.partition("_")
        if number:
            made[place][int(number)] = value
        elif place == "out":
            made["out"]["out"][1:] = value["out"]
        else:
            made[place] = value
    return made


FAILS = "RuntimeError: no"
DIFFERENT = {
    "a graph that does not load": (CASE, {"init": FAILS}, "loading: 'OK' there"),
    "a run that does not start": (CASE, {"start": FAILS}, "start: 'OK' there"),
    "a packet less": (CASE, {"out": {"out": [[2, "EMPTY", 3], [7, 8, 6]]}}, "out in steps 0 to 4"),
    "another payload": (CASE, {"out": {"out": [[1, 6, 2], [2, "EMPTY", 3], [7, 8, 6]]}}, "out in steps"),
    "another call": (CASE, {"out": {"out": [[1, 5, 3], [2, "EMPTY", 3], [7, 8, 6]]}}, "out in steps"),
    "another bound": (CASE, {"out": {"out": [[0, 3, 1], [1, 5, 2], [7, 8, 6]]}}, "out in steps"),
    "the second run": (CASE, {"out": {"out": [[1, 5, 2], [2, "EMPTY", 3]]}}, "out in steps 5 to 7"),
    "a call that fails": (CASE, {"steps_1": [CASE["steps"][1], "OK", {"idle": FAILS}]}, "step 1: "),
    "an end that fails": (CASE | {"is_serial": False}, {"steps_3": [["done"], FAILS]}, "the run fails there"),
    "a second start that fails": (CASE, {"steps_4": [["start"], FAILS]}, "step 4: "),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_told(script, name):
    case, fields, words = DIFFERENT[name]

    assert script.compare(case, RESULT, RESULT) == ""
    assert script.compare(case, RESULT, changed(**fields)).startswith(words)


SAME = {
    "the rest of a run after a mistake": (
        CASE | {"mistakes": [1]},
        {"steps_1": [CASE["steps"][1], FAILS], "out": {"out": [[7, 8, 6]]}},
    ),
    "bounds of a later run": (
        CASE,
        {"out": {"out": [[1, 5, 2], [2, "EMPTY", 3], [3, "EMPTY", 6], [7, 8, 6]]}},
    ),
    "bounds before the last one of a call": (
        CASE,
        {"out": {"out": [[1, 5, 2], [1, "EMPTY", 3], [2, "EMPTY", 3], [7, 8, 6]]}},
    ),
    "the call, where the order of arrival shows": (
        CASE | {"is_serial": False},
        {"out": {"out": [[1, 5, 4], [7, 8, 7]]}},
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_differs_on_purpose_or_by_chance_is_not_told(script, name):
    case, fields = SAME[name]

    assert script.compare(case, RESULT, changed(**fields)) == ""


def test_cases_have_failures_runs_side_packets_and_loops(script):
    cases = [script.case_of(number) for number in range(300)]

    assert json.dumps(cases) == json.dumps([script.case_of(number) for number in range(300)])
    for least, share in (
        (10, sum(one["may_fail"] for one in cases)),
        (10, sum(bool(one["mistakes"]) for one in cases)),
        (50, sum(["start"] in one["steps"] for one in cases)),
        (50, sum(bool(one["side"]) for one in cases)),
        (30, sum("back_edge: true" in one["pbtxt"] for one in cases)),
        (30, sum(not one["auto_idle"] for one in cases)),
    ):
        assert share >= least


@pytest.mark.skipif(not REFERENCE, reason="PENSTOCK_REFERENCE_PYTHON names no Python with mediapipe==0.10.21")
@pytest.mark.skipif(not CASES.is_dir(), reason="the programs that drive the reference are not here")
def test_a_sample_of_random_graphs_comes_out_as_in_mediapipe():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--count", "1000", "--seconds", "80", "--seed", "42"],
        capture_output=True,
        text=True,
        timeout=115,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"([\d,]+) compared", done.stdout)[1].replace(",", "")) > 50
    assert "0 different" in done.stdout
