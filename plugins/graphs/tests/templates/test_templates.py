"""Templates as graphs and as subgraphs, and `GraphTemplate`."""

import logging
import re
import sys
import textwrap

import attrs
import pytest

from penstock import Registry, Subgraph
from penstock.config import build_plan, read_definition, read_graph
from penstock.config.calculator_graph_template_pb2 import CalculatorGraphTemplate, TemplateSubgraphOptions
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.errors import (
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    NotFoundError,
    StatusCode,
    UnknownNameError,
)
from penstock.packs import plugins_renewed
from penstock.readers import ReadGraph
from penstock.types import attrs_name
from penstock_builder import Graph
from penstock_templates import GraphTemplate

CHAIN = """\
type: "Chain"
% param length : 2 %
input_stream: "s_0"
output_stream: % "s_" + length %
% for (i : range(length)) % node {
  calculator: % kind %
  input_stream: % "s_" + i %
  output_stream: % "s_" + (i + 1) %
} % end %
"""
#: A template that uses itself, with a smaller argument each time.
NEST = """\
type: "Nest"
input_stream: "in"
output_stream: "out"
% if (depth > 0) % node {
  calculator: "Nest" input_stream: "in" output_stream: "out"
  options { [penstock.TemplateSubgraphOptions.ext] { dict: % dict("depth": depth - 1) % } }
} % end %
% if (depth == 0) % node { calculator: "PassCalculator" input_stream: "in" output_stream: "out" } % end %
"""


def is_template(source, registry):
    return not isinstance(read_definition(source, registry), ReadGraph)


@attrs.frozen
class SizedOptions:
    size: int = 0


@pytest.fixture
def plan_of(registry):
    def plan_of(graph, **subgraphs):
        return build_plan(
            textwrap.dedent(graph) if isinstance(graph, str) else graph, registry, subgraphs=subgraphs
        )

    return plan_of


@pytest.fixture
def chain(registry):
    return GraphTemplate.from_text(CHAIN, registry)


def use(name, values, more=""):
    """Return a graph with one node that a template replaces."""
    arguments = " ".join(f'arg {{ key: "{key}" value {{ {value} }} }}' for key, value in values.items())
    return (
        f'input_stream: "in"\nnode {{ calculator: "{name}" input_stream: "in" output_stream: "out" {more}\n'
        f"options {{ [mediapipe.TemplateSubgraphOptions.ext] {{ dict {{ {arguments} }} }} }} }}"
    )


def nodes_of(plan):
    return [
        f"{node.name or node.calculator}: {' '.join(node.input_stream)} → {' '.join(node.output_stream)}"
        for node in plan.config.node
    ]


def faults_of(make):
    with pytest.raises(GraphConfigError) as caught:
        make()
    return [(fault.code.name, str(fault)) for fault in caught.value.faults]


# --- as a graph -------------------------------------------------------------------------------------------


def test_text_and_files_of_templates_are_graphs_with_their_defaults(plan_of, registry, tmp_path):
    text = CHAIN.replace("% kind %", '"PassCalculator"')
    expected = ["PassCalculator: s_0 → s_1", "PassCalculator: s_1 → s_2"]
    path = tmp_path / "chain.pbtxt"
    path.write_text(text, encoding="utf-8")

    assert nodes_of(plan_of(text)) == expected
    assert nodes_of(plan_of(path)) == expected
    assert read_graph(path, registry).output_stream == ["s_2"]


def test_a_missing_param_is_reported_with_file_line_and_what_to_do(registry, tmp_path):
    path = tmp_path / "chain.pbtxt"
    path.write_text(CHAIN, encoding="utf-8")

    assert faults_of(lambda: build_plan(path, registry)) == [
        (
            "NOT_FOUND",
            (
                f"{path}:6:15: param 'kind' has no value and no default; give it to expand() or "
                "with_arguments() of a GraphTemplate, or in the TemplateSubgraphOptions of the node"
            ),
        )
    ]


def test_a_template_with_its_arguments_is_a_graph(chain, plan_of):
    expected = ["PassCalculator: s_0 → s_1"]

    assert nodes_of(plan_of(chain.expand(kind="PassCalculator", length=1))) == expected
    assert nodes_of(plan_of(chain.with_arguments(kind="PassCalculator", length=1))) == expected


def test_faults_of_its_nodes_say_where_in_the_template_they_stand(chain, plan_of):
    found = faults_of(lambda: plan_of(chain.with_arguments(kind="Missing", length=1)))

    words = (
        "<template>:6:3: node 'Missing': no calculator 'Missing' is registered; install the pack that "
        "has it, or decorate your own with @penstock.register_calculator"
    )
    assert found == [("NOT_FOUND", words)]


def test_the_builder_reads_a_template_and_writes_the_graph_that_it_makes(chain, registry):
    g = Graph.from_config(chain.with_arguments(kind="PassCalculator"), registry=registry)

    assert g.to_config() == chain.expand(kind="PassCalculator")


# --- GraphTemplate ----------------------------------------------------------------------------------------


def test_its_params_are_declared_ones_first_and_those_that_it_uses(chain):
    assert chain.params == {"length": False, "kind": True}
    assert chain.with_arguments(kind="X").params == {"length": False, "kind": False}
    assert repr(chain) == "<GraphTemplate <template>: length, kind>"


def test_arguments_are_given_in_steps_and_the_last_one_counts(chain):
    once = chain.with_arguments(length=3, kind="A")

    assert [node.calculator for node in once.expand(kind="B").node] == ["B", "B", "B"]
    assert [node.calculator for node in once.expand().node] == ["A", "A", "A"]
    assert len(chain.expand(kind="A").node) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lenght": 3}, "has no param 'lenght'; did you mean 'length'?"),
        ({"i": 3}, "has no param 'i'; it has length, kind"),
        (
            {"kind": None},
            "argument 'kind' is a NoneType; the values of a template are str, bool, int, float,",
        ),
        ({"kind": [{"a": {1, 2}}]}, "argument 'kind'[0]['a'] is a set; "),
        ({"kind": {1: 2}}, "argument 'kind': the template's key 1 is a int; keys of values are str"),
        ({"length": 2**53 + 1}, "argument 'length': 9007199254740993 is too large for a template's values"),
    ],
)
def test_an_argument_that_cannot_be_one_is_refused(chain, arguments, words):
    with pytest.raises(InvalidArgumentError) as caught:
        chain.expand(**arguments)
    assert words in str(caught.value)


def test_all_mistakes_of_an_expansion_come_together():
    template = GraphTemplate.from_text("type: %a% num_threads: %b%")

    with pytest.raises(GraphConfigError) as caught:
        template.expand()

    assert caught.value.code is StatusCode.NOT_FOUND
    assert [fault.column for fault in caught.value.faults] == [7, 24]


def test_a_message_of_it_is_a_template_again_also_from_a_binary_file(chain, registry, tmp_path):
    message = chain.to_message()
    path = tmp_path / "chain.template.binarypb"
    path.write_bytes(message.SerializeToString())
    expected = chain.expand(kind="X")

    assert GraphTemplate.from_message(message, registry).expand(kind="X") == expected
    assert GraphTemplate.from_file(path, registry).expand(kind="X") == expected
    message.Clear()
    assert chain.expand(kind="X") == expected


def test_a_binary_template_whose_name_does_not_say_so_is_no_graph(chain, registry, tmp_path):
    path = tmp_path / "chain.binarypb"
    path.write_bytes(chain.to_message().SerializeToString())

    with pytest.raises(
        GraphParseError, match=r"this is a template; name a binary template \*\.template\.binarypb"
    ):
        read_graph(path, registry)


def test_a_graph_without_rules_is_a_template_without_params(registry):
    template = GraphTemplate.from_text('type: "Plain" node { calculator: "A" }', registry)

    assert template.params == {}
    assert template.expand() == CalculatorGraphConfig(type="Plain", node=[{"calculator": "A"}])
    with pytest.raises(InvalidArgumentError, match="has no param 'n'; it has none"):
        template.expand(n=1)


def test_what_is_no_template_is_refused(registry, tmp_path):
    with pytest.raises(GraphParseError, match="<template>:1:7: the template's expression, or rule, begins"):
        GraphTemplate.from_text("type: %", registry)
    with pytest.raises(NotFoundError, match="there is no graph file"):
        GraphTemplate.from_file(tmp_path / "missing.pbtxt", registry)
    with pytest.raises(InvalidArgumentError, match=r"text is a .*Path; pass a str, or use from_file"):
        GraphTemplate.from_text(tmp_path, registry)
    with pytest.raises(InvalidArgumentError, match="cannot parse a graph of type 'int'"):
        GraphTemplate.from_message(3, registry)


def test_a_template_reads_itself_where_no_plugins_are_loaded(monkeypatch):
    monkeypatch.setenv("PENSTOCK_NO_PLUGINS", "1")
    with plugins_renewed():
        assert GraphTemplate.from_text("type: %a%").expand(a="T").type == "T"
        with pytest.raises(UnknownNameError) as caught:
            read_graph("type: %a%", Registry())

    said = "line 1, column 7: this graph is a template, and no graph reader 'template' is registered"
    assert str(caught.value).startswith(said)
    assert re.search(r"templates,.* \(no plugins are loaded, see PENSTOCK_NO_PLUGINS\)$", str(caught.value))


# --- as a subgraph ----------------------------------------------------------------------------------------


def test_a_node_gives_the_arguments_and_they_go_before_those_of_the_template(plan_of, chain):
    graph = use("Chain", {"length": "num: 3", "kind": 'str: "PassCalculator"'})
    expected = [
        "chain__PassCalculator_1: in → chain__s_1",
        "chain__PassCalculator_2: chain__s_1 → chain__s_2",
        "chain__PassCalculator_3: chain__s_2 → out",
    ]

    assert nodes_of(plan_of(graph, Chain=CHAIN)) == expected
    assert nodes_of(plan_of(graph, Chain=chain.with_arguments(length=7))) == expected
    with_kind = chain.with_arguments(kind="PassCalculator")
    assert nodes_of(plan_of(use("Chain", {"length": "num: 3"}), Chain=with_kind)) == expected


def test_arguments_may_be_packed(plan_of):
    arguments = 'dict { arg { key: "kind" value { str: "PassCalculator" } } }'
    graph = f"""
        input_stream: "in"
        node {{
          calculator: "Chain" input_stream: "in" output_stream: "out"
          node_options {{ [type.googleapis.com/mediapipe.TemplateSubgraphOptions] {{ {arguments} }} }}
        }}
        """

    assert len(plan_of(graph, Chain=CHAIN).config.node) == 2


def test_two_nodes_of_one_template_are_graphs_of_their_own(plan_of, chain):
    graph = """
        input_stream: "in"
        node {
          name: "one" calculator: "Chain" input_stream: "in" output_stream: "mid"
          options {
            [mediapipe.TemplateSubgraphOptions.ext] { dict { arg { key: "length" value { num: 1 } } } }
          }
        }
        node { name: "two" calculator: "Chain" input_stream: "mid" output_stream: "out" }
        """

    plan = plan_of(graph, Chain=chain.with_arguments(kind="PassCalculator"))

    assert [node.name for node in plan.config.node] == [
        "one__PassCalculator", "two__PassCalculator_1", "two__PassCalculator_2",
    ]  # fmt: skip


def test_the_graph_of_the_reference_is_what_the_reference_makes_of_it(registry, plan_of):
    registry.add("calculator", "PassThroughCalculator", registry.find("calculator", "PassCalculator"))
    template = """
        type: "PassThroughGraph"
        input_stream: % "INPUT:" + in_name %
        output_stream: "OUTPUT:stream_2"
        node {
          name: %in_name%
          calculator: "PassThroughCalculator"
          input_stream: %in_name%   # any type
          output_stream: "stream_2"
        }
        """
    main = """
        input_stream: "INPUT:stream_1"
        output_stream: "OUTPUT:stream_2"
        node { calculator: "PassThroughCalculator" input_stream: "stream_1" output_stream: "stream_2" }
        node {
          calculator: "PassThroughGraph"
          options: { [mediapipe.TemplateSubgraphOptions.ext]: { dict: {
            arg: { key: "in_name" value: { str: "stream_8" } }
          } } }
          input_stream: "INPUT:stream_2"
          output_stream: "OUTPUT:stream_3"
        }
        """
    plan = build_plan(textwrap.dedent(main), registry, subgraphs=[template])

    assert nodes_of(plan) == [
        "PassThroughCalculator: stream_1 → stream_2",
        "passthroughgraph__stream_8: stream_2 → stream_3",
    ]
    alone = plan_of(GraphTemplate.from_text(template, registry).with_arguments(in_name="stream_9"))
    assert nodes_of(alone) == ["stream_9: stream_9 → stream_2"]
    assert list(alone.config.input_stream) == ["INPUT:stream_9"]


def test_a_file_of_a_package_is_a_template_too(registry, tmp_path, monkeypatch):
    package = tmp_path / "penstock_template_pack"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "chain.pbtxt").write_text(CHAIN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "penstock_template_pack", raising=False)
    registry.add("subgraph", "Chain", "penstock_template_pack:chain.pbtxt")

    plan = build_plan(use("Chain", {"kind": 'str: "PassCalculator"'}), registry)

    assert len(plan.config.node) == 2
    assert is_template(registry.find("subgraph", "Chain"), registry)


def test_a_template_may_use_itself_as_long_as_it_ends(plan_of):
    plan = plan_of(use("Nest", {"depth": "num: 3"}), Nest=NEST)
    assert nodes_of(plan) == ["nest__nest__nest__nest__PassCalculator: in → out"]

    endless = NEST.replace("depth - 1", "depth")
    ((code, message),) = faults_of(lambda: plan_of(use("Nest", {"depth": "num: 3"}), Nest=endless))
    assert code == "INVALID_ARGUMENT"
    assert message.endswith("subgraph 'Nest' contains itself: Nest → Nest; take one of them out")


def test_a_class_may_answer_with_a_template_that_has_its_arguments(plan_of, chain):
    class Longer(Subgraph):
        @classmethod
        def get_config(cls, sc):
            return chain.with_arguments(length=len(sc.node_name), kind="PassCalculator")

    plan = plan_of('input_stream: "in" node { calculator: "Longer" input_stream: "in" }', Longer=Longer)

    assert len(plan.config.node) == len("Longer")


def test_mistakes_inside_have_their_place_and_the_node_that_uses_the_template(plan_of):
    graph = use("Chain", {"length": "num: 1.5"})

    assert faults_of(lambda: plan_of(graph, Chain=CHAIN)) == [
        (
            "INVALID_ARGUMENT",
            (
                "<subgraph Chain>:5:1: used by node 'Chain' at line 2, column 8: "
                "the template cannot be evaluated: 'range' takes a whole number from 0 on, not 1.5"
            ),
        )
    ]
    graph = use("Chain", {"kind": 'str: "Missing"', "length": "num: 1"})
    ((_, message),) = faults_of(lambda: plan_of(graph, Chain=CHAIN))
    assert message.startswith(
        "<subgraph Chain>:6:3: used by node 'Chain' at line 2, column 8: node 'chain__Missing' (Missing): "
    )


def test_a_template_that_is_none_is_a_fault_of_the_node_that_uses_it(plan_of):
    ((code, message),) = faults_of(lambda: plan_of(use("Chain", {}), Chain="type: %"))

    assert code == "INVALID_ARGUMENT"
    assert message == (
        "line 2, column 8: node 'Chain': the subgraph cannot be read: <subgraph Chain>:1:7: "
        "the template's expression, or rule, begins at this '%', and no second '%' ends it"
    )


def test_an_argument_without_effect_is_logged(plan_of, caplog):
    graph = use("Chain", {"kind": 'str: "PassCalculator"', "i": "num: 1", "lenght": "num: 1"})
    with caplog.at_level(logging.WARNING, "penstock"):
        plan_of(graph, Chain=CHAIN)

    assert [record.getMessage() for record in caplog.records if "param" in record.getMessage()] == [
        f"line 3, column 1: node 'Chain': the template has no param {name!r}, so giving it has no effect"
        for name in ("i", "lenght")
    ]


def test_option_values_are_carried_out_in_what_a_template_makes(registry, plan_of):
    name = attrs_name(SizedOptions)
    registry.add_option(name, None, None, SizedOptions)
    template = f"""
        type: "Sized"
        graph_options {{ [type.googleapis.com/{name}] {{ size: % size % }} }}
        input_stream: "in"
        output_stream: "out"
        node {{
          calculator: "PassCalculator" input_stream: "in" output_stream: "out"
          option_value: "size:size"
          node_options {{ [type.googleapis.com/{name}] {{}} }}
        }}
        """
    plan = plan_of(use("Sized", {"size": "num: 7"}), Sized=template)

    assert plan.nodes[0].options.get(SizedOptions) == SizedOptions(size=7)


def test_the_builder_gives_arguments_as_options_and_asks_no_template_for_ports(registry):
    registry.add("subgraph", "Chain", GraphTemplate.from_text(CHAIN, registry))
    g = Graph(registry=registry)
    options = GraphTemplate.options(kind="PassCalculator", length=1)
    node = g.node("Chain", {0: g.input("in")}, options=options)
    g.output(node.outputs[0], "out")

    assert options == TemplateSubgraphOptions(
        dict={
            "arg": [
                {"key": "kind", "value": {"str": "PassCalculator"}},
                {"key": "length", "value": {"num": 1}},
            ]
        }
    )
    assert nodes_of(build_plan(g, registry)) == ["chain__PassCalculator: in → out"]


def test_a_binary_graph_that_gives_arguments_is_read(registry, tmp_path):
    text = use("Chain", {"kind": 'str: "PassCalculator"'})
    path = tmp_path / "main.binarypb"
    path.write_bytes(read_graph(text, registry).SerializeToString())

    plan = build_plan(path, registry, subgraphs={"Chain": CHAIN})

    assert len(plan.config.node) == 2


def test_templates_are_recognised_by_their_message(registry):
    message = CalculatorGraphTemplate(config={"type": "T"})

    assert is_template(message, registry)
    assert not is_template(message.config, registry)
