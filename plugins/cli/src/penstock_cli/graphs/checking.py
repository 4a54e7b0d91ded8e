"""`penstock validate`: reports every fault of graph files without running them."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from penstock import GraphConfigError, PenstockError, limits
from penstock.errors import InvalidArgumentError, lines_of
from penstock.log import ROOT
from penstock.readers import place_words
from penstock_cli.failures import FileMissing, GraphInvalid
from penstock_cli.loading import OWN, existing, is_unread, name_in, names_unknown_components
from penstock_cli.machine.environment import in_this_environment
from penstock_cli.runs.side_values import UNSAID, check_names, fault_words
from penstock_cli.subgraph_files import registry_with_subgraphs
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock import Registry
    from penstock.lowlevel import Plan
    from penstock_views.draw import Drawing

#: The argument that means graph text from standard input, and its name in messages.
STDIN: Final = "-"
_STDIN_NAME: Final = "<stdin>"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong."""

    #: The graph file, or that of a subgraph.
    file: str
    #: `line`, `column`: counted from 1; None where the file has no lines or the fault has no place.
    line: int | None
    column: int | None
    #: Name of the status code.
    code: str
    #: `node`, `stream`: that the fault concerns, or None.
    node: str | None
    stream: str | None
    #: Without file, line and column.
    message: str

    def __str__(self) -> str:
        position = None if self.line is None or self.column is None else (self.line, self.column)
        return f"{place_words(self.file, position)}{self.message}"


@dataclass(frozen=True)
class Warned:
    """One thing that is accepted but looks like a mistake; fields as in `Fault`."""

    node: str | None
    stream: str | None
    message: str


@dataclass
class Verdict:
    """What is known about one graph file."""

    #: As it was given.
    file: str
    #: Whether the file exists and could be read.
    is_read: bool = True
    #: `faults`, `warnings`: in file order.
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    #: `nodes`, `streams`, `subgraphs`: their numbers; subgraphs are those that the file itself names. 0 where
    #: the graph is invalid.
    nodes: int = 0
    streams: int = 0
    subgraphs: int = 0
    #: The input streams of the graph, which an application feeds.
    input_streams: list[str] = field(default_factory=list)
    #: Name → type, of those that a run needs.
    side_packets: dict[str, str] = field(default_factory=dict)
    #: Name → type, of those that a run also takes.
    optional_side_packets: dict[str, str] = field(default_factory=dict)
    #: What else may help, beside what each fault says.
    hints: list[str] = field(default_factory=list)

    @property
    def is_valid(self) -> bool:
        """Whether a graph can be made from the file."""
        return self.is_read and not self.faults


def check(file: str, sides: Mapping[str, object] | None) -> Verdict:
    """Check one graph, as `CalculatorGraph` would when it is made; nothing is run.

    Args:
        file: a path; "-" for graph text from standard input.
        sides: side packets of a run, as `read_given` returns them; None: they are not checked.
    """
    verdict = Verdict(_STDIN_NAME if file == STDIN else file)
    with _warnings_of(verdict):
        try:
            _look_at(verdict, source_of(file), sides)
        except FileMissing as error:
            verdict.is_read = False
            verdict.faults = [_fault(InvalidArgumentError(error.message), verdict.file)]
        except PenstockError as error:
            verdict.is_read = not is_unread(error)
            verdict.hints = [OWN] if names_unknown_components(error) else []
            faults = error.faults if isinstance(error, GraphConfigError) else (error,)
            verdict.faults = [_fault(fault, verdict.file) for fault in faults]
    return verdict


def graph_faults(path: Path, registry: Registry, drawing: Drawing) -> Iterator[str]:
    """Yield the faults that keep a drawn graph from running, unless it could not be read completely."""
    if drawing.notes:
        return
    from penstock.config import build_plan  # imports protobuf

    try:
        build_plan(path, registry)
    except GraphConfigError as error:
        yield from map(str, error.faults)


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """Return the command's exit code; a file that cannot be read counts more than an invalid one."""
    verdicts = list(verdicts)
    if not all(verdict.is_read for verdict in verdicts):
        return FileMissing.exit_code
    return 0 if all(verdict.is_valid for verdict in verdicts) else GraphInvalid.exit_code


def as_json(verdicts: Iterable[Verdict]) -> str:
    """Return a JSON list of objects, their fields those of `Verdict`, and `is_valid`."""
    return json.dumps([{**asdict(one), "is_valid": one.is_valid} for one in verdicts], indent=2)


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Print a line for each warning, fault and good file, and a total where there are several files."""
    for verdict in verdicts:
        for warned in verdict.warnings:
            click.echo(f"{click.style('warning:', fg='yellow')} {warned.message}")
        faults, notes = lines_of(verdict.faults, limits.current().faults)
        for fault in faults:
            click.echo(f"{click.style('fault:', fg='red')} {fault}")
        for note in notes:
            click.echo(f"note: {note}")
        if verdict.is_valid:
            click.echo(f"{verdict.file}: {click.style('fine', fg='green')}: {_facts(verdict)}")
    for hint in dict.fromkeys(hint for verdict in verdicts for hint in verdict.hints):
        click.echo(f"note: {hint}")
    if len(verdicts) > 1:
        bad = sum(not verdict.is_valid for verdict in verdicts)
        click.echo(f"{plural(len(verdicts), 'graph')}, {bad or 'none'} of them with faults")


# --- inside ---------------------------------------------------------------------------------------


def source_of(file: str) -> str | Path:
    """Return graph text or the path of a graph file.

    Raises:
        FileMissing: there is no such file.
        InvalidArgumentError: standard input is not UTF-8 text.
        ResourceExhaustedError: standard input is longer than the limit "file_bytes".
    """
    if file != STDIN:
        return existing(Path(file), "graph file")
    most = limits.current().file_bytes
    data = sys.stdin.buffer.read(most + 1)
    limits.check("file_bytes", len(data), "standard input has too many bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidArgumentError(
            f"byte {byte:#04x} at {error.start} is not UTF-8, so the graph cannot be checked; write graph "
            "text, or name a file"
        ) from error


def _look_at(verdict: Verdict, source: str | Path, sides: Mapping[str, object] | None) -> None:
    """Fill in a verdict.

    Raises:
        PenstockError: the source is not a graph, or the graph cannot run.
    """
    from penstock.config import build_plan, read_graph  # imports protobuf
    from penstock.plugins.default_registry import default_registry  # loads the plugins
    from penstock.runtime.executors.graph_executors import GraphExecutors

    registry = default_registry() if isinstance(source, str) else registry_with_subgraphs(source)
    plan = build_plan(source, registry)
    GraphExecutors(plan, registry)  # makes the executors that the graph declares, as loading it does
    config = read_graph(source, registry)
    verdict.nodes = len(plan.nodes)
    verdict.streams = len(plan.streams)
    verdict.subgraphs = sum(
        bool(node.calculator) and registry.has("subgraph", node.calculator, config.package)
        for node in config.node
    )
    verdict.input_streams = [stream.name for stream in plan.streams[: plan.graph_inputs]]
    verdict.side_packets, verdict.optional_side_packets = _side_packets(plan)
    if sides is not None:
        known = {name_in(entry) for entry in config.input_side_packet}
        _check_sides(verdict, plan, sides, known)


def _side_packets(plan: Plan) -> tuple[dict[str, str], dict[str, str]]:
    """Return name → type of the side packets that a run needs, and of those that it also takes."""
    needed: dict[str, str] = {}
    taken: dict[str, str] = {}
    for node in plan.nodes:
        for port in node.input_side_packets:
            if not port.produced:
                (taken if port.optional else needed).setdefault(port.name, port.type_name)
    return needed, {name: kind for name, kind in taken.items() if name not in needed}


def _check_sides(verdict: Verdict, plan: Plan, sides: Mapping[str, object], declared: set[str]) -> None:
    """Raise the faults of side packets; `declared` are those that the graph itself declares.

    Raises:
        GraphConfigError, InvalidArgumentError: one is missing, has a wrong type, or is read by no node.
    """
    from penstock.runtime.side_packets import as_side_packets, check_given

    known = {port.name for node in plan.nodes for port in node.input_side_packets}
    try:
        check_names(sides, known | declared)
    except click.BadParameter as error:
        raise InvalidArgumentError(error.message) from error
    values = {name: value for name, value in sides.items() if value is not UNSAID}
    try:
        check_given(plan, as_side_packets(values))
    except GraphConfigError as error:
        wrong = [fault for fault in error.faults if fault.stream in values or fault.stream not in sides]
        if wrong:
            faults = [_for_command_line(fault, sides) for fault in wrong]
            raise GraphConfigError(faults, file=verdict.file) from error


def _for_command_line(fault: PenstockError, sides: Mapping[str, object]) -> PenstockError:
    return PenstockError(fault_words(fault, sides), code=fault.code, node=fault.node, stream=fault.stream)


def _fault(error: PenstockError, file: str) -> Fault:
    line, column = error.line, error.column
    position = None if line is None or column is None else (line, column)
    message = in_this_environment(str(error).removeprefix(place_words(error.file, position)))
    return Fault(error.file or file, line, column, error.code.name, error.node, error.stream, message)


def _facts(verdict: Verdict) -> str:
    facts = [plural(verdict.nodes, "node"), plural(verdict.streams, "stream")]
    if verdict.subgraphs:
        facts.append(plural(verdict.subgraphs, "subgraph"))
    if verdict.input_streams:
        facts.append(f"needs input streams {', '.join(map(repr, verdict.input_streams))}")
    for verb, sides in (("needs", verdict.side_packets), ("may get", verdict.optional_side_packets)):
        if sides:
            named = ", ".join(f"{name!r} ({kind})" for name, kind in sides.items())
            facts.append(f"{verb} side packets {named}")
    return ", ".join(facts)


@contextmanager
def _warnings_of(verdict: Verdict) -> Iterator[None]:
    """Add Penstock's warnings to the verdict until the end of the block."""
    handler = _Noting(verdict)
    logger = logging.getLogger(ROOT)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Noting(logging.Handler):
    def __init__(self, verdict: Verdict) -> None:
        super().__init__(logging.WARNING)
        self._verdict = verdict

    def emit(self, record: logging.LogRecord) -> None:
        place: dict[str, Any] = record.__dict__
        warned = Warned(place.get("node"), place.get("stream"), record.getMessage())
        self._verdict.warnings.append(warned)
