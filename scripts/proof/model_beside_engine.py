"""The engine, step by step beside the model: what can be done, and what streams hold, is the same.

The test kit's scheduler offers what the engine could do next, and the model says what a run could do next.
One of these actions is chosen, both do it, and so on to the end. So the two cannot drift apart: a change of
either shows here.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from model_search import ModelError
from stream_model import (
    CALLED,
    CLOSED,
    CLOSING,
    ENDED,
    NOTHING_YET,
    OPENING,
    READY,
    READY_TO_CLOSE,
    READY_TO_OPEN,
    Action,
    Drawing,
    Model,
    goes_round,
)

from penstock import STOP, Calculator
from penstock.lowlevel import DONE, PRESTREAM
from penstock_testing import calculator, node, wired
from penstock_testing.every_order.stepping import SteppedRun

if TYPE_CHECKING:
    from stream_model import Box, State

    from penstock import CalculatorContext
    from penstock.lowlevel import Plan, Stop

_CALLS: Final = {
    READY_TO_OPEN: "open", OPENING: "open", READY: "process", CALLED: "process", READY_TO_CLOSE: "close",
    CLOSING: "close",
}  # fmt: skip


def plan_of(drawing: Drawing) -> Plan:
    """Return the graph as the engine runs it; stream n is called "s<n>", node n "n<n>"."""
    count = len(drawing.inputs)
    nodes = [
        node(
            _calculator(box),
            [f"s{stream}" for stream in box.reads],
            f"s{count + number}",
            name=f"n{number}",
            back_edges=[f"s{box.reads[place]}" for place in box.back],
            max_in_flight=box.calls,
        )
        for number, box in enumerate(drawing.boxes)
    ]
    # a cycle names a stream that is written further down, which `wired` allows for back edges only
    return wired(*nodes, inputs=[f"s{n}" for n in range(count)], max_queue_size=drawing.limit or -1)


def _calculator(box: Box) -> type[Calculator]:
    if box.kind == "source":
        return _source(box.stamps)

    def process(cc: CalculatorContext) -> None:
        t = int(cc.input_timestamp)
        came = tuple(None if port.is_empty() else port.payload for port in cc.inputs)
        if box.kind == "later" or (box.kind == "again" and goes_round(came[0])):
            cc.output.add(came, t + 1)
        elif box.kind == "both" or (box.kind == "odd" and t % 2):
            cc.output.add(came, t)

    def begin(cc: CalculatorContext) -> None:
        if box.first is not None:
            cc.output.add(0, box.first)

    return calculator(process, open=begin, name=box.kind.title(), offset=box.offset)


def _source(stamps: tuple[int, ...]) -> type[Calculator]:
    class Source(Calculator):
        @classmethod
        def get_contract(cls, cc: Any) -> None:
            cc.outputs[0].set_any()

        def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
            self.count = 0

        def process(self, cc: CalculatorContext) -> Stop | None:
            if self.count == len(stamps):
                return STOP
            cc.output.add(self.count + 1, stamps[self.count])
            self.count += 1
            return None

    return Source


class Beside:
    """A run of the engine, and the model of the same graph.

    Args:
        drawing: the graph.
        kind: the rules.
        begins_at_once: as for `Model`.
    """

    def __init__(self, drawing: Drawing, kind: type[Model] = Model, *, begins_at_once: bool = False) -> None:
        self.model: Final = kind(drawing, begins_at_once=begins_at_once)
        self._begins_at_once: Final = begins_at_once
        self.state: State = self.model.start()
        fed = {f"s{n}": [(at, number + 1) for number, at in enumerate(stamps)]
               for n, stamps in enumerate(drawing.inputs)}  # fmt: skip
        self.run: Final = SteppedRun(plan_of(drawing), fed, observe=[f"s{s}" for s in drawing.observed])
        self._told: Final[list[str]] = []
        self._settle()

    def to_the_end(self, seed: int) -> int:
        """Do one action after another, by a seed, and compare after each; return how many there were.

        Raises:
            ModelError: the engine and the model differ; says where, and after which actions.
        """
        order = random.Random(seed)  # noqa: S311  # not for secrets
        self.compare()
        while actions := self.model.actions(self.state):
            action = order.choice(actions)
            self.do(action)
            self.compare()
        return len(self._told)

    def do(self, action: Action) -> None:
        """Do an action here and there."""
        name = self._name(action)
        self._told.append(name)
        next(one for one in self.run.actions() if self._offered(one) == name).do()
        self._settle()
        self.state = self.model.after(self.state, action)

    def _settle(self) -> None:
        if self._begins_at_once:
            self.run.settle()

    def compare(self) -> None:
        """Compare what can be done, and what the streams hold.

        Raises:
            ModelError: it is not the same.
        """
        engine = sorted(self._offered(one) for one in self.run.actions())
        here = sorted(map(self._name, self.model.actions(self.state)))
        self._same("what can be done", engine, here)
        self._same("bounds", self._bounds(), self.state.bounds)
        self._same("queues", self._queues(), self.state.queues)
        self._same("limits", self._limits(), self._own_limits())
        observed = self.model.drawing.observed
        seen = {s: tuple(self.run.harness.carried(f"s{s}")) for s in observed if not self.state.unseen[s]}
        self._same("observed packets", seen, {s: self.state.carried[s] for s in seen})
        self._same("the end", self.run.harness.is_over, self.state.is_over)

    def _same(self, what: str, engine: object, model: object) -> None:
        if engine != model:
            raise ModelError(
                f"{self.model.drawing}: {what}: the engine has {engine}, the model {model}, after: "
                f"{', '.join(self._told) or 'nothing'}"
            )

    # --- the engine as the model sees it ------------------------------------------------------

    def _offered(self, one: Any) -> str:
        return f"{one.by}: {one.what}"

    def _name(self, action: Action) -> str:
        kind, number = action
        if kind == "FEED":
            is_end = self.state.fed[number] == len(self.model.drawing.inputs[number])
            return f"feed s{number}: {'close' if is_end else 'add a packet'}"
        if kind == "SERVE":
            return f"see s{number}: see packets"
        method = _CALLS[self.state.phases[number]]
        at = (
            f" at {self.state.sets[number][0]}"
            if method == "process" and self.model.boxes[number].reads
            else ""
        )
        return f"n{number}: {'start' if kind == 'BEGIN' else 'end'} {method}{at}"

    def _streams(self) -> list[Any]:
        harness = self.run.harness
        return [harness.stream(f"s{n}") for n in range(len(self.state.bounds))]

    def _bounds(self) -> list[int]:
        known = {PRESTREAM: NOTHING_YET, DONE: ENDED}
        return [known.get(stream.bound, stream.bound) for stream in self._streams()]

    def _readers(self) -> list[Any]:
        harness = self.run.harness
        return [end for number in range(len(self.model.boxes)) for end in harness.node(f"n{number}").inputs]

    def _queues(self) -> list[Any]:
        return [tuple((packet.stamp, packet.payload) for packet in end.queue) for end in self._readers()]

    def _limits(self) -> list[int | None]:
        """Return the limits of queues of nodes that have not closed."""
        ends = zip(self.model.readers, self._readers(), strict=True)
        return [
            None if self.state.phases[box] == CLOSED else min(end.max_size, ENDED) for (box, _), end in ends
        ]

    def _own_limits(self) -> list[int | None]:
        ends = zip(self.model.readers, self.state.limits, strict=True)
        return [None if self.state.phases[box] == CLOSED else limit for (box, _), limit in ends]
