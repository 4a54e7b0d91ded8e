"""Subgraphs that replace nodes: names, ports, order, and every fault with both of its places."""

import logging
import sys
import textwrap

import pytest

from penstock import ServiceKey, Subgraph
from penstock.config import build_plan
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.errors import GraphConfigError, InvalidArgumentError, ResourceExhaustedError, StatusCode

DOUBLE = """
type: "Double"
input_stream: "a"
output_stream: "c"
node { calculator: "PassCalculator" input_stream: "a" output_stream: "b" }
node { calculator: "PassCalculator" input_stream: "b" output_stream: "c" }
"""
USE = 'node { calculator: "Double" input_stream: "in" output_stream: "out" }'


@pytest.fixture
def expand(registry, declare):  # declares the calculators that tests take for granted
    """Plan a graph with subgraphs: name → text."""

    def expand(graph, **subgraphs):
        return build_plan(textwrap.dedent(graph), registry, subgraphs=subgraphs)

    return expand


@pytest.fixture
def faults_of(expand):
    """Return the faults of such a graph as (code's name, message)."""

    def faults_of(graph, **subgraphs):
        with pytest.raises(GraphConfigError) as caught:
            expand(graph, **subgraphs)
        return [(fault.code.name, str(fault)) for fault in caught.value.faults]

    return faults_of


def nodes_of(plan):
    """Return each node as "name: inputs → outputs", side packets in brackets."""
    config = plan.config

    def side(entries):
        return f" [{' '.join(entries)}]" if entries else ""

    return [
        f"{node.name}: {' '.join(node.input_stream)}{side(node.input_side_packet)}"
        f" → {' '.join(node.output_stream)}{side(node.output_side_packet)}"
        for node in config.node
    ]


# --- names and order --------------------------------------------------------------------------------


def test_names_inside_get_the_nodes_name_as_a_prefix_and_connected_ones_become_those_outside(expand):
    plan = expand(f'input_stream: "in" {USE}', Double=DOUBLE)

    assert nodes_of(plan) == [
        "double__PassCalculator_1: in → double__b",
        "double__PassCalculator_2: double__b → out",
    ]


def test_two_unnamed_subgraphs_are_numbered_and_a_name_of_ones_own_is_made_to_fit(expand):
    plan = expand(
        """
        input_stream: "in"
        node { calculator: "Double" input_stream: "in" output_stream: "x" }
        node { calculator: "Double" input_stream: "x" output_stream: "y" }
        node { name: "My.own: One-2" calculator: "Double" input_stream: "y" output_stream: "z" }
        """,
        Double=DOUBLE,
    )

    assert [node.split(":")[0] for node in nodes_of(plan)] == [
        "double_1__PassCalculator_1",
        "double_1__PassCalculator_2",
        "double_2__PassCalculator_1",
        "double_2__PassCalculator_2",
        "my_own__one_2__PassCalculator_1",
        "my_own__one_2__PassCalculator_2",
    ]


def test_plain_nodes_come_first_and_nested_subgraphs_come_after_the_nodes_beside_them(expand):
    outer = """
    input_stream: "i" output_stream: "o"
    node { calculator: "Double" input_stream: "i" output_stream: "m" }
    node { name: "after" calculator: "SourceCalculator" output_stream: "o" }
    """
    plan = expand(
        """
        node { name: "big" calculator: "Outer" input_stream: "s" output_stream: "t" }
        node { name: "plain" calculator: "SourceCalculator" output_stream: "s" }
        """,
        Outer=outer,
        Double=DOUBLE,
    )

    assert nodes_of(plan) == [
        "plain:  → s",
        "big__after:  → t",
        "big__double__PassCalculator_1: s → big__double__b",
        "big__double__PassCalculator_2: big__double__b → big__m",
    ]


def test_a_graph_without_subgraphs_keeps_its_message(plan):
    graph = CalculatorGraphConfig()
    graph.node.add(calculator="SourceCalculator", output_stream=["a"])

    assert plan(graph).config == graph


def test_a_name_that_is_a_calculators_too_is_a_subgraph(expand, declare):
    declare("Double")

    assert len(nodes_of(expand(f'input_stream: "in" {USE}', Double=DOUBLE))) == 2


def test_the_registered_name_wins_over_the_type(expand, registry, faults_of):
    other = DOUBLE.replace('"Double"', '"Other"')

    assert len(nodes_of(expand(f'input_stream: "in" {USE}', Double=other))) == 2
    ((code, message),) = faults_of(f'input_stream: "in" {USE.replace("Double", "Other")}', Double=other)
    assert code == "NOT_FOUND"
    assert "no calculator 'Other' is registered" in message


def test_settings_of_the_subgraph_as_a_graph_have_no_effect(expand):
    settings = 'max_queue_size: 7 num_threads: 3 report_deadlock: true package: "elsewhere"'
    plan = expand(f'input_stream: "in" {USE}', Double=DOUBLE + settings)

    assert (plan.max_queue_size, plan.report_deadlock) == (100, False)
    assert [executor.num_threads for executor in plan.executors] == [0]


def test_names_inside_are_looked_up_in_the_package_of_the_graph_outside(expand, declare):
    declare("far.SpecialCalculator")
    sub = """
    package: "near" input_stream: "a" output_stream: "c"
    node { calculator: "SpecialCalculator" input_stream: "a" output_stream: "c" }
    """

    plan = expand(f'package: "far" input_stream: "in" {USE}', Double=sub)
    assert plan.nodes[0].name == "double__SpecialCalculator"


# --- ports ------------------------------------------------------------------------------------------


def test_ports_are_matched_by_tag_and_index_whatever_their_names_and_order(expand):
    sub = """
    input_stream: "B:b" input_stream: "A:1:a1" input_stream: "A:0:a0" input_stream: "plain"
    input_side_packet: "SIDE:side"
    output_stream: "OUT:1:o1" output_stream: "OUT:0:o0"
    output_side_packet: "made"
    node {
      calculator: "PassCalculator"
      input_stream: "X:a0" input_stream: "Y:a1" input_stream: "Z:0:b" input_stream: "Z:1:plain"
      input_side_packet: "S:side"
      output_stream: "OUT:0:o0" output_stream: "OUT:1:o1"
      output_side_packet: "T:made"
    }
    """
    plan = expand(
        """
        input_stream: "p" input_stream: "q" input_stream: "r" input_stream: "s"
        node {
          calculator: "Sub" name: "n"
          input_stream: "p" input_stream: "A:q" input_stream: "A:1:r" input_stream: "B:s"
          input_side_packet: "SIDE:given"
          output_stream: "OUT:x" output_stream: "OUT:1:y"
          output_side_packet: "done"
        }
        """,
        Sub=sub,
    )

    assert nodes_of(plan) == ["n__PassCalculator: X:q Y:r Z:0:s Z:1:p [S:given] → OUT:0:x OUT:1:y [T:done]"]


def test_inputs_that_the_node_leaves_out_disappear_and_outputs_keep_a_prefixed_name(expand, declare):
    declare(
        "ChoosyCalculator",
        lambda cc: [
            *(port.set_any() for port in (*cc.inputs, *cc.outputs, *cc.input_side_packets)),
            cc.inputs["MAYBE"].set_any().optional(),
            cc.input_side_packets["SIDE"].set_any().optional(),
        ],
    )
    sub = """
    input_stream: "a" input_stream: "MAYBE:m" input_side_packet: "SIDE:s"
    output_stream: "o" output_stream: "MORE:more"
    node {
      calculator: "ChoosyCalculator" input_stream: "MAYBE:m" input_stream: "a" input_side_packet: "SIDE:s"
      output_stream: "o" output_stream: "MORE:more"
    }
    """
    plan = expand(f'input_stream: "in" {USE}', Double=sub)

    assert nodes_of(plan) == ["double__ChoosyCalculator: in → out MORE:double__more"]


def test_the_place_of_an_entry_is_right_when_one_before_it_was_removed(faults_of):
    sub = """
    input_stream: "a" input_stream: "MAYBE:m" output_stream: "c"
    node {
      calculator: "PassCalculator"
      input_stream: "MAYBE:m"
      input_stream: "missing"
      output_stream: "c"
    }
    """
    ((_, message),) = faults_of(f'input_stream: "in" {USE}', Double=sub)

    assert message.startswith("<subgraph Double>:6:7: used by node 'Double' at line 1, column 27: ")
    assert "input stream 'double__missing'" in message


def test_a_back_edge_inside_stays_one_when_the_loop_goes_outside(expand):
    sub = """
    input_stream: "a" input_stream: "BACK:back" output_stream: "c"
    node {
      calculator: "PassCalculator" input_stream: "a" input_stream: "BACK:back"
      input_stream_info { tag_index: "BACK" back_edge: true }
      output_stream: "c"
    }
    """
    plan = expand(
        """
        input_stream: "in"
        node { calculator: "Loop" input_stream: "in" input_stream: "BACK:back" output_stream: "out" }
        node { calculator: "PassCalculator" input_stream: "out" output_stream: "back" }
        """,
        Loop=sub,
    )

    assert [(port.tag, port.back_edge) for port in plan.nodes[0].inputs] == [("", False), ("BACK", True)]


def test_an_input_that_has_two_places_stays_when_one_of_them_is_left_out(expand):
    sub = """
    input_stream: "A:x" input_stream: "B:x" output_stream: "c"
    node { calculator: "PassCalculator" input_stream: "x" output_stream: "c" }
    """
    use = 'node { calculator: "Sub" input_stream: "A:in" output_stream: "out" }'

    assert nodes_of(expand(f'input_stream: "in" {use}', Sub=sub)) == ["sub__PassCalculator: in → out"]


def test_a_stream_and_a_side_packet_of_one_name_are_two_things(expand):
    sub = """
    input_stream: "x" input_side_packet: "x" output_stream: "y" output_side_packet: "y"
    node {
      calculator: "PassCalculator" input_stream: "x" input_side_packet: "x"
      output_stream: "y" output_side_packet: "y"
    }
    """
    use = """
    node {
      calculator: "Sub" input_stream: "a" input_side_packet: "b"
      output_stream: "c" output_side_packet: "d"
    }
    """

    assert nodes_of(expand(f'input_stream: "a" {use}', Sub=sub)) == ["sub__PassCalculator: a [b] → c [d]"]


def test_a_name_that_begins_with_a_digit_gives_names_that_streams_may_have(expand):
    use = USE.replace("node {", 'node { name: "2nd"')

    assert nodes_of(expand(f'input_stream: "in" {use}', Double=DOUBLE))[0].endswith("in → _2nd__b")


def test_an_entry_inside_that_is_no_port_is_quoted_as_it_stands(faults_of):
    found = faults_of(
        f'input_stream: "in" {USE}', Double=DOUBLE.replace('input_stream: "b"', 'input_stream: "B"')
    )

    assert ["'B' is no port" in message for _, message in found] == [True]


@pytest.mark.parametrize(
    ("ports", "words"),
    [
        ('input_stream: "NO:in"', "input 'NO' of the subgraph: it has no such port; its inputs are: 0"),
        (
            'input_stream: "in" input_stream: "in"',
            "input 1 of the subgraph: it has no such port; its inputs are: 0",
        ),
        ('output_stream: "NO:x"', "output 'NO' of the subgraph: it has no such port; its outputs are: 0"),
        (
            'input_side_packet: "NO:x"',
            "input side packet 'NO' of the subgraph: it has no such port; it has no input side packets",
        ),
        (
            'output_side_packet: "x"',
            "output side packet 0 of the subgraph: it has no such port; it has no output",
        ),
    ],
)
def test_a_port_that_the_subgraph_does_not_have_is_a_fault_that_lists_those_it_has(faults_of, ports, words):
    found = faults_of(
        f"""
        input_stream: "in"
        node {{
          calculator: "Double" input_stream: "in" output_stream: "out"
          {ports.replace('input_stream: "in" ', "")}
        }}
        """,
        Double=DOUBLE,
    )

    assert [code for code, _ in found] == ["INVALID_ARGUMENT"]
    assert found[0][1].startswith(f"line 5, column 3: node 'Double': {words}")


def test_a_port_that_the_subgraph_lacks_hides_no_fault_inside_and_makes_none_outside(faults_of):
    found = faults_of(
        """
        input_stream: "in"
        node { calculator: "Double" input_stream: "in" output_stream: "NO:x" output_stream: "out" }
        node { calculator: "PassCalculator" input_stream: "x" output_stream: "y" }
        """,
        Double=DOUBLE.replace('"PassCalculator" input_stream: "b"', '"PasCalculator" input_stream: "b"'),
    )

    assert [code for code, _ in found] == ["INVALID_ARGUMENT", "NOT_FOUND"]
    assert "no calculator 'PasCalculator'" in found[1][1]


def test_an_input_that_is_an_output_without_a_node_between_is_a_fault(faults_of):
    reader = 'node { calculator: "PassCalculator" input_stream: "out" output_stream: "z" }'
    ((code, message),) = faults_of(
        f'input_stream: "in" {USE} {reader}',
        Double='input_stream: "a" output_stream: "a"',
    )

    assert code == "INVALID_ARGUMENT"
    assert (
        "output 0 of the subgraph: inside it is 'a', which is joined to 'in' already; put a node" in message
    )


# --- executors --------------------------------------------------------------------------------------

ON_XYZ = DOUBLE.replace('output_stream: "b"', 'output_stream: "b" executor: "xyz"')


def test_nodes_inside_run_on_executors_that_the_root_declares(expand):
    plan = expand(
        f'input_stream: "in" executor {{ name: "xyz" type: "ThreadPoolExecutor" }} {USE}', Double=ON_XYZ
    )

    assert [node.executor for node in plan.nodes] == ["xyz", ""]


def test_an_executor_of_the_subgraph_does_not_count(faults_of):
    ((code, message),) = faults_of(
        f'input_stream: "in" {USE}', Double=ON_XYZ + 'executor { name: "xyz" type: "ThreadPoolExecutor" }'
    )

    assert code == "INVALID_ARGUMENT"
    assert "executor 'xyz' is not declared" in message
    assert message.startswith("<subgraph Double>:5:")


# --- subgraphs that are computed ----------------------------------------------------------------------


def test_a_class_sees_its_node_and_gives_the_graph(registry, expand):
    seen = []

    class Chain(Subgraph):
        @classmethod
        def get_config(cls, sc):
            seen.append((sc.node_name, sc.node.calculator, sc.inputs.ids(), sc.outputs.names()))
            sc.node.input_stream.append("changed")
            message = CalculatorGraphConfig(input_stream=["s0"], output_stream=["s3"])
            for i in range(3):
                message.node.add(
                    calculator="PassCalculator", input_stream=[f"s{i}"], output_stream=[f"s{i + 1}"]
                )
            return message

    registry.add("subgraph", "Chain", Chain)
    plan = expand('input_stream: "in" node { calculator: "Chain" input_stream: "in" output_stream: "out" }')

    assert seen == [("Chain", "Chain", (("", 0),), ("out",))]
    assert nodes_of(plan)[1:] == [
        "chain__PassCalculator_2: chain__s1 → chain__s2",
        "chain__PassCalculator_3: chain__s2 → out",
    ]


def test_what_a_class_does_to_its_copy_of_the_node_changes_nothing(registry, faults_of):
    class Greedy(Subgraph):
        @classmethod
        def get_config(cls, sc):
            del sc.node.output_stream[:]
            return "# without any port"

    registry.add("subgraph", "Greedy", Greedy)
    ((_, message),) = faults_of('node { calculator: "Greedy" output_stream: "out" }')
    assert "output 0 of the subgraph: it has no such port; it has no outputs" in message


def test_a_class_finds_the_options_of_its_node(registry, expand, make_options):
    options = make_options("ChainOptions", 20711)

    class Sized(Subgraph):
        @classmethod
        def get_config(cls, sc):
            kind = options.load()
            assert sc.has_options(kind)
            name = f"n{sc.options(kind).size}"
            node = f'calculator: "SourceCalculator" name: "{name}" output_stream: "o"'
            return f'output_stream: "o" node {{ {node} }}'

    registry.add("subgraph", "Sized", Sized)
    given = "options { [penstock.ChainOptions.ext] { size: 5 } }"
    plan = expand(f'node {{ calculator: "Sized" output_stream: "out" {given} }}')

    assert plan.nodes[0].name == "sized__n5"


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (7, "INVALID_ARGUMENT", "the subgraph cannot be read: cannot parse a graph of type 'int'"),
        ("node {", "INVALID_ARGUMENT", "the subgraph cannot be read: "),
        (ZeroDivisionError("by zero"), "UNKNOWN", "get_config() failed: ZeroDivisionError: by zero"),
        (InvalidArgumentError("no such size"), "INVALID_ARGUMENT", "get_config() failed: no such size"),
    ],
)
def test_a_class_that_fails_is_a_fault_of_its_node_alone(registry, faults_of, answer, code, words):
    class Failing(Subgraph):
        @classmethod
        def get_config(cls, sc):
            if isinstance(answer, Exception):
                raise answer
            return answer

    registry.add("subgraph", "Failing", Failing)
    ((found, message),) = faults_of(
        """
        node { calculator: "Failing" output_stream: "out" }
        node { calculator: "PassCalculator" input_stream: "out" output_stream: "z" }
        """
    )

    assert found == code
    assert message.startswith(f"line 2, column 8: node 'Failing': {words}")


def test_a_class_may_ask_for_services_that_are_given_or_that_their_keys_make(registry, expand, tmp_path):
    given, made = ServiceKey("test.given"), ServiceKey("test.made", create=lambda: ["made"])
    beside = ServiceKey("test.beside", create=lambda: "no file", create_beside=lambda folder: folder)
    seen = []

    class Asks(Subgraph):
        @classmethod
        def get_config(cls, sc):
            seen.append([sc.service(key) for key in (given, made, beside)])
            return ""

    registry.add("subgraph", "Asks", Asks)
    text = 'node { calculator: "Asks" }'
    file = tmp_path / "graph.pbtxt"
    file.write_text(text)
    for source in (text, file):
        build_plan(source, registry, services={given: 5})

    assert seen == [[5, ["made"], "no file"], [5, ["made"], str(tmp_path)]]
    assert seen[0][1] is not seen[1][1]


def test_a_service_that_is_not_there_is_a_fault_of_the_subgraph_that_says_what_to_pass(registry, faults_of):
    class Asks(Subgraph):
        @classmethod
        def get_config(cls, sc):
            return sc.service(ServiceKey("test.given"))

    registry.add("subgraph", "Asks", Asks)

    ((code, message),) = faults_of('node { calculator: "Asks" }')
    assert code == "NOT_FOUND"
    assert (
        "service 'test.given' is not there while the graph is loaded; pass services={key: object}" in message
    )


def test_a_class_without_get_config_says_what_to_write(registry, faults_of):
    registry.add("subgraph", "Bare", type("Bare", (Subgraph,), {}))

    ((code, message),) = faults_of('node { calculator: "Bare" }')
    assert "Bare has no get_config(cls, sc)" in message
    assert code == "UNIMPLEMENTED"


# --- further faults -----------------------------------------------------------------------------------


def test_a_subgraph_that_cannot_be_read_is_read_once_and_is_a_fault_of_each_use(registry, faults_of):
    asked = []

    class Broken:
        def to_config(self):
            asked.append(self)
            return "node {"

    registry.add("subgraph", "Broken", Broken())

    faults = faults_of("\n".join(['node { calculator: "Broken" }'] * 3))

    assert len(asked) == 1
    assert [words.partition(":")[0] for _, words in faults] == [f"line {i}, column 8" for i in (1, 2, 3)]


def test_a_subgraph_that_contains_itself_is_refused_with_the_circle(faults_of):
    a = 'input_stream: "i" output_stream: "o" node { calculator: "B" input_stream: "i" output_stream: "o" }'
    b = a.replace('"B"', '"A"')
    ((code, message),) = faults_of(
        'input_stream: "in" node { calculator: "A" input_stream: "in" output_stream: "out" }', A=a, B=b
    )

    assert code == "INVALID_ARGUMENT"
    assert "subgraph 'A' contains itself: A → B → A; take one of them out" in message
    assert message.startswith(
        "<subgraph B>:1:45: used by node 'a__B' (B) at <subgraph A>:1:45: used by node 'A' at line 1"
    )


def test_a_class_may_be_in_itself_with_other_options_but_not_for_ever(
    registry, expand, faults_of, make_options
):
    options = make_options("CountOptions", 20712)

    class Count(Subgraph):
        step = 1

        @classmethod
        def get_config(cls, sc):
            size = sc.options(options.load()).size - cls.step
            ends = 'calculator: "SourceCalculator" output_stream: "o"'
            given = f"options {{ [penstock.CountOptions.ext] {{ size: {size} }} }}"
            again = f'calculator: "Count" output_stream: "o" {given}'
            return f'output_stream: "o" node {{ {again if size else ends} }}'

    registry.add("subgraph", "Count", Count)
    start = "options { [penstock.CountOptions.ext] { size: 3 } }"
    graph = f'node {{ calculator: "Count" output_stream: "out" {start} }}'

    assert [node.name for node in expand(graph).nodes] == ["count__count__count__SourceCalculator"]

    Count.step = 0
    ((_, message),) = faults_of(graph)
    assert "subgraph 'Count' contains itself: Count → Count; take one of them out" in message

    Count.step = -1
    with pytest.raises(
        ResourceExhaustedError, match=r"\(Count\) is inside of 64 subgraphs, more than the limit"
    ):
        expand(graph)


@pytest.mark.parametrize(
    "field",
    [
        "source_layer: 1",
        "buffer_size_hint: 3",
        'output_stream_handler { output_stream_handler: "InOrderOutputStreamHandler" }',
        'input_stream_info { tag_index: "" back_edge: true }',
    ],
)
def test_fields_for_calculators_are_refused_on_a_subgraph(faults_of, field):
    ((code, message),) = faults_of(f'input_stream: "in" {USE[:-1]} {field} }}', Double=DOUBLE)

    assert code == "INVALID_ARGUMENT"
    assert (
        f"node 'Double': {field.split()[0].rstrip(':')} is for calculators, and this is a subgraph" in message
    )


@pytest.mark.parametrize(
    "field", ['executor: "none"', "max_in_flight: 2", 'input_stream_handler { input_stream_handler: "X" }']
)
def test_fields_that_have_no_effect_on_a_subgraph_are_warned_of(expand, caplog, field):
    with caplog.at_level(logging.WARNING, "penstock.config"):
        expand(f'input_stream: "in" {USE[:-1]} {field} }}', Double=DOUBLE)

    (record,) = caplog.records
    name = field.split()[0].rstrip(":")
    assert record.getMessage().endswith(f"node 'Double': {name} of a subgraph has no effect")


@pytest.mark.parametrize("field", ["packet_factory", "packet_generator", "status_handler"])
def test_what_a_graph_may_not_have_a_subgraph_may_not_have(faults_of, field):
    ((code, message),) = faults_of(f'input_stream: "in" {USE}', Double=f"{DOUBLE}{field} {{ }}")

    assert code == "UNIMPLEMENTED"
    assert message.startswith("<subgraph Double>:7:1: used by node 'Double' at line 1")
    assert f"{field} is not supported" in message


def test_a_bad_interface_is_a_fault_of_the_subgraphs_file(faults_of):
    ((code, message),) = faults_of(f'input_stream: "in" {USE}', Double=DOUBLE.replace('"c"', '"Bad Name"'))[
        :1
    ]

    assert code == "INVALID_ARGUMENT"
    assert message.startswith("<subgraph Double>:4:1: used by node 'Double' at line 1")
    assert "the subgraph's output_stream: 'Bad Name' is no port" in message


def test_ports_of_the_node_that_cannot_be_read_are_its_fault(faults_of):
    use = USE.replace('"out"', '"Out"')
    ((code, message),) = faults_of(f'input_stream: "in" {use}', Double=DOUBLE)

    assert code == "INVALID_ARGUMENT"
    assert "node 'Double': output_stream: 'Out' is no port" in message


def test_a_file_that_does_not_exist_is_a_fault_of_the_node(registry, faults_of, tmp_path):
    registry.add("subgraph", "Gone", tmp_path / "gone.pbtxt")

    ((code, message),) = faults_of('node { calculator: "Gone" output_stream: "o" }')
    assert code == "NOT_FOUND"
    assert "node 'Gone': the subgraph cannot be read: there is no graph file" in message


def test_two_owners_of_a_subgraphs_name_are_a_fault_once(registry, faults_of):
    for distribution in ("one", "two"):
        registry.add("subgraph", "Twice", "m:X", distribution=distribution, plugin="p")

    ((code, message),) = faults_of('node { calculator: "Twice" output_stream: "o" }')
    assert code == "ALREADY_EXISTS"
    assert "'Twice' is claimed by one" in message


def test_all_faults_come_together_those_of_the_graph_first(faults_of):
    bad = DOUBLE.replace("PassCalculator", "PasCalculator")
    found = faults_of(
        """
        input_stream: "in"
        node { calculator: "Double" input_stream: "in" output_stream: "x" }
        node { calculator: "Double" input_stream: "x" output_stream: "y" }
        node { calculator: "NoneSuch" input_stream: "y" }
        """,
        Double=bad,
    )

    assert [message.split(" node ")[0] for _, message in found] == [
        "line 5, column 8:",
        *("<subgraph Double>:5:8: used by", "<subgraph Double>:6:8: used by") * 2,
    ]
    assert ["node 'Double_1'" in message for _, message in found] == [False, True, True, False, False]


# --- subgraphs of one graph ---------------------------------------------------------------------------


def test_a_list_of_graphs_is_known_by_their_types_and_wins_over_registered_ones(registry, declare):
    registry.add("subgraph", "Double", object())

    plan = build_plan(f'input_stream: "in" {USE}', registry, subgraphs=[DOUBLE])
    assert len(plan.nodes) == 2
    assert registry.names("subgraph") == ["Double"]


@pytest.mark.parametrize(
    ("subgraphs", "words"),
    [
        ([DOUBLE, 'input_stream: "a"'], "subgraph 1 has no type; give it another type, or pass"),
        ([DOUBLE, DOUBLE], "subgraph 1 has type 'Double', as one before it; give it another"),
        (DOUBLE, "subgraphs to expand: pass a dict from name to graph or a list, not a str"),
    ],
)
def test_subgraphs_without_a_name_of_their_own_are_refused(registry, subgraphs, words):
    with pytest.raises(InvalidArgumentError, match=words) as caught:
        build_plan(USE, registry, subgraphs=subgraphs)
    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("form", ["message", "path", "builder", "text"])
def test_a_subgraph_may_have_any_form_that_a_graph_has(registry, declare, tmp_path, form):
    message = build_plan(DOUBLE, registry).config
    file = tmp_path / "double.pbtxt"
    file.write_text(DOUBLE, encoding="utf-8")
    forms = {
        "message": message,
        "path": file,
        "builder": type("Builder", (), {"to_config": lambda _self: message})(),
        "text": DOUBLE,
    }

    plan = build_plan(f'input_stream: "in" {USE}', registry, subgraphs={"Double": forms[form]})
    assert nodes_of(plan)[1] == "double__PassCalculator_2: double__b → out"


def test_an_extension_that_nobody_declares_is_refused_in_a_computed_graph_too(registry, declare):
    declare("PassCalculator")

    class Inner(Subgraph):
        @classmethod
        def get_config(cls, sc):
            made = CalculatorGraphConfig()
            made.node.add(calculator="PassCalculator").options.ParseFromString(b"\xc0\xd6\xf1\xf9\x03\x01")
            return made

    registry.add("subgraph", "Inner", Inner)
    with pytest.raises(GraphConfigError, match="nothing declares field 132615528 of penstock"):
        build_plan('node { calculator: "Inner" }', registry)


def test_expanding_leaves_the_subgraph_as_it_was(registry, declare):
    message = build_plan(DOUBLE, registry).config
    before = message.SerializeToString()
    registry.add("subgraph", "Double", message)

    for _ in range(2):
        build_plan(f'input_stream: "in" {USE}', registry)
    assert message.SerializeToString() == before


# --- subgraphs of packages ----------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "penstock_expand_tests"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "double.pbtxt").write_text(DOUBLE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("penstock_expand_tests", "penstock_expand_tests.odd"):  # of an earlier test
        monkeypatch.delitem(sys.modules, module, raising=False)
    return folder


def test_a_file_of_a_package_is_found_and_named_in_faults(package, registry, expand, faults_of):
    registry.add("subgraph", "Double", "penstock_expand_tests:double.pbtxt")

    assert len(expand(f'input_stream: "in" {USE}').nodes) == 2
    rival = 'node { calculator: "PassCalculator" input_stream: "double__b" output_stream: "out" }'
    ((_, message),) = faults_of(f'input_stream: "in" {USE} {rival}')
    assert message.startswith(f"{package / 'double.pbtxt'}:6:")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("penstock_expand_tests:none.pbtxt", "package 'penstock_expand_tests' has no file 'none.pbtxt'"),
        ("penstock_expand_none:none.pbtxt", "ModuleNotFoundError: "),
    ],
)
def test_a_file_that_a_package_lacks_is_a_fault_of_the_plugin(package, registry, faults_of, target, words):
    registry.add("subgraph", "Double", target, distribution="penstock-d", plugin="p")

    ((_, message),) = faults_of('node { calculator: "Double" output_stream: "o" }')
    assert words in message
    assert "penstock-d" in message


def test_only_a_subgraphs_target_is_taken_for_a_file(package, registry):
    (package / "odd.py").write_text("class Outer:\n    class json: pass\n", encoding="utf-8")
    registry.add("calculator", "Odd", "penstock_expand_tests.odd:Outer.json")

    assert registry.find("calculator", "Odd").__qualname__ == "Outer.json"
