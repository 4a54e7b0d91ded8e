"""The model of a run holds what it must in every state, and the engine does what the model says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.engine.schedule import Schedule
from penstock_testing.every_order.search import every_order

SCRIPTS = Path(__file__).parent.parent / "scripts" / "proof"
sys.path.insert(0, str(SCRIPTS))
try:
    import check_model
    from model_beside_engine import Beside, plan_of
    from model_graphs import all_graphs, random_graph, special_graphs
    from model_search import ModelError, checked, every_state
    from stream_model import ENDED, READY_TO_CLOSE, Box, Drawing, Model
finally:
    sys.path.remove(str(SCRIPTS))

SPECIAL = special_graphs()


def test_every_graph_of_one_node_and_some_of_two_and_three_hold_what_they_must():
    found = check_model.check_part(1, range(len(all_graphs(1))))
    for nodes, step in ((2, 26), (3, 529)):
        found = found.plus(check_model.check_part(nodes, range(0, len(all_graphs(nodes)), step)))

    assert found.fault == ""
    assert found.graphs == 110 + 100 + 150
    assert found.states > 20_000


@pytest.mark.parametrize("name", SPECIAL)
def test_sources_and_cycles_hold_what_they_must(name):
    found = checked(SPECIAL[name])
    apart = every_state(Model(SPECIAL[name], begins_at_once=False))

    assert apart.outcomes == found.outcomes
    assert apart.orders >= found.orders


def test_the_engine_does_what_the_model_says():
    found = check_model.check_beside(range(250))

    assert found.fault == ""
    assert found.actions > 4_000


@pytest.mark.parametrize(
    "name", ["a cycle", "a source, queues of one packet", "a source, two ways that meet"]
)
def test_special_graphs_do_in_the_engine_what_the_model_says(name):
    for seed in range(10):
        assert Beside(SPECIAL[name]).to_the_end(seed) > 10


@pytest.mark.parametrize(
    "drawing",
    [
        Drawing(((0, 1),), (Box("both", (0,), 0), Box("both", (1,), 0)), observed=(2,)),
        Drawing(((0, 1),), (Box("odd", (0,)), Box("both", (0, 1))), 1, observed=(2,)),
        Drawing(((0, 2), (1,)), (Box("both", (0, 1), 0), Box("later", (2,), 1)), 1),
        SPECIAL["a cycle, queues of one packet"],
    ],
)
def test_engine_and_model_have_as_many_orders(drawing):
    engine = every_order(
        plan_of(drawing),
        {f"s{n}": [(at, count + 1) for count, at in enumerate(fed)] for n, fed in enumerate(drawing.inputs)},
        observe=[f"s{s}" for s in drawing.observed],
    )
    model = every_state(Model(drawing))

    assert engine.orders == model.orders
    assert engine.states >= model.states


class ReadyTooSoon(Model):
    """A node does not wait for an input that can still bring the timestamp."""

    def ready_at(self, state, number):
        heads = [state.queues[place][0][0] for place in self.of_box[number] if state.queues[place]]
        return min(heads) if heads else super().ready_at(state, number)


class NoDeadlockRule(Model):
    """Limits are never raised."""

    def raise_limits(self, state, sources):
        return False


class PassesTooMuchOn(Model):
    """A node passes on more than its inputs promise."""

    def passed_on(self, state, number):
        return super().passed_on(state, number) + 1


class ForgetsTheRest(Model):
    """A node closes as soon as one of its inputs has ended."""

    def ready_at(self, state, number):
        bounds = [state.bounds[stream] for stream in self.boxes[number].reads]
        return ENDED if ENDED in bounds else super().ready_at(state, number)


class NeverCloses(Model):
    """A node whose inputs have ended stays open."""

    def _look(self, state, number):
        has_changed = super()._look(state, number)
        if state.phases[number] == READY_TO_CLOSE:
            state.phases[number] = 3
            return False
        return has_changed


class NeverWaits(Model):
    """A full queue makes nothing wait."""

    def waits(self, state, source):
        return False


BROKEN = {
    ReadyTooSoon: "orders end differently|a node was called|and then|are meant|is meant",
    NoDeadlockRule: "nothing can be done",
    PassesTooMuchOn: "its bound is|and then .* came|is meant|orders end differently|has fallen",
    ForgetsTheRest: "is meant|orders end differently",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_wrong_rule_is_found_by_looking_at_all_states(kind):
    graphs = all_graphs(3)

    def check():
        for number in range(0, len(graphs), 211):
            checked(graphs[number], kind, is_open=True)

    with pytest.raises(ModelError, match=BROKEN[kind]):
        check()


@pytest.mark.parametrize("kind", [*BROKEN, NeverCloses, NeverWaits])
def test_a_rule_that_the_engine_does_not_have_is_found_beside_it(kind):
    def run():
        for seed in range(300):
            Beside(random_graph(seed), kind).to_the_end(seed)

    with pytest.raises(ModelError, match="the engine has"):
        run()


@pytest.mark.parametrize("method", ["_forward", "_resolve_deadlock"])
def test_an_engine_without_a_rule_is_found_beside_the_model(method, monkeypatch):
    try:
        monkeypatch.setattr(Schedule, method, lambda *_: False)
    except TypeError:
        pytest.skip("the compiled engine cannot be changed")

    assert "the engine has" in check_model.check_beside(range(300)).fault


@pytest.mark.parametrize(("more", "graphs"), [([], 23), (["--share", "3/900"], 1 + 3 + 89)])
def test_the_script_counts_and_says_what_it_did(more, graphs, monkeypatch, capsys):
    monkeypatch.setattr(check_model, "_PART", 5)
    monkeypatch.setattr(sys, "argv", ["check_model.py", "--count", "23", "--beside", "20", *more])

    assert check_model.main() == 0
    told = capsys.readouterr().out
    assert told.startswith(f"model: {graphs + len(SPECIAL)} graphs, ")
    assert "beside the engine: 20 runs, " in told


def test_the_parts_of_all_graphs_have_each_graph_once():
    parts = [check_model.share_of_all(number, 7) for number in range(7)]
    found = [(nodes, number) for part in parts for nodes, numbers in part for number in numbers]

    assert len(found) == len(set(found)) == sum(len(all_graphs(nodes)) for nodes in (1, 2, 3))
