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
#: An interpreter with mediapipe==0.10.21; `tox run -e differential` makes one.
REFERENCE = os.environ.get("PENSTOCK_REFERENCE_PYTHON")
_HAS_IT = "import importlib.metadata as m; raise SystemExit(m.version('mediapipe') != '0.10.21')"

CASE = {
    "pbtxt": 'input_stream: "in"\nnode { calculator: "PassThroughCalculator" }',
    "observe": [["out", False]],
    "steps": [["idle"], ["add", "in", "int", 1, 1], ["close_all"], ["done"], ["start"], ["idle"], ["done"]],
    "mistakes": [],
    "is_serial": True,
}
CLOSED = CASE | {
    "may_lose": True,
    "steps": [["idle"], ["add", "in", "int", 1, 1], ["close", "in"], ["done"], *CASE["steps"][4:]],
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
    "a packet less, where MediaPipe may lose some": (
        CASE | {"may_lose": True},
        {"out": {"out": [[1, 5, 2], [2, "EMPTY", 3]]}},
        "out in steps",
    ),
    "a packet more before the inputs end": (
        CASE | {"may_lose": True},
        {"out": {"out": [[1, 5, 2], [1, 6, 2], [2, "EMPTY", 3], [7, 8, 6]]}},
        "out in steps",
    ),
    "a packet more where one of two inputs has ended": (
        CLOSED | {"pbtxt": 'input_stream: "in"\ninput_stream: "other"'},
        {"out": {"out": [[1, 5, 2], [1, 6, 3], [2, "EMPTY", 3], [7, 8, 6]]}},
        "out in steps",
    ),
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
    "the last packets of a cycle that MediaPipe loses": (
        CASE | {"may_lose": True},
        {"out": {"out": [[1, 5, 2], [2, "EMPTY", 3], [5, 9, 4], [7, 8, 6]]}},
    ),
    "the same where the program has closed each input": (
        CLOSED,
        {"out": {"out": [[1, 5, 2], [2, "EMPTY", 3], [5, 9, 3], [7, 8, 6]]}},
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


@pytest.fixture
def reference():
    """Return an interpreter that has the reference."""
    if not CASES.is_dir():
        pytest.skip("the programs that drive the reference, ../shared/cases, are not here")
    if not REFERENCE or not Path(REFERENCE).is_file():
        pytest.skip(f"PENSTOCK_REFERENCE_PYTHON names no Python with mediapipe==0.10.21: {REFERENCE!r}")
    if subprocess.run([REFERENCE, "-c", _HAS_IT], capture_output=True, timeout=60, check=False).returncode:
        pytest.skip(f"{REFERENCE} has no mediapipe==0.10.21")
    return REFERENCE


@pytest.mark.timeout(620)
def test_a_sample_of_random_graphs_comes_out_as_in_mediapipe(reference):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--reference", reference, "--count", "1000", "--seed", "42"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"([\d,]+) compared", done.stdout)[1].replace(",", "")) > 900
    assert "0 different" in done.stdout


# --- what differs only now and then ---------------------------------------------------------------


SAME_ANSWERS = ({"init": "OK"}, {"init": "OK"}, "")
OTHER_ANSWERS = ({"init": "OK"}, {"init": "no"}, "loading: ")


@pytest.mark.parametrize("turn", [0, 9, 10, 39])
def test_a_graph_that_the_reference_answers_in_both_ways_is_asked_up_to_forty_times(script, turn):
    answers = iter([*[OTHER_ANSWERS] * turn, SAME_ANSWERS])

    assert script.ask_again(lambda: next(answers)) == SAME_ANSWERS


def test_a_graph_that_differs_each_time_is_different_also_beside_busy_processes(script, monkeypatch):
    beside, busy = [], []
    start = script.Load.at_least

    def at_least(load, count):
        start(load, count)
        busy[:] = load._busy
        beside.append(sum(process.poll() is None for process in busy))

    monkeypatch.setattr(script.Load, "at_least", at_least)
    assert script.ask_again(lambda: OTHER_ANSWERS) is None
    assert beside == [1] * 10 + [2] * 10 + [4] * 10
    assert [process.poll() is not None for process in busy] == [True] * 4


def test_a_crash_of_the_reference_is_no_answer(script):
    assert script.ask_again(lambda: ({"crash": "hang"}, {"init": "OK"}, "")) is None
