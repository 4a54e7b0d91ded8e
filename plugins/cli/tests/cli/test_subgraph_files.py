"""Graph files as subgraphs on the command line: `--subgraph NAME=FILE`, and those beside the graph file."""

from __future__ import annotations

import pytest

from penstock.packs import default_registry

INNER = """type: "{name}"
input_stream: "a"
output_stream: "b"
node {{ calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }}
"""
OUTER = """input_side_packet: "count"
output_stream: "out"
node {{
  calculator: "CountingSourceCalculator" output_stream: "n" input_side_packet: "MAX_COUNT:count"
}}
node {{ calculator: "{name}" input_stream: "n" output_stream: "out" }}
"""


@pytest.fixture
def files(tmp_path):
    """Return a function that writes a graph with a subgraph, and the subgraph; the name is unique."""

    def write(name, beside="inner.pbtxt"):
        (tmp_path / "graphs").mkdir(exist_ok=True)
        (tmp_path / "parts").mkdir(exist_ok=True)
        outer = tmp_path / "graphs" / "outer.pbtxt"
        outer.write_text(OUTER.format(name=name))
        inner = tmp_path / ("graphs" if beside else "parts") / (beside or "inner.pbtxt")
        inner.write_text(INNER.format(name=name))
        return outer, inner

    return write


@pytest.mark.parametrize("command", ["run", "validate", "show", "lint"])
def test_a_graph_file_beside_is_the_subgraph_of_its_type(command, files, invoke):
    name = f"Beside{command.capitalize()}Subgraph"
    outer, _ = files(name)
    sides = ["--side", "count=3"] if command == "run" else []

    done = invoke(command, outer, *sides)

    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("command", ["run", "validate", "show", "lint"])
def test_a_graph_file_elsewhere_is_named_by_the_option(command, files, invoke):
    name = f"Named{command.capitalize()}Subgraph"
    outer, inner = files(name, beside="")
    sides = ["--side", "count=3"] if command == "run" else []

    done = invoke(command, outer, "--subgraph", f"{name}={inner}", *sides)

    assert done.exit_code == 0, done.output


def test_two_files_of_one_type_are_reported_and_neither_is_used(files, invoke):
    outer, inner = files("TwiceSubgraph")
    (inner.parent / "other.pbtxt").write_text(inner.read_text())

    done = invoke("validate", outer)

    assert done.exit_code == 3
    assert (
        "warning: inner.pbtxt and other.pbtxt both have the type 'TwiceSubgraph': neither is used; "
        "say --subgraph TwiceSubgraph=FILE"
    ) in done.stderr


def test_what_is_installed_goes_before_a_file_beside(files, invoke):
    outer, inner = files("PassThroughCalculator")
    inner.write_text('type: "PassThroughCalculator" this is no graph')

    assert invoke("run", outer, "--side", "count=2").exit_code == 0


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("Name", 2, "--subgraph Name: write NAME=FILE, such as DetectorSubgraph=detector.pbtxt"),
        ("Name=missing.pbtxt", 4, "graph file 'missing.pbtxt' does not exist"),
        (
            "PassThroughCalculator={inner}",
            2,
            "'PassThroughCalculator' is installed already; take another name",
        ),
    ],
)
def test_an_option_that_fits_nothing_is_refused(given, code, said, files, invoke):
    outer, inner = files("AnySubgraph")

    done = invoke("validate", outer, "--subgraph", given.format(inner=inner))

    assert done.exit_code == code
    assert said in done.stderr


def test_each_file_of_a_command_has_the_subgraphs_of_its_own_folder_alone(files, invoke, tmp_path):
    outer, _ = files("OwnFolderSubgraph")
    other = tmp_path / "parts" / "outer.pbtxt"
    other.write_text(outer.read_text())

    done = invoke("validate", outer, other)

    assert done.exit_code == 3
    assert f"{outer}: fine" in done.output
    assert f"fault: {other}:" in done.output
    assert not default_registry().has("subgraph", "OwnFolderSubgraph")


def test_one_name_for_two_files_is_refused(files, invoke):
    outer, inner = files("TwoFilesSubgraph", beside="")

    done = invoke("validate", outer, "--subgraph", f"X={inner}", "--subgraph", f"X={outer}")

    assert done.exit_code == 2
    assert f"'X' is {str(inner)!r} already; name one file" in done.stderr
