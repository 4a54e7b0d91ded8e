"""Graphs of the workspace, cut where somebody may be typing: nothing fails, and completion stays useful.

Each graph is read as text, as JSON and as a string of a Python file. Plain `pytest` takes a few places of a
few graphs; `pytest -m slow` takes each character of 50.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pygls.workspace import PositionCodec

from penstock.config import read_graph, to_json
from penstock.errors import PenstockError
from penstock.packs import default_registry
from penstock_editor.colours import encoded
from penstock_editor.completion import proposals
from penstock_editor.diagnosis import quick
from penstock_editor.hover import hover
from penstock_editor.knowledge import Knowledge
from penstock_editor.open_file import OpenFile
from penstock_editor.outline import folds, outline
from penstock_editor.picture import pictured
from penstock_editor.project_names import places_of, port_at

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("subgraphs", "plugins", "examples", "contrib", "benchmarks")
#: Graph files of the workspace, small enough to be cut everywhere, in an order that does not change.
FILES = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.pbtxt")
    if 200 < path.stat().st_size < 4000 and ".bad." not in path.name and ".venv" not in path.parts
)[:50]
FORMS = ("text", "json", "python")
URIS = {"text": "file:///a/graph.pbtxt", "json": "file:///a/graph.json", "python": "file:///a/program.py"}


@pytest.fixture(scope="module")
def knowledge():
    return Knowledge(default_registry())


def written(path, form, registry):
    """Return the text of a graph in a form; skip what has none."""
    text = path.read_text(encoding="utf-8")
    if form == "text":
        return text
    if form == "python":
        return f'import penstock\n\nGRAPH = """\\\n{text}"""\n'
    if "%" in text:
        pytest.skip("a template has no JSON")
    try:
        return to_json(read_graph(path, registry), registry)
    except PenstockError as error:
        pytest.skip(f"cannot be read here: {error}")


def opened(form, text, knowledge):
    one = OpenFile(URIS[form])
    one.knowledge = knowledge
    one.take(text)
    return one


def everything(one, knowledge):
    """Ask for all that an editor may ask for at the end of a text; return the labels that are proposed."""
    labels = []
    codec = PositionCodec()
    encoded(
        (graph, graph_places)
        for written in one.graphs
        for graph, graph_places in [(written.graph, written.positions(codec))]
    )
    for written_graph in one.graphs:
        graph, places = written_graph.graph, written_graph.positions(codec)
        quick(graph, knowledge, one.own)
        outline(graph, places)
        folds(graph, places)
        pictured(graph, knowledge).drawing.wires()
    found = one.at(len(one.lines.text))
    if found is not None:
        graph, offset = found
        port_at([one], graph, offset)
        name = graph.graph.name_at(offset)
        if name is not None:
            assert places_of([one], graph, name)
        hover(graph.graph, offset, knowledge)
        labels = [each.label for each in proposals(graph.graph, offset, knowledge)]
    return labels


def wanted(whole, knowledge):
    """Return offset in the file → the name that must be proposed there, since it is known before."""
    found = {}
    [written_graph] = whole.graphs
    graph, places = written_graph.graph, written_graph.positions(PositionCodec())
    for kind in ("calculator", "stream", "side packet", "executor"):
        for name in graph.named(kind):
            for one in graph.places(kind, name):
                before = [
                    each for each in graph.places(kind, name) if each.is_origin and each.end < one.start
                ]
                is_known = kind == "calculator" and one.node >= 0 and knowledge.is_known(name, graph.package)
                if is_known or (not one.is_origin and before):
                    for offset in range(one.start, one.end):
                        position = places.position(offset)
                        found[places.offset(position)] = name
    return found


def check(path, form, step, knowledge):
    text = written(path, form, knowledge.registry)
    names = wanted(opened(form, text, knowledge), knowledge)
    one = OpenFile(URIS[form])
    one.knowledge = knowledge
    missing = []
    for end in range(0, len(text) + 1, step):
        one.take(text[:end])
        labels = everything(one, knowledge)
        if end in names and names[end] not in labels:
            missing.append((end, names[end]))
    assert names or "%" in text  # a rule of a template may hide all of them
    assert missing == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", FILES[::12], ids=lambda path: path.name)
def test_some_cuts_of_some_graphs(path, form, knowledge):
    check(path, form, 13, knowledge)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_cut_of_50_graphs(path, form, knowledge):
    assert len(FILES) == 50
    check(path, form, 1, knowledge)
