"""Files: what they keep, cut and broken ones, kills, full disks, and the commands."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest
from mcap.reader import make_reader

import penstock
from penstock import Packet, Timestamp
from penstock.errors import GraphRunError, InvalidArgumentError, NotFoundError, ResourceExhaustedError
from penstock.packs import default_registry
from penstock_record import RecordingReader, recording_graph, replay_graph
from penstock_record.diff import differences
from penstock_record.options import Compression, Pictures
from penstock_record.recording_writer import DONE, HEADER, PACKET, SETTLED, SIDE, RecordingWriter
from penstock_record.repair import repair

pytestmark = pytest.mark.heavy

TIMEOUT = 30.0
PASSING = """input_stream: "in" output_stream: "out"
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""


def events(file, **more):
    with RecordingReader(file, default_registry(), **more) as reader:
        return [(one.kind, one.stream, one.timestamp, one.payload) for one in reader.events()]


def run(config, feed=(), headers=None, sides=None):
    """Run a graph on packets of its input `in`; return what comes out of `out`."""
    graph = penstock.CalculatorGraph(config)
    got = []
    graph.observe_output_stream("out", lambda _, packet: got.append((int(packet.timestamp), packet.payload)))
    graph.start_run(sides, stream_headers=headers)
    for timestamp, payload in feed:
        graph.add_packet_to_input_stream("in", Packet(payload, timestamp))
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    return got


@pytest.fixture
def file(tmp_path):
    return tmp_path / "r.mcap"


# --- what is kept ----------------------------------------------------------------------------------


def test_packets_headers_side_packets_and_the_graph_are_kept(file):
    graph = f'{PASSING} input_side_packet: "gain"'
    config = recording_graph(graph, file, ["in", "out"], side_packets=["gain"])
    run(config, [(-5, "a"), (7, b"b")], headers={"in": {"rate": 30}}, sides={"gain": 1.5})
    found = events(file)
    assert found[0] == (SIDE, "gain", 0, 1.5)
    assert [one for one in found if one[0] == HEADER] == [
        (HEADER, "in", 0, {"rate": 30}),
        (HEADER, "out", 0, {"rate": 30}),
    ]
    assert [one[2:] for one in found if one[0] == PACKET and one[1] == "in"] == [(-5, "a"), (7, b"b")]
    assert {one[1] for one in found if one[0] == DONE} == {"in", "out"}
    with RecordingReader(file, default_registry()) as reader:
        assert "PassThroughCalculator" in reader.about.graph
        assert reader.about.more["penstock"] == penstock.__version__


def test_the_header_of_a_stream_without_packets_is_kept(file):
    run(recording_graph(PASSING, file, ["in"]), [], headers={"in": "head"})
    assert events(file) == [(HEADER, "in", 0, "head"), (DONE, "in", 0, None)]


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM, Timestamp.MIN, Timestamp.MAX])
def test_special_timestamps_come_back(file, stamp):
    assert run(recording_graph(PASSING, file, ["in"]), [(stamp, "x")]) == [(int(stamp), "x")]
    assert run(replay_graph(PASSING, file)) == [(int(stamp), "x")]


def test_settled_times_are_kept_and_replayed(file):
    graph = penstock.CalculatorGraph(recording_graph(PASSING, file, ["in"]))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("x", 3))
    graph.wait_until_idle(TIMEOUT)
    graph.set_input_stream_timestamp_bound("in", 11)
    graph.wait_until_idle(TIMEOUT)
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    assert (SETTLED, "in", 10, None) in events(file)

    seen = []
    again = penstock.CalculatorGraph(replay_graph(PASSING, file))
    again.observe_output_stream("out", lambda _, packet: seen.append(int(packet.timestamp)), True)
    again.run()
    assert seen == [3, 10]


def test_a_stream_is_settled_in_the_file_only_where_it_was(file):
    two = """input_stream: "in" input_stream: "other" output_stream: "out"
        node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""
    graph = penstock.CalculatorGraph(recording_graph(two, file, ["in", "other"]))
    graph.start_run()
    for timestamp in (1, 2, 3):
        graph.add_packet_to_input_stream("in", Packet("x", timestamp))
        graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)
    assert [one for one in events(file) if one[1] == "other" and one[0] == SETTLED] == []


def test_a_node_between_two_played_streams_does_not_run(file):
    run(recording_graph(PASSING, file, ["in", "out"]), [(1, "x")])
    config = replay_graph(PASSING, file)
    assert [node.calculator for node in config.node] == ["McapSourceCalculator"]
    assert run(config) == [(1, "x")]


def test_a_recording_is_an_mcap_file_whose_channels_hold_payloads_alone(file):
    run(recording_graph(PASSING, file, ["in"]), [(1000, {"a": 1}), (2000, {"a": 2})])
    with file.open("rb") as opened:
        reader = make_reader(opened)
        rows = [
            (channel.topic, schema.encoding, json.loads(message.data), message.log_time)
            for schema, channel, message in reader.iter_messages(topics=["in"])
        ]
        assert reader.get_summary().statistics.message_count == 3
    assert rows == [("in", "jsonschema", {"a": 1}, 1_000_000), ("in", "jsonschema", {"a": 2}, 2_000_000)]


def test_files_with_images_are_not_compressed_unless_asked(tmp_path):
    import numpy as np

    from penstock_formats import ImageFrame

    class GrayCalculator(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set(ImageFrame)
            cc.set_timestamp_offset(0)

        def process(self, cc):
            cc.outputs[0].add(ImageFrame(np.zeros((100, 100), np.uint8)), cc.input_timestamp)

    registry = default_registry().child()
    registry.add("calculator", "GrayCalculator", GrayCalculator)
    graph = PASSING.replace("PassThroughCalculator", "GrayCalculator")
    sizes = []
    for streams, compression in ((["out"], None), (["out"], Compression.ZSTD), (["in"], None)):
        file = tmp_path / f"{len(sizes)}.mcap"
        config = recording_graph(
            graph, file, streams, compression=compression, pictures=Pictures.RAW, registry=registry
        )
        made = penstock.CalculatorGraph(config, registry=registry)
        made.start_run()
        made.add_packet_to_input_stream("in", Packet("0" * 10_000, 1))
        made.close(TIMEOUT)
        sizes.append(file.stat().st_size)
        assert len([one for one in events(file) if one[0] == PACKET]) == 1
    assert sizes[0] > 10_000
    assert max(sizes[1:]) < 6000


def test_a_payload_without_a_codec_ends_the_run_and_names_its_stream(file):
    with pytest.raises(GraphRunError, match=r"at 4: stream 'in': no codec takes the type builtins\.set"):
        run(recording_graph(PASSING, file, ["in"]), [(4, {1})])


FULL = """
import logging, os, resource, sys
from pathlib import Path
import penstock
from penstock_record import recording_graph
logging.basicConfig()
config = recording_graph(sys.argv[2], Path(sys.argv[1]), ["in"])
if sys.argv[3]:
    config.node[-1].failure.on_error = 1
got = []
graph = penstock.CalculatorGraph(config)
graph.observe_output_stream("out", lambda _, packet: got.append(packet.payload))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))  # then no file can grow, as on a full disk
graph.start_run()
for i in range(200):
    graph.add_packet_to_input_stream("in", penstock.Packet(os.urandom(4000), i))
graph.close_all_input_streams()
graph.wait_until_done(30)
print(len(got), [str(drop.reason) for drop in graph.ledger().drops])
"""


def test_a_stream_whose_type_has_no_codec_is_refused_before_the_run(file):
    class Thing:
        pass

    class ThingsCalculator(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set(Thing)

        def process(self, cc):
            cc.outputs[0].add(Thing(), cc.input_timestamp)

    registry = default_registry().child()
    registry.add("calculator", "ThingsCalculator", ThingsCalculator)
    graph = PASSING.replace("PassThroughCalculator", "ThingsCalculator")
    with pytest.raises(
        InvalidArgumentError,
        match=r"the recording's graph has stream 'out' of type .*Thing, which no codec takes",
    ):
        recording_graph(graph, file, ["in", "out"], registry=registry)
    assert len(recording_graph(graph, file, ["in"], registry=registry).node) == 2


def run_on_a_full_disk(file, policy=""):
    return subprocess.run(
        [sys.executable, "-B", "-c", FULL, str(file), PASSING, policy],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_disk_that_is_full_fails_the_run_and_what_was_saved_plays(file):
    done = run_on_a_full_disk(file)
    size = file.stat().st_size
    assert f"ResourceExhaustedError: the recording {file} ends at {size} bytes: File too" in done.stderr
    assert "200" not in done.stdout
    with RecordingReader(file) as reader:
        events = [event for event in reader.events() if event.kind == PACKET]
    assert 40 < len(events) < 80
    assert repair(file).was_whole


def test_a_disk_that_is_full_from_the_beginning_is_told_with_the_path(file):
    full = FULL.replace("(300_000, 300_000)", "(1, 1)")
    done = subprocess.run(
        [sys.executable, "-B", "-c", full, str(file), PASSING, ""],
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"ResourceExhaustedError: the recording {file} cannot be begun: File too large; make room"
    assert said in done.stderr


def test_with_skip_the_run_goes_on_and_the_ledger_counts_what_is_not_recorded(file):
    done = run_on_a_full_disk(file, "SKIP")
    assert done.stdout.split()[0] == "200"
    assert "skipped: ResourceExhaustedError" in done.stdout
    with RecordingReader(file) as reader:
        assert len([event for event in reader.events() if event.kind == PACKET]) > 40


def test_a_file_that_cannot_be_made_fails_the_start(tmp_path):
    with pytest.raises(GraphRunError, match=r"no_such"):
        run(recording_graph(PASSING, tmp_path / "no_such" / "r.mcap", ["in"]))


# --- graphs ----------------------------------------------------------------------------------------


TWO = """input_stream: "in" output_stream: "out" input_side_packet: "path"
node { calculator: "SidePacketToStreamCalculator" input_stream: "TICK:in" input_side_packet: "path"
       output_stream: "AT_TICK:words" }
node { calculator: "PassThroughCalculator" input_stream: "words" output_stream: "out" }"""


def test_nodes_that_only_made_what_is_played_are_left_out(file):
    graph = penstock.CalculatorGraph(recording_graph(TWO, file, ["words"]))
    graph.start_run({"path": "p"})
    graph.add_packet_to_input_stream("in", Packet(0, 0))
    graph.close(TIMEOUT)
    config = replay_graph(None, file)
    assert [node.calculator for node in config.node] == ["PassThroughCalculator", "McapSourceCalculator"]
    assert (list(config.input_stream), list(config.input_side_packet)) == ([], [])
    assert run(config) == [(0, "p")]


def test_streams_that_are_not_there_are_refused_with_near_names(file):
    with pytest.raises(NotFoundError, match=r"graph has no stream 'wrods' \(did you mean 'words'\?\)"):
        recording_graph(TWO, file, ["wrods"])
    with pytest.raises(NotFoundError, match="the graph has no input side packet 'pth'"):
        recording_graph(TWO, file, ["in"], side_packets=["pth"])
    run(recording_graph(PASSING, file, ["in"]), [(1, 1)])
    with pytest.raises(NotFoundError, match="has no stream 'out' for a recording graph to play; it has in"):
        replay_graph(PASSING, file, ["out"])
    with pytest.raises(NotFoundError, match=r"the recording's graph has none of the streams of .*: in"):
        replay_graph('input_stream: "x" node { calculator: "PassThroughCalculator" input_stream: "x" '
                     'output_stream: "y" }', file)  # fmt: skip


def test_a_node_that_writes_what_is_needed_and_not_recorded_is_named(file):
    graph = """input_stream: "in" output_stream: "out"
        node { calculator: "PassThroughCalculator" input_stream: "in" input_stream: "in"
               output_stream: "a" output_stream: "b" name: "both" }
        node { calculator: "PacketInnerJoinCalculator" input_stream: "a" input_stream: "b"
               output_stream: "out" output_stream: "more" }"""
    run(recording_graph(graph, file, ["a"]), [(1, 1)])
    with pytest.raises(
        InvalidArgumentError, match=r"node 'both' would be replaced .* writes b, which is needed"
    ):
        replay_graph(graph, file)


def test_a_side_packet_of_a_replaced_node_that_is_needed_is_named(file):
    graph = """input_stream: "in" output_stream: "out"
        node { calculator: "SidesCalculator" input_stream: "in"
               output_stream: "a" output_side_packet: "side" }
        node { calculator: "SidePacketToStreamCalculator" input_stream: "TICK:a" input_side_packet: "side"
               output_stream: "AT_TICK:out" }"""

    class SidesCalculator(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()
            cc.output_side_packets[0].set_any()

    registry = default_registry().child()
    registry.add("calculator", "SidesCalculator", SidesCalculator)
    written(file, [(1, 1)])
    with pytest.raises(
        InvalidArgumentError, match=r"'SidesCalculator' would be replaced .* writes side, which"
    ):
        replay_graph(graph, file, registry=registry)


@pytest.mark.timing
def test_speed_one_takes_as_long_as_the_recording(file):
    writer = RecordingWriter(file, default_registry(), ["in"], {"graph": PASSING})
    writer.packet(0, 1, "a")
    time.sleep(0.3)  # the time that is to be kept
    writer.packet(0, 2, "b")
    writer.done(0)
    writer.close()
    began = time.monotonic()
    assert run(replay_graph(None, file, speed=1.0)) == [(1, "a"), (2, "b")]
    paced = time.monotonic() - began
    began = time.monotonic()
    run(replay_graph(None, file))
    assert paced > 0.25 > time.monotonic() - began


# --- cut and broken files --------------------------------------------------------------------------


@pytest.fixture
def long(file):
    """Record 3,000 packets of two streams."""
    writer = RecordingWriter(file, default_registry(), ["a", "b"], {"graph": PASSING})
    chance = random.Random(5)  # noqa: S311  # a test's payloads
    for i in range(3000):
        writer.packet(i % 2, i, chance.randbytes(50))
    writer.done(0)
    writer.done(1)
    writer.close()
    return file


@pytest.mark.parametrize("part", [0.02, 0.3, 0.5, 0.9, 0.999])
def test_a_cut_file_is_refused_with_the_cure_and_repaired(long, tmp_path, part):
    whole = [one for one in events(long) if one[0] == PACKET]
    cut = tmp_path / "cut.mcap"
    data = long.read_bytes()
    cut.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(InvalidArgumentError, match=r"cut\.mcap: .*`penstock repair .*cut\.mcap` saves"):
        events(cut)

    done = repair(cut)

    saved = [one for one in events(cut) if one[0] == PACKET]
    assert saved == whole[: len(saved)]
    assert (len(saved), done.was_whole) == (done.packets, False)
    lost = sum(len(one[3]) for one in whole[len(saved) :])
    assert lost <= (1 - part) * len(data) + 2 * 64 * 1024
    assert repair(cut).was_whole
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_what_is_no_recording_is_refused_and_stays(tmp_path):
    other = tmp_path / "other.mcap"
    other.write_bytes(b"no recording at all")
    for call in (lambda: events(other), lambda: repair(other)):
        with pytest.raises(InvalidArgumentError, match=r"other\.mcap"):
            call()
    assert other.read_bytes() == b"no recording at all"
    assert list(tmp_path.iterdir()) == [other]


def test_broken_files_are_typed_errors(long):
    data = long.read_bytes()
    chance = random.Random(7)  # noqa: S311  # a test's breakage
    errors = 0
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        long.write_bytes(broken)
        try:
            events(long)
        except (InvalidArgumentError, ResourceExhaustedError):
            errors += 1
        try:
            repair(long)
        except InvalidArgumentError:
            continue
        events(long)  # what was repaired can be read
    assert errors > 100


RECORDS = """
import sys
from pathlib import Path
from penstock.packs import default_registry
from penstock_record.recording_writer import RecordingWriter
writer = RecordingWriter(Path(sys.argv[1]), default_registry(), ["n"], {})
i = 0
while True:
    writer.packet(0, i, i)
    i += 1
    if i % 100 == 0:
        print(i, flush=True)
"""


def kill_and_repair(file, chance):
    """Kill a process that records; return how many packets it had written, and how many were saved."""
    with subprocess.Popen([sys.executable, "-c", RECORDS, str(file)], stdout=subprocess.PIPE) as process:
        wanted = chance.randrange(100, 20_000)
        written = 0
        while written < wanted:
            written = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
        written = int(rest[-1]) if rest else written
    done = repair(file)
    found = [one[3] for one in events(file) if one[0] == PACKET]
    assert found == list(range(len(found)))
    assert len(found) == done.packets
    return written, len(found)


def check_kills(file, count):
    chance = random.Random(11)  # noqa: S311  # a test's moments
    for _ in range(count):
        written, saved = kill_and_repair(file, chance)
        assert written - saved <= 64 * 1024 / 30  # a packet has at least 30 bytes in a chunk


def test_what_a_killed_process_has_recorded_is_saved(file):
    check_kills(file, 4)


def test_small_packets_of_a_quarter_of_a_second_are_on_the_disk(file, tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("penstock_record.recording_writer.time.monotonic", lambda: clock[0])
    with closing(RecordingWriter(file, default_registry(), ["n"], {})) as writer:
        for i in range(200):  # one each 50 ms; all of them have less bytes than a chunk
            clock[0] += 0.05
            writer.packet(0, i, i)
            if i % 19 == 18:
                killed = tmp_path / "killed.mcap"
                killed.write_bytes(file.read_bytes())
                assert i + 1 - repair(killed).packets <= 6, i
    assert len(events(file)) == 200


def test_many_small_packets_too(file, tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("penstock_record.recording_writer.time.monotonic", lambda: clock[0])
    with closing(RecordingWriter(file, default_registry(), ["n"], {}, Compression.NONE)) as writer:
        for i in range(1000):  # 1,000 a second, so that groups are full before they are old
            clock[0] += 0.001
            writer.packet(0, i, i)
        shutil.copy(file, tmp_path / "killed.mcap")
        assert 1000 - repair(tmp_path / "killed.mcap").packets <= 512


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_two_hundred_killed_processes_have_recorded_is_saved(file):
    check_kills(file, 200)


# --- diff ------------------------------------------------------------------------------------------


def written(file, packets, header=None):
    writer = RecordingWriter(file, default_registry(), ["a"], {})
    if header is not None:
        writer.header(0, header)
    for timestamp, payload in packets:
        writer.packet(0, timestamp, payload)
    writer.close()
    return file


@pytest.mark.parametrize(
    ("one", "other", "tolerance", "words"),
    [
        ([(1, 5)], [(1, 5)], 0, None),
        ([(1, 5)], [(1, 6)], 0, "a packet at 1: 5 and 6"),
        ([(1, 5)], [(1, 6)], 1, None),
        ([(1, 5)], [(2, 5)], 0, "the first recording has a packet at 1, the second a packet at 2"),
        ([(1, 5)], [(1, 5), (2, 6)], 0, "only the second recording has a packet at 2, and 0 more behind it"),
        ([(1, 5)], [(1, 5.0)], 0, "a packet at 1: int and float"),
        ([(1, float("nan"))], [(1, float("nan"))], 0, None),
        ([(1, True)], [(1, False)], 3, "a packet at 1: True and False"),
    ],
)
def test_the_first_difference_of_a_stream_is_told(tmp_path, one, other, tolerance, words):
    files = written(tmp_path / "1.mcap", one), written(tmp_path / "2.mcap", other)
    found = differences(*files, tolerances={"a": tolerance})
    assert [difference.words for difference in found] == ([] if words is None else [words])


def test_images_differ_by_elements_and_within_a_tolerance(tmp_path):
    import numpy as np

    from penstock_formats import ImageFrame

    pixels = np.zeros((4, 5, 3), np.uint8)
    other = pixels.copy()
    other[2, 3, 1] = 2
    files = [
        written(tmp_path / f"{i}.mcap", [(1, ImageFrame(array))]) for i, array in enumerate((pixels, other))
    ]
    (found,) = differences(*files)
    assert found.words == "a packet at 1: 1 of 60 elements differ, first at (2, 3, 1): 0 and 2"
    assert differences(*files, tolerances={"a": 2}) == []
    assert len(differences(*files, tolerances={"a": 1})) == 1


def test_arrays_with_the_same_nans_are_the_same(tmp_path):
    import numpy as np

    array = np.array([1.0, np.nan])
    files = [written(tmp_path / f"{i}.mcap", [(1, array)]) for i in range(2)]
    assert differences(*files) == []


def test_headers_and_streams_of_one_recording_alone_are_differences(tmp_path):
    one, other = written(tmp_path / "1.mcap", [], {"rate": 1}), written(tmp_path / "2.mcap", [], {"rate": 2})
    (found,) = differences(one, other)
    assert found.words == "a header: {'rate': 1} and {'rate': 2}"
    more = RecordingWriter(tmp_path / "3.mcap", default_registry(), ["a", "b"], {})
    more.header(0, {"rate": 1})
    more.close()
    (found,) = differences(one, tmp_path / "3.mcap")
    assert (found.stream, found.words) == ("b", f"only {tmp_path / '3.mcap'} has it")
    with pytest.raises(NotFoundError, match="no diff of stream 'b': not both recordings have it"):
        differences(one, other, streams=["b"])


# --- the commands ----------------------------------------------------------------------------------

COUNTS = """output_stream: "out" input_side_packet: "count"
node { calculator: "CountingSourceCalculator" input_side_packet: "MAX_COUNT:count" output_stream: "n" }
node { calculator: "PassThroughCalculator" input_stream: "n" output_stream: "out" }"""


@pytest.fixture
def command(tmp_path):
    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "penstock_cli", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    (tmp_path / "g.pbtxt").write_text(COUNTS, encoding="utf-8")
    return command


def test_a_recording_of_a_graph_with_a_subgraph_beside_is_replayed_in_its_folder(command, tmp_path):
    outer = COUNTS.replace("PassThroughCalculator", "BesideRecordedSubgraph")
    (tmp_path / "outer.pbtxt").write_text(outer, encoding="utf-8")
    (tmp_path / "inner.pbtxt").write_text(
        'type: "BesideRecordedSubgraph" input_stream: "a" output_stream: "b" '
        'node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }',
        encoding="utf-8",
    )

    recorded = command("record", "outer.pbtxt", "--side", "count=3", "-o", "run.mcap")
    replayed = command("replay", "run.mcap")

    assert (recorded.returncode, replayed.returncode) == (0, 0), (recorded.stderr, replayed.stderr)


def test_record_replay_diff_and_repair(command, tmp_path):
    done = command(
        "record", "g.pbtxt", "-o", "a.mcap", "--all", "--keep", "count", "--side", "count=30", "-q"
    )
    assert (done.returncode, done.stderr) == (0, "")
    done = command("replay", "a.mcap", "--from", "n", "--record", "b.mcap", "--no-progress")
    assert done.returncode == 0, done.stderr
    assert "30 packets on 'n'" in done.stdout
    assert "recording: b.mcap (" in done.stderr
    done = command("diff", "a.mcap", "b.mcap")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "the packets are the same\n")
    command("record", "g.pbtxt", "-o", "c.mcap", "--streams", "n,out", "--side", "count=31", "-q")
    done = command("diff", "a.mcap", "c.mcap", "--json")
    assert done.returncode == 1
    assert [one["stream"] for one in json.loads(done.stdout)] == ["n", "out"]
    data = (tmp_path / "a.mcap").read_bytes()
    (tmp_path / "a.mcap").write_bytes(data[:-100])
    assert command("diff", "a.mcap", "b.mcap").returncode == 2
    done = command("repair", "a.mcap")
    assert (done.returncode, done.stderr) == (0, "a.mcap has 61 packets\n")
    assert command("diff", "a.mcap", "b.mcap").returncode == 0


def test_a_recording_that_exists_is_replaced_with_force_only_and_said_in_words_of_the_command(
    command, tmp_path
):
    arguments = ("record", "g.pbtxt", "--side", "count=3", "-q")
    assert command(*arguments).returncode == 0
    done = command(*arguments)
    said = "the file exists; name another one, or add --force, which replaces it"
    assert (done.returncode, done.stderr) == (
        2,
        f"Error: the run cannot be recorded in 'run.mcap': {said}\n",
    )
    assert command(*arguments, "--force").returncode == 0


def test_a_recording_without_packets_is_no_success(command, tmp_path):
    writer = RecordingWriter(tmp_path / "a.mcap", default_registry(), ["n"], {})
    cut = (tmp_path / "a.mcap").read_bytes()
    writer.close()
    (tmp_path / "cut.mcap").write_bytes(cut)
    done = command("repair", "cut.mcap")
    assert (
        done.returncode,
        done.stderr.count("cut.mcap: nothing of this run can be saved: no packet was on the disk"),
    ) == (1, 1)
    assert events(tmp_path / "cut.mcap") == []
    done = command("replay", "a.mcap", "g.pbtxt", "--no-progress", "--side", "count=3")
    assert "warning: a.mcap has no packets; nothing is played\n" in done.stderr


PICTURES = """
import numpy as np
import penstock
from penstock_formats import ImageFrame

@penstock.register_calculator
@penstock.calculator
def picture_of(n: int) -> ImageFrame:
    row = np.arange(n, n + 96, dtype=np.uint8)
    return ImageFrame(np.stack([np.tile(row, (64, 1))] * 3, -1))
"""


@pytest.mark.parametrize("kind", ["lossless", "raw", "jpeg", "h264"])
def test_pictures_are_recorded_as_asked_and_a_replay_says_where_they_are_lossy(command, tmp_path, kind):
    if kind in {"jpeg", "h264"}:
        pytest.importorskip("av")
    (tmp_path / "pictures.py").write_text(PICTURES, encoding="utf-8")
    (tmp_path / "p.pbtxt").write_text(
        COUNTS.replace("PassThroughCalculator", "PictureOf")
        .replace('input_stream: "n"', 'input_stream: "N:n"')
        .replace('output_stream: "out" }', 'output_stream: "OUT:out" }')
        + 'node { calculator: "PassThroughCalculator" input_stream: "out" output_stream: "again" }',
        encoding="utf-8",
    )
    of = ("--import", "pictures.py")
    command(
        "record", "p.pbtxt", "--all", "--side", "count=4", "-o", "raw.mcap", "--pictures", "raw", "-q", *of
    )
    done = command(
        "record", "p.pbtxt", "--all", "--side", "count=4", "-o", "r.mcap", "--pictures", kind, "-q", *of
    )
    assert (done.returncode, done.stderr) == (0, "")

    replayed = command("replay", "r.mcap", "--from", "out", "--no-progress", *of)
    differ = command("diff", "raw.mcap", "r.mcap")
    near = command("diff", "raw.mcap", "r.mcap", "--tolerance", "out=60", "--tolerance", "again=60")

    is_lossy = kind in {"jpeg", "h264"}
    assert replayed.returncode == 0, replayed.stderr
    words = f"r.mcap: images were recorded as {kind}, which is lossy; results may differ"
    assert (words in replayed.stderr) == is_lossy
    assert (differ.returncode, near.returncode) == (int(is_lossy), 0)
    sizes = [(tmp_path / name).stat().st_size for name in ("r.mcap", "raw.mcap")]
    assert kind == "raw" or sizes[0] < sizes[1] / 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["record", "g.pbtxt", "--pictures", "gif"],
            2,
            "'gif' is not one of 'lossless', 'raw', 'jpeg', 'h264'",
        ),
        (["record", "g.pbtxt", "--streams", "outt"], 2, "has no stream 'outt' (did you mean 'out'?)"),
        (["record", "g.pbtxt", "--streams", "n", "--all"], 2, "do not go together"),
        (["record", "nosuch.pbtxt"], 4, "does not exist"),
        (["record", "g.pbtxt", "-o", "no/r.mcap"], 4, "there is no directory"),
        (["replay", "nosuch.mcap"], 4, "recording 'nosuch.mcap' does not exist"),
        (["replay", "g.pbtxt"], 2, "g.pbtxt"),
        (["diff", "nosuch.mcap", "g.pbtxt"], 4, "does not exist"),
        (["diff", "g.pbtxt", "g.pbtxt", "--tolerance", "a"], 2, "write it as STREAM=NUMBER"),
        (["repair", "g.pbtxt"], 2, "cannot be repaired: it is no recording of penstock-record"),
    ],
)
def test_wrong_usage_is_said(command, arguments, code, words):
    done = command(*arguments)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
