from __future__ import annotations

import json
import logging

import pytest
from click.testing import CliRunner

from penstock import limits
from penstock.plugins.default_registry import default_registry
from penstock_cli.demo.demo_graph import graph_text
from penstock_cli.graphs import checking
from penstock_cli.main import penstock_command

FED = """input_stream: "a"
node { calculator: "CliNeverReturns" input_stream: "a" }
"""


def verdicts(invoke, *arguments, code):
    done = invoke("validate", *arguments, "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def test_a_good_graph_is_fine_with_what_it_consists_of_and_nothing_runs(graph, invoke):
    path = graph()

    done = invoke("validate", path)

    assert done.exit_code == 0
    assert done.output == f"{path}: fine: 1 node, 1 stream, needs side packets 'count' (int)\n"


def test_the_input_streams_of_a_graph_are_listed(tmp_path, invoke):
    path = tmp_path / "fed.pbtxt"
    path.write_text(FED)

    assert invoke("validate", path).output == f"{path}: fine: 1 node, 1 stream, needs input streams 'a'\n"


def test_optional_side_packets_are_not_listed_as_needed(tmp_path, invoke):
    path = tmp_path / "demo.pbtxt"
    path.write_text(graph_text())

    (found,) = verdicts(invoke, path, code=0)

    assert found["side_packets"] == {"output_video": "str | pathlib.Path"}
    assert found["optional_side_packets"] == {"input_video": "str | pathlib.Path"}
    assert "may get side packets 'input_video' (str | pathlib.Path)" in invoke("validate", path).output


def test_subgraphs_that_the_file_names_are_counted(graph, invoke):
    path = graph('node { calculator: "CliTwoReaders" input_stream: "IN:n" }')

    (found,) = verdicts(invoke, path, code=0)

    assert (found["subgraphs"], found["nodes"], found["streams"]) == (1, 3, 1)
    assert "3 nodes, 1 stream, 1 subgraph, needs" in invoke("validate", path).output


def test_every_fault_has_its_place_and_what_to_do(graph, invoke):
    path = graph('node { calculator: "CliNumber" }\nnode { calculator: "CliNeverReturns" input_stream: "m" }')

    done = invoke("validate", path)

    assert done.exit_code == 3
    first, second, third = done.output.splitlines()
    assert (
        third == "note: for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE"
    )
    assert first == (
        f"fault: {path}:2:8: node 'CliNumber': no calculator 'CliNumber' is registered "
        "(did you mean 'CliNumbers'?)"
    )
    assert second.startswith(f"fault: {path}:3:38: node 'CliNeverReturns': input stream 'm' (input 0) has no")


def test_json_has_faults_as_data(graph, invoke):
    path = graph('node { calculator: "CliNumber" }\nnode { calculator: "CliNeverReturns" input_stream: "m" }')

    (found,) = verdicts(invoke, path, code=3)

    first, second = found["faults"]
    assert found["hints"] == [
        "for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE"
    ]
    assert (found["file"], found["is_valid"], found["is_read"], found["nodes"]) == (str(path), False, True, 0)
    assert first == {
        "file": str(path),
        "line": 2,
        "column": 8,
        "code": "NOT_FOUND",
        "node": "CliNumber",
        "stream": None,
        "message": "node 'CliNumber': no calculator 'CliNumber' is registered (did you mean 'CliNumbers'?)",
    }
    assert (second["line"], second["column"], second["node"], second["stream"]) == (
        3,
        38,
        "CliNeverReturns",
        "m",
    )


def test_text_that_is_no_graph_has_the_place_of_its_syntax_error(tmp_path, invoke):
    path = tmp_path / "broken.pbtxt"
    path.write_text('node {\n  calculatr: "X"\n}\n')

    (fault,) = verdicts(invoke, path, code=3)[0]["faults"]

    assert (fault["file"], fault["line"], fault["column"]) == (str(path), 2, 3)
    assert fault["message"].startswith("penstock.CalculatorGraphConfig.Node has no field 'calculatr'")


def test_a_fault_inside_of_a_subgraph_has_the_place_in_its_own_file(tmp_path, graph, invoke):
    inside = tmp_path / "inside.pbtxt"
    inside.write_text('\n  node { calculator: "CliNumber" }\n')
    default_registry().add("subgraph", f"CliInside{id(inside)}", inside)
    path = graph(f'node {{ calculator: "CliInside{id(inside)}" }}')

    (fault,) = verdicts(invoke, path, code=3)[0]["faults"]

    assert (fault["file"], fault["line"], fault["column"]) == (str(inside), 2, 10)
    assert f"used by node 'CliInside{id(inside)}' at {path}:2:8: " in fault["message"]


def test_warnings_are_shown_and_do_not_count_as_faults(graph, invoke):
    path = graph('output_stream: "missing"')

    done = invoke("validate", path)
    (found,) = verdicts(invoke, path, code=0)

    words = f"{path}:2:1: the graph's output_stream 'missing': nothing produces it"
    assert done.exit_code == 0
    assert done.output.splitlines()[0] == f"warning: {words}"
    assert found["warnings"] == [{"node": None, "stream": "missing", "message": words}]


def test_a_check_leaves_the_log_as_it_was(graph):
    before = list(logging.getLogger("penstock").handlers)

    checking.check(str(graph('output_stream: "missing"')), None)

    assert logging.getLogger("penstock").handlers == before


def test_all_files_are_checked_and_a_missing_one_decides_the_exit_code(graph, invoke, tmp_path):
    good, bad = graph(), graph('node { calculator: "CliNumber" }', name="bad.pbtxt")
    missing = tmp_path / "graff.pbtxt"

    done = invoke("validate", bad, missing, good)

    assert done.exit_code == 4
    lines = done.output.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["fault:", "fault:", f"{good}:", "note:", "3"]
    assert f"graph file '{missing}' does not exist; did you mean '{good}'?" in lines[1]
    assert lines[-1] == "3 graphs, 2 of them with faults"
    assert [one["is_read"] for one in verdicts(invoke, bad, missing, good, code=4)] == [True, False, True]
    assert invoke("validate", bad, good).exit_code == 3


def test_several_good_files_are_all_fine(graph, invoke):
    assert invoke("validate", graph(), graph()).output.endswith("2 graphs, none of them with faults\n")


def test_graph_text_comes_from_standard_input(graph):
    text = graph('node { calculator: "CliNumber" }').read_text()

    done = CliRunner().invoke(penstock_command, ["validate", "-"], input=text)

    assert done.exit_code == 3
    assert done.output.startswith("fault: <stdin>:2:8: node 'CliNumber': no calculator 'CliNumber' is")


def test_standard_input_is_read_once(graph):
    done = CliRunner().invoke(penstock_command, ["validate", "-", str(graph()), "-"], input="")

    assert done.exit_code == 2
    assert "Error: penstock validate can read standard input once; give - once\n" in done.stderr


def test_standard_input_that_is_no_text_is_a_fault():
    done = CliRunner().invoke(penstock_command, ["validate", "-"], input=b"node\xff")

    assert done.exit_code == 3
    assert done.output == (
        "fault: <stdin>: byte 0xff at 4 is not UTF-8, so the graph cannot be checked; write graph text, or "
        "name a file\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        pytest.param("g.pbtxt", b"\x80\x81", "byte 0x80 is no UTF-8", id="garbage-as-text"),
        pytest.param("g.binarypb", b"\xff\xff\xff", "are no serialized CalculatorGraphConfig", id="garbage"),
        pytest.param("g.json", b"[1, 2", "g.json:1:", id="broken-json"),
        pytest.param("g.mp4", b"", "ends with '.mp4'; expected one of .pbtxt", id="no-graph-file"),
        pytest.param("", None, "is a directory, but must be an existing file; name one", id="directory"),
        pytest.param("nothing.pbtxt", None, "does not exist; check the path", id="missing"),
    ],
)
def test_a_file_that_cannot_be_a_graph_is_a_fault_of_its_own(tmp_path, invoke, name, content, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)

    done = invoke("validate", path)

    assert done.exit_code == (4 if content is None else 3)
    assert done.output.startswith("fault: ")
    assert words in done.output


# --- side packets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["count", "count=3"])
def test_a_graph_that_gets_its_side_packets_is_fine(graph, invoke, given):
    assert invoke("validate", graph(), "--side", given).exit_code == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(
            ["cuont"], "the graph has no side packet 'cuont' (did you mean 'count'?)", id="misspelt"
        ),
        pytest.param(["count=ten"], "is a 'str', but the node expects int", id="wrong-type"),
        pytest.param(
            ["count=1", "size"], "the graph has no side packet 'size'; the graph's side packets", id="unknown"
        ),
    ],
)
def test_side_packets_that_do_not_fit_are_faults(graph, invoke, given, words):
    arguments = [part for each in given for part in ("--side", each)]

    done = invoke("validate", graph(), *arguments)

    assert done.exit_code == 3
    assert words in done.output


def test_a_missing_side_packet_is_a_fault_where_any_is_named(graph, invoke):
    path = graph('node { calculator: "CliWrites" input_stream: "n" input_side_packet: "TARGET:target" }')

    (found,) = verdicts(invoke, path, "--side", "target", code=3)

    assert [(fault["message"], fault["stream"]) for fault in found["faults"]] == [
        ("node 'CliNumbers' needs the side packet 'count'; give it with --side count=VALUE", "count")
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [(["a", "a"], "side packet 'a' is given twice"), (["a=1", "a"], "given twice"), (["=1"], "NAME=VALUE")],
)
def test_malformed_side_packets_are_wrong_usage(graph, invoke, given, words):
    done = invoke("validate", graph(), *[part for each in given for part in ("--side", each)])

    assert done.exit_code == 2
    assert words in done.output


def test_that_no_plugin_is_loaded_is_said_once_after_all_faults(tmp_path, command):
    path = tmp_path / "graph.pbtxt"
    path.write_text(
        """input_stream: "in"
node { calculator: "GateCalculator" input_stream: "in" input_stream: "ALLOW:in" output_stream: "out"
  node_options { [type.googleapis.com/penstock.FlowLimiterCalculatorOptions] { max_in_flight: 1 } } }
node { calculator: "TwoPassThroughSubgraph" input_stream: "out" output_stream: "end" }
"""
    )

    done = command("validate", str(path), PENSTOCK_NO_PLUGINS="1")

    lines = done.stdout.splitlines()
    places = [line.removeprefix(f"fault: {path}:") for line in lines[:-1]]
    unknown = "no options message 'type.googleapis.com/penstock.FlowLimiterCalculatorOptions' is known"
    assert places == [
        "2:1: needed by default: no input stream handler 'DefaultInputStreamHandler' is registered",
        "2:1: needed by default: no executor 'ThreadPoolExecutor' is registered",
        "2:8: node 'GateCalculator': no calculator 'GateCalculator' is registered",
        f"3:18: {unknown}; no plugin that is loaded declares it",
        "4:8: node 'TwoPassThroughSubgraph': no subgraph 'TwoPassThroughSubgraph' is registered",
    ]
    assert lines[-1].startswith("note: plugins that are not loaded: ")
    assert lines[-1].endswith(" (no plugins are loaded, see PENSTOCK_NO_PLUGINS)")
    assert lines[-1].count("PENSTOCK_NO_PLUGINS") == 1


@pytest.mark.parametrize(
    ("name", "content", "place"), [("graph.json", "{}", ""), ("graph.pbtxt", "\n % param x %", ":2:2")]
)
def test_a_graph_whose_reader_is_not_loaded_is_named_once_with_its_place(
    tmp_path, command, name, content, place
):
    path = tmp_path / name
    path.write_text(content)

    done = command("validate", path, PENSTOCK_BLOCK_PLUGINS="json-graphs,templates")

    first = done.stdout.splitlines()[0]
    assert first.startswith(f"fault: {path}{place}: this graph is ")
    assert first.count(name) == 1


def test_standard_input_that_does_not_end_is_read_up_to_a_limit():
    with limits.override(file_bytes=1000):
        done = CliRunner().invoke(penstock_command, ["validate", "-"], input=b"#" * 1001)

    assert done.exit_code == 3
    assert done.output.startswith("fault: <stdin>: standard input has too many bytes, more than the limit ")


def test_the_first_faults_are_listed_and_the_others_counted(graph, invoke):
    path = graph("".join(f'node {{ calculator: "CliUnknown{number}" }}\n' for number in range(25)))

    lines = invoke("validate", path).output.splitlines()

    assert [line.startswith("fault: ") for line in lines[:21]] == [True] * 21
    assert lines[20] == "fault: and 5 more"
    assert len(verdicts(invoke, path, code=3)[0]["faults"]) == 25
