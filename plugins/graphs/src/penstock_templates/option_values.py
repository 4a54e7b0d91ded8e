"""`option_value`: values of a graph's options, copied into the options of its nodes.

An entry "NODE_PATH:GRAPH_PATH" reads a field of the graph's options and writes one of the node's. Where the
graph is a subgraph, options of the same type on the node that uses it go before the graph's own. A path
is made of fields and indexes, "detector/scale/0"; a first part "options" has no effect, and
"Ext::penstock.XOptions" says which of several options messages is meant. Plain values are replaced, and
messages merged; a list replaces a list, or an element where there is an index, and its messages are merged
one by one. A plain field that the graph's options leave unset is unset in the node too. A graph without
such options changes nothing. "options:options" merges the graph's whole options into those of the
node that have the same type. Source: MediaPipe `tool/options_field_util`, `options_syntax_util`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock import StatusCode
from penstock.error_text import did_you_mean, quoted
from penstock.errors import InvalidArgumentError, NotFoundError, PenstockError
from penstock.readers import own_name
from penstock.types import unpacked_message
from penstock_templates.field_values import is_repeated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from penstock.types import OptionTypes

    #: A message of this or another package.
    Message: TypeAlias = Any

_SPLIT: Final = re.compile(r"(?<!:):(?!:)")
#: A path's first part that has no effect, and a path to whole messages.
_WHOLE: Final = ("options", "OPTIONS")
_EXTENSION: Final = "Ext::"
#: The value where the graph has no such options, and the value of a field that is not set.
_NO_OPTIONS: Final = object()
_UNSET: Final = object()
#: How many bits a number has at most that a switch takes, without its sign.
_BITS: Final = 63


class _Path(NamedTuple):
    """The type of an options message, "" for any, and the steps to a field inside it."""

    type: str
    steps: tuple[str, ...]


def set_option_values(
    node: Message,
    graph: Message,
    types: OptionTypes,
    user: Message | None = None,
) -> Iterator[tuple[int, PenstockError]]:
    """Carry out the entries of a node, and remove them.

    Args:
        node: a Node message, which is changed.
        graph: the CalculatorGraphConfig that it stands in.
        types: finds the options of both.
        user: where the graph is a subgraph, the Node that uses it.

    Yields:
        For each entry that cannot be carried out its position, and why: its code is INVALID_ARGUMENT,
        NOT_FOUND or OUT_OF_RANGE. The node keeps what it has there.
    """
    entries = list(node.option_value)
    node.ClearField("option_value")
    for i, entry in enumerate(entries):
        try:
            node_path, graph_path = _paths(entry)
            if not node_path.steps:
                _merge(node, _graph_options(graph, user, types), node_path, types)
                continue
            _write(node, node_path, _graph_value(graph, user, graph_path, types), types)
        except PenstockError as error:
            yield i, error


def _paths(entry: str) -> tuple[_Path, _Path]:
    parts = _SPLIT.split(entry, maxsplit=1)
    if len(parts) != 2 or not all(parts):  # noqa: PLR2004  # two paths
        raise InvalidArgumentError("write the option_value as 'FIELD_OF_THE_NODE:FIELD_OF_THE_GRAPH'")
    paths = _path(parts[0]), _path(parts[1])
    for path, other, text in zip(paths, reversed(paths), parts, strict=True):
        if not path.steps and (other.steps or text not in _WHOLE):
            raise InvalidArgumentError(f"option_value: option path {quoted(text)} names no field")
    return paths


def _path(text: str) -> _Path:
    steps = text.split("/")
    if steps[0] in _WHOLE:
        del steps[0]
    wanted = ""
    if steps and steps[0].startswith(_EXTENSION):
        wanted = own_name(steps.pop(0)[len(_EXTENSION) :])
    if not all(steps) or (steps and steps[0].isdigit()):
        raise InvalidArgumentError(f"option_value: option path {quoted(text)} names no field")
    return _Path(wanted, tuple(steps))


# --- the options messages -----------------------------------------------------------------------


def _graph_value(graph: Message, user: Message | None, path: _Path, types: OptionTypes) -> Any:
    """Return a value of the graph's options; `_NO_OPTIONS` where the graph has none, `_UNSET` as `_read`."""
    found = _chosen(_graph_options(graph, user, types), path, "the graph")
    return _NO_OPTIONS if found is None else _read(found, path.steps)


def _graph_options(graph: Message, user: Message | None, types: OptionTypes) -> list[Message]:
    """Return copies of the graph's options, each with those of the same type of the node that uses it."""
    found = [*_extensions(graph.options), *(unpacked_message(one, types) for one in graph.graph_options)]
    of_user = [unpacked_message(one, types) for one in user.node_options] if user is not None else []
    merged = []
    for options in found:
        copy = type(options)()
        copy.CopyFrom(options)
        for given in (*of_user, *_extensions(user.options)) if user is not None else ():
            if type(given) is type(options):
                copy.MergeFrom(given)
        merged.append(copy)
    return merged


def _merge(node: Message, graph_options: list[Message], path: _Path, types: OptionTypes) -> None:
    """Merge whole messages into those of the node that have the same type."""
    inner = [unpacked_message(packed, types) for packed in node.node_options]
    own = [*_extensions(node.options), *inner]
    if graph_options and not any(type(one) is type(other) for one in own for other in graph_options):
        raise _no_options(path)
    for one in own:
        for given in graph_options:
            if type(one) is type(given):
                one.MergeFrom(given)
    for packed, one in zip(node.node_options, inner, strict=True):
        packed.Pack(one)


def _write(node: Message, path: _Path, value: Any, types: OptionTypes) -> None:
    found = _chosen(_extensions(node.options), path, "the node", is_last=not node.node_options)
    if found is not None:
        _set(found, path.steps, value)
        return
    inner = [unpacked_message(packed, types) for packed in node.node_options]
    found = _chosen(inner, path, "the node")
    if found is None:
        raise _no_options(path)
    _set(found, path.steps, value)
    position = next(i for i, one in enumerate(inner) if one is found)
    node.node_options[position].Pack(found)


def _no_options(path: _Path) -> NotFoundError:
    which = f" {quoted(path.type)}" if path.type else ""
    return NotFoundError(
        f"the node has no options{which} for an option_value to write to; add them, be they empty"
    )


def _extensions(extended: Message) -> list[Message]:
    return [value for field, value in extended.ListFields() if field.is_extension]


def _chosen(found: list[Message], path: _Path, whose: str, *, is_last: bool = True) -> Message | None:
    """Return the first of some messages that has the first field of a path, or None.

    Raises:
        NotFoundError: no message has the field, and there is no further place to look.
    """
    named = [one for one in found if path.type in ("", one.DESCRIPTOR.full_name)]
    field = path.steps[0]
    for one in named:
        if field in one.DESCRIPTOR.fields_by_name:
            return one
    if named and is_last:
        raise _no_field(f"{whose}'s options", field, named)
    return None


def _no_field(whose: str, field: str, messages: list[Message]) -> NotFoundError:
    known = [name for one in messages for name in one.DESCRIPTOR.fields_by_name]
    meant = did_you_mean(field, known, 1)
    types = " and ".join(one.DESCRIPTOR.full_name for one in messages)
    return NotFoundError(f"{whose}, {types}, of an option_value have no option field {quoted(field)}{meant}")


# --- paths --------------------------------------------------------------------------------------


def _read(message: Message, steps: tuple[str, ...]) -> Any:
    """Return the value at the end of a path; `_UNSET` where that field, or one on the way, is not set."""
    while True:
        field, index, steps = _step(message, steps)
        value = getattr(message, field.name)
        if not is_repeated(field):
            if field.has_presence and not message.HasField(field.name):
                return _UNSET
        elif index is not None:
            value = _element(value, field, index)
        if not steps:
            return value
        message = value


def _set(message: Message, steps: tuple[str, ...], value: Any) -> None:
    if value is _NO_OPTIONS:
        return
    field, index, steps = _step(message, steps)
    while steps:
        inner = getattr(message, field.name)
        message = inner if index is None else _element(inner, field, index)
        field, index, steps = _step(message, steps)
    if value is _UNSET:
        if index is None and field.message_type is None:
            message.ClearField(field.name)
        return
    try:
        if is_repeated(field):
            _replace(message, field, index, value if hasattr(value, "append") else [value])
        elif field.message_type is not None:
            getattr(message, field.name).MergeFrom(value)
        else:
            _set_plain(message, field, value)
    except (TypeError, ValueError, OverflowError) as error:
        words = f"field {field.full_name!r} cannot hold the graph's value {_shown(value)}: {error}"
        raise InvalidArgumentError(words) from error


def _set_plain(message: Message, field: Any, value: Any) -> None:
    """Set a field that is no message and no list.

    Protobuf in plain Python, as it is without the interpreter's lock, takes any number for a switch.
    """
    if field.type == field.TYPE_BOOL and isinstance(value, int) and value.bit_length() > _BITS:
        raise OverflowError("an option_value for a switch is a number of at most 64 bits")
    setattr(message, field.name, value)


def _shown(value: Any) -> str:
    return f"of type {value.DESCRIPTOR.full_name}" if hasattr(value, "DESCRIPTOR") else repr(value)


def _step(message: Message, steps: tuple[str, ...]) -> tuple[Any, int | None, tuple[str, ...]]:
    """Return the first field of a path, the index behind it or None, and the steps that remain."""
    name, *rest = steps
    field = message.DESCRIPTOR.fields_by_name.get(name)
    if field is None:
        raise _no_field("the options", name, [message])
    index = None
    if rest and rest[0].isdigit():
        index = int(rest.pop(0))
        if not is_repeated(field):
            raise InvalidArgumentError(
                f"option_value: field {field.full_name!r} is no list, so it has no element {index}"
            )
    if rest and (field.message_type is None or (is_repeated(field) and index is None)):
        raise InvalidArgumentError(
            f"option_value: field {field.full_name!r} has no field {quoted(rest[0])} inside"
        )
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        raise InvalidArgumentError(
            f"option_value: field {field.full_name!r} is a map, which cannot be copied"
        )
    return field, index, tuple(rest)


def _element(values: Any, field: Any, index: int) -> Any:
    if index >= len(values):
        words = f"field {field.full_name!r} has no element {index}, but {len(values)} in all"
        raise PenstockError(words, code=StatusCode.OUT_OF_RANGE)
    return values[index]


def _replace(message: Message, field: Any, index: int | None, new: Sequence[Any]) -> None:
    """Put values into a list in place of all, or of one; messages are merged with the ones before.

    Raises:
        PenstockError: there is no such element; its code is OUT_OF_RANGE. The list does not change.
        TypeError, ValueError: a value does not fit. The list does not change.
    """
    old = getattr(message, field.name)
    if index is not None:
        _element(old, field, index)
    start, end = (0, len(old)) if index is None else (index, index + 1)
    # In a copy first: where a value does not fit, the list does not change.
    trial = type(message)()
    made = getattr(trial, field.name)
    made.extend(old[:start])
    for place, value in enumerate(new, start):
        if field.message_type is not None and place < end:
            made.add().CopyFrom(old[place])
            made[-1].MergeFrom(value)
        else:
            made.append(value)
    made.extend(old[end:])
    message.ClearField(field.name)
    message.MergeFrom(trial)
