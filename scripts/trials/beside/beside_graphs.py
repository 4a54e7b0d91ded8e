"""Random cases for a run beside MediaPipe: graphs of its wheel's calculators, and what is done with them.

A case has the form of the recorded runs (`pbtxt`, `observe`, `side`, `steps`, `auto_idle`, `start`). Further
fields say what may be compared: `mistakes` are the steps with which the application does something wrong,
`may_fail` is true where a calculator can fail, `may_lose` where MediaPipe may lose the last packets, and
`is_serial` where the order of arrival can show.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: The payload types of streams, as the recorded runs name them.
KINDS: Final = ("int", "float", "bool", "float_vector", "int_vector")
#: Of streams that no node reads.
_LAST: Final = "last"
_VECTORS: Final = {"float_vector": "Float", "int_vector": "Int32"}
_POLICIES: Final = ("ImmediateInputStreamHandler", "FixedSizeInputStreamHandler")
#: Shares of cases.
_SERIAL, _LIMITED, _POLICY, _MISTAKE, _TWICE, _BOUNDS = 0.75, 0.15, 0.08, 0.12, 0.35, 0.4


def case_of(seed: int) -> dict[str, Any]:
    """Return the case with a number."""
    return _Drawing(random.Random(f"beside {seed}")).case(seed)  # noqa: S311  # for chance, not for secrets


class _Drawing:
    """A graph that is being drawn."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.is_serial = rng.random() < _SERIAL
        #: Name → kind of each stream that a further node may read.
        self.streams: dict[str, str] = {}
        self.inputs: dict[str, str] = {}
        self.side: dict[str, list[Any]] = {}
        self.lines: list[str] = []
        self.may_fail = False
        #: Inputs that close a loop: the mark in the text, and the kind that it takes ("" for any).
        self.back: list[tuple[str, str]] = []
        #: Streams whose bounds differ on purpose (difference 26 of docs/mediapipe.md).
        self.without_bounds: set[str] = set()
        #: Whether there is a source: MediaPipe may call it at any moment, also after a wait for idleness.
        self.has_source = False
        self._count = 0

    # --- parts ----------------------------------------------------------------------------------------

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def new(self, kind: str) -> str:
        """Return the name of a new stream."""
        self._count += 1
        name = f"s{self._count}"
        self.streams[name] = kind
        return name

    def some(self, *kinds: str) -> str:
        """Return a stream of one of these kinds (all, if none is given); a new graph input where none is."""
        fit = [name for name, kind in self.streams.items() if kind in (kinds or KINDS)]
        if fit and not self.chance(0.1):
            return self.rng.choice(fit[-6:])
        name = f"in{len(self.inputs)}"
        kind = self.rng.choice(kinds or KINDS)
        self.inputs[name] = self.streams[name] = kind
        return name

    def node(self, calculator: str, *ports: str, options: str = "", more: str = "") -> None:
        """Add a node; ports are `<TAG:name` for inputs, `>TAG:name` for outputs, `=` and `+` for sides."""
        fields = {
            "<": "input_stream",
            ">": "output_stream",
            "=": "input_side_packet",
            "+": "output_side_packet",
        }
        names = [(port[0], port.rpartition(":")[2].lstrip("<>")) for port in ports]
        if any(way == "<" and name in self.without_bounds for way, name in names):
            self.without_bounds.update(name for way, name in names if way == ">")
        words = [f'{fields[port[0]]}: "{port[1:]}"' for port in ports]
        if options:
            words.append(f"options {{ {options} }}")
        self.lines.append(f'node {{ calculator: "{calculator}" {" ".join(words)} {more} }}')

    def side_packet(self, kind: str) -> str:
        """Return the name of a side packet: from the application, a constant, or read from a string."""
        name = f"p{len(self.side)}_{len(self.lines)}"
        rng = self.rng
        if kind == "int" and self.chance(0.3):
            text = rng.choice(("7", "12", "-3")) if self.chance(0.9) else "seven"
            self.may_fail = self.may_fail or text == "seven"
            self.side[f"{name}t"] = ["str", text]
            self.node("StringToIntCalculator", f"={name}t", f"+{name}")
        elif self.chance(0.4):
            value = {
                "int": f"int_value: {rng.randrange(9)}",
                "float": "float_value: 0.5",
                "bool": "bool_value: true",
            }[kind]
            self.node(
                "ConstantSidePacketCalculator",
                f"+PACKET:{name}",
                options=f"[mediapipe.ConstantSidePacketCalculatorOptions.ext] {{ packet {{ {value} }} }}",
            )
        else:
            self.side[name] = [kind, self.value(kind)]
        return name

    def value(self, kind: str) -> Any:
        """Return a payload."""
        rng = self.rng
        plain: dict[str, Callable[[], Any]] = {
            "int": lambda: rng.randrange(-5, 100),
            "float": lambda: rng.randrange(-8, 9) / 4,
            "bool": lambda: rng.random() < 0.5,  # noqa: PLR2004  # as often as not
            "float_vector": lambda: [rng.randrange(-8, 9) / 4 for _ in range(rng.randrange(5))],
            "int_vector": lambda: [rng.randrange(100) for _ in range(rng.randrange(5))],
        }
        return plain[kind]()

    # --- nodes ----------------------------------------------------------------------------------------

    def pass_through(self) -> None:
        names = list(dict.fromkeys(self.some() for _ in range(self.rng.choice((1, 1, 2, 3)))))
        more = ""
        if self.chance(0.2):
            more = f"max_in_flight: {self.rng.randrange(2, 4)}"
        elif self.is_serial and self.chance(_POLICY):
            more = f'input_stream_handler {{ input_stream_handler: "{self.rng.choice(_POLICIES)}" }}'
            names = names[:1]
        self.node(
            "PassThroughCalculator",
            *[f"<{name}" for name in names],
            *[f">{self.new(self.streams[name])}" for name in names],
            more=more,
        )

    def merge(self) -> None:
        kind = self.rng.choice(KINDS)
        names = dict.fromkeys(self.some(kind) for _ in range(self.rng.choice((2, 2, 3))))
        self.node("MergeCalculator", *[f"<{name}" for name in names], f">{self.new(kind)}")

    def gate(self) -> None:
        name = self.some()
        word = self.rng.choice(("ALLOW", "DISALLOW"))
        where = f"={word}:{self.side_packet('bool')}" if self.chance(0.3) else f"<{word}:{self.some('bool')}"
        options = ""
        if self.chance(0.3):
            options = "[mediapipe.GateCalculatorOptions.ext] { empty_packets_as_allow: true }"
        ports = [f"<{name}", where, f">{self.new(self.streams[name])}"]
        if self.chance(0.3):
            self._count += 1
            ports.append(f">STATE_CHANGE:s{self._count}")  # its kind has nothing to read it here
            self.streams[f"s{self._count}"] = "bool"
        self.node("GateCalculator", *ports, options=options)

    def loopback(self) -> None:
        mark = f"@{len(self.back)}@"
        main = self.some()
        kind = self.rng.choice(KINDS)
        self.back.append((mark, kind))
        more = 'input_stream_info { tag_index: "LOOP" back_edge: true }'
        self.node(
            "PreviousLoopbackCalculator",
            f"<MAIN:{main}",
            f"<LOOP:{mark}",
            f">PREV_LOOP:{self.new(kind)}",
            more=more,
        )

    def limiter(self) -> None:
        if not self.is_serial:
            return
        name = self.rng.choice(list(self.inputs) or [self.some()])
        mark = f"@{len(self.back)}@"
        self.back.append((mark, ""))
        ports = [f"<{name}", f"<FINISHED:{mark}", f">{self.new(self.streams[name])}"]
        if self.chance(0.4):
            ports.append(f">ALLOW:{self.new('bool')}")
        self.node(
            "FlowLimiterCalculator",
            *ports,
            more='input_stream_info { tag_index: "FINISHED" back_edge: true }',
            options="[mediapipe.FlowLimiterCalculatorOptions.ext] "
            f"{{ max_in_flight: {self.rng.choice((1, 1, 2))} max_in_queue: {self.rng.choice((0, 1, 2))} }}",
        )

    def graph_input(self) -> str:
        """Return a graph input, for nodes whose output shows in which steps a bound grows."""
        if not self.inputs:
            self.some()
        return self.rng.choice(list(self.inputs))

    def presence(self) -> None:
        if self.is_serial:
            name = self.graph_input()
            self.node("PacketPresenceCalculator", f"<PACKET:{name}", f">PRESENCE:{self.new('bool')}")

    def sequencer(self) -> None:
        if not self.is_serial:
            return
        name = self.graph_input()
        made = self.new(self.streams[name])
        self.without_bounds.add(made)
        self.node(
            "PacketSequencerCalculator",
            f"<INPUT:{name}",
            f"<TICK:{self.graph_input()}",
            f">OUTPUT:{made}",
        )

    def threshold(self) -> None:
        ports = [f"<FLOAT:{self.some('float')}", f">FLAG:{self.new('bool')}"]
        words = [word for word in ("ACCEPT", "REJECT") if self.chance(0.4)]
        ports += [f">{word}:{self.new('bool')}" for word in words]
        self.node(
            "ThresholdingCalculator",
            *ports,
            options="[mediapipe.ThresholdingCalculatorOptions.ext] { threshold: 0.25 }",
        )

    def concatenate(self) -> None:
        kind = self.rng.choice(list(_VECTORS))
        item = kind.removesuffix("_vector")
        names = dict.fromkeys(self.some(kind, item) for _ in range(self.rng.choice((1, 2, 3))))
        options = ""
        if self.chance(0.4):
            options = "[mediapipe.ConcatenateVectorCalculatorOptions.ext] { only_emit_if_all_present: true }"
        self.node(
            f"Concatenate{_VECTORS[kind]}VectorCalculator",
            *[f"<{name}" for name in names],
            f">{self.new(kind)}",
            options=options,
        )

    def split(self) -> None:
        """Split vectors; a vector that is too short makes the calculator fail."""
        self.may_fail = True
        name, begin = self.some("float_vector"), self.rng.randrange(2)
        is_element = self.chance(0.5)
        end = begin + (1 if is_element else self.rng.randrange(1, 3))
        self.node(
            "SplitFloatVectorCalculator",
            f"<{name}",
            f">{self.new('float' if is_element else 'float_vector')}",
            options=f"[mediapipe.SplitVectorCalculatorOptions.ext] {{ ranges {{ begin: {begin} end: {end} }} "
            f"element_only: {str(is_element).lower()} }}",
        )

    def indices(self) -> None:
        ports = f"<VECTOR:{self.some('int_vector')}", f">INDICES:{self.new('int_vector')}"
        self.node("IntVectorIndicesCalculator", *ports)

    def to_stream(self) -> None:
        kind = self.rng.choice(("int", "float", "bool"))
        side = self.side_packet(kind)
        where = self.rng.choice(("AT_ZERO", "AT_TICK", "AT_FIRST_TICK", "AT_POSTSTREAM"))
        # What is done with a packet at POSTSTREAM is a mistake of the application sooner or later.
        ports = [f"={side}", f">{where}:{self.new(_LAST if where == 'AT_POSTSTREAM' else kind)}"]
        self.has_source = self.has_source or "TICK" not in where
        if "TICK" in where:
            ports.insert(0, f"<TICK:{self.some()}")
        self.node("SidePacketToStreamCalculator", *ports)

    def item_loop(self) -> None:
        """Split vectors into items, pass them through some nodes, and put them together again."""
        vector = self.some("float_vector")
        self._count += 1
        number = self._count
        begin = [f"<ITERABLE:{vector}", f">ITEM:i{number}_0", f">BATCH_END:e{number}"]
        has_clone = self.chance(0.4)
        if has_clone:
            clone = self.some()
            begin += [f"<CLONE:{clone}", f">CLONE:c{number}"]
        self.node("BeginLoopFloatCalculator", *begin)
        length = self.rng.randrange(1, 3)
        for one in range(length):
            extra = [f"<c{number}", f">d{number}"] if has_clone and not one else []
            ports = f"<i{number}_{one}", *extra[:1], f">i{number}_{one + 1}", *extra[1:]
            self.node("PassThroughCalculator", *ports)
        self.node(
            "EndLoopFloatCalculator",
            f"<ITEM:i{number}_{length}",
            f"<BATCH_END:e{number}",
            f">ITERABLE:{self.new('float_vector')}",
        )

    def switch(self) -> None:
        name = self.some()
        contained = 'contained_node { calculator: "PassThroughCalculator" }'
        by_side = self.chance(0.4)
        where = f"=SELECT:{self.switched()}" if by_side else f"<ENABLE:{self.some('bool')}"
        self.node(
            "SwitchContainer",
            where,
            f"<X:{name}",
            f">X:{self.new(self.streams[name])}",
            options=f"[mediapipe.SwitchContainerOptions.ext] {{ {contained} {contained} }}",
        )

    def switched(self) -> str:
        name = f"p{len(self.side)}_{len(self.lines)}"
        self.side[name] = ["int", self.rng.randrange(2)]
        return name

    # --- the case -------------------------------------------------------------------------------------

    def case(self, seed: int) -> dict[str, Any]:
        """Draw a case."""
        rng = self.rng
        self.some()
        makers: tuple[Callable[[], None], ...] = (
            self.pass_through, self.pass_through, self.merge, self.gate, self.loopback, self.presence,
            self.sequencer, self.threshold, self.concatenate, self.split, self.indices, self.to_stream,
            self.item_loop, self.switch,
        )  # fmt: skip
        for _ in range(rng.randint(1, 7)):
            rng.choice(makers)()
        if self.chance(_LIMITED):
            self.limiter()
        self.close_loops()
        rng.shuffle(self.lines)
        head = [f'input_stream: "{name}"' for name in self.inputs]
        head += [f'input_side_packet: "{name}"' for name in self.side]
        if self.chance(0.4):
            head.append(f"num_threads: {rng.randint(1, 4)}")
        if self.chance(0.2):
            head.append(f"max_queue_size: {rng.choice((-1, 5, 100))}")
        made = [name for name in self.streams if name not in self.inputs]
        observed = rng.sample(made, min(len(made), rng.randint(1, 6)))
        steps, mistakes = self.steps()
        return {
            "name": str(seed),
            "pbtxt": "\n".join([*head, *self.lines]),
            "observe": [[name, self.sees_bounds(name)] for name in observed],
            "side": self.side,
            "steps": steps,
            "auto_idle": self.is_serial,
            "start": True,
            "mistakes": mistakes,
            "may_fail": self.may_fail,
            "may_lose": any("back_edge" in line for line in self.lines),
            "is_serial": self.is_serial and not self.has_source,
        }

    def sees_bounds(self, name: str) -> bool:
        return self.is_serial and name not in self.without_bounds and self.chance(_BOUNDS)

    def close_loops(self) -> None:
        """Give each input that closes a loop a stream: often one of a late node."""
        for mark, kind in self.back:
            fit = [name for name, has in self.streams.items() if has in ((kind,) if kind else KINDS)]
            late = [name for name in fit if name not in self.inputs][-3:] or fit
            name = self.rng.choice(late) if late else self.some(kind)
            self.lines = [line.replace(mark, name) for line in self.lines]

    def steps(self) -> tuple[list[list[Any]], list[int]]:
        """Return what is done with the graph, and the numbers of the steps that are mistakes."""
        steps: list[list[Any]] = []
        mistakes: list[int] = []
        for run in range(2 if self.chance(_TWICE) else 1):
            if run:
                steps.append(["start"])
            if self.is_serial:
                steps.append(["idle"])  # what comes out at the start is out
            mistake = self.rng.randrange(12) if self.chance(_MISTAKE) else -1
            self.feed(steps, mistakes, mistake)
            steps += [["close_all"], ["done"]]
        return steps, mistakes

    def feed(  # noqa: C901  # the ways of feeding, one after the other
        self, steps: list[list[Any]], mistakes: list[int], mistake: int
    ) -> None:
        rng = self.rng
        at = dict.fromkeys(self.inputs, rng.choice((0, 0, 10)))
        is_open = list(self.inputs)
        together = self.chance(0.5)  # whether the inputs get the same timestamps
        for number in range(rng.randint(0, 14)):
            if not is_open:
                return
            if number == mistake:
                name = rng.choice(is_open)
                mistakes.append(len(steps))
                steps.append(self.wrong_step(name, at[name]))
                return
            for name in list(is_open) if together else [rng.choice(is_open)]:
                at[name] = max(at.values()) + 1 if together and name == is_open[0] else at[name] + 1
                if together:
                    at[name] = max(at.values())
                elif self.chance(0.3):
                    at[name] += rng.randrange(1, 9)
                if self.chance(0.12):
                    steps.append(["add", name, "empty", None, at[name]])
                elif not (together and self.chance(0.1)):
                    kind = self.inputs[name]
                    steps.append(["add", name, kind, self.value(kind), at[name]])
            if self.chance(0.04):
                closed = is_open.pop(rng.randrange(len(is_open)))
                steps.append(["close", closed])
            if not self.is_serial and self.chance(0.1):
                steps.append(["idle"])

    def wrong_step(self, name: str, at: int) -> list[Any]:
        """Return a packet that comes again at a timestamp that has passed."""
        kind = self.inputs[name]
        return ["add", name, kind, self.value(kind), at - self.rng.randrange(2)]
