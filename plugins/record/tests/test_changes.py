"""Runs whose nodes are changed: a replay changes them at the same timestamps."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading

import attrs
import pytest

import penstock
from penstock import Packet
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.packs import default_registry
from penstock_record import recording_graph, replay_changes, replay_graph
from penstock_record.recording_reader import changes_in
from penstock_record.repair import repair
from penstock_steering import changes

pytestmark = pytest.mark.heavy

PATIENCE_S = 60.0
CLOSED = 4  # of a node


@attrs.frozen
class ScaleOptions:
    factor: int = 1


class Scale(penstock.Calculator):
    """Multiplies, and counts since it was opened; overlapping calls of one object would lose counts."""

    Options = ScaleOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)

    def open(self, cc):
        self.count = 0
        self.options_changed(cc)

    def options_changed(self, cc):
        self.factor = cc.options(ScaleOptions).factor

    def process(self, cc):
        self.count += 1
        cc.output.add(cc.input.payload * self.factor + self.count, cc.input_timestamp)


class Minus(Scale):
    """Subtracts instead."""

    def process(self, cc):
        cc.output.add(cc.input.payload - self.factor, cc.input_timestamp)


class Numbers(penstock.Calculator):
    """A source, which a recording replaces."""

    Options = ScaleOptions

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)

    def open(self, cc):
        self.at = 0
        self.options_changed(cc)

    def options_changed(self, cc):
        self.step = cc.options(ScaleOptions).factor

    def process(self, cc):
        if self.at >= 1500:
            return penstock.STOP
        cc.output.add(self.at, self.at)
        self.at += self.step
        return None


@pytest.fixture
def registry():
    found = default_registry().child()
    for one in (Scale, Minus, Numbers):
        found.add("calculator", one.__name__, one)
    return found


def text(threads):
    return f"""num_threads: {threads}
        node {{ calculator: "Numbers" output_stream: "numbers" }}
        node {{ calculator: "Scale" input_stream: "numbers" output_stream: "a" }}
        node {{ calculator: "Scale" input_stream: "a" output_stream: "b" }}
        node {{ calculator: "Scale" name: "wide" input_stream: "numbers" output_stream: "c" }}
        node {{ calculator: "PassThroughCalculator" input_stream: "b" input_stream: "c"
               output_stream: "left" output_stream: "right" }}"""


def watched(config, registry):
    graph = penstock.CalculatorGraph(config, registry=registry)
    seen = {"left": [], "right": []}
    for name, into in seen.items():
        graph.observe_output_stream(name, lambda _, p, into=into: into.append((int(p.timestamp), p.payload)))
    return graph, seen


def change_at_random(graph, chance, is_over):
    """Change nodes again and again while a run is under way; return how often."""
    count = 0
    while not is_over.is_set() and count < 30:
        name = chance.choice(["Numbers", "Scale_1", "Scale_2", "wide"])
        try:
            if name == "Numbers" or chance.random() < 0.5:
                graph.set_options(name, {"factor": chance.randrange(1, 4)})
            else:
                graph.swap(
                    name, {"factor": chance.randrange(1, 5)}, calculator=chance.choice([None, "Scale"])
                )
            count += 1
        except penstock.PenstockError:  # the run has ended meanwhile
            break
    return count


@pytest.mark.parametrize("seed", range(12))
def test_a_replay_changes_the_nodes_at_the_same_timestamps(registry, tmp_path, seed):
    chance = random.Random(seed)  # noqa: S311  # a test's order
    file = tmp_path / "run.mcap"
    graph, seen = watched(recording_graph(text(2), file, ["numbers"], registry=registry), registry)
    graph.set_options("wide", {"factor": 9})
    graph.set_options("Scale_1", {"factor": 8}, at=50)
    graph.start_run()
    is_over = threading.Event()
    counts = []
    changing = threading.Thread(target=lambda: counts.append(change_at_random(graph, chance, is_over)))
    changing.start()
    graph.wait_until_done(PATIENCE_S)
    is_over.set()
    changing.join()
    made = changes(graph)
    assert len(made) >= 2 + counts[0]
    assert changes_in(file) == made
    assert seen["left"]
    for threads in (1, 2, 8):
        again, seen_again = watched(replay_graph(text(threads), file, registry=registry), registry)
        played = replay_changes(again, file)
        assert {one.node for one in played} <= {"Scale_1", "Scale_2", "wide"}
        again.run(timeout=PATIENCE_S)
        assert seen_again == seen


def test_a_change_that_the_recording_could_not_keep_is_refused(registry, tmp_path):
    """The recorded stream has ended, so the file is finished; another node still has packets to work on."""
    may_go_on = threading.Event()

    class Waiting(Scale):
        def process(self, cc):
            assert may_go_on.wait(PATIENCE_S)
            super().process(cc)

    registry.add("calculator", "Waiting", Waiting)
    graph = penstock.CalculatorGraph(
        recording_graph(
            """input_stream: "in"
               node { calculator: "Waiting" name: "n" input_stream: "in" output_stream: "out" }""",
            tmp_path / "run.mcap",
            ["in"],
            registry=registry,
        ),
        registry=registry,
    )
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.set_options("n", {"factor": 2}, at=2)
    graph.close_all_input_streams()
    runner = graph._runs.runner
    recording = next(node for node in runner.schedule.nodes if node.name == "recording")
    runner.wait(lambda: recording.state == CLOSED, PATIENCE_S, "the end of the recording")
    for change in (graph.set_options, graph.swap):
        with pytest.raises(
            FailedPreconditionError, match="'n' cannot change any more in this run: its recording"
        ):
            change("n", {"factor": 3})
    may_go_on.set()
    graph.close()
    assert [int(one.at) for one in changes_in(tmp_path / "run.mcap")] == [2]
    graph.set_options("n", {"factor": 3})


def test_without_the_changes_the_replay_differs(registry, tmp_path):
    """The comparison above would see a change that is not made."""
    file = tmp_path / "run.mcap"
    graph, seen = watched(recording_graph(text(2), file, ["numbers"], registry=registry), registry)
    graph.set_options("Scale_2", {"factor": 7}, at=100)
    graph.run(timeout=PATIENCE_S)
    again, seen_again = watched(replay_graph(None, file, registry=registry), registry)
    again.run(timeout=PATIENCE_S)
    assert seen_again != seen
    assert [one.node for one in replay_changes(again, file)] == ["Scale_2"]
    for into in seen_again.values():
        into.clear()
    again.run(timeout=PATIENCE_S)
    assert seen_again == seen


def test_nodes_keep_their_numbers_where_others_are_replaced(registry, tmp_path):
    """Scale_1 is left out, since its stream is played; Scale_2 is changed, not the other one."""
    file = tmp_path / "run.mcap"
    config = recording_graph(text(2), file, ["numbers", "a"], registry=registry)
    graph, seen = watched(config, registry)
    graph.set_options("Scale_1", {"factor": 3}, at=50)
    graph.set_options("Scale_2", {"factor": 7}, at=100)
    graph.run(timeout=PATIENCE_S)
    again, seen_again = watched(replay_graph(None, file, registry=registry), registry)
    assert [one.node for one in replay_changes(again, file)] == ["Scale_2"]
    again.run(timeout=PATIENCE_S)
    assert seen_again == seen


def test_another_calculator_is_swapped_in_again(registry, tmp_path):
    file = tmp_path / "run.mcap"
    graph, seen = watched(recording_graph(text(2), file, ["numbers"], registry=registry), registry)
    graph.swap("Scale_2", {"factor": 3}, calculator="Minus", at=200)
    graph.run(timeout=PATIENCE_S)
    again, seen_again = watched(replay_graph(None, file, registry=registry), registry)
    replay_changes(again, file)
    again.run(timeout=PATIENCE_S)
    assert seen_again == seen


def test_each_run_has_its_own_changes(registry, tmp_path):
    """The second run begins with what the first one ended with, and its file says so."""
    file = tmp_path / "run.mcap"
    graph, seen = watched(recording_graph(text(2), file, ["numbers"], registry=registry), registry)
    graph.set_options("Scale_2", {"factor": 7}, at=100)
    graph.run(timeout=PATIENCE_S)
    for into in seen.values():
        into.clear()
    graph.run(timeout=PATIENCE_S)
    assert [int(one.at) for one in changes_in(file)] == [int(penstock.Timestamp.UNSTARTED)]
    again, seen_again = watched(replay_graph(None, file, registry=registry), registry)
    replay_changes(again, file)
    again.run(timeout=PATIENCE_S)
    assert seen_again == seen


def test_a_cut_file_keeps_its_changes_and_so_does_the_repaired_one(registry, tmp_path):
    file = tmp_path / "run.mcap"
    graph, _ = watched(recording_graph(text(2), file, ["numbers"], registry=registry), registry)
    graph.set_options("Scale_2", {"factor": 7}, at=100)
    graph.set_options("wide", {"factor": 7})
    graph.run(timeout=PATIENCE_S)
    whole = changes_in(file)
    assert len(whole) == 2
    data = file.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) * 2 // 3])
    assert changes_in(cut) == whole
    assert not repair(cut).was_whole
    assert changes_in(cut) == whole


def test_a_change_that_is_none_names_the_file(registry, tmp_path):
    from mcap.writer import Writer

    file = tmp_path / "odd.mcap"
    with file.open("wb") as out:
        writer = Writer(out)
        writer.start()
        writer.add_metadata("penstock/change", {"node": "n"})
        writer.finish()
    with pytest.raises(InvalidArgumentError, match=r"odd.mcap: .* is no change of a node: KeyError"):
        changes_in(file)


def test_a_graph_without_changes_has_none(registry, tmp_path):
    file = tmp_path / "run.mcap"
    graph, _ = watched(recording_graph(text(2), file, ["numbers"], registry=registry), registry)
    graph.run(timeout=PATIENCE_S)
    assert changes_in(file) == ()
    assert replay_changes(graph, file) == ()
    assert Packet(1).payload == 1


def test_the_command_replays_the_changes(tmp_path):
    """A graph of a calculator that a module brings: recorded in Python, replayed by the command."""
    (tmp_path / "brought.py").write_text(BROUGHT, encoding="utf-8")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import brought
from pathlib import Path
import penstock
from penstock_record import recording_graph
graph = penstock.CalculatorGraph(recording_graph({BROUGHT_GRAPH!r}, Path("run.mcap"), ["numbers", "out"]))
graph.set_options("times", {{"factor": 5}}, at=20)
graph.run({{"count": 40}})
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=PATIENCE_S)
    done = command(tmp_path, "replay", "run.mcap", "--from", "numbers", "--record", "again.mcap", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    differences = command(tmp_path, "diff", "run.mcap", "again.mcap", imports=False)
    assert (differences.returncode, differences.stderr) == (0, "the packets are the same\n")
    data = (tmp_path / "run.mcap").read_bytes()
    (tmp_path / "run.mcap").write_bytes(data.replace(b"penstock/change", b"penstock/chance"))
    command(tmp_path, "replay", "run.mcap", "--from", "numbers", "--record", "other.mcap", "-q")
    assert command(tmp_path, "diff", "run.mcap", "other.mcap", imports=False).returncode == 1


BROUGHT = """
import attrs
import penstock

@attrs.frozen
class TimesOptions:
    factor: int = 1

@penstock.register_calculator
class Times(penstock.Calculator):
    Options = TimesOptions

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)

    def open(self, cc):
        self.options_changed(cc)

    def options_changed(self, cc):
        self.factor = cc.options(TimesOptions).factor

    def process(self, cc):
        cc.output.add(cc.input.payload * self.factor, cc.input_timestamp)
"""
BROUGHT_GRAPH = """
output_stream: "out" input_side_packet: "count"
node { calculator: "CountingSourceCalculator" input_side_packet: "MAX_COUNT:count" output_stream: "numbers" }
node { calculator: "Times" name: "times" input_stream: "numbers" output_stream: "out" }
"""


def command(directory, name, *arguments, imports=True):
    more = ["--import", "brought"] if imports else []
    return subprocess.run(
        [sys.executable, "-m", "penstock_cli", name, *arguments, *more],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(directory)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
