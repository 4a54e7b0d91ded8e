"""Files in Perfetto's own format, parsed with Perfetto's schema and compared with the same trace as JSON."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from penstock import Packet
from penstock.errors import GraphRunError
from penstock_testing import calculator
from penstock_views.traces import ChromeTracer

TIMEOUT = 20


@pytest.fixture(scope="module")
def schema():
    """Return Perfetto's message `Trace`.

    The schema is in the generated module of the package, which refuses to be imported where the protobuf
    runtime is older than what generated it; the schema itself does not depend on that.
    """
    package = importlib.util.find_spec("perfetto")
    if package is None:
        pytest.skip("Perfetto's schema is not installed: pip install perfetto")
    (folder,) = package.submodule_search_locations
    file = Path(folder) / "protos" / "perfetto" / "trace" / "perfetto_trace_pb2.py"
    (serialized,) = [
        call.args[0].value
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "AddSerializedFile"
    ]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(descriptor_pb2.FileDescriptorProto.FromString(serialized))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perfetto.protos.Trace"))


class Read:
    """What a file says, with names for numbers, as Perfetto reads it."""

    def __init__(self, trace):
        names, notes = {}, {}
        self.tracks, self.slices, self.instants, self.counts = {}, [], [], []
        self.starts, self.ends = [], []
        began = {}
        assert trace.packet[0].sequence_flags == 1
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            names.update((one.iid, one.name) for one in packet.interned_data.event_names)
            notes.update((one.iid, one.name) for one in packet.interned_data.debug_annotation_names)
            if packet.HasField("track_descriptor"):
                described = packet.track_descriptor
                assert described.uuid not in self.tracks
                self.tracks[described.uuid] = described
                continue
            event = packet.track_event
            assert event.track_uuid in self.tracks
            said = {notes[one.name_iid]: one for one in event.debug_annotations}
            if event.type == 1:
                began[event.track_uuid] = (packet.timestamp, names[event.name_iid], said)
                self.starts += [(flow, names[event.name_iid]) for flow in event.flow_ids]
                self.ends += [(flow, names[event.name_iid]) for flow in event.terminating_flow_ids]
            elif event.type == 2:
                at, name, said = began.pop(event.track_uuid)
                self.slices.append((name, event.track_uuid, at, packet.timestamp, said))
            elif event.type == 3:
                self.instants.append((names[event.name_iid], event.track_uuid, packet.timestamp, said))
            else:
                self.counts.append((event.track_uuid, packet.timestamp, event.counter_value))
        assert not began


Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Join = calculator(name="Join", offset=0)


def fail(cc):
    if cc.input.payload == 4:
        raise ValueError("no fours")


Fails = calculator(fail, name="Fails", offset=0)


@pytest.fixture
def both(make, tmp_path, schema):
    """Run a graph; return its trace as `Read`, and the events of the same trace as JSON."""
    tracer = ChromeTracer()
    graph = make([(Pass, "in", "a"), (Pass, "a", "b"), (Join, "A:a B:b"), (Fails, "b")], "in")
    graph.set_tracer(tracer)
    graph.start_run()
    for i in range(4):
        graph.add_packet_to_input_stream("in", Packet(i), i)
        graph.wait_until_idle(TIMEOUT)
    graph.add_packet_to_input_stream("in", Packet(4), 4)
    with pytest.raises(GraphRunError, match="no fours"):
        graph.wait_until_done(TIMEOUT)
    written = tracer.write(tmp_path / "t.pftrace")
    tracer.write(tmp_path / "t.json")
    data = written.path.read_bytes()
    assert written.size == len(data)
    return Read(schema.FromString(data)), json.loads((tmp_path / "t.json").read_text())["traceEvents"]


def test_slices_are_those_of_the_json_file(both):
    read, events = both
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    wanted = Counter(
        (
            event["name"],
            names[event["tid"]],
            round(event["ts"] * 1000),
            round((event["ts"] + event["dur"]) * 1000),
        )
        for event in events
        if event["ph"] == "X"
    )
    found = Counter((name, read.tracks[track].name, at, end) for name, track, at, end, _ in read.slices)
    assert found == wanted
    assert len(found) > 20


def test_each_arrow_is_a_flow_from_its_writer_to_its_reader(both):
    read, events = both
    slices = [event for event in events if event["ph"] == "X"]

    def slice_at(arrow):
        return next(
            one["name"]
            for one in slices
            if one["tid"] == arrow["tid"] and one["ts"] <= arrow["ts"] <= one["ts"] + one["dur"]
        )

    starts = {event["id"]: slice_at(event) for event in events if event["ph"] == "s"}
    wanted = Counter((starts[event["id"]], slice_at(event)) for event in events if event["ph"] == "f")
    writers = dict(read.starts)
    assert len(writers) == len(read.starts)  # no number stands for two packets
    assert Counter((writers[flow], reader) for flow, reader in read.ends) == wanted
    assert sum(wanted.values()) > 15


def test_errors_counters_and_timestamps_are_there(both):
    read, events = both
    (error,) = [one for one in read.instants if one[0].startswith("error in Fails")]
    assert "no fours" in error[3]["error"].string_value
    at = {
        said["timestamp"].int_value
        for name, *_, said in read.slices
        if name == "Join" and "timestamp" in said
    }
    assert at >= {0, 1, 2, 3}
    wanted = Counter((event["name"], event["args"]["packets"]) for event in events if event["ph"] == "C")
    assert Counter((read.tracks[track].name, value) for track, _, value in read.counts) == wanted
    (process,) = [one for one in read.tracks.values() if one.HasField("process")]
    assert process.process.process_name.endswith(f"run {process.process.pid}")
    assert all(one.parent_uuid == process.uuid for one in read.tracks.values() if one is not process)


def test_a_packet_whose_write_was_lost_has_no_flow(make, tmp_path, schema):
    tracer = ChromeTracer(capacity=3)
    graph = make([(Pass, "in", "a"), (Pass, "a", "b")], "in", threads=0)
    graph.set_tracer(tracer)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("x"), 0)
    graph.close(TIMEOUT)
    written = tracer.write(tmp_path / "t.pftrace")
    read = Read(schema.FromString(written.path.read_bytes()))
    assert written.lost > 0
    assert len(read.ends) == written.arrows < 2
    assert set(read.ends) <= {(flow, reader) for flow, reader in read.ends if flow in dict(read.starts)}


def test_numbers_of_all_sizes_are_written_as_the_schema_reads_them(schema):
    from penstock_views.traces.perfetto import PerfettoPackets

    values = [0, 1, 127, 128, 2**31, 2**62, -1, -(2**62)]
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "g"}}]
    events += [
        {"ph": "i", "name": "n" * (i * 60), "pid": 1, "ts": i, "args": {"timestamp": value, "text": "ü" * i}}
        for i, value in enumerate(values)
    ]
    read = Read(schema.FromString(b"".join(PerfettoPackets({}).of(events))))
    assert [said["timestamp"].int_value for *_, said in read.instants] == values
    assert [said["text"].string_value for *_, said in read.instants] == ["ü" * i for i in range(len(values))]
    assert [len(name) for name, *_ in read.instants] == [i * 60 for i in range(len(values))]


MILLION = """
import resource, sys, time
from penstock.tracing import TracedRun, TracedStep
from penstock_views.traces import ChromeTracer
count = int(sys.argv[1])
tracer = ChromeTracer(capacity=count)
run = TracedRun(1, "g", 0)
tracer.run_started(run)
for i in range(count // 2):
    for node, reads, writes in (("A", (), (("a", i, i),)), ("B", (("a", i, i),), (("b", i, i),))):
        began = i * 1000 + 400 * (node == "B")
        step = TracedStep(run, node, node, "process", i, 1, reads, (), began)
        step.outputs, step.ended_ns = writes, began + 300
        tracer.step_ended(step)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
written = tracer.write(sys.argv[2])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time() - start, (after - before) / 1024, before / 1024, written.size, written.arrows)
"""


@pytest.mark.timing
def test_a_file_is_written_in_little_time_and_memory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MILLION, "100000", str(tmp_path / "t.pftrace")],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, megabytes, _, size, arrows = map(float, done.stdout.split())
    assert (seconds < 4, megabytes < 100, size < 12e6, arrows) == (True, True, True, 50_000), done.stdout
