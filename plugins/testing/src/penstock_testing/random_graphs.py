"""Random graphs, and their runs: packets, ledger and counters."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock import Calculator, CalculatorGraph, Packet
from penstock.packs import default_registry

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Executor, Registry

_PATIENCE_S: Final = 60.0
#: Shares: of stateless nodes whose calls overlap, of graphs with small queues, of packets among what is fed.
_OVERLAPS, _LIMITED, _PACKETS = 0.6, 0.3, 0.85


class Numbers(Calculator):
    """Inputs and outputs of ints; the calculators of the random graphs."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take and give ints, at the same timestamps."""
        for port in (*cc.inputs, *cc.outputs):
            port.set(int)
        cc.set_timestamp_offset(0)


class Sum(Numbers):
    """Adds what is there, and counts; stateless."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare that nothing is kept between calls."""
        super().get_contract(cc)
        cc.declare(stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Write the sum."""
        there = _payloads(cc)
        cc.counter("packets").increment_by(len(there))
        cc.output.add(sum(there), cc.input_timestamp)


class Odd(Numbers):
    """Passes odd numbers, and says that it drops the others."""

    def process(self, cc: CalculatorContext) -> None:
        """Write the first odd number."""
        for port in cc.inputs:
            if port.is_empty():
                continue
            if port.payload % 2:
                cc.output.add(port.payload, cc.input_timestamp)
                return
            port.count_dropped("even")


class Total(Numbers):
    """Adds up all that came; writes it now and then, and the rest at the end."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Promise nothing about timestamps."""
        for port in (*cc.inputs, *cc.outputs):
            port.set(int)

    def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Begin at 0."""
        self._total = 0
        self._calls = 0
        self._last = 0

    def process(self, cc: CalculatorContext) -> None:
        """Add, and write each third time."""
        self._total += sum(_payloads(cc))
        self._calls += 1
        self._last = int(cc.input_timestamp)
        if self._calls % 3 == 0:
            cc.output.add(self._total, cc.input_timestamp)
        else:
            cc.output.set_next_timestamp_bound(cc.input_timestamp + 1)

    def close(self, cc: CalculatorContext) -> None:
        """Write the rest."""
        if self._calls:
            cc.output.add(-self._total, self._last + 1)


class Later(Numbers):
    """Writes what came, a little later."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Promise outputs 7 microseconds after the inputs."""
        super().get_contract(cc)
        cc.set_timestamp_offset(7)

    def process(self, cc: CalculatorContext) -> None:
        """Write the greatest number."""
        cc.output.add(max(_payloads(cc)), cc.input_timestamp + 7)


class Settled(Numbers):
    """Is called where nothing came, too."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Ask for calls at bounds."""
        super().get_contract(cc)
        cc.set_process_timestamp_bounds()

    def process(self, cc: CalculatorContext) -> None:
        """Write the smallest number, if there is one."""
        there = _payloads(cc)
        if there:
            cc.output.add(min(there), cc.input_timestamp)


_CALCULATORS: Final = (Sum, Odd, Total, Later, Settled)


class RandomGraph(NamedTuple):
    """A graph, and what it is fed."""

    #: The text of the graph.
    text: str
    #: `inputs`, `outputs`: names of streams: those of the graph, and those of the nodes.
    inputs: list[str]
    outputs: list[str]
    #: Input, payload or None for a bound, timestamp; in an order in which they may be added.
    feed: list[tuple[str, int | None, int]]


def random_graph(seed: int) -> RandomGraph:
    """Return the graph of a seed: up to eight nodes, each of which reads streams of those before it."""
    chance = random.Random(seed)  # noqa: S311  # not for secrets
    inputs = [f"in{n}" for n in range(chance.randrange(1, 4))]
    streams = list(inputs)
    lines = [f'input_stream: "{name}"' for name in inputs]
    for number in range(chance.randrange(1, 9)):
        calculator = chance.choice(_CALCULATORS)
        reads = chance.sample(streams, min(len(streams), chance.randrange(1, 3)))
        overlaps = calculator is Sum and chance.random() < _OVERLAPS
        more = f"max_in_flight: {chance.randrange(2, 5)}" if overlaps else ""
        ports = " ".join(f'input_stream: "{name}"' for name in reads)
        lines.append(
            f'node {{ calculator: "{calculator.__name__}" {ports} output_stream: "s{number}" {more} }}'
        )
        streams.append(f"s{number}")
    if chance.random() < _LIMITED:
        lines.append(f"max_queue_size: {chance.randrange(1, 4)}")
    next_at = dict.fromkeys(inputs, 0)
    feed: list[tuple[str, int | None, int]] = []
    for _ in range(chance.randrange(0, 30)):
        name = chance.choice(inputs)
        next_at[name] += chance.randrange(1, 12)
        feed.append((name, chance.randrange(-20, 21) if chance.random() < _PACKETS else None, next_at[name]))
    return RandomGraph("\n".join(lines), inputs, streams[len(inputs) :], feed)


class RandomRun(NamedTuple):
    """What a run of a random graph has shown."""

    #: Name of each observed stream → timestamp and payload of each packet.
    packets: dict[str, list[tuple[int, Any]]]
    #: The ledger: name, packets written, and what each reader took and dropped, for each stream.
    accounts: list[tuple[str, int, list[tuple[int, dict[str, int]]]]]
    #: The counters of the graph.
    counters: dict[str, int]


def random_registry() -> Registry:
    """Return a registry that has the calculators of the random graphs too."""
    registry = default_registry().child()
    for calculator in _CALCULATORS:
        registry.add("calculator", calculator.__name__, calculator)
    return registry


def _payloads(cc: CalculatorContext) -> list[int]:
    return [port.payload for port in cc.inputs if not port.is_empty()]


def run_random_graph(graph: RandomGraph, executor: Executor | None = None) -> RandomRun:
    """Run a random graph on an executor; None: on threads.

    Raises:
        AssertionError: the ledger does not add up.
    """
    made = CalculatorGraph(graph.text, registry=random_registry())
    if executor is not None:
        made.set_executor("", executor)
    packets: dict[str, list[tuple[int, Any]]] = {name: [] for name in graph.outputs}

    def see(name: str, packet: Packet) -> None:
        packets[name].append((int(packet.timestamp), packet.payload))

    # Some streams are seen by nobody: an executor may treat these in another way.
    for name in graph.outputs[:: 1 + len(graph.feed) % 2]:
        made.observe_output_stream(name, see)
    made.start_run()
    for name, payload, stamp in graph.feed:
        if payload is None:
            made.set_input_stream_timestamp_bound(name, stamp)
        else:
            made.add_packet_to_input_stream(name, Packet(payload, stamp), timeout=_PATIENCE_S)
    made.close_all_input_streams()
    made.wait_until_done(_PATIENCE_S)
    ledger = made.ledger()
    if not ledger.adds_up:
        raise AssertionError(f"the random graph's ledger does not add up:\n{ledger}")
    accounts = [
        (stream.name, stream.added, [(reader.delivered, reader.dropped) for reader in stream.readers])
        for stream in ledger.streams
    ]
    counters = dict(made.counters)
    made.close(_PATIENCE_S)
    return RandomRun(packets, accounts, counters)
