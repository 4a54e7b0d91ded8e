"""All orders of small graphs: they are counted rightly, and an order that shows is found and made small."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from penstock import Calculator
from penstock.errors import InternalError, InvalidArgumentError, ResourceExhaustedError
from penstock_testing import calculator, node, wired
from penstock_testing.every_order.choosers import Priorities, by_order
from penstock_testing.every_order.search import every_order, replay
from penstock_testing.every_order.stepping import Deed, SteppedRun
from penstock_testing.switches import Decisions, as_text, fewest, from_text

pytestmark = pytest.mark.heavy

Double = calculator(
    lambda cc: cc.output.add(2 * cc.input.payload, cc.input_timestamp), name="Double", offset=0
)


class First(Calculator):
    """Writes what came first on any input, whatever its timestamp: it depends on order."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def open(self, cc):
        self.has_written = False

    def process(self, cc):
        if not self.has_written:
            self.has_written = True
            cc.output.add(next(port.payload for port in cc.inputs if not port.is_empty()), 0)


class Each(node(Double, "a").handler):
    """Takes each packet alone."""

    def sync_sets(self):
        return [[position] for position in range(len(self.inputs))]


def two_in_a_line():
    return wired(node(Double, "a", "b"), node(Double, "b", "c"), inputs="a")


def racing():
    return wired(node(First, "a b", "c", handler=Each), inputs="a b")


def test_orders_of_one_node_are_as_many_as_by_hand():
    found = every_order(wired(node(calculator(name="Nothing")), inputs="a"), {"a": []}, observe=[])

    # the node opens and the input closes, in either order; then the node closes
    assert found.orders == 2
    assert len(found.outcomes) == 1


def test_steps_that_start_at_once_and_those_that_start_later_have_the_same_outcomes():
    for plan, feeds in ((two_in_a_line(), {"a": [(0, 1)]}), (racing(), {"a": [(0, 1)], "b": [(1, 2)]})):
        fewer = every_order(plan, feeds, observe=["c"])
        all_of_them = every_order(plan, feeds, observe=["c"], reduces=False)

        assert all_of_them.orders > fewer.orders
        found = sorted(str(outcome) for outcome, _ in fewer.outcomes)
        assert found == sorted(str(outcome) for outcome, _ in all_of_them.outcomes)


def test_a_result_that_depends_on_order_is_found_with_an_order_that_gives_it():
    feeds = {"a": [(0, "a")], "b": [(1, "b")]}
    found = every_order(racing(), feeds, observe=["c"])

    assert sorted(outcome.carried["c"][0][1] for outcome, _ in found.outcomes) == ["a", "b"]
    for outcome, choices in found.outcomes:
        run = SteppedRun(racing(), feeds, observe=["c"])
        told = replay(run, choices)
        assert run.outcome() == outcome
        first = outcome.carried["c"][0][1]
        assert (
            told.index(f"feed {first}: add a packet") < told.index("First: end process at 0") or first == "b"
        )


def test_a_run_that_stands_still_in_one_order_is_an_error_with_that_order():
    pause = Deed("pause", lambda harness: harness.pause())

    with pytest.raises(InternalError, match="nothing can be done, and the run has not ended") as caught:
        every_order(two_in_a_line(), {"a": [(0, 1)]}, [pause], observe=["c"])

    assert "the order: [" in caught.value.__notes__[0]


def test_too_many_states_are_refused():
    with pytest.raises(ResourceExhaustedError, match="more than 20 states; give fewer packets"):
        every_order(two_in_a_line(), {"a": [(0, 1), (1, 2)]}, most_states=20)


@pytest.mark.parametrize("chooser", [by_order(3), Priorities(3), Priorities(4, changes=0)])
def test_runs_by_other_choosers_end_with_the_same_packets(chooser):
    run = SteppedRun(two_in_a_line(), {"a": [(at, at) for at in range(6)]}, observe=["c"])
    run.to_the_end(chooser)

    assert run.outcome().carried == {"c": [(at, 4 * at) for at in range(6)]}


def test_the_choices_of_a_run_give_the_same_run_again():
    feeds = {"a": [(0, "a")], "b": [(1, "b")]}
    for seed in range(10):
        run = SteppedRun(racing(), feeds)
        choices = run.to_the_end(Priorities(seed))
        again = SteppedRun(racing(), feeds)
        again.to_the_end(by_order({place: chosen for place, chosen in enumerate(choices) if chosen}))
        assert again.harness.log == run.harness.log


def test_the_fewest_items_are_found():
    asked = []

    def fails(items):
        asked.append(items)
        return {3, 17} <= set(items)

    assert fewest(range(40), fails) == [3, 17]
    assert len(asked) < 60
    assert fewest([], fails) == []
    assert len(fewest(range(40), fails, 2)) > 2


def test_orders_are_written_and_read():
    for order in (17, {4: 1, 9: 2}, {}):
        assert from_text(as_text(order)) == order
    for text in ("", "4:", "x", "1:2,3"):
        with pytest.raises(InvalidArgumentError, match="give a seed, or places and choices"):
            from_text(text)


def test_decisions_that_are_too_large_mean_the_last():
    decisions = Decisions({1: 9})
    assert [decisions.randrange(3), decisions.randrange(3), decisions.choice("xy")] == [0, 2, "x"]
    assert decisions.switches() == {1: 2}


FAILING = """
from penstock import Calculator
from penstock_testing import calculator, node, wired
from penstock_testing.one_set import OneSetInputStreamHandler

class First(Calculator):
    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def open(self, cc):
        self.has_written = False

    def process(self, cc):
        if not self.has_written:
            self.has_written = True
            cc.output.add(next(port.payload for port in cc.inputs if not port.is_empty()), 0)

class Each(OneSetInputStreamHandler):
    def sync_sets(self):
        return [[position] for position in range(len(self.inputs))]

def to(name):
    return calculator(lambda cc: cc.output.add(name, cc.input_timestamp), name=name, offset=0)

def test_order(schedules):
    lines = [node(to("B"), "a", "b"), node(to("C"), "a", "c"), node(First, "b c", "d", handler=Each)]
    schedules(wired(*lines, inputs="a"), {"a": [(at, at) for at in range(5)]})
"""


def pytest_says(folder, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=100)
    return said.returncode, said.stdout + said.stderr


def test_a_failing_test_prints_the_command_that_takes_the_order_again(tmp_path):
    (tmp_path / "test_it.py").write_text(FAILING)
    status, told = pytest_says(tmp_path, "--penstock-orders", "60")
    assert (status, "stream 'd' depends on the order of steps" in told) == (1, True)
    assert "1 of 5 packets are enough: " in told

    orders = re.findall(r"--penstock-order (\S+) 'test_it.py::test_order'", told)
    assert len(orders) >= 2
    for order in orders[:2]:
        status, told = pytest_says(tmp_path, "--penstock-order", order, "test_it.py::test_order")
        assert (status, "depends on the order of steps" in told) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--penstock-orders", "0"], "--penstock-orders 0: give 1 or more"),
     (["--penstock-order", "x"], "order of switches 'x': give a seed, or places and choices")],
)  # fmt: skip
def test_options_without_meaning_are_refused(tmp_path, arguments, message):
    status, told = pytest_says(tmp_path, *arguments)
    assert status == 4
    assert message in told
