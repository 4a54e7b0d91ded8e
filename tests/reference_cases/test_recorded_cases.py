"""Recorded runs of the reference, run again here: same packets, same calls that fail.

The cases are beside the repository, in `../shared/cases`, with the program that compares. Where they
are missing, the tests skip and say so. `deviations.txt` lists the intended differences. A case whose
calculators or handlers no installed pack provides is skipped until one does.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from penstock.errors import PenstockError
from penstock.plugins.default_registry import default_registry
from penstock_processes.process_executor import ProcessExecutor
from penstock_remote.colocate import Together

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
    """Return file → case; those in "open" are runs whose right end had to be found out."""
    paths = [path for place in ("recorded", "open") for path in sorted((CASES / place).glob("*.json"))]
    return {path: json.loads(path.read_text("utf-8")) for path in paths}


def read_deviations():
    lines = (HERE / "deviations.txt").read_text("utf-8").splitlines()
    return {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines if line and line[0] != "#"}


def missing_names(case):
    """Return the names in the graph of a case that no installed pack provides."""
    registry = default_registry()
    found = re.findall(r'\b(\w+)\s*:\s*"([A-Z]\w+)"', case["pbtxt"])
    named = [(field, name) for field, name in found if field in KINDS]
    return [name for field, name in named if not any(registry.has(kind, name) for kind in KINDS[field])]


def load(path):
    """Import a file: "run_cases.py" runs a case and reduces its result to what is compared."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FILES = read_cases()
ALL_CASES = list(FILES.values())
if not ALL_CASES:
    pytest.skip("the recorded cases are not here: there is no ../shared/cases", allow_module_level=True)
if not hasattr(os, "fork"):
    pytest.skip(
        "each case runs in a fork of one process, and this system has no fork", allow_module_level=True
    )
run_cases = load(CASES / "run_cases.py")
RUNNABLE = [case["name"] for case in ALL_CASES if not missing_names(case)]


@pytest.fixture(scope="module")
def result_of():
    """Return a function that runs a case in a process of its own and returns its results."""
    places = [str(CASES), str(HERE), os.environ.get("PYTHONPATH", "")]
    with subprocess.Popen(
        [sys.executable, HERE / "one_process_each.py"],
        # Threads of a library would not be in the forks.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)), "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:

        def run(path):
            print(path, file=server.stdin, flush=True)
            line = server.stdout.readline()
            assert line, f"one_process_each.py ended with {server.wait()}"
            return json.loads(line)

        yield run
        server.stdin.close()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_run_of_the_reference_comes_out_the_same_or_deviates_on_purpose(path, request):
    case = FILES[path]
    if missing := missing_names(case):
        pytest.skip(f"no installed pack provides {', '.join(missing)}")
    result = request.getfixturevalue("result_of")(path)
    want, have = run_cases.essence(case["result"], False), run_cases.essence(result, False)

    meant = read_deviations().get(case["name"])

    if meant is not None:
        assert want != have, f"it agrees now: take it out of deviations.txt (decision {meant[0]})"
    else:
        assert want == have, result


@contextlib.contextmanager
def on_executor(executor):
    """Give a backend as `run_cases.py` wants it, whose graphs have all nodes on an executor."""
    backend = load(HERE / "backend_penstock.py")

    class Elsewhere(backend.Graph):
        made: ClassVar[list] = []

        def __init__(self, pbtxt):
            super().__init__(pbtxt)
            self.graph.set_executor("", executor)
            self.made.append(self.graph)

    yield SimpleNamespace(Graph=Elsewhere)
    for graph in Elsewhere.made:
        with contextlib.suppress(PenstockError):
            graph.abandon(1.0)
    executor.close()


@pytest.fixture(scope="module")
def in_workers():
    """Return a backend whose graphs have their nodes in two worker processes."""
    with on_executor(ProcessExecutor(2)) as backend:
        yield backend


@pytest.fixture(scope="module")
def in_regions():
    """Return a backend whose graphs have all nodes in one worker, neighbours as one remote graph."""
    with on_executor(ProcessExecutor(1, colocate=(Together(),))) as backend:
        yield backend


@pytest.mark.parametrize("where", ["in_workers", "in_regions"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_run_comes_out_the_same_in_workers(path, where, request):
    case = FILES[path]
    if missing := missing_names(case):
        pytest.skip(f"no installed pack provides {', '.join(missing)}")
    if case["name"] in read_deviations():
        pytest.skip("it deviates on purpose")
    if re.search(r"executor\s*\{[^{}]*type\s*:", case["pbtxt"]):
        pytest.skip("the graph has executors of its own")
    result = run_cases.run_case(case, request.getfixturevalue(where))
    want, have = run_cases.essence(case["result"], False), run_cases.essence(result, False)
    if where == "in_regions":  # what an observer of bounds sees of one call is the last bound
        want, have = without_bounds(want), without_bounds(have)

    assert want == have, result


def without_bounds(seen):
    """Return what a run has shown, without settled timestamps at which nothing came."""
    out = {name: [one for one in shown if one[1] != "EMPTY"] for name, shown in seen.get("out", {}).items()}
    return {**seen, "out": out}


def test_the_packs_of_this_repository_are_there_to_be_compared():
    assert len(RUNNABLE) >= FEWEST_CASES


def test_every_deviation_names_a_recorded_case_a_decision_and_a_reason():
    names = {case["name"] for case in ALL_CASES}

    for name, (decision, *reason) in read_deviations().items():
        assert name in names
        assert 1 <= int(decision) <= 28
        assert reason
