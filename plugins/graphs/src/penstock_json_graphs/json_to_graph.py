"""From a JSON value to a graph: names become ours, and what protobuf says of mistakes readable.

A path is a list of (field as the text format names it, index), as `Places.position_of` takes it.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import descriptor_pool, json_format
from google.protobuf.any_pb2 import Any as PackedMessage

from penstock.error_text import shown
from penstock.readers import own_name, parser_error_words, right_options, snake_case
from penstock_json_graphs.json_text import TOO_DEEP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.readers import FieldPath, Message, ReaderLoad
    from penstock.types import OptionTypes

#: Half of a character, which protobuf cannot take: it crashes where an enum is given such a name.
_HALF: Final = re.compile("[\ud800-\udfff]")
#: How options are written: packed, and as an extension.
_FORMS: Final = (
    '"node_options": [{{"@type": "type.googleapis.com/{}", {}}}]',
    '"options": {{"[{}.ext]": {{{}}}}}',
)
#: What protobuf says of a packed message without a type → what to do.
_NO_TYPE: Final = "@type is missing"
_TYPE_FIRST: Final = '; begin with the type: {"@type": "type.googleapis.com/package.Options", ...}'
_PLACE: Final = re.compile(r'\s*at "?CalculatorGraphConfig(?:[\w.@]|\[[^\]]*\])*"?')
#: What protobuf's JSON reader raises; an OverflowError for a number that no float holds, and a KeyError for
#: an extension of another message.
_UNFIT: Final = (json_format.ParseError, RecursionError, OverflowError, KeyError)
_FOREIGN: Final = re.compile(r"Extension doesn't match \((?P<here>\S+) vs (?P<extension>\S+)\)")
#: What protobuf in plain Python says of both that and a name that is no extension.
_UNNAMED: Final = re.compile(
    r'Message type "(?P<here>[^"]+)" has no field named "\[(?P<extension>[^\]"]+)\]"'
)
_PREFIX: Final = re.compile(r"^(?:Failed to parse [^ ]+ field: )+")


class JsonGraphError(Exception):
    """JSON that is no graph."""

    def __init__(self, words: str, path: FieldPath | None = None) -> None:
        super().__init__(words)
        #: What is wrong.
        self.words = words
        #: To what does not fit a graph; None where that is not known.
        self.path = path


def merge_value(value: object, graph: Message, types: OptionTypes, load: ReaderLoad) -> None:
    """Read a JSON value into a graph that is empty.

    Args:
        value: as `value_of` returns it. Names of the reference's package are read as names of ours.
        graph: a CalculatorGraphConfig, which is changed.
        types: finds the options.
        load: called for each name of a message: with the name in our package, the name as written, the path.

    Raises:
        JsonGraphError: the value is no graph.
    """
    if not isinstance(value, dict):
        raise JsonGraphError(f"a JSON graph is an object, not a {type(value).__name__}", ())
    #: The same object for protobuf, whose published types take a DescriptorPool only.
    pool: Any = types
    try:
        named = _with_own_names(value, (), load)
    except RecursionError as error:
        raise JsonGraphError(TOO_DEEP) from error
    try:
        json_format.ParseDict(named, graph, descriptor_pool=pool)
    except _UNFIT as error:
        path = _blame(named, type(graph)(), pool)
        right = partial(_right_options, named, path, types)
        raise JsonGraphError(parser_error_words(_reason(error), types, right), path) from error


def _right_options(graph: Any, path: FieldPath, types: OptionTypes, message: str, field: str) -> str:
    """Return what to write instead of a field of a node, as graph text does; "" for other fields."""
    part, index = path[0] if path else ("", 0)
    parts = graph.get(part)
    one = parts[index : index + 1] if isinstance(parts, list) else None
    calculators, _ = calculators_in({"node": one})
    return right_options(message, field, f'"{field}": ...', part, next(iter(calculators), ""), types, _FORMS)


def calculators_in(graph: Any) -> tuple[Iterable[str], str]:
    """Return the names of a graph's calculators, and its package, from JSON that was not checked yet."""
    nodes, package = graph.get("node"), graph.get("package")
    given = nodes if isinstance(nodes, list) else []
    found = [node.get("calculator") for node in given if isinstance(node, dict)]
    return [one for one in found if isinstance(one, str)], package if isinstance(package, str) else ""


def _with_own_names(value: Any, path: FieldPath, load: ReaderLoad) -> Any:
    """Return a copy of JSON in which names of the reference's messages are those of ours."""
    if isinstance(value, list):
        above, (name, _) = (path[:-1], path[-1]) if path else ((), ("", 0))
        return [_with_own_names(element, (*above, (name, i)), load) for i, element in enumerate(value)]
    if isinstance(value, str):
        return _text(value, path)
    if not isinstance(value, dict):
        if value is not None and not isinstance(value, bool | int | float):  # the object was not JSON
            raise JsonGraphError(f"{shown(value)} is a {type(value).__name__}; a JSON graph has none", path)
        return value
    members = {}
    for key, member in value.items():
        field = _text(key, path)
        if key == "@type":
            prefix, slash, written = _text(member, (*path, (key, 0))).rpartition("/")
            load(own_name(written), written, (*path, (key, 0)))
            members[key] = f"{prefix}{slash}{own_name(written)}"
            continue
        if key.startswith("[") and key.endswith("]"):
            written = key[1:-1]
            field = f"[{own_name(written)}]"
            load(own_name(written), written, (*path, (field, 0)))
        members[field] = _with_own_names(member, (*path, (snake_case(field), 0)), load)
    return members


def _text(value: Any, path: FieldPath) -> str:
    """Return a value that must be a str of whole characters."""
    if not isinstance(value, str):
        raise JsonGraphError(
            f"{shown(value)} is a {type(value).__name__} in the JSON graph; expected a str", path
        )
    if half := _HALF.search(value):
        raise JsonGraphError(
            f"{half[0]!r} in the JSON graph is half of a character; write the character itself",
            path,
        )
    return value


def _reason(error: Exception) -> str:
    """Return what an error of protobuf's JSON reader says, without the place."""
    if foreign := _foreign(error):
        return f"[{foreign['extension']}] are options of something else; {foreign['here']} does not take them"
    words = _PREFIX.sub("", str(error)).partition("\n")[0].rstrip(".")
    words = _PLACE.sub("", words).rstrip(".")
    return f"{words}{_TYPE_FIRST}" if words.startswith(_NO_TYPE) else words


def _foreign(error: Exception) -> re.Match[str] | None:
    """Return what an error says of an extension of another message, if that is what was written."""
    if isinstance(error, KeyError):
        return _FOREIGN.search(str(error.args[0]))
    found = _UNNAMED.search(str(error))
    return found if found and _extension(found["extension"]) else None


def _extension(name: str) -> Any:
    """Return the extension of a name, or None."""
    try:
        return descriptor_pool.Default().FindExtensionByName(name)
    except KeyError:
        return None


def _blame(value: Any, message: Message, pool: Any) -> FieldPath:
    """Return the path to what is wrong in JSON that does not fit a message.

    The parser's own errors do not always name it. So the parts are read one by one, from the outside in.
    """
    path: list[tuple[str, int]] = []
    while isinstance(value, dict):
        wrong = next((key for key in value if not _fits({key: value[key]}, message, pool)), None)
        if wrong is None:
            break
        name = snake_case(wrong)
        if not name.startswith("[") and name not in message.DESCRIPTOR.fields_by_name:
            break
        member, index = value[wrong], 0
        if isinstance(member, list):
            fitting = (i for i, element in enumerate(member) if not _fits({wrong: [element]}, message, pool))
            index = next(fitting, 0)
            member = member[index] if member else None
        path.append((name, index))
        inner = _inner(message, name)
        if inner is None or isinstance(inner, PackedMessage):
            break
        value, message = member, inner
    return tuple(path)


def _fits(value: dict[str, Any], message: Message, pool: Any) -> bool:
    try:
        json_format.ParseDict(value, type(message)(), descriptor_pool=pool)
    except _UNFIT:
        return False
    return True


def _inner(message: Message, name: str) -> Message | None:
    if name.startswith("["):
        extension = _extension(name[1:-1])
        if extension is None or extension.containing_type != message.DESCRIPTOR:
            return None
        return message.Extensions[extension]
    field = message.DESCRIPTOR.fields_by_name.get(name)
    if field is None or field.message_type is None:
        return None
    inner = getattr(message, name)
    return inner.add() if hasattr(inner, "add") else inner
