"""Options that cannot be read are faults among others, and say which line would be right."""

from __future__ import annotations

import attrs
import pytest

from penstock.attrs_options import attrs_name
from penstock.config import build_plan, read_graph
from penstock.config.subgraphs.subgraph import Subgraph
from penstock.engine.input_stream_handler import InputStreamHandler
from penstock.errors import GraphConfigError, GraphParseError, InvalidArgumentError


@attrs.frozen
class FactorOptions:
    factor: int = 1
    rounded: bool = False


NAME = attrs_name(FactorOptions)
KNOWN = f"; the options of 'Scale' are {NAME}, which has factor, rounded"
LINE = f"node_options {{ [type.googleapis.com/{NAME}] {{ factor: 3 }} }}"


@pytest.fixture
def scale(declare, registry):
    """A registry with a calculator that has options, and one that has none."""
    declare("Scale").Options = FactorOptions
    declare("PassCalculator")
    return registry


def one(inside, calculator="Scale"):
    return f'input_stream: "a"\nnode {{ calculator: "{calculator}" input_stream: "a"\n  {inside} }}\n'


def error_of(graph, registry):
    with pytest.raises(GraphParseError) as caught:
        build_plan(graph, registry)
    return str(caught.value)


def lines_of(graph, registry):
    with pytest.raises(GraphConfigError) as caught:
        build_plan(graph, registry)
    return [str(fault) for fault in caught.value.faults]


# --- the line that would be right -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "column", "message", "cure"),
    [
        ("options { factor: 3 }", 13, "CalculatorOptions has no field 'factor'", f"; write {LINE}"),
        ("options { factor:\n 3 }", 13, "CalculatorOptions has no field 'factor'", f"; write {LINE}"),
        ("options { fctor: 3 }", 13, "CalculatorOptions has no field 'fctor'", f"; write {LINE}"),
        ("node_options { factor: 3 }", 18, "google.protobuf.Any has no field 'factor'", f"; write {LINE}"),
        ("factor: 3", 3, "CalculatorGraphConfig.Node has no field 'factor'", f"; write {LINE}"),
        ("options { zoom: 3 }", 13, "CalculatorOptions has no field 'zoom'", KNOWN),
        ("zoom: 3", 3, "CalculatorGraphConfig.Node has no field 'zoom'", ""),
    ],
)
def test_a_field_outside_of_its_options_is_shown_in_the_line_that_would_be_right(
    inside, column, message, cure, scale
):
    package = "" if message.startswith("google") else "penstock."

    assert error_of(one(inside), scale) == f"line 3, column {column}: {package}{message}{cure}"


def test_options_that_are_an_extension_are_shown_as_one(declare, registry, make_options):
    make_options("ZoomCalculatorOptions", 500020020)
    declare("ZoomCalculator")

    assert error_of(one("options { size: 3 }", "ZoomCalculator"), registry) == (
        "line 3, column 13: penstock.CalculatorOptions has no field 'size'; write options { "
        "[penstock.ZoomCalculatorOptions.ext] { size: 3 } }"
    )


def test_options_of_an_executor_are_shown_too(plan, registry, make_options):
    make_options("QuickExecutorOptions", 500020021, "penstock.MediaPipeOptions")
    registry.add("executor", "QuickExecutor", object)

    assert error_of('executor { type: "QuickExecutor" options { size: 3 } }', registry) == (
        "line 1, column 44: penstock.MediaPipeOptions has no field 'size'; write options { "
        "[penstock.QuickExecutorOptions.ext] { size: 3 } }"
    )


def test_a_calculator_without_known_options_says_where_they_are_described(scale):
    assert error_of(one("options { zoom: 3 }", "PassCalculator"), scale) == (
        "line 3, column 13: penstock.CalculatorOptions has no field 'zoom'; 'penstock show PassCalculator' "
        "says how its options are written"
    )


@pytest.mark.parametrize(
    "inside",
    [
        "options { [penstock.ShownOptions] { size: 1 } }",
        "node_options { [penstock.ShownOptions.ext] { size: 1 } }",
        "options { [type.googleapis.com/penstock.ShownOptions] { size: 1 } }",
    ],
)
def test_options_in_the_form_of_another_field_name_both_forms(inside, scale, make_options):
    make_options("ShownOptions", 500020022)

    assert error_of(one(inside), scale).endswith(
        "; write options { [package.XOptions.ext] { ... } }, or node_options { "
        "[type.googleapis.com/package.XOptions] { ... } }"
    )


def test_a_class_without_a_number_that_is_written_as_an_extension_says_so(scale):
    assert error_of(one(f"options {{ [{NAME}.ext] {{ factor: 3 }} }}"), scale) == (
        f"line 3, column 13: the options '{NAME}' are no extension; write node_options {{ "
        f"[type.googleapis.com/{NAME}] {{ ... }} }}"
    )


# --- one fault hides no other ---------------------------------------------------------------------

SEVERAL = f"""
input_stream: "a"
node {{ calculator: "Scale" node_options {{ [type.googleapis.com/nobody.Has] {{ x: 1 }} }} }}
node {{ calculator: "Scael" input_stream: "aa" }}
node {{
  calculator: "Scale"
  input_stream: "bb"  # after an option that cannot be read
  node_options {{ [type.googleapis.com/{NAME}] {{ fctor: 3 }} }}
}}
executor {{ name: "e" type: "Nope" options {{ size: 3 }} }}
"""
FAULTS = (
    "line 3, column 43: no options message 'type.googleapis.com/nobody.Has' is known; no plugin that is",
    "line 4, column 8: node 'Scael': no calculator 'Scael' is registered (did you mean 'Scale'?)",
    "line 4, column 28: node 'Scael': input stream 'aa' (input 0) has no producer (did you mean 'a'?); let a",
    "line 7, column 3: node 'Scale_2' (Scale): input stream 'bb' (input 0) has no producer; let a node",
    f"line 8, column {43 + len(NAME)}: {NAME} has no field 'fctor' (did you mean 'factor'?)",
    "line 10, column 22: executor 'e': no executor 'Nope' is registered; install the pack that has it",
    "line 10, column 45: penstock.MediaPipeOptions has no field 'size'; 'penstock show Nope' says how its",
)


def test_faults_of_options_are_listed_with_all_others_in_file_order(scale):
    found = lines_of(SEVERAL, scale)

    assert [line[: len(fault)] for line, fault in zip(found, FAULTS, strict=True)] == list(FAULTS)


POLICY = """
input_stream: "a"
node {
  calculator: "Scael"
  input_stream: "a"
  input_stream_handler { input_stream_handler: "Nowhere" options { [nobody.Has.ext] { x: { y: 1 } } } }
}
node {
  calculator: "PassCalculator"
  input_stream: "a"
  failure { fallback { calculator: "Scael" node_options { [type.googleapis.com/nobody.Has] { x: 1 } } } }
}
"""


def test_options_of_a_policy_and_of_a_fallback_hide_no_other_fault(scale):
    found = lines_of(POLICY, scale)

    assert [line.partition(";")[0] for line in found][:4] == [
        "line 4, column 3: node 'Scael': no calculator 'Scael' is registered (did you mean 'Scale'?)",
        "line 6, column 3: node 'Scael': no input stream handler 'Nowhere' is registered",
        "line 6, column 68: no options message 'nobody.Has.ext' is known",
        "line 11, column 59: no options message 'type.googleapis.com/nobody.Has' is known",
    ]


def test_a_policy_whose_options_cannot_be_read_is_not_asked_for_its_leading_input(scale):
    class Leads(InputStreamHandler):
        @classmethod
        def leading_input(cls, options, ports):
            raise InvalidArgumentError("name the tick")

    scale.add("input stream handler", "Leads", Leads)
    graph = (
        'input_stream: "a" node { calculator: "PassCalculator" input_stream: "a" input_stream_handler { '
        'input_stream_handler: "Leads" options { [nobody.Has.ext] {} } } }'
    )

    assert error_of(graph, scale).startswith(
        "line 1, column 136: no options message 'nobody.Has.ext' is known"
    )


def test_two_unknown_options_inside_of_one_are_both_found_and_hide_no_other_fault(scale):
    inner = "options { [nobody.Has.ext] { x: 1 } }"
    graph = (
        'input_stream: "a"\nnode {\n  calculator: "Scale" input_stream: "a" output_stream: "b"\n'
        f"  node_options {{ [type.googleapis.com/nobody.Container] {{ {inner} {inner} }} }}\n}}\n"
        'node { calculator: "Scael" input_stream: "b" }\n'
    )

    found = lines_of(graph, scale)

    assert [line.partition(";")[0].partition(" (")[0] for line in found][:4] == [
        "line 4, column 18: no options message 'type.googleapis.com/nobody.Container' is known",
        "line 4, column 69: no options message 'nobody.Has.ext' is known",
        "line 4, column 107: no options message 'nobody.Has.ext' is known",
        "line 6, column 8: node 'Scael': no calculator 'Scael' is registered",
    ]


def test_reading_alone_raises_the_faults_of_options_too(scale):
    with pytest.raises(GraphConfigError) as caught:
        read_graph(SEVERAL, scale)

    assert [fault.line for fault in caught.value.faults] == [3, 8, 10]
    assert all(isinstance(fault, GraphParseError) for fault in caught.value.faults)


def test_a_text_that_makes_no_sense_further_on_has_that_fault_last(scale):
    found = lines_of(f"{one('options { zoom: 3 }')} node {{\n nme: 3 }}", scale)

    assert [line.partition(":")[0] for line in found] == ["line 3, column 13", "line 5, column 2"]


def test_where_a_bracket_is_never_closed_reading_ends_with_the_first_fault(scale):
    assert "has no field 'zoom'" in error_of(f"{one('options { zoom: 3 }')} node {{", scale)
    assert error_of(f"{one('')} node {{", scale).endswith("this bracket is never closed")


def test_faults_of_options_in_a_subgraph_are_listed_with_all_others_there(scale):
    inner = (
        one("options { zoom: 3 }") + one("options { zoom: 4 }").partition("\n")[2] + SEVERAL.splitlines()[3]
    )

    with pytest.raises(GraphConfigError) as caught:
        build_plan('input_stream: "a"\nnode { calculator: "Inner" }', scale, subgraphs={"Inner": inner})

    assert [str(fault).partition(" has no field 'zoom'")[0] for fault in caught.value.faults[:2]] == [
        f"line 2, column 8: node 'Inner': <subgraph Inner>:{line}:13: penstock.CalculatorOptions"
        for line in (3, 5)
    ]
    assert [fault.node for fault in caught.value.faults[2:]] == ["inner__Scael", "inner__Scael"]
    assert "no calculator 'Scael' is registered" in str(caught.value.faults[2])


def test_a_node_whose_options_cannot_be_read_has_no_fault_because_of_what_is_missing_then(declare, registry):
    declare("Sized", lambda cc: cc.inputs["NEEDED"].set_any()).Options = attrs.make_class(
        "SizedOptions", {"size": attrs.field(type=int)}
    )
    text = 'node { calculator: "Sized" options { sise: 3 } }'

    assert "has no field 'sise'; write " in error_of(text, registry)
    with pytest.raises(GraphConfigError) as caught:
        build_plan('node { calculator: "Inner" }', registry, subgraphs={"Inner": text})
    assert ["has no field 'sise'; write " in str(fault) for fault in caught.value.faults] == [True]


def test_a_subgraph_whose_options_cannot_be_read_is_not_asked_for_its_graph(scale):
    class Inner(Subgraph):
        def get_config(self, sc):
            raise ValueError(f"no options in {sc.node_name}")

    scale.add("subgraph", "Inner", Inner)

    assert "has no field 'zoom'" in error_of('node { calculator: "Inner" options { zoom: 3 } }', scale)


def test_very_many_faults_of_options_end_the_reading(scale):
    nodes = one("options { zoom: 3 }") * 40

    with pytest.raises(GraphConfigError) as caught:
        build_plan(nodes, scale)

    assert len(caught.value.faults) == 21
