from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError
from penstock_calculators.side_packets.default_side_packet import DefaultSidePacketCalculator
from penstock_testing import InlineExecutor, run_calculator

TIMEOUT = 20
EXAMPLE = DefaultSidePacketCalculator.__doc__.partition("Example config::")[2]


def chosen(graph, **side_packets):
    graph.run(side_packets, TIMEOUT)
    return graph.get_output_side_packet("model").payload


def inline(text):
    graph = CalculatorGraph(text)
    graph.set_executor("", InlineExecutor())
    return graph


def test_the_given_value_replaces_the_default_and_is_the_same_object():
    given, default = object(), object()
    run = run_calculator(
        DefaultSidePacketCalculator,
        side_packets={"OPTIONAL_VALUE": given, "DEFAULT_VALUE": default},
        output_side_packets=["VALUE"],
    )

    assert run.output_side_packets["VALUE"] is given


def test_an_optional_value_that_is_not_connected_leaves_the_default():
    run = run_calculator(
        DefaultSidePacketCalculator, side_packets={"DEFAULT_VALUE": "d"}, output_side_packets=["VALUE"]
    )

    assert run.output_side_packets["VALUE"] == "d"


def test_each_run_of_the_example_has_the_default_where_the_application_gives_nothing():
    graph = inline(EXAMPLE)

    assert chosen(graph, small_model="small") == "small"
    assert chosen(graph, small_model="small", model_given="large") == "large"
    assert chosen(graph, small_model="small") == "small"


@pytest.mark.reference(
    "calculators/core/default_side_packet_calculator_test.cc",
    "DefaultSidePacketCalculator.ProducesExpectedOutput",
)
@pytest.mark.parametrize(
    ("default", "optional"), [("default string", "optional string"), (123, 456), (1.1, 2.2)]
)
def test_values_of_any_type_are_forwarded(default, optional):
    text = """
        input_side_packet: "optional_input"
        input_side_packet: "default_input"
        output_side_packet: "model"
        node {
          calculator: "DefaultSidePacketCalculator"
          input_side_packet: "OPTIONAL_VALUE:optional_input"
          input_side_packet: "DEFAULT_VALUE:default_input"
          output_side_packet: "VALUE:model"
        }
    """

    assert chosen(inline(text), default_input=default, optional_input=optional) == optional
    assert chosen(inline(text), default_input=default) == default


def test_a_false_value_is_a_value():
    assert chosen(inline(EXAMPLE), small_model=True, model_given=False) is False


def test_an_optional_value_that_a_node_makes_is_waited_for():
    graph = inline(
        EXAMPLE
        + """
        node {
          calculator: "StringToIntCalculator"
          input_side_packet: "text"
          output_side_packet: "model_given"
        }
        """
    )

    assert chosen(graph, small_model=1, text="12") == 12


@pytest.mark.parametrize(
    ("sides", "outputs", "message"),
    [
        pytest.param(
            {"OPTIONAL_VALUE": 1},
            ["VALUE"],
            "needs input side packet 'DEFAULT_VALUE', but nothing is connected",
            marks=pytest.mark.reference(
                "calculators/core/default_side_packet_calculator_test.cc",
                "DefaultSidePacketCalculatorTest.NoDefaultValueFails",
            ),
        ),
        ({"DEFAULT_VALUE": 1}, [], "needs output side packet 'VALUE', but nothing is connected to it"),
    ],
)
def test_a_default_and_a_value_are_needed(sides, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(DefaultSidePacketCalculator, side_packets=sides, output_side_packets=outputs)


def test_a_run_without_the_default_does_not_start():
    with pytest.raises(GraphConfigError, match=r"side packet 'small_model' .* is required but was not given"):
        inline(EXAMPLE).run({"model_given": 1}, TIMEOUT)


def test_the_value_has_the_type_of_the_node_that_makes_the_default():
    with pytest.raises(GraphConfigError, match="expects str, but side packet 'model' carries int"):
        CalculatorGraph(
            EXAMPLE
            + """
            node {
              calculator: "StringToIntCalculator"
              input_side_packet: "text"
              output_side_packet: "small_model"
            }
            node {
              calculator: "StringToIntCalculator"
              input_side_packet: "model"
              output_side_packet: "number"
            }
            """
        )
