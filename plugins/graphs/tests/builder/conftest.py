"""A registry without plugins, and calculators that declare ports and hand packets on."""

import pytest

from penstock import Calculator
from penstock_builder import Graph
from penstock_testing.registry import testing_registry


def calculator(name, declare, process=None):
    members = {
        "get_contract": classmethod(lambda _cls, cc: declare(cc)),
        "process": process or (lambda _self, cc: cc.outputs[0].add_packet(cc.inputs[0].packet)),
    }
    return type(name, (Calculator,), members)


def _thresholds(cc):
    cc.inputs["VIDEO"].set(float)
    cc.inputs["MASK"].set(bool).optional()
    cc.input_side_packets["LIMIT"].set(int).optional()
    cc.outputs["VIDEO"].set(str)
    cc.outputs["COUNT"].set(int).optional()


def _passes(cc):
    assert cc.inputs.ids() == cc.outputs.ids()
    for reader, writer in zip(cc.inputs, cc.outputs, strict=True):
        writer.set_same_as(reader.set_any())
    cc.set_timestamp_offset(0)


def _delays(cc):
    cc.outputs[0].set_same_as(cc.inputs[0].set_any())


def _adds(cc):
    for port in cc.inputs:
        port.set(int)
    cc.outputs[0].set(int)


def _add(_self, cc):
    cc.outputs[0].add(sum(port.payload or 0 for port in cc.inputs), cc.input_timestamp)


class DelayCalculator(Calculator):
    """Gives each packet one later, and 0 at 0: what a loop without a memory needs."""

    @classmethod
    def get_contract(cls, cc):
        _delays(cc)

    def open(self, cc):
        cc.outputs[0].add(0, 0)

    def process(self, cc):
        cc.outputs[0].add(cc.inputs[0].payload, cc.input_timestamp + 1)


@pytest.fixture
def registry():
    return testing_registry(
        calculator("ThresholdCalculator", _thresholds),
        calculator("HandOnCalculator", _passes),
        calculator("AddCalculator", _adds, _add),
        DelayCalculator,
    )


@pytest.fixture
def g(registry):
    return Graph(registry)
