"""The message of a graph under MediaPipe's names, for text with `[mediapipe.SomeOptions.ext]`.

`google.protobuf.text_format` looks for the names in text in protobuf's default descriptor pool. There a name
stands once in a process, so MediaPipe's own messages come first. Where they are imported already, they are
used. Where MediaPipe is installed, but not imported yet, its names are left to it, and the message of a graph
is Penstock's. Numbers of fields and extensions are the same everywhere: a message of one kind, serialized, is
one of the other.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message

from penstock.config import CalculatorGraphConfig
from penstock.packs import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS: Final = "penstock"
_THEIRS: Final = "mediapipe"
#: The file of each message under MediaPipe's names is in this directory of the pool.
_DIRECTORY: Final = "penstock_mediapipe"


@cache
def graph_message() -> Any:
    """Return the class of the message of a graph: under MediaPipe's names, where that is possible."""
    pool = descriptor_pool.Default()
    name = f"{_THEIRS}.{CalculatorGraphConfig.DESCRIPTOR.name}"
    try:
        found = pool.FindMessageTypeByName(name)
    except KeyError:
        if find_spec(_THEIRS) is not None:
            return CalculatorGraphConfig
        known: set[str] = set()
        for file in _files():
            _add(file, known)
        found = pool.FindMessageTypeByName(name)
    return message_factory.GetMessageClass(found)


def core_config(graph_config: Any) -> Any:
    """Return a graph as Penstock takes it: a message under other names becomes one of Penstock's."""
    if isinstance(graph_config, Message) and not isinstance(graph_config, CalculatorGraphConfig):
        return CalculatorGraphConfig.FromString(graph_config.SerializePartialToString())
    return graph_config


def _files() -> Iterator[Any]:
    """Yield the file descriptors of the graph's message and of the options of all installed packs."""
    yield CalculatorGraphConfig.DESCRIPTOR.file
    for entry in default_registry().options().values():
        options = entry.load()
        if isinstance(options, type) and issubclass(options, Message):
            yield options.DESCRIPTOR.file


def _add(file: Any, known: set[str]) -> None:
    """Add a file and its imports to the pool, under MediaPipe's names."""
    if file.name in known or file.package.partition(".")[0] != _OURS:
        return
    known.add(file.name)
    for dependency in file.dependencies:
        _add(dependency, known)
    renamed = FileDescriptorProto()
    file.CopyToProto(renamed)
    ours = [one.name for one in file.dependencies if one.package.partition(".")[0] == _OURS]
    renamed.name = f"{_DIRECTORY}/{file.name}"
    renamed.package = file.package.replace(_OURS, _THEIRS, 1)
    for number, name in enumerate(renamed.dependency):
        if name in ours:
            renamed.dependency[number] = f"{_DIRECTORY}/{name}"
    for field in _fields(renamed):
        if field.HasField("type_name"):
            field.type_name = _renamed(field.type_name)
        if field.HasField("extendee"):
            field.extendee = _renamed(field.extendee)
    descriptor_pool.Default().AddSerializedFile(renamed.SerializeToString())


def _renamed(type_name: str) -> str:
    """Return the full name of a message, which begins with a dot, as MediaPipe has it."""
    begin = f".{_OURS}."
    return f".{_THEIRS}.{type_name[len(begin) :]}" if type_name.startswith(begin) else type_name


def _fields(scope: FileDescriptorProto | DescriptorProto) -> Iterator[FieldDescriptorProto]:
    """Yield the fields and extensions of a file or message, and of the messages inside."""
    yield from scope.extension
    if isinstance(scope, DescriptorProto):
        yield from scope.field
    for message in scope.message_type if isinstance(scope, FileDescriptorProto) else scope.nested_type:
        yield from _fields(message)
