"""What is refused when a graph is loaded, and how it is said."""

from __future__ import annotations

import subprocess
import sys

import pytest

import penstock
from penstock.config import CalculatorGraphConfig
from penstock.errors import GraphConfigError
from penstock.plugins import default_registry
from penstock.registry import Registry
from penstock_failures import actions

CASES = {
    "retry: -1": "retry -1: must not be negative",
    "timeout_ms: -5": "timeout_ms -5: must not be negative",
    "open_timeout_ms: -5": "open_timeout_ms -5: must not be negative",
    "close_timeout_ms: -5": "close_timeout_ms -5: must not be negative",
    "on_error: RESTART then: RESTART": "then RESTART of the failure policy: must be FAIL, SKIP or FALL_BACK",
    "on_error: SKIP then: SKIP": "then SKIP has no effect in a failure policy with on_error SKIP",
    "on_error: FALL_BACK": 'FALL_BACK needs a calculator; add fallback { calculator: "Name" }',
    'on_error: FALL_BACK then: FALL_BACK fallback { calculator: "Steady" }': "on_error says so already",
    'on_error: SKIP fallback { calculator: "Steady" }': "fallback has no effect; add on_error: FALL_BACK",
    'on_error: SKIP error_stream: "TAG:x"': "must be the name of a stream, without a tag",
    'on_error: SKIP error_stream: "Bad Name"': "'Bad Name'",
    'on_error: SKIP error_stream: "out"': "output stream 'out' is defined twice: this node has it already",
    'on_error: SKIP error_stream: "in"': "the graph has an input stream of that name",
    'on_error: FALL_BACK fallback { calculator: "Stedy" }': "did you mean 'Steady'?",
    'on_error: FALL_BACK fallback { calculator: "Two" }': "'Two' has another contract",
    'on_error: FALL_BACK fallback { calculator: "Camera" }': "Camera",
}


@pytest.mark.parametrize("failure", CASES)
def test_a_policy_that_makes_no_sense_is_refused_with_its_place(driven, failure):
    with pytest.raises(GraphConfigError) as caught:
        driven("Trouble", failure)
    assert CASES[failure] in str(caught.value)
    assert caught.value.faults[0].node == "Trouble"
    assert caught.value.faults[0].line is not None


def test_an_unknown_action_is_refused_by_its_name(driven):
    with pytest.raises(penstock.PenstockError, match="IGNORE"):
        driven("Trouble", "on_error: IGNORE")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("on_error: SKIP", "SKIP skips an input set, and a source has none; use RESTART"),
        ('on_error: RESTART error_stream: "e"', "a source has none; read graph.failures()"),
    ],
)
def test_a_source_has_nothing_to_skip_and_no_timestamps(registry, failure, words):
    text = f'node {{ calculator: "Camera" output_stream: "out" failure {{ {failure} }} }}'
    with pytest.raises(GraphConfigError) as caught:
        penstock.CalculatorGraph(text, registry=registry)
    assert words in str(caught.value)


def test_a_node_that_makes_side_packets_is_not_opened_again(registry):
    text = 'node { calculator: "MakesSide" output_side_packet: "side" failure { on_error: RESTART } }'
    with pytest.raises(GraphConfigError, match="this node makes side packets, once in a run"):
        penstock.CalculatorGraph(text, registry=registry)


def inner_graph(calculator):
    node = f'node {{ calculator: "{calculator}" input_stream: "x" output_stream: "y" }}'
    return f'input_stream: "x" output_stream: "y" {node}'


def test_a_subgraph_has_no_policy(registry):
    text = """input_stream: "in"
        node { calculator: "Inner" input_stream: "in" output_stream: "out" failure { on_error: SKIP } }"""
    with pytest.raises(GraphConfigError, match="failure is for calculators, and this is a subgraph"):
        penstock.CalculatorGraph(text, registry=registry, subgraphs={"Inner": inner_graph("Trouble")})


def test_a_subgraph_is_no_fallback(registry):
    text = """input_stream: "in"
        node { calculator: "Trouble" input_stream: "in" output_stream: "out"
               failure { on_error: FALL_BACK fallback { calculator: "Inner" } } }"""
    with pytest.raises(GraphConfigError, match="fallback 'Inner' is a subgraph; name a calculator"):
        penstock.CalculatorGraph(text, registry=registry, subgraphs={"Inner": inner_graph("Steady")})


def test_options_of_a_fallback_are_checked(driven):
    options = "node_options { [type.googleapis.com/trouble.SteadyOptions] { wurd: 'x' } }"
    with pytest.raises(penstock.PenstockError, match="wurd"):
        driven("Trouble", f'on_error: FALL_BACK fallback {{ calculator: "Steady" {options} }}')


def test_a_reader_of_the_error_stream_is_checked_for_its_type(registry):
    text = """input_stream: "in"
        node { calculator: "Trouble" input_stream: "in" output_stream: "out"
               failure { on_error: SKIP error_stream: "errors" } }
        node { calculator: "Doubled" input_stream: "errors" output_stream: "twice" }"""
    with pytest.raises(GraphConfigError, match=r"stream 'errors' carries .*Failure"):
        penstock.CalculatorGraph(text, registry=registry)


def test_without_the_pack_the_graph_says_what_to_install(registry, monkeypatch):
    bare = Registry()
    for kind, name in (("calculator", "Trouble"), ("input stream handler", "DefaultInputStreamHandler")):
        bare.add(kind, name, registry.find(kind, name))
    monkeypatch.setattr(default_registry, "default_registry", Registry)
    with pytest.raises(GraphConfigError) as caught:
        penstock.CalculatorGraph(
            """input_stream: "in" node { calculator: "Trouble" input_stream: "in" output_stream: "out"
               failure { on_error: SKIP error_stream: "errors" } }""",
            registry=bare,
        )
    (fault,) = caught.value.faults
    assert "node 'Trouble': failure: no layer 'failure' is registered" in str(fault)
    assert "pip install penstock-failures" in str(fault)


def test_a_graph_without_policies_imports_nothing_of_this_pack(registry):
    node = 'node { calculator: "PassThroughCalculator" input_stream: "x" output_stream: "y" }'
    code = (
        "import sys, penstock; graph = penstock.CalculatorGraph("
        f"'input_stream: \"x\" {node}'); "
        "graph.start_run(); graph.close(); assert 'penstock_failures.failure' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_numbers_of_the_actions_are_those_of_the_message():
    node = CalculatorGraphConfig.Node()
    names = type(node.failure).DESCRIPTOR.enum_types_by_name["Action"].values_by_number
    assert {number: value.name for number, value in names.items()} == dict(enumerate(actions.NAMES))
