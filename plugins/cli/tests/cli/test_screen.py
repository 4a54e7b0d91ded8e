"""Which frame is shown when. The tests replace window and clock; the graph and its threads are real."""

from __future__ import annotations

import pytest

import penstock
from penstock_cli.runs.screen import Screen

FRAME_US = 40_000


@penstock.register_calculator
class CliFilm(penstock.Calculator):
    """Sends 0, 1, ... at 25 a second, up to the side packet COUNT; fails at the side packet BAD."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.outputs[0].set(int)
        cc.input_side_packets["COUNT"].set(int)
        cc.input_side_packets["BAD"].set(int).optional()

    def open(self, cc):
        self._number = 0

    def process(self, cc):
        number = self._number
        if number == cc.input_side_packets["COUNT"].payload:
            return penstock.STOP
        if "BAD" in cc.input_side_packets and number == cc.input_side_packets["BAD"].payload:
            raise ArithmeticError("the film has torn")
        self._number += 1
        cc.output.add(number, number * FRAME_US)
        return None


class Hands:
    """A window without a screen. Only waiting for keys and drawing a frame in `slow` move the clock."""

    def __init__(self, *, slow=(), closes_after=None):
        self.now = 100.0
        self.shown = []
        self.is_closed = False
        self._slow = slow
        self._closes_after = closes_after

    def look(self, wait_s=0.0):
        self.now += wait_s

    def draw(self, frame):
        self.shown.append((frame, round(self.now - 100.0, 6)))
        if frame in self._slow:
            self.now += 1.0
        self.is_closed = len(self.shown) == self._closes_after

    def clock(self):
        return self.now


def film(count, hands, *, bad=None, is_live=False):
    """Return a graph that sends frames, not started, its screen, and its side packets."""
    bad_side = "" if bad is None else 'input_side_packet: "BAD:bad"'
    graph = penstock.CalculatorGraph(
        f'node {{ calculator: "CliFilm" input_side_packet: "COUNT:count" {bad_side} output_stream: "film" }}'
    )
    screen = Screen(graph, "film", hands, is_live=is_live, clock=hands.clock)
    sides = {"count": count} if bad is None else {"count": count, "bad": bad}
    return graph, screen, sides


def test_every_frame_is_shown_in_order_at_its_time():
    hands = Hands()
    graph, screen, sides = film(20, hands)
    graph.start_run(sides)

    screen.wait(60.0)

    assert hands.shown == [(number, round(number * 0.04, 6)) for number in range(20)]


def test_after_a_pause_frames_keep_their_distance_and_do_not_race():
    hands = Hands(slow=(1,))
    graph, screen, sides = film(4, hands)
    graph.start_run(sides)

    screen.wait(60.0)

    assert hands.shown == [(0, 0.0), (1, 0.04), (2, 1.04), (3, 1.08)]


def test_the_newest_frame_of_a_camera_is_shown_at_once():
    hands = Hands()
    graph, screen, sides = film(3, hands, is_live=True)
    graph.start_run(sides)
    graph.wait_until_done(60)  # all three wait to be shown

    screen.wait(60.0)

    assert hands.shown == [(2, 0.0)]


def test_a_closed_window_ends_an_endless_film_and_shows_no_more():
    hands = Hands(closes_after=3)
    graph, screen, sides = film(-1, hands)
    graph.start_run(sides)

    screen.wait(60.0)

    assert [number for number, _ in hands.shown] == [0, 1, 2]
    assert graph.snapshot().nodes[0].steps < 20, "the graph did not wait for the window"


def test_a_wait_that_times_out_raises_and_the_next_wait_goes_on():
    hands = Hands()
    graph, screen, sides = film(10, hands)
    graph.start_run(sides)

    with pytest.raises(penstock.WaitTimeoutError, match="\n"):
        screen.wait(0.1)
    assert [number for number, _ in hands.shown] == [0, 1, 2]
    screen.wait(60.0)

    assert hands.shown == [(number, round(number * 0.04, 6)) for number in range(10)]


def test_a_run_that_fails_shows_what_it_had_and_raises():
    hands = Hands()
    graph, screen, sides = film(10, hands, bad=2)
    graph.start_run(sides)

    with pytest.raises(penstock.GraphRunError, match="the film has torn"):
        screen.wait(60.0)

    assert [number for number, _ in hands.shown] in ([0, 1], [0], [])
