"""`check_calculator` finds what is wrong with calculators broken on purpose, and passes good ones."""

from __future__ import annotations

import enum
import subprocess
import sys
import threading
from random import Random

import pytest

import penstock
from penstock import STOP, Calculator, InputStreamHandler, Packet, ServiceKey, Timestamp
from penstock.config.calculator_pb2 import CalculatorGraphConfig, ExecutorConfig
from penstock.errors import GraphConfigError, InvalidArgumentError, NotFoundError
from penstock_testing import ConformanceError, check_calculator, testing_registry
from penstock_testing.feeds import BOUND, END, PACKET, make_feed
from penstock_testing.payloads import fits, maker_of, same


def seeded(number):
    return Random(number)  # noqa: S311  # for a test


@pytest.fixture
def registry():
    return testing_registry()


def made(process=None, *, declare=None, offset=0, **methods):
    """Return a calculator with one int input and one int output, or what `declare` declares."""

    def get_contract(cls, cc):
        if declare is not None:
            declare(cc)
        else:
            cc.inputs[0].set(int)
            cc.outputs[0].set(int)
        if offset is not None:
            cc.set_timestamp_offset(offset)

    def hand_on(self, cc):
        if not cc.input.is_empty():
            cc.output.add_packet(cc.input.packet)

    body = {"get_contract": classmethod(get_contract), "process": process or hand_on, **methods}
    return type("Made", (Calculator,), body)


def test_a_calculator_that_keeps_the_rules_passes_and_the_answer_says_what_was_tried(registry):
    tried = check_calculator(made(), registry=registry)

    assert len(tried.wirings) == 1
    assert 'input_stream: "in_0"' in tried.wirings[0]
    assert tried.runs == 24 * 3
    assert tried.refused == 0
    assert tried.packets_in == tried.packets_out > 100


# --- what is found --------------------------------------------------------------------------------


@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)() and sys.version_info < (3, 14),
    reason="without its lock, Python 3.13 crashes when a stack of a running thread is read: gh-152355",
)
def test_a_call_that_never_returns_is_found(registry):
    gate = threading.Event()
    try:
        with pytest.raises(ConformanceError, match=r"a call does not return after 0\.3 s\n(.|\n)*gate\.wait"):
            check_calculator(made(lambda self, cc: gate.wait()), registry=registry, timeout=0.3)
    finally:
        gate.set()


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="from 3.14 on frames have their own locks: gh-128421")
def test_without_the_lock_a_call_that_never_returns_is_found_without_its_place(registry, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    try:
        with pytest.raises(ConformanceError, match=r"a call does not return after 0\.3 s\nwhere is unknown"):
            check_calculator(made(lambda self, cc: gate.wait()), registry=registry, timeout=0.3)
    finally:
        gate.set()


def test_a_node_that_is_never_idle_is_found(registry):
    class Restless(InputStreamHandler):
        def look(self):
            return 1

    registry.add("input stream handler", "Restless", Restless)

    def declare(cc):
        cc.inputs[0].set(int)
        cc.set_input_stream_handler("Restless")

    with pytest.raises(ConformanceError, match=r"not idle after \d+ steps\n(.|\n)*node 'Made'"):
        check_calculator(made(lambda self, cc: None, declare=declare), registry=registry)


def test_a_payload_of_another_type_than_declared_is_found(registry):
    wrong = made(lambda self, cc: cc.output.add("text", cc.input_timestamp))

    with pytest.raises(ConformanceError, match=r"holds a 'str', but the stream carries int"):
        check_calculator(wrong, registry=registry)


def test_an_element_of_another_type_than_declared_is_found(registry):
    def declare(cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(list[str])

    wrong = made(lambda self, cc: cc.output.add([cc.input.payload], cc.input_timestamp), declare=declare)

    with pytest.raises(
        ConformanceError, match=r"output 'out_0' carried .* but the contract declares list\[str\]"
    ):
        check_calculator(wrong, registry=registry)


def test_a_packet_behind_the_promised_offset_is_found(registry):
    behind = made(lambda self, cc: cc.output.add(1, cc.input_timestamp), offset=5)

    with pytest.raises(ConformanceError, match="the node promised an offset of 5"):
        check_calculator(behind, registry=registry)


def test_packets_out_of_order_are_found(registry):
    def process(self, cc):
        cc.output.add(1, 10)
        cc.output.add(2, 9)

    with pytest.raises(ConformanceError, match="is behind the bound"):
        check_calculator(made(process, offset=None), registry=registry)


def test_writing_after_closing_is_found(registry):
    def process(self, cc):
        cc.output.close()
        cc.output.add(1, cc.input_timestamp)

    with pytest.raises(ConformanceError, match="after the stream was closed"):
        check_calculator(made(process), registry=registry)


def test_results_that_depend_on_the_order_of_arrival_are_found(registry):
    order = []

    def declare(cc):
        for port in cc.inputs:
            port.set(int)
        cc.outputs[0].set(list)
        cc.set_input_stream_handler("AsTheyCome")

    class AsTheyCome(InputStreamHandler):
        def sync_sets(self):
            return [[i] for i in range(len(self.inputs))]

    registry.add("input stream handler", "AsTheyCome", AsTheyCome)

    class Sets(made(declare=declare, offset=None)):
        def open(self, cc):
            order.clear()

        def process(self, cc):
            order.append([port.payload for port in cc.inputs])

        def close(self, cc):
            cc.output.add(list(order), Timestamp.MAX)

    wiring = 'node { calculator: "Sets" input_stream: "a" input_stream: "b" output_stream: "c" }'
    with pytest.raises(
        ConformanceError, match=r"output 'out_0' depends on the order: on one thread it carried"
    ):
        check_calculator(Sets, wiring=wiring, registry=registry)
    assert check_calculator(Sets, wiring=wiring, registry=registry, depends_on_arrival=True).packets_out

    AsTheyCome.depends_on_arrival = True
    assert check_calculator(Sets, wiring=wiring, registry=registry).packets_out


@pytest.mark.parametrize("keeps", ["port", "nothing"])
def test_a_stateless_calculator_that_keeps_a_port_is_found(registry, keeps):
    """With calls that may overlap, each has ports of its own, and none is the first."""

    def declare(cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.declare(stateless=True)

    class Kept(made(declare=declare)):
        def open(self, cc):
            self.port = cc.input

        def process(self, cc):
            port = self.port if keeps == "port" else cc.input
            if not port.is_empty():
                cc.output.add(port.payload, cc.input_timestamp)

    if keeps == "port":
        with pytest.raises(ConformanceError, match=r"with max_in_flight: 3 .* do not keep those of open\)"):
            check_calculator(Kept, registry=registry)
    else:
        assert check_calculator(Kept, registry=registry).packets_out


def on_bounds(process):
    def declare(cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(object)
        cc.set_process_timestamp_bounds()

    return made(process, declare=declare, offset=None)


def presence(self, cc):
    if not cc.output.is_closed():
        cc.output.add(not cc.input.is_empty(), cc.input_timestamp)


def test_decision_23_differences_at_timestamps_without_packets_are_told_from_those_with_packets(registry):
    tells_presence = on_bounds(presence)
    assert check_calculator(tells_presence, registry=registry).packets_out > 100
    assert check_calculator(tells_presence, registry=registry, depends_on_arrival=True).packets_out > 100

    with pytest.raises(ConformanceError, match="they differ at timestamps without input packets; if that"):
        check_calculator(tells_presence, registry=registry, depends_on_arrival=False)


def test_decision_23_what_a_node_that_runs_on_bounds_says_of_packets_may_not_depend_on_the_order(registry):
    def number(self, cc):  # of the call: counts the bounds before the packet too
        self.calls = getattr(self, "calls", 0) + 1
        cc.output.add(self.calls, cc.input_timestamp)

    counts_calls = on_bounds(number)
    with pytest.raises(ConformanceError, match="they differ at timestamps with input packets; if that"):
        check_calculator(counts_calls, registry=registry)
    assert check_calculator(counts_calls, registry=registry, depends_on_arrival=True).packets_out > 100


def test_state_that_runs_share_is_found(registry):
    class Counts(made()):
        total = 0

        def process(self, cc):
            Counts.total += 1
            cc.output.add(Counts.total, cc.input_timestamp)

    with pytest.raises(ConformanceError, match="output 'out_0' depends on the order"):
        check_calculator(Counts, registry=registry)


def test_a_header_that_depends_on_something_else_is_found(registry):
    names = iter(range(1000))
    with pytest.raises(ConformanceError, match="'header', 1"):
        check_calculator(
            made(open=lambda self, cc: cc.output.set_header(Packet(next(names)))), registry=registry
        )


def test_a_payload_that_is_changed_on_the_way_is_found(registry):
    def declare(cc):
        cc.inputs[0].set(list[int])

    spoils = made(lambda self, cc: cc.input.payload.append(0), declare=declare)

    with pytest.raises(ConformanceError, match=r"a payload of input 'in_0' was changed: at .* was fed"):
        check_calculator(spoils, registry=registry)


def test_a_method_that_is_called_twice_is_found(registry):
    def process(self, cc):
        cc.output.add_packet(cc.input.packet)
        if cc.input.is_done():
            self.close(cc)

    with pytest.raises(
        ConformanceError, match=r"its methods were called in this order: open, .*close, close"
    ):
        check_calculator(made(process), registry=registry)


def test_a_policy_that_loses_packets_is_found(registry):
    class Loses(InputStreamHandler):
        def look(self):
            self.inputs[0].queue.clear()
            return super().look()

    registry.add("input stream handler", "Loses", Loses)

    def declare(cc):
        cc.inputs[0].set(int)
        cc.set_input_stream_handler("Loses")

    with pytest.raises(ConformanceError, match="1 packets were written, but a reader accounts for 0"):
        check_calculator(made(lambda self, cc: None, declare=declare), registry=registry)


def test_packets_counted_as_dropped_twice_are_found(registry):
    def process(self, cc):
        cc.input.count_dropped("one reason")
        cc.input.count_dropped("another")

    with pytest.raises(ConformanceError, match="1 packets cannot have been dropped where 0"):
        check_calculator(made(process), registry=registry)


def test_a_failing_close_is_found(registry):
    def fail(self, cc):
        raise ValueError("no")

    with pytest.raises(ConformanceError, match=r"close\(\) failed: ValueError: no") as found:
        check_calculator(made(close=fail), registry=registry)
    assert isinstance(found.value.__cause__.__cause__, ValueError)


def test_a_close_that_fails_only_in_a_cancelled_run_is_found(registry):
    class Hasty(made(declare=lambda cc: cc.outputs[0].set(int), offset=None)):
        count = 0

        def process(self, cc):
            self.count += 1
            return STOP if self.count == 3 else None

        def close(self, cc):
            if self.count < 3:
                raise ValueError("no end was seen")

    with pytest.raises(ConformanceError, match=r"no end was seen(.|\n)*harness\.cancel\(\)"):
        check_calculator(Hasty, registry=registry)


# --- how it is shown ------------------------------------------------------------------------------


def test_a_failure_shows_the_seed_the_node_and_lines_to_paste(registry):
    wrong = made(lambda self, cc: cc.output.add("text", cc.input_timestamp))

    with pytest.raises(ConformanceError) as found:
        check_calculator(wrong, registry=registry, seeds=[5])
    text = str(found.value)
    assert "check_calculator(Made, seeds=[5], wiring='''\n" in text
    assert 'calculator: "Made"' in text
    assert "harness.start()\nharness.add('in_0', " in text

    wiring = text.split("'''")[1]
    with pytest.raises(ConformanceError) as again:
        check_calculator(wrong, registry=registry, seeds=[5], wiring=wiring)
    assert str(again.value) == text


# --- what is fed, and how -------------------------------------------------------------------------


def test_required_ports_are_connected_and_optional_ones_in_another_wiring(registry):
    def declare(cc):
        cc.inputs["MAIN"].set(int)
        cc.inputs["MORE"].set(float).optional()
        cc.outputs["OUT"].set_same_as(cc.inputs["MAIN"])
        cc.input_side_packets["LIMIT"].set(str)

    def process(self, cc):
        if not cc.inputs["MAIN"].is_empty():
            cc.outputs["OUT"].add_packet(cc.inputs["MAIN"].packet)

    least, more = check_calculator(made(process, declare=declare), registry=registry).wirings

    assert 'input_stream: "MAIN:0:in_main_0"' in least
    assert 'input_side_packet: "LIMIT:0:side_limit_0"' in least
    assert "MORE" not in least
    assert 'input_stream: "MORE:0:in_more_0"' in more


def test_the_example_of_the_docstring_is_where_it_begins_and_repeated_ports_grow(registry):
    class Joins(Calculator):
        """Adds.

        Example config::

            node {
              calculator: "Joins"
              input_stream: "a"
              input_stream: "b"
              output_stream: "sum"
            }
        """

        @classmethod
        def get_contract(cls, cc):
            for port in cc.inputs:
                port.set(int)
            cc.outputs[0].set(int)
            cc.set_timestamp_offset(0)

        def process(self, cc):
            cc.output.add(sum(port.payload or 0 for port in cc.inputs), cc.input_timestamp)

    tried = check_calculator(Joins, registry=registry).wirings

    assert [wiring.count("input_stream:") for wiring in tried] == [2, 3]


def test_a_wiring_that_no_graph_takes_is_refused(registry):
    def declare(cc):
        raise InvalidArgumentError("there is nothing that suits me; give up")

    with pytest.raises(GraphConfigError, match="there is nothing that suits me"):
        check_calculator(made(declare=declare), registry=registry)


def test_a_wiring_without_the_calculator_is_refused(registry):
    with pytest.raises(
        InvalidArgumentError, match="the connections have no node, but no node of calculator 'Made'"
    ):
        check_calculator(made(), wiring="", registry=registry)


def test_what_a_calculator_refuses_as_documented_is_allowed_unless_it_refuses_everything(registry):
    def process(self, cc):
        if cc.input.payload < 0:
            raise InvalidArgumentError("must not be negative")

    refuses = made(process, declare=lambda cc: cc.inputs[0].set(int))

    with pytest.raises(ConformanceError, match=r"the run failed: .*must not be negative"):
        check_calculator(refuses, registry=registry)
    tried = check_calculator(refuses, registry=registry, may_raise=InvalidArgumentError)
    assert 0 < tried.refused < tried.runs
    assert not check_calculator(refuses, registry=registry, payloads={int: lambda random, at: 1}).refused
    with pytest.raises(ConformanceError, match=r"refused all \d+ feeds"):
        check_calculator(
            made(process, declare=lambda cc: cc.inputs[0].set(int), open=lambda self, cc: 1 / 0),
            registry=registry,
            may_raise=ZeroDivisionError,
        )


def test_headers_can_be_given_and_are_part_of_the_lines_to_repeat(registry):
    seen = set()

    def note_header(self, cc):
        seen.add(cc.input.header.payload)

    def fail(self, cc):
        raise ValueError("no")

    check_calculator(made(open=note_header), headers={0: "rate 5"}, registry=registry)

    assert seen == {"rate 5"}
    with pytest.raises(ConformanceError, match=r"harness\.start\(\{'in_0': 'rate 5'\}\)"):
        check_calculator(made(fail), headers={0: "rate 5"}, registry=registry)


def test_payloads_side_packets_and_services_can_be_given(registry):
    class Own:
        pass

    key = ServiceKey("test.own")
    seen = set()

    def declare(cc):
        cc.inputs["A"].set(Own)
        cc.inputs["B", 0].set(int)
        cc.input_side_packets["S"].set(Own)
        cc.use_service(key)

    def process(self, cc):
        seen.add((cc.inputs["B"].payload, cc.input_side_packets["S"].payload, cc.service(key)))

    with pytest.raises(NotFoundError, match=r"nothing makes payloads of type .*Own; pass payloads="):
        check_calculator(made(process, declare=declare), registry=registry, services={key: "given"})
    own = Own()
    check_calculator(
        made(process, declare=declare),
        registry=registry,
        payloads={Own: lambda random, at: own, "B": lambda random, at: 7},
        side_packets={"S": own},
        services={key: "given"},
    )
    assert seen <= {(7, own, "given"), (None, own, "given")}
    assert (7, own, "given") in seen


def test_options_are_those_of_every_wiring(registry):
    seen = set()

    def process(self, cc):
        seen.add(cc.options(ExecutorConfig).name)

    def declare(cc):
        cc.inputs[0].set(int)
        cc.inputs["MORE"].set(int).optional()

    tried = check_calculator(
        made(process, declare=declare), registry=registry, options=ExecutorConfig(name="given")
    )
    assert len(tried.wirings) > 1
    assert seen == {"given"}


def test_ports_for_prestream_have_one_packet_there_at_most(registry):
    seen = []

    def declare(cc):
        cc.inputs["HEADER"].set(int)
        cc.inputs["DATA"].set(int)

    def process(self, cc):
        if not cc.inputs["HEADER"].is_empty():
            seen.append(cc.input_timestamp)

    check_calculator(made(process, declare=declare), registry=registry, prestream=["HEADER"])
    assert set(seen) == {Timestamp.PRESTREAM}


def test_a_source_without_end_is_closed_and_compared_as_far_as_it_came(registry):
    def declare(cc):
        cc.outputs[0].set(int)

    class Counts(made(declare=declare, offset=None)):
        def open(self, cc):
            self.count = 0

        def process(self, cc):
            cc.output.add(self.count, self.count)
            self.count += 1

    assert check_calculator(Counts, registry=registry, seeds=range(3)).packets_out > 100
    ends = made(lambda self, cc: STOP, declare=declare, offset=None)
    assert check_calculator(ends, registry=registry, seeds=range(3)).packets_out == 0


def test_async_methods_are_waited_for(registry):
    class Later(made()):
        async def process(self, cc):
            cc.output.add_packet(cc.input.packet)

    assert check_calculator(Later, registry=registry).packets_out


def test_feeds_are_legal_differ_and_are_repeated_by_their_seed():
    kinds, stamps = set(), set()
    for seed in range(200):
        feed = make_feed(seed, {"a": maker_of((int,), {}), "b": maker_of((str,), {})})
        again = make_feed(seed, {"a": maker_of((int,), {}), "b": maker_of((str,), {})})
        for name, events in feed.items():
            assert [(e.kind, e.at, e.payload) for e in events] == [
                (e.kind, e.at, e.payload) for e in again[name]
            ]
            packets = [event.at for event in events if event.kind == PACKET]
            assert packets == sorted(set(packets))
            assert events[-1].kind == END
            if packets and packets[0] in (Timestamp.PRESTREAM, Timestamp.POSTSTREAM):
                assert len(packets) == 1
            kinds.update(event.kind for event in events)
            stamps.update(packets)
    assert kinds == {PACKET, BOUND, END}
    assert stamps > {Timestamp.PRESTREAM, Timestamp.MIN, Timestamp.MAX, Timestamp.POSTSTREAM, 0}


def test_feeds_without_the_ends_of_time_have_neither():
    stamps = {
        event.at
        for seed in range(100)
        for event in make_feed(seed, {"a": maker_of((int,), {})}, ends_of_time=False)["a"]
    }
    assert stamps
    assert not stamps & {Timestamp.MIN, Timestamp.MAX}


class Thing:
    def __init__(self, inside):
        self.inside = inside


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    "declared",
    [bool, int, float, str, bytes, list[int], list[list[str]], tuple[int, str], tuple[float, ...], Color],
)
def test_made_payloads_are_of_the_declared_type(declared):
    made = [maker_of((declared,), {})(seeded(seed), Timestamp(1)) for seed in range(20)]

    assert all(fits(payload, (declared,)) for payload in made)
    assert any(not same(payload, made[0]) for payload in made)


@pytest.mark.parametrize(
    ("payload", "declared", "expected"),
    [
        (True, int, False),
        (1, float, True),
        ([1, "a"], list[int], False),
        ((1, "a"), tuple[int, str], True),
        ((1, 2), tuple[int, str], False),
        ((1,), tuple[int, str], False),
        ((1, 2, "a"), tuple[int, ...], False),
        ("a", object, True),
    ],
)
def test_fitting_looks_into_lists_and_tuples(payload, declared, expected):
    assert fits(payload, (declared,)) is expected


def test_messages_are_filled_by_their_fields():
    make = maker_of((CalculatorGraphConfig,), {})
    config = make(seeded(3), Timestamp(0))
    assert config.IsInitialized()
    assert same(config, make(seeded(3), Timestamp(0)))
    assert not same(config, make(seeded(4), Timestamp(0)))
    assert maker_of((ExecutorConfig,), {})(seeded(1), Timestamp(0)).DESCRIPTOR is ExecutorConfig.DESCRIPTOR


def test_arrays_are_made_and_compared_by_shape_and_bytes():
    numpy = pytest.importorskip("numpy")
    make = maker_of((list[numpy.ndarray],), {})
    made = [make(seeded(seed), Timestamp(0)) for seed in range(20)]
    arrays = [array for one in made for array in one]

    assert all(fits(one, (list[numpy.ndarray],)) for one in made)
    assert {array.ndim for array in arrays} == {0, 1, 2, 3}
    assert same(made[3], make(seeded(3), Timestamp(0)))
    assert same(numpy.zeros((2, 3)), numpy.zeros((2, 3)))
    for other in (numpy.zeros((3, 2)), numpy.zeros(4), numpy.ones((2, 3)), numpy.zeros((2, 3), "int8")):
        assert not same(numpy.zeros((2, 3)), other)


def test_what_counts_as_the_same():
    nan = float("nan")

    assert same([nan, (1,)], [float("nan"), (1,)])
    assert not same(1, True)
    assert not same([1], [1, 2])
    assert same(Packet(1, 5), Packet(1, 5))
    assert not same(Packet(1, 5), Packet(1, 6))
    assert same(Packet(timestamp=5), Packet(timestamp=6))
    assert not same(Packet(), Packet(None))
    assert same(Thing(nan), Thing(nan))
    assert not same(Thing(1), Thing(2))


DECORATE = "decorate it with @penstock.calculator"


def doubled(x: int) -> int:
    """Double a number.

    Example:
        node { calculator: "doubled" input_stream: "x" output_stream: "y" }
    """
    return 2 * x


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (doubled, "'doubled' is no calculator; decorate the function with @penstock.calculator"),
        (dict, f"'dict' is no calculator; let it subclass penstock.Calculator, or {DECORATE}"),
        (made()(), "<Made> is no calculator; pass its class, not an instance"),
        (None, "None is no calculator; pass the class of a calculator, or a registered name"),
    ],
)
def test_what_is_no_calculator_is_refused_and_the_error_says_what_to_do(thing, words):
    with pytest.raises(InvalidArgumentError) as caught:
        check_calculator(thing)

    assert str(caught.value) == f"check_calculator: {words}"


def test_a_decorated_function_is_checked_like_any_calculator(registry):
    assert check_calculator(penstock.calculator(doubled), registry=registry, seeds=range(3)).runs == 9


def test_a_calculator_that_touches_what_it_does_not_declare_is_refused(registry, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("x")

    def reads(self, cc):
        path.read_text()

    def writes(self, cc):
        (tmp_path / "new.txt").write_text("x")

    def runs(self, cc):
        subprocess.run([sys.executable, "-c", ""], check=True)

    for process, words in (
        (reads, f"it reads '{path}', but its contract does not declare that: cc.declare\\(reads="),
        (writes, "it writes '.*new.txt'"),
        (runs, "it runs '.*python"),
    ):
        with pytest.raises(ConformanceError, match=words):
            check_calculator(made(process), seeds=range(1), registry=registry)

    def declares(cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.declare(reads=[str(path)])

    check_calculator(made(reads, declare=declares), seeds=range(1), registry=registry)
