"""Plain graphs, which most small graphs are: read from text without importing protobuf.

A plain graph has plain nodes (`plain_nodes`), streams, side packets, executors without options,
`num_threads`, `max_queue_size`, `type`, `package`, comments, and nothing else. To import protobuf would take
a quarter of the time of a first small graph. A graph with anything else is left to the parser, so that
nothing is read here that the parser would refuse or read otherwise. The message is made when something asks
for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from penstock import limits
from penstock.config.places import Places, ReadGraph
from penstock.config.reading.files import TEXT, bytes_of, is_path
from penstock.config.reading.plain_nodes import SPACE, STRING
from penstock.config.reading.scan import half_character, scan_text
from penstock.plan import LateMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.config.calculator_pb2 import CalculatorGraphConfig
    from penstock.config.options.option_types import OptionTypes
    from penstock.config.reading.scan import ScannedText

_ONE: Final = ("type", "package", "num_threads", "max_queue_size")
_MANY: Final = ("input_stream", "output_stream", "input_side_packet", "output_side_packet")
_INT: Final = r"-?(?:0|[1-9][0-9]{0,8}+)(?![\w.+-])"
_END: Final = rf"{SPACE}[,;]?"
_IN_EXECUTOR: Final = rf"(?:name|type){SPACE}:{SPACE}{STRING}{_END}"

#: One field between the plain nodes of a plain graph, or blanks and comments.
_PIECE: Final = re.compile(
    rf"(?:\s|\#[^\n]*+)++"
    rf"|(?P<text>{'|'.join((*_MANY, 'type', 'package'))}){SPACE}:{SPACE}(?P<string>{STRING}){_END}"
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
            *_MANY,
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

_NOTHING: Final = PlainMessage({})


class PlainGraph(PlainMessage, LateMessage):
    """Reads as a CalculatorGraphConfig, which it makes when one is asked for. Its fields do not change.

    Args:
        given: the fields but `node`: name → string, number or list; "executor" has a list of fields.
        nodes: the fields of each node.
    """

    profiler_config = _NOTHING

    def __init__(self, given: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(given)
        self.node: Final = [PlainMessage(one) for one in nodes]
        self.executor: Final = [PlainMessage(one) for one in given.get("executor", ())]
        self._made: Final[dict[str, CalculatorGraphConfig]] = {}

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

    def again(self) -> PlainGraph:
        """Return an equal one, whose message will be another."""
        return PlainGraph(self.given, [node.given for node in self.node])

    def in_order(self, order: Sequence[int]) -> PlainGraph:
        """Return the graph with its nodes in another order."""
        return PlainGraph(self.given, [self.node[i].given for i in order])


def read_plain_graph(source: object, types: OptionTypes) -> ReadGraph | None:
    """Read a plain graph and where its parts stand; None for any other, which the parser reads.

    Args:
        source: as `build_plan` takes it.
        types: of the graph. It gets the file; or, where the graph is not plain, what was scanned.

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
    scanned = scan_text(text)
    found = None if half_character(text) else plain_graph(scanned)
    if found is None:
        types.scanned[text] = scanned
        return None
    if data is not None:
        types.files.append((source, data))  # type: ignore[arg-type]  # a path
    return ReadGraph(found, Places(file, text, scanned.root))


def plain_graph(scanned: ScannedText) -> PlainGraph | None:
    """Return a graph of plain nodes and plain fields; None for any other text."""
    if scanned.named or scanned.rule is not None or scanned.unclosed is not None:
        return None
    given: dict[str, Any] = {}
    done = 0
    for node in scanned.plain:
        if not _takes(scanned.text, done, node.start, given):
            return None
        done = node.end
    if not _takes(scanned.text, done, len(scanned.text), given):
        return None
    return PlainGraph(given, [node.given for node in scanned.plain])


def _takes(text: str, start: int, end: int, given: dict[str, Any]) -> bool:
    """Put the fields of a part of the text where they belong; return whether all of it is plain."""
    while start < end:
        found = _PIECE.match(text, start, end)
        if found is None:
            return False
        start = found.end()
        name = found["text"] or found["count"]
        if found["executor"] is not None:
            one: dict[str, str] = {}
            for field, value in re.findall(rf"(name|type){SPACE}:{SPACE}({STRING})", found["executor"]):
                if field in one:
                    return False
                one[field] = value[1:-1]
            given.setdefault("executor", []).append(one)
        elif name in _MANY:
            given.setdefault(name, []).append(found["string"][1:-1])
        elif name is not None:
            if name in given:  # which the parser refuses
                return False
            given[name] = found["string"][1:-1] if found["count"] is None else int(found["number"])
    return True
