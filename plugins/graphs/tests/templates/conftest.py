"""A registry with one calculator, which passes packets on."""

import pytest

from penstock import Calculator
from penstock_testing import testing_registry


class PassCalculator(Calculator):
    """Passes each input on to the output of the same index."""

    @classmethod
    def get_contract(cls, cc):
        for reader, writer in zip(cc.inputs, cc.outputs, strict=True):
            reader.set_any()
            writer.set_same_as(reader)

    def process(self, cc):
        for reader, writer in zip(cc.inputs, cc.outputs, strict=True):
            if not reader.is_empty():
                writer.add_packet(reader.packet)


@pytest.fixture
def registry():
    return testing_registry(PassCalculator)
