"""`blocking`: the streams for which a policy waits."""

from __future__ import annotations

import pytest

from penstock_stream_handlers.barrier import BarrierInputStreamHandler
from penstock_stream_handlers.default import DefaultInputStreamHandler
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_stream_handlers.messages.sync_set_pb2 import SyncSetInputStreamHandlerOptions
from penstock_stream_handlers.messages.timestamp_align_pb2 import (
    TimestampAlignInputStreamHandlerOptions,
)
from penstock_stream_handlers.mux import MuxInputStreamHandler
from penstock_stream_handlers.sync_set import SyncSetInputStreamHandler
from penstock_stream_handlers.timestamp_align import TimestampAlignInputStreamHandler

MUX = "INPUT:0:a INPUT:1:b SELECT:s"
ALIGN = "A:a B:b"
BASE = TimestampAlignInputStreamHandlerOptions(timestamp_base_tag_index="A")
SETS = SyncSetInputStreamHandlerOptions(sync_set=[{"tag_index": [":0", ":1"]}])


@pytest.mark.parametrize(
    ("node", "packets", "expected"),
    [
        ((DefaultInputStreamHandler, "a b c"), [], ["a", "b", "c"]),
        ((DefaultInputStreamHandler, "a b c"), [("a", 5), ("b", 9)], ["c"]),
        ((ImmediateInputStreamHandler, "a b"), [("a", 5)], ["a", "b"]),
        ((BarrierInputStreamHandler, "a b"), [("a", 5)], ["b"]),
        ((SyncSetInputStreamHandler, "a b c", SETS), [("a", 5)], ["b", "c"]),
        ((MuxInputStreamHandler, MUX), [("a", 5)], ["s"]),
        ((MuxInputStreamHandler, MUX), [("s", 5)], ["b"]),
        ((TimestampAlignInputStreamHandler, ALIGN, BASE), [("b", 5)], ["a"]),
        ((TimestampAlignInputStreamHandler, ALIGN, BASE), [("b", 5), ("a", 100), ("b", 7)], ["a"]),
        ((TimestampAlignInputStreamHandler, ALIGN, BASE), [("b", 5), ("a", 100), ("a", 107)], ["b"]),
    ],
)
def test_a_policy_names_the_streams_for_which_its_node_waits(watched, node, packets, expected):
    run = watched(*node)
    for stream, stamp in packets:
        run.add(stream, stamp, payload=1 if stream == "s" else None)

    assert [stream.name for stream in run.harness.node("watched").policy.blocking()] == expected
