"""Options that are attrs classes in runs: what calculators and executors get, and what is written."""

import attrs
import pytest

from penstock import Calculator, CalculatorGraph, GraphConfigError, Packet, register_calculator
from penstock.attrs_options import attrs_name
from penstock.errors import GraphRunError, InvalidArgumentError
from penstock.explain import GRAPH
from penstock_testing import check_calculator, run_calculator
from penstock_testing.inline import InlineExecutor
from penstock_testing.registry import testing_registry


@attrs.frozen(kw_only=True)
class ScaleOptions:
    """How to scale."""

    factor: int = attrs.field(default=2, validator=attrs.validators.ge(0))
    offset: int | None = None


class Scale(Calculator):
    Options = ScaleOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)
        cls.in_contract = cc.options(ScaleOptions)

    def open(self, cc):
        self.options = cc.options(ScaleOptions)

    def process(self, cc):
        assert cc.options(ScaleOptions) is self.options is self.in_contract
        cc.outputs[0].add(self.options.factor * cc.inputs[0].payload, cc.input_timestamp)


class Unsaid(Scale):
    """Does not say which options it takes."""

    Options = None


NAME = attrs_name(ScaleOptions)
TEXT = """
input_stream: "in"
output_stream: "out"
node {{ calculator: "Scale" input_stream: "in" output_stream: "out"
  node_options {{ [type.googleapis.com/{name}] {{ {fields} }} }} }}
"""


@pytest.fixture
def registry():
    made = testing_registry().child()
    made.add("calculator", "Scale", Scale)
    return made


def loaded(registry, fields, calculator="Scale"):
    text = TEXT.format(name=NAME, fields=fields).replace('"Scale"', f'"{calculator}"')
    graph = CalculatorGraph(text, registry=registry)
    graph.set_executor("", InlineExecutor())
    return graph


def outputs(graph):
    found = []
    graph.observe_output_stream("out", lambda _, packet: found.append(packet.payload))
    graph.start_run()
    for stamp in range(3):
        graph.add_packet_to_input_stream("in", Packet(stamp, stamp))
    graph.close_all_input_streams()
    graph.wait_until_done(10)
    return found


def test_a_run_sees_one_instance_in_contract_open_and_process(registry):
    graph = loaded(registry, "factor: 5")

    assert outputs(graph) == [0, 5, 10]
    assert outputs(graph) == [0, 5, 10]


def test_the_text_of_a_graph_has_the_options_and_is_the_same_graph(registry):
    graph = loaded(registry, "factor: 5")

    assert f"[type.googleapis.com/{NAME}] {{\n      factor: 5\n    }}" in graph.text_config
    again = CalculatorGraph(graph.text_config, registry=registry)
    again.set_executor("", InlineExecutor())
    assert again.text_config == graph.text_config
    assert outputs(again) == [0, 5, 10]


def test_a_calculator_sees_the_options_in_the_text_of_its_graph(registry):
    texts = []

    class Looking(Scale):
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.use_service(GRAPH)

        def close(self, cc):
            texts.append(cc.service(GRAPH).text_config)

    registry.add("calculator", "Looking", Looking)
    graph = loaded(registry, "factor: 5", "Looking")
    outputs(graph)

    assert texts == [graph.text_config]
    assert "factor: 5" in texts[0]


def test_a_refused_value_ends_the_loading_and_not_the_run(registry):
    with pytest.raises(
        GraphConfigError, match=r"line 5, column \d+: node 'Scale': .* factor is -1: ValueError: "
    ):
        loaded(registry, "factor: -1")


def test_options_that_are_first_asked_for_in_open_are_refused_there(registry):
    class Late(Scale):
        Options = None

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set(int)
            cc.outputs[0].set(int)

    registry.add("calculator", "Late", Late)
    registry.add_option(NAME, None, None, ScaleOptions)
    graph = loaded(registry, "factor: -1", "Late")

    with pytest.raises(
        GraphRunError, match=rf"options {NAME}: factor is -1: ValueError: 'factor' must be >= 0: -1"
    ):
        outputs(graph)


@pytest.mark.parametrize("calculator", [Scale, Unsaid])
def test_a_test_of_one_calculator_gives_an_instance(calculator):
    run = run_calculator(
        calculator, {0: [(0, 3)]}, outputs=[0], options=ScaleOptions(factor=7), registry=testing_registry()
    )

    assert [packet.payload for packet in run.outputs[0]] == [21]


def test_the_check_of_promises_gives_an_instance_in_every_wiring():
    found = check_calculator(
        Unsaid,
        wiring='node { calculator: "Unsaid" input_stream: "in" output_stream: "out" }',
        options=ScaleOptions(factor=7),
        registry=testing_registry(),
        seeds=range(2),
    )

    assert all("factor: 7" in text for text in found.wirings)


def test_registering_a_calculator_refuses_options_that_graph_files_cannot_give():
    class RefusedOptionsCalculator(Calculator):
        Options = attrs.make_class("Odd", {"size": attrs.field(type=complex)})

    with pytest.raises(
        InvalidArgumentError, match=r"options class 'Odd': field 'size' is 'complex', which graph"
    ):
        register_calculator(RefusedOptionsCalculator)


def test_an_executor_gets_an_instance_from_its_extension(registry):
    made = attrs.make_class("LendOptions", {"threads": attrs.field(type=int, default=1)})
    registry.add_option(attrs_name(made), "penstock.MediaPipeOptions", 500031001, made)
    seen = []

    class Lending(InlineExecutor):
        @classmethod
        def create(cls, options, defaults):
            seen.append(options.get(made).threads)
            return super().create(options, defaults)

    registry.add("executor", "Lending", Lending)
    text = TEXT.format(name=NAME, fields="factor: 5") + (
        f'executor {{ type: "Lending" options {{ [{attrs_name(made)}.ext] {{ threads: 3 }} }} }}'
    )
    graph = CalculatorGraph(text, registry=registry)
    graph.observe_output_stream("out", lambda _, __: None)
    graph.start_run()
    graph.close_all_input_streams()
    graph.wait_until_done(10)

    assert seen == [3]
