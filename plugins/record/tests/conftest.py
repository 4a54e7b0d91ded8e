"""Calculators for graphs that are recorded, and a registry with them."""

from __future__ import annotations

import zlib

import pytest

import penstock
from penstock.packs import default_registry


class MixCalculator(penstock.Calculator):
    """Writes a number made of all that it has got at a timestamp, and forwards the header of its first "
    "input."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.set_timestamp_offset(0)

    def open(self, cc):
        self.header = b""
        if not cc.inputs[0].header.is_empty():
            cc.outputs[0].set_header(cc.inputs[0].header)
            self.header = repr(cc.inputs[0].header.payload).encode()

    def process(self, cc):
        words = [b"-" if port.is_empty() else repr(port.payload).encode() for port in cc.inputs]
        value = zlib.crc32(b"|".join([self.header, str(cc.input_timestamp).encode(), *words]))
        for i, output in enumerate(cc.outputs):
            if (value + i) % 4:  # some timestamps have no packet
                output.add(payload_of(value + i), cc.input_timestamp)


class LateCalculator(penstock.Calculator):
    """Forwards each packet when the next one comes; promises nothing before."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()

    def open(self, cc):
        self.last = None

    def process(self, cc):
        if self.last is not None:
            cc.outputs[0].add_packet(self.last)
        self.last = cc.inputs[0].packet

    def close(self, cc):
        if self.last is not None:
            cc.outputs[0].add_packet(self.last)


def payload_of(number):
    """Return a payload whose type depends on a number too."""
    kinds = (
        number,
        number / 7,
        f"{number} \u00fc",
        number.to_bytes(8, "little"),
        (number, "pair"),
        [number, None, True],
        {"key": number, "more": [1.5]},
        {number: (1,)},
        number << 70,
        -number,
    )
    return kinds[number % len(kinds)]


@pytest.fixture
def registry():
    made = default_registry().child()
    for one in (MixCalculator, LateCalculator):
        made.add("calculator", one.__name__, one)
    return made
