"""The server over its pipes: requests of an editor, and the answers."""

from __future__ import annotations

import pytest

NODE = 'node {\n  calculator: "GateCalculator"\n'
GRAPH = """\
input_stream: "frames"
output_stream: "kept"
executor { name: "slow" type: "ThreadPoolExecutor" }

# é 𝒳
node {
  calculator: "GateCalculator"
  input_stream: "frames"
  input_stream: "ALLOW:is_open"
  output_stream: "kept"
  executor: "slow"
  options { [penstock.GateCalculatorOptions.ext] { allow: true } }
}

node {
  calculator: "PassThroughCalculator"
  input_stream: "frames"
  output_stream: "is_open"
}
"""


def labels(found):
    return [one["label"] for one in found["items"]]


def texts_at(text, locations):
    lines = text.split("\n")
    return [
        (one["range"]["start"]["line"] + 1, lines[one["range"]["start"]["line"]].strip()) for one in locations
    ]


def edited(text, edits):
    lines = text.split("\n")
    for one in sorted(
        edits, key=lambda one: (-one["range"]["start"]["line"], -one["range"]["start"]["character"])
    ):
        start, end = one["range"]["start"], one["range"]["end"]
        assert start["line"] == end["line"]
        line = lines[start["line"]]
        lines[start["line"]] = line[: start["character"]] + one["newText"] + line[end["character"] :]
    return "\n".join(lines)


def test_a_good_graph_has_no_diagnostics(client):
    client.open(GRAPH)

    assert client.diagnostics() == []


def test_faults_have_places_and_cures(client):
    uri = client.open(GRAPH)
    text = GRAPH.replace('"GateCalculator"', '"GateCalcualtor"')
    client.change(uri, text)

    found = client.diagnostics(lambda found: found)

    [fault] = [one for one in found if "GateCalcualtor" in one["message"]]
    assert fault["severity"] == 1
    assert fault["range"]["start"] == {"line": 6, "character": 15}
    actions = client.ask(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": fault["range"], "context": {"diagnostics": [fault]}},
    )
    assert actions[0]["title"] == "write 'GateCalculator'"
    assert edited(text, actions[0]["edit"]["changes"][uri]) == GRAPH


def test_findings_of_lint_are_warnings_whose_mends_and_comments_are_cures(client):
    text = GRAPH.replace('executor: "slow"', "")
    uri = client.open(text)
    found = client.diagnostics(lambda found: any(one.get("code") == "PS301" for one in found))
    [idle] = [one for one in found if one.get("code") == "PS301"]

    actions = client.ask(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": idle["range"], "context": {"diagnostics": [idle]}},
    )

    assert (idle["severity"], idle["source"]) == (2, "penstock lint")
    assert [one["title"] for one in actions] == ["mend PS301 executor-idle", "ignore PS301 here, and say why"]
    [edit] = actions[1]["edit"]["changes"][uri]
    assert edit["newText"] == "# penstock: ignore[PS301] say why\n"
    assert edit["range"]["start"] == {"line": idle["range"]["start"]["line"], "character": 0}


def test_broken_text_has_all_its_mistakes_and_names_what_is_unknown_elsewhere(client):
    uri = client.open('node {\n  calculator: "Gate\nnode {\n  calculator: "PassThroughCalculater"\n}\n')

    found = client.diagnostics(lambda found: found)

    assert [one["message"].partition(" (")[0] for one in found] == [
        "this bracket is never closed",
        "this string is never closed",
        "no calculator 'Gate' is registered",
        "no calculator 'PassThroughCalculater' is registered",
    ]
    client.change(uri, GRAPH)
    assert client.diagnostics() == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('node {\n  calculator: "Gat', ["GateCalculator"]),
        (
            NODE + '  input_stream: "',
            ["ALLOW:", "DISALLOW:", "frames", "is_open"],
        ),
        (NODE + '  input_stream: "ALLOW:', ["frames", "kept", "is_open"]),
        (NODE + '  output_stream: "', ["STATE_CHANGE:"]),
        (NODE + '  executor: "', ["slow"]),
        ("node {\n  calc", ["calculator", "input_stream", "options"]),
        (NODE + "  options { ", ["[penstock.GateCalculatorOptions.ext]"]),
        (
            NODE + "  options { [penst",
            ["[penstock.GateCalculatorOptions.ext]"],
        ),
        (
            NODE + "  node_options: { ",
            ["[type.googleapis.com/penstock.GateCalculatorOptions]"],
        ),
        (
            NODE + "  options { [penstock.GateCalculatorOptions.ext] { all",
            ["allow", "empty_packets_as_allow"],
        ),
        (
            NODE + "  options { [mediapipe.GateCalculatorOptions.ext] { initial_gate_state: ",
            ["GATE_ALLOW", "GATE_DISALLOW"],
        ),
        (
            NODE + "  options { [penstock.GateCalculatorOptions.ext] { allow: t",
            ["true"],
        ),
        ('node {\n  input_stream_handler { input_stream_handler: "', ["DefaultInputStreamHandler"]),
        ('executor { type: "', ["ThreadPoolExecutor"]),
        ("num", ["num_threads", "node", "executor"]),
        ('output_stream: "', ["frames", "kept", "is_open"]),
    ],
)
def test_what_may_be_written_is_proposed(client, written, expected):
    text = f"{GRAPH}\n{written}"
    uri = client.open(text)

    found = client.ask("textDocument/completion", client.at(uri, text, written))

    missing = [one for one in expected if one not in labels(found)]
    assert not missing, labels(found)


def test_a_proposal_replaces_what_is_written(client):
    text = 'node {\n  calculator: "GateC'
    uri = client.open(text)

    found = client.ask("textDocument/completion", client.at(uri, text, "GateC"))

    [gate] = [one for one in found["items"] if one["label"] == "GateCalculator"]
    assert edited(text, [gate["textEdit"]]) == 'node {\n  calculator: "GateCalculator'


def test_nothing_is_proposed_in_a_comment(client):
    text = "# node { calc"
    uri = client.open(text)

    assert client.ask("textDocument/completion", client.at(uri, text, "calc"))["items"] == []


def test_the_page_of_a_calculator_is_shown(client):
    uri = client.open(GRAPH)

    said = client.ask("textDocument/hover", client.at(uri, GRAPH, 'calculator: "Gate'))["contents"]["value"]

    assert said.startswith("**GateCalculator** (calculator, penstock-calculators)\n\nForwards the packets")
    assert "- input `ALLOW`: bool, optional: whether the gate is open" in said


def test_who_writes_and_reads_a_stream_and_its_type_are_shown(client):
    text = GRAPH.replace(
        'output_stream: "kept"\n  exec',
        'output_stream: "kept"\n  output_stream: "STATE_CHANGE:moved"\n  exec',
    )
    uri = client.open(text)

    said = client.ask("textDocument/hover", client.at(uri, text, "STATE_CHANGE:mo"))["contents"]["value"]
    of_input = client.ask("textDocument/hover", client.at(uri, text, 'input_stream: "fra'))["contents"][
        "value"
    ]

    assert said == "**moved** (stream)\n\nwritten by `GateCalculator`, line 11: bool\n\nnothing reads it"
    assert of_input == (
        "**frames** (stream)\n\ndeclared by the graph, line 1\n\n"
        "read by `GateCalculator`, `PassThroughCalculator`"
    )


WITH_ERRORS = """\
input_stream: "frames"
node {
  calculator: "PassThroughCalculator"
  input_stream: "frames"
  output_stream: "kept"
  failure { on_error: SKIP error_stream: "lost" }
}
node { calculator: "PassThroughCalculator" input_stream: "lost" output_stream: "told" }
"""


def test_an_error_stream_is_a_stream_of_its_node(client):
    uri = client.open(WITH_ERRORS)

    said = client.ask("textDocument/hover", client.at(uri, WITH_ERRORS, 'input_stream: "lo'))["contents"]
    made = client.ask("textDocument/definition", client.at(uri, WITH_ERRORS, 'input_stream: "lo'))
    edit = client.ask(
        "textDocument/rename", client.at(uri, WITH_ERRORS, 'error_stream: "lo', newName="failures")
    )

    assert said["value"] == (
        "**lost** (stream)\n\ncarries the failures of `PassThroughCalculator`, line 6\n\n"
        "read by `PassThroughCalculator`"
    )
    assert texts_at(WITH_ERRORS, [made] if isinstance(made, dict) else made) == [
        (6, 'failure { on_error: SKIP error_stream: "lost" }')
    ]
    assert edited(WITH_ERRORS, edit["changes"][uri]) == WITH_ERRORS.replace("lost", "failures")


def test_text_with_a_mistake_misses_no_error_stream(client):
    client.open(WITH_ERRORS + "node {\n")

    assert [one["message"] for one in client.diagnostics()] == ["this bracket is never closed"]


def test_what_a_port_is_is_shown_at_its_tag(client):
    text = GRAPH.replace(
        'output_stream: "kept"\n  exec',
        'input_stream: "ALLOW:open"\n  output_stream: "kept"\n  output_stream: "STATE_CHANGE:moved"\n  exec',
    )
    uri = client.open(text)

    of_input = client.ask("textDocument/hover", client.at(uri, text, '"AL'))["contents"]["value"]
    at_its_end = client.ask("textDocument/hover", client.at(uri, text, '"ALLOW'))["contents"]["value"]
    of_output = client.ask("textDocument/hover", client.at(uri, text, '"STATE_CH'))["contents"]["value"]

    assert (
        of_input
        == at_its_end
        == ("**ALLOW** (input of `GateCalculator`): bool, optional\n\nwhether the gate is open")
    )
    assert of_output.startswith("**STATE_CHANGE** (output of `GateCalculator`): bool, optional\n\n")


def test_a_tag_that_no_port_has_or_of_the_graph_itself_has_no_page(client):
    text = GRAPH.replace('output_stream: "kept"\n  exec', 'output_stream: "NONE:kept"\n  exec').replace(
        'input_stream: "frames"', 'input_stream: "VIDEO:frames"', 1
    )
    uri = client.open(text)

    assert client.ask("textDocument/hover", client.at(uri, text, '"NON')) is None
    assert client.ask("textDocument/hover", client.at(uri, text, '"VID')) is None


def test_what_an_option_means_is_shown(client):
    uri = client.open(GRAPH)

    said = client.ask("textDocument/hover", client.at(uri, GRAPH, "{ al"))["contents"]["value"]

    assert (
        said
        == "`allow`: bool, default false\n\nWhether the gate is open if no control is connected or given."
    )


def test_definitions_and_references_of_a_stream(client):
    uri = client.open(GRAPH)

    made = client.ask("textDocument/definition", client.at(uri, GRAPH, "ALLOW:is"))
    used = client.ask(
        "textDocument/references", client.at(uri, GRAPH, "ALLOW:is", context={"includeDeclaration": False})
    )

    assert texts_at(GRAPH, made) == [(18, 'output_stream: "is_open"')]
    assert texts_at(GRAPH, used) == [(9, 'input_stream: "ALLOW:is_open"')]


def test_the_definition_of_a_calculator_is_its_source(client):
    uri = client.open(GRAPH)

    [made] = client.ask("textDocument/definition", client.at(uri, GRAPH, 'calculator: "Gate'))

    assert made["uri"].endswith("/penstock_calculators/limiting/gate.py")


@pytest.mark.parametrize(
    ("mark", "old", "new"),
    [
        ("ALLOW:is", "is_open", "may_pass"),
        ('executor: "sl', "slow", "heavy work"),
        ('output_stream: "ke', "kept", "k"),
    ],
)
def test_renaming_changes_every_place_and_no_other(client, mark, old, new):
    uri = client.open(GRAPH)

    edit = client.ask("textDocument/rename", client.at(uri, GRAPH, mark, newName=new))

    assert edited(GRAPH, edit["changes"][uri]) == GRAPH.replace(old, new)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("Is Open", "'Is Open' is no name of a stream"),
        ("kept", "the edited project has a stream 'kept' already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(client, new, message):
    uri = client.open(GRAPH)

    with pytest.raises(RuntimeError, match=message):
        client.ask("textDocument/rename", client.at(uri, GRAPH, "ALLOW:is", newName=new))


def test_outline_and_folds(client):
    uri = client.open(GRAPH)

    symbols = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    folds = client.ask("textDocument/foldingRange", {"textDocument": {"uri": uri}})

    assert [one["name"] for one in symbols] == [
        "frames",
        "kept",
        "slow",
        "GateCalculator",
        "PassThroughCalculator",
    ]
    assert [(one["startLine"], one["endLine"]) for one in folds] == [(5, 11), (14, 17)]


def test_formatting_is_that_of_penstock_format(client):
    text = "node{calculator:'PassThroughCalculator'\n}"
    uri = client.open(text)

    [edit] = client.ask(
        "textDocument/formatting",
        {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}},
    )

    assert edit["newText"] == 'node {\n  calculator: "PassThroughCalculator"\n}\n'
    assert edit["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 1}}


def test_text_that_cannot_be_formatted_is_left_and_the_user_is_told(client):
    uri = client.open("node {")

    edits = client.ask(
        "textDocument/formatting",
        {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}},
    )

    assert edits is None
    said = [one["params"]["message"] for one in client.notes if one.get("method") == "window/showMessage"]
    assert said[-1] == "not formatted: graph.pbtxt:1:6: this bracket is never closed"


def test_columns_are_those_of_utf_16(client):
    text = GRAPH.replace("# é 𝒳", 'node { calculator: "𝒳é" input_stream: "frames" output_stream: "x" }')
    uri = client.open(text)
    found = client.diagnostics(lambda found: found)

    places = [one["range"] for one in found if "𝒳é" in one["message"]]
    assert [(one["start"]["character"], one["end"]["character"]) for one in places][:1] == [(20, 23)]
    line = next(n for n, one in enumerate(text.split("\n")) if "𝒳" in one)
    where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 41}}
    assert client.ask("textDocument/hover", where)["contents"]["value"].startswith("**frames** (stream)")


def test_a_subgraph_beside_the_file_is_known_and_is_the_definition(client, tmp_path):
    part = tmp_path / "part.pbtxt"
    part.write_text(
        'type: "HalfSubgraph"\ninput_stream: "IN:a"\noutput_stream: "OUT:b"\n'
        'node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }\n',
        encoding="utf-8",
    )
    text = (
        'input_stream: "x"\noutput_stream: "y"\n'
        'node { calculator: "HalfSubgraph" input_stream: "IN:x" output_stream: "OUT:y" }\n'
    )
    file = tmp_path / "graph.pbtxt"
    file.write_text(text, encoding="utf-8")
    uri = client.open(text, file.as_uri())

    assert client.diagnostics() == []
    [made] = client.ask("textDocument/definition", client.at(uri, text, 'calculator: "Half'))
    assert made["uri"] == part.as_uri()


def test_what_a_calculator_prints_does_not_break_the_protocol(started, tmp_path):
    code = tmp_path / "loud.py"
    code.write_text(
        "import penstock\nprint('loud')\n@penstock.register_calculator\nclass Loud(penstock.Calculator):\n"
        "    @classmethod\n    def get_contract(cls, cc):\n        print('louder', flush=True)\n",
        encoding="utf-8",
    )
    one = started("--import", str(code))
    one.open('node { calculator: "Loud" }')

    assert one.diagnostics() == []
    code, errors = one.close()
    assert (code, "louder" in errors) == (0, True)


def test_an_editor_that_goes_away_ends_the_server(started):
    one = started()
    one.process.stdin.close()

    assert one.process.wait(60) == 0
