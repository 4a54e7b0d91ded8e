"""ShardCalculator, ShardMergeCalculator, and the subgraph with both."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock import Timestamp
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock.packs import default_registry
from penstock_shards import shard_of

TIMEOUT = 30


class Counting(penstock.Calculator):
    """Writes each key with how often this node has seen it."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(str)
        cc.outputs[0].set(tuple)
        cc.set_timestamp_offset(0)

    def open(self, cc):
        self._seen = {}

    def process(self, cc):
        key = cc.input.payload
        self._seen[key] = self._seen.get(key, 0) + 1
        cc.output.add((key, self._seen[key]), cc.input_timestamp)


@pytest.fixture(scope="module")
def registry():
    found = default_registry().child()
    found.add("calculator", "Counting", Counting)
    return found


def sharded(node_type="Counting", **params):
    """Return a graph of one sharded node; params that are text or numbers."""
    params = {"node_type": node_type, **params}
    args = " ".join(
        f'arg {{ key: "{name}" value {{ {"str" if isinstance(value, str) else "num"}: {quoted(value)} }} }}'
        for name, value in params.items()
    )
    return f"""
    input_stream: "key"
    input_stream: "in"
    output_stream: "out"
    node {{
      calculator: "ShardedSubgraph"  name: "split"
      input_stream: "KEY:key"  input_stream: "in"  output_stream: "out"
      options {{ [mediapipe.TemplateSubgraphOptions.ext] {{ dict {{ {args} }} }} }}
    }}
    """


def quoted(value):
    return f'"{value}"' if isinstance(value, str) else str(value)


def run(graph, keys, registry):
    """Feed keys as their own payloads, at 0, 10, 20 and on; return (timestamp, payload) of what comes out."""
    timed = [(number * 10, key) for number, key in enumerate(keys)]
    packets = penstock.run(graph, inputs={"key": timed, "in": timed}, registry=registry)["out"]
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def counted(keys):
    """Return what one Counting node writes for keys."""
    return [(number * 10, (key, keys[: number + 1].count(key))) for number, key in enumerate(keys)]


@settings(deadline=None, max_examples=30)
@given(
    keys=st.lists(st.sampled_from("abcdefgh"), max_size=30),
    replicas=st.integers(1, 9),
    interval=st.sampled_from([0, 1, 25, 1000, -1]),
)
def test_replicas_with_state_for_each_key_write_what_one_node_would(registry, keys, replicas, interval):
    graph = sharded(replicas=replicas, bound_interval_us=interval)

    assert run(graph, keys, registry) == counted(keys)


@settings(deadline=None, max_examples=30)
@given(
    keys=st.lists(st.sampled_from("abcdefgh"), max_size=30),
    replicas=st.integers(1, 9),
    interval=st.sampled_from([0, 25, -1]),
)
def test_by_key_nothing_is_lost_and_each_key_is_in_order(registry, keys, replicas, interval):
    got = run(sharded(replicas=replicas, order="PER_KEY", bound_interval_us=interval), keys, registry)

    stamps = [stamp for stamp, _ in got]
    assert stamps == sorted(set(stamps))
    for key in set(keys):
        assert [payload for _, payload in got if payload[0] == key] == [
            payload for _, payload in counted(keys) if payload[0] == key
        ]
    assert len(got) == len(keys)


def test_each_shard_gets_the_packets_of_its_keys(registry):
    graph = """
    input_stream: "key"  input_stream: "in"
    output_stream: "s0"  output_stream: "s1"  output_stream: "s2"
    node {
      calculator: "ShardCalculator"  input_stream: "KEY:key"  input_stream: "in"
      output_stream: "SHARD:0:s0"  output_stream: "SHARD:1:s1"  output_stream: "SHARD:2:s2"
    }
    """
    keys = [f"sensor {number}" for number in range(50)]
    out = penstock.run(
        graph, inputs={"key": list(enumerate(keys)), "in": list(enumerate(range(50)))}, registry=registry
    )

    for shard in range(3):
        expected = [n for n, key in enumerate(keys) if shard_of(key, 3) == shard]
        assert [(int(p.timestamp), p.payload) for p in out[f"s{shard}"]] == [(n, n) for n in expected]
        assert expected


# --- bounds -----------------------------------------------------------------------------------


def two_keys():
    """Return keys of shard 0 and of shard 1, of two."""
    keys = {shard_of(name, 2): name for name in "abcdefgh"}
    return keys[0], keys[1]


@pytest.mark.parametrize(("interval", "settled_by"), [(0, 10), (25, 30), (-1, None)])
def test_a_shard_without_packets_hears_of_others_at_the_interval(registry, interval, settled_by):
    """A result comes out when the other shard's bound has passed it; the first call settles at once."""
    key, other = two_keys()
    graph = penstock.CalculatorGraph(sharded(replicas=2, bound_interval_us=interval), registry=registry)
    got = []
    graph.observe_output_stream("out", lambda _, packet: got.append(int(packet.timestamp)))
    graph.start_run()
    came_after = {}
    for stamp in (0, 10, 20, 30, 40):
        for stream in ("key", "in"):
            graph.add_packet_to_input_stream(stream, penstock.Packet(key, stamp))
        graph.wait_until_idle(TIMEOUT)
        for one in got:
            came_after.setdefault(one, stamp)
    graph.close(TIMEOUT)

    assert other != key
    assert got == [0, 10, 20, 30, 40]
    assert came_after.get(10) == settled_by


def test_a_bound_of_the_input_settles_the_shards_too(registry):
    key, _ = two_keys()
    graph = penstock.CalculatorGraph(sharded(replicas=2, bound_interval_us=25), registry=registry)
    got = []
    graph.observe_output_stream("out", lambda _, packet: got.append(int(packet.timestamp)))
    graph.start_run()
    for stamp in (0, 10):
        for stream in ("key", "in"):
            graph.add_packet_to_input_stream(stream, penstock.Packet(key, stamp))
    graph.wait_until_idle(TIMEOUT)
    assert got == [0]
    for stream in ("key", "in"):
        graph.set_input_stream_timestamp_bound(stream, 100)
    graph.wait_until_idle(TIMEOUT)
    assert got == [0, 10]
    graph.close(TIMEOUT)


def test_a_slow_replica_holds_up_no_other_where_the_order_is_by_key(registry):
    slow_key, fast_key = two_keys()
    entered, leave = threading.Event(), threading.Event()

    @penstock.calculator
    def waiting(key: str) -> str:
        if key == slow_key:
            entered.set()
            assert leave.wait(TIMEOUT)
        return key

    mine = registry.child()
    mine.add("calculator", "Waiting", waiting)
    graph = penstock.CalculatorGraph(
        sharded(
            "Waiting", input_tag="KEY", output_tag="OUT", replicas=2, order="PER_KEY", bound_interval_us=-1
        ),
        registry=mine,
    )
    got, all_fast = [], threading.Event()

    def see(_, packet):
        got.append(packet.payload)
        if got.count(fast_key) == 5:
            all_fast.set()

    graph.observe_output_stream("out", see)
    moved = []
    graph.observe_output_stream("split__timestamp", lambda _, p: moved.append((int(p.timestamp), p.payload)))
    graph.start_run()
    for stamp, key in enumerate([slow_key, *[fast_key] * 5]):
        for stream in ("key", "in"):
            graph.add_packet_to_input_stream(stream, penstock.Packet(key, stamp))
    assert entered.wait(TIMEOUT)
    assert all_fast.wait(TIMEOUT), graph.why()
    leave.set()
    graph.close(TIMEOUT)

    assert got == [*[fast_key] * 5, slow_key]
    assert moved == [*[(stamp, Timestamp(stamp)) for stamp in (1, 2, 3, 4, 5)], (6, Timestamp(0))]


# --- several nodes in a replica, other executors ------------------------------------------------


def test_a_replica_may_be_a_subgraph(registry):
    two = """
        input_stream: "in" output_stream: "out"
        node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "between" }
        node { calculator: "Counting" input_stream: "between" output_stream: "out" }
    """
    keys = [*"abcdefghhgfedcbaacegbdfhabcdefghhhaabbcc"]
    graph = penstock.CalculatorGraph(sharded("Two", replicas=4), registry=registry, subgraphs={"Two": two})

    assert run(graph.text_config, keys, registry) == counted(keys)


def test_the_replicas_run_on_the_executor_that_the_graph_declares(registry):
    graph = (
        sharded(replicas=3, executor="mine") + 'executor { name: "mine" type: "ThreadPoolExecutor" options { '
    )
    graph += "[penstock.ThreadPoolExecutorOptions.ext] { num_threads: 2 } } }"
    made = penstock.CalculatorGraph(graph, registry=registry)

    assert made.text_config.count('executor: "mine"') == 3
    assert run(graph, list("abcabc"), registry) == counted(list("abcabc"))


# --- what is refused ----------------------------------------------------------------------------


def test_a_packet_without_a_key_is_an_error_that_names_both_streams(registry):
    with pytest.raises(GraphRunError) as caught:
        penstock.run(sharded(), inputs={"key": [(0, "a")], "in": [(0, "a"), (5, "b")]}, registry=registry)

    assert "stream 'in' has a packet at 5, but KEY 'key' has none" in str(caught.value)


def test_a_key_without_a_packet_does_nothing(registry):
    got = penstock.run(sharded(), inputs={"key": [(0, "a"), (5, "b")], "in": [(0, "a")]}, registry=registry)

    assert [(int(p.timestamp), p.payload) for p in got["out"]] == [(0, ("a", 1))]


def test_a_key_of_another_type_is_an_error(registry):
    with pytest.raises(GraphRunError, match="a key to hash must be str, bytes or an integer, not float"):
        penstock.run(sharded(), inputs={"key": [(0, 1.5)], "in": [(0, "a")]}, registry=registry)


MERGE = """
input_stream: "s0"  input_stream: "s1"  output_stream: "out"
node {{
  calculator: "ShardMergeCalculator"  input_stream: "SHARD:0:s0"  input_stream: "SHARD:1:s1"
  output_stream: "out"
  node_options {{ [type.googleapis.com/penstock_shards.ShardMergeCalculatorOptions] {{ {} }} }}
}}
"""


def test_two_packets_at_one_timestamp_are_an_error_by_timestamp_and_none_by_key(registry):
    inputs = {"s0": [(4, "a"), (5, "b")], "s1": [(5, "c")]}
    with pytest.raises(
        GraphRunError, match="streams 's0', 's1' to merge each have a packet at 5; a shard may only"
    ):
        penstock.run(MERGE.format(""), inputs=inputs, registry=registry)

    got = penstock.run(MERGE.format("order: PER_KEY"), inputs=inputs, registry=registry)["out"]
    assert [(int(p.timestamp), p.payload) for p in got] == [(4, "a"), (5, "b"), (6, "c")]


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM])
def test_timestamps_that_stand_alone_are_refused_by_key(registry, stamp):
    with pytest.raises(GraphRunError, match="with order PER_KEY timestamps go from MIN to MAX"):
        penstock.run(
            MERGE.format("order: PER_KEY"), inputs={"s0": [(stamp, "a")], "s1": []}, registry=registry
        )


def test_no_timestamp_left_by_key_is_an_error(registry):
    inputs = {"s0": [(Timestamp.MAX, "a")], "s1": [(Timestamp.MAX, "b")]}
    with pytest.raises(
        GraphRunError, match="'s1': no timestamp is left in the merge of shards for the packet at "
    ):
        penstock.run(MERGE.format("order: PER_KEY"), inputs=inputs, registry=registry)


def test_an_interval_below_minus_one_is_refused_when_the_graph_is_loaded(registry):
    with pytest.raises(GraphConfigError, match="bound_interval_us is -2; give microseconds, 0 for"):
        penstock.CalculatorGraph(sharded(bound_interval_us=-2), registry=registry)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            """
            input_stream: "k" input_stream: "in"
            node { calculator: "ShardCalculator" input_stream: "KEY:k" input_stream: "in" }
            """,
            "there is no output SHARD; connect at least one, SHARD:0",
        ),
        (
            'node { calculator: "ShardMergeCalculator" output_stream: "out" }',
            "the shard merge has no input SHARD; connect at least one, SHARD:0",
        ),
    ],
)
def test_a_node_without_shards_is_refused(registry, text, match):
    with pytest.raises((GraphConfigError, InvalidArgumentError), match=match):
        penstock.CalculatorGraph(text, registry=registry)
