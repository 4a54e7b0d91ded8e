"""Options in serialized graphs that would become a thousand times as large as their bytes."""

from __future__ import annotations

import time

import pytest

import penstock
from penstock.config import CalculatorGraphConfig
from penstock.errors import GraphConfigError, ResourceExhaustedError
from penstock_calculators.messages.constant_side_packet_pb2 import ConstantSidePacketCalculatorOptions

#: Far above what each takes here (0.6 s).
SOON_S = 10.0
#: Four million empty packets: fields of the options.
MANY = b"\x0a\0" * (2 * 2**20)


def field(number, content):
    """Return a field of bytes, as protobuf serializes it."""
    made = []
    for value in (number << 3 | 2, len(content)):
        rest = value
        while rest > 127:
            made.append(rest & 127 | 128)
            rest >>= 7
        made.append(rest)
    return bytes(made) + content


def extension():
    options = field(ConstantSidePacketCalculatorOptions.ext.number, MANY)
    return field(1, field(2, b"ConstantSidePacketCalculator") + field(7, options))


def packed():
    graph = CalculatorGraphConfig()
    given = graph.node.add(calculator="ConstantSidePacketCalculator").node_options.add()
    given.type_url = "type.googleapis.com/penstock.ConstantSidePacketCalculatorOptions"
    given.value = MANY
    return graph.SerializeToString()


@pytest.mark.parametrize("make", [extension, packed])
def test_options_of_millions_of_parts_are_counted_before_they_are_read(make, tmp_path):
    path = tmp_path / "g.binarypb"
    path.write_bytes(make())
    begin = time.process_time()
    with pytest.raises((ResourceExhaustedError, GraphConfigError), match="more than the limit 'tokens'"):
        penstock.CalculatorGraph(path)
    assert time.process_time() - begin < SOON_S
