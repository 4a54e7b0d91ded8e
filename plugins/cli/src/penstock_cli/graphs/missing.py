"""`penstock list --missing`: which calculators of graph files no installed pack has, and where to get them.

The graphs are read and not checked: options of calculators that are missing do not matter. No component is
imported.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from penstock import GraphParseError, PenstockError
from penstock.error_text import near_names
from penstock.errors import InvalidArgumentError
from penstock.packs import official_packs
from penstock.readers import place_words
from penstock_cli.failures import FileMissing, GraphInvalid, RunFailed
from penstock_cli.graphs.checking import STDIN, source_of
from penstock_cli.loading import is_unread
from penstock_cli.machine.environment import in_this_environment
from penstock_cli.saying import say
from penstock_cli.subgraph_files import subgraphs_of
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from penstock import Registry
    from penstock.readers import Places, Spot
    from penstock.types import OptionTypes

_STDIN_NAME: Final = "<stdin>"
#: The field of a node that names its calculator or subgraph.
_NAME: Final = "calculator"
#: Kinds that a node can name.
_KINDS: Final = ("calculator", "subgraph")
_ANY: Final = "google.protobuf.Any"
_BINARY: Final = (".binarypb", ".pb")


@dataclass(frozen=True)
class Missing:
    """One node whose calculator no installed pack has."""

    #: As it was given.
    file: str
    #: `line`, `column`: of the name, counted from 1; None where the file has no lines.
    line: int | None
    column: int | None
    #: The name of the calculator or subgraph.
    name: str
    #: The official pack that has it, or None.
    distribution: str | None
    #: Why it is missing although that pack is installed, or None.
    problem: str | None
    #: Names of installed ones that look like it, where no official pack has it.
    near: tuple[str, ...]

    def __str__(self) -> str:
        position = None if self.line is None or self.column is None else (self.line, self.column)
        return f"{place_words(self.file, position)}{self.name}: {self._cure()}"

    def _cure(self) -> str:
        if self.problem is not None:
            return f"{self.distribution} is installed and has it, but {self.problem}"
        if self.distribution is not None:
            return f"pip install {self.distribution}"
        hint = f" (did you mean {', '.join(map(repr, self.near))}?)" if self.near else ""
        return f"no official pack has it{hint}"


@dataclass
class Looked:
    """What is known of one file."""

    #: As it was given.
    file: str
    #: The names of its nodes, in order, those inside of options included; with line and column, or None.
    names: list[tuple[str, tuple[int, int] | None]] = field(default_factory=list)
    #: Under which other graphs can name this graph; "" where it has none.
    type: str = ""
    #: Before names of its nodes, or "".
    package: str = ""
    #: The names of graph files that are its subgraphs.
    subgraphs: Collection[str] = ()
    #: Why the file could not be read, or None.
    error: PenstockError | FileMissing | None = None


def look(files: Iterable[str], registry: Registry) -> list[Looked]:
    """Read graph files.

    Args:
        files: paths; "-" for graph text from standard input.
        registry: finds the options.
    """
    return [_look(file, registry) for file in files]


def missing(looked: Sequence[Looked], registry: Registry) -> list[Missing]:
    """Return the nodes whose calculator is neither in the registry nor one of the graphs that were read."""
    types = {one.type for one in looked if one.type}
    known = [name for kind in _KINDS for name in registry.names(kind)]
    return [
        _missing(one, name, position, registry, known)
        for one in looked
        for name, position in one.names
        if name not in types
        and name not in one.subgraphs
        and not any(registry.has(kind, name, one.package) for kind in _KINDS)
    ]


def exit_code(looked: Iterable[Looked], found: Sequence[Missing]) -> int:
    """Return the command's exit code; a file that cannot be read counts most, then one that is no graph."""
    errors = [one.error for one in looked if one.error is not None]
    if any(isinstance(error, FileMissing) or is_unread(error) for error in errors):
        return FileMissing.exit_code
    if errors:
        return GraphInvalid.exit_code
    return RunFailed.exit_code if found else 0


def as_json(found: Iterable[Missing]) -> str:
    """Return a JSON list of objects, their fields those of `Missing`."""
    return json.dumps([asdict(one) for one in found], indent=2)


def print_errors(looked: Iterable[Looked]) -> None:
    """Print on stderr why files could not be read."""
    for one in looked:
        if one.error is not None:
            say(f"error: {_words(one)}")


def print_missing(looked: Sequence[Looked], found: Sequence[Missing]) -> None:
    """Print a line for each node on stdout, and what they come to on stderr."""
    for one in found:
        click.echo(in_this_environment(str(one)))
    read = [one for one in looked if one.error is None]
    total = sum(len(one.names) for one in read)
    files = plural(len(read), "file")
    if not found:
        if read:
            say(f"{files}: every calculator is installed ({plural(total, 'node')})")
        return
    names = {one.name: one for one in found}
    say(f"{files}: {plural(len(found), 'node')} of {total:,} without their calculator ({len(names):,} names)")
    packs = Counter(one.distribution for one in names.values() if one.distribution and one.problem is None)
    for pack, count in sorted(packs.items()):
        say(f"{plural(count, 'name')}: pip install {pack}")


def _look(file: str, registry: Registry) -> Looked:
    from penstock.config import read_definition  # imports protobuf
    from penstock.readers import Places, ReadGraph, definition_as_read_graph
    from penstock.types import OptionTypes

    looked = Looked(_STDIN_NAME if file == STDIN else file)
    types = OptionTypes(registry)
    try:
        found = read_definition(source_of(file), registry, label=looked.file, types=types)
        graph, places, _ = found if isinstance(found, ReadGraph) else definition_as_read_graph(found)
    except (PenstockError, FileMissing) as error:
        graph, places = _decoded(file, error), Places(looked.file)
        if graph is None:
            looked.error = error
            return looked
    looked.type, looked.package = graph.type, graph.package
    looked.subgraphs = () if file == STDIN else subgraphs_of(Path(file), registry)
    in_text = list(_names_in_tree(places))
    there = {name for name, _ in in_text}
    in_message = (one for one in _names_in(graph, (), places, types) if one[0] not in there)
    looked.names = [*in_text, *in_message]
    return looked


def _decoded(file: str, error: Exception) -> Any:
    """Return the graph of a binary file whose options cannot be read, with them as they are; else None."""
    from penstock.config import CalculatorGraphConfig  # imports protobuf

    if not isinstance(error, GraphParseError) or Path(file).suffix.lower() not in _BINARY:
        return None
    graph = CalculatorGraphConfig()
    try:
        graph.ParseFromString(Path(file).read_bytes())
    except Exception:  # noqa: BLE001  # protobuf and the system say in their ways that it is none
        return None
    return graph if graph.node else None


def _names_in_tree(places: Places) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield the names in the tree of a file's fields, also in options that cannot be read."""
    spots: list[Spot] = [] if places.root is None else [places.root]
    found: list[tuple[int, str, tuple[int, int] | None]] = []
    while spots:
        spot = spots.pop()
        for inner in spot.fields.values():
            spots.extend(inner)
        at = spot.get(_NAME, 0)
        if at is not None:
            position = places.line_and_column(at.offset)
            found += [(at.offset, name, position) for name in places.texts(_NAME, inside=spot)]
    return ((name, position) for _, name, position in sorted(found))


def _names_in(
    message: Any, path: tuple[tuple[str, int], ...], places: Places, types: OptionTypes
) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield the names in a message and in those inside of it, packed ones too, with places where known."""
    from penstock.types import unpacked_message

    if message.DESCRIPTOR.full_name == _ANY:
        try:
            message = unpacked_message(message, types)
        except PenstockError:  # options that cannot be read, of a calculator that is missing
            return
    for one, value in message.ListFields():
        if one.type == one.TYPE_STRING:
            if one.name == _NAME and isinstance(value, str) and value:
                yield value, places.position_of((*path, (_NAME, 0)))
        elif one.type == one.TYPE_MESSAGE:
            step = f"[{one.full_name}]" if one.is_extension else one.name
            inner = [value] if hasattr(value, "DESCRIPTOR") else list(value)
            for i, each in enumerate(inner):
                if hasattr(each, "ListFields"):  # a map has its keys here
                    yield from _names_in(each, (*path, (step, i)), places, types)


def _missing(
    looked: Looked,
    name: str,
    position: tuple[int, int] | None,
    registry: Registry,
    known: Sequence[str],
) -> Missing:
    line, column = position or (None, None)
    distribution = registry.install_hint("calculator", name, looked.package)
    problem = None
    near: tuple[str, ...] = ()
    if distribution is None:
        distribution = next(
            (official_packs()[kind].get(name) for kind in _KINDS if name in official_packs()[kind]), None
        )
        if distribution is None:
            near = tuple(near_names(name, known))
        else:
            problem = _problem(registry)
    return Missing(looked.file, line, column, name, distribution, problem, near)


def _problem(registry: Registry) -> str:
    """Return why names of packs that are installed are not there."""
    reasons = "; ".join(f"plugin {plugin!r}: {why}" for plugin, why in sorted(registry.failures.items()))
    return f"not all plugins are loaded: {reasons}" if reasons else "its version is another one; upgrade it"


def _words(looked: Looked) -> str:
    error = looked.error
    if isinstance(error, FileMissing):
        return str(InvalidArgumentError(error.message))
    text = str(error)
    return text if looked.file in text else f"{looked.file}: {text}"
