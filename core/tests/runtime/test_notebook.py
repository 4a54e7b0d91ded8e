"""What a notebook shows of a graph: its text, and what plugins draw."""

from __future__ import annotations

import logging
import types

import pytest

import penstock
from penstock import hookimpl
from penstock_testing import calculator, testing_registry

Join = calculator(name="Join", offset=0)
GRAPH = 'input_stream: "in" node { calculator: "Join" input_stream: "in" }'
PLAIN = {"text/plain": "<CalculatorGraph of 1 nodes>"}


@pytest.fixture
def graph():
    return penstock.CalculatorGraph(GRAPH, registry=testing_registry(Join))


@pytest.fixture
def drawing(without, penstock_plugins):
    """Return a function that installs a plugin whose hook is the one given; the official one is not there."""

    def install(name, draw):
        without("penstock-views")
        module = types.ModuleType(name)
        module.penstock_mimebundle = hookimpl(specname="penstock_mimebundle")(draw)
        assert penstock_plugins(name, module).state == "loaded"

    return install


def test_without_a_plugin_that_draws_the_text_is_shown(graph, without) -> None:
    without("penstock-views")

    assert graph._repr_mimebundle_() == PLAIN


def test_a_plugin_is_given_the_config_and_the_text_and_what_it_returns_is_shown(graph, drawing) -> None:
    drawing("draws", lambda config, plain: {"text/x": f"{config.node[0].calculator} in {plain}"})

    assert graph._repr_mimebundle_(include=None, exclude=None) == {
        **PLAIN,
        "text/x": "Join in <CalculatorGraph of 1 nodes>",
    }


def test_the_first_plugin_that_returns_something_draws_the_graph(graph, drawing) -> None:
    drawing("early", lambda: {"text/x": "early"})
    drawing("late", lambda: {"text/x": "late"})
    drawing("later", lambda: None)

    assert graph._repr_mimebundle_()["text/x"] == "late"


@pytest.mark.parametrize("draw", [lambda: 1 / 0, lambda: 7], ids=["raises", "returns no mapping"])
def test_a_plugin_that_fails_is_logged_and_the_next_one_draws(graph, drawing, draw, caplog) -> None:
    drawing("draws", lambda: {"text/x": "drawn"})
    drawing("fails", draw)

    assert graph._repr_mimebundle_() == {**PLAIN, "text/x": "drawn"}
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.getMessage() == "plugin 'fails': its hook penstock_mimebundle failed"


def test_plugins_that_cannot_be_loaded_leave_the_text(graph, without, monkeypatch) -> None:
    without()
    monkeypatch.setenv("PENSTOCK_NO_PLUGINS", "perhaps")

    assert graph._repr_mimebundle_() == PLAIN
