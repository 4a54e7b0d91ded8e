"""Descriptions of what a registry holds: calculators, input stream handlers, executors, subgraphs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from penstock.config import read_graph
from penstock.errors import InvalidArgumentError, UnknownNameError
from penstock.packs import KINDS as COMPONENT_KINDS
from penstock.types import Options, attrs_name, is_attrs_options, options_classes
from penstock_views.describe.code_names import names_used
from penstock_views.describe.docstrings import Docstring, docstring_parts
from penstock_views.describe.option_classes import describe_class
from penstock_views.describe.option_messages import OptionMessage, describe_messages
from penstock_views.describe.ports import NodePorts, PortInfo, describe_ports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock import CalculatorContract, Registry

#: The policy of nodes for which neither graph nor calculator names one. Source: `config.handlers`.
_DEFAULT_POLICY: Final = "DefaultInputStreamHandler"


@attrs.frozen
class InputPolicy:
    """The input stream handler of a node."""

    #: Registered name.
    name: str
    #: "calculator", where its contract asks for it; "example", where the graph there names it; "default",
    #: where neither does.
    chosen_by: str


@attrs.frozen
class Description:
    """One component."""

    #: One of `penstock.registry.KINDS`.
    kind: str
    #: Registered.
    name: str
    #: That provides it, as pip knows it; None for a component that this process registered.
    distribution: str | None
    #: "module:attribute" that it stands for.
    target: str
    #: `summary`, `body`: its docstring, without the example.
    summary: str
    body: str = ""
    #: Graph text to paste; "" where it has none.
    example: str = ""
    #: `inputs`, `outputs`, `input_side_packets`, `output_side_packets`: ports of a calculator.
    inputs: tuple[PortInfo, ...] = ()
    outputs: tuple[PortInfo, ...] = ()
    input_side_packets: tuple[PortInfo, ...] = ()
    output_side_packets: tuple[PortInfo, ...] = ()
    #: Why the ports of a calculator could not be found out; "" where they are known.
    ports_unknown: str = ""
    #: The input policy of a calculator; None else.
    input_policy: InputPolicy | None = None
    #: That a calculator's contract promises, in microseconds; None for none.
    timestamp_offset: int | None = None
    #: Whether a calculator also runs at settled timestamps without packets.
    processes_bounds: bool = False
    #: Keys of the services that a calculator uses; keys of optional ones end in " (optional)".
    services: tuple[str, ...] = ()
    #: Its options messages, each followed by the messages inside of it.
    options: tuple[OptionMessage, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as dicts, lists and plain values, as JSON can hold."""
        return attrs.asdict(self)


def describe(name: str, registry: Registry, kind: str | None = None) -> Description:
    """Return what a registered name is.

    Its module is imported. A calculator is asked for its contract, for the node in its docstring's example
    or, without one, for a node that connects nothing; it is not run.

    Args:
        name: as graphs write it.
        registry: that knows it, and the options messages.
        kind: one of `penstock.registry.KINDS`; None for the first kind that has the name.

    Raises:
        UnknownNameError: no component has the name; says which names are near and what to install.
        NameClashError, PluginError: as `Registry.find`.
    """
    kind = _kind_of(name, registry) if kind is None else kind
    thing = registry.find(kind, name)
    origin = registry.origin(kind, name)
    doc = _docstring(thing)
    description = Description(
        kind=kind,
        name=name,
        distribution=origin.distribution,
        target=origin.target,
        summary=doc.summary,
        body=doc.body,
        example=doc.example,
    )
    if kind == "calculator" and isinstance(thing, type):
        return _calculator(description, thing, registry)
    if kind == "subgraph" and isinstance(thing, Path):
        return _subgraph(description, thing)
    if isinstance(thing, type):
        return attrs.evolve(description, options=_messages(_of_class(thing, registry), registry))
    return description


def _kind_of(name: str, registry: Registry) -> str:
    for kind in COMPONENT_KINDS:
        if registry.has(kind, name):
            return kind
    known = sorted({known for kind in COMPONENT_KINDS for known in registry.names(kind)})
    hints = [registry.install_hint(kind, name) for kind in COMPONENT_KINDS]
    install = next(filter(None, hints), None)
    raise UnknownNameError("component", name, known, registry.failures, install=install)


def _docstring(thing: object) -> Docstring:
    # Without `getdoc`, which falls back on the base's docstring: that of `Calculator` describes none.
    return docstring_parts(thing.__doc__ if isinstance(thing, type) or inspect.isroutine(thing) else None)


# --- calculators ----------------------------------------------------------------------------------


class _Asked:
    """Options of a node that note which classes they are asked for."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.names: list[_Named] = []

    def get(self, message_type: Any) -> Any:
        answer = self._options.get(message_type)
        self.names.append(_named(message_type))
        return answer

    def has(self, message_type: Any) -> bool:
        return self._options.has(message_type)


def _calculator(description: Description, cls: Any, registry: Registry) -> Description:
    node, why = None, ""
    if description.example:
        try:
            node = _example_node(description, cls, registry)
        except Exception as error:  # noqa: BLE001  # foreign text may raise anything; the description says what
            why = f"its example cannot be read: {error}"
    asked = _Asked(Options() if node is None else Options(node.options, node.node_options))
    given = list(_given(node))
    try:
        contract, ports = describe_ports(cls, description.name, _connected(node, asked))
    except Exception as error:  # noqa: BLE001  # foreign code
        ask = f"get_contract() failed: {error}" if node is not None else "it has no example of a node"
        wanted = [*given, *asked.names, *_of_class(cls, registry)]
        return attrs.evolve(description, ports_unknown=why or ask, options=_messages(wanted, registry))
    wanted = [*asked.names, *given, *_of_class(cls, registry)]
    described = attrs.evolve(
        description,
        example=_under_name(description, node),
        ports_unknown=why,
        input_policy=_policy(contract, node),
        timestamp_offset=contract.timestamp_offset,
        processes_bounds=contract.process_timestamp_bounds,
        services=tuple(f"{key.name}{' (optional)' * is_free}" for key, is_free in contract.services.items()),
        options=_messages(wanted, registry),
    )
    found: dict[str, Any] = dict(ports)
    return attrs.evolve(described, **found)


def _example_node(description: Description, cls: Any, registry: Registry) -> Any:
    """Return the node of the example that is the calculator itself, by this name or another of its names."""
    for node in read_graph(description.example, registry).node:
        is_it = node.calculator == description.name
        if is_it or (
            registry.has("calculator", node.calculator)
            and registry.find("calculator", node.calculator) is cls
        ):
            return node
    return None


def _under_name(description: Description, node: Any) -> str:
    """Return the example, where it has the calculator under another of its names with this one."""
    if node is None or node.calculator == description.name:
        return description.example
    written = rf'(calculator:\s*)"{re.escape(node.calculator)}"'
    return re.sub(written, rf'\1"{description.name}"', description.example)


def _connected(node: Any, options: _Asked) -> NodePorts:
    if node is None:
        return NodePorts(options=options)
    return NodePorts(
        inputs=tuple(node.input_stream),
        outputs=tuple(node.output_stream),
        input_side_packets=tuple(node.input_side_packet),
        output_side_packets=tuple(node.output_side_packet),
        options=options,
    )


def _policy(contract: CalculatorContract, node: Any) -> InputPolicy:
    if node is not None and node.HasField("input_stream_handler"):
        given = node.input_stream_handler
        if given.HasField("input_stream_handler"):
            return InputPolicy(given.input_stream_handler, "example")
    if contract.input_stream_handler is not None:
        return InputPolicy(contract.input_stream_handler.name, "calculator")
    return InputPolicy(_DEFAULT_POLICY, "default")


def _subgraph(description: Description, path: Path) -> Description:
    """Show a subgraph's own graph: its comment at the top, and its text."""
    text = path.read_text(encoding="utf-8") if path.suffix in (".pbtxt", ".textproto") else ""
    lines = text.splitlines()
    head = 0
    while head < len(lines) and lines[head].startswith("#"):
        head += 1
    said = [line.lstrip("# ").strip() for line in lines[:head]]
    return attrs.evolve(
        description, summary=" ".join(filter(None, said)), example="\n".join(lines[head:]).strip()
    )


# --- options --------------------------------------------------------------------------------------


#: Full name of options, and their attrs class where it is known.
_Named: TypeAlias = "tuple[str, Any]"


def _named(cls: Any) -> _Named:
    return (attrs_name(cls), cls) if is_attrs_options(cls) else (cls.DESCRIPTOR.full_name, None)


def _given(node: Any) -> Iterator[_Named]:
    """Yield the options that a node is given."""
    if node is None:
        return
    for field, _ in node.options.ListFields():
        yield field.message_type.full_name, None
    for packed in node.node_options:
        yield packed.TypeName(), None


def _of_class(cls: type, registry: Registry) -> Iterator[_Named]:
    """Yield the options that a class says it takes, then those of its own package that its code names."""
    try:
        said = options_classes(cls)
    except InvalidArgumentError:  # a graph that uses it reports the error
        said = ()
    yield from map(_named, said)
    used = names_used(cls)
    package = cls.__module__.partition(".")[0]
    for name, entry in registry.options().items():
        if name.rpartition(".")[2] in used and entry.origin.target.partition(".")[0] == package:
            yield name, None


def _messages(wanted: Iterable[_Named], registry: Registry) -> tuple[OptionMessage, ...]:
    """Return messages with what is inside of them; each once. A message that is not declared is left out."""
    found: dict[str, OptionMessage] = {}
    for name, cls in wanted:
        entry = registry.option(name)
        options = cls if entry is None else entry.load()
        if is_attrs_options(options):
            messages = describe_class(options, None if entry is None else entry.number)
        elif options is not None:
            messages = describe_messages(options)
        else:
            continue
        for message in messages:
            found.setdefault(message.name, message)
    return tuple(found.values())
