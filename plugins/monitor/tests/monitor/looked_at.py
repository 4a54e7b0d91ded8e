"""Graphs that tests look at: calculators, and readings at moments that a test chooses."""

from __future__ import annotations

import threading

import penstock
from penstock_monitor.follower import Follower
from penstock_monitor.sampling import Sampler
from penstock_testing import calculator

TIMEOUT = 20
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
#: Every second packet, and no promise about the others.
Odd = calculator(
    lambda cc: cc.output.add_packet(cc.input.packet) if cc.input.payload % 2 else None, name="Odd"
)
Join = calculator(lambda cc: cc.output.add(0, cc.input_timestamp), name="Join", offset=0)
Sink = calculator(name="Sink")


class Gate:
    """A calculator whose calls wait until the test opens the gate."""

    def __init__(self) -> None:
        self.inside, self.leave = threading.Event(), threading.Event()

        def wait(cc):
            self.inside.set()
            assert self.leave.wait(TIMEOUT)
            cc.output.add_packet(cc.input.packet)

        self.calculator = calculator(wait, name="Gate", offset=0)


class Read:
    """A graph, and readings of it at moments that the test chooses."""

    def __init__(self, graph, clock, **options) -> None:
        self.graph = graph
        self.clock = clock
        skips = options.pop("skips", lambda: 0)  # so that a test knows which packet is followed
        self.follower = Follower(graph, clock, new_sampler=lambda clock: Sampler(clock, skips), **options)

    def add(self, *numbers, stream="in") -> None:
        for number in numbers:
            self.graph.add_packet_to_input_stream(stream, penstock.Packet(number, number))

    def idle(self) -> None:
        self.graph.wait_until_idle(TIMEOUT)

    def after(self, seconds):
        """Return a reading after some time."""
        self.clock.advance(seconds)
        return self.follower.read(self.graph)


def stream(reading, name):
    return next(one for one in reading.streams if one.name == name)


def node(reading, name):
    return next(one for one in reading.nodes if one.name == name)
