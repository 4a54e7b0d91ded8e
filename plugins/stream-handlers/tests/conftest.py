"""Fixtures that run one node under a policy and record the inputs of each call."""

from __future__ import annotations

import itertools

import attrs
import pytest

import penstock
from penstock_stream_handlers.plugin import penstock_components
from penstock_testing import ScheduleHarness, calculator, explore, node, wired


@attrs.frozen
class Call:
    """The inputs of one call of `process`."""

    #: `cc.input_timestamp`.
    at: int
    #: Stream → payload, where there was a packet.
    packets: dict[str, object]
    #: Stream → timestamp of the packet, or the settled timestamp of an input without one.
    stamps: dict[str, int]
    #: The streams that have no packets after this call.
    done: frozenset[str]


class Recorder(penstock.Calculator):
    """Writes a `Call` for each call, numbered from 1; writes nothing in `open` and `close`."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set_any()
        cc.outputs[0].set(Call)

    def open(self, cc):
        self._calls = 0

    def process(self, cc):
        self._calls += 1
        call = Call(
            int(cc.input_timestamp),
            {port.name: port.payload for port in cc.inputs if not port.is_empty()},
            {port.name: int(port.packet.timestamp) for port in cc.inputs},
            frozenset(port.name for port in cc.inputs if port.is_done()),
        )
        cc.outputs[0].add(call, self._calls)


class RecorderWithBounds(Recorder):
    """Is called for settled timestamps too."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.set_process_timestamp_bounds()


class Teller(Recorder):
    """Writes the parts of a call that do not depend on the order of steps: input timestamp and payloads."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set_any()
        cc.outputs[0].set(tuple)

    def process(self, cc):
        self._calls += 1
        words = " ".join(str(port.payload) for port in cc.inputs if not port.is_empty())
        cc.outputs[0].add((int(cc.input_timestamp), words), self._calls)


def hand_on(cc):
    if not cc.input.is_empty():
        cc.output.add_packet(cc.input.packet)


#: A node before each input of an explored node: packets of different streams arrive in any order.
HandOn = calculator(hand_on, offset=0)


class Watched:
    """A run of one `Recorder` node, stepped by a test.

    Inputs are ports as in a graph; their streams are fed under the streams' names. The payload of a
    packet is the stream's name with the timestamp ("a5") unless the test gives another.
    """

    def __init__(self, handler, inputs, *options, bounds=False, max_queue_size=100, max_in_flight=1):
        recorder = RecorderWithBounds if bounds else Recorder
        self.plan = wired(
            node(
                recorder,
                inputs,
                "out",
                name="watched",
                handler=handler,
                options=options,
                max_in_flight=max_in_flight,
            ),
            inputs=[port.rpartition(":")[2] for port in inputs.split()],
            max_queue_size=max_queue_size,
        )
        self.harness = ScheduleHarness(self.plan)
        self.harness.start()
        self.harness.run()

    def add(self, stream, *stamps, payload=None):
        """Add packets one by one; the node runs after each."""
        for stamp in stamps:
            self.add_only(stream, stamp, payload=payload)
            self.harness.run()

    def add_only(self, stream, *stamps, payload=None):
        """Add packets; the node does not run."""
        for stamp in stamps:
            self.harness.add(stream, f"{stream}{int(stamp)}" if payload is None else payload, stamp)

    def bound(self, stream, bound):
        self.harness.set_bound(stream, bound)
        self.harness.run()

    def close(self, *streams):
        for stream in streams:
            self.harness.close_input(stream)
            self.harness.run()

    @property
    def calls(self):
        return [packet.payload for packet in self.harness.seen["out"]]

    @property
    def seen(self):
        """The calls as pairs: input timestamp, and payloads in the order of streams, blank between them."""
        return [(call.at, " ".join(map(str, call.packets.values()))) for call in self.calls]

    @property
    def shown(self):
        """The calls as pairs: input timestamp, and stream → timestamp of its packet."""
        return [(call.at, {name: call.stamps[name] for name in call.packets}) for call in self.calls]

    @property
    def is_closed(self):
        return "close watched" in self.harness.log

    def dropped(self, stream):
        """Return how many packets of a stream were dropped, by reason."""
        (reader,) = self.harness.stream(stream).readers
        return reader.dropped

    def delivered(self, stream):
        """Return how many packets of a stream were delivered."""
        (reader,) = self.harness.stream(stream).readers
        return reader.delivered

    def queued(self, stream):
        (reader,) = self.harness.stream(stream).readers
        return [packet.stamp for packet in reader.queue]


def act(cc):
    cc.input.payload(cc.outputs)


class Told:
    """A run of one `Recorder` node after a node that does several things to its streams at once.

    `tell` takes functions of the outputs of that node, which add packets, set bounds or close streams.
    """

    def __init__(self, handler, streams, *, bounds=False):
        recorder = RecorderWithBounds if bounds else Recorder
        self.harness = ScheduleHarness(
            wired(
                node(calculator(act), "told", streams),
                node(recorder, streams, "out", name="watched", handler=handler),
                inputs="told",
            )
        ).start()
        self.harness.run()
        self._times = itertools.count()

    def tell(self, *what):
        """Let all of this happen, and the node run until nothing is left to do."""
        self._tell(*what)
        self.harness.run()

    def _tell(self, *what):
        self.harness.add("told", lambda outputs: [one(outputs) for one in what], next(self._times))
        self.harness.complete(self.harness.call(self.harness.take()))

    def tell_in_two(self, before, during):
        """Let the node begin its first call after `before`, and let `during` happen before that call ends."""
        self._tell(*before)
        step = self.harness.take()
        self._tell(*during)
        self.harness.complete(self.harness.call(step))
        self.harness.run()

    @property
    def calls(self):
        """The calls as pairs: input timestamp, and stream → payload, or what is settled without a packet."""
        seen = [packet.payload for packet in self.harness.seen["out"]]
        return [(call.at, {**call.stamps, **call.packets}) for call in seen]

    @property
    def packets(self):
        """The packets of each call, as stream → payload."""
        return [packet.payload.packets for packet in self.harness.seen["out"]]

    @property
    def is_closed(self):
        return "close watched" in self.harness.log


@pytest.fixture
def told():
    """Return `Told`, the class."""
    return Told


@pytest.fixture
def watched():
    """Return `Watched`, the class."""
    return Watched


@pytest.fixture(scope="session")
def watched_by_all():
    """Return `Watched`, for tests that Hypothesis repeats."""
    return Watched


@pytest.fixture(scope="session")
def fed():
    """Return a function that feeds the streams of a node in a random order and returns the ended run."""

    def run(handler, inputs, stamps, order, *options):
        """Add the packets of `stamps`, stream → timestamps, and close each stream; `order` is a Random."""
        watched = Watched(handler, inputs, *options)
        waiting = {name: list(times) for name, times in stamps.items()}
        while waiting:
            name = order.choice(sorted(waiting))
            if not waiting[name]:
                watched.harness.close_input(name)
                del waiting[name]
                continue
            if order.randrange(3) == 0:
                watched.harness.set_bound(name, waiting[name][0])
            watched.add_only(name, waiting[name].pop(0))
            if order.randrange(2):
                watched.harness.step()
        watched.harness.finish()
        return watched

    return run


@pytest.fixture
def explored():
    """Return a function that returns the calls of a node, which must be the same in every order of steps."""

    def run(handler, inputs, feed, *options, seeds=range(40)):
        """Feed packets, pairs of stream and timestamp or triples with the payload, and end the run."""
        names = [port.rpartition(":")[2] for port in inputs.split()]
        plan = wired(
            *(node(HandOn, f"{name}_in", name) for name in names),
            node(Teller, inputs, "out", name="watched", handler=handler, options=options),
            inputs=[f"{name}_in" for name in names],
        )

        def drive(harness):
            harness.start()
            for stream, stamp, *payload in feed:
                harness.add(f"{stream}_in", payload[0] if payload else f"{stream}{stamp}", stamp)
                harness.step()
            harness.finish()

        return [call for _, call in explore(plan, drive, seeds)["out"]]

    return run


@pytest.fixture
def passed_on():
    """Return a function that returns the bounds which a node with offset 0 and no packets forwards.

    It takes a policy, the inputs, and events: pairs of stream and bound, or triples with a payload.
    """

    def run(handler, inputs, events, *options):
        silent = calculator(name="Silent", offset=0)
        plan = wired(
            node(silent, inputs, "out", handler=handler, options=options),
            inputs=[port.rpartition(":")[2] for port in inputs.split()],
        )
        harness = ScheduleHarness(plan, bounds_of=["out"]).start()
        harness.run()
        for stream, stamp, *payload in events:
            if payload:
                harness.add(stream, payload[0], stamp)
            else:
                harness.set_bound(stream, stamp)
            harness.run()
        return [stamp for stamp, _ in harness.carried("out")]

    return run


@pytest.fixture
def pack_registry(penstock_registry):
    """Give a test a registry with this pack alone, the testing core, and the calculator `Recorder`."""
    registry = penstock_registry.child()
    components = penstock_components()
    for name, target in components.input_stream_handlers.items():
        registry.add("input stream handler", name, target)
    for name, (extendee, number, target) in components.options.items():
        registry.add_option(name, extendee, number, target)
    registry.add("calculator", "Recorder", Recorder)
    return registry
