from __future__ import annotations

import sys

import pytest

import penstock_builder as builder
from penstock import Calculator, CalculatorGraph
from penstock_testing import testing_registry
from penstock_views.draw import Drawing, DrawnNode, Port
from penstock_views.draw.notebook import mimebundle


class Hands(Calculator):
    """Does nothing; it is only drawn."""

    @classmethod
    def get_contract(cls, cc) -> None:
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def process(self, cc) -> None:
        """Takes what comes."""


TEXT = 'input_stream: "a" node { calculator: "Hands" input_stream: "a" output_stream: "b" }'


def test_a_graph_shows_its_drawing() -> None:
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    graph = CalculatorGraph(TEXT, registry=testing_registry(Hands))

    bundle = graph._repr_mimebundle_()

    assert bundle["text/plain"] == repr(graph) == "<CalculatorGraph of 1 nodes>"
    assert bundle["image/svg+xml"].startswith("<svg ")
    assert ">Hands</text>" in bundle["image/svg+xml"]


def test_without_the_library_a_graph_shows_mermaid(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    graph = CalculatorGraph(TEXT, registry=testing_registry(Hands))

    bundle = graph._repr_mimebundle_(include=None, exclude=None)

    assert list(bundle) == ["text/plain", "text/vnd.mermaid"]
    assert '  in0 -- "a" --> n0' in bundle["text/vnd.mermaid"].splitlines()


def test_a_graph_of_the_builder_shows_its_drawing_and_an_unfinished_one_its_text(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    g = builder.Graph(testing_registry(Hands))
    node = g.node("Hands")
    node.inputs[1] = g.input("a")

    unfinished = g._repr_mimebundle_()
    node.inputs[0] = g.input("b")

    assert unfinished == {"text/plain": "<Graph of 1 nodes>"}
    assert '  in1 -- "b" --> n0' in g._repr_mimebundle_()["text/vnd.mermaid"].splitlines()


def test_a_huge_graph_is_not_drawn_unasked() -> None:
    def many(count):
        return Drawing("", tuple(DrawnNode(f"n{i}", "N") for i in range(count)))

    assert list(mimebundle(lambda: many(301), "x")) == ["text/plain"]


def test_whatever_goes_wrong_the_text_is_shown() -> None:
    assert mimebundle(lambda: 1 / 0, "x") == {"text/plain": "x"}


def test_a_dense_graph_shows_its_text_alone(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)

    def dense(count: int) -> Drawing:
        names = [f"s{i}" for i in range(count)]
        read = tuple(Port("", name) for name in names)
        nodes = (DrawnNode(name, "Hands", inputs=read, outputs=(Port("", name),)) for name in names)
        return Drawing("", tuple(nodes))

    assert "text/vnd.mermaid" in mimebundle(lambda: dense(10), "ten")
    assert mimebundle(lambda: dense(11), "eleven") == {"text/plain": "eleven"}
