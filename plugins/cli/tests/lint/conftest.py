"""The calculators that the example graphs of the rules name, and a registry with them."""

from __future__ import annotations

import threading

import pytest

import penstock
from penstock import Subgraph
from penstock.packs import default_registry
from penstock_gpu import GlCalculatorHelper


def types(cc, offset=0):
    for port in (*cc.inputs, *cc.outputs):
        port.set_any()
    if offset is not None:
        cc.set_timestamp_offset(offset)


class JoinCalculator(penstock.Calculator):
    """Writes the payloads of each input set as a list, None where there is none."""

    @classmethod
    def get_contract(cls, cc):
        types(cc)

    def process(self, cc):
        row = [None if port.is_empty() else port.payload for port in cc.inputs]
        cc.outputs[0].add(row, cc.input_timestamp)


class DifferenceCalculator(penstock.Calculator):
    """Subtracts the second input from the first, and takes for granted that both have a packet."""

    @classmethod
    def get_contract(cls, cc):
        types(cc)

    def process(self, cc):
        cc.outputs[0].add(cc.inputs[0].payload - cc.inputs[1].payload, cc.input_timestamp)


class EitherCalculator(JoinCalculator):
    """The same, without a promise about timestamps; packets behind the bound are left out."""

    @classmethod
    def get_contract(cls, cc):
        types(cc, None)

    def process(self, cc):
        if int(cc.input_timestamp) >= cc.outputs[0].bound:
            super().process(cc)


class OddCalculator(penstock.Calculator):
    """Forwards odd timestamps, and says nothing of the others."""

    @classmethod
    def get_contract(cls, cc):
        types(cc, None)
        cc.declare(may_skip=True, stateless=True)

    def process(self, cc):
        if int(cc.input_timestamp) % 2:
            cc.outputs[0].add_packet(cc.inputs[0].packet)


class SettlingOddCalculator(OddCalculator):
    """Forwards odd timestamps, and settles the others."""

    @classmethod
    def get_contract(cls, cc):
        types(cc)
        cc.declare(may_skip=True, stateless=True)


class ModelCalculator(penstock.Calculator):
    """Slow: takes as long as the test lets it."""

    #: Set while calls may end.
    go = threading.Event()

    @classmethod
    def get_contract(cls, cc):
        types(cc)
        cc.declare(cost="high", may_skip=False)

    def process(self, cc):
        assert self.go.wait(20)
        cc.outputs[0].add_packet(cc.inputs[0].packet)


class CameraCalculator(penstock.Calculator):
    """Three images; each camera has a clock of its own."""

    @classmethod
    def get_contract(cls, cc):
        types(cc, None)
        cc.declare(is_live=True)

    def open(self, cc):
        self.count = 0
        self.start = 10 + cc.node_name.endswith("2")

    def process(self, cc):
        if self.count == 3:
            return penstock.STOP
        cc.outputs[0].add(f"image {self.count}", self.start + 10 * self.count)
        self.count += 1
        return None


class CountCalculator(penstock.Calculator):
    """Numbers the packets."""

    @classmethod
    def get_contract(cls, cc):
        types(cc)
        cc.declare(stateless=False)

    def open(self, cc):
        self.count = 0

    def process(self, cc):
        self.count += 1
        cc.outputs[0].add(self.count, cc.input_timestamp)


class FiveLateCalculator(penstock.Calculator):
    """Forwards each packet when the fifth one after it has come."""

    @classmethod
    def get_contract(cls, cc):
        types(cc, None)

    def open(self, cc):
        self.seen = []

    def process(self, cc):
        self.seen.append(cc.inputs[0].packet)
        if len(self.seen) == 6:
            cc.outputs[0].add_packet(self.seen.pop(0))


class GpuDrawingCalculator(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        types(cc)
        GlCalculatorHelper.update_contract(cc)


class GpuModelCalculator(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        types(cc)
        cc.declare(cost="high")
        GlCalculatorHelper.update_contract(cc)


class BlurSubgraph(Subgraph):
    @classmethod
    def get_config(cls, sc):
        return """input_stream: "in" output_stream: "out"
            node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }"""


CALCULATORS = (
    JoinCalculator,
    DifferenceCalculator,
    EitherCalculator,
    OddCalculator,
    SettlingOddCalculator,
    ModelCalculator,
    CameraCalculator,
    CountCalculator,
    FiveLateCalculator,
    GpuDrawingCalculator,
    GpuModelCalculator,
)


@pytest.fixture
def registry():
    made = default_registry().child()
    for one in CALCULATORS:
        made.add("calculator", one.__name__, one)
    made.add("subgraph", "shop.Blur", BlurSubgraph)
    made.add("subgraph", "Blur", BlurSubgraph)
    return made


@pytest.fixture(autouse=True)
def go():
    """Let the slow calculator work; a test that clears it must set it again."""
    ModelCalculator.go.set()
    yield ModelCalculator.go
    ModelCalculator.go.set()
