"""Calls of MediaPipe's `CalculatorGraph`, and of a solution, from several threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import api_model
from api_threads import Calls, draw
from linearizable import DONE, Call, Model

from penstock_mediapipe import packet_creator
from penstock_mediapipe.calculator_graph import CalculatorGraph
from penstock_mediapipe.solution_base import PacketDataType, SolutionBase

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from penstock import Registry
    from penstock_mediapipe.packet import Packet

_GRAPH: Final = (
    'input_stream: "a" output_stream: "b" num_threads: 2 '
    'node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }'
)
#: What comes out is an image, or here a number, and the one before.
_SOLUTION: Final = """
input_stream: "a" output_stream: "b" output_stream: "before"
node {
  calculator: "PreviousLoopbackCalculator"
  input_stream: "MAIN:a" input_stream: "LOOP:b" output_stream: "PREV_LOOP:before"
  input_stream_info { tag_index: "LOOP" back_edge: true }
}
node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }
"""
_HINTS: Final = dict.fromkeys(("a", "b", "before"), PacketDataType.INT)
_VALUE_ERROR, _RUNTIME_ERROR = "ValueError", "RuntimeError"


class ShimCalls(Calls):
    """Calls of MediaPipe's `CalculatorGraph`, whose run ends where a packet cannot be taken."""

    weights: ClassVar = {
        "start": 3, "add": 12, "close_input": 1, "close_sources": 1, "idle": 3, "wait_done": 1,
        "has_error": 2, "message": 2, "add_other": 1,
    }  # fmt: skip
    waiting = frozenset({"idle", "wait_done"})
    last = frozenset({"wait_done"})
    errors = (ValueError, RuntimeError)

    def __init__(self, installed: Registry, order: random.Random) -> None:
        del installed
        plans = draw(order, self.weights, self.last)
        if order.randrange(4):
            plans[0].insert(0, ("start", 0))
        super().__init__(plans)
        self.graph: Final = CalculatorGraph(graph_config=_GRAPH)
        self._came: Final[list[int]] = []
        self.graph.observe_output_stream("b", self._take)

    def _take(self, _: str, packet: Packet) -> None:
        self._came.append(packet.timestamp.value)

    def do(self, name: str, number: int) -> Any:
        """Make a call."""
        graph = self.graph
        if name == "has_error":
            return graph.has_error()
        if name == "message":
            return bool(graph.get_combined_error_message())
        actions: dict[str, Callable[[], object]] = {
            "start": graph.start_run,
            "add": lambda: graph.add_packet_to_input_stream("a", packet_creator.create_int(number), number),
            "add_other": lambda: graph.add_packet_to_input_stream(
                "other", packet_creator.create_int(number), number
            ),
            "close_input": lambda: graph.close_input_stream("a"),
            "close_sources": graph.close_all_packet_sources,
            "idle": graph.wait_until_idle,
            "wait_done": graph.wait_until_done,
        }
        actions[name]()
        return DONE

    def _failed(self, name: str, error: Exception) -> str:
        super()._failed(name, error)
        # an error of Penstock may be both; MediaPipe's programs catch the first
        return _VALUE_ERROR if isinstance(error, ValueError) else _RUNTIME_ERROR

    def free(self) -> None:
        """End the input."""
        self.call("close_input", 0)

    def end(self) -> None:
        """End the run; each packet of it came out, unless it was ended before."""
        for name in ("close_input", "wait_done", "has_error"):
            self.call(name, 0)
        if len([call for call in self.calls if call.name == "start" and call.result == DONE]) == 1:
            added = [call.argument for call in self.calls if call.name == "add" and call.result == DONE]
            is_whole = not any(call.result == _VALUE_ERROR for call in self.calls)
            wanted = sorted(added) if is_whole else sorted(set(self._came))
            if self._came != wanted or not set(self._came) <= set(added):
                self.findings.append(f"{self._came} came out, of {sorted(added)}")

    def model(self) -> Model:
        """Return the model."""
        return Model(_Shim(), api_model.by_itself, _shim_allowed)


class _Shim(NamedTuple):
    """As `api_model.Graph`, with the same names."""

    runs: int = 0
    is_running: bool = False
    bound: int = 0
    is_closed: bool = False
    added: int = 0
    under_way: tuple[int, ...] = ()
    polled: tuple[int, ...] = ()
    has_failed: bool = False
    is_over: bool = False
    is_paused: bool = False
    is_held: bool = False
    steps: int = 0
    was_observed: bool = False

    @property
    def has_begun(self) -> bool:
        return self.runs > 0


def _shim_allowed(graph: _Shim, call: Call) -> Iterator[_Shim]:
    yield from _SHIM[call.name](graph, call)


def _start(graph: _Shim, call: Call) -> Iterator[_Shim]:
    if graph.is_running:
        yield from [graph] * (call.result == _RUNTIME_ERROR)
    elif call.result == DONE:
        yield _Shim(graph.runs + 1, is_running=True)


def _add(graph: _Shim, call: Call) -> Iterator[_Shim]:
    if graph.has_failed:  # also after the end, until the next run begins
        yield from [graph] * (call.result == _VALUE_ERROR)
    elif not graph.is_running:
        yield from [graph] * (call.result == _RUNTIME_ERROR)
    elif call.result != DONE:
        return
    elif graph.is_closed or call.argument < graph.bound:
        yield graph._replace(has_failed=True)
    else:
        yield graph._replace(
            bound=call.argument + 1, added=graph.added + 1, under_way=(*graph.under_way, call.argument)
        )


def _add_other(graph: _Shim, call: Call) -> Iterator[_Shim]:
    yield from [graph] * (call.result == (_VALUE_ERROR if graph.has_failed else _RUNTIME_ERROR))


def _close_input(graph: _Shim, call: Call) -> Iterator[_Shim]:
    if not graph.has_begun:
        yield from [graph] * (call.result == _RUNTIME_ERROR)
    elif call.result == DONE:
        yield graph._replace(is_closed=True)


def _wait(graph: _Shim, call: Call) -> Iterator[_Shim]:
    if not graph.has_begun:
        yield from [graph] * (call.result == _RUNTIME_ERROR)
    elif graph.has_failed:
        if call.result == _VALUE_ERROR and (graph.is_over or not graph.is_running):
            yield graph._replace(is_running=False)
    elif call.result == DONE:
        if call.name == "idle":
            yield from [graph] * (not graph.under_way or graph.is_over)
        elif graph.is_over or not graph.is_running:
            yield graph._replace(is_running=False)


def _look(graph: _Shim, call: Call) -> Iterator[_Shim]:
    yield from [graph] * (call.result == graph.has_failed)


_SHIM: Final = {
    "start": _start, "add": _add, "add_other": _add_other, "close_input": _close_input,
    "close_sources": _close_input, "idle": _wait, "wait_done": _wait, "has_error": _look, "message": _look,
}  # fmt: skip


# --- a solution ---------------------------------------------------------------------------------------


class SolutionCalls(Calls):
    """Calls of a solution: each `process` returns what belongs to its own value, and the value before it."""

    weights: ClassVar = {"process": 12, "reset": 2, "close": 1}
    errors = (ValueError, RuntimeError)

    def __init__(self, installed: Registry, order: random.Random) -> None:
        del installed
        plans = draw(order, self.weights, self.last)
        values = iter(range(1, 100))
        super().__init__([[(name, next(values)) for name, _ in plan] for plan in plans])
        self._solution: Final = SolutionBase(graph_config=_SOLUTION, stream_type_hints=_HINTS)

    def do(self, name: str, number: int) -> Any:
        """Make a call."""
        if name == "process":
            found = self._solution.process({"a": number})
            return found.b, found.before
        getattr(self._solution, name)()
        return DONE

    def _failed(self, name: str, error: Exception) -> str:
        super()._failed(name, error)
        return _VALUE_ERROR if isinstance(error, ValueError) else _RUNTIME_ERROR

    def end(self) -> None:
        """Process once more, and close it."""
        self.call("process", 100)
        self.call("close", 0)

    def model(self) -> Model:
        """Return the model: the value before; -1 for a closed solution."""
        return Model(None, lambda _: iter(()), _solution_allowed)


def _solution_allowed(before: int | None, call: Call) -> Iterator[int | None]:
    if before == -1:
        if call.result == (DONE if call.name == "reset" else _VALUE_ERROR):
            yield before
    elif call.name == "process":
        if call.result == (call.argument, before):
            yield call.argument
    elif call.result == DONE:
        yield None if call.name == "reset" else -1
