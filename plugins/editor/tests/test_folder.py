"""Names that reach into other files: subgraphs and their users."""

from __future__ import annotations

import os

import pytest

from penstock_editor.open_file import OpenFile
from penstock_editor.project_names import Folder

PART = """\
type: "HalfSubgraph"
input_stream: "IN:a"
input_stream: "IN:1:c"
output_stream: "OUT:b"
node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" executor: "slow" }
"""
USER = """\
input_stream: "x"
output_stream: "y"
executor { name: "slow" type: "ThreadPoolExecutor" }
node { calculator: "HalfSubgraph" input_stream: "IN:x" input_stream: "IN:1:x" output_stream: "OUT:y" }
"""
OTHER = """\
input_stream: "x"
executor { name: "slow" type: "ThreadPoolExecutor" }
node { calculator: "PassThroughCalculator" input_stream: "x" output_stream: "IN" executor: "slow" }
"""


@pytest.fixture
def folder(client, tmp_path):
    """Write three files, open that of the user, and return their addresses by name."""
    for name, text in (("part", PART), ("user", USER), ("other", OTHER)):
        (tmp_path / f"{name}.pbtxt").write_text(text, encoding="utf-8")
    uris = {name: (tmp_path / f"{name}.pbtxt").as_uri() for name in ("part", "user", "other")}
    client.open(USER, uris["user"])
    yield uris
    for uri in uris.values():
        client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})


def written(uris, edit, texts):
    """Return name → text after an edit."""
    found = {}
    names = {uri: name for name, uri in uris.items()}
    for uri, edits in edit["changes"].items():
        lines = texts[names[uri]].split("\n")
        for one in sorted(
            edits,
            key=lambda one: (one["range"]["start"]["line"], one["range"]["start"]["character"]),
            reverse=True,
        ):
            start, end = one["range"]["start"], one["range"]["end"]
            line = lines[start["line"]]
            lines[start["line"]] = line[: start["character"]] + one["newText"] + line[end["character"] :]
        found[names[uri]] = "\n".join(lines)
    return found


TEXTS = {"part": PART, "user": USER, "other": OTHER}


def test_a_subgraph_is_renamed_where_it_is_made_and_used(client, folder):
    edit = client.ask("textDocument/rename", client.at(folder["user"], USER, '"Half', newName="Third"))

    assert written(folder, edit, TEXTS) == {
        "part": PART.replace("HalfSubgraph", "Third"),
        "user": USER.replace("HalfSubgraph", "Third"),
    }


def test_a_tag_is_renamed_where_it_is_declared_and_connected_and_nowhere_else(client, folder):
    edit = client.ask("textDocument/rename", client.at(folder["user"], USER, '"I', newName="FRAMES"))

    assert written(folder, edit, TEXTS) == {
        "part": PART.replace("IN:", "FRAMES:"),
        "user": USER.replace("IN:", "FRAMES:"),
    }


def test_a_port_of_another_kind_keeps_its_tag(client, tmp_path):
    part = PART.replace('type: "HalfSubgraph"', 'type: "HalfSubgraph"\ninput_side_packet: "IN:model"')
    user = USER.replace('output_stream: "OUT:y" }', 'output_stream: "OUT:y" input_side_packet: "IN:m" }')
    for name, text in (("part", part), ("user", user)):
        (tmp_path / f"{name}.pbtxt").write_text(text, encoding="utf-8")
    uris = {name: (tmp_path / f"{name}.pbtxt").as_uri() for name in ("part", "user")}
    client.open(user, uris["user"])

    edit = client.ask("textDocument/rename", client.at(uris["user"], user, 'packet: "I', newName="MODEL"))

    assert written(uris, edit, {"part": part, "user": user}) == {
        "part": part.replace("IN:model", "MODEL:model"),
        "user": user.replace("IN:m", "MODEL:m"),
    }


def test_an_executor_is_renamed_in_the_subgraphs_whose_nodes_run_on_it(client, folder):
    edit = client.ask("textDocument/rename", client.at(folder["user"], USER, 'name: "sl', newName="busy"))

    assert written(folder, edit, TEXTS) == {
        "part": PART.replace("slow", "busy"),
        "user": USER.replace("slow", "busy"),
    }


def test_a_stream_is_renamed_in_its_file_alone(client, folder):
    edit = client.ask("textDocument/rename", client.at(folder["user"], USER, 'input_stream: "x', newName="z"))

    assert written(folder, edit, TEXTS) == {"user": USER.replace('"x"', '"z"').replace(':x"', ':z"')}


@pytest.mark.parametrize(
    ("mark", "new", "message"),
    [
        ('"Half', "PassThroughCalculator", "project has a calculator 'PassThroughCalculator' already"),
        ('"Half', "a b", "'a b' is no type of a graph"),
        ('"I', "in", "'in' is no tag"),
        ('name: "sl', "default name", None),
    ],
)
def test_names_that_cannot_be_are_refused(client, folder, mark, new, message):
    asked = client.at(folder["user"], USER, mark, newName=new)
    if message is None:
        assert client.ask("textDocument/rename", asked)["changes"]
        return

    with pytest.raises(RuntimeError, match=message):
        client.ask("textDocument/rename", asked)


def test_the_calculator_of_a_pack_is_not_renamed(client, folder):
    client.open(OTHER, folder["other"])

    asked = client.at(folder["other"], OTHER, '"PassThrough')
    assert client.ask("textDocument/prepareRename", asked) is None
    assert client.ask("textDocument/rename", {**asked, "newName": "Other"}) is None


def test_the_definition_of_a_port_and_of_its_stream_is_in_the_file_of_the_subgraph(client, folder):
    marks = {'"I': 1, '"IN:1': None, '"OU': 3, "OUT:y": 3, '"HalfSub': 0}

    found = {
        mark: client.ask("textDocument/definition", client.at(folder["user"], USER, mark)) for mark in marks
    }

    lines = {
        mark: [(one["uri"], one["range"]["start"]["line"]) for one in made or []]
        for mark, made in found.items()
    }
    assert lines['"I'] == [(folder["part"], 1)]
    assert lines['"OU'] == lines["OUT:y"] == [(folder["part"], 3)]
    assert lines['"HalfSub'] == [(folder["part"], 0)]


def test_what_is_typed_in_another_file_counts_before_it_is_saved(client, folder):
    changed = PART.replace("IN:", "PICTURES:")
    client.open(PART, folder["part"])
    client.change(folder["part"], changed)
    client.uri = folder["user"]

    assert client.ask(
        "textDocument/references",
        client.at(folder["part"], changed, '"PICT', context={"includeDeclaration": True}),
    )
    edit = client.ask("textDocument/rename", client.at(folder["part"], changed, '"PICT', newName="P"))
    assert list(edit["changes"]) == [folder["part"]]


def test_references_of_a_type_are_all_its_users(client, folder):
    client.open(PART, folder["part"])

    found = client.ask(
        "textDocument/references",
        client.at(folder["part"], PART, 'type: "Half', context={"includeDeclaration": False}),
    )

    assert [one["uri"] for one in found] == [folder["user"]]


JSON_PART = """\
{
  "type": "HalfSubgraph",
  "input_stream": ["IN:a", "IN:1:c"],
  "outputStream": ["OUT:b"],
  "node": [
    {"calculator": "PassThroughCalculator", "input_stream": ["a"], "output_stream": ["b"], "executor": "slow"}
  ]
}
"""
JSON_USER = """\
{
  "executor": [{"name": "slow", "type": "ThreadPoolExecutor"}],
  "node": [
    {"calculator": "HalfSubgraph", "inputStream": ["IN:x", "IN:1:x"], "output_stream": ["OUT:y"]}
  ]
}
"""


@pytest.fixture(params=["part", "user"])
def mixed(request, client, tmp_path):
    """Write a subgraph and its user, one of them as JSON; open both, and return addresses and texts."""
    texts = {"part": PART, "user": USER}
    texts[request.param] = {"part": JSON_PART, "user": JSON_USER}[request.param]
    uris = {}
    for name, text in texts.items():
        path = tmp_path / f"{name}{'.json' if name == request.param else '.pbtxt'}"
        path.write_text(text, encoding="utf-8")
        uris[name] = path.as_uri()
    (tmp_path / "data.json").write_text('{"type": "HalfSubgraph", "IN": [1, 2]}', encoding="utf-8")
    client.open(texts["user"], uris["user"])
    yield uris, texts
    for uri in uris.values():
        client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})


@pytest.mark.parametrize(
    ("mark", "old", "new"),
    [("HalfSub", "HalfSubgraph", "Third"), ('"I', "IN:", "FRAMES:"), ('"slo', "slow", "busy")],
)
def test_what_json_names_is_renamed_with_its_neighbours(client, mixed, mark, old, new):
    uris, texts = mixed

    edit = client.ask(
        "textDocument/rename", client.at(uris["user"], texts["user"], mark, newName=new.rstrip(":"))
    )

    assert written(uris, edit, texts) == {name: text.replace(old, new) for name, text in texts.items()}


def test_definitions_and_references_lead_to_json_and_back(client, mixed):
    uris, texts = mixed

    made = client.ask("textDocument/definition", client.at(uris["user"], texts["user"], "HalfSub"))
    port = client.ask("textDocument/definition", client.at(uris["user"], texts["user"], '"OU'))
    client.open(texts["part"], uris["part"])
    used = client.ask(
        "textDocument/references",
        client.at(uris["part"], texts["part"], "HalfSub", context={"includeDeclaration": False}),
    )

    assert [one["uri"] for one in (*made, *port)] == [uris["part"]] * 2
    line = texts["part"].split("\n")[port[0]["range"]["start"]["line"]]
    assert '"OUT:b"' in line
    assert [one["uri"] for one in used] == [uris["user"]]


def test_data_beside_a_graph_is_left_alone(tmp_path):
    one = OpenFile((tmp_path / "user.pbtxt").as_uri())
    one.take(USER)
    (tmp_path / "data.json").write_text('{"type": "HalfSubgraph"}', encoding="utf-8")
    (tmp_path / "large.json").write_text(JSON_PART + " " * 2**20, encoding="utf-8")
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "part.json").write_text(JSON_PART, encoding="utf-8")
    for number in range(20):
        (tmp_path / f"z{number:02}.json").write_text(JSON_PART + " " * (2**20 - 500), encoding="utf-8")

    found = Folder().beside(one, {})

    assert [each.path.name for each in found[:2]] == ["user.pbtxt", "part.json"]
    assert len(found) == 2 + 16  # MiB
