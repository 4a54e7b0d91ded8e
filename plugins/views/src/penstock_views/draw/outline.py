"""Graphs without their options, to look at a graph whose packs are not installed.

Packs declare the messages of options, and a graph with options of a pack that is not installed cannot be
read. Without any options it can: the nodes and streams stay, with the places that they had.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.config.calculator_pb2 import CalculatorGraphConfig

if TYPE_CHECKING:
    from penstock.readers import Message

#: Fields of nodes, executors, handlers and graphs that hold messages of packs.
_OPTIONS: Final = ("options", "node_options", "graph_options")
_CAMEL: Final = {"options", "nodeOptions", "graphOptions"}
_BINARY: Final = (".binarypb", ".pb")
_OPENING: Final = "{<["
_CLOSING: Final = "}>]"
_TOKEN: Final = re.compile(
    r"""\#[^\n]* | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | [A-Za-z_]\w* | [{}<>\[\]] | :""",
    re.VERBOSE,
)


def outline(source: object) -> object:
    """Return a graph without its options, in a form that `read_graph` takes: text, a dict or a message.

    Args:
        source: what `read_graph` takes, in any of its forms.

    Raises:
        OSError, ValueError, google.protobuf.message.DecodeError: the graph cannot be read without options.
    """
    convert = getattr(source, "to_config", None)
    if callable(convert):
        source = convert()
    if isinstance(source, Path):
        return _of_file(source)
    if isinstance(source, str):
        return without_options(source)
    if isinstance(source, CalculatorGraphConfig):
        return _emptied(CalculatorGraphConfig.FromString(source.SerializePartialToString()))
    return _stripped(source)


def _of_file(path: Path) -> object:
    suffix = path.suffix.lower()
    if suffix in _BINARY:
        return _emptied(CalculatorGraphConfig.FromString(path.read_bytes()))
    text = path.read_text(encoding="utf-8-sig")
    return _stripped(json.loads(text)) if suffix == ".json" else without_options(text)


def without_options(text: str) -> str:
    """Return graph text with blanks in place of its options. Lines and columns do not change. Never fails."""
    tokens = [match for match in _TOKEN.finditer(text) if not match.group().startswith("#")]
    pieces: list[str] = []
    done = i = 0
    while i < len(tokens):
        last = _end_of_value(tokens, i + 1) if tokens[i].group() in _OPTIONS else None
        if last is None:
            i += 1
            continue
        start, end = tokens[i].start(), tokens[last].end()
        pieces += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
        done, i = end, last + 1
    return "".join((*pieces, text[done:]))


def _end_of_value(tokens: list[re.Match[str]], i: int) -> int | None:
    """Return the position of the token that closes a field's value; None where the value has no bracket."""
    if i < len(tokens) and tokens[i].group() == ":":
        i += 1
    depth = 0
    for j in range(i, len(tokens)):
        mark = tokens[j].group()
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth == 0:
            return j if j > i else None
    return None


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in _CAMEL and key not in _OPTIONS}
        return {key: _stripped(one) for key, one in kept.items()}
    return [_stripped(one) for one in value] if isinstance(value, list) else value


def _emptied(graph: Message) -> Message:
    """Clear the options of a graph, unknown ones too. Changes the message."""
    graph.ClearField("graph_options")
    graph.ClearField("options")
    for part in (*graph.node, *graph.executor, graph.input_stream_handler, graph.output_stream_handler):
        part.ClearField("options")
    for node in graph.node:
        node.ClearField("node_options")
        node.input_stream_handler.ClearField("options")
        node.output_stream_handler.ClearField("options")
    graph.DiscardUnknownFields()
    return graph
