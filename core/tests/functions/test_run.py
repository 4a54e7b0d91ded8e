from __future__ import annotations

import itertools
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.errors import (
    GraphConfigError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    PenstockError,
    StreamClosedError,
    TimestampOrderError,
    WaitTimeoutError,
)
from penstock_testing import calculator, testing_registry

TIMEOUT = 20
Packet = penstock.Packet
Timestamp = penstock.Timestamp
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
PASSES = """
    input_stream: "in" output_stream: "out"
    node { calculator: "Pass" input_stream: "in" output_stream: "out" }
"""
JOIN = """
    input_stream: "a" input_stream: "b" output_stream: "out"
    node { calculator: "Join" input_stream: "a" input_stream: "b" output_stream: "out" }
"""


def join(seen=None):
    """Make a calculator that writes what comes together, and notes it."""

    def process(cc):
        together = tuple(port.payload for port in cc.inputs)
        if seen is not None:
            seen.append((int(cc.input_timestamp), together))
        cc.output.add(together, cc.input_timestamp)

    return calculator(process, name="Join")


def run(config, *arguments, calculators=(Pass,), **keywords):
    keywords.setdefault("timeout", TIMEOUT)
    return penstock.run(config, *arguments, registry=testing_registry(*calculators), **keywords)


def payloads(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def test_a_stream_that_was_not_returned_is_an_error_that_names_the_others() -> None:
    found = run(f'{PASSES} output_stream: "oot"', {"in": [(1, "a")]})

    assert isinstance(found, dict)
    assert list(found) == ["out"]
    with pytest.raises(
        KeyError,
        match=r"the graph returned no stream 'outt' \(did you mean 'out'\?\); there are: 'out'\. An output",
    ):
        found["outt"]
    with pytest.raises(KeyError, match="the graph returned no stream 3; there are: 'out'"):
        found[3]
    with pytest.raises(KeyError, match="there are: none"):
        run(PASSES, {"in": []}, streams=[])["out"]
    assert found.get("oot") is None


def test_it_takes_pairs_and_packets_and_returns_the_packets_of_the_graph_outputs() -> None:
    before = set(threading.enumerate())
    result = run(PASSES, {"in": [(1, "a"), Packet("b", 2), [3, None]]})

    assert list(result) == ["out"]
    assert payloads(result["out"]) == [(1, "a"), (2, "b"), (3, None)]
    assert set(threading.enumerate()) == before


def test_other_streams_are_returned_where_they_are_asked_for() -> None:
    result = run(PASSES, {"in": [(1, "a")]}, None, ["in"])

    assert {name: payloads(packets) for name, packets in result.items()} == {"in": [(1, "a")]}
    with pytest.raises(NotFoundError, match=r"there is no stream 'outt' \(did you mean 'out'\?\)"):
        run(PASSES, {"in": []}, streams=["outt"])


def test_side_packets_reach_the_graph_and_a_graph_without_inputs_needs_none() -> None:
    source = calculator(
        lambda cc: cc.output.add(cc.input_side_packets[0].payload, 0) or penstock.STOP, name="Source"
    )
    text = """
        output_stream: "out"
        node { calculator: "Source" output_stream: "out" input_side_packet: "side" }
    """
    result = run(text, side_packets={"side": 5}, calculators=[source])

    assert payloads(result["out"]) == [(0, 5)]
    with pytest.raises(GraphConfigError, match="side"):
        run(text, calculators=[source])


def test_inputs_are_fed_in_order_of_time_and_say_what_will_not_come() -> None:
    seen: list[object] = []

    def sparse():
        yield 0, "a0"
        yield 50, "a50"
        # the join has seen all that is below 50 when it comes to feeding 50, and not only then
        progress.append(len(seen))

    progress: list[int] = []
    dense = [(i, f"b{i}") for i in range(60)]
    run(JOIN, {"a": sparse(), "b": dense}, calculators=[join(seen)])

    assert [t for t, _ in seen] == list(range(60))
    assert seen[50] == (50, ("a50", "b50"))
    assert seen[51] == (51, (None, "b51"))
    assert progress == [50]


@settings(max_examples=30, deadline=None)
@given(
    a=st.lists(st.integers(-5, 9), unique=True).map(sorted),
    b=st.lists(st.integers(-5, 9), unique=True).map(sorted),
    paced=st.booleans(),
)
def test_what_comes_out_does_not_depend_on_how_it_is_fed(a, b, paced) -> None:
    result = run(
        JOIN, {"a": [(t, t) for t in a], "b": ((t, -t) for t in b)}, calculators=[join()], paced=paced
    )

    assert payloads(result["out"]) == [
        (t, (t if t in a else None, -t if t in b else None)) for t in sorted({*a, *b})
    ]


def test_packets_at_the_ends_of_time_are_fed_like_others() -> None:
    ends = [(Timestamp.MIN, 1), (0, 2), (Timestamp.MAX, 3)]

    assert payloads(run(PASSES, {"in": ends})["out"]) == [(int(t), n) for t, n in ends]
    for stamp in (Timestamp.PRESTREAM, Timestamp.POSTSTREAM):
        result = run(JOIN, {"a": [(stamp, 1)], "b": [(stamp, 2)]}, calculators=[join()])
        assert payloads(result["out"]) == [(int(stamp), (1, 2))]


def test_generators_are_taken_one_packet_ahead_and_no_further() -> None:
    taken: list[int] = []
    ahead: list[int] = []

    def numbers():
        for i in range(20):
            taken.append(i)
            yield i, i

    look = calculator(lambda cc: ahead.append(len(taken) - cc.input.payload), name="Look")
    run(
        'input_stream: "in" node { calculator: "Look" input_stream: "in" }',
        {"in": numbers()},
        calculators=[look],
    )

    assert max(ahead) <= 2
    assert taken == list(range(20))


def test_paced_feeding_lets_the_graph_come_to_rest_between_timestamps() -> None:
    waiting: list[int] = []

    class Look(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.use_service(penstock.explain.GRAPH)

        def process(self, cc):
            (state,) = [
                one for one in cc.service(penstock.explain.GRAPH).snapshot().streams if one.name == "in"
            ]
            waiting.append(state.added - cc.input.payload - 1)

    text = 'input_stream: "in" node { calculator: "Look" input_stream: "in" }'
    run(text, {"in": ((i, i) for i in range(30))}, calculators=[Look])
    assert waiting == [0] * 30

    waiting.clear()
    run(text, {"in": ((i, i) for i in range(30))}, calculators=[Look], paced=False)
    assert max(waiting) > 0


def test_a_graph_with_sources_of_its_own_is_fed_while_they_run() -> None:
    class Ticks(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set_any()

        def open(self, cc):
            self.next = 0

        def process(self, cc):
            self.next += 1
            cc.output.add(self.next, self.next)
            return penstock.STOP if self.next == 300 else None

    text = """
        input_stream: "a" output_stream: "out"
        node { calculator: "Ticks" output_stream: "b" }
        node { calculator: "Join" input_stream: "a" input_stream: "b" output_stream: "out" }
    """
    result = run(text, {"a": ((i, i) for i in range(1, 301))}, calculators=[Ticks, join()])

    assert payloads(result["out"]) == [(i, (i, i)) for i in range(1, 301)]


def test_feeding_ends_where_the_graph_stops_by_itself() -> None:
    def process(cc):
        cc.output.add_packet(cc.input.packet)
        return penstock.STOP if cc.input.payload == 3 else None

    endless = ((i, i) for i in itertools.count())
    result = run(PASSES, {"in": endless}, calculators=[calculator(process, name="Pass")])

    assert payloads(result["out"]) == [(i, i) for i in range(4)]


def test_inputs_that_do_not_fit_are_refused_before_anything_runs() -> None:
    with pytest.raises(NotFoundError, match=r"there is no graph input 'inn' \(did you mean 'in'\?\)"):
        run(PASSES, {"inn": []})
    with pytest.raises(
        InvalidArgumentError,
        match=r"run\(graph\): nothing is given for graph input 'b'; name it in inputs, with",
    ):
        run(JOIN, {"a": []}, calculators=[join()])


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (7, "7"),
        ("ab", "'ab'"),
        ((1, 2, 3), r"\(1, 2, 3\)"),
        ((0.5, "x"), r"\(0.5, 'x'\)"),
        (Packet("x"), r"Packet\('x'\)"),
    ],
)
def test_an_item_that_is_no_packet_is_named(item, words) -> None:
    with pytest.raises(
        InvalidArgumentError,
        match=f"graph input 'in', item 1: {words} cannot be fed: it is neither a Packet with a timestamp nor "
        r"a pair of timestamp and payload; write \(timestamp, payload\), the timestamp a whole number",
    ):
        run(PASSES, {"in": [(0, "first"), item]})


def test_inputs_without_names_are_refused() -> None:
    with pytest.raises(
        InvalidArgumentError,
        match=r"^run\(graph\): inputs=\[\(0, 'x'\)\] is a 'list'; name the graph input that it",
    ):
        run(PASSES, [(0, "x")])


def test_an_input_that_goes_back_in_time_is_refused() -> None:
    with pytest.raises(TimestampOrderError, match=r"stream 'in': .*4 is behind"):
        run(PASSES, {"in": [(5, "x"), (4, "y")]})


def test_what_an_iterable_raises_comes_through_and_the_run_is_over() -> None:
    closed: list[str] = []

    def broken():
        yield 0, 0
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        run(
            'input_stream: "in" node { calculator: "Sink" input_stream: "in" }',
            {"in": broken()},
            calculators=[calculator(name="Sink", close=lambda cc: closed.append(cc.node_name))],
        )
    assert closed == ["Sink"]


@pytest.mark.parametrize("error", [GraphRunError([PenstockError("theirs")]), StreamClosedError("theirs")])
def test_what_another_graph_raises_in_an_iterable_is_no_end_of_this_run(error) -> None:
    def broken():
        yield 0, 0
        raise error

    with pytest.raises(type(error), match="theirs"):
        run(PASSES, {"in": broken()}, timeout=1)


def test_what_is_given_for_an_input_is_an_iterable() -> None:
    with pytest.raises(
        InvalidArgumentError,
        match=r"^graph input 'in': 5 is no iterable of packets to feed; write \[\(timestamp, payload\)\]$",
    ):
        run(PASSES, {"in": 5})


def test_a_stream_that_is_asked_for_twice_comes_once() -> None:
    twice = 'output_stream: "A:out" output_stream: "B:out"'
    text = PASSES.replace('output_stream: "out"', twice, 1)

    assert payloads(run(PASSES, {"in": [(0, "a")]}, streams=["out", "out"])["out"]) == [(0, "a")]
    assert payloads(run(text, {"in": [(0, "a")]})["out"]) == [(0, "a")]


def test_one_name_where_several_are_meant_is_refused() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"the run's streams 'out': a str, .* write streams=\['out'\]$"
    ):
        run(PASSES, {"in": []}, streams="out")


@pytest.mark.parametrize("paced", [True, False])
def test_inputs_without_end_are_fed_no_longer_than_the_run_may_take(paced) -> None:
    give_up = time.monotonic() + 30
    numbers = itertools.takewhile(lambda _: time.monotonic() < give_up, itertools.count())
    endless = ((number, None) for number in numbers)
    with pytest.raises(WaitTimeoutError, match=r"^run\(\) took longer than 0\.05 s"):
        run(PASSES, {"in": endless}, timeout=0.05, paced=paced)

    assert next(endless)[0] > 0  # it was left before it ended


@pytest.mark.parametrize("paced", [True, False])
def test_a_failed_run_raises_all_of_its_errors(paced) -> None:
    def process(cc):
        raise ValueError("in process")

    def close(cc):
        raise ValueError("in close")

    text = """
        input_stream: "in"
        node { calculator: "Bad" input_stream: "in" }
        node { calculator: "Worse" input_stream: "in" }
    """
    with pytest.raises(GraphRunError) as caught:
        run(
            text,
            {"in": ((i, i) for i in range(1000))},
            calculators=[calculator(process, name="Bad"), calculator(name="Worse", close=close)],
            paced=paced,
        )
    assert [str(error.__cause__) for error in caught.value.errors] == ["in process", "in close"]


def test_a_run_that_takes_too_long_says_why_and_is_cancelled() -> None:
    closed: list[str] = []

    class Never(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set_any()

        def process(self, cc):
            cc.output.set_next_timestamp_bound(max(0, cc.output.bound) + 1)

        def close(self, cc):
            closed.append(cc.node_name)

    text = 'output_stream: "out" node { calculator: "Never" output_stream: "out" }'
    with pytest.raises(WaitTimeoutError) as caught:
        run(text, calculators=[Never], timeout=0.05)

    assert str(caught.value).startswith("run() took longer than 0.05 s\nthe run is running")
    assert closed == ["Never"]


def test_runs_in_threads_have_each_their_own_packets() -> None:
    wrong = []

    def run_some(thread: int) -> None:
        for number in range(20):
            given = [(stamp, (thread, number, stamp)) for stamp in range(10)]
            if payloads(run(PASSES, {"in": given})["out"]) != given:
                wrong.append((thread, number))

    threads = [threading.Thread(target=run_some, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()

    assert wrong == []
