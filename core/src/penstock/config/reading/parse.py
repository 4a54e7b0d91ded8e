"""From whatever holds a graph to a CalculatorGraphConfig message: text, files, JSON, Python objects.

A graph names the options messages that it uses; those are imported here, and no others, before the
graph is read for good: protobuf can only read extensions that it knows. Names of the reference's
package are taken for ours: `[mediapipe.X.ext]` and `type.googleapis.com/mediapipe.X`.

What the caller passes in is copied, never changed. The only module that calls protobuf's parsers.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeGuard

from google.protobuf import descriptor_pool, message_factory, text_format
from google.protobuf.any_pb2 import Any as Any_
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.options.types import OptionTypes
from penstock.config.reading.places import Places, own_name, scan_json, scan_text, snake_case, where
from penstock.errors import (
    GraphParseError,
    InvalidArgumentError,
    NameClashError,
    NotFoundError,
    PenstockError,
    PluginError,
    code_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from penstock.config.reading.json_graph import FieldPath
    from penstock.config.reading.places import ScannedText
    from penstock.registry import Registry
    from penstock_templates.template import Template

#: What a file's name ends with → how it is read.
_TEXT: Final = (".pbtxt", ".textproto")
_BINARY: Final = (".binarypb", ".pb")
_JSON: Final = (".json",)

#: Full names of the message in this package and in the reference's, whose fields are the same.
_GRAPH_NAMES: Final = ("penstock.CalculatorGraphConfig", "mediapipe.CalculatorGraphConfig")

_TEMPLATE_NAMES: Final = ("penstock.CalculatorGraphTemplate", "mediapipe.CalculatorGraphTemplate")
#: What the stem of a binary template's file name ends with; bytes do not show it.
_BINARY_TEMPLATE: Final = ".template"

_TOO_DEEP: Final = "its brackets are nested too deep"
_LEFT_OPEN: Final = re.compile(r'Expected "[}>\],]"')
_CALCULATOR: Final = re.compile(r"""\bcalculator\s*:\s*["']([^"'\\\n]+)["']""")
_LOOKS_LIKE_PATH: Final = re.compile(r"\S+\.(pbtxt|textproto|binarypb|pb|json)")
#: Fields that an error lists in full.
_FEW: Final = 8
_NO_FIELD: Final = re.compile(r'[Mm]essage type "([^"]+)" has no field named "([^"]+)"')


def read_graph(
    source: object, registry: Registry, *, label: str | None = None, types: OptionTypes | None = None
) -> tuple[CalculatorGraphConfig, Places]:
    """Read a graph, and where its parts stand. A template is expanded with its arguments and defaults.

    Args:
        source: as `read_definition` takes it.
        registry: knows the options messages.
        label: what stands for the file's name where `source` is no file.
        types: made from the registry for this and other files of one graph; None for this one alone.

    Returns:
        A message of its own, and its places.

    Raises:
        GraphConfigError: it is a template that makes no graph so; has all mistakes.
        PenstockError: as `read_definition`.
    """
    found = read_definition(source, registry, label=label, types=types)
    if is_read_template(found):
        return found.with_defaults()
    graph: tuple[CalculatorGraphConfig, Places] = found  # type: ignore[assignment]  # what else it may be
    return graph


def read_definition(
    source: object, registry: Registry, *, label: str | None = None, types: OptionTypes | None = None
) -> tuple[CalculatorGraphConfig, Places] | Template:
    """Read a graph, and where its parts stand; or a template of graphs.

    Text is a template where a percent sign stands outside of strings and comments. A binary file is one
    where its name ends with .template.binarypb or .template.pb.

    Args:
        source: a `str` is text, a `pathlib.Path` a file (.pbtxt, .textproto, .binarypb, .pb, .json);
            or a CalculatorGraphConfig or CalculatorGraphTemplate message, a `dict` as JSON has it, or an
            object with `to_config()` or `to_template()`.
        registry: knows the options messages.
        label: what stands for the file's name where `source` is no file.
        types: made from the registry for this and other files of one graph; None for this one alone.

    Returns:
        A message of its own, and its places; or a template.

    Raises:
        GraphParseError: it is no graph, or names options that nothing provides; says where.
        NotFoundError: there is no such file.
        InvalidArgumentError: `source` is none of these.
        PenstockError: the file cannot be read; the OSError is the `__cause__`.
        NameClashError, PluginError: options that the graph names cannot be imported.
    """
    for convert in (getattr(source, "to_template", None), getattr(source, "to_config", None)):
        if callable(convert) and not isinstance(source, type):
            source = convert()
            break
    if is_read_template(source):
        return source
    reader = _Reader(types or OptionTypes(registry), label)
    if isinstance(source, str):
        return reader.text(source)
    if _is_path(source):
        return reader.file(source)
    if isinstance(source, dict):
        return reader.mapping(source)
    if isinstance(source, Message) and source.DESCRIPTOR.full_name in _GRAPH_NAMES:
        return reader.binary(source.SerializeToString())
    if isinstance(source, Message) and source.DESCRIPTOR.full_name in _TEMPLATE_NAMES:
        return reader.binary_template(source.SerializeToString())
    raise InvalidArgumentError(
        f"graph of type {type(source).__name__!r}: this is none; pass graph text as a str, a file as a "
        "pathlib.Path, a CalculatorGraphConfig, a dict, or a graph from the builder"
    )


def is_read_template(thing: object) -> TypeGuard[Template]:
    """Return whether a thing is a template that was read.

    Where nobody has imported templates there is none: they take as long to import as all the rest of reading.
    """
    templates = sys.modules.get("penstock_templates.template")
    return templates is not None and isinstance(thing, templates.Template)


def _is_path(thing: object) -> TypeGuard[Path]:
    """Return whether a thing is a `pathlib.Path`. Where nobody has imported pathlib there is none."""
    pathlib = sys.modules.get("pathlib")
    return pathlib is not None and isinstance(thing, pathlib.Path)


def read_binary_graph(
    path: str | Path, registry: Registry, types: OptionTypes | None = None
) -> tuple[CalculatorGraphConfig, Places]:
    """Read a serialized graph from a file of any name. Raises as `read_graph`."""
    from pathlib import Path  # brings urllib; graph text needs neither

    file = Path(path)
    return _Reader(types or OptionTypes(registry), str(file)).binary(_bytes_of(file))


def in_order(message: CalculatorGraphConfig, order: list[int]) -> CalculatorGraphConfig:
    """Return the graph with its nodes in another order; `message` itself where that changes nothing."""
    if order == list(range(len(message.node))):
        return message
    ordered = CalculatorGraphConfig()
    ordered.CopyFrom(message)
    del ordered.node[:]
    ordered.node.extend(message.node[i] for i in order)
    return ordered


def to_text(message: Message, types: OptionTypes) -> str:
    """Return a graph as text that `read_graph` reads back to an equal message."""
    return text_format.MessageToString(message, descriptor_pool=_pool_for(message, types))


def to_json(message: Message, types: OptionTypes) -> str:
    """Return a graph as JSON that `read_graph` reads back, from a file, to an equal message.

    Raises:
        InvalidArgumentError: it has packed options that nobody knows.
    """
    from google.protobuf import json_format  # graphs in JSON are few

    pool = _pool_for(message, types)
    try:
        return json_format.MessageToJson(message, preserving_proto_field_name=True, descriptor_pool=pool)
    except TypeError as error:
        raise InvalidArgumentError(f"the graph cannot be written as JSON: {error}") from error


def to_binary(message: Message) -> bytes:
    """Return a graph as protobuf's bytes; equal graphs give equal bytes within one process."""
    return message.SerializeToString(deterministic=True)


def unpacked(packed: Any_, types: OptionTypes) -> Message:
    """Return the message that is packed in one of a graph that was read: its type is known."""
    name = packed.TypeName()
    types.load(name)
    message = message_factory.GetMessageClass(types.FindMessageTypeByName(name))()
    packed.Unpack(message)
    return message


def _pool_for(message: Message, types: OptionTypes) -> Any:
    """Let `types` load the options that are packed in a graph, as far as anybody knows them.

    Raises:
        NameClashError, PluginError: as `OptionTypes.load`.
    """
    if isinstance(message, CalculatorGraphConfig):
        types.look_into(_calculators_of(message))
    for packed, _ in _messages(message):
        if isinstance(packed, Any_) and packed.type_url:
            types.load(packed.TypeName())
    return types


class _Reader:
    """Reads one graph of one file, or of none."""

    def __init__(self, types: OptionTypes, file: str | None = None) -> None:
        self._types = types
        #: For protobuf, whose published types want the class itself.
        self._pool: Any = self._types
        self._file = file

    # --- the forms ------------------------------------------------------------------------------

    def file(self, path: Path) -> tuple[CalculatorGraphConfig, Places] | Template:
        self._file = str(path)
        suffix = path.suffix.lower()
        if suffix in _BINARY and path.stem.lower().endswith(_BINARY_TEMPLATE):
            return self.binary_template(_bytes_of(path))
        if suffix in _BINARY:
            return self.binary(_bytes_of(path))
        if suffix in _TEXT:
            return self.text(self._decoded(path))
        if suffix in _JSON:
            return self.json(self._decoded(path))
        known = ", ".join((*_TEXT, *_BINARY, *_JSON))
        raise InvalidArgumentError(f"graph file {str(path)!r} ends with {suffix!r}; expected one of {known}")

    def text(self, text: str) -> tuple[CalculatorGraphConfig, Places] | Template:
        scanned = scan_text(text)
        places = Places(self._file, text, scanned.root)
        package = next(places.texts("package"), "")
        if scanned.has_rules:
            # The tree ends at the first rule.
            self._types.look_into(lambda: (_CALCULATOR.findall(text), package))
        else:
            self._types.look_into(lambda: (places.texts("node", "calculator"), package))
        for named in scanned.named:
            self._load(named.name, named.written, places.line_and_column(named.offset))
        if scanned.has_rules:
            return self._template(scanned.text, places)
        message = CalculatorGraphConfig()
        done = 0
        for node in scanned.plain:
            self._merge_between(scanned, done, node.start, message, places)
            message.node.add(**node.given)
            done = node.end
        self._merge_between(scanned, done, len(text), message, places)
        return self._finished(message, places)

    def json(self, text: str) -> tuple[CalculatorGraphConfig, Places]:
        import json  # graphs in JSON are few

        from penstock.config.reading.json_graph import without_duplicates

        try:
            value = json.loads(text, object_pairs_hook=without_duplicates)
        except json.JSONDecodeError as error:
            self._fail(_lowered(error.msg), (error.lineno, error.colno), error)
        except ValueError as error:
            self._fail(str(error), None, error)
        except RecursionError as error:
            self._fail(_TOO_DEEP, None, error)
        return self._value(value, Places(self._file, text, scan_json(text)))

    def mapping(self, mapping: dict[str, Any]) -> tuple[CalculatorGraphConfig, Places]:
        return self._value(mapping, Places(self._file))

    def binary(self, data: bytes) -> tuple[CalculatorGraphConfig, Places]:
        message = CalculatorGraphConfig()
        try:
            self._decode(data, message, message)
        except GraphParseError as error:
            if not _holds_template(data):
                raise
            self._fail("this is a template; name a binary template *.template.binarypb", None, error)
        return self._finished(message, Places(self._file))

    def binary_template(self, data: bytes) -> Template:
        from penstock.config.calculator_graph_template_pb2 import (  # see `is_read_template`
            CalculatorGraphTemplate,
        )
        from penstock_templates.template import of_message

        message = CalculatorGraphTemplate()
        self._decode(data, message, message.config)
        places = Places(self._file)
        self._finished(message.config, places)
        try:
            return of_message(message, places, self._types.FindMessageTypeByName)
        except InvalidArgumentError as error:
            self._fail(str(error), None, error)

    # --- the steps ------------------------------------------------------------------------------

    def _decode(self, data: bytes, message: Message, graph: CalculatorGraphConfig) -> None:
        """Read bytes into a message, of which `graph` is a part or all, with every extension known."""
        loaded = set[tuple[str, int]]()
        while True:
            try:
                message.ParseFromString(data)
            except DecodeError as error:
                kind = message.DESCRIPTOR.name
                self._fail(f"these {len(data)} bytes are no serialized {kind}", None, error)
            # Options may hold further options, which show only when the outer ones are known.
            self._types.look_into(_calculators_of(graph))
            unknown = self._load_unknown(message, loaded)
            if not unknown:
                return
            loaded |= unknown

    def _template(self, text: str, places: Places) -> Template:
        from penstock_templates.expression import RuleError
        from penstock_templates.template import read_text  # see `is_read_template`

        def read(part: str, message: Message, offset: int, unclosed: int | None) -> None:
            self._merge(part, message, places, unclosed, offset)

        try:
            template = read_text(text, places, read, self._types.FindMessageTypeByName)
        except RuleError as error:
            self._fail(error.words, places.line_and_column(error.offset), error)
        except RecursionError as error:
            self._fail(_TOO_DEEP, None, error)
        self._finished(template.message.config, places)
        return template

    def _merge_between(
        self, scanned: ScannedText, start: int, end: int, message: Message, places: Places
    ) -> None:
        """Read what stands before, between or behind the plain nodes."""
        text = scanned.text[start:end]
        if text and not text.isspace():
            self._merge(text, message, places, scanned.unclosed, start)

    def _merge(
        self, text: str, message: Message, places: Places, unclosed: int | None, offset: int = 0
    ) -> None:
        """Read text that begins at an offset of the whole into a message."""
        try:
            text_format.Parse(text, message, descriptor_pool=self._pool)
        except text_format.ParseError as error:
            if unclosed is not None and _LEFT_OPEN.search(str(error)):
                self._fail("this bracket is never closed", places.line_and_column(unclosed), error)
            line, column = error.GetLine(), error.GetColumn()
            position = None
            if line is not None and column is not None:
                above, left = places.line_and_column(offset) or (1, 1)
                position = above + line - 1, column + left - 1 if line == 1 else column
            hint = self._path_hint(text) if not offset else ""
            self._fail(_text_reason(error, self._pool) + hint, position, error)
        except RecursionError as error:
            self._fail(_TOO_DEEP, None, error)

    def _value(self, value: Any, places: Places) -> tuple[CalculatorGraphConfig, Places]:
        if not isinstance(value, dict):
            self._fail(f"a graph is a JSON object, not a {type(value).__name__}", places.position_of(()))

        from google.protobuf import json_format  # graphs in JSON are few

        from penstock.config.reading.json_graph import reason, with_own_names

        def load(name: str, written: str, path: FieldPath) -> None:
            self._load(name, written, places.position_of(path))

        message = CalculatorGraphConfig()
        self._types.look_into(lambda: _calculators_in(value))
        try:
            named = with_own_names(value, load)
        except RecursionError as error:
            self._fail(_TOO_DEEP, None, error)
        try:
            json_format.ParseDict(named, message, descriptor_pool=self._pool)
        except (json_format.ParseError, RecursionError) as error:
            path = _blame(named, CalculatorGraphConfig(), self._pool)
            position = places.position_of(path)
            spelled = f"{_spelled(path)}: " if position is None and path else ""
            self._fail(f"{spelled}{_with_near_fields(reason(error), self._pool)}", position, error)
        return self._finished(message, places)

    def _finished(
        self, message: CalculatorGraphConfig, places: Places
    ) -> tuple[CalculatorGraphConfig, Places]:
        """Give packed messages our names, and make sure that their types are known."""
        for packed, path in _messages(message):
            if not isinstance(packed, Any_) or not packed.type_url:
                continue
            prefix, slash, written = packed.type_url.rpartition("/")
            name = own_name(written)
            if name != written:
                packed.type_url = f"{prefix}{slash}{name}"
            self._load(name, written, places.position_of(path))
        self._types.look_into(None)
        return message, places

    def _load_unknown(self, message: Message, loaded: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """Import the messages of extensions that protobuf has left unread; return which these are."""
        found = set[tuple[str, int]]()
        for inner, path in _messages(message):
            # The set has a length and items; the published types know of no iteration.
            fields: Any = UnknownFieldSet(inner)
            for field in fields:
                place = (inner.DESCRIPTOR.full_name, field.field_number)
                if place not in found and (place in loaded or not self._load_number(*place)):
                    self._fail(
                        f"{_spelled(path)}: nothing declares field {place[1]} of {place[0]}; "
                        "install the plugin that it belongs to",
                        None,
                    )
                found.add(place)
        return found

    def _load(self, name: str, written: str, position: tuple[int, int] | None) -> None:
        try:
            known = self._types.load(name) or _is_known(name)
        except (NameClashError, PluginError) as error:
            raise type(error)(f"{where(self._file, position)}{error}", code=error.code) from error
        if not known:
            self._fail(self._types.why_unknown(name, written), position)

    def _load_number(self, extendee: str, number: int) -> bool:
        try:
            return self._types.load_number(extendee, number)
        except (NameClashError, PluginError) as error:
            raise type(error)(f"{where(self._file, None)}{error}", code=error.code) from error

    def _decoded(self, path: Path) -> str:
        data = _bytes_of(path)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            before = data[: error.start]
            line = before.count(b"\n") + 1
            column = len(before) - before.rfind(b"\n")
            byte = f"byte 0x{data[error.start]:02x} is no UTF-8"
            self._fail(f"{byte}; save it as UTF-8, or name a binary graph *.binarypb", (line, column), error)

    def _path_hint(self, text: str) -> str:
        if self._file is None and _LOOKS_LIKE_PATH.fullmatch(text.strip()):
            return f"; a str is graph text: for the file, pass pathlib.Path({text.strip()!r})"
        return ""

    def _fail(
        self, words: str, position: tuple[int, int] | None, cause: BaseException | None = None
    ) -> NoReturn:
        line, column = position or (None, None)
        message = f"{where(self._file, position)}{words}"
        raise GraphParseError(message, file=self._file, line=line, column=column) from cause


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no graph file {str(path)!r}") from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise PenstockError(f"graph file {str(path)!r} cannot be read: {why}", code=code_of(error)) from error


def _messages(message: Message) -> Iterator[tuple[Message, FieldPath]]:
    """Yield a message and every message inside it, with the path to each, packed ones unopened."""
    work: list[tuple[Message, FieldPath]] = [(message, ())]
    while work:
        inner, path = work.pop()
        yield inner, path
        for field, value in inner.ListFields():
            if field.message_type is None:
                continue
            name = f"[{field.full_name}]" if field.is_extension else field.name
            if isinstance(value, Message):
                work.append((value, (*path, (name, 0))))
            elif hasattr(value, "add"):  # a list of messages; a map has none. Asking protobuf costs an import
                work += [(one, (*path, (name, i))) for i, one in enumerate(value)]


def _holds_template(data: bytes) -> bool:
    from penstock.config.calculator_graph_template_pb2 import (  # see `is_read_template`
        CalculatorGraphTemplate,
    )

    message = CalculatorGraphTemplate()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return False
    return bool(message.rule) and all(rule.op or rule.param for rule in message.rule)


def _calculators_of(message: CalculatorGraphConfig) -> Callable[[], tuple[Iterable[str], str]]:
    return lambda: ([node.calculator for node in message.node], message.package)


def _calculators_in(graph: dict[str, Any]) -> tuple[Iterable[str], str]:
    """Return the names of a graph's calculators, and its package, from JSON that nobody has checked."""
    nodes, package = graph.get("node"), graph.get("package")
    given = nodes if isinstance(nodes, list) else []
    found = [node.get("calculator") for node in given if isinstance(node, dict)]
    return [one for one in found if isinstance(one, str)], package if isinstance(package, str) else ""


def _blame(value: Any, message: Any, pool: Any) -> FieldPath:
    """Return the path to what is wrong in JSON that does not fit a message.

    The parser's own errors say it only sometimes. So the parts are read one by one, from above.
    """
    path: list[tuple[str, int]] = []
    while isinstance(value, dict):
        wrong = next((key for key in value if not _fits({key: value[key]}, message, pool)), None)
        if wrong is None or not _has(message, snake_case(wrong)):
            break
        member, index = value[wrong], 0
        if isinstance(member, list):
            fitting = (i for i, element in enumerate(member) if not _fits({wrong: [element]}, message, pool))
            index = next(fitting, 0)
            member = member[index] if member else None
        path.append((snake_case(wrong), index))
        inner = _inner(message, snake_case(wrong))
        if inner is None or isinstance(inner, Any_):
            break
        value, message = member, inner
    return tuple(path)


def _fits(value: dict[str, Any], message: Message, pool: Any) -> bool:
    from google.protobuf import json_format  # graphs in JSON are few

    try:
        json_format.ParseDict(value, type(message)(), descriptor_pool=pool)
    except (json_format.ParseError, RecursionError):
        return False
    return True


def _has(message: Message, name: str) -> bool:
    return name.startswith("[") or name in message.DESCRIPTOR.fields_by_name


def _inner(message: Any, name: str) -> Any:
    if name.startswith("["):
        try:
            extension = descriptor_pool.Default().FindExtensionByName(name[1:-1])
        except KeyError:
            return None
        return message.Extensions[extension] if extension.containing_type == message.DESCRIPTOR else None
    field = message.DESCRIPTOR.fields_by_name.get(name)
    if field is None or field.message_type is None:
        return None
    inner = getattr(message, name)
    return inner.add() if hasattr(inner, "add") else inner


def _is_known(name: str) -> bool:
    """Return whether the process has a message or extension of this name, from whoever imported it."""
    pool = descriptor_pool.Default()
    for find in (pool.FindExtensionByName, pool.FindMessageTypeByName):
        try:
            find(name)
        except KeyError:
            continue
        return True
    return False


def _spelled(path: FieldPath) -> str:
    return ".".join(f"{name}[{index}]" for name, index in path) or "the graph"


def _text_reason(error: Exception, pool: Any) -> str:
    """Return why the text parser stopped, without its own line number and its copy of the line."""
    words = re.sub(r"^\d+:\d+ : ", "", str(error))
    words = re.sub(r"^'.*': (?=[A-Z])", "", words, flags=re.DOTALL)
    return _with_near_fields(_lowered(words.rstrip(".")), pool)


def _with_near_fields(words: str, pool: Any) -> str:
    """Say what may have been meant by a field that does not exist."""
    found = _NO_FIELD.search(words)
    if found is None:
        return _lowered(words)
    from difflib import get_close_matches  # only where something is wrong

    message, field = found.groups()
    fields = [one.name for one in pool.FindMessageTypeByName(message).fields]
    words = f"{message} has no field {field!r}"
    if near := get_close_matches(snake_case(field), fields, n=3):
        return f"{words} (did you mean {', '.join(map(repr, near))}?)"
    if field in CalculatorGraphConfig.DESCRIPTOR.fields_by_name:
        return f"{words}, but a graph has; is a bracket missing before it?"
    return f"{words}; it has {', '.join(fields) or 'none'}" if len(fields) <= _FEW else words


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:]
