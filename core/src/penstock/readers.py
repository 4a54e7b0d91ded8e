"""Graphs as files: their parts, their places, and readers of other forms.

Graphs
    `numbered_nodes` gives nodes their canonical names, `place_words` writes a place in a graph file.
    `expand` puts the subgraphs of a graph in, `prefix_of` is what the names of their nodes begin with.
Readers of graphs in other forms
    A `GraphReader` makes a `GraphDefinition` of text or of a `Message`, with `ReaderFindType` and
    `ReaderMerge` at hand, and raises `GraphReaderError`. A `ReadGraph` is a graph with its `Places`, which
    have a `Spot` for each part of the file. `Faults` takes what is wrong, `definition_as_read_graph` makes
    one of a definition without arguments. `tokens_of` reads text into `Token`s, `end_of_field` finds where a
    field of it ends, `own_name` writes the name of one of our messages. A `JsonReader` fills in a graph, with
    `ReaderLoad` at hand. A `FieldPath` leads to a part of one, `field_path_words` writes it; `snake_case`
    writes the name of a field. `parser_error_words` words what protobuf says of a field that does not exist,
    `right_options` what to write instead of an option outside of its message.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.check.faults": "Faults",
    "penstock.check.nodes": "numbered_nodes",
    "penstock.config.graph_reader": (
        "GraphDefinition GraphReaderError GraphReader JsonReader ReaderFindType ReaderLoad "
        "ReaderMerge definition_as_read_graph"
    ),
    "penstock.config.message": "Message",
    "penstock.config.places": "FieldPath Places ReadGraph Spot field_path_words place_words",
    "penstock.config.reading.right_options": "right_options",
    "penstock.config.reading.scan": "Token end_of_field own_name snake_case tokens_of",
    "penstock.config.reading.parser_errors": "parser_error_words",
    "penstock.config.subgraphs.expand": "expand prefix_of",
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
