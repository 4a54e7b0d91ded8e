"""`RecordingRows`: the packets of a recording by rows, in any order."""

from __future__ import annotations

import random

import pytest

import penstock
from penstock import Timestamp
from penstock.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from penstock.packs import default_registry
from penstock_record import RecordingReader, RecordingRows, recording_graph
from penstock_record.recording_writer import PACKET

GRAPH = """
input_stream: "a" input_stream: "b"
node {
  calculator: "PassThroughCalculator"
  input_stream: "a" input_stream: "b" output_stream: "a2" output_stream: "b2"
}
"""


def recorded(path, packets):
    """Record (stream, timestamp, payload)s."""
    graph = penstock.CalculatorGraph(recording_graph(GRAPH, path, ["a", "b"]))
    graph.start_run()
    for stream, timestamp, payload in packets:
        graph.add_packet_to_input_stream(stream, penstock.Packet(payload, timestamp))
    graph.close(30)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.mcap"


@pytest.mark.parametrize("seed", range(3))
def test_any_row_has_what_the_reader_has_there_whatever_the_order(path, seed) -> None:
    dice = random.Random(seed)  # noqa: S311  # for a test
    packets = [
        (stream, timestamp, {"text": f"{stream}{timestamp}", "filling": "x" * dice.randrange(3000)})
        for timestamp in sorted(dice.sample(range(-50, 500), 200))
        for stream in ("a", "b")
        if dice.random() < 0.7
    ]
    recorded(path, packets)
    with RecordingReader(path, default_registry()) as reader:
        wanted: dict[int, dict[str, object]] = {}
        for event in reader.events():
            if event.kind == PACKET:
                wanted.setdefault(event.timestamp, {})[event.stream] = event.payload
    with RecordingRows(path, default_registry()) as rows:
        order = list(range(len(rows)))
        dice.shuffle(order)
        found = {rows.timestamps[number]: rows.row(number) for number in order}

    assert found == wanted
    assert list(rows.timestamps) == sorted(wanted)
    assert {(stream, stamp): found[stamp][stream] for stream, stamp, _ in packets} == {
        (stream, stamp): payload for stream, stamp, payload in packets
    }


def test_special_timestamps_and_streams_that_are_left_out(path) -> None:
    recorded(path, [("a", Timestamp.PRESTREAM, 1), ("b", 0, 2), ("b", 7, 4)])
    with (
        RecordingRows(path, default_registry()) as both,
        RecordingRows(path, default_registry(), ["b"]) as one,
    ):
        assert both.timestamps == (int(Timestamp.PRESTREAM), 0, 7)
        assert [both.row(number) for number in (2, 0, 1)] == [{"b": 4}, {"a": 1}, {"b": 2}]
        assert one.streams == ("b",)
        assert [one.row(number) for number in range(len(one))] == [{"b": 2}, {"b": 4}]


def test_what_cannot_be_read_is_refused_and_no_file_stays_open(path, tmp_path) -> None:
    recorded(path, [("a", i, {"number": i, "filling": "x" * 500}) for i in range(1000)])
    with pytest.raises(NotFoundError, match=r"the recording's rows have no stream 'c'; there are: 'a', 'b'"):
        RecordingRows(path, default_registry(), ["c"])
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(path.read_bytes()[:-4000])
    with pytest.raises(
        InvalidArgumentError,
        match=r"rows of .* cannot be read: it is broken or cut \(.*\); `penstock repair .*cut.mcap`",
    ):
        RecordingRows(cut, default_registry())
    none = tmp_path / "none.mcap"
    none.write_bytes(b"no recording")
    with pytest.raises(InvalidArgumentError, match=r"none\.mcap"):
        RecordingRows(none, default_registry())
    rows = RecordingRows(path, default_registry())
    with pytest.raises(IndexError):
        rows.row(1000)
    rows.close()
    rows.close()
    with pytest.raises(FailedPreconditionError, match="the recording's rows were closed; open them again"):
        rows.row(0)
