"""`penstock list --missing`: what graph files need, and no installed pack has."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from penstock import Registry
from penstock.config import read_graph
from penstock.plugins.default_registry import default_registry
from penstock_cli.existing_files import existing_file
from penstock_cli.failures import FileMissing
from penstock_cli.graphs import missing
from penstock_cli.machine.environment import in_this_environment
from penstock_cli.main import penstock_command

TEXT = """# a comment: node { calculator: "Commented" }
node { calculator: "CliNumbers" output_stream: "a" }
node {
  input_stream: "a"   calculator: "QuuxCalculator"
  options { [mediapipe.QuuxCalculatorOptions.ext] { speed: 3 } }
}
node {
  calculator: "SwitchContainer"
  options {
    [mediapipe.SwitchContainerOptions.ext] {
      contained_node { calculator: "PassThroughCalculator" }
      contained_node { calculator: "HiddenCalculator" }
    }
  }
}
node { calculator: "CannyEdgeCalculatr" }
"""


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return written


def names(registry, *files):
    looked = missing.look(files, registry)
    assert [one.error for one in looked] == [None] * len(files)
    found = missing.missing(looked, registry)
    return [(one.name, one.line, one.column) for one in found]


def test_each_node_without_a_calculator_has_a_line_with_its_place(invoke, write):
    path = write("graph.pbtxt", TEXT)

    done = invoke("list", "--missing", path)

    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"{path}:4:23: QuuxCalculator: no official pack has it",
        f"{path}:12:24: HiddenCalculator: no official pack has it",
        f"{path}:16:8: CannyEdgeCalculatr: no official pack has it (did you mean 'CannyEdgeCalculator'?)",
    ]
    assert done.stderr == "1 file: 3 nodes of 6 without their calculator (3 names)\n"


def test_nothing_is_printed_on_stdout_where_all_are_installed(invoke, write):
    path = write("graph.pbtxt", 'node { calculator: "CliNumbers" output_stream: "a" }')

    done = invoke("list", "--missing", path, path)

    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "2 files: every calculator is installed (2 nodes)\n"


def test_a_pack_that_is_not_installed_is_named(write, capsys):
    """The registry has what an environment with the core alone has."""
    registry = Registry()
    path = write(
        "graph.pbtxt",
        'node { calculator: "VideoDecoderCalculator" } node { calculator: "CannyEdgeCalculator" }'
        'node { calculator: "FaceDetectionShortRange" } node { calculator: "VideoDecoderCalculator" }',
    )

    looked = missing.look([path], registry)
    found = missing.missing(looked, registry)
    missing.print_missing(looked, found)

    packs = ["penstock-video", "penstock-image", "penstock-subgraphs-mediapipe", "penstock-video"]
    assert [one.distribution for one in found] == packs
    lines, notes = capsys.readouterr()
    names = ["VideoDecoderCalculator", "CannyEdgeCalculator", "FaceDetectionShortRange"]
    columns = (8, 54, 96)
    assert lines.splitlines()[:3] == [
        in_this_environment(f"{path}:1:{column}: {name}: pip install {pack}")
        for name, column, pack in zip(names, columns, packs, strict=False)
    ]
    assert notes.splitlines() == [
        "1 file: 4 nodes of 4 without their calculator (3 names)",
        *(in_this_environment(f"1 name: pip install {pack}") for pack in sorted(set(packs))),
    ]


def test_a_pack_that_is_installed_and_not_loaded_says_why(write):
    registry = Registry()
    registry.add("executor", "Some", "nowhere:Nothing", distribution="penstock-image", plugin="image")
    registry.fail("image", "blocked by PENSTOCK_BLOCK_PLUGINS", distribution="penstock-image")
    path = write("graph.pbtxt", 'node { calculator: "CannyEdgeCalculator" }')

    (one,) = missing.missing(missing.look([path], registry), registry)

    assert str(one) == (
        f"{path}:1:8: CannyEdgeCalculator: penstock-image is installed and has it, but not all plugins are "
        "loaded: plugin 'image': blocked by PENSTOCK_BLOCK_PLUGINS"
    )


def test_binary_files_and_json_have_the_same_names(write):
    registry = default_registry()
    text = "\n".join(line for line in TEXT.splitlines() if "QuuxCalculatorOptions" not in line)
    graph = read_graph(text, registry)
    binary = write("graph.binarypb", graph.SerializeToString())
    as_json = write("graph.json", '{"node": [\n {"calculator": "Quu\\u0078Calculator"}\n]}')

    assert names(registry, binary) == [
        ("QuuxCalculator", None, None),
        ("HiddenCalculator", None, None),
        ("CannyEdgeCalculatr", None, None),
    ]
    assert names(registry, as_json) == [("QuuxCalculator", 2, 3)]
    (one, *_) = missing.missing(missing.look([binary], registry), registry)
    assert str(one).startswith(f"{binary}: QuuxCalculator: ")


def test_names_inside_of_options_of_missing_calculators_count(write):
    path = write(
        "graph.pbtxt",
        'node { calculator: "CliNumbers" options { [x.NoSuchOptions.ext] { contained_node {\n'
        ' calculator: "InsideCalculator" } } } node_options { [type.googleapis.com/x.NoSuch] {\n'
        ' contained_node { calculator: "PackedCalculator" } } } }',
    )

    assert names(default_registry(), path) == [("InsideCalculator", 2, 2), ("PackedCalculator", 3, 19)]


def test_unknown_options_of_a_policy_do_not_matter(write):
    path = write(
        "graph.pbtxt",
        'node { calculator: "QuuxCalculator" input_stream_handler { input_stream_handler: "Latest"\n'
        " options { [x.NoSuchOptions.ext] { n: 3 } } } }",
    )

    assert names(default_registry(), path) == [("QuuxCalculator", 1, 8)]


@pytest.mark.parametrize("is_known", [True, False])
def test_binary_files_are_looked_into_whatever_their_options_are(write, is_known):
    registry = default_registry()
    graph = read_graph(
        """
        node { calculator: "SwitchContainer" node_options {
          [type.googleapis.com/mediapipe.SwitchContainerOptions] {
            contained_node { calculator: "PackedCalculator" }
        } } }
        """,
        registry,
    )
    last = graph.node.add(calculator="LastCalculator")
    if not is_known:
        last.node_options.add(type_url="type.googleapis.com/x.NoSuch", value=b"1")
        last.options.MergeFromString(b"\xf2\xff\xff\xff\x0f\x01a")  # an extension that nothing declares
    path = write("graph.binarypb", graph.SerializeToString())

    assert names(registry, path) == [("PackedCalculator", None, None), ("LastCalculator", None, None)]


def test_bytes_that_are_no_graph_are_an_error(write):
    looked = missing.look([write("graph.binarypb", b"\xff\xff"), write("empty.pb", b"")], default_registry())

    assert "no serialized" in str(looked[0].error)
    assert (looked[1].error, looked[1].names) == (None, [])


def test_a_graph_that_another_file_defines_is_there(write, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    user = write("user.pbtxt", 'node { calculator: "MySubgraph" } node { calculator: "Other" }')
    definition = write("elsewhere/definition.pbtxt", 'type: "MySubgraph" node { calculator: "CliNumbers" }')

    assert names(default_registry(), user, definition) == [("Other", 1, 42)]
    assert names(default_registry(), user) == [("MySubgraph", 1, 8), ("Other", 1, 42)]


def test_a_graph_beside_is_there_without_being_named(write):
    user = write("user.pbtxt", 'node { calculator: "BesideMissingSubgraph" } node { calculator: "Other" }')
    write("definition.pbtxt", 'type: "BesideMissingSubgraph" node { calculator: "CliNumbers" }')

    assert names(default_registry(), user) == [("Other", 1, 53)]


def test_the_package_of_a_graph_counts(write):
    registry = Registry()
    registry.add("calculator", "mine.First", "nowhere:Nothing")
    path = write("graph.pbtxt", 'package: "mine" node { calculator: "First" }')

    assert names(registry, path) == []


def test_a_template_is_looked_at_with_its_defaults(write):
    path = write(
        "graph.pbtxt",
        'node { calculator: "QuuxCalculator" }\n% for (i : range(2)) %\nnode { calculator: "Twice" }\n% '
        "end %\n",
    )

    found = [name for name, _, _ in names(default_registry(), path)]

    assert found[0] == "QuuxCalculator"
    assert "Twice" in found


def test_json_has_every_field(invoke, write):
    path = write("graph.pbtxt", 'node { calculator: "CannyEdgeCalculatr" }')

    done = invoke("list", "--missing", "--json", path)

    assert done.exit_code == 1
    assert json.loads(done.stdout) == [
        {
            "file": path,
            "line": 1,
            "column": 8,
            "name": "CannyEdgeCalculatr",
            "distribution": None,
            "problem": None,
            "near": ["CannyEdgeCalculator"],
        }
    ]


def test_graph_text_may_come_from_standard_input():
    done = CliRunner().invoke(
        penstock_command, ["list", "--missing", "-"], input='node { calculator: "Quux" }'
    )

    assert done.exit_code == 1
    assert done.stdout == "<stdin>:1:8: Quux: no official pack has it\n"


def test_files_that_cannot_be_read_are_errors_and_the_others_are_listed(invoke, write):
    broken = write("broken.pbtxt", "node {")
    good = write("good.pbtxt", 'node { calculator: "Quux" }')

    invalid = invoke("list", "--missing", broken, good)
    absent = invoke("list", "--missing", broken, good, good + "x")

    assert (invalid.exit_code, absent.exit_code) == (3, 4)
    assert invalid.stdout == absent.stdout == f"{good}:1:8: Quux: no official pack has it\n"
    assert f"error: {broken}:" in invalid.stderr
    assert "good.pbtxtx' does not exist; did you mean" in absent.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--missing"], "--missing needs a graph file"),
        (["--missing", "-", "-"], "penstock list can read standard input once"),
        (["--missing", "--long", "a.pbtxt"], "leave out --kind, --pack and --long"),
        (["one", "two"], "2 words are given, but names are listed by one; or add --missing"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(invoke, arguments, words):
    done = invoke("list", *arguments)

    assert done.exit_code == 2
    assert words in done.stderr


def test_a_file_without_its_ending_is_found_and_no_folder_is_suggested(tmp_path):
    (tmp_path / "graph.pbtxt").touch()
    (tmp_path / "movie").mkdir()

    with pytest.raises(FileMissing, match=r"did you mean '.*graph\.pbtxt'\?"):
        existing_file(tmp_path / "graph", "graph file")
    with pytest.raises(FileMissing, match="does not exist; check the path"):
        existing_file(tmp_path / "movi", "graph file")
