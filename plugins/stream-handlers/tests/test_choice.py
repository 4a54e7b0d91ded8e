"""All policies of the pack in whole graphs: how a graph chooses one, a second run, and threads."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.protobuf import text_format

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError
from penstock_stream_handlers.plugin import penstock_components

HANDLERS = sorted(penstock_components().input_stream_handlers)

#: Policy → the words of each call after b@5, b@6, a@5 and the end of a.
EXPECTED = {
    "BarrierInputStreamHandler": ["a5 b5"],
    "DefaultInputStreamHandler": ["a5 b5", "b6"],
    "EarlyCloseInputStreamHandler": ["a5 b5"],
    "FixedSizeInputStreamHandler": ["b6"],
    "ImmediateInputStreamHandler": ["b5", "b6", "a5", ""],
    "InnerJoin": ["a5 b5"],
    "Latest": ["a5 b5"],
    "MuxInputStreamHandler": ["a5 b0", "b0"],
    "Nearest": ["a5 b5"],
    "SyncSetInputStreamHandler": ["b5", "b6", "a5"],
    "Timeout": ["a5 b5", "b6"],
    "TimestampAlignInputStreamHandler": ["a5 b5", "b6"],
}
OPTIONS = {
    "Nearest": "tolerance: 10",
    "SyncSetInputStreamHandler": 'sync_set { tag_index: ":0" }',
    "Timeout": "timeout_ms: 60000",
    "TimestampAlignInputStreamHandler": 'timestamp_base_tag_index: ":0"',
}


def handler_text(name):
    options = OPTIONS.get(name)
    given = "" if options is None else f"options {{ [mediapipe.{name}Options.ext] {{ {options} }} }}"
    return f'input_stream_handler {{ input_stream_handler: "{name}" {given} }}'


def graph_text(of_graph="", of_node="", calculator="Recorder"):
    return f"""
        input_stream: "a"
        input_stream: "b"
        {of_graph}
        node {{
          calculator: "{calculator}"
          input_stream: "a"
          input_stream: "b"
          output_stream: "out"
          {of_node}
        }}
    """


def words(graph, name, base=0):
    """Run the events of `EXPECTED`, shifted by `base`, and return the payloads of each call as words."""
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    for stream, stamp in [("b", 5), ("b", 6), ("a", 5)]:
        control = name == "MuxInputStreamHandler" and stream == "b"
        graph.add_packet_to_input_stream(
            stream, penstock.Packet(0 if control else f"{stream}{stamp}", base + stamp)
        )
        graph.wait_until_idle(5)
    graph.close_input_stream("a")
    graph.wait_until_idle(5)
    graph.close_input_stream("b")
    graph.wait_until_done(5)
    return [
        " ".join(
            payload if isinstance(payload, str) else f"{stream}{payload}"
            for stream, payload in call.packets.items()
        )
        for call in seen
    ]


@pytest.mark.parametrize("name", HANDLERS)
def test_a_node_chooses_its_policy(pack_registry, name):
    graph = penstock.CalculatorGraph(graph_text(of_node=handler_text(name)), registry=pack_registry)

    assert words(graph, name) == EXPECTED[name]


@pytest.mark.parametrize("name", HANDLERS)
def test_a_graph_chooses_the_policy_of_all_its_nodes(pack_registry, name):
    graph = penstock.CalculatorGraph(graph_text(of_graph=handler_text(name)), registry=pack_registry)

    assert words(graph, name) == EXPECTED[name]


@pytest.mark.parametrize("name", HANDLERS)
def test_a_calculator_chooses_its_policy_in_its_contract(pack_registry, name):
    options = None
    if name in OPTIONS:
        message = pack_registry.option(f"penstock.{name}Options").load()
        options = text_format.Parse(OPTIONS[name], message())
    recorder = pack_registry.find("calculator", "Recorder")

    class Choosy(recorder):
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.set_input_stream_handler(name, options)

    pack_registry.add("calculator", "Choosy", Choosy)
    graph = penstock.CalculatorGraph(graph_text(calculator="Choosy"), registry=pack_registry)

    assert words(graph, name) == EXPECTED[name]


@pytest.mark.parametrize("name", HANDLERS)
def test_a_second_run_with_smaller_timestamps_is_like_the_first(pack_registry, name):
    graph = penstock.CalculatorGraph(graph_text(of_node=handler_text(name)), registry=pack_registry)

    first = words(graph, name, base=1000)
    second = words(graph, name, base=0)

    # an observer stays for the next run, so the second run was seen by both
    assert first[: len(EXPECTED[name])] == EXPECTED[name]
    assert second == EXPECTED[name]


@pytest.mark.parametrize("name", HANDLERS)
def test_a_policy_of_the_graph_leaves_sources_alone(pack_registry, name):
    class Three(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set(int)

        def open(self, cc):
            self._next = 0

        def process(self, cc):
            if self._next == 3:
                return penstock.STOP
            cc.output.add(0, self._next)
            self._next += 1
            return None

    pack_registry.add("calculator", "Three", Three)
    text = f"""
        {handler_text(name)}
        node {{ calculator: "Three" output_stream: "a" }}
        node {{ calculator: "Three" output_stream: "b" }}
        node {{ calculator: "Recorder" input_stream: "a" input_stream: "b" output_stream: "out" }}
    """
    graph = penstock.CalculatorGraph(text, registry=pack_registry)
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    graph.wait_until_done(5)

    counts = Counter(stream for call in seen for stream in call.packets)
    assert 1 <= counts["a"] <= 3
    assert 1 <= counts["b"] <= 3


def test_options_that_a_policy_refuses_stop_the_start_and_name_the_node(pack_registry):
    handler = handler_text("TimestampAlignInputStreamHandler").replace(":0", "Base")
    graph = penstock.CalculatorGraph(graph_text(of_node=handler), registry=pack_registry)

    with pytest.raises(
        InvalidArgumentError, match="node 'Recorder': timestamp_base_tag_index: 'Base' is no port"
    ):
        graph.start_run()


def test_a_policy_that_fails_ends_a_run_on_threads_and_the_graph_can_run_again(pack_registry):
    graph = penstock.CalculatorGraph(
        graph_text(of_node=handler_text("MuxInputStreamHandler")), registry=pack_registry
    )
    with ThreadPoolExecutor(2) as pool:
        graph.set_executor("", pool)
        graph.start_run()
        graph.add_packet_to_input_stream("b", penstock.Packet(7, 1))
        with pytest.raises(GraphRunError, match="control stream 'b' holds 7 at 1"):
            graph.wait_until_done(5)

        assert words(graph, "MuxInputStreamHandler") == EXPECTED["MuxInputStreamHandler"]


# --- threads: a control stream and data streams written at once ------------------------------------


class Slow(penstock.Calculator):
    """Records the timestamps of its packets; takes a random time, so queues grow."""

    seen: list[dict[str, int]]

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set(int)
        cc.input_side_packets["SEEN"].set(list)

    def open(self, cc):
        self._order = random.Random(0)  # noqa: S311  # how long it takes

    def process(self, cc):
        for _ in range(self._order.randrange(400)):
            pass
        shown = {port.name: int(port.packet.timestamp) for port in cc.inputs if not port.is_empty()}
        cc.input_side_packets["SEEN"].payload.append(shown)


COUNT = 300


def written_at_once(registry, handler, by_contract):
    """Write 0 to COUNT - 1 into three streams, each from its own thread; return the calls and the drops."""

    class ByContract(Slow):
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.set_input_stream_handler(handler)

    registry.add("calculator", "Slow", ByContract if by_contract else Slow)
    streams = ["a", "b", "s"]
    graph = penstock.CalculatorGraph(
        'input_stream: "a" input_stream: "b" input_stream: "s" max_queue_size: 10 '
        'node { calculator: "Slow" '
        'input_stream: "INPUT:0:a" input_stream: "INPUT:1:b" input_stream: "SELECT:s" '
        f'input_side_packet: "SEEN:seen" {"" if by_contract else handler_text(handler)} }} '
        'input_side_packet: "seen"',
        registry=registry,
    )
    seen = []
    with ThreadPoolExecutor(3) as pool:
        graph.set_executor("", pool)
        graph.start_run({"seen": seen})

        def write(stream):
            for stamp in range(COUNT):
                graph.add_packet_to_input_stream(stream, penstock.Packet(stamp % 2, stamp))

        writers = [threading.Thread(target=write, args=(stream,), daemon=True) for stream in streams]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(60)
            assert not writer.is_alive()
        graph.close_all_input_streams()
        graph.wait_until_done(60)
    dropped = {stream.name: stream.dropped for stream in graph.snapshot().streams}
    return seen, dropped


@pytest.mark.parametrize("by_contract", [False, True])
def test_a_mux_shows_every_control_packet_with_its_data_whatever_the_threads_do(pack_registry, by_contract):
    seen, dropped = written_at_once(pack_registry, "MuxInputStreamHandler", by_contract)

    assert seen == [{"ab"[stamp % 2]: stamp, "s": stamp} for stamp in range(COUNT)]
    assert (dropped["a"], dropped["b"], dropped["s"]) == (COUNT // 2, COUNT // 2, 0)


@pytest.mark.parametrize("by_contract", [False, True])
def test_a_fixed_size_drops_whole_timestamps_and_counts_them_whatever_the_threads_do(
    pack_registry, by_contract
):
    seen, dropped = written_at_once(pack_registry, "FixedSizeInputStreamHandler", by_contract)

    stamps = [set(shown.values()) for shown in seen]
    assert all(len(one) == 1 for one in stamps)
    times = [one.pop() for one in stamps]
    assert times == sorted(set(times))
    assert times[-1] == COUNT - 1
    for stream in "abs":
        assert sum(stream in shown for shown in seen) + dropped[stream] == COUNT
