"""LocalFileContentsCalculator: files, found by their names, as bytes or text."""

from __future__ import annotations

import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_tensors import RESOURCES, ResourceFinder
from penstock_tensors.inference.local_file_contents import LocalFileContentsCalculator
from penstock_testing import run_calculator

GRAPH = """
input_side_packet: "a" input_side_packet: "b"
node {
  calculator: "LocalFileContentsCalculator"
  input_side_packet: "FILE_PATH:0:a" input_side_packet: "FILE_PATH:1:b"
  output_side_packet: "CONTENTS:0:first" output_side_packet: "CONTENTS:1:second"
  %s
}
"""
TEXT = "options { [mediapipe.LocalFileContentsCalculatorOptions.ext] { text_mode: true } }"


def contents(folder, names, options=""):
    graph = penstock.CalculatorGraph(GRAPH % options)
    graph.set_service(RESOURCES, ResourceFinder([folder], only_places=True))
    graph.start_run(dict(zip("ab", names, strict=True)))
    graph.close(60)
    return [graph.get_output_side_packet(name).payload for name in ("first", "second")]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.txt").write_bytes("ä\r\nb\rc\n".encode())
    (tmp_path / "two.bin").write_bytes(b"\xff\r\n")
    return tmp_path


def test_files_are_bytes_each_at_its_place(folder):
    assert contents(folder, ["two.bin", "one.txt"]) == [b"\xff\r\n", "ä\r\nb\rc\n".encode()]


def test_text_is_decoded_and_has_newlines(folder):
    assert contents(folder, ["one.txt", "one.txt"], TEXT) == ["ä\nb\nc\n"] * 2


@pytest.mark.parametrize(
    ("name", "message"), [("two.bin", "'two.bin' is no text in UTF-8"), ("away", "has not found 'away'")]
)
def test_a_file_that_is_no_text_or_not_there_is_refused(folder, name, message):
    with pytest.raises(GraphRunError, match=message):
        contents(folder, ["one.txt", name], TEXT)


def test_there_are_as_many_names_as_contents():
    with pytest.raises(
        GraphConfigError, match="the node has 1 side packets FILE_PATH and 0 outputs CONTENTS"
    ):
        run_calculator(LocalFileContentsCalculator, side_packets={"FILE_PATH": "a"})
