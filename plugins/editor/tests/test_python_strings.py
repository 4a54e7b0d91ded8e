"""Graphs in strings of Python files."""

from __future__ import annotations

import ast

import pytest

from penstock_editor.python_text import graphs_in, own_names

NODE = 'node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }'
FILE = '''\
"""A module, whose docstring says node { and is no graph."""

import penstock

# GRAPH = """node {"""
@penstock.register_calculator
@penstock.calculator
def bright_ness(frame: object) -> float:
    return 1.0


GRAPH = """\\
input_stream: "frames"
output_stream: "kept"
node { calculator: "BrightNess" input_stream: "FRAME:frames" output_stream: "OUT:bright" }
node { calculator: "GateCalculater" input_stream: "frames" output_stream: "kept"
  input_stream: "ALLOW:bright" }
"""

graph = penstock.CalculatorGraph(\'input_stream: "é𝒳" node { calculator: "Pass\' \'ThroughCalculator"\'
    \' input_stream: "x" output_stream: "y" }\')
'''
URI = "file:///nowhere/python/program.py"


def texts(source):
    return [one.text for one in graphs_in(source)]


@pytest.mark.parametrize(
    "source",
    [
        f"GRAPH = '''{NODE}'''",
        f'my_graph: Final = (\n  """\n# c\n{NODE}""")',
        f"run(r'{NODE}')",
        f"CONFIG = '''{NODE}",
        'GRAPH = """',
        'graph = CalculatorGraph("""\n  inp',
    ],
)
def test_a_graph_is_found(source):
    assert len(graphs_in(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        f'def f():\n    """Do it.\n\n    {NODE}\n    """',
        f"GRAPH = f'''{NODE}'''",
        f"GRAPH = b'''{NODE}'''",
        "GRAPH = '''node {{ calculator: \"{}\" }}'''.format(name)",
        "GRAPH = '''node { calculator: \"%s\" }''' % name",
        f"# GRAPH = '''{NODE}'''",
        'GRAPH = """<svg>"""',
        'GRAPH_FILE = "graph.pbtxt"',
        'GRAPH_HELP = """A graph has nodes."""',
        "x = 'node'",
    ],
)
def test_other_strings_are_left_alone(source):
    assert graphs_in(source) == []


@pytest.mark.parametrize(
    "literal",
    [
        '"""\\\nnode { calculator: \\"A\\" }\\n\\x41\\u00e9"""',
        "r'''node { calculator: \"\\d\" }'''",
        "'node { ' \"calculator: 'A' \" '}'",
        '"""node {\\t}\\q"""',
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_the_text_is_what_python_makes_of_it_and_each_offset_leads_back(literal):
    source = f"x = [1, {literal}]"
    [found] = graphs_in(source)

    assert found.text == ast.literal_eval(literal)
    for offset in range(len(found.text)):
        at = found.to_file(offset)
        assert found.from_file(at) == offset
        assert source[at] in {found.text[offset], "\\"}


def test_every_beginning_of_a_file_is_read():
    for end in range(len(FILE) + 1):
        for one in graphs_in(FILE[:end]):
            assert one.to_file(len(one.text)) <= end


def test_words_of_the_file_may_be_calculators():
    assert {"BrightNess", "bright_ness", "penstock"} <= own_names(FILE)
    assert "GateCalculater" not in own_names(FILE)


def test_faults_and_cures_have_their_places_in_the_file(client):
    uri = client.open(FILE, URI)
    found = client.diagnostics(lambda found: len(found) > 1)

    [fault] = [one for one in found if "GateCalculater" in one["message"]]
    line = next(n for n, one in enumerate(FILE.split("\n")) if "GateCalculater" in one)
    assert fault["range"]["start"] == {"line": line, "character": 20}
    assert not any("BrightNess" in one["message"] for one in found)
    [unwritten] = [one for one in found if "'x'" in one["message"]]
    last = FILE.split("\n")[unwritten["range"]["start"]["line"]]
    assert last[unwritten["range"]["start"]["character"] :].startswith(("x", 'input_stream: "x"'))
    asked = {"textDocument": {"uri": uri}, "range": fault["range"], "context": {"diagnostics": [fault]}}
    [cure, *_] = client.ask("textDocument/codeAction", asked)
    assert cure["edit"]["changes"][uri] == [{"range": fault["range"], "newText": "GateCalculator"}]


def test_completion_and_renaming_stay_in_the_string(client):
    uri = client.open(FILE, URI)

    labels = [
        one["label"]
        for one in client.ask("textDocument/completion", client.at(uri, FILE, "ALLOW:b"))["items"]
    ]
    edit = client.ask("textDocument/rename", client.at(uri, FILE, '"FRAME:fr', newName="pictures"))
    outside = client.ask("textDocument/completion", client.at(uri, FILE, "import pen"))

    assert {"frames", "bright"} <= set(labels)
    assert outside["items"] == []
    lines = FILE.split("\n")
    places = [one["range"] for one in edit["changes"][uri]]
    assert [
        lines[one["start"]["line"]][one["start"]["character"] : one["end"]["character"]] for one in places
    ] == ["frames"] * 3


def test_what_is_written_into_a_short_string_has_its_quotes_escaped(client):
    text = 'g = CalculatorGraph("node { calc'
    uri = client.open(text, URI)

    found = client.ask("textDocument/completion", client.at(uri, text, "calc"))

    [field] = [one for one in found["items"] if one["label"] == "calculator"]
    assert field["textEdit"]["newText"] == 'calculator: \\"'


def test_python_without_graphs_is_left_alone(client):
    uri = client.open("x = 1\n", "file:///nowhere/python/other.py")

    assert client.diagnostics() == []
    assert client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})["data"] == []
