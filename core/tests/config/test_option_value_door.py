"""`option_value` is carried out by penstock-graphs, behind a door: here without the pack."""

import pytest

from penstock import doors
from penstock.config import build_plan
from penstock.errors import GraphConfigError

GRAPH = """graph_options { [type.googleapis.com/penstock.ForwardedOptions] { size: 7 } }
node { calculator: "SourceCalculator" output_stream: "o"
       options { [penstock.ForwardedOptions.ext] { } } %s }"""


@pytest.fixture
def size(registry, declare, make_options):  # declares the calculator
    """Return the size that the node of a graph has in the plan."""
    kind = make_options("ForwardedOptions", 20940).load()
    return lambda graph: build_plan(graph, registry).config.node[0].options.Extensions[kind.ext].size


def test_without_the_pack_an_entry_is_a_fault_that_says_what_to_install(size, monkeypatch):
    monkeypatch.setattr(doors, "_target", lambda name: None)
    with pytest.raises(GraphConfigError) as caught:
        size(GRAPH % 'option_value: "size:size"')
    (fault,) = caught.value.faults
    assert "node 'SourceCalculator': option_value is in a pack that is not installed" in str(fault)
    assert "pip install penstock-graphs" in str(fault)
    assert (fault.node, fault.line) == ("SourceCalculator", 3)


def test_a_graph_without_entries_does_without_the_pack(size, monkeypatch):
    monkeypatch.setattr(doors, "_target", lambda name: None)
    assert size(GRAPH % "") == 0
