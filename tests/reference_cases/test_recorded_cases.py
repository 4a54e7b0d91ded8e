"""Recorded runs of the reference, run again here: same packets, same calls that fail.

The cases lie beside the repository, in `../shared/cases`, with the program that compares; where they
are missing this says so and skips. `deviations.txt` lists where a difference is meant. A case whose
calculators or handlers no installed pack provides waits, visibly, until one does.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.runtime.default import default_registry

HERE = Path(__file__).parent
CASES = HERE.parents[1].parent / "shared" / "cases"
KINDS = {
    "calculator": ("calculator", "subgraph"),
    "input_stream_handler": ("input stream handler",),
    "output_stream_handler": ("output stream handler",),
    "type": ("executor",),
}
#: What the packs of this repository have provided since they exist, so that a plugin that does not load
#: cannot empty the selection.
FEWEST_CASES = 120


def read_cases():
    return [json.loads(path.read_text("utf-8")) for path in sorted((CASES / "recorded").glob("*.json"))]


def read_deviations():
    lines = (HERE / "deviations.txt").read_text("utf-8").splitlines()
    return {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines if line and line[0] != "#"}


def missing_names(case):
    """Return what the graph of a case names and no installed pack provides."""
    registry = default_registry()
    found = re.findall(r'\b(\w+)\s*:\s*"([A-Z]\w+)"', case["pbtxt"])
    named = [(field, name) for field, name in found if field in KINDS]
    return [name for field, name in named if not any(registry.has(kind, name) for kind in KINDS[field])]


ALL_CASES = read_cases()
if not ALL_CASES:
    pytest.skip("the recorded cases are not here: there is no ../shared/cases", allow_module_level=True)
RUNNABLE = [case["name"] for case in ALL_CASES if not missing_names(case)]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Run all cases that can run, each in a process of its own; name → how it compares."""
    out = tmp_path_factory.mktemp("cases") / "report.json"
    command = [sys.executable, CASES / "run_cases.py", "--backend", "backend_penstock", "--jobs", "2"]
    command += ["--json", out, "--only", *RUNNABLE]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300, check=False)
    assert out.exists(), done.stdout + done.stderr
    return json.loads(out.read_text("utf-8"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case["name"])
def test_a_recorded_run_of_the_reference_comes_out_the_same_or_deviates_on_purpose(case, request):
    if missing := missing_names(case):
        pytest.skip(f"no installed pack provides {', '.join(missing)}")
    result = request.getfixturevalue("report")[case["name"]]

    meant = read_deviations().get(case["name"])

    if meant is not None:
        assert not result["same"], f"it agrees now: take it out of deviations.txt (decision {meant[0]})"
    else:
        assert result["want"] == result["have"], result["raw"]


def test_the_packs_of_this_repository_are_there_to_be_compared():
    assert len(RUNNABLE) >= FEWEST_CASES


def test_every_deviation_names_a_recorded_case_a_decision_and_a_reason():
    names = {case["name"] for case in ALL_CASES}

    for name, (decision, *reason) in read_deviations().items():
        assert name in names
        assert 1 <= int(decision) <= 23
        assert reason
