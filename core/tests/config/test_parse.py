import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.config import CalculatorGraphConfig, build_plan, read_graph, to_binary, to_text
from penstock.errors import (
    GraphParseError,
    InvalidArgumentError,
    NameClashError,
    NotFoundError,
    PenstockError,
    PluginError,
    StatusCode,
)

TEXT = """\
# A graph.
input_stream: "a"
max_queue_size: 7
node {
  calculator: "PassCalculator"
  input_stream: "a"
  output_stream: "b"
  input_stream_info { tag_index: ":0" back_edge: false }
}
executor { name: "pool" type: "ThreadPoolExecutor" }
"""


def length_delimited(number, data):
    """Encode one field of protobuf by hand, for a message class that must not be imported yet."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))


def parse_error(source, registry):
    with pytest.raises(GraphParseError) as caught:
        read_graph(source, registry)
    return caught.value


# --- the forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["g.pbtxt", "g.textproto", "g.binarypb", "g.pb", "g.PBTXT"])
def test_every_kind_of_file_gives_the_same_graph(name, registry, tmp_path):
    message = read_graph(TEXT, registry)
    content = {"pb": to_binary(message), "binarypb": to_binary(message)}
    file = tmp_path / name
    file.write_bytes(content.get(file.suffix[1:], TEXT.encode()))

    assert read_graph(file, registry) == message


def test_text_messages_and_builders_give_the_same_graph(registry):
    message = read_graph(TEXT, registry)

    class Builder:
        def to_config(self):
            return message

    assert read_graph(to_text(message), registry) == message
    assert read_graph(message, registry) == message
    assert read_graph(Builder(), registry) == message


def test_a_message_that_is_passed_in_is_copied(registry):
    message = CalculatorGraphConfig(max_queue_size=3)

    copy = read_graph(message, registry)
    copy.max_queue_size = 4

    assert message.max_queue_size == 3


def test_a_binary_graph_may_have_any_name(registry, declare, tmp_path):
    file = tmp_path / "graph.model"
    file.write_bytes(to_binary(read_graph(TEXT, registry)))

    plan = build_plan(None, registry, binary_graph_path=file)

    assert plan.file == str(file)
    assert [node.name for node in plan.nodes] == ["PassCalculator"]


def test_the_empty_graph_is_a_graph(registry):
    assert build_plan("", registry).nodes == ()


@pytest.mark.parametrize("given", [{"graph_config": None}, {"graph_config": "", "binary_graph_path": "g"}])
def test_a_graph_is_given_once(given, registry):
    with pytest.raises(
        InvalidArgumentError,
        match=r"^penstock.config: (both|neither) given; pass graph_config or binary_graph_path",
    ):
        build_plan(registry=registry, **given)


@pytest.mark.parametrize("source", [3, b"", ["node"], CalculatorGraphConfig.Node(), CalculatorGraphConfig])
def test_what_is_no_graph_is_refused_with_what_to_pass(source, registry):
    with pytest.raises(
        InvalidArgumentError, match=r"^cannot parse a graph of type '\w+'; pass graph text as a str"
    ):
        read_graph(source, registry)


def test_importing_the_package_does_not_import_protobuf():
    code = "import sys, penstock.config; sys.exit('google.protobuf' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- files that cannot be read ------------------------------------------------------------------


def test_a_missing_file_is_named(registry, tmp_path):
    with pytest.raises(NotFoundError, match=r"^there is no graph file '.*none\.pbtxt'$"):
        read_graph(tmp_path / "none.pbtxt", registry)


def test_an_unreadable_file_is_named_with_the_reason(registry, tmp_path):
    directory = tmp_path / "d.pbtxt"
    directory.mkdir()

    with pytest.raises(PenstockError, match=r"^graph file '.*d\.pbtxt' cannot be read: ") as caught:
        read_graph(directory, registry)

    assert isinstance(caught.value.__cause__, OSError)


def test_an_unknown_suffix_is_refused_with_the_known_ones(registry):
    with pytest.raises(
        InvalidArgumentError, match=r"ends with '\.txt'; expected one of \.pbtxt, \.textproto"
    ):
        read_graph(Path("graph.txt"), registry)


def test_bytes_that_are_no_graph_are_refused(registry, tmp_path):
    file = tmp_path / "g.binarypb"
    file.write_bytes(b"\xff\xff\xff")

    error = parse_error(file, registry)

    assert str(error) == f"{file}: these 3 bytes are no serialized CalculatorGraphConfig"
    assert (error.file, error.line) == (str(file), None)


@pytest.mark.parametrize("name", ["a\0b.pbtxt", "\ud800.pbtxt"])
def test_a_path_that_the_system_cannot_have_is_refused(name, registry):
    with pytest.raises(PenstockError, match=r"cannot be read: (.*embedded null|.*surrogates)") as caught:
        read_graph(Path(name), registry)

    assert repr(name) in str(caught.value)
    assert caught.value.code is StatusCode.INVALID_ARGUMENT


def test_a_name_in_a_binary_graph_that_is_no_utf8_is_refused(registry, tmp_path):
    message = CalculatorGraphConfig()
    message.node.add().input_stream_handler.input_stream_handler = "HANDLER"
    file = tmp_path / "g.binarypb"
    file.write_bytes(to_binary(message).replace(b"HANDLER", b"HANDL\xff\xfe"))

    error = parse_error(file, registry)

    assert str(error) in {
        f"{file}: node[0].input_stream_handler[0].input_stream_handler[0] is no UTF-8",
        # protobuf in plain Python
        f"{file}: penstock.InputStreamHandlerConfig.input_stream_handler is no UTF-8",
    }
    assert error.code is StatusCode.INVALID_ARGUMENT


def test_bytes_of_another_message_are_refused(registry, tmp_path):
    file = tmp_path / "g.binarypb"
    file.write_bytes(length_delimited(77, b"x"))

    assert "the graph: nothing declares field 77 of penstock.CalculatorGraphConfig" in str(
        parse_error(file, registry)
    )


def test_text_that_is_no_utf8_says_where(registry, tmp_path):
    file = tmp_path / "g.pbtxt"
    file.write_bytes(b'# \xc3\xa4\n  "\xff"')

    error = parse_error(file, registry)

    assert (error.line, error.column) == (2, 4)
    assert "byte 0xff is no UTF-8; save it as UTF-8" in str(error)


# --- text that is no graph ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('node {\n  calculatr: "X" }', (2, 3), (r"CalculatorGraphConfig\.Node has no field 'calculatr' "
         r"\(did you mean 'calculator'\?\)")),
        ("input_stream_info {}", (1, 1), "has no field 'input_stream_info'"),
        ('node {\n calculator: "X"\nnode { calculator: "Y" }', (3, 1), ("no field 'node', but a graph has; "
         "is a bracket missing before it")),
        ('input_stream: "a"\nnode {\n calculator: "X"\n', (2, 6), "this bracket is never closed"),
        ("node { calculator: 3 }", (1, 20), "expected string but found: '3'"),
        ('max_queue_size: "x"', (1, 17), "couldn't parse integer"),
        ('node { calculator: "X\n" }', (1, 20), "string missing ending quote"),
        ('type: "a"\ntype: "b"', (2, 7), 'should not have multiple "type" fields'),
        ("node { max_in_flight: 1.5 }", (1, 23), "couldn't parse integer"),
        ("node {\n failure { on_error: -2147483649 } }", (2, 22), "a value does not fit its field: Value"),
        ("}", (1, 1), "expected identifier or number"),
    ],
)  # fmt: skip
def test_a_syntax_error_says_line_column_and_reason(text, place, words, registry, tmp_path):
    file = tmp_path / "graph.pbtxt"
    file.write_text(text, encoding="utf-8")

    in_file, in_text = parse_error(file, registry), parse_error(text, registry)

    line, column = place
    assert (in_file.line, in_file.column, in_file.file) == (line, column, str(file))
    assert re.match(rf"{re.escape(str(file))}:{line}:{column}: .*{words}", str(in_file))
    assert re.match(rf"line {line}, column {column}: .*{words}", str(in_text))
    assert in_file.code is StatusCode.INVALID_ARGUMENT


def test_half_of_a_character_in_text_says_where(registry):
    error = parse_error('type: "a"\nnode { name: "b\ud800" }', registry)

    assert str(error) == r"line 2, column 16: '\ud800' is half of a character; write the character itself"


def test_a_path_as_text_says_how_to_pass_a_path(registry):
    error = parse_error("graphs/main.pbtxt", registry)

    assert str(error).endswith("a str is graph text: for the file, pass pathlib.Path('graphs/main.pbtxt')")


def test_nesting_without_end_is_an_error_and_not_a_crash(registry, make_options):
    make_options("DeepOptions", 500020013)
    inner = "inner { options { [penstock.DeepOptions.ext] { "
    text = f"node {{ options {{ [penstock.DeepOptions.ext] {{ {inner * 2000}{'}' * 6002} }} }}"

    assert str(parse_error(text, registry)) == "its brackets are nested too deep"


# --- options ----------------------------------------------------------------------------------------


def test_only_the_options_that_a_file_names_are_imported(registry, make_options):
    named = make_options("TextOptions", 500020001)
    other = make_options("TextOtherOptions", 500020002)

    message = read_graph("node { options { [penstock.TextOptions.ext] { size: 3 } } }", registry)

    assert message.node[0].options.Extensions[named.load().ext].size == 3
    assert not other.is_imported()


def test_names_of_the_reference_are_taken_for_ours_everywhere(registry, make_options):
    made = make_options("ForeignOptions", 500020003)
    url = "type.googleapis.com/mediapipe.ForeignOptions"

    graphs = [
        "node { options { [mediapipe.ForeignOptions.ext] { size: 3 } } }",
        "node { node_options { [type.googleapis.com/mediapipe.ForeignOptions] { size: 3 } } }",
        f'node {{ node_options {{ type_url: "{url}" value: "\\010\\003" }} }}',
    ]

    for graph in graphs:
        node = read_graph(graph, registry).node[0]
        found = made.load()()
        if node.node_options:
            assert node.node_options[0].Unpack(found)
        else:
            found = node.options.Extensions[made.load().ext]
        assert found.size == 3


def test_options_of_executors_and_handlers_are_found_too(registry, make_options):
    made = make_options("PoolOptions", 500020004, "penstock.MediaPipeOptions")
    text = "options { [penstock.PoolOptions.ext] { size: 2 } }"

    message = read_graph(f"executor {{ {text} }} input_stream_handler {{ {text} }}", registry)

    ext = made.load().ext
    assert message.executor[0].options.Extensions[ext].size == 2
    assert message.input_stream_handler.options.Extensions[ext].size == 2


def test_options_in_a_binary_graph_are_imported_by_their_number_inside_one_another_too(
    registry, make_options, tmp_path
):
    outer, inner = make_options("OuterOptions", 500020005), make_options("InnerOptions", 500020006)
    innermost = length_delimited(7, length_delimited(500020006, b"\x08\x05"))
    data = length_delimited(
        1, length_delimited(7, length_delimited(500020005, length_delimited(2, innermost)))
    )
    file = tmp_path / "g.binarypb"
    file.write_bytes(data)

    node = read_graph(file, registry).node[0]

    assert outer.is_imported()
    assert node.options.Extensions[outer.load().ext].inner[0].options.Extensions[inner.load().ext].size == 5


def test_an_unknown_extension_in_a_binary_graph_says_where_and_which(registry, tmp_path):
    file = tmp_path / "g.binarypb"
    file.write_bytes(length_delimited(1, length_delimited(7, length_delimited(29999, b""))))

    error = parse_error(file, registry)

    assert str(error) == (
        f"{file}: node[0].options[0]: nothing declares field 29999 of penstock.CalculatorOptions; "
        "install the plugin that it belongs to"
    )


def test_a_plugin_whose_message_is_no_extension_does_not_make_reading_endless(registry, tmp_path):
    registry.add_option(
        "penstock.CalculatorGraphConfig", "penstock.CalculatorOptions", 29998,
        "penstock.config.calculator_pb2:CalculatorGraphConfig",
    )  # fmt: skip
    file = tmp_path / "g.binarypb"
    file.write_bytes(length_delimited(1, length_delimited(7, length_delimited(29998, b""))))

    assert "nothing declares field 29998" in str(parse_error(file, registry))


def test_an_unknown_extension_has_its_place_and_near_names(registry, make_options):
    make_options("SimilarOptions", 500020007)

    error = parse_error("node {\n options { [mediapipe.SimilarOption.ext] { x: 1 } } }", registry)

    assert (error.line, error.column) == (2, 12)
    assert str(error) == (
        "line 2, column 12: no options message 'mediapipe.SimilarOption.ext' is known "
        "(did you mean 'penstock.SimilarOptions'?)"
    )


def test_an_unknown_extension_names_the_distribution_that_has_it_and_the_plugins_that_failed(
    registry, monkeypatch
):
    # Not an option of the real catalog: a process that has imported its message knows it.
    catalog = {("option", "penstock.Far"): "penstock-x"}
    monkeypatch.setattr(registry, "install_hint", lambda kind, name, _="": catalog.get((kind, name)))
    registry.fail("gl", "no display")

    error = parse_error("node { options { [penstock.Far.ext] {} } }", registry)

    assert str(error).endswith(
        "no options message 'penstock.Far.ext' is known; install it: pip install penstock-x; "
        "plugins that are not loaded: gl (no display)"
    )


def test_an_unknown_packed_message_is_an_error(registry):
    error = parse_error("node { node_options { [type.googleapis.com/penstock.Nowhere] {} } }", registry)

    assert (error.line, error.column) == (1, 23)
    assert "no options message 'type.googleapis.com/penstock.Nowhere' is known" in str(error)


def test_an_extension_in_the_wrong_place_is_an_error(registry, make_options):
    make_options("MisplacedOptions", 500020008)

    error = parse_error("executor { options { [penstock.MisplacedOptions.ext] {} } }", registry)

    assert (error.line, error.column) == (1, 49)
    # protobuf's own words: compiled, and in plain Python
    words = (
        'does not extend message type "penstock.MediaPipeOptions"',
        '.MisplacedOptions.ext" not registered',
    )
    assert any(each in str(error) for each in words)


def test_options_that_cannot_be_imported_keep_their_error_with_the_place(registry):
    registry.add_option("penstock.BrokenOptions", "penstock.CalculatorOptions", 500020009, "no_such_module:X")

    with pytest.raises(
        PluginError, match=r"^line 1, column 18: option 'penstock.BrokenOptions': .*no_such_module"
    ):
        read_graph("node { options { [penstock.BrokenOptions.ext] {} } }", registry)


def test_options_that_two_distributions_claim_are_an_error_that_names_both(registry):
    for distribution in ("one", "two"):
        registry.add_option(
            "penstock.Twice",
            "penstock.CalculatorOptions",
            500020010,
            "m:X",
            distribution=distribution,
            plugin="p",
        )

    with pytest.raises(NameClashError, match=r"^line 1, column 18: .* one .* two "):
        read_graph("node { options { [penstock.Twice.ext] {} } }", registry)


def test_messages_that_the_process_knows_need_no_plugin(registry, make_options):
    make_options("KnownOptions", 500020011, known=False).load()

    message = read_graph("node { options { [penstock.KnownOptions.ext] { size: 1 } } }", registry)

    assert message.node[0].HasField("options")


def test_a_graph_with_options_goes_through_every_form_and_back(registry, make_options, tmp_path):
    make_options("RoundOptions", 500020012)
    message = read_graph(
        "node { options { [penstock.RoundOptions.ext] { size: 1 } } "
        "node_options { [type.googleapis.com/penstock.RoundOptions] { size: 2 } } }",
        registry,
    )

    assert read_graph(to_text(message), registry) == message
    (tmp_path / "g.pb").write_bytes(to_binary(message))
    assert read_graph(tmp_path / "g.pb", registry) == message
