"""RealTimePaceCalculator: packets come at the pace of their timestamps."""

from __future__ import annotations

from penstock_people import pace
from penstock_people.pace import RealTimePaceCalculator
from penstock_testing import run_calculator


def waits(monkeypatch, *stamps: int, passing_s: float = 0.0) -> list[float]:
    """Return how long each packet waits; a clock is moved by waiting, and by each look at it."""
    now, waited = [100.0], []

    def sleep(seconds: float) -> None:
        waited.append(round(seconds, 6))
        now[0] += seconds

    def monotonic() -> float:
        now[0] += passing_s
        return now[0]

    monkeypatch.setattr(pace, "monotonic", monotonic)
    monkeypatch.setattr(pace, "sleep", sleep)
    run = run_calculator(
        RealTimePaceCalculator, {0: [(stamp, stamp) for stamp in stamps]}, outputs=[0], headers={0: "film"}
    )
    assert [(packet.timestamp, packet.payload) for packet in run.outputs[0]] == [(one, one) for one in stamps]
    assert run.headers[0] == "film"
    return waited


def test_packets_wait_for_the_time_between_their_timestamps(monkeypatch):
    assert waits(monkeypatch, 5_000_000, 5_040_000, 5_060_000) == [0, 0.04, 0.02]


def test_after_a_long_gap_the_pace_begins_anew(monkeypatch):
    assert waits(monkeypatch, 0, 3_600_000_000, 3_600_040_000) == [0, 0, 0.04]


def test_packets_that_are_late_do_not_wait(monkeypatch):
    assert waits(monkeypatch, 0, 40_000, 80_000, passing_s=0.05) == [0, 0, 0]
