"""Expected values from runs of the reference: its wheel makes a MatrixData too, not a matrix."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError
from penstock_calculators.messages.constant_side_packet_pb2 import ConstantSidePacketCalculatorOptions
from penstock_calculators.side_packets.constant_side_packet import ConstantSidePacketCalculator
from penstock_formats.messages.classification_pb2 import ClassificationList
from penstock_formats.messages.landmark_pb2 import LandmarkList
from penstock_formats.messages.matrix_data_pb2 import MatrixData
from penstock_formats.messages.time_series_header_pb2 import TimeSeriesHeader
from penstock_testing import InlineExecutor, ScheduleHarness, node, run_calculator, wired

TIMEOUT = 20
#: The nearest float of 32 bits to 0.1.
TENTH_32 = 0.10000000149011612
LABELS = ClassificationList(classification=[{"index": 3, "label": "cat"}])
POINTS = LandmarkList(landmark=[{"x": 1.0, "y": 2.0}])
MATRIX = MatrixData(rows=2, cols=2, packed_data=[1, 2, 3, 4])


def constants(*packets):
    return ConstantSidePacketCalculatorOptions(packet=list(packets))


def made(*packets):
    """Return the payloads of PACKET:0, PACKET:1, ..."""
    ports = [f"PACKET:{i}" for i in range(len(packets))]
    run = run_calculator(ConstantSidePacketCalculator, options=constants(*packets), output_side_packets=ports)
    return [run.output_side_packets[port] for port in ports]


@pytest.mark.parametrize(
    ("field", "given", "payload"),
    [
        ("int_value", -2, -2),
        ("int64_value", -(2**63), -(2**63)),
        ("uint64_value", 2**64 - 1, 2**64 - 1),
        ("float_value", 0.1, TENTH_32),
        ("double_value", 0.1, 0.1),
        ("bool_value", True, True),
        ("bool_value", False, False),
        ("int_value", 0, 0),
        ("string_value", "str", "str"),
        ("string_value", "", ""),
        ("string_vector_value", {"string_value": ["a", "b"]}, ["a", "b"]),
        ("float_vector_value", {"float_value": [0.5, 2]}, [0.5, 2.0]),
        ("int_vector_value", {"int_value": []}, []),
        ("classification_list_value", LABELS, LABELS),
        ("landmark_list_value", POINTS, POINTS),
        ("time_series_header_value", TimeSeriesHeader(sample_rate=8e3), TimeSeriesHeader(sample_rate=8e3)),
        ("matrix_data_value", MATRIX, MATRIX),
    ],
)
def test_each_kind_of_value_becomes_a_payload_of_its_python_type(field, given, payload):
    (value,) = made({field: given})

    assert value == payload
    assert type(value) is type(payload)


def loaded(ports, packets):
    """Return the side packets of a graph file by name, without other tags."""
    graph = CalculatorGraph(f"""
        node {{
          calculator: "ConstantSidePacketCalculator"
          {" ".join(f'output_side_packet: "{port}"' for port in ports)}
          options: {{
            [mediapipe.ConstantSidePacketCalculatorOptions.ext]: {{
              {" ".join(f"packet {packet}" for packet in packets)}
            }}
          }}
        }}
    """)
    graph.set_executor("", InlineExecutor())
    graph.run(timeout=TIMEOUT)
    names = [port.rpartition(":")[2] for port in ports if port.startswith("PACKET")]
    return {name: graph.get_output_side_packet(name).payload for name in names}


@pytest.mark.reference(
    "calculators/core/constant_side_packet_calculator_test.cc",
    "ConstantSidePacketCalculatorTest.EveryPossibleType",
)
@pytest.mark.parametrize(
    ("packet", "value"),
    [
        ("{ int_value: 2 }", 2),
        ("{ float_value: 6.5f }", 6.5),
        ("{ bool_value: true }", True),
        ('{ string_value: "str" }', "str"),
        ("{ int64_value: 63 }", 63),
        ('{ string_vector_value: {string_value: "foo" string_value: "bar"}}', ["foo", "bar"]),
        ("{ float_vector_value: {float_value: 1.0 float_value: 2.0}}", [1.0, 2.0]),
        ("{ int_vector_value: {int_value: 1 int_value: 2}}", [1, 2]),
    ],
)
def test_a_graph_file_gives_each_kind_of_value(packet, value):
    made_value = loaded(["PACKET:packet"], [packet])["packet"]

    assert made_value == value
    assert type(made_value) is type(value)


SIX = [
    "{ int_value: 256 }",
    "{ float_value: 0.5f }",
    "{ bool_value: false }",
    '{ string_value: "string" }',
    '{ string_value: "another string" }',
    "{ int_value: 128 }",
]


@pytest.mark.parametrize(
    ("ports", "values"),
    [
        pytest.param(
            [f"PACKET:{i}:packet_{i}" for i in range(6)],
            [256, 0.5, False, "string", "another string", 128],
            marks=pytest.mark.reference(
                "calculators/core/constant_side_packet_calculator_test.cc",
                "ConstantSidePacketCalculatorTest.MultiplePackets",
            ),
        ),
        pytest.param(
            [
                "PACKET:0:packet_0",
                "no_tag0",
                "PACKET:1:packet_1",
                "INCORRECT_TAG:0:name1",
                "PACKET:2:packet_2",
                "PACKET:3:packet_3",
                "no_tag2",
                "INCORRECT_TAG:1:name2",
            ],
            [256, 0.5, False, "string"],
            marks=pytest.mark.reference(
                "calculators/core/constant_side_packet_calculator_test.cc",
                "ConstantSidePacketCalculatorTest.ProcessingPacketsWithCorrectTagOnly",
            ),
        ),
    ],
)
def test_a_graph_file_gives_each_side_packet_its_own_value(ports, values):
    found = loaded(ports, SIX[: len(values)])

    assert found == {f"packet_{i}": value for i, value in enumerate(values)}
    assert [type(value) for value in found.values()] == [type(value) for value in values]


def test_each_side_packet_has_the_value_of_its_own_index():
    assert made({"int_value": 2}, {"string_value": "str"}, {"bool_value": True}) == [2, "str", True]


def test_every_value_of_the_options_has_a_payload_type():
    fields = ConstantSidePacketCalculatorOptions.ConstantSidePacket.DESCRIPTOR.fields_by_name

    for field in fields.values():
        value = {"packet": [{field.name: {} if field.message_type else field.default_value}]}
        assert len(made(value["packet"][0])) == 1, field.name


def test_a_change_of_a_message_changes_neither_the_options_nor_the_next_run():
    line = node(
        ConstantSidePacketCalculator,
        side_outputs="PACKET:labels",
        options=[constants({"classification_list_value": LABELS})],
    )
    plan = wired(line)
    payloads = []
    for _ in range(2):
        harness = ScheduleHarness(plan).start()
        harness.finish()
        payloads.append(harness.side_packets.made["labels"].payload)
        payloads[0].classification[0].label = "dog"

    assert payloads[1] == LABELS


def test_side_packets_of_other_tags_are_left_alone():
    run = run_calculator(
        ConstantSidePacketCalculator,
        options=constants({"int_value": 2}),
        output_side_packets=["PACKET", "OTHER"],
    )

    assert run.output_side_packets == {"PACKET": 2}


@pytest.mark.parametrize(
    ("packets", "ports", "message"),
    [
        pytest.param(
            [{"int_value": 256}, {"float_value": 0.5}],
            ["PACKET"],
            "1 output side packets PACKET, but 2 constant packets in",
            marks=pytest.mark.reference(
                "calculators/core/constant_side_packet_calculator_test.cc",
                "ConstantSidePacketCalculatorTest.IncorrectConfig_MoreOptionsThanPackets",
            ),
        ),
        pytest.param(
            [{"int_value": 256}],
            ["PACKET:0", "PACKET:1"],
            "2 output side packets PACKET, but 1 constant packets in",
            marks=pytest.mark.reference(
                "calculators/core/constant_side_packet_calculator_test.cc",
                "ConstantSidePacketCalculatorTest.IncorrectConfig_MorePacketsThanOptions",
            ),
        ),
        (
            [],
            ["PACKET"],
            "1 output side packets PACKET, but 0 constant packets in the options; each needs the other",
        ),
        (
            [{"int_value": 2}],
            ["OTHER"],
            "0 output side packets PACKET, but 1 constant packets in the options",
        ),
        (
            [{"int_value": 2}, {}],
            ["PACKET:0", "PACKET:1"],
            "constant side packet 1 of the options has no value; give one of",
        ),
    ],
)
def test_side_packets_and_options_that_do_not_match_are_refused(packets, ports, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(ConstantSidePacketCalculator, options=constants(*packets), output_side_packets=ports)


def test_the_type_of_a_value_is_known_before_the_run():
    with pytest.raises(GraphConfigError, match="expects str, but side packet 'n' carries int"):
        CalculatorGraph(
            """
            node {
              calculator: "ConstantSidePacketCalculator"
              output_side_packet: "PACKET:n"
              options { [mediapipe.ConstantSidePacketCalculatorOptions.ext] { packet { int_value: 1 } } }
            }
            node { calculator: "StringToIntCalculator" input_side_packet: "n" output_side_packet: "m" }
            """
        )


def test_the_example_of_the_docstring_runs():
    graph = CalculatorGraph(ConstantSidePacketCalculator.__doc__.partition("Example config::")[2])
    graph.set_executor("", InlineExecutor())

    graph.run(timeout=TIMEOUT)

    assert graph.get_output_side_packet("threshold").payload == 0.5
    assert graph.get_output_side_packet("labels").payload == ["cat", "dog"]
