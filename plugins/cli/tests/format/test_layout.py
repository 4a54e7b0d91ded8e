"""The layout: what each construct of graph text becomes."""

from __future__ import annotations

from itertools import count

import pytest

from penstock.errors import GraphParseError, InternalError
from penstock.packs import default_registry
from penstock_format import formatted, layout, read_tree

WIDE = 'input_stream: "a stream with a name that is so long that no line can hold it together with others"'


def new(text):
    return formatted(text, default_registry())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n\n", ""),
        ("# only\n\n\n# comments", "# only\n\n# comments\n"),
        ("num_threads:3", "num_threads: 3\n"),
        ("num_threads  :\n  3 ;", "num_threads: 3\n"),
        ("input_stream: 'a', input_stream: \"b\"", 'input_stream: "a"\ninput_stream: "b"\n'),
        ("input_stream: 'say \"a\"'", "input_stream: 'say \"a\"'\n"),
        ("input_stream: 'it\\'s'", "input_stream: 'it\\'s'\n"),
        ('input_stream: "a" "b"', 'input_stream: "a" "b"\n'),
        ('input_stream: "a"\n"b"', 'input_stream:\n  "a"\n  "b"\n'),
        ('input_stream: "a" # one\n "b" # two', 'input_stream:\n  "a"\n  # one\n  "b"  # two\n'),
        ('input_stream : ["a","b"]', 'input_stream: ["a", "b"]\n'),
        ("input_stream: []", "input_stream: []\n"),
        ('input_stream: ["a",\n"b"]', 'input_stream: [\n  "a",\n  "b"\n]\n'),
        (
            'input_stream: ["a", # one\n"b" # two\n# end\n]',
            'input_stream: [\n  "a",  # one\n  "b"  # two\n  # end\n]\n',
        ),
        ("node {}", "node {}\n"),
        ("node: <\n>", "node {}\n"),
        ("node {\n# why\n}", "node {\n  # why\n}\n"),
        ('node{calculator:"A"}', 'node { calculator: "A" }\n'),
        ('node{\ncalculator:"A"}', 'node {\n  calculator: "A"\n}\n'),
        ('node [{calculator:"A"}, <>]', 'node: [{ calculator: "A" }, {}]\n'),
        ("node { # first\n}", "node {  # first\n}\n"),
        ('node { calculator: "A" # of A\n} # of all', 'node {\n  calculator: "A"  # of A\n}  # of all\n'),
        ('node { calculator: # name\n "A" }', 'node {\n  # name\n  calculator: "A"\n}\n'),
        (
            "node { options { [ mediapipe . GateCalculatorOptions . ext ] { allow : true } } }",
            "node { options { [mediapipe.GateCalculatorOptions.ext] { allow: true } } }\n",
        ),
        (
            "node { node_options { [type.googleapis.com/penstock.GateCalculatorOptions]{} } }",
            "node { node_options { [type.googleapis.com/penstock.GateCalculatorOptions] {} } }\n",
        ),
        ("node { buffer_size_hint: -1 }", "node { buffer_size_hint: -1 }\n"),
    ],
)
def test_each_construct_has_one_layout(text, expected):
    assert new(text) == expected
    assert new(expected) == expected


def test_brackets_on_a_line_that_is_too_long_get_a_line_for_each_field():
    assert new(f"node {{ {WIDE} }}") == f"node {{\n  {WIDE}\n}}\n"
    assert new(f'node {{ {WIDE[:40]}" }}') == f'node {{ {WIDE[:40]}" }}\n'


def test_the_comment_behind_such_a_line_stays_on_the_line_where_it_silences_findings():
    text = f"node {{ {WIDE} }}  # penstock: ignore[PS101] it is so\n"

    assert new(text) == f"node {{  # penstock: ignore[PS101] it is so\n  {WIDE}\n}}\n"


def test_messages_of_several_lines_are_parted_by_one_blank_line_from_what_is_around_them():
    text = (
        'input_stream: "a"\nnode {\n}\n# of b\nnode {\n calculator: "B"\n}\noutput_stream: "b"\n\n\n\n'
        'output_stream: "c"'
    )

    assert new(text) == (
        'input_stream: "a"\nnode {}\n\n# of b\nnode {\n  calculator: "B"\n}\n\noutput_stream: "b"\n\n'
        'output_stream: "c"\n'
    )


def test_a_comment_that_is_apart_from_the_node_below_stays_apart():
    text = "# the file\n\n# a part\n\n# a node\nnode {}\n"

    assert new(text) == text


def test_blank_lines_at_the_ends_of_brackets_go_and_those_between_fields_stay():
    text = 'node {\n\n\n  calculator: "A"\n\n\n  input_stream: "a"\n\n}\n'

    assert new(text) == 'node {\n  calculator: "A"\n\n  input_stream: "a"\n}\n'


def test_rules_of_templates_stay_where_they_are():
    text = '% param n : 2 %\n% for (i : range(n)) %\nnode {\n  name: % i %\n}\n% end %\noutput_stream: "o"\n'

    assert new(text) == text
    assert new("node { name:%'a'%\n}") == "node {\n  name: %'a'%\n}\n"


def test_lines_end_as_the_first_one_does():
    assert new("node {\r\n}\r\n# é\r\n") == "node {}\r\n# é\r\n"
    assert new("# a\nnode {\r\n}") == "# a\nnode {}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node {", "line 1, column 6: this bracket is never closed"),
        (
            'node {\n  calculater: "A"\n}',
            "line 2, column 3: penstock.CalculatorGraphConfig.Node has no field 'calculater'",
        ),
        (
            "node { options { [penstock.GateCalculatorOptions.ext] { allw: 1 } } }",
            "line 1, column 57: penstock.GateCal",
        ),
        ("% if (a) %\nnode {}", "line 1, column 1: this 'if' is never ended"),
    ],
)
def test_text_that_is_no_graph_is_refused_with_its_place(text, message):
    with pytest.raises(GraphParseError) as caught:
        new(text)

    assert str(caught.value).startswith(message)


def test_a_graph_that_cannot_run_and_options_of_packs_that_are_not_installed_are_laid_out():
    text = 'node { calculator: "Missing" options { [other.XOptions.ext] { a:1,b<c:[2,3]> } } }'

    assert (
        new(text)
        == 'node { calculator: "Missing" options { [other.XOptions.ext] { a: 1 b { c: [2, 3] } } } }\n'
    )


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (lambda text, _: text.replace("one", "two"), "what the graph says"),
        (lambda text, _: text.replace("# why", "#"), "a comment"),
        (lambda text, call: text + "\n" * call, "if it were made again"),
    ],
)
def test_a_layout_that_would_change_the_graph_is_an_error(monkeypatch, changed, what):
    original, calls = layout.laid_out, count()
    monkeypatch.setattr(layout, "laid_out", lambda document: changed(original(document), next(calls)))

    with pytest.raises(InternalError, match=f"the layout would change {what}"):
        new('# why\nnode {\nname: "one"}')


def test_broken_text_is_read_as_far_as_it_goes():
    text = 'node {\n  calculator: "A"\n  options {\n\nnode {\n  calculator: "B"\n  input_stream: "fra\n}\n'

    document = read_tree(text)

    nodes = document.root.fields("node")
    assert [node.value.text_of("calculator") for node in nodes] == ["A", "B"]
    assert nodes[1].value.text_of("input_stream") == "fra"
    assert [(one.start, one.words) for one in document.mistakes] == [
        (5, "this bracket is never closed"),
        (35, "this bracket is never closed"),
        (text.index('"fra'), "this string is never closed"),
    ]
