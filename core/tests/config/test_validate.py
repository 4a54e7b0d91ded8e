"""Every check of a graph that concerns streams, side packets, ports and calculators."""

import logging
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.config import build_plan
from penstock.config.calculator_pb2 import CalculatorGraphConfig, ProfilerConfig
from penstock.errors import GraphConfigError, StatusCode, UnknownNameError
from penstock.registry import Registry
from penstock.services import ServiceKey

PASSING = 'node { calculator: "PassCalculator" input_stream: "a" output_stream: "b" }'


def only(found, code, words):
    assert [one[0] for one in found] == [code]
    assert words in found[0][1]


# --- the plan -----------------------------------------------------------------------------------


def test_a_graph_becomes_nodes_and_streams_by_number(plan):
    made = plan("""
        input_stream: "a"
        node { name: "one" calculator: "PassCalculator" input_stream: "IN:a" output_stream: "OUT:b"
               source_layer: 2 }
        node { name: "two" calculator: "PassCalculator" input_stream: "a" input_stream: "b" output_stream: "c"
               max_in_flight: 3 }
        """)

    assert [(s.id, s.name, s.producer) for s in made.streams] == [(0, "a", None), (1, "b", 0), (2, "c", 1)]
    one, two = made.nodes
    assert [port.stream for port in (*one.inputs, *two.inputs)] == [0, 0, 1]
    assert (one.inputs[0].tag, one.inputs[0].stream, one.outputs[0].tag) == ("IN", 0, "OUT")
    assert (one.source_layer, one.max_in_flight, two.max_in_flight) == (2, 1, 3)
    assert (made.graph_inputs, made.stream_ids, made.file) == (1, {"a": 0, "b": 1, "c": 2}, None)
    assert made.throttled == (frozenset({~0}),) * 3
    assert one.factory.__name__ == "PassCalculator"
    assert one.handler.name == "DefaultInputStreamHandler"


def test_ports_are_in_id_order_whatever_the_file_says(plan, declare):
    declare("AnyCalculator", lambda cc: [port.set_any() for port in cc.inputs])
    made = plan("""
        input_stream: "a" input_stream: "b" input_stream: "c"
        node { calculator: "AnyCalculator" input_stream: "Z:a" input_stream: "Y:1:b" input_stream: "Y:0:c"
               input_stream: "a" }
        """)

    assert [(p.tag, p.index, made.streams[p.stream].name) for p in made.nodes[0].inputs] == [
        ("", 0, "a"),
        ("Y", 0, "c"),
        ("Y", 1, "b"),
        ("Z", 0, "a"),
    ]


def test_nodes_are_sorted_and_the_config_with_them(plan):
    made = plan("""
        input_stream: "a"
        node { name: "last" calculator: "PassCalculator" input_stream: "c" output_stream: "d" }
        node { name: "middle" calculator: "PassCalculator" input_stream: "b" output_stream: "c" }
        node { name: "first" calculator: "PassCalculator" input_stream: "a" output_stream: "b" }
        """)

    assert [node.name for node in made.nodes] == ["first", "middle", "last"]
    assert [node.name for node in made.config.node] == ["first", "middle", "last"]
    assert [node.id for node in made.nodes] == [0, 1, 2]
    assert [stream.name for stream in made.streams] == ["a", "b", "c", "d"]


def test_a_plan_can_be_made_from_the_config_of_a_plan(plan):
    made = plan(f'input_stream: "a" num_threads: 2 {PASSING}')

    again = plan(made.config)

    assert again.config == made.config
    assert again.executors[0].num_threads == 2


def test_side_packets_order_nodes_too(plan, declare):
    declare("MakeCalculator", lambda cc: cc.output_side_packets[0].set(int))
    declare("UseCalculator", lambda cc: (cc.input_side_packets[0].set(int), cc.outputs[0].set(int)))
    made = plan("""
        node { calculator: "UseCalculator" input_side_packet: "s" output_stream: "x" }
        node { calculator: "UseCalculator" input_side_packet: "outside" output_stream: "y" }
        node { calculator: "MakeCalculator" output_side_packet: "s" }
        """)

    assert [node.calculator for node in made.nodes] == ["UseCalculator", "MakeCalculator", "UseCalculator"]
    outside, maker, user = made.nodes
    assert (outside.input_side_packets[0].produced, user.input_side_packets[0].produced) == (False, True)
    assert user.input_side_packets[0].classes == (int,)
    assert maker.output_side_packets[0].name == "s"


def test_optional_side_packets_and_services_are_carried(plan, declare):
    key = ServiceKey("test.service")

    def fill(cc):
        cc.outputs[0].set(int)
        cc.input_side_packets["OPTIONAL"].set(str).optional()
        cc.input_side_packets["ABSENT"].set(str).optional()
        cc.run_on(key)

    declare("ServedCalculator", fill)
    node = plan(
        'node { calculator: "ServedCalculator" output_stream: "x" input_side_packet: "OPTIONAL:s" }'
    ).nodes[0]

    assert [(p.tag, p.optional, p.type_name) for p in node.input_side_packets] == [("OPTIONAL", True, "str")]
    assert node.contract.runs_on == key


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["", ""], ["PassCalculator_1", "PassCalculator_2"]),
        (["x", ""], ["x", "PassCalculator"]),
        (["x", "x", ""], ["x_1", "x_2", "PassCalculator"]),
        (["x", "PassCalculator", ""], ["x", "PassCalculator_1", "PassCalculator_2"]),
        (["x_1", "x", "x"], ["x_1", "x_2", "x_3"]),
    ],
)
def test_node_names_are_unique(names, expected, plan):
    made = plan("\n".join(f'node {{ name: "{name}" calculator: "PassCalculator" }}' for name in names))

    assert [node.name for node in made.nodes] == expected


@pytest.mark.parametrize(
    ("graph", "size"),
    [
        ("", 100),
        ("max_queue_size: 3", 3),
        ("max_queue_size: -1", -1),
        ('node { calculator: "PassCalculator" buffer_size_hint: 7 } max_queue_size: 3', 7),
        ('node { calculator: "PassCalculator" buffer_size_hint: 7 }', 100),
        ('node { calculator: "PassCalculator" buffer_size_hint: 7 } max_queue_size: -1', 7),
        ('node { calculator: "PassCalculator" buffer_size_hint: -7 } max_queue_size: -1', -1),
    ],
)
def test_queues_are_as_long_as_the_most_that_is_asked_for(graph, size, plan):
    assert plan(graph).max_queue_size == size


def test_names_are_looked_up_in_the_graphs_package_first(plan, declare):
    inner = declare("x.y.NameCalculator")
    declare("NameCalculator")

    assert plan('package: "x.y.z" node { calculator: "NameCalculator" }').nodes[0].factory is inner


# --- what is accepted with a warning ------------------------------------------------------------


def test_a_graph_output_that_nothing_produces_is_a_warning(plan, caplog):
    plan(
        'output_stream: "nope" output_stream: "TAG:b" input_stream: "alpha" '
        + PASSING.replace('"a"', '"alpha"')
    )
    plan('output_stream: "alhpa" input_stream: "alpha" ' + PASSING.replace('"a"', '"alpha"'))

    assert [(r.name, r.levelno, r.getMessage()) for r in caplog.records] == [
        (
            "penstock.config",
            logging.WARNING,
            f"line 1, column 1: the graph's output_stream {name}",
        )
        for name in (
            "'nope': nothing produces it",
            "'alhpa': nothing produces it (did you mean 'alpha'?)",
        )
    ]


def test_each_profiler_field_without_effect_is_a_warning_with_what_there_is_instead(plan, caplog):
    plan(
        """input_stream: "a"
        profiler_config {
          enable_profiler: true calculator_filter: "Pass.*" trace_enabled: true trace_log_disabled: true
          trace_log_capacity: 5 trace_event_types_disabled: 1 trace_log_path: "x" trace_log_count: 1
          enable_stream_latency: true
          num_histogram_intervals: 4
        }
        """
        + PASSING
    )

    latency = "the time of packets on their way is not added up; the arrows of a trace show it"
    histogram = "the time of calls is added up, not sorted into intervals; a trace has each call"
    assert [record.getMessage() for record in caplog.records] == [
        f"line 6, column 11: the graph's profiler_config: num_histogram_intervals has no effect: {histogram}",
        f"line 5, column 11: the graph's profiler_config: enable_stream_latency has no effect: {latency}",
    ]


def test_every_field_of_profiler_config_has_an_effect_or_a_reason_why_not(plan, caplog):
    given = " ".join(
        f"{field.name}: {'true' if field.type == field.TYPE_BOOL else 1}"
        for field in ProfilerConfig.DESCRIPTOR.fields
        if field.type != field.TYPE_STRING
    )
    plan(f'input_stream: "a" profiler_config {{ {given} }} ' + PASSING)

    assert len(caplog.records) == 10
    assert all(" has no effect: " in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(("interval", "warnings"), [(-1, 0), (500_000, 1)])
def test_a_trace_that_is_written_at_the_end_is_what_an_interval_of_minus_one_means(
    plan, caplog, interval, warnings
):
    plan(f'input_stream: "a" profiler_config {{ trace_log_interval_usec: {interval} }} ' + PASSING)

    said = [record.getMessage() for record in caplog.records]
    assert len(said) == warnings
    assert all("a trace is written once, when its run ends, as -1 would say" in words for words in said)


def test_parallel_calls_of_a_source_are_one_with_a_warning(plan, caplog):
    made = plan('node { calculator: "SourceCalculator" output_stream: "x" max_in_flight: 4 }')

    assert made.nodes[0].max_in_flight == 1
    assert "node 'SourceCalculator': max_in_flight 4 counts as 1" in caplog.text


class Keeper:
    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def open(self, cc):
        self.scale = cc.inputs[0].header
        self.out = cc.outputs[0]


class KeeperOfMany(Keeper):
    def open(self, cc):
        self.ports = {tag: cc.outputs[tag] for tag in ("A", "B")}


class Unkept(Keeper):
    def open(self, cc):
        self.tag = next(tag for tag in ("A", "B") if tag in cc.outputs)
        self.header = cc.inputs[0].header
        out = cc.outputs[0]
        out.set_header(self.header)


@penstock.calculator
class KeeperWithAnnotations:
    def open(self, cc):
        self.out = [cc.outputs["OUT"]]

    def process(self, number: int) -> int:
        return number


@pytest.mark.parametrize(
    ("kind", "kept"), [(Keeper, "out"), (KeeperOfMany, "ports"), (KeeperWithAnnotations.calculator, "out")]
)
def test_calls_that_may_overlap_are_refused_where_ports_of_open_are_kept(plan, registry, kind, kept):
    registry.add("calculator", "Keeper", kind)
    node = 'input_stream: "a" node { calculator: "Keeper" input_stream: "a" output_stream: "b" %s }'

    plan(node % "")
    with pytest.raises(GraphConfigError) as caught:
        plan(node % "max_in_flight: 4")

    (fault,) = caught.value.faults
    assert "node 'Keeper': max_in_flight 4: each call has ports of its own, but open() of " in str(fault)
    assert f"keeps one in '{kept}'; take it from cc in process(), or leave max_in_flight out" in str(fault)


def test_calls_may_overlap_where_open_keeps_no_port(plan, registry):
    registry.add("calculator", "Unkept", Unkept)
    node = 'input_stream: "a" node { calculator: "%s" max_in_flight: 4 input_stream: "a" output_stream: "b" }'

    assert plan(node % "Unkept").nodes[0].max_in_flight == 4
    assert plan(node % "PassCalculator").nodes[0].max_in_flight == 4


def test_a_back_edge_that_closes_no_cycle_is_a_warning(plan, caplog):
    plan("""
        input_stream: "a"
        node { calculator: "PassCalculator" input_stream: "a" output_stream: "b"
               input_stream_info { tag_index: "" back_edge: true } }
        """)

    assert "the back edge 'a' closes no cycle and need not be one" in caplog.text


# --- cycles -------------------------------------------------------------------------------------

CYCLE = """
    input_stream: "a"
    node { name: "merge" calculator: "PassCalculator"
           input_stream: "a" input_stream: "c" output_stream: "b" %s }
    node { name: "pass" calculator: "PassCalculator" input_stream: "b" output_stream: "c" }
    """


def test_a_cycle_names_its_nodes_and_the_cure(faults):
    found = faults(CYCLE % "")

    assert found == [
        (
            "UNKNOWN",
            (
                "line 3, column 1: these nodes form a cycle: merge → pass → merge; mark a stream that closes "
                "it as a back edge, such as 'c': in node 'merge', "
                'input_stream_info { tag_index: ":1" back_edge: true }'
            ),
        )
    ]


def test_the_cure_that_a_cycle_names_cures_it(plan, caplog):
    made = plan(CYCLE % 'input_stream_info { tag_index: ":1" back_edge: true }')

    assert [port.back_edge for port in made.nodes[0].inputs] == [False, True]
    assert not caplog.records


def test_either_edge_of_a_cycle_may_be_the_back_edge(plan):
    made = plan("""
        input_stream: "a"
        node { name: "merge" calculator: "PassCalculator"
               input_stream: "a" input_stream: "c" output_stream: "b" }
        node { name: "pass" calculator: "PassCalculator" input_stream: "LOOP:b" output_stream: "c"
               input_stream_info { tag_index: "LOOP" back_edge: true } }
        """)

    assert [node.name for node in made.nodes] == ["pass", "merge"]


def test_a_node_that_reads_itself_needs_a_back_edge(plan, faults):
    node = 'node { calculator: "PassCalculator" input_stream: "x" output_stream: "x" %s }'

    only(faults(node % ""), "UNKNOWN", "form a cycle: PassCalculator → PassCalculator;")
    assert plan(node % "input_stream_info { back_edge: true }").nodes[0].inputs[0].back_edge


def test_a_cycle_of_side_packets_cannot_be_marked(faults):
    found = faults("""
        node { name: "a" calculator: "PassCalculator" input_side_packet: "x" output_side_packet: "y" }
        node { name: "b" calculator: "PassCalculator" input_side_packet: "y" output_side_packet: "x" }
        """)

    only(found, "UNKNOWN", "a → b → a; it consists of side packets, which cannot: take one of them out")


def test_cycles_that_have_nothing_to_do_with_each_other_are_all_named(faults):
    found = faults(
        (CYCLE % "") + (CYCLE % "").replace('"a"', '"z"').replace('"b"', '"y"').replace('"c"', '"x"')
    )

    assert [code for code, _ in found] == ["UNKNOWN", "UNKNOWN"]
    assert "merge_1 → pass_1" in found[0][1]
    assert "merge_2 → pass_2" in found[1][1]


# --- producers and consumers --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ('input_stream: "a" input_stream: "b" ' + PASSING, "output stream 'b' is defined twice: the graph"),
        ('input_stream: "a" ' + PASSING * 2, ("output stream 'b' is defined twice: node 'PassCalculator_1' "
         "(PassCalculator) has it already; give one of them another name")),
        ('input_stream: "a" input_stream: "a" ' + PASSING, "the graph's input_stream 'a' is defined twice"),
        ('node { calculator: "SourceCalculator" output_stream: "A:x" output_stream: "B:x" }',
         "'x' is defined twice: this node has it already"),
        ('node { calculator: "PassCalculator" output_side_packet: "s" }' * 2,
         "output side packet 's' is defined twice: node 'PassCalculator_1'"),
    ],
)  # fmt: skip
def test_a_name_has_one_producer(graph, words, faults):
    only(faults(graph), "UNKNOWN", words)


def test_a_missing_producer_has_its_place_and_near_names(faults):
    found = faults("""
        input_stream: "frames"
        node {
          calculator: "PassCalculator"
          input_stream: "VIDEO:frame"
        }
        """)

    assert found == [
        (
            "UNKNOWN",
            (
                "line 5, column 3: node 'PassCalculator': input stream 'frame' (input 'VIDEO') has no "
                "producer (did you mean 'frames'?); let a node write it, or make it an input_stream of "
                "the graph"
            ),
        )
    ]


def test_a_back_edge_without_producer_has_the_references_code(faults):
    node = 'node { calculator: "PassCalculator" input_stream: "x" input_stream_info { back_edge: true } }'

    only(faults(node), "INTERNAL", "back edge 'x' (input 0) has no producer")


def test_an_unused_graph_input_is_fine(plan):
    assert plan('input_stream: "unused"').graph_inputs == 1


# --- tags and input_stream_info -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "code", "words"),
    [
        ('input_stream: "tag:a"', "INVALID_ARGUMENT", "input_stream: 'tag:a' is no port"),
        ('output_stream: "Upper"', "INVALID_ARGUMENT", "output_stream: 'Upper' is no port"),
        ('input_side_packet: "A:0:"', "INVALID_ARGUMENT", "input_side_packet: 'A:0:' is no port"),
        ('output_side_packet: "A:b:c"', "INVALID_ARGUMENT", "output_side_packet: 'A:b:c' is no port"),
        ('input_stream: "T:1:a"', "FAILED_PRECONDITION", "input_stream: port tag 'T' has no entry for index"),
        ('input_stream: "T:a" input_stream: "T:a"', "FAILED_PRECONDITION", "tag 'T' index 0 already has the"),
        ('input_stream: "T:500020000:a"', "RESOURCE_EXHAUSTED", "the index of a port is 500020000"),
    ],
)  # fmt: skip
def test_a_bad_port_is_a_fault_of_its_entry(field, code, words, faults):
    only(faults(f'input_stream: "a" node {{ calculator: "PassCalculator" {field} }}'), code, words)


def test_the_graphs_own_ports_are_checked(faults):
    found = faults('input_stream: "A" output_stream: "B:C" input_side_packet: "D" output_side_packet: "E"')

    assert [code for code, _ in found] == ["INVALID_ARGUMENT"] * 4
    assert "the graph's input_stream: 'A' is no port" in found[0][1]


def test_a_bad_port_does_not_make_its_good_neighbours_missing(faults):
    found = faults("""
        node { calculator: "SourceCalculator"
               output_stream: "good" output_stream: "Bad" output_stream: "A:2:also" }
        node { calculator: "PassCalculator" input_stream: "good" input_stream: "also" }
        """)

    only(found, "INVALID_ARGUMENT", "'Bad' is no port")


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ('tag_index: "NOPE"', "tag_index 'NOPE' is no input of this node; its inputs are: 0"),
        ('tag_index: ":1"', "tag_index ':1' is no input of this node"),
        ('tag_index: "a:b"', "tag_index 'a:b' is no port"),
        ('} input_stream_info { tag_index: ":0"', "input 0 has more than one; merge them"),
    ],
)
def test_stream_infos_must_name_an_input_once(info, words, faults):
    found = faults(
        'input_stream: "a" node { calculator: "PassCalculator" input_stream: "a" '
        f"input_stream_info {{ {info} }} }}"
    )

    only(found, "INVALID_ARGUMENT", f"input_stream_info: {words}")


def test_a_misspelt_tag_index_is_one_fault_and_its_cycle_no_second_one(faults):
    found = faults("""
        input_stream: "a"
        node {
          calculator: "PassCalculator" input_stream: "IN:a" input_stream: "LOOP:b" output_stream: "OUT:b"
          input_stream_info { tag_index: "LOOOP" back_edge: true }
        }""")

    only(
        found,
        "INVALID_ARGUMENT",
        "tag_index 'LOOOP' is no input of this node (did you mean 'LOOP'?); its inputs are: 'IN', 'LOOP'",
    )


# --- calculators and contracts ------------------------------------------------------------------


def test_an_unknown_calculator_has_its_place_and_near_names(plan, registry):
    registry.fail("gl", "no display")
    with pytest.raises(GraphConfigError) as caught:
        plan('node {\n name: "n"\n calculator: "PassCalculater" }')

    (fault,) = caught.value.faults
    assert isinstance(fault, UnknownNameError)
    assert (fault.name, fault.near) == ("PassCalculater", ("PassCalculator",))
    assert str(fault) == (
        "line 3, column 2: node 'n' (PassCalculater): no calculator 'PassCalculater' is registered "
        "(did you mean 'PassCalculator'?); plugins that are not loaded: gl (no display)"
    )
    assert caught.value.code is StatusCode.NOT_FOUND
    assert isinstance(caught.value, LookupError)


def test_a_node_without_calculator_is_a_fault(faults):
    only(faults('node { name: "n" }'), "INVALID_ARGUMENT", 'has no calculator; add calculator: "Name"')


def test_a_calculator_that_cannot_be_imported_is_a_fault(faults, registry):
    registry.add(
        "calculator", "BrokenCalculator", "no_such_module:Broken", distribution="penstock-x", plugin="x"
    )

    only(faults('node { calculator: "BrokenCalculator" }'), "UNKNOWN", "ModuleNotFoundError: No module named")


def test_a_calculator_that_two_distributions_claim_is_a_fault(faults, registry):
    for distribution in ("one", "two"):
        registry.add("calculator", "TwiceCalculator", "m:X", distribution=distribution, plugin="p")

    only(faults('node { calculator: "TwiceCalculator" }'), "ALREADY_EXISTS", "node 'TwiceCalculator': ")


def test_what_is_registered_and_no_calculator_is_a_fault(faults, registry):
    registry.add("calculator", "NoCalculator", int)

    only(
        faults('node { calculator: "NoCalculator" }'),
        "INVALID_ARGUMENT",
        "has no get_contract; subclass penstock.",
    )


def test_a_contract_declares_how_the_calculator_behaves_and_leaves_the_rest_unsaid(plan, declare):
    def contract(cc):
        cc.declare(stateless=True, cost="high")
        cc.declare(may_skip=False)

    declare("SaysCalculator", contract)
    declare("SilentCalculator", lambda cc: None)
    says, silent = plan('node { calculator: "SaysCalculator" } node { calculator: "SilentCalculator" }').nodes

    assert says.contract.declared == (False, True, None, "high", None)
    assert silent.contract.declared == (None, None, None, None, None)


def test_a_cost_that_is_no_word_for_one_is_a_fault(faults, declare):
    declare("DearCalculator", lambda cc: cc.declare(cost="dear"))
    only(
        faults('node { calculator: "DearCalculator" }'),
        "INVALID_ARGUMENT",
        "cost 'dear': must be 'low' or 'high'",
    )


def test_a_failing_contract_names_the_node_and_keeps_its_cause(plan, declare):
    def fill(cc):
        raise ZeroDivisionError("by zero")

    declare("FailingCalculator", fill)
    with pytest.raises(
        GraphConfigError, match=r"node 'n' \(FailingCalculator\): get_contract\(\) failed: ZeroDivisi"
    ) as caught:
        plan('node { name: "n" calculator: "FailingCalculator" }')

    assert isinstance(caught.value.faults[0].__cause__, ZeroDivisionError)
    assert caught.value.faults[0].node == "n"


def test_a_contract_that_refuses_an_option_gives_its_own_code(faults, declare):
    def fill(cc):
        raise ValueError("threshold must be positive")

    declare("RefusingCalculator", fill)

    only(
        faults('node { calculator: "RefusingCalculator" }'), "INVALID_ARGUMENT", "threshold must be positive"
    )


def test_a_contract_cannot_be_async(faults, declare):
    async def fill(cc): ...

    declare("AsyncCalculator", fill)

    only(
        faults('node { calculator: "AsyncCalculator" }'),
        "INVALID_ARGUMENT",
        "get_contract() is async; declare it",
    )


def test_a_contract_that_is_no_classmethod_says_so(faults, declare, registry):
    class OfInstancesCalculator:
        def get_contract(self, cc): ...

    registry.add("calculator", "OfInstancesCalculator", OfInstancesCalculator)

    only(
        faults('node { calculator: "OfInstancesCalculator" }'),
        "INVALID_ARGUMENT",
        "missing 1 required positional argument: 'cc'; write @classmethod above it",
    )


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("input_stream", "input"),
        ("output_stream", "output"),
        ("input_side_packet", "input side packet"),
        ("output_side_packet", "output side packet"),
    ],
)
def test_a_port_that_the_calculator_does_not_have_is_a_fault(field, word, faults, declare):
    declare("OnePortCalculator", lambda cc: getattr(cc, f"{word.replace(' ', '_')}s")["DATA"].set(int))

    found = faults(
        f'node {{ calculator: "OnePortCalculator" {field}: "DATA:a{word[0]}" {field}: "DATE:b" }}'
        ' node { calculator: "SourceCalculator" output_stream: "ai" output_stream: "zz" }'
    )

    assert found[0][0] == "INVALID_ARGUMENT"
    assert f"node 'OnePortCalculator': has no {word} 'DATE'; its {word}s are: 'DATA'" in found[0][1]


def test_a_port_that_the_graph_leaves_out_is_a_fault_unless_optional(faults, declare):
    def fill(cc):
        cc.inputs["NEEDED", 1].set(int)
        cc.inputs["WANTED"].set(int).optional()
        cc.input_side_packets[0].set(str)

    declare("NeedyCalculator", fill)
    found = faults('node { calculator: "NeedyCalculator" }')

    assert [code for code, _ in found] == ["INVALID_ARGUMENT"] * 2
    assert (
        "needs input 'NEEDED:1', but nothing is connected to it; add input_stream: \"NEEDED:1:name\""
        in found[0][1]
    )
    assert (
        'needs input side packet 0, but nothing is connected to it; add input_side_packet: "name"'
        in found[1][1]
    )


def test_options_that_come_twice_are_a_fault(faults, make_options):
    make_options("TwiceOptions", 500020201)
    packed = "node_options { [type.googleapis.com/penstock.TwiceOptions] { } }\n"

    found = faults(f'node {{ calculator: "PassCalculator"\n{packed}{packed}}}')

    only(found, "INTERNAL", "node_options has 'penstock.TwiceOptions' more than once; merge them")
    assert found[0][1].startswith("line 3, column 1: ")


@pytest.mark.parametrize(
    ("graph", "code", "words"),
    [
        ("max_queue_size: -2", "INVALID_ARGUMENT", "max_queue_size -2: must be positive, -1 for no limit"),
        ('node { calculator: "PassCalculator" max_in_flight: -1 }', "INVALID_ARGUMENT", "max_in_flight -1"),
        ("packet_generator {}", "UNIMPLEMENTED", "packet_generator is not supported; write a calculator"),
        ("packet_factory {}", "UNIMPLEMENTED", "packet_factory is not supported; write a calculator"),
        ("status_handler {}", "UNIMPLEMENTED", "status_handler is not supported; observe runs"),
        ('node { calculator: "PassCalculator" external_input: "s" }', "UNIMPLEMENTED", "rename the field"),
    ],
)  # fmt: skip
def test_what_cannot_be_honoured_is_refused_with_the_cure(graph, code, words, faults):
    only(faults(graph), code, words)


# --- all at once --------------------------------------------------------------------------------


def test_all_faults_come_at_once_in_file_order_with_their_places(plan, tmp_path, declare):
    declare("IntCalculator", lambda cc: (cc.inputs[0].set(int), cc.outputs[0].set(str)))
    file = tmp_path / "graph.pbtxt"
    file.write_text(
        """\
input_stream: "a"
node { calculator: "IntCalculator" input_stream: "a" output_stream: "b" }
node { calculator: "IntCalculator" input_stream: "b" output_stream: "c" }
node { calculator: "Unknown" input_stream: "c" input_stream: "nothing" executor: "nowhere" }
node { calculator: "IntCalculator" input_stream: "c" output_stream: "c" }
max_queue_size: -5
""",
        encoding="utf-8",
    )
    with pytest.raises(GraphConfigError) as caught:
        plan(file)

    lines = [str(fault).removeprefix(f"{file}:").partition(": ") for fault in caught.value.faults]
    assert [(place, words.split("; ")[0]) for place, _, words in lines] == [
        ("3:36", ("node 'IntCalculator_2' (IntCalculator): input 0 expects int, but stream 'b' carries str "
                 "(from node 'IntCalculator_1' (IntCalculator))")),
        ("4:8", "node 'Unknown': no calculator 'Unknown' is registered"),
        ("4:48", "node 'Unknown': input stream 'nothing' (input 1) has no producer"),
        ("4:72", "node 'Unknown': executor 'nowhere' is not declared"),
        ("5:36", ("node 'IntCalculator_3' (IntCalculator): input 0 expects int, but stream 'c' carries str "
                 "(from node 'IntCalculator_2' (IntCalculator))")),
        ("5:54", ("node 'IntCalculator_3' (IntCalculator): output stream 'c' is defined twice: "
                 "node 'IntCalculator_2' (IntCalculator) has it already")),
        ("6:1", "max_queue_size -5: must be positive, -1 for no limit, or 0 for 100"),
    ]  # fmt: skip
    assert caught.value.file == str(file)
    assert caught.value.code is StatusCode.UNKNOWN


def test_faults_of_a_graph_without_lines_are_in_the_order_of_its_nodes(faults):
    found = faults(
        CalculatorGraphConfig(
            node=[{"calculator": "One"}, {"calculator": "Two", "input_stream": ["x"]}], max_queue_size=-2
        )
    )

    assert [message.split(":")[0] for _, message in found] == [
        "max_queue_size -2", "node 'One'", "node 'Two'", "node 'Two'",
    ]  # fmt: skip


@settings(deadline=None)
@given(data=st.data(), size=st.integers(1, 20))
def test_any_shuffled_graph_without_cycles_is_planned_with_producers_first(data, size):
    registry = Registry()
    registry.add("input stream handler", "DefaultInputStreamHandler", object)
    fill = classmethod(lambda _cls, cc: [port.set_any() for port in (*cc.inputs, *cc.outputs)])
    registry.add("calculator", "C", type("C", (), {"get_contract": fill}))
    nodes = []
    for i in range(size):
        readers = data.draw(st.lists(st.integers(0, i), max_size=3))
        inputs = " ".join(f'input_stream: "s{reader}"' for reader in readers)
        nodes.append(f'node {{ name: "n{i}" calculator: "C" {inputs} output_stream: "s{i + 1}" }}')
    shuffled = data.draw(st.permutations(nodes))

    made = build_plan('input_stream: "s0"' + "\n".join(shuffled), registry)

    for node in made.nodes:
        for port in node.inputs:
            producer = made.streams[port.stream].producer
            assert producer is None or producer < node.id
    again = build_plan(made.config, registry)
    assert [node.name for node in again.nodes] == [node.name for node in made.nodes]


def test_shuffling_changes_the_order_as_little_as_possible(plan):
    nodes = [f'name: "n{i}" input_stream: "s{i}" output_stream: "s{i + 1}"' for i in range(30)]
    chain = [f'node {{ calculator: "PassCalculator" {node} }}' for node in nodes]
    random.Random(3).shuffle(chain)  # noqa: S311  # any order will do

    made = plan('input_stream: "s0"' + "".join(chain))

    assert [node.name for node in made.nodes] == [f"n{i}" for i in range(30)]
