"""Plain graphs, which most small graphs are: read from text without importing protobuf.

A plain graph has plain nodes (`plain_nodes`), streams, side packets, executors without options,
`num_threads`, `max_queue_size`, `type`, `package`, comments, and nothing else. To import protobuf would take
a quarter of the time of a first small graph. A graph with anything else is left to the parser, so that
nothing is read here that the parser would refuse or read otherwise. The message is made when something asks
for it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from penstock import limits
from penstock.config.places import Places, ReadGraph, Spot
from penstock.config.reading.files import TEXT, bytes_of, is_path
from penstock.config.reading.plain_nodes import (
    MANY,
    PLAIN_NODE,
    SPACE,
    STRING,
    fields_of,
    given_by,
    half_character,
)
from penstock.plan import LateMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.config.calculator_pb2 import CalculatorGraphConfig
    from penstock.config.options.option_types import OptionTypes

_INT: Final = r"-?(?:0|[1-9][0-9]{0,8}+)(?![\w.+-])"
_END: Final = rf"{SPACE}[,;]?"
_IN_EXECUTOR: Final = rf"(?:name|type){SPACE}:{SPACE}{STRING}{_END}"

#: One field of a plain graph, or blanks and comments.
_PIECE: Final = re.compile(
    rf"(?P<node>{PLAIN_NODE})"
    rf"|(?:\s|\#[^\n]*+)++"
    rf"|(?P<text>{'|'.join((*MANY, 'type', 'package'))}){SPACE}:{SPACE}(?P<string>{STRING}){_END}"
    rf"|(?P<count>num_threads|max_queue_size){SPACE}:{SPACE}(?P<number>{_INT}){_END}"
    rf"|executor{SPACE}:?{SPACE}\{{(?P<executor>{SPACE}(?:{_IN_EXECUTOR}{SPACE})*+)\}}{_END}",
    re.ASCII,
)

#: What a field has that is not given; lists are empty. As in `calculator.proto`.
_DEFAULTS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("calculator", "executor", "name", "package", "type"), ""),
    **dict.fromkeys(
        ("buffer_size_hint", "max_in_flight", "max_queue_size", "num_threads", "source_layer"), 0
    ),
    **dict.fromkeys(("enable_profiler", "report_deadlock", "trace_enabled"), False),
    **dict.fromkeys(
        (
            *MANY,
            *("external_input", "input_stream_info", "node", "node_options", "option_value"),
            *("packet_factory", "packet_generator", "status_handler"),
        ),
        (),
    ),
}


class PlainMessage:
    """Reads as a message that has the given fields: a node, an executor, or a part that is not given.

    Fields are attributes. A field that is not given is an attribute of the class, with the default.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.__dict__.update(given)
        self.given: Final = given

    def HasField(self, name: str) -> bool:  # noqa: N802  # protobuf's name
        """Return whether a field is given."""
        return name in self.given

    def ListFields(self) -> Sequence[Any]:  # noqa: N802  # protobuf's name
        """Return the fields of a part that is not given."""
        return ()


for _field, _default in _DEFAULTS.items():
    setattr(PlainMessage, _field, _default)

#: A message without fields.
NOTHING: Final = PlainMessage({})


class PlainGraph(PlainMessage, LateMessage):
    """Reads as a CalculatorGraphConfig, which it makes when one is asked for. Its fields do not change.

    Args:
        given: the fields but `node`: name → string, number or list; "executor" has a list of fields.
        text: what it was read from.
        spans: where each node stands in the text.
        calculators: the names of their calculators, each once.
    """

    profiler_config = NOTHING

    def __init__(
        self,
        given: Mapping[str, Any],
        text: str,
        spans: Sequence[tuple[int, int]],
        calculators: Iterable[str],
    ) -> None:
        super().__init__(given)
        self._text: Final = text
        self._spans: Final = spans
        self.calculators = calculators
        self.executor: Final = [PlainMessage(one) for one in given.get("executor", ())]
        self._made: Final[dict[str, CalculatorGraphConfig]] = {}

    @cached_property
    def node(self) -> Sequence[PlainMessage]:
        """The nodes; few graphs are asked for them."""
        return [PlainMessage(given_by(fields_of(self._text, *span)[0])) for span in self._spans]

    def message(self) -> CalculatorGraphConfig:
        """Return the message: the same for all who ask, on whichever thread."""
        if not self._made:
            from penstock.config.calculator_pb2 import (
                CalculatorGraphConfig,
            )  # what a plain graph does without

            message = CalculatorGraphConfig(**self.given)
            for node in self.node:
                message.node.add(**node.given)
            self._made.setdefault("message", message)
        return self._made["message"]

    def again(self, order: Iterable[int] | None = None) -> PlainGraph:
        """Return an equal one, whose message will be another; or one with its nodes in another order."""
        spans = self._spans if order is None else [self._spans[i] for i in order]
        return PlainGraph(self.given, self._text, spans, self.calculators)


def read_plain_graph(source: object, types: OptionTypes) -> ReadGraph | None:
    """Read a plain graph and where its parts stand; None for any other, which the parser reads.

    Args:
        source: as `build_plan` takes it.
        types: of the graph. It gets the file.

    Raises:
        NotFoundError, InvalidArgumentError, ResourceExhaustedError, PenstockError: as the parser.
    """
    file = data = None
    if type(source) is str:
        text = source
    elif is_path(source) and source.suffix.lower() in TEXT:
        data, file = bytes_of(source), str(source)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
    else:
        return None
    limits.check("file_bytes", len(text), f"this graph text has {len(text)} characters")
    found = None if half_character(text) else plain_graph(text)
    if found is None:
        return None
    if data is not None:
        types.files.append((source, data))  # type: ignore[arg-type]  # a path
    graph, root = found
    return ReadGraph(graph, Places(file, text, root))


def plain_graph(text: str) -> tuple[PlainGraph, Spot] | None:
    """Return a graph of plain nodes and plain fields, and the tree of its fields; None for any other text.

    None too where a limit may be exceeded: `scan_text` counts exactly.
    """
    most = limits.current()
    spans: list[tuple[int, int]] = []
    others, done = [], 0
    for piece in _PIECE.finditer(text):
        start, end = piece.span()
        kind = piece.lastgroup  # None for blanks
        if kind == "node":
            spans.append((start, end))
        elif kind is not None:
            others.append(piece)
        if start != done or len(spans) > most.nodes or len(others) > most.tokens // 3:
            return None
        done = end
    if done != len(text) or sum([len(piece[0]) for piece in others], len(spans)) > most.tokens:
        return None
    given: dict[str, Any] = {}
    root = Spot(0)
    if not all(_takes(piece, given, root) for piece in others):
        return None
    nodes = root.fields["node"] = []
    names: dict[str, None] = {}
    for start, end in spans:
        fields, are_right = fields_of(text, start, end)
        if not are_right:
            return None
        nodes.append(Spot(start, fields))
        if "calculator" in fields:
            names[fields["calculator"][0].text] = None
    return PlainGraph(given, text, spans, names), root


def _takes(piece: re.Match[str], given: dict[str, Any], root: Spot) -> bool:
    """Put a field of the graph where it belongs; return whether it is right."""
    name = piece["text"] or piece["count"] or "executor"
    spot = root.add(name, piece.start())
    if name == "executor":
        one: dict[str, str] = {}
        pattern = re.compile(rf"(name|type){SPACE}:{SPACE}({STRING})")
        for found in pattern.finditer(piece.string, *piece.span("executor")):
            field, value = found.groups()
            if field in one:
                return False
            one[field] = value[1:-1]
            spot.add(field, found.start())
        given.setdefault("executor", []).append(one)
    elif name in MANY:
        given.setdefault(name, []).append(piece["string"][1:-1])
    elif name in given:  # which the parser refuses
        return False
    else:
        given[name] = int(piece["number"]) if piece["string"] is None else piece["string"][1:-1]
    return True
