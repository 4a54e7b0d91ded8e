from __future__ import annotations

import pytest

import penstock
from penstock.errors import (
    AlreadyExistsError,
    GraphConfigError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    StatusCode,
    UnavailableError,
)
from penstock_testing import calculator

TIMEOUT = 20
Nothing = calculator(name="Nothing")
Packet = penstock.Packet


def run_once(graph, count: int = 5) -> None:
    graph.start_run()
    for i in range(count):
        graph.add_packet_to_input_stream("in", Packet(i, i))
    graph.close(TIMEOUT)


class Payload:
    """What can be counted while it lives."""


def test_a_side_packet_is_the_same_object_in_every_run(make) -> None:
    model, seen = object(), []
    take = calculator(open=lambda cc: seen.append(cc.input_side_packets["MODEL"].payload), name="Take")
    graph = make([(take, "in", "", 'input_side_packet: "MODEL:model"')], "in", side_packets={"model": model})
    for _ in range(3):
        run_once(graph)

    assert all(one is model for one in seen)
    assert len(seen) == 3


def test_each_run_may_bring_side_packets_of_its_own(make) -> None:
    seen: list[object] = []
    take = calculator(open=lambda cc: seen.append(cc.input_side_packets[0].payload), name="Take")
    graph = make([(take, "", "", 'input_side_packet: "word"')])
    for word in ("one", Packet("two")):
        graph.run({"word": word}, TIMEOUT)

    assert seen == ["one", "two"]


def test_side_packets_that_are_missing_wrong_or_given_twice_start_nothing(make) -> None:
    def contract(cc):
        cc.input_side_packets["A"].set(int)
        cc.input_side_packets["B"].set(str)

    take = calculator(name="Take", contract=contract)
    graph = make(
        [(take, "", "", 'input_side_packet: "A:a" input_side_packet: "B:b"')], side_packets={"b": "given"}
    )
    with pytest.raises(
        GraphConfigError, match="side packet 'a' of node 'Take' is required but was not given; pass it to"
    ) as caught:
        graph.run()
    assert caught.value.code is StatusCode.INVALID_ARGUMENT
    with pytest.raises(
        GraphConfigError, match="side packet 'a' of node 'Take' is a 'str', but the node expects int"
    ):
        graph.run({"a": "text"})
    with pytest.raises(GraphConfigError, match="side packet 'a' of node 'Take' is an empty packet"):
        graph.run({"a": Packet()})
    with pytest.raises(
        AlreadyExistsError, match="side packet 'b' was given to the graph and to this run too; give it once"
    ):
        graph.run({"a": 1, "b": "again"})
    with pytest.raises(
        InvalidArgumentError, match="side packet 'a' has the timestamp 3; side packets have none"
    ):
        graph.run({"a": Packet(1, 3)})
    graph.run({"a": 1}, TIMEOUT)


@pytest.mark.parametrize("is_optional", [False, True])
@pytest.mark.parametrize("declared", ["", 'input_side_packet: "MODEL:model"'])
def test_an_unknown_side_packet_is_one_error_that_says_what_was_meant(make, declared, *, is_optional) -> None:
    def contract(cc):
        cc.input_side_packets["BY"].set(int)
        cc.input_side_packets["BY"].is_optional = is_optional

    take = calculator(name="Take", contract=contract)
    graph = make([(take, "", "", 'input_side_packet: "BY:by"')], rest=declared)
    known = "'by', 'model'" if declared else "'by'"

    with pytest.raises(GraphConfigError) as caught:
        graph.run({"bye": 3})

    (fault,) = caught.value.faults
    assert isinstance(fault, NotFoundError)
    assert fault.stream == "bye"
    assert str(fault) == (
        f"the graph has no side packet 'bye' (did you mean 'by'?); its side packets are: {known}"
    )
    with pytest.raises(GraphConfigError, match=rf"no side packet 'zoom'; its side packets are: {known}$"):
        graph.run({"by": 3, "zoom": 1})
    graph.run({"by": 3}, TIMEOUT)


def test_a_graph_without_side_packets_says_so(make) -> None:
    with pytest.raises(GraphConfigError, match=r"no side packet 'zoom'; it has no side packets$"):
        make([(Nothing, "", "")]).run({"zoom": 1})


def test_a_side_packet_that_a_node_makes_is_not_among_those_that_can_be_given(make) -> None:
    maker = calculator(name="Maker", open=lambda cc: cc.output_side_packets["MADE"].set(1))
    graph = make(
        [
            (maker, "", "", 'output_side_packet: "MADE:made"'),
            (Nothing, "", "", 'input_side_packet: "MADE:made" input_side_packet: "WORD:word"'),
        ]
    )

    with pytest.raises(GraphConfigError, match=r"has no side packet 'mad'; its side packets are: 'word'\n"):
        graph.run({"mad": 1})


def test_a_side_packet_that_the_graph_declares_and_no_node_reads_may_be_given(make) -> None:
    make([(Nothing, "", "")], rest='input_side_packet: "MODEL:model"').run({"model": 1}, TIMEOUT)


def test_all_faults_of_side_packets_come_at_once(make) -> None:
    take = calculator(name="Take", contract=lambda cc: [spec.set(int) for spec in cc.input_side_packets])
    graph = make([(take, "", "", 'input_side_packet: "A:a" input_side_packet: "B:b"')])
    with pytest.raises(GraphConfigError) as caught:
        graph.run({"b": "text"})

    assert len(caught.value.faults) == 2


MAKES = 'output_side_packet: "made"'


def test_a_side_packet_made_by_a_node_opens_waiting_nodes_and_can_be_read(make) -> None:
    got: list[object] = []
    maker = calculator(lambda cc: cc.output_side_packets[0].set(cc.input.payload), name="Maker")
    source = calculator(
        lambda cc: cc.output.add(cc.input_side_packets[0].payload, 0) or penstock.STOP,
        open=lambda cc: got.append("opened"),
        name="Source",
    )
    graph = make([(maker, "in", "", MAKES), (source, "", "out", 'input_side_packet: "made"')], "in")
    with pytest.raises(UnavailableError, match="side packet 'made' of the graph has not been made yet"):
        graph.get_output_side_packet("made")
    with pytest.raises(NotFoundError, match="the graph has no side packet 'other'"):
        graph.get_output_side_packet("other")
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    assert got == []

    graph.add_packet_to_input_stream("in", Packet("value", 1))
    graph.wait_until_idle(TIMEOUT)
    assert got == ["opened"]
    assert graph.get_output_side_packet("made").payload == "value"
    graph.close(TIMEOUT)
    assert graph.get_output_side_packet("made") == Packet("value")
    assert graph.get_output_side_packet("made").timestamp == penstock.Timestamp.UNSET


def test_a_side_packet_that_a_node_makes_cannot_be_given_too(make) -> None:
    maker = calculator(open=lambda cc: cc.output_side_packets[0].set(1), name="Maker")
    with pytest.raises(
        GraphConfigError,
        match="side packet 'made' is given by the application, but node 'Maker' makes it too",
    ):
        make([(maker, "", "", MAKES)]).run({"made": 3})


def test_a_side_packet_set_twice_or_with_a_timestamp_is_an_error_of_the_run(make) -> None:
    for first, second, message in (
        (1, 2, "was already set in this run"),
        (Packet(1, 237), None, "has a timestamp 237"),
    ):
        maker = calculator(
            open=lambda cc, first=first, second=second: [
                cc.output_side_packets[0].set(v) for v in (first, second)
            ],
            name="Maker",
        )
        with pytest.raises(GraphRunError, match=f"output side packet 'made' {message}"):
            make([(maker, "", "", MAKES)]).run(timeout=TIMEOUT)


def test_what_a_node_without_streams_makes_is_made_once_while_its_inputs_are_the_same(make) -> None:
    opened: list[object] = []
    passed: list[object] = []

    def open_(cc):
        opened.append(cc.input_side_packets[0].payload)
        cc.output_side_packets[0].set(Payload())

    maker = calculator(open=open_, name="Maker")
    source = calculator(
        lambda cc: cc.output.add(cc.input_side_packets[0].payload, 0) or penstock.STOP, name="Source"
    )
    graph = make(
        [
            (maker, "", "", f'input_side_packet: "word" {MAKES}'),
            (source, "", "out", 'input_side_packet: "made"'),
        ]
    )
    graph.observe_output_stream("out", lambda _, p: passed.append(p.payload))
    word = "the word"
    for _ in range(3):
        graph.run({"word": word}, TIMEOUT)
    assert opened == [word]
    assert passed[0] is passed[1] is passed[2]

    graph.run({"word": "another"}, TIMEOUT)
    assert opened == [word, "another"]
    assert passed[3] is not passed[0]


FOUR = ["side_packet1", "side_packet2", "DOUBLE:side_packet3", "DOUBLE:1:side_packet4"]
GIVEN = {
    "side_packet1": 70,
    "side_packet2": "Dennis Ritchie",
    "side_packet3": 42.0,
    "side_packet4": -43.0,
    "foo_side_packet": "asdfgh",
    "bar_side_packet": -1.0,
}


def took(make, given, *, is_optional=False) -> list[object]:
    """Return what a node of an age, a name and two numbers gets; None for a side packet that is not there."""

    def contract(cc) -> None:
        cc.input_side_packets[0].set(int)
        cc.input_side_packets[1].set(str)
        first = cc.input_side_packets["DOUBLE"].set(float)
        if is_optional:
            first.optional()
        cc.input_side_packets["DOUBLE", 1].set(float)

    seen: list[object] = []

    def take(cc) -> None:
        sides = cc.input_side_packets
        ports = (0, 1, ("DOUBLE", 0), ("DOUBLE", 1))
        seen.extend(sides[port].payload if port in sides else None for port in ports)

    node = calculator(open=take, name="Take", contract=contract)
    ports = " ".join(f'input_side_packet: "{port}"' for port in FOUR)
    declared = " ".join(f'input_side_packet: "{name}"' for name in GIVEN)
    make([(node, "", "", ports)], rest=declared).run(given, TIMEOUT)
    return seen


@pytest.mark.reference(
    "framework/tool/fill_packet_set_test.cc",
    "FillPacketSetTest.Success",
    "FillPacketSetTest.MissingSidePacketOk",
)
def test_a_node_gets_its_side_packets_among_others_and_may_do_without_one(make) -> None:
    assert took(make, GIVEN) == [70, "Dennis Ritchie", 42.0, -43.0]

    without = {name: payload for name, payload in GIVEN.items() if name != "side_packet3"}
    assert took(make, without, is_optional=True) == [70, "Dennis Ritchie", None, -43.0]


@pytest.mark.reference(
    "framework/tool/fill_packet_set_test.cc",
    "FillPacketSetTest.MissingSidePacketError",
    "FillPacketSetTest.WrongSidePacketType",
)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"side_packet3": None}, "side packet 'side_packet3' of node 'Take' is required but was not given"),
        ({"side_packet1": 3.0}, "'side_packet1' of node 'Take' is a 'float', but the node expects int"),
    ],
)
def test_a_side_packet_that_is_missing_or_wrong_is_named_with_its_types(make, changes, message) -> None:
    given = {name: payload for name, payload in {**GIVEN, **changes}.items() if payload is not None}

    with pytest.raises(GraphConfigError, match=message):
        took(make, given)
