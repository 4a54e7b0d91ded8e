"""More small graphs for `every_order.py`: cycles, limiters, full queues, failures, swaps, five nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from order_case import Case, begins, line, swap

from penstock.lowlevel import CLOCK
from penstock_testing.every_order.stepping import Deed

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_testing import ScheduleHarness


def node(calculator: str, reads: str, writes: str, more: str = "") -> str:
    """Return the text of a node; an input "<name" closes a cycle."""
    streams = []
    for number, name in enumerate(reads.split()):
        tag, _, stream = name.rpartition(":")
        is_back = stream.startswith("<")
        stream = stream.removeprefix("<")
        streams.append(f'input_stream: "{tag}:{stream}"' if tag else f'input_stream: "{stream}"')
        if is_back:
            place = tag or f":{number}"
            streams.append(f'input_stream_info {{ tag_index: "{place}" back_edge: true }}')
    streams += [f'output_stream: "{name}"' for name in writes.split()]
    return f'node {{ calculator: "{calculator}" {" ".join(streams)} {more} }}'


def graph(*nodes: str, size: int = 100) -> str:
    """Return the text of a graph with one input, `a`."""
    return f'input_stream: "a" max_queue_size: {size} {" ".join(nodes)}'


def cycle(size: int = 100, first: str = "") -> str:
    """Return the text of a cycle: each packet of `a` meets the number of those before it."""
    return graph(
        first, node("Both", f"{'b' if first else 'a'} <back", "out"), node("Again", "out", "back"), size=size
    )


def limited(limiter: str, options: str = "", more: str = "", size: int = 100) -> str:
    """Return the text of a limiter before a node, or two."""
    last = node("Double", "b", "c") + node("Double", "c", "out") if more else node("Double", "b", "out")
    return graph(node(limiter, "a FINISHED:<out", "b", options), last, size=size)


def _released(factor: int) -> Callable[[list[Any]], bool]:
    """Return whether packets are in order, none twice, and the first of all is among them."""
    return lambda came: came == sorted(set(came)) and came[:1] == [factor]


def _swapped_or_ended(came: list[Any]) -> bool:
    """Return whether the swapped node wrote from one moment on, and a cancel ended the run at any."""
    return came in [([2, 4][:count] + [-1, -2][count:])[:end] for count in range(3) for end in range(3)]


def _cancel(harness: ScheduleHarness) -> None:
    harness.cancel()


def _limiter(in_flight: int, in_queue: int) -> str:
    fields = f"max_in_flight: {in_flight} max_in_queue: {in_queue}"
    return f"options {{ [penstock.FlowLimiterCalculatorOptions.ext] {{ {fields} }} }}"


_BUDGET: Final = (
    "node_options { [type.googleapis.com/penstock_calculators.BudgetCalculatorOptions] { latency_ms: 80 } }"
)
_STILL: Final = {"services": {CLOCK: lambda: 0.0}}
#: What has gone round comes out once more, without a packet of the input.
_CYCLE_RESULT: Final = [(1, 0), (2, 1), (3, 2), (None, 3)]
_THREE: Final = {"a": [0, 1, 2]}
_SIX: Final = {"a": [0, 1, 2, 3, 4, 5]}
_LAST: Final = ("Double", "b", "out")
_FORK: Final = (node("Double", "a", "b"), node("Late", "a", "c"), node("Both", "b c", "out"))
_FIVE_WAYS: Final = (
    node("Double", "a", "b"), node("Late", "a", "c"), node("Both", "b c", "d"), node("Both", "d", "e"),
    node("Both", "e c", "out"),
)  # fmt: skip
_FIVE_IN_LINE: Final = [("Double", x, y) for x, y in zip("abcde", ["b", "c", "d", "e", "out"], strict=True)]
_LAYERS: Final = (
    node("Two", "", "b", "source_layer: 1"), node("Two", "", "c"), node("Both", "b c", "out"),
)  # fmt: skip

MORE: Final[tuple[Case, ...]] = (
    # --- cycles
    Case("a cycle", cycle(), _THREE, _CYCLE_RESULT.__eq__),
    Case("a cycle, queues of one packet", cycle(1), _THREE, _CYCLE_RESULT.__eq__),
    Case(
        "PreviousLoopbackCalculator",
        graph(
            node("PreviousLoopbackCalculator", "MAIN:a LOOP:<out", "PREV_LOOP:b"), node("Both", "a b", "out")
        ),
        {"a": [0, 2]},
    ),
    # --- limiters
    Case("FlowLimiterCalculator", limited("FlowLimiterCalculator"), _THREE, _released(2), errors=0),
    Case(
        "FlowLimiterCalculator, one packet waits",
        limited("FlowLimiterCalculator", _limiter(1, 1)),
        {"a": [0, 1]},
        _released(2),
        errors=0,
    ),
    Case(
        "FlowLimiterCalculator, two in flight, two nodes",
        limited("FlowLimiterCalculator", _limiter(2, 0), "two"),
        _THREE,
        _released(4),
        errors=0,
        is_long=True,
    ),
    Case(
        "RealTimeFlowLimiterCalculator",
        limited("RealTimeFlowLimiterCalculator"),
        _THREE,
        _released(2),
        errors=0,
    ),
    Case(
        "BudgetCalculator, a clock that stands still",
        limited("BudgetCalculator", _BUDGET),
        {"a": [0, 1]},
        _released(2),
        given=_STILL,
        errors=0,
    ),
    # --- full queues
    Case("a full queue that no node can empty", graph(*_FORK, size=1), _THREE, errors=0),
    Case(
        "the same, reported",
        graph(*_FORK, size=1) + " report_deadlock: true",
        _THREE,
        lambda came: came == [(2, 1), (4, None), (6, 3)][: len(came)],
    ),
    Case("two layers of sources", graph(*_LAYERS).replace('input_stream: "a"', ""), {}),
    # --- failures
    Case(
        "a failed call, two at a time: SKIP",
        line(("FailsAtOne", "a", "out", "max_in_flight: 2 failure { on_error: SKIP }")),
        _THREE,
        errors=0,
    ),
    Case(
        "a failed call: FALL_BACK",
        line(
            ("FailsAtOne", "a", "b", 'failure { on_error: FALL_BACK fallback { calculator: "Double" } }'),
            _LAST,
        ),
        {"a": [0, 1]},
        errors=0,
    ),
    Case(
        "a failed open: RESTART",
        line(("FailsToOpenOnce", "a", "out", "failure { on_error: RESTART max_restarts: 3 }")),
        {"a": [0, 1]},
        errors=0,
    ),
    Case("a failed close", line(("FailsToClose", "a", "b"), _LAST), {"a": [0]}, begins(4), errors=1),
    Case(
        "a failed source: RESTART",
        graph(node("BadSource", "", "b", "failure { on_error: RESTART }"), node(*_LAST)).replace(
            'input_stream: "a"', ""
        ),
        {},
        errors=0,
    ),
    Case(
        "a failed call in a cycle: SKIP",
        cycle(first=node("FailsAtOne", "a", "b", "failure { on_error: SKIP }")),
        {"a": [0, 1]},
        errors=0,
    ),
    # --- swaps
    Case(
        "a swap at any moment, two calls at a time",
        line(("Double", "a", "out", "max_in_flight: 2")),
        {"a": [0, 1]},
        lambda came: came in [[2, 4], [2, -2], [-1, -2]],
        (Deed("swap", swap),),
        may_move=True,
    ),
    Case(
        "a swap and a cancel at any moments",
        line(("Double", "a", "out")),
        {"a": [0, 1]},
        _swapped_or_ended,
        (Deed("swap", swap), Deed("cancel", _cancel)),
        may_move=True,
    ),
    Case(
        "a swap at any moment before a cycle",
        cycle(first=node("Double", "a", "b")),
        {"a": [0, 1]},
        lambda came: came[:2] in [[(2, 0), (4, 1)], [(2, 0), (-2, 1)], [(-1, 0), (-2, 1)]],
        (Deed("swap", swap),),
        may_move=True,
        is_long=True,
    ),
    # --- five nodes, six packets
    Case("five nodes in a line, six packets", line(*_FIVE_IN_LINE), _SIX, is_long=True),
    Case(
        "five nodes in a line, six packets, queues of one",
        line(*_FIVE_IN_LINE, more="max_queue_size: 1"),
        _SIX,
        is_long=True,
    ),
    Case(
        "five nodes that part and meet twice, queues of one", graph(*_FIVE_WAYS, size=1), _SIX, is_long=True
    ),
    Case("five nodes that part and meet twice", graph(*_FIVE_WAYS), _THREE, is_long=True),
    Case(
        "five nodes, one of them a limiter, six packets",
        graph(
            node("FlowLimiterCalculator", "a FINISHED:<out", "b"),
            *(node("Double", x, y) for x, y in zip("bcde", ["c", "d", "e", "out"], strict=True)),
            size=1,
        ),
        _SIX,
        _released(16),
        errors=0,
        is_long=True,
    ),
    Case(
        "five nodes, one of them skips, six packets",
        line(
            *_FIVE_IN_LINE[:2],
            ("FailsAtOne", "c", "d", "failure { on_error: SKIP }"),
            *_FIVE_IN_LINE[3:],
            more="max_queue_size: 1",
        ),
        _SIX,
        errors=0,
        is_long=True,
    ),
    Case(
        "a cancel at any moment, five nodes in a line",
        line(*_FIVE_IN_LINE, more="max_queue_size: 1"),
        _THREE,
        begins(32, 64, 96),
        (Deed("cancel", _cancel),),
        is_long=True,
    ),
)
