"""What a graph file needs to run elsewhere: the packs of the names in it, subgraphs, and models."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock import CalculatorGraph, PenstockError
from penstock.types import OptionTypes, unpacked_message
from penstock_cli.bundle.constants import Constants
from penstock_cli.existing_files import existing_file
from penstock_cli.failures import FileMissing, RunFailed
from penstock_cli.graphs import missing
from penstock_cli.loading import load
from penstock_cli.runs.run import refuse_inputs
from penstock_cli.subgraph_files import registry_with_subgraphs, subgraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from penstock import Registry
    from penstock.access import Touch

_ANY: Final = "google.protobuf.Any"
#: The service that finds models, of penstock-tensors.
_FINDER: Final = "penstock-tensors.resources"
#: Endings of files that calculators search by a name, which may come from a packet.
_MODELS: Final = (".tflite", ".onnx", ".task", ".binarypb")
#: What a graph needs that names nothing: who runs it, and what runs what names no executor or policy.
_ALWAYS: Final = ("penstock-cli", "penstock-executors", "penstock-stream-handlers")
#: Fields of a config, at any depth, and the kinds of their names.
_KINDS: Final = {
    "calculator": ("calculator", "subgraph"),
    "input_stream_handler": ("input stream handler",),
    "output_stream_handler": ("output stream handler",),
    "type": ("executor",),
}


class Needs(NamedTuple):
    """What a graph file needs."""

    #: Of packs that have the names in it; without what they require.
    distributions: frozenset[str]
    #: Name of a subgraph → its file, where it is no pack's.
    subgraphs: Mapping[str, Path]
    #: Name → bytes of each model that the graph names.
    models: Mapping[str, bytes]
    #: What nodes read, write or run that is not known before a run, or is not taken along, in words.
    outside: tuple[str, ...]


def needs_of(path: Path) -> Needs:
    """Load a graph file, and return what it needs.

    Raises:
        FileMissing: there is no such file, or a model of it is not found.
        GraphInvalid: it is no graph, or it cannot run: a calculator is not installed, say.
        RunFailed: a model has an absolute path.
        WrongUsage: it has input streams.
    """
    from penstock.config import CalculatorGraphConfig  # imports protobuf

    file = existing_file(path, "graph file")
    own = subgraphs_of(file)
    graph: CalculatorGraph = load(lambda: CalculatorGraph(file, subgraphs=own))
    expanded = CalculatorGraphConfig.FromString(graph.binary_config)
    refuse_inputs(expanded, path, "a bundle cannot feed", "freeze a program that feeds them from Python")
    registry = registry_with_subgraphs(file)
    names, subgraphs = _names(file, registry, own)
    types = OptionTypes(registry)
    parts = list(_messages(expanded, types))
    names |= set(_named_in(parts))
    distributions = {*_ALWAYS}
    for kind, name in names:
        if registry.has(kind, name):
            distributions.add(registry.origin(kind, name).distribution or "")
    distributions |= set(_of_fields(expanded, file, registry))
    constants = Constants(expanded, lambda message: _messages(message, types))
    reads = _Reads(_model_names(parts))
    reads.note(graph.access(), constants)
    models, outside = reads.found(file, registry)
    return Needs(frozenset(filter(None, distributions)), subgraphs, models, tuple(outside))


def _names(
    file: Path, registry: Registry, own: Mapping[str, Path]
) -> tuple[set[tuple[str, str]], dict[str, Path]]:
    """Return kind and name of each node of a graph file and of its subgraphs, and files of subgraphs."""
    found: set[tuple[str, str]] = set()
    used: dict[str, Path] = {}
    files, seen = [file], set()
    while files:
        one = files.pop()
        if one in seen:
            continue
        seen.add(one)
        for looked in missing.look([str(one)], registry):
            for name, _ in looked.names:
                found |= {("calculator", name), ("subgraph", name)}
                target = own.get(name) or _file_of(name, looked.package, registry)
                if name in own:
                    used[name] = own[name]
                if target is not None:
                    files.append(target)
    return found, used


def _file_of(name: str, package: str, registry: Registry) -> Path | None:
    """Return the graph file of a subgraph that a pack has; None where it is none, or is code."""
    if not registry.has("subgraph", name, package):
        return None
    found = registry.find("subgraph", name, package)
    return found if isinstance(found, Path) else None


def _named_in(parts: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield kind and name of all that a checked config names: leaves of subgraphs, executors, policies."""
    for message in parts:
        for field, kinds in _KINDS.items():
            value = getattr(message, field, None)
            if isinstance(value, str) and value:
                yield from ((kind, value) for kind in kinds)


def _of_fields(config: Any, file: Path, registry: Registry) -> Iterator[str]:
    """Yield the distributions of layers and readers that fields and the file's form ask for."""
    asked = [("layer", "failure")] if any(node.HasField("failure") for node in config.node) else []
    asked += [("graph reader", name) for name in registry.names("graph reader") if _is_read_by(file, name)]
    for kind, name in asked:
        if registry.has(kind, name):
            yield registry.origin(kind, name).distribution or ""


def _is_read_by(file: Path, reader: str) -> bool:
    return reader == "json" if file.suffix == ".json" else reader == "template"


def _messages(message: Any, types: OptionTypes) -> Iterator[Any]:
    """Yield a message and those inside of it, packed ones too."""
    if message.DESCRIPTOR.full_name == _ANY:
        message = unpacked_message(message, types)
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            inner = [value] if hasattr(value, "DESCRIPTOR") else list(value)
            for one in inner:
                if hasattr(one, "ListFields"):
                    yield from _messages(one, types)


class _Reads:
    """The files that the nodes of a graph read, and what they run."""

    def __init__(self, names: Iterable[str]) -> None:
        #: Name of a file that is searched → whether a run cannot do without.
        self._searched: Final[dict[str, bool]] = dict.fromkeys(names, False)
        #: Name of a file that is one of several → what to say if it is not found.
        self._choices: Final[dict[str, str]] = {}
        self._outside: Final[list[str]] = []

    def note(self, access: Mapping[str, Iterable[Touch]], constants: Constants) -> None:
        """Take in all that nodes touch, by their names; a side packet may have its text from a constant."""
        for node, touches in access.items():
            for touch in touches:
                if touch.kind not in ("reads", "runs"):
                    continue
                names = [touch.what] if touch.what else sorted(constants.at(node, touch.source))
                if not names:
                    self._outside.append(f"known only in the run: {node}: {touch}")
                for name in names:
                    self._note_one(
                        f"not in the bundle: {node}: {touch._replace(what=name)}", name, touch, names
                    )

    def _note_one(self, line: str, name: str, touch: Touch, names: list[str]) -> None:
        if touch.kind != "reads" or not touch.is_searched:
            self._outside.append(line)
        elif len(names) == 1:
            self._searched[name] = True
        else:
            self._searched.setdefault(name, False)
            self._choices[name] = line

    def found(self, file: Path, registry: Registry) -> tuple[dict[str, bytes], list[str]]:
        """Return name → bytes of the models, and what is not taken along."""
        finder = None
        if self._searched and registry.has("service", _FINDER):
            key: Any = registry.find("service", _FINDER)
            finder = key.create_beside(str(file.parent))
        models = {}
        for name, must_be_there in self._searched.items():
            data = _model(finder, name, must_be_there=must_be_there)
            if data is not None:
                models[name] = data
        missed = [line for name, line in self._choices.items() if name not in models]
        return models, [*self._outside, *missed]


def _model(finder: Any, name: str, *, must_be_there: bool) -> bytes | None:
    if Path(name).is_absolute() or ".." in PurePosixPath(name).parts:
        if must_be_there:
            raise RunFailed(
                f"the graph needs the model {name!r}, which is elsewhere on another machine; put it beside "
                "the graph file or below it, and name it relative to that"
            )
        return None
    try:
        return None if finder is None else bytes(finder.find(name).data)
    except PenstockError as error:
        if must_be_there:
            raise FileMissing(str(error)) from error
        return None


def _model_names(parts: Iterable[Any]) -> Iterator[str]:
    """Yield the strings in options that look like names of models; they may go through packets."""
    for message in parts:
        for _, value in message.ListFields():
            texts: Iterable[object] = (value,) if isinstance(value, str) else value
            if not isinstance(value, (int, float, bytes)) and not hasattr(value, "DESCRIPTOR"):
                yield from (text for text in texts if isinstance(text, str) and text.endswith(_MODELS))
