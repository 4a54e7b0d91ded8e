"""Expected values from the reference's description of the calculator, and from runs of it."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError, StatusCode
from penstock_calculators.limiting.gate import GateCalculator
from penstock_calculators.messages.gate_pb2 import GateCalculatorOptions
from penstock_testing import ScheduleHarness, explore, node, run_calculator, wired

FRAMES = [(1, "a"), (2, "b"), (3, "c"), (5, "e")]
SWITCH = [(1, True), (2, False), (4, True), (5, True)]


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def gate(*lines, side_inputs="", options=()):
    """Return the plan of a gate with one data stream x → y and these further ports."""
    inputs = [line for line in lines if not line.startswith("STATE")]
    outputs = [line for line in lines if line.startswith("STATE")]
    gate_node = node(
        GateCalculator, ["x", *inputs], ["y", *outputs], side_inputs=side_inputs, options=options
    )
    return wired(gate_node, inputs=["x", *(line.rpartition(":")[2] for line in inputs)])


@pytest.mark.parametrize(
    ("control", "empty_allows", "passed"),
    [
        ("ALLOW", False, [(1, "a"), (5, "e")]),
        ("ALLOW", True, [(1, "a"), (3, "c"), (5, "e")]),
        ("DISALLOW", False, [(2, "b")]),
        ("DISALLOW", True, [(2, "b"), (3, "c")]),
    ],
)
def test_the_control_packet_of_each_timestamp_decides_and_without_one_the_option(
    control, empty_allows, passed
):
    run = run_calculator(
        GateCalculator,
        {0: FRAMES, control: SWITCH},
        outputs=[0],
        options=GateCalculatorOptions(empty_packets_as_allow=empty_allows),
    )

    assert values(run.outputs[0]) == passed


@pytest.mark.parametrize(
    ("control", "passed"),
    [
        pytest.param(
            "ALLOW",
            [42, 44],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc", "GateCalculatorTest.Allow"
            ),
        ),
        pytest.param(
            "DISALLOW",
            [43, 45],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc", "GateCalculatorTest.Disallow"
            ),
        ),
    ],
)
def test_a_control_stream_opens_and_closes_the_gate(control, passed):
    run = run_calculator(
        GateCalculator,
        {
            0: [(timestamp, True) for timestamp in range(42, 46)],
            control: [(42, True), (43, False), (44, True), (45, False)],
        },
        outputs=[0],
    )

    assert values(run.outputs[0]) == [(timestamp, True) for timestamp in passed]


def test_every_data_stream_passes_to_the_output_of_its_own_index():
    run = run_calculator(
        GateCalculator, {0: FRAMES, 1: [(2, 20), (4, 40), (5, 50)], "ALLOW": SWITCH}, outputs=[0, 1]
    )

    assert values(run.outputs[0]) == [(1, "a"), (5, "e")]
    assert values(run.outputs[1]) == [(4, 40), (5, 50)]


@pytest.mark.parametrize("allow", [False, True])
def test_the_option_allow_decides_where_there_is_no_control(allow):
    run = run_calculator(GateCalculator, {0: FRAMES}, outputs=[0], options=GateCalculatorOptions(allow=allow))

    assert values(run.outputs[0]) == (FRAMES if allow else [])


@pytest.mark.parametrize(
    ("control", "value", "passes"),
    [("ALLOW", True, True), ("ALLOW", False, False), ("DISALLOW", True, False), ("DISALLOW", False, True)],
)
def test_a_side_packet_decides_for_the_whole_run(control, value, passes):
    run = run_calculator(
        GateCalculator,
        {0: FRAMES},
        outputs=[0],
        side_packets={control: value},
        options=GateCalculatorOptions(allow=not passes, empty_packets_as_allow=not passes),
    )

    assert values(run.outputs[0]) == (FRAMES if passes else [])


@pytest.mark.parametrize(
    ("options", "sides", "passes"),
    [
        pytest.param(
            {"allow": True},
            {},
            True,
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc", "GateCalculatorTest.AllowByALLOWOptionToTrue"
            ),
        ),
        pytest.param(
            {"allow": False},
            {},
            False,
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.DisallowByALLOWOptionSetToFalse",
            ),
        ),
        pytest.param(
            {},
            {},
            False,
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc", "GateCalculatorTest.DisallowByALLOWOptionNotSet"
            ),
        ),
        pytest.param(
            {},
            {"ALLOW": True},
            True,
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.AllowByALLOWSidePacketSetToTrue",
            ),
        ),
        pytest.param(
            {},
            {"DISALLOW": False},
            True,
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.AllowByDisallowSidePacketSetToFalse",
            ),
        ),
        pytest.param(
            {},
            {"ALLOW": False},
            False,
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.DisallowByALLOWSidePacketSetToFalse",
            ),
        ),
        pytest.param(
            {},
            {"DISALLOW": True},
            False,
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.DisallowByDISALLOWSidePacketSetToTrue",
            ),
        ),
    ],
)
def test_options_and_side_packets_decide_whatever_the_packets_are(options, sides, passes):
    given = [(42, True), (43, False)]
    run = run_calculator(
        GateCalculator,
        {0: given},
        outputs=[0],
        side_packets=sides,
        options=GateCalculatorOptions(**options) if options else None,
    )

    assert values(run.outputs[0]) == (given if passes else [])


@pytest.mark.parametrize("allow", [False, True])
def test_a_side_packet_that_is_not_given_leaves_it_to_the_option(allow):
    plan = gate(side_inputs="ALLOW:s", options=[GateCalculatorOptions(allow=allow)])

    harness = ScheduleHarness(plan).start()
    harness.add("x", "a", 1)
    harness.run()

    assert harness.carried("y") == ([(1, "a")] if allow else [])
    assert not harness.stream("y").is_closed
    harness.finish()


def test_a_side_packet_that_closes_the_gate_ends_the_outputs_at_the_first_packet():
    harness = ScheduleHarness(gate(side_inputs="DISALLOW:s"), side_packets={"s": True}).start()
    harness.run()
    was_closed = harness.stream("y").is_closed

    harness.add("x", "a", 1)
    harness.run()

    assert (was_closed, harness.stream("y").is_closed) == (False, True)
    harness.finish()


def test_a_closed_gate_settles_its_outputs():
    harness = ScheduleHarness(gate("ALLOW:c"), bounds_of=["y"]).start()
    for timestamp, is_open in SWITCH[:2]:
        harness.add("x", "frame", timestamp)
        harness.add("c", is_open, timestamp)
        harness.run()

    assert harness.carried("y") == [(1, "frame"), (2, None)]
    harness.finish()


@pytest.mark.parametrize(
    ("initial", "changes"),
    [
        (GateCalculatorOptions.GATE_UNINITIALIZED, [(2, False), (4, True)]),
        (GateCalculatorOptions.GATE_ALLOW, [(2, False), (4, True)]),
        (GateCalculatorOptions.GATE_DISALLOW, [(1, True), (2, False), (4, True)]),
        (GateCalculatorOptions.UNSPECIFIED, [(1, True), (2, False), (4, True)]),
    ],
)
def test_changes_of_state_are_written_without_any_data_stream(initial, changes):
    run = run_calculator(
        GateCalculator,
        {"ALLOW": [(1, True), (2, False), (3, False), (4, True)]},
        outputs=["STATE_CHANGE"],
        options=GateCalculatorOptions(initial_gate_state=initial),
    )

    assert values(run.outputs["STATE_CHANGE"]) == changes


@pytest.mark.parametrize(
    ("control", "is_data_connected", "opens", "initial", "changes"),
    [
        pytest.param(
            "ALLOW",
            True,
            [False, True, True, False],
            None,
            [(43, True), (45, False)],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc", "GateCalculatorTest.AllowWithStateChange"
            ),
        ),
        pytest.param(
            "ALLOW",
            False,
            [False, True, True, False],
            None,
            [(43, True), (45, False)],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.AllowWithStateChangeNoDataStreams",
            ),
        ),
        pytest.param(
            "DISALLOW",
            True,
            [False, True, True, False],
            None,
            [(43, True), (45, False)],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc", "GateCalculatorTest.DisallowWithStateChange"
            ),
        ),
        pytest.param(
            "DISALLOW",
            False,
            [False, True, True, False],
            None,
            [(43, True), (45, False)],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.DisallowWithStateChangeNoDataStreams",
            ),
        ),
        pytest.param(
            "DISALLOW",
            True,
            [True],
            None,
            [],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.DisallowInitialNoStateTransition",
            ),
        ),
        pytest.param(
            "ALLOW",
            True,
            [True],
            None,
            [],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc", "GateCalculatorTest.AllowInitialNoStateTransition"
            ),
        ),
        pytest.param(
            "ALLOW",
            True,
            [True],
            GateCalculatorOptions.GATE_DISALLOW,
            [(42, True)],
            marks=pytest.mark.reference(
                "calculators/core/gate_calculator_test.cc",
                "GateCalculatorTest.StateChangeTriggeredWithInitialGateStateOption",
            ),
        ),
    ],
)
def test_a_state_is_written_where_it_changes(control, is_data_connected, opens, initial, changes):
    controls = [(42 + i, is_open == (control == "ALLOW")) for i, is_open in enumerate(opens)]
    data = {0: [(timestamp, True) for timestamp, _ in controls]} if is_data_connected else {}
    run = run_calculator(
        GateCalculator,
        {**data, control: controls},
        outputs=[*data, "STATE_CHANGE"],
        options=None if initial is None else GateCalculatorOptions(initial_gate_state=initial),
    )

    assert values(run.outputs["STATE_CHANGE"]) == changes


def test_a_missing_control_packet_is_a_state_too():
    run = run_calculator(
        GateCalculator,
        {0: [(1, "a"), (2, "b"), (3, "c")], "ALLOW": [(1, True), (3, True)]},
        outputs=[0, "STATE_CHANGE"],
    )

    assert values(run.outputs["STATE_CHANGE"]) == [(2, False), (3, True)]


def test_headers_are_forwarded_at_the_same_index():
    run = run_calculator(GateCalculator, {0: [], 1: []}, outputs=[0, 1], headers={0: "first", 1: "second"})

    assert run.headers == {0: "first", 1: "second"}


def test_dropped_packets_are_counted_with_the_reason():
    harness = ScheduleHarness(gate("ALLOW:c")).start()
    for (timestamp, frame), (_, is_open) in zip(FRAMES[:3], SWITCH, strict=False):
        harness.add("x", frame, timestamp)
        harness.add("c", is_open, timestamp)
    harness.finish()

    (frames,), (controls,) = harness.stream("x").readers, harness.stream("c").readers
    assert (frames.delivered, frames.dropped) == (2, {"gate closed": 1})
    assert (controls.delivered, controls.dropped) == (3, {})


def test_the_output_does_not_depend_on_the_order_of_arrival():
    def drive(harness):
        harness.start()
        for timestamp, is_open in SWITCH:
            harness.add("c", is_open, timestamp)
            harness.step()
        for timestamp, frame in FRAMES:
            harness.add("x", frame, timestamp)
            harness.step()
        harness.finish()

    carried = explore(gate("ALLOW:c", "STATE_CHANGE:s"), drive)

    assert carried["y"] == [(1, "a"), (5, "e")]
    assert carried["s"] == [(2, False), (4, True)]


@pytest.mark.parametrize(
    ("inputs", "sides", "outputs", "message"),
    [
        ({0: [], "ALLOW": [], "DISALLOW": []}, {}, [0], "by input ALLOW and input DISALLOW; connect one"),
        ({0: []}, {"ALLOW": True, "DISALLOW": True}, [0], "by side packet ALLOW and side packet DISALLOW"),
        ({0: [], "ALLOW": []}, {"DISALLOW": True}, [0], "by input ALLOW and side packet DISALLOW"),
        ({0: [], "ALLOW": []}, {}, [], "the gate has 0 untagged outputs, but 1 untagged inputs"),
        ({0: [], "ALLOW": []}, {}, [0, 1], "the gate has 2 untagged outputs, but 1 untagged inputs"),
    ],
)
def test_invalid_ports_of_a_gate_are_refused(inputs, sides, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(GateCalculator, inputs, outputs=outputs, side_packets=sides)


@pytest.mark.reference("calculators/core/gate_calculator_test.cc", "GateCalculatorTest.InvalidInputs")
@pytest.mark.parametrize(
    ("inputs", "sides"),
    [
        (["ALLOW", "DISALLOW"], []),
        ([], ["ALLOW", "DISALLOW"]),
        (["ALLOW"], ["ALLOW"]),
        (["DISALLOW"], ["DISALLOW"]),
        (["ALLOW"], ["DISALLOW"]),
        (["DISALLOW"], ["ALLOW"]),
    ],
)
def test_two_controls_are_an_error_with_the_code_of_the_reference(inputs, sides):
    with pytest.raises(GraphConfigError, match="connect one of them only") as caught:
        run_calculator(
            GateCalculator,
            {0: [], **{tag: [] for tag in inputs}},
            outputs=[0],
            side_packets=dict.fromkeys(sides, True),
        )

    assert caught.value.code is StatusCode.INTERNAL


def test_a_control_that_is_not_a_bool_is_refused():
    with pytest.raises((GraphRunError, TypeError, ValueError), match=r"'int'.*bool"):
        run_calculator(GateCalculator, {0: FRAMES, "ALLOW": [(1, 1)]}, outputs=[0])
