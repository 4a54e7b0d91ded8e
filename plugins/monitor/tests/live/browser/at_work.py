"""Calculators for the tests, in a module that workers can import without pytest."""

from __future__ import annotations

import os
import threading

import penstock

PATIENCE_S = 60.0


class Gate:
    """A payload that a calculator stops at."""

    def __init__(self):
        self.is_reached, self.is_open = threading.Event(), threading.Event()


@penstock.register_calculator
class StopsWhenTold(penstock.Calculator):
    """Passes its input on; at a gate it stops until that is open."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc):
        payload = cc.inputs[0].payload
        if isinstance(payload, Gate):
            payload.is_reached.set()
            assert payload.is_open.wait(PATIENCE_S)
        cc.outputs[0].add(payload, cc.input_timestamp)


@penstock.register_calculator
class WhereAmI(penstock.Calculator):
    """Writes the id of its process for each packet."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        cc.outputs[0].add(os.getpid(), cc.input_timestamp)
