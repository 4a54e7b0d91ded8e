from __future__ import annotations

import pickle

import pytest

from penstock.config import CalculatorGraphConfig, build_plan
from penstock.errors import GraphConfigError, GraphParseError
from penstock_testing import testing_registry

TEXT = """
node { calculator: "PassThru" input_stream: "a" }
  node { calculator: "Known" input_stream: "b" }
"""


@pytest.fixture
def faults(tmp_path, source_registry):
    """Return a function that loads a graph file and returns its faults."""

    def load(text):
        path = tmp_path / "graph.pbtxt"
        path.write_text(text)
        with pytest.raises(GraphConfigError) as caught:
            build_plan(path, source_registry)
        return caught.value.faults

    return load


@pytest.fixture
def source_registry():
    """Return a registry with one calculator."""
    registry = testing_registry()
    registry.add("calculator", "Known", "penstock.engine.calculator:Calculator")
    return registry


def test_each_fault_has_its_place_as_data(tmp_path, faults):
    found = faults(TEXT)

    file = str(tmp_path / "graph.pbtxt")
    assert [(fault.file, fault.line, fault.column) for fault in found[:2]] == [(file, 2, 8), (file, 2, 31)]
    assert all(str(fault).startswith(f"{file}:{fault.line}:{fault.column}: ") for fault in found)
    assert found[0].node == "PassThru"


def test_a_graph_without_lines_has_faults_without_them(source_registry):
    with pytest.raises(GraphConfigError) as caught:
        build_plan(CalculatorGraphConfig(node=[{"calculator": "PassThru"}]), source_registry)

    (fault,) = caught.value.faults
    assert (fault.file, fault.line, fault.column) == (None, None, None)


def test_places_survive_pickling(faults):
    fault = faults(TEXT)[0]

    again = pickle.loads(pickle.dumps(fault))  # noqa: S301  # made here

    assert (again.file, again.line, again.column) == (fault.file, 2, 8)


def test_an_error_that_is_no_fault_of_a_graph_has_no_place():
    assert (GraphParseError("odd").file, GraphConfigError([]).line) == (None, None)


def test_a_thousand_faults_end_the_checking(faults):
    leaf = 'node { calculator: "Unknown" }\n'

    assert len(faults(leaf * 999)) == 999
    assert len(faults(leaf * 3000)) == 1000
