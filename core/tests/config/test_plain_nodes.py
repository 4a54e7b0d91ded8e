"""Plain nodes, which are read without protobuf's parser: the result is the same as with it."""

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.places import Spot
from penstock.config.reading.parse import read_graph
from penstock.config.reading.scan import scan_text, tokens_of
from penstock.errors import GraphConfigError, GraphParseError
from penstock.registry import Registry

PLAIN = 'node { calculator: "A" input_stream: "x" input_stream: "T:y" output_stream: "z" }'


def parsed(text):
    return text_format.Parse(text, CalculatorGraphConfig())


def message_of(text):
    return read_graph(text, Registry())[0]


def tree(spot: Spot):
    return spot.offset, {name: [tree(one) for one in found] for name, found in spot.fields.items()}


def given_in(text):
    return [node.given for node in scan_text(text).plain]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "node{calculator:'A'}",
        'node: { name: "n" executor: "e" calculator: "A" }',
        'node {\n  calculator: "A",\n  input_side_packet: "s";\n  output_side_packet: "t"\n}',
        "node { }",
        'node { calculator: "" }',
        """node { calculator: "it's # { } % \\"not\\"" }""".replace("\\", ""),
    ],
)
def test_a_node_of_names_alone_is_plain_and_what_the_parser_makes_of_it(text):
    try:
        expected = parsed(text)
    except text_format.ParseError:
        assert given_in(text) == []
        return

    assert len(given_in(text)) == 1
    assert message_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'node { calculator: "A" source_layer: 1 }',
        'node { calculator: "A" options { } }',
        'node { calculator: "A" "B" }',
        'node { calculator: "\\x41" }',
        'node { calculator: "\N{LATIN SMALL LETTER E WITH ACUTE}" }',
        'node { input_stream: ["a", "b"] }',
        "node < calculator: 'A' >",
        'node { calculator: "A" # a comment\n }',
        'node { calculator: "A" } # a comment\n , num_threads: 1',
    ],
)
def test_a_node_with_anything_else_is_left_to_the_parser(text):
    assert given_in(text) == []
    assert message_of(text) == parsed(text)


@pytest.mark.parametrize("field", ["name", "calculator", "executor"])
def test_a_field_that_comes_twice_is_refused_as_ever(field):
    text = f'{PLAIN}\nnode {{ {field}: "A" {field}: "B" }}'

    with pytest.raises(GraphParseError, match=f'should not have multiple "{field}" fields') as error:
        message_of(text)

    assert (error.value.line, len(given_in(text))) == (2, 1)


def test_what_stands_between_plain_nodes_is_read_in_its_place():
    text = (
        f'input_stream: "x", {PLAIN}, node {{ calculator: "B" source_layer: 2 }}\n{PLAIN};\n'
        f'executor {{ name: "e" }} {PLAIN} num_threads: 3'
    )

    assert len(given_in(text)) == 3
    assert message_of(text) == parsed(text)
    assert [node.calculator for node in message_of(text).node] == ["A", "B", "A", "A"]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (f"{PLAIN} nodes {{ }}", 1, len(PLAIN) + 2),
        (f"{PLAIN}\n{PLAIN}\n  nodes {{ }}\n{PLAIN}", 3, 3),
        (f"{PLAIN}\nnum_threads: 'a'", 2, 14),
        (f"num_threads: 1\n{PLAIN}\nnum_threads: 2", 3, None),
    ],
)
def test_mistakes_behind_plain_nodes_have_their_place(text, line, column):
    with pytest.raises(GraphParseError) as error:
        message_of(text)

    assert error.value.line == line
    assert column in (None, error.value.column)


def test_a_bracket_that_is_never_closed_is_named_behind_plain_nodes():
    with pytest.raises(GraphParseError, match="this bracket is never closed") as error:
        message_of(f"{PLAIN}\nexecutor {{")

    assert (error.value.line, error.value.column) == (2, 10)


def test_nodes_inside_other_brackets_are_not_nodes_of_the_graph():
    text = f"wrong {{ {PLAIN} }} {PLAIN}"

    scanned = scan_text(text)

    assert [node.start for node in scanned.plain] == [text.rindex("node")]
    assert [spot.offset for spot in scanned.root.fields["wrong"][0].fields["node"]] == [text.index("node")]


PIECES = st.sampled_from(
    [
        PLAIN,
        "node { calculator: 'A' }",
        "node{}",
        'node { name: "n" name: "m" }',
        'node { calculator: "A" max_in_flight: 2 }',
        'node { calculator: "A" # } node { }\n }',
        "node {",
        "}",
        'input_stream: "node { }"',
        "# node { }\n",
        'executor { name: "e" }',
        "type:",
        "x: [",
        "]",
        "[mediapipe.A.ext] {",
        ",",
        ";",
        "%",
        '"',
        "\n",
        "node",
        "1",
    ]
)


@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_any_text_is_read_as_the_parser_alone_reads_it(text):
    scanned = scan_text(text)
    if scanned.rule is not None or scanned.named:
        return  # templates, and names that nothing declares
    try:
        expected = parsed(text)
    except text_format.ParseError:
        expected = None
    try:
        found = message_of(text)
    except (GraphParseError, GraphConfigError):
        found = None

    assert found == expected


@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_places_are_those_that_words_alone_would_give(text):
    from penstock.config.reading import scan  # its reader is the subject

    by_word = scan._TextTree(text, tokens_of(text))
    root, unclosed = by_word.read()

    scanned = scan_text(text)

    assert (tree(scanned.root), scanned.unclosed) == (tree(root), unclosed)
    assert (scanned.rule is not None) == any(token.text == "%" for token in tokens_of(text))
