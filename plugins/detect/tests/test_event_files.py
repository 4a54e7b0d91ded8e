"""Events in files: what is in them, after kills too, and what is refused."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock.access import Access
from penstock.errors import GraphConfigError, GraphRunError
from penstock_detect import ZoneEvent, ZoneEventKind
from penstock_detect.zones.event_files import COLUMNS, open_events

SINK = """
input_stream: "events" input_side_packet: "path"
node { calculator: "EventFileSinkCalculator" input_stream: "EVENTS:events" input_side_packet: "PATH:path"
  node_options { [type.googleapis.com/penstock_detect.EventFileSinkCalculatorOptions] { APPEND } } }
"""


def event(number, **more):
    """Return an event that another number tells apart."""
    return ZoneEvent(
        kind=ZoneEventKind.CROSS, place='the "gate", übel\n', timestamp=number, track=number + 1, label="car",
        x=0.5, y=0.25, direction="in", **more,
    )  # fmt: skip


def write(path, batches, *, append=False, access=None):
    text = SINK.replace("APPEND", "append: true" if append else "")
    with penstock.CalculatorGraph(text, access=access) as graph:
        graph.start_run({"path": path})
        for at, batch in enumerate(batches):
            graph.add_packet_to_input_stream("events", penstock.Packet(batch, at))
        graph.close_all_input_streams()
        graph.wait_until_done(30)


def read(path):
    """Return the events in a file, as JSON has them."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    base = sqlite3.connect(path)
    try:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        base.row_factory = sqlite3.Row
        return [dict(row) for row in base.execute("SELECT * FROM events ORDER BY id")]
    finally:
        base.close()


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".sqlite"])
def test_all_events_are_in_the_file_in_their_order(tmp_path, ending):
    path = tmp_path / f"events{ending}"
    events = [event(0), event(1, speed=3.25), event(2, dwell_us=1_500_000)]

    write(path, [events[:2], [], events[2:]])

    found = read(path)
    for one, row in zip(events, found, strict=True):
        expected = one.as_data()
        if ending == ".csv":
            expected = {name: "" if value is None else str(value) for name, value in expected.items()}
        assert {name: row[name] for name in COLUMNS} == expected
        assert set(row) - {"id", "run"} == set(COLUMNS) == set(one.as_data())


@pytest.mark.parametrize(("ending", "kept"), [(".jsonl", 1), (".csv", 1), (".db", 2)])
def test_a_file_is_replaced_and_a_database_is_added_to(tmp_path, ending, kept):
    path = tmp_path / f"events{ending}"
    write(path, [[event(0)]])

    write(path, [[event(1)]])

    rows = read(path)
    assert [int(row["timestamp"]) for row in rows] == [0, 1][-kept:]
    assert len({row["run"] for row in rows if "run" in row}) == (2 if ending == ".db" else 0)
    write(path, [[event(2)]], append=True)
    assert [int(row["timestamp"]) for row in read(path)] == [*[0, 1][-kept:], 2]


def test_lines_follow_on_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text('{"event":"ent')

    write(path, [[event(7)]], append=True)

    first, second = path.read_text(encoding="utf-8").splitlines()
    assert first == '{"event":"ent'
    assert json.loads(second)["timestamp"] == 7


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import penstock
from pathlib import Path
from test_event_files import SINK, event

graph = penstock.CalculatorGraph(SINK.replace("APPEND", ""))
graph.start_run({{"path": Path(sys.argv[1])}})
for at in range(5):
    graph.add_packet_to_input_stream("events", penstock.Packet([event(2 * at), event(2 * at + 1)], at))
graph.wait_until_idle(30)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("ending", [".jsonl", ".sqlite"])
def test_what_was_written_before_a_kill_is_there(tmp_path, ending):
    path = tmp_path / f"events{ending}"
    program = KILLED.format(tests=str(Path(__file__).parent))

    ended = subprocess.run([sys.executable, "-c", program, str(path)], check=False, timeout=60)  # ours

    assert ended.returncode == -signal.SIGKILL
    assert [row["timestamp"] for row in read(path)] == list(range(10))


def test_a_transaction_that_fails_leaves_nothing(tmp_path):
    path = tmp_path / "events.sqlite"
    file = open_events(path, append=False)
    try:
        with pytest.raises(OverflowError):  # no whole number of SQLite
            file.write([event(0), event(2**70)])
        file.write([event(1)])
    finally:
        file.close()

    assert [row["timestamp"] for row in read(path)] == [1]


def test_a_database_that_another_program_holds(tmp_path, monkeypatch):
    monkeypatch.setattr("penstock_detect.zones.event_files._BUSY_S", 0.1)
    path = tmp_path / "events.sqlite"
    write(path, [])
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(GraphRunError, match=r"database is locked for 0\.1 s; end the other program's"):
            write(path, [[event(0)]])
    finally:
        other.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said(tmp_path):
    path = tmp_path / "events.jsonl"
    path.symlink_to("/dev/full")

    with pytest.raises(GraphRunError, match=r"cannot be written: No space left on device; make room"):
        write(path, [[event(0)]])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("events.txt", "has the ending '.txt', but must have one of .jsonl, .ndjson, .csv"),
        ("missing/events.csv", "there is no folder"),
        ("other.sqlite", "file is not a database; name another file"),
        ("table.db", "has a table 'events' without the columns run, timestamp"),
    ],
)
def test_files_that_take_no_events(tmp_path, name, words):
    (tmp_path / "other.sqlite").write_text("a text that is long enough to have no header of SQLite" * 20)
    base = sqlite3.connect(tmp_path / "table.db")
    base.execute("CREATE TABLE events (event)")
    base.close()

    with pytest.raises(GraphRunError) as caught:
        write(tmp_path / name, [])

    assert words in str(caught.value)


def test_a_file_that_may_not_be_written(tmp_path):
    path = tmp_path / "events.sqlite"
    with pytest.raises(GraphRunError, match="may not write"):
        write(path, [], access=Access(writes=()))
    write(path, [])
    with pytest.raises(GraphRunError, match="exists; name another one"):
        write(path, [], access=Access(overwrites=False))
    text = 'input_stream: "e" node { calculator: "EventFileSinkCalculator" input_stream: "EVENTS:e" OPTIONS }'
    options = (
        'node_options { [type.googleapis.com/penstock_detect.EventFileSinkCalculatorOptions] { path: "%s" } }'
    )
    with pytest.raises(GraphConfigError, match=r"may not write 'a\.csv'"):
        penstock.CalculatorGraph(text.replace("OPTIONS", options % "a.csv"), access=Access(writes=()))
    with pytest.raises(GraphConfigError, match="has the ending '', but must have"):
        penstock.CalculatorGraph(text.replace("OPTIONS", options % "events"))


def test_events_as_text():
    text = """input_stream: "e" output_stream: "text"
    node { calculator: "EventsToJsonCalculator" input_stream: "EVENTS:e" output_stream: "JSON:text" }"""

    found = penstock.run(text, {"e": [(5, [event(1), event(2)])]})["text"]

    assert [(int(one.timestamp), json.loads(one.payload)) for one in found] == [
        (5, [event(1).as_data(), event(2).as_data()])
    ]
