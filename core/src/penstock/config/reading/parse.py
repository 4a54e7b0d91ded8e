"""From text, files, JSON and Python objects to a CalculatorGraphConfig message.

A graph names the options messages that it uses. Those are imported, and no others, before protobuf reads the
graph: protobuf can read only extensions that it knows. Names of the reference's package are read as names of
ours: `[mediapipe.X.ext]` and `type.googleapis.com/mediapipe.X`.

What the caller passes in is copied, never changed. Templates and JSON are recognised here, and read by the
readers that `penstock-graphs` registers.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeGuard

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any as PackedMessage
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as AnyMessage
from google.protobuf.unknown_fields import UnknownFieldSet

from penstock import limits
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.graph_reader import definition_as_read_graph
from penstock.config.options.messages import calculators_of, first_bytes_in, is_known, messages_in, no_utf8
from penstock.config.options.option_types import OptionTypes
from penstock.config.places import Places, ReadGraph, Spot, Unread, field_path_words, place_words
from penstock.config.reading.files import BINARY, JSON, TEXT, bytes_of, is_path
from penstock.config.reading.plain_nodes import half_character
from penstock.config.reading.scan import end_of_field, own_name, scan_text
from penstock.config.wire import check_wire
from penstock.errors import GraphParseError, InvalidArgumentError, NameClashError, PenstockError, PluginError
from penstock.shown import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from penstock.config.graph_reader import GraphDefinition, GraphReader, JsonReader
    from penstock.config.message import Message
    from penstock.config.places import FieldPath
    from penstock.config.reading.scan import ScannedText
    from penstock.registry import Registry

#: Full names of the message in this package and in the reference's, whose fields are the same.
_GRAPH_NAMES: Final = ("penstock.CalculatorGraphConfig", "mediapipe.CalculatorGraphConfig")

_TEMPLATE_NAMES: Final = ("penstock.CalculatorGraphTemplate", "mediapipe.CalculatorGraphTemplate")
#: What the stem of a binary template's file name ends with; bytes do not show it.
_BINARY_TEMPLATE: Final = ".template"

#: Fields that a graph can be checked without.
_OPTIONS: Final = ("options", "node_options")
# Patterns that few graphs need; they are compiled when they are first used.
_LEFT_OPEN: Final = r'Expected "[}>\],]"'
_CALCULATOR: Final = r"""\bcalculator\s*:\s*["']([^"'\\\n]+)["']"""
_LOOKS_LIKE_PATH: Final = r"\S+\.(pbtxt|textproto|binarypb|pb|json)"


def read_graph(
    source: object, registry: Registry, *, label: str | None = None, types: OptionTypes | None = None
) -> ReadGraph:
    """Read a graph and where its parts stand. A template is expanded with its arguments and defaults.

    Arguments and errors as `read_definition`.

    Raises:
        GraphConfigError: `source` is a template whose defaults make no graph; has all mistakes.
    """
    found = read_definition(source, registry, label=label, types=types)
    if isinstance(found, ReadGraph):
        return found
    return definition_as_read_graph(found)


def read_definition(
    source: object, registry: Registry, *, label: str | None = None, types: OptionTypes | None = None
) -> ReadGraph | GraphDefinition:
    """Read a graph and where its parts stand; or a template.

    Text is a template where a percent sign stands outside of strings and comments. A binary file is one
    where its name ends with .template.binarypb or .template.pb. Templates are read by the graph reader
    "template" of the registry, JSON by its reader "json"; where it has none, by that of the default registry.

    Args:
        source: a `str` is text, a `pathlib.Path` a file (.pbtxt, .textproto, .binarypb, .pb, .json);
            or a CalculatorGraphConfig or CalculatorGraphTemplate message, a `dict` as JSON has it, or an
            object with `to_config()` or `to_template()`.
        registry: finds the options messages, and the readers of templates and JSON.
        label: replaces the file's name in messages where `source` is no file.
        types: shared by all files of one graph, and made from the registry; None where this is the only file.
            With it, the caller sees to options that cannot be read: `ReadGraph.unread` has them.

    Returns:
        A graph; or the definition that the reader of templates returns.

    Raises:
        PenstockError: as `penstock.config.build_plan`.
    """
    for convert in (getattr(source, "to_template", None), getattr(source, "to_config", None)):
        if callable(convert) and not isinstance(source, type):
            source = convert()
            break
    if _is_definition(source):
        return source
    reader = _Reader(registry, types or OptionTypes(registry), label)
    reader.raises_unread = types is None
    if isinstance(source, str):
        return reader.text(source)
    if is_path(source):
        return reader.file(source)
    if isinstance(source, dict):
        return reader.json(source)
    if isinstance(source, AnyMessage) and source.DESCRIPTOR.full_name in _GRAPH_NAMES:
        return reader.binary(source.SerializePartialToString())
    if isinstance(source, AnyMessage) and source.DESCRIPTOR.full_name in _TEMPLATE_NAMES:
        return reader.binary_template(source.SerializePartialToString())
    raise InvalidArgumentError(
        f"cannot parse a graph of type {type(source).__name__!r}; pass graph text as a str, a file as a "
        "pathlib.Path, a CalculatorGraphConfig, a dict, or a graph from the builder"
    )


def read_made_graph(source: object, registry: Registry, label: str | None, types: OptionTypes) -> ReadGraph:
    """Read a graph that a subgraph has made, as `read_graph`.

    A message is not serialized and parsed again, unlike a program's graph: a subgraph makes its graph of the
    options of a graph that was read, and containers in containers would cost their size for each level.
    """
    if type(source) is CalculatorGraphConfig:
        return _Reader(registry, types, label).made(source)
    return read_graph(source, registry, label=label, types=types)


def read_binary_graph(path: str | Path, registry: Registry, types: OptionTypes | None = None) -> ReadGraph:
    """Read a serialized graph from a file of any name. Raises as `read_graph`."""
    from pathlib import Path  # brings urllib; graph text needs neither

    file = Path(path)
    reader = _Reader(registry, types or OptionTypes(registry), str(file))
    return reader.binary(reader.bytes_of(file))


def _is_definition(thing: object) -> TypeGuard[GraphDefinition]:
    """Return whether an object is a definition that a `GraphReader` made."""
    return callable(getattr(thing, "arguments_of", None)) and not isinstance(thing, type)


def _size_and_hash(message: Message) -> tuple[int, int]:
    data = message.SerializePartialToString(deterministic=True)
    return len(data), hash(data)


class _Reader:
    """Reads one graph, from a file or from an object."""

    def __init__(self, registry: Registry, types: OptionTypes, file: str | None = None) -> None:
        self._registry = registry
        self._types = types
        #: The same object for protobuf, whose published types take a DescriptorPool only.
        self._pool: Any = self._types
        self._file = file
        #: Whether options that cannot be read are raised; else the caller finds them in `ReadGraph.unread`.
        self.raises_unread = True
        self._unread: list[Unread] = []

    # --- the forms ------------------------------------------------------------------------------

    def file(self, path: Path) -> ReadGraph | GraphDefinition:
        self._file = str(path)
        suffix = path.suffix.lower()
        if suffix in BINARY and path.stem.lower().endswith(_BINARY_TEMPLATE):
            return self.binary_template(self.bytes_of(path))
        if suffix in BINARY:
            return self.binary(self.bytes_of(path))
        if suffix in TEXT:
            return self.text(self._decoded(path))
        if suffix in JSON:
            return self.json(self._decoded(path))
        known = ", ".join((*TEXT, *BINARY, *JSON))
        raise InvalidArgumentError(f"graph file {str(path)!r} ends with {suffix!r}; expected one of {known}")

    def text(self, text: str) -> ReadGraph | GraphDefinition:
        limits.check("file_bytes", len(text), f"this graph text has {len(text)} characters")
        scanned = scan_text(text)
        places = Places(self._file, text, scanned.root)
        if half := half_character(text):
            words = f"{half[0]!r} is half of a character; write the character itself"
            self._fail(words, places.line_and_column(half.start()))
        package = next(places.texts("package"), "")
        if scanned.rule is None:
            fallbacks = places.texts("node", "failure", "fallback", "calculator")
            self._types.look_into(lambda: ((*places.texts("node", "calculator"), *fallbacks), package))
        else:
            # The tree ends at the first rule.
            self._types.look_into(lambda: (re.findall(_CALCULATOR, text), package))
        for named in scanned.named:
            try:
                self._load(named.name, named.written, places.line_and_column(named.offset))
            except GraphParseError as error:
                scanned = self._without_options(scanned, places, error)
        if scanned.rule is not None:
            return self._template(scanned.text, places, places.line_and_column(scanned.rule))
        message = None
        while message is None:
            try:
                message = self._message(scanned, places)
            except GraphParseError as error:
                scanned = self._without_options(scanned, places, error)
        if self.raises_unread:
            self._raise_unread(places)
        return self._finished(message, places)

    def json(self, given: str | dict[str, Any]) -> ReadGraph:
        text = given if isinstance(given, str) else None
        reader: JsonReader = self._reader("json", "a dict" if text is None else "JSON", None)
        value, root = (given, None) if text is None else reader.value(text, Places(self._file, text))
        places = Places(self._file, text, root)
        message = CalculatorGraphConfig()

        def load(name: str, written: str, path: FieldPath) -> None:
            self._load(name, written, places.position_of(path))

        reader.message(value, message, places, self._types, load)
        return self._finished(message, places)

    def binary(self, data: bytes) -> ReadGraph:
        message = CalculatorGraphConfig()
        try:
            self._decode(data, message, message)
        except GraphParseError as error:
            if not _holds_template(data):
                raise
            self._fail("this is a template; name a binary template *.template.binarypb", None, error)
        return self._finished(message, Places(self._file))

    def made(self, graph: CalculatorGraphConfig) -> ReadGraph:
        message = CalculatorGraphConfig()
        message.CopyFrom(graph)
        read = self._types.read
        inner = list(messages_in(message, lambda options: _size_and_hash(options) in read))
        if any(len(UnknownFieldSet(one)) for one, _ in inner):
            return self.binary(graph.SerializePartialToString())
        if path := first_bytes_in(message, inner):
            self._fail(f"{field_path_words(path)} is no UTF-8", None)
        self._types.look_into(calculators_of(message))
        found = self._finished(message, Places(self._file), inner)
        nodes = (one for one, _ in inner if isinstance(one, CalculatorGraphConfig.Node))
        read.update(_size_and_hash(node.options) for node in nodes if node.HasField("options"))
        return found

    def binary_template(self, data: bytes) -> GraphDefinition:
        from penstock.config.calculator_graph_template_pb2 import (  # few graphs are templates
            CalculatorGraphTemplate,
        )

        reader: GraphReader = self._reader("template", "a template", None)
        message = CalculatorGraphTemplate()
        self._decode(data, message, message.config)
        places = Places(self._file)
        self._finished(message.config, places)
        try:
            return reader.message(message, places, self._types.FindMessageTypeByName)
        except InvalidArgumentError as error:
            self._fail(str(error), None, error)

    # --- the steps ------------------------------------------------------------------------------

    def _decode(self, data: bytes, message: Message, graph: CalculatorGraphConfig) -> None:
        """Read bytes into a message, with every extension known; `graph` is the message or a part of it."""
        loaded = set[tuple[str, int]]()
        while True:
            # more is known now
            check_wire(data, message.DESCRIPTOR, f"{place_words(self._file, None)}the graph")
            try:
                message.ParseFromString(data)
            except DecodeError as error:
                kind = message.DESCRIPTOR.name
                self._fail(f"these {len(data)} bytes are no serialized {kind}", None, error)
            except UnicodeDecodeError as error:
                self._fail(no_utf8(error), None, error)
            # Options may hold further options, which show only when the outer ones are known.
            self._types.look_into(calculators_of(graph))
            unknown = self._load_unknown(message, loaded)
            if not unknown:
                break
            loaded |= unknown
        if path := first_bytes_in(message):
            self._fail(f"{field_path_words(path)} is no UTF-8", None)

    def _template(self, text: str, places: Places, position: tuple[int, int] | None) -> GraphDefinition:
        from penstock.config.graph_reader import GraphReaderError  # few graphs are templates

        reader: GraphReader = self._reader("template", "a template", position)

        def merge(part: str, message: Message, offset: int, unclosed: int | None) -> None:
            self._merge(part, message, places, unclosed, offset)

        try:
            template = reader.text(text, places, merge, self._types.FindMessageTypeByName)
        except GraphReaderError as error:
            self._fail(error.words, places.line_and_column(error.offset), error)
        except RecursionError as error:
            self._fail_too_deep(error)
        self._finished(template.graph, places)
        return template

    def _reader(self, name: str, form: str, position: tuple[int, int] | None) -> Any:
        from penstock.plugins.default_registry import find_component  # few graphs are in other forms

        before = f"{place_words(self._file, position)}this graph is {form}, and "
        try:
            return find_component("graph reader", name, self._registry, before)
        except PenstockError as error:
            if isinstance(error, (NameClashError, PluginError)):  # else its message begins with the place
                error.args = (f"{place_words(self._file, position)}{error}",)
            error.file = self._file
            error.line, error.column = position or (None, None)
            raise

    def _message(self, scanned: ScannedText, places: Places) -> CalculatorGraphConfig:
        message = CalculatorGraphConfig()
        done = 0
        for node in scanned.plain:
            self._merge_between(scanned, done, node.start, message, places)
            message.node.add(**node.given)
            done = node.end
        self._merge_between(scanned, done, len(scanned.text), message, places)
        return message

    def _merge_between(
        self, scanned: ScannedText, start: int, end: int, message: Message, places: Places
    ) -> None:
        """Read the text before, between or after the plain nodes."""
        text = scanned.text[start:end]
        if text and not text.isspace():
            self._merge(text, message, places, scanned.unclosed, start)

    def _merge(
        self, text: str, message: Message, places: Places, unclosed: int | None, offset: int = 0
    ) -> None:
        """Read a part of the text into a message. `offset` says where the part begins in the whole."""
        try:
            text_format.Parse(text, message, descriptor_pool=self._pool)
        except text_format.ParseError as error:
            if unclosed is not None and re.search(_LEFT_OPEN, str(error)):
                self._fail("this bracket is never closed", places.line_and_column(unclosed), error)
            from penstock.config.reading.parser_errors import text_reason  # only where something is wrong

            line, column = error.GetLine(), error.GetColumn()
            position = None
            if line is not None and column is not None:
                above, left = places.line_and_column(offset) or (1, 1)
                position = above + line - 1, column + left - 1 if line == 1 else column
            hint = self._path_hint(text) if not offset else ""
            right = partial(self._right_options, places, *(position or (1, 1)))
            self._fail(text_reason(error, self._types, right) + hint, position, error)
        except RecursionError as error:
            self._fail_too_deep(error)
        except ValueError as error:  # as of an enum's number; protobuf does not say where it stands
            value = str(error).rpartition(" ")[2]
            at = places.line_and_column(offset + text.find(value)) if text.count(value) == 1 else None
            self._fail(f"a value does not fit its field: {error}", at, error)

    def _right_options(self, places: Places, line: int, column: int, message: str, field: str) -> str:
        from penstock.config.reading.right_options import right_options  # only where something is wrong

        at = places.offset_of(line, column)
        part, spot = (places.root and places.root.last(at)) or ("", None)
        name = next(places.texts("calculator" if part == "node" else "type", inside=spot), "")
        given = places.text[at : end_of_field(places.text, at)]
        return right_options(message, field, given, part, name, self._types)

    def _finished(
        self,
        message: CalculatorGraphConfig,
        places: Places,
        inner: Iterable[tuple[Message, FieldPath]] | None = None,
    ) -> ReadGraph:
        """Rename packed messages of the reference's package, and load the types of all packed messages.

        `inner` is the result of `messages_in` for the message, where that is known.
        """
        count = len(message.node)
        limits.check("nodes", count, f"{place_words(self._file, None)}the graph has {count} nodes")
        for packed, path in messages_in(message) if inner is None else inner:
            if not isinstance(packed, PackedMessage) or not packed.type_url:
                continue
            prefix, slash, written = packed.type_url.rpartition("/")
            name = own_name(written)
            if name != written:
                packed.type_url = f"{prefix}{slash}{name}"
            self._load(name, written, places.position_of(path))
        self._types.look_into(None)
        return ReadGraph(message, places, self._unread)

    def _without_options(self, scanned: ScannedText, places: Places, error: GraphParseError) -> ScannedText:
        """Note an error, and return the text with blanks instead of the options that the error is in.

        Raises:
            GraphParseError, GraphConfigError: the error is not in options, or many are; has all known ones.
        """
        at = -1 if error.line is None or error.column is None else places.offset_of(error.line, error.column)
        _, part = (places.root and places.root.last(at)) or ("", Spot(-1))
        name, field = part.last(at) or ("", part)
        while name not in _OPTIONS and (inner := field.last(at)):  # of a policy, or of a fallback
            name, field = inner
        start, end = field.offset, end_of_field(scanned.text, field.offset) if name in _OPTIONS else -1
        is_first_of_few = len(self._unread) < limits.current().faults  # each costs reading the text once more
        is_followed = is_first_of_few and scanned.rule is None and scanned.unclosed is None
        self._unread.append(Unread(at, error, part.offset))
        if is_followed and scanned.text[at : at + 1] == " ":  # of options that are left out already
            return scanned
        if at >= end or not is_followed:
            self._raise_unread(places)
        if scanned.text[start] in "{<":  # of a list, whose other elements stay: this one becomes empty
            start, end = start + 1, end - 1
        blanks = re.sub(r"[^\n]", " ", scanned.text[start:end])
        return scanned._replace(text=f"{scanned.text[:start]}{blanks}{scanned.text[end:]}")

    def _raise_unread(self, places: Places) -> None:
        if self._unread:
            from penstock.check.faults import Faults  # only where something is wrong

            Faults(places, self._unread).raise_any()

    def _load_unknown(self, message: Message, loaded: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """Import the messages of extensions that protobuf did not know; return their places."""
        found = set[tuple[str, int]]()
        for inner, path in messages_in(message):
            # The published types do not say that the set can be iterated over.
            fields: Any = UnknownFieldSet(inner)
            for field in fields:
                place = (inner.DESCRIPTOR.full_name, field.field_number)
                if place not in found and (place in loaded or not self._load_number(*place)):
                    self._fail(
                        f"{field_path_words(path)}: nothing declares field {place[1]} of {place[0]}; "
                        "install the plugin that it belongs to",
                        None,
                    )
                found.add(place)
        return found

    def _load(self, name: str, written: str, position: tuple[int, int] | None) -> None:
        try:
            known = self._types.load(name) or is_known(name)
        except (NameClashError, PluginError) as error:
            raise type(error)(f"{place_words(self._file, position)}{error}", code=error.code) from error
        if not known:
            self._fail(self._types.why_unknown(name, written), position)

    def _load_number(self, extendee: str, number: int) -> bool:
        try:
            return self._types.load_number(extendee, number)
        except (NameClashError, PluginError) as error:
            raise type(error)(f"{place_words(self._file, None)}{error}", code=error.code) from error

    def bytes_of(self, path: Path) -> bytes:
        """Return what is in a file of the graph. Raises as `bytes_of`."""
        data = bytes_of(path)
        self._types.files.append((path, data))
        return data

    def _decoded(self, path: Path) -> str:
        data = self.bytes_of(path)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            before = data[: error.start]
            line = before.count(b"\n") + 1
            column = len(before) - before.rfind(b"\n")
            byte = f"byte 0x{data[error.start]:02x} is no UTF-8"
            self._fail(f"{byte}; save it as UTF-8, or name a binary graph *.binarypb", (line, column), error)

    def _path_hint(self, text: str) -> str:
        if self._file is None and re.fullmatch(_LOOKS_LIKE_PATH, text.strip()):
            return f"; a str is graph text: for the file, pass pathlib.Path({quoted(text.strip())})"
        return ""

    def _fail_too_deep(self, error: RecursionError) -> NoReturn:
        from penstock.config.reading.parser_errors import TOO_DEEP  # only where something is wrong

        self._fail(TOO_DEEP, None, error)

    def _fail(
        self, words: str, position: tuple[int, int] | None, cause: BaseException | None = None
    ) -> NoReturn:
        line, column = position or (None, None)
        message = f"{place_words(self._file, position)}{words}"
        raise GraphParseError(message, file=self._file, line=line, column=column) from cause


def _holds_template(data: bytes) -> bool:
    from penstock.config.calculator_graph_template_pb2 import (  # few graphs are templates
        CalculatorGraphTemplate,
    )

    message = CalculatorGraphTemplate()
    try:
        message.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError):  # the latter by protobuf in plain Python
        return False
    return bool(message.rule) and all(rule.op or rule.param for rule in message.rule)
