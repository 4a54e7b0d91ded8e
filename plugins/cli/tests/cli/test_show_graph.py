from __future__ import annotations

import json
import sys
from xml.etree import ElementTree as ET

import pytest

from penstock import Registry
from penstock.plugins.default_registry import default_registry
from penstock_cli.graphs.show_graph import show_graph
from penstock_cli.machine.environment import in_this_environment

BEHIND = """
output_stream: "OUT:n"
node { name: "show" calculator: "CliFailsAtThree" input_stream: "n" }
"""
FAULTY = """
input_stream: "a"
node {
  calculator: "NobodyHasThisCalculator"
  input_stream: "VIDEO:a"
  node_options { [type.googleapis.com/mediapipe.NobodyHasThisOptions] { size: { width: 3 } name: "}" } }
}
"""


def test_a_graph_is_shown_as_text(invoke, graph):
    done = invoke("show", graph(BEHIND))

    assert done.exit_code == 0
    assert [line.split() for line in done.stdout.splitlines() if line] == [
        ["graph.pbtxt", "2", "nodes,", "1", "streams"],
        ["outputs", "OUT:n"],
        ["nodes"],
        ["node", "reads", "writes"],
        ["CliNumbers", "COUNT:count", "(side", "packet)", "n"],
        ["show", "n"],
        ["CliFailsAtThree"],
    ]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("kind", "first", "has"),
    [
        ("mermaid", "flowchart TB", '  n0 -- "n" --> n1'),
        ("dot", 'digraph "graph.pbtxt" {', '  n0 -> n1 [label="n"]'),
        ("text", "graph.pbtxt  2 nodes, 1 streams", "nodes"),
    ],
)
def test_a_graph_is_written_in_the_given_format(invoke, graph, kind, first, has):
    lines = invoke("show", graph(BEHIND), "--format", kind).stdout.splitlines()

    assert lines[0] == first
    assert has in lines


@pytest.mark.parametrize("options", [["--json"], ["--format", "json"]])
def test_a_graph_is_written_as_json(invoke, graph, options):
    found = json.loads(invoke("show", graph(BEHIND), *options).stdout)

    assert [node["kind"] for node in found["nodes"]] == ["calculator", "calculator"]
    assert found["nodes"][1]["inputs"] == [{"place": "", "name": "n", "back_edge": False, "is_error": False}]
    assert found["outputs"][0]["place"] == "OUT"


@pytest.mark.parametrize(
    ("name", "begins"),
    [("x.mmd", "flowchart"), ("x.gv", "digraph"), ("x.json", "{"), ("x.txt", "graph.pbtxt  2 nodes")],
)
def test_the_ending_of_the_file_to_write_chooses_the_format(invoke, graph, tmp_path, name, begins):
    done = invoke("show", graph(BEHIND), "-o", tmp_path / name)

    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_a_format_that_is_named_counts_more_than_the_ending(invoke, graph, tmp_path):
    invoke("show", graph(BEHIND), "--format", "dot", "-o", tmp_path / "x.mmd")

    assert (tmp_path / "x.mmd").read_text(encoding="utf-8").startswith("digraph")


def test_a_graph_is_drawn_as_svg(invoke, graph, tmp_path):
    pytest.importorskip("pygraphviz")

    done = invoke("show", graph(BEHIND), "-o", tmp_path / "x.svg")

    assert done.exit_code == 0, done.output
    texts = [element.text for element in ET.parse(tmp_path / "x.svg").iter() if element.tag.endswith("}text")]  # noqa: S314  # just written
    assert {"CliNumbers", "show", "CliFailsAtThree", "COUNT", "count", "n", "OUT:n"} == set(texts)


@pytest.mark.usefixtures("with_pip")
def test_without_the_library_the_error_says_how_to_get_svg(invoke, graph, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)

    done = invoke("show", graph(BEHIND), "-o", tmp_path / "x.svg")

    assert done.exit_code == 1
    assert in_this_environment('pip install "penstock-views[draw]"') in done.stderr
    assert not (tmp_path / "x.svg").exists()


class Inner:
    """A subgraph of this process."""

    def to_config(self):
        node = 'node { calculator: "CliNumbers" input_side_packet: "COUNT:c" output_stream: "n" }'
        return f'output_stream: "n" {node}'


def test_subgraphs_are_expanded_with_the_option(invoke, graph):
    if not default_registry().has("subgraph", "CliInner"):
        default_registry().add("subgraph", "CliInner", Inner())
    path = graph('node { calculator: "CliInner" output_stream: "m" }')

    closed = invoke("show", path, "--format", "mermaid").stdout
    opened = invoke("show", path, "--format", "mermaid", "--expand").stdout

    assert 'n1[["CliInner"]]' in closed
    assert 'subgraph group0["CliInner"]' in opened
    assert 'n1["CliNumbers"]' in opened


def test_a_component_that_is_not_installed_is_drawn_with_a_note(invoke, tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text(FAULTY, encoding="utf-8")

    done = invoke("show", path)

    assert done.exit_code == 0
    assert "  not installed" in done.stdout
    assert "VIDEO:a" in done.stdout
    options, own = done.stderr.splitlines()
    assert options.startswith(f"note: drawn without options: {path}:6:")
    assert (
        own == "note: for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE"
    )


def test_for_a_calculator_of_a_pack_the_option_for_own_calculators_is_not_noted(tmp_path, capsys):
    path = tmp_path / "graph.pbtxt"
    path.write_text('input_stream: "a" node { calculator: "PassThroughCalculator" input_stream: "a" }')

    show_graph(path, Registry(), None, None, expand=False)  # as if no pack were installed

    noted = capsys.readouterr().err
    assert "no calculator 'PassThroughCalculator' is registered" in noted
    assert "--import" not in noted


def test_faults_that_keep_a_graph_from_running_are_noted(invoke, tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text('node { calculator: "CliNumber" output_stream: "n" }\nnode { calculator: "CliWrites" '
                    'input_stream: "m" input_side_packet: "TARGET:t" }', encoding="utf-8")  # fmt: skip

    done = invoke("show", path)

    first, second, own = done.stderr.splitlines()
    assert done.exit_code == 0
    assert (
        own == "note: for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE"
    )
    assert "no calculator 'CliNumber' is registered (did you mean 'CliNumbers'" in first
    assert f"{path}:2:" in second
    assert "input stream 'm'" in second


def test_a_file_that_is_no_graph_is_an_error(invoke, tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text("node {", encoding="utf-8")

    done = invoke("show", path)

    assert done.exit_code == 3
    assert "graph.pbtxt:1:6: this bracket is never closed" in done.stderr


def test_a_file_that_is_not_there_or_cannot_be_written_is_an_error(invoke, graph, tmp_path):
    missing = invoke("show", "graf.pbtxt")
    unwritten = invoke("show", graph(BEHIND), "--format", "dot", "-o", tmp_path / "no" / "x.dot")

    assert (missing.exit_code, unwritten.exit_code) == (4, 4)
    assert "graph file 'graf.pbtxt' does not exist" in missing.stderr
    assert "x.dot' cannot be written: No such file or directory" in unwritten.stderr


@pytest.mark.parametrize("options", [["--format", "dot"], ["-o", "x.dot"], ["--expand"]])
def test_options_for_graphs_are_refused_for_components(invoke, options):
    done = invoke("show", "CliNumbers", *options)

    assert done.exit_code == 2
    assert "is for graph files, but 'CliNumbers' is the name of a component" in done.stderr


def test_a_name_without_an_ending_is_a_component_and_a_file_of_that_name_is_hinted_at(
    invoke, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_graph").write_text("", encoding="utf-8")

    name = invoke("show", "my_graph")
    path = invoke("show", "./my_graph")

    assert name.exit_code == 2
    assert "no component 'my_graph' is registered" in name.stderr
    assert "for the file of that name, write './my_graph'" in name.stderr
    assert path.exit_code == 3
    assert "graph file 'my_graph' ends with ''" in path.stderr


def test_draw_is_another_word_for_show(command, tmp_path):
    (tmp_path / "graph.pbtxt").write_text('input_stream: "a" output_stream: "a"', encoding="utf-8")

    drawn, shown = (command(word, "graph.pbtxt", "--format", "mermaid") for word in ("draw", "show"))

    assert (drawn.returncode, drawn.stdout) == (0, shown.stdout)
    assert "\n  draw " not in command("--help").stdout
