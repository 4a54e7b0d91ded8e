"""Calls that change a node while its graph lives, from several threads: options, objects, new starts."""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import api_model
import attrs
from api_threads import PATIENCE_S, Calls, draw
from linearizable import DONE, FAILED, LATE, NO_RUN, Call, Model

from penstock import Calculator, CalculatorGraph, Packet, Timestamp

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from penstock import CalculatorContext, CalculatorContract, Registry

_GRAPH: Final = (
    'input_stream: "a" output_stream: "b" num_threads: 2 '
    'node { calculator: "Gain" name: "n" input_stream: "a" output_stream: "b" }'
)
_UNSTARTED: Final = int(Timestamp.UNSTARTED)
#: How far ahead changes are planned that say when.
_AHEAD: Final = 2
_NUMBERS: Final = count(1)


@attrs.frozen
class GainOptions:
    """Of `Gain`.

    Attributes:
        gain: written with each packet.
        offset: likewise.
    """

    gain: int = 0
    offset: int = 0


class Gain(Calculator):
    """Writes its options; notes which of its objects are open."""

    Options = GainOptions
    #: Number of an object → how often it was opened, and closed.
    lives: Final[dict[int, list[int]]] = {}
    _lock: Final = threading.Lock()

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self._number = next(_NUMBERS)
        with self._lock:
            self.lives[self._number] = [1, 0]
        self.options_changed(cc)

    def options_changed(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self._options = cc.options(GainOptions)

    def reset(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self.options_changed(cc)

    def process(self, cc: CalculatorContext) -> None:
        """Write the options."""
        cc.output.add((self._options.gain, self._options.offset), cc.input_timestamp)

    def close(self, cc: CalculatorContext) -> None:
        """Note it."""
        del cc
        with self._lock:
            self.lives[self._number][1] += 1


class SteeredCalls(Calls):
    """Calls of a graph whose node changes."""

    weights: ClassVar = {
        "start": 4, "add": 10, "close_input": 1, "cancel": 1, "next": 6, "idle": 2, "wait_done": 1,
        "gain": 3, "offset": 3, "gain_at": 2, "offset_at": 2, "swap_gain": 2, "swap_offset_at": 1, "renew": 1,
        "is_running": 1, "run_count": 1,
    }  # fmt: skip
    waiting = frozenset({"idle", "wait_done", "renew"})
    last = frozenset({"wait_done"})

    def __init__(self, installed: Registry, order: random.Random) -> None:
        plans = draw(order, self.weights, self.last)
        if order.randrange(3):
            plans[0].insert(0, ("start", 0))
        super().__init__(plans)
        installed = installed.child()
        installed.add("calculator", "Gain", Gain)
        Gain.lives.clear()
        self.graph: Final = CalculatorGraph(_GRAPH, registry=installed)
        self.poller: Final = self.graph.add_output_stream_poller("b")

    def do(self, name: str, number: int) -> Any:
        """Make a call."""
        graph = self.graph
        if name in _CHANGES:
            field, is_swap, is_planned = _CHANGES[name]
            change = graph.swap if is_swap else graph.set_options
            return int(change("n", {field: number}, at=number + _AHEAD if is_planned else None))
        if name == "next":
            packet: Any = self.poller.next(0)
            return None if packet is None else (int(packet.timestamp), *packet.payload)
        if name in {"is_running", "run_count"}:
            return getattr(graph, name)
        actions: dict[str, Callable[[], object]] = {
            "start": graph.start_run,
            "add": lambda: graph.add_packet_to_input_stream("a", Packet(number, number)),
            "close_input": lambda: graph.close_input_stream("a"),
            "cancel": graph.cancel,
            "idle": lambda: graph.wait_until_idle(PATIENCE_S),
            "wait_done": lambda: graph.wait_until_done(PATIENCE_S),
            "renew": lambda: graph.reset(timeout=PATIENCE_S),
        }
        actions[name]()
        return DONE

    def free(self) -> None:
        """End the input."""
        self.call("close_input", 0)

    def end(self) -> None:
        """End the run; then no object is open any more, and each was closed once."""
        for name in ("close_input", "wait_done", "is_running"):
            self.call(name, 0)
        self.graph.close()
        for number, (opened, closed) in sorted(Gain.lives.items()):
            if (opened, closed) != (1, 1):
                self.findings.append(f"object {number} was opened {opened} and closed {closed} times")

    def model(self) -> Model:
        """Return the model; to begin again is three moments: to end the input, to wait, and to start."""
        parts = [call for call in self.calls if call.name == "renew"]
        for number, call in enumerate(parts):
            self.calls.remove(call)
            self.calls.extend([call._replace(name=name, argument=number) for name in _RENEW])
        return Model(Steered(), _by_itself, _allowed)


#: Call → field of the options, whether another object is opened, and whether the call says when.
_CHANGES: Final = {
    "gain": ("gain", False, False),
    "offset": ("offset", False, False),
    "gain_at": ("gain", False, True),
    "offset_at": ("offset", False, True),
    "swap_gain": ("gain", True, False),
    "swap_offset_at": ("offset", True, True),
}
#: Gain and offset.
_Options = tuple[int, int]


class Steered(NamedTuple):
    """What such a graph shows to its callers; as `api_model.Graph`, with the same names."""

    runs: int = 0
    is_running: bool = False
    bound: int = 0
    is_closed: bool = False
    added: int = 0
    #: The first of them is in the calculator, if it works.
    under_way: tuple[int, ...] = ()
    polled: tuple[tuple[int, int, int], ...] = ()
    has_failed: bool = False
    is_over: bool = False
    is_paused: bool = False
    is_held: bool = False
    is_working: bool = False
    #: The timestamp of the last call that has begun.
    begun: int = _UNSTARTED
    options: _Options = (0, 0)
    #: Options that wait for their timestamp, in the run under way or the next one.
    coming: tuple[tuple[int, _Options], ...] = ()
    #: How far each call is that begins again.
    renewing: tuple[tuple[int, str], ...] = ()

    @property
    def has_begun(self) -> bool:
        """Whether there has been a run."""
        return self.runs > 0


def _by_itself(graph: Steered) -> Iterator[Steered]:
    if not graph.has_begun or graph.is_over:
        return
    if graph.is_working:
        stamp, *rest = graph.under_way
        yield graph._replace(
            under_way=tuple(rest), polled=(*graph.polled, (stamp, *graph.options)), is_working=False
        )
    elif graph.under_way:
        stamp = graph.under_way[0]
        due = [options for at, options in graph.coming if at <= stamp]
        coming = tuple(one for one in graph.coming if one[0] > stamp)
        options = due[-1] if due else graph.options
        yield graph._replace(is_working=True, begun=stamp, options=options, coming=coming)
    if graph.has_failed or (graph.is_closed and not graph.under_way):
        yield graph._replace(is_over=True, under_way=(), is_working=False)


def _allowed(graph: Steered, call: Call) -> Iterator[Steered]:
    rule = _RULES.get(call.name)
    if call.name in _CHANGES:
        yield from _change(graph, call)
    elif rule is not None:
        yield from rule(graph, call)
    else:
        same: Any = graph  # what the rules read has the same names
        yield from api_model.allowed(same, call)  # type: ignore[misc]  # they return what they are given


def _start(graph: Steered, call: Call) -> Iterator[Steered]:
    if graph.is_running:
        yield from [graph] * (call.result == NO_RUN)
    elif call.result == DONE:
        yield _begun(graph)


def _begun(graph: Steered) -> Steered:
    return Steered(
        graph.runs + 1,
        is_running=True,
        options=graph.options,
        coming=graph.coming,
        renewing=graph.renewing,
    )


def _done(graph: Steered, call: Call) -> Iterator[Steered]:
    """As of any graph; changes whose time has not come are forgotten."""
    same: Any = graph
    for after in api_model.allowed(same, call):
        if graph.is_running and not after.is_running:
            yield after._replace(coming=())  # type: ignore[call-arg,misc]  # as above
        else:
            yield after  # type: ignore[misc]  # as above


def _change(graph: Steered, call: Call) -> Iterator[Steered]:
    field, _, is_planned = _CHANGES[call.name]
    at = call.argument + _AHEAD if is_planned else None
    if not graph.is_running:
        yield from _change_next(graph, call, field, at)
        return
    is_closing = graph.has_failed or graph.is_over or (graph.is_closed and not graph.under_way)
    if is_closing and call.result in {NO_RUN, FAILED if graph.has_failed else NO_RUN}:
        yield graph
    elif at is not None and at <= graph.begun:
        yield from [graph] * (call.result == LATE)
    elif isinstance(call.result, int) and not graph.is_over:
        ahead = graph.under_way[graph.is_working :]
        last = ahead[0] if ahead else max(graph.bound, graph.begun + 1)
        if call.result == at or (at is None and graph.begun < call.result <= last):
            yield _with_change(graph, call.result, field, call.argument)


def _change_next(graph: Steered, call: Call, field: str, at: int | None) -> Iterator[Steered]:
    if at is not None and call.result == at:
        yield _with_change(graph, at, field, call.argument)
    elif at is None and call.result == _UNSTARTED:
        yield graph._replace(options=_changed(graph.options, field, call.argument))


def _with_change(graph: Steered, at: int, field: str, value: int) -> Steered:
    before = [options for stamp, options in graph.coming if stamp <= at]
    options = _changed(before[-1] if before else graph.options, field, value)
    coming = [*graph.coming, (at, options)]
    coming.sort(key=lambda one: one[0])
    return graph._replace(coming=tuple(coming))


def _changed(options: _Options, field: str, value: int) -> _Options:
    return (value, options[1]) if field == "gain" else (options[0], value)


# --- to begin again -----------------------------------------------------------------------------------


def _renew_end(graph: Steered, call: Call) -> Iterator[Steered]:
    phase = "waits" if graph.is_running else "starts"
    renewing = (*graph.renewing, (call.argument, phase))
    yield graph._replace(renewing=renewing, is_closed=graph.is_closed or graph.is_running)


def _renew_wait(graph: Steered, call: Call) -> Iterator[Steered]:
    phase = dict(graph.renewing).get(call.argument)
    if phase == "starts":
        yield graph
    elif phase == "waits":
        is_failed = call.result == FAILED
        for after in _done(graph, call._replace(name="wait_done", result=FAILED if is_failed else DONE)):
            yield _in_phase(after, call.argument, "failed" if is_failed else "starts")


def _renew_start(graph: Steered, call: Call) -> Iterator[Steered]:
    phase = dict(graph.renewing).get(call.argument)
    if phase == "failed":
        yield graph
    elif phase == "starts":
        yield from _start(graph, call)


def _in_phase(graph: Steered, number: int, phase: str) -> Steered:
    phases = tuple((one, phase if one == number else was) for one, was in graph.renewing)
    return graph._replace(renewing=phases)


_RENEW: Final = ("renew_end", "renew_wait", "renew_start")
_RULES: Final = {
    "start": _start, "wait_done": _done, "renew_end": _renew_end, "renew_wait": _renew_wait,
    "renew_start": _renew_start,
}  # fmt: skip
