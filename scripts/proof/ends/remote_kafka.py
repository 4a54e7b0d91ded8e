"""Kafka's source in a simulated world: nothing is lost, whatever dies, and nothing is committed too early."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from simulated_brokers import TOPIC, Brokers
from simulated_world import StandsStillError, Which, World

from penstock import Calculator
from penstock.config import build_plan
from penstock.errors import InternalError, PenstockError, StatusCode
from penstock.explain import ledger
from penstock.lowlevel import MAX
from penstock_kafka.client.reader import Reader
from penstock_kafka.options import KafkaSourceCalculatorOptions
from penstock_kafka.source import KafkaSourceCalculator
from penstock_testing.every_order.stepping import SteppedRun

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Registry
    from penstock.runs import Step
    from penstock_testing.every_order.stepping import Action

#: How many runs a group of programs gets until all must have been read.
_MOST_RUNS: Final = 60
_MOST_ACTIONS: Final = 4000
SOURCE: Final = f"""
node {{
  name: "source" calculator: "SimulatedKafkaSource" output_stream: "VALUE:s"
  node_options {{ [type.googleapis.com/penstock_kafka.KafkaSourceCalculatorOptions] {{
    bootstrap_servers: "broker:9092" topic: "{TOPIC}" group_id: "g" stop_at_end: true
    commit_interval_ms: %d }} }}
}}
"""
_THROUGH: Final = 'node { calculator: "Through" input_stream: "%s" output_stream: "%s" max_in_flight: %d }\n'
_SOME: Final = 'node { calculator: "Some" input_stream: "%s" output_stream: "%s" }\n'
_SINK: Final = 'node { name: "%s" calculator: "Sink" input_stream: "%s" }\n'
#: Name → nodes below the source, and for each sink whether it gets only some messages.
GRAPHS: Final = {
    "sink": (_SINK % ("k", "s"), {"k": False}),
    "chain": (_THROUGH % ("s", "a", 3) + _THROUGH % ("a", "b", 1) + _SINK % ("k", "b"), {"k": False}),
    "some": (_SOME % ("s", "a") + _SINK % ("k", "a"), {"k": True}),
    "two": (
        _THROUGH % ("s", "a", 1) + _SINK % ("k", "a") + _SOME % ("s", "b") + _SINK % ("l", "b"),
        {"k": False, "l": True},
    ),
    "diamond": (
        _THROUGH % ("s", "a", 2) + _THROUGH % ("s", "b", 1) + _THROUGH % ("b", "c", 1)
        + 'node { calculator: "Joins" input_stream: "a" input_stream: "c" output_stream: "d" }\n'
        + _SINK % ("k", "d"),
        {"k": False},
    ),
}  # fmt: skip


class Ports(Calculator):
    """Ports that take and give bytes at the timestamps of the inputs."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare them."""
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc: CalculatorContext) -> None:
        """Pass the first packet on."""
        if len(cc.outputs) and not cc.inputs[0].is_empty():
            cc.outputs[0].add_packet(cc.inputs[0].packet)


class Through(Ports):
    """Passes packets on."""


class Joins(Ports):
    """Passes the packets of its first input on, when the other has one too."""


class Some(Ports):
    """Passes on the messages at even offsets."""

    def process(self, cc: CalculatorContext) -> None:
        """Pass one of two on."""
        if int(cc.input.payload.split()[1]) % 2 == 0:
            super().process(cc)


class _Now:
    """The trial that is under way."""

    trial: Kafka


class Sink(Ports):
    """Its calls end later; only then has it delivered. Now and then one fails."""

    def process(self, cc: CalculatorContext) -> None:
        """Deliver a message."""
        _Now.trial.take(cc.node_name, cc.input.payload)


class SimulatedKafkaSource(KafkaSourceCalculator):
    """The source, with simulated brokers."""

    @staticmethod
    def _new_reader(cc: CalculatorContext) -> Reader:
        trial = _Now.trial
        options = cc.options(KafkaSourceCalculatorOptions)
        client: Any = trial.brokers.join
        return Reader(cc, options, client, lambda: trial.world.now)


class Kafka:
    """What a group of programs does with a topic, in a world."""

    def __init__(self, which: Which, installed: Registry) -> None:
        self.world: Final = World(which)
        chance = self.world.random
        self._may_fail: Final = chance.random() < 0.8  # noqa: PLR2004
        self.brokers: Final = Brokers(self.world, self._committed, may_fail=self._may_fail)
        self.brokers.rival = self._done_by_rival
        self.faults: Final[list[str]] = []
        self._graph: Final = chance.choice(sorted(GRAPHS))
        nodes, self._sinks = GRAPHS[self._graph]
        text = SOURCE % chance.choice((1, 50, 1000)) + nodes
        self._plan: Final = build_plan(text, installed)
        #: (sink, partition, offset) → how often it was delivered.
        self._delivered: Final[Counter[tuple[str, int, int]]] = Counter()
        #: What sinks have taken whose calls have not ended.
        self._taken: Final[dict[str, list[bytes]]] = {}
        self._last: Final[dict[tuple[str, int], tuple[int, int]]] = {}
        #: Whether the group had given out all partitions before the last call; the partitions then read.
        self._was_settled = False
        self._share: dict[int, int] = {}
        self._observed = chance.random() < 0.3  # noqa: PLR2004
        self.world.tell(f"graph {self._graph}, {[len(one) for one in self.brokers.messages]} messages")

    def take(self, sink: str, payload: bytes) -> None:
        """Let a call of a sink begin, or fail."""
        if self._may_fail and self.world.random.random() < 0.02:  # noqa: PLR2004
            raise ValueError("it could not be stored")
        self._taken.setdefault(sink, []).append(payload)

    def go(self) -> None:
        """Run programs one after another until all was read and committed."""
        ends = [len(one) for one in self.brokers.messages]
        for _ in range(_MOST_RUNS):
            if self._run():
                self._check_end(ends)
                if self.brokers.committed == ends:
                    return
            if self.faults:
                return
        self.faults.append(f"not all was read in {_MOST_RUNS} runs: {self.brokers.committed} of {ends}")

    def _check_end(self, ends: list[int]) -> None:
        """Look whether a program that ended by itself has read and committed what was its share."""
        member, committed = self.brokers.member, self.brokers.committed
        owned = (
            []
            if member is None
            else [part for part in member.owned if self._share.get(part) == member.assigned[part]]
        )
        left = {part: committed[part] for part in owned if committed[part] < ends[part]}
        if left:
            self.faults.append(
                f"the program ended, and of its partitions only {left} is committed, of {ends}"
            )

    def _run(self) -> bool:
        """Run one program; return whether it has ended as it should."""
        self._taken.clear()
        self._last.clear()
        run = SteppedRun(self._plan, observe=["s"] if self._observed else [])
        run.harness.checks = False
        if not self._act(run):
            return False
        try:
            run.check_ended()
        except InternalError as error:
            self.faults.append(str(error))
        if not ledger(run.harness.schedule).adds_up:
            self.faults.append("the ledger does not add up")
        errors = run.harness.errors
        if errors:
            self.world.tell(f"the run ends with {errors}")
            strange = [one for one in errors if not self._may_fail or not _is_meant(one)]
            if strange:
                self.faults.append(f"nobody meant this error: {strange}")
        return not errors

    def _act(self, run: SteppedRun) -> bool:
        """Choose actions until nothing is left to do; return False where the program dies before."""
        chance = self.world.random
        dies_after = chance.randrange(300) if self._happens(0.6) else _MOST_ACTIONS
        cancels_after = chance.randrange(200) if self._happens(0.1) else _MOST_ACTIONS
        ends = False
        for number in range(_MOST_ACTIONS):
            actions = run.actions()
            if not actions:
                return True
            if number == dies_after:
                self.world.tell("the program dies")
                return False
            if number == cancels_after:
                self.world.tell("the run is cancelled")
                run.harness.cancel()
                continue
            self._do(run, self.world.turns.choice(actions), is_reading=not ends)
            if not run.harness.errors:
                ends = self._look_at_end(run.harness.stream("s").bound > MAX, ends=ends)
        self.faults.append(f"no end after {_MOST_ACTIONS} actions")
        return False

    def _happens(self, share: float) -> bool:
        return self._may_fail and self.world.random.random() < share

    def _do(self, run: SteppedRun, action: Action, *, is_reading: bool) -> None:
        held = list(run.held)
        if is_reading and action.by == "source" and action.what.startswith("start"):
            self._note_share()
        action.do()
        for one in held:
            if one not in run.held and one.error is None:
                self._delivers(one.step)

    def _note_share(self) -> None:
        """Note what the member knows before a call: of that it may think that it has read all."""
        member = self.brokers.member
        self._was_settled = member is not None and member.is_settled
        self._share = {} if member is None else {part: member.assigned[part] for part in member.told}

    def _look_at_end(self, is_at_end: bool, *, ends: bool) -> bool:  # noqa: FBT001
        """Look whether the source ends only when it knows its partitions; return whether it ends."""
        if is_at_end and not ends and not self._was_settled:
            self.faults.append("the program ended while the group assigned its partitions again")
        return is_at_end

    def _delivers(self, step: Step) -> None:
        """Note that a call of a sink has ended: it has delivered."""
        name = step.node.name
        if name not in self._sinks or not self._taken.get(name):
            return
        part, offset = map(int, self._taken[name].pop(0).split())
        self._delivered[name, part, offset] += 1
        last, back = self._last.get((name, part), (-1, 0))
        back += offset <= last
        self._last[name, part] = offset, back
        member = self.brokers.member
        if member is None or back >= member.assigned[part]:
            self.faults.append(f"{name}: offset {offset} of partition {part} came after {last}")

    def _done_by_rival(self, part: int, end: int) -> None:
        for sink in self._sinks:
            for offset in range(self.brokers.committed[part], end):
                self._delivered[sink, part, offset] += 1

    def _committed(self, part: int, before: int, offset: int) -> None:
        """Look whether what is committed was delivered."""
        for sink, has_some in self._sinks.items():
            missing = [
                at
                for at in range(offset)
                if not (has_some and at % 2) and not self._delivered[sink, part, at]
            ]
            if missing:
                self.faults.append(
                    f"partition {part} is committed up to {offset} (before: {before}), but {sink} has not "
                    f"delivered {missing}"
                )


def _is_meant(error: PenstockError) -> bool:
    """Return whether a sink has raised an error, or a cancel."""
    return "could not be stored" in str(error) or error.code is StatusCode.CANCELLED


def trial(which: Which, installed: Registry) -> tuple[list[str], World]:
    """Read a topic in a world; return what is wrong, and the world."""
    names = installed.child()
    for one in (Through, Joins, Some, Sink, SimulatedKafkaSource):
        names.add("calculator", one.__name__, one)
    found = Kafka(which, names)
    _Now.trial = found
    try:
        found.go()
    except StandsStillError as error:
        found.faults.append(str(error))
    return found.faults + found.world.broken, found.world
