"""Names that reach into other files: subgraphs and their users."""

from __future__ import annotations

import pytest

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
        ('"Half', "PassThroughCalculator", "there is a calculator 'PassThroughCalculator' already"),
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
