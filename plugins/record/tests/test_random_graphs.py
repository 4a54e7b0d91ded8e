"""Random graphs, cut anywhere: what was recorded at the cut gives the rest of the graph the same packets "
"again."""

from __future__ import annotations

import random

import pytest

import penstock
from penstock import Packet
from penstock_record import recording_graph, replay_graph

TIMEOUT = 60.0
PAYLOADS = (7, -0.5, "seven", b"\x07", (7, "pair"), [7, None], {"seven": 7}, {7: (7,)}, 7 << 70, True, None)


class RandomGraph:
    """A graph of a few nodes, what is fed to it, and the streams between its two halves."""

    def __init__(self, seed):
        chance = random.Random(seed)  # noqa: S311  # a test's order
        self.inputs = [f"in{n}" for n in range(chance.randrange(1, 4))]
        streams, writers = list(self.inputs), dict.fromkeys(self.inputs, -1)
        self.nodes, reads = [], []
        for number in range(chance.randrange(1, 8)):
            is_late = chance.random() < 0.25
            taken = chance.sample(streams, 1 if is_late else min(len(streams), chance.randrange(1, 4)))
            written = [f"s{number}"] + ([] if is_late or chance.random() < 0.6 else [f"t{number}"])
            lines = [f'input_stream: "{name}"' for name in taken] + [
                f'output_stream: "{name}"' for name in written
            ]
            name = "LateCalculator" if is_late else "MixCalculator"
            self.nodes.append(f'node {{ calculator: "{name}" {" ".join(lines)} }}')
            reads.append(taken)
            streams += written
            writers.update(dict.fromkeys(written, number))
        cut = chance.randrange(len(self.nodes))  # these nodes and all inputs are before the cut
        behind = range(cut, len(self.nodes))
        self.cut = sorted({name for number in behind for name in reads[number] if writers[name] < cut})
        self.behind = [name for name, number in writers.items() if number >= cut]
        self.headers = {name: f"header of {name}" for name in self.inputs if chance.random() < 0.5}
        self.feed = sorted(
            (
                (stamp, name, chance.choice(PAYLOADS))
                for name in self.inputs
                for stamp in range(chance.randrange(-9, 9), 90, chance.randrange(2, 9))
            ),
            key=lambda one: (one[0], one[1]),
        )

    def text(self, threads):
        inputs = "".join(f'input_stream: "{name}"\n' for name in self.inputs)
        outputs = "".join(f'output_stream: "{name}"\n' for name in self.behind)
        return f"num_threads: {threads}\n{inputs}{outputs}" + "\n".join(self.nodes)


def watched(config, names, registry):
    """Return a graph, and what comes out of some of its streams."""
    graph = penstock.CalculatorGraph(config, registry=registry)
    seen = {name: [] for name in names}
    for name in names:
        graph.observe_output_stream(name, lambda stream, packet: seen[stream].append(packet))
    return graph, seen


def plain(seen):
    return {
        name: [(int(packet.timestamp), type(packet.payload), packet.payload) for packet in packets]
        for name, packets in seen.items()
    }


def difference(seed, registry, file):
    """Record a random graph and replay it on 1, 2 and 8 threads; return how many packets there were."""
    made = RandomGraph(seed)
    graph, seen = watched(
        recording_graph(made.text(4), file, made.cut, registry=registry), made.behind, registry
    )
    graph.start_run(stream_headers=made.headers)
    for stamp, name, payload in made.feed:
        graph.add_packet_to_input_stream(name, Packet(payload, stamp), timeout=TIMEOUT)
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    wanted = plain(seen)
    for threads in (1, 2, 8):
        again, replayed = watched(
            replay_graph(made.text(threads), file, made.cut, registry=registry), made.behind, registry
        )
        assert again.input_streams == ()
        again.start_run()
        again.wait_until_done(TIMEOUT)
        assert plain(replayed) == wanted, (
            f"seed {seed}, {threads} threads:\n{made.text(threads)}\ncut {made.cut}"
        )
    return sum(map(len, wanted.values()))


def test_graphs_cut_anywhere_give_the_same_packets_again(registry, tmp_path):
    packets = sum(difference(seed, registry, tmp_path / "r.mcap") for seed in range(60))
    assert packets > 1000


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_thousand_graphs_cut_anywhere_give_the_same_packets_again(registry, tmp_path):
    for seed in range(1000, 2000):
        difference(seed, registry, tmp_path / "r.mcap")
