"""Policies that keep or drop packets, behind queues of one packet: no run hangs or reports a deadlock."""

from __future__ import annotations

import pytest

from penstock import STOP
from penstock_stream_handlers.inner_join import InnerJoin
from penstock_stream_handlers.latest import Latest
from penstock_stream_handlers.messages.nearest_pb2 import NearestOptions
from penstock_stream_handlers.messages.timeout_pb2 import TimeoutOptions
from penstock_stream_handlers.nearest import Nearest
from penstock_stream_handlers.timeout import Timeout
from penstock_testing import calculator, explore, node, wired

A = (0, 3, 6, 9, 12, 40)
B = (1, 2, 3, 4, 5, 6, 7, 8, 20, 21)


def source(times, name):
    """Make a source that writes its timestamps at these times."""

    class Times(calculator(name=name)):
        def open(self, cc):
            self._left = list(times)

        def process(self, cc):
            if not self._left:
                return STOP
            cc.output.add(self._left[0], self._left.pop(0))
            return None

    Times.__name__ = name
    return Times


def tell(cc):
    cc.output.add(tuple(port.payload for port in cc.inputs), cc.input_timestamp)


Tell = calculator(tell, name="Tell")


@pytest.mark.parametrize(
    ("handler", "options", "expected"),
    [
        (InnerJoin, [], [(3, 3), (6, 6)]),
        (Latest, [], [(0, None), (3, 3), (6, 6), (9, 8), (12, 8), (40, 21)]),
        (
            Nearest,
            [NearestOptions(tolerance=4)],
            [(0, 1), (3, 3), (6, 6), (9, 8), (12, 8), (40, None)],
        ),
        (
            Timeout,
            [TimeoutOptions(timeout_ms=1000)],
            [(t if t in A else None, t if t in B else None) for t in sorted({*A, *B})],
        ),
    ],
)
def test_sources_of_two_speeds_run_to_their_end_in_every_order(handler, options, expected):
    plan = wired(
        node(source(A, "A"), outputs="a"),
        node(source(B, "B"), outputs="b"),
        node(Tell, "a b", "out", handler=handler, options=options),
        max_queue_size=1,
        report_deadlock=True,
    )

    carried = explore(plan, lambda harness: harness.start().finish(), observe=["out"])

    assert [payload for _, payload in carried["out"]] == expected
