from __future__ import annotations

import os

import click

from penstock.explain import Ledger, NodeState, Snapshot, StreamState, Why
from penstock_cli.runs.meter import Meter
from penstock_cli.runs.progress import LogLines, NoDisplay, display_for
from penstock_cli.runs.summary import print_summary, totals
from penstock_cli.runs.watch import Outcome


def stream(name, added=0, queued=0, queued_bytes=0, *, dropped=0, limit=None):  # noqa: PLR0913  # its fields
    return StreamState(name, added, queued, queued_bytes, dropped, limit, "")


def snapshot(*streams, nodes=()):
    return Snapshot("running", tuple(nodes), streams, (), ())


def test_a_reading_counts_packets_bytes_and_drops_of_all_streams():
    reading = Meter().read(
        snapshot(
            stream("a", 10, queued=2, queued_bytes=2_000_000, dropped=1),
            stream("b", 4, queued=1, queued_bytes=700_000, dropped=2),
            stream("c", 1),
        ),
        2.0,
    )

    assert (reading.packets, reading.queued, reading.queued_bytes, reading.dropped) == (15, 3, 2_700_000, 3)
    assert (reading.busiest, reading.per_second) == ("a", 5.0)


def test_a_reading_is_a_line():
    line = str(
        Meter().read(
            snapshot(stream("a", 1500, 3, 8_000_000, limit=6), stream("b", 9, 5, 5, dropped=2)), 75.0
        )
    )

    assert line == "1:15  1,509 packets  20.0/s on 'a'  queued 8 (8.0 MB) a 3/6, b 5  packets dropped 2"


def test_a_reading_before_the_first_packet_has_no_rate():
    assert (
        str(Meter().read(snapshot(stream("a")), 0.2)) == "0:00  0 packets  queued 0 (0 B)  packets dropped 0"
    )


def test_a_reading_of_a_graph_without_streams_is_a_line_too():
    assert str(Meter().read(snapshot(), 0.2)) == "0:00  0 packets  queued 0 (0 B)  packets dropped 0"


def test_the_rate_is_that_of_the_last_two_seconds():
    meter = Meter()
    rates = [
        meter.read(snapshot(stream("a", added)), at).per_second
        for at, added in [(1.0, 100), (2.0, 200), (3.0, 200), (4.0, 200), (5.0, 210)]
    ]

    assert rates == [100.0, 100.0, 50.0, 0.0, 5.0]


def test_the_fullest_queues_are_named_first_and_three_at_most():
    reading = Meter().read(
        snapshot(
            stream("a", 9, 1, limit=10),
            stream("b", 9, 50),
            stream("c", 9, 6, limit=6),
            stream("d", 9, 3, limit=6),
        ),
        1.0,
    )

    assert [name for name, _, _ in reading.queues] == ["c", "d", "a", "b"]
    assert "queued 60 (0 B) c 6/6, d 3/6, a 1/10  packets dropped" in str(reading)


def test_a_log_gets_a_line_with_the_first_packets_and_then_every_five_seconds(capsys):
    lines = LogLines()
    for tenth, added in [(1, 0), (2, 3), (4, 5), (50, 60), (52, 62), (53, 70)]:
        lines.show(snapshot(stream("a", added)), tenth / 10)

    assert [line.split("  ")[1] for line in capsys.readouterr().err.splitlines()] == [
        "3 packets",
        "62 packets",
    ]


def test_no_progress_shows_nothing(capsys):
    display = display_for(wanted=False)
    with display:
        display.show(snapshot(stream("a", 5)), 1.0)

    assert isinstance(display, NoDisplay)
    assert capsys.readouterr().err == ""


def node(name, steps=0, busy_s=0.0):
    return NodeState(name, "Some", "closed", 0, 0, steps, busy_s, "")


def ended(taken):
    """Return the outcome of a run of two seconds that has nothing to note."""
    return Outcome(taken, 2.0, 3.0, was_interrupted=False, ledger=Ledger(()), why=Why("over"))


def test_totals_have_packets_rate_and_busy_cores():
    assert totals(ended(snapshot(stream("a", 30), stream("b", 12, dropped=4)))) == [
        "30 packets on 'a' in 2.00 s: 15.0/s",
        f"42 packets in all, 4 dropped; 1.5 of {os.cpu_count()} cores busy",
    ]


def test_the_table_has_the_time_of_each_node(capsys):
    nodes = [node("idle"), node("busy", 4, 1.0)]

    print_summary(ended(snapshot(nodes=nodes)))

    rows = {
        line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.split()
    }
    assert rows["busy"] == ["Some", "4", "1.00", "s", "250", "ms", "50%"]
    assert rows["idle"] == ["Some", "0", "0", "s", "-", "0%"]


def test_on_a_narrow_terminal_the_names_stay_and_numbers_go(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")

    with terminal as shown:
        print_summary(ended(snapshot(nodes=[node("busy", 4, 1.0), node("LongName")])))

    lines = click.unstyle(shown.getvalue()).splitlines()
    assert max(map(len, lines[:-2])) <= 40
    assert lines[1].split() == ["node", "time", "of", "wall"]
    assert lines[3].split() == ["busy", "1.00", "s", "50%"]
    assert lines[4].split() == ["LongName", "0", "s", "0%"]


def test_of_a_large_graph_only_the_slowest_nodes_are_shown_in_their_order(capsys):
    nodes = [node(f"node{i}", 1, busy_s=i % 2) for i in range(100)]

    print_summary(ended(snapshot(nodes=nodes)))

    printed = capsys.readouterr().out
    assert "60 more nodes took less time" in printed
    shown = [word for word in printed.split() if word.startswith("node") and word not in {"node", "nodes"}]
    assert shown == [f"node{i}" for i in range(1, 81, 2)]


def test_a_reading_at_time_zero_has_no_rate():
    assert Meter().read(snapshot(stream("a", 3)), 0.0).per_second == 0.0
