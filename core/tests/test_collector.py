"""The pause of the garbage collector while graphs are loaded."""

import gc
import threading

import pytest

from penstock import Calculator, CalculatorGraph
from penstock.collector import PAUSE, CollectorPause
from penstock.errors import GraphConfigError
from penstock_testing import testing_registry


@pytest.fixture(autouse=True)
def collector():
    was_on = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was_on else gc.disable)()


def test_it_is_off_inside_and_on_again_behind_the_last_one():
    pause = CollectorPause()

    with pause:
        with pause:
            assert not gc.isenabled()
        assert not gc.isenabled()

    assert gc.isenabled()


def test_an_error_ends_it_too():
    pause = CollectorPause()

    with pytest.raises(ValueError, match="inside"), pause:
        raise ValueError("inside")

    assert gc.isenabled()


def test_where_the_application_has_switched_it_off_it_stays_off():
    gc.disable()

    with CollectorPause():
        pass

    assert not gc.isenabled()


def test_another_thread_inside_keeps_it_off():
    pause = CollectorPause()
    is_inside, may_leave = threading.Event(), threading.Event()

    def stay():
        with pause:
            is_inside.set()
            may_leave.wait(30)

    thread = threading.Thread(target=stay)
    with pause:
        thread.start()
        assert is_inside.wait(30)
    assert not gc.isenabled()
    may_leave.set()
    thread.join(30)

    assert gc.isenabled()


def test_calculators_are_asked_and_made_without_it_and_run_with_it():
    seen = {}

    class Looks(Calculator):
        def __init__(self):
            seen["made"] = gc.isenabled()

        @classmethod
        def get_contract(cls, cc):
            seen["asked"] = gc.isenabled()
            cc.output_side_packets["OUT"].set(int)

        def open(self, cc):
            seen["opened"] = gc.isenabled()
            cc.output_side_packets["OUT"].set(1)

    registry = testing_registry(Looks)
    graph = CalculatorGraph('node { calculator: "Looks" output_side_packet: "OUT:a" }', registry=registry)
    graph.run(timeout=30)

    assert seen == {"asked": False, "made": False, "opened": True}


def test_a_graph_that_cannot_run_leaves_it_on():
    with pytest.raises(GraphConfigError):
        CalculatorGraph('node { calculator: "Nowhere" }', registry=testing_registry())

    assert gc.isenabled()
    with PAUSE:
        assert not gc.isenabled()
