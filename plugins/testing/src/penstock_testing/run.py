"""Run one calculator on given inputs, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from penstock import Calculator
from penstock.errors import InvalidArgumentError
from penstock.ports import PortKey, port_id
from penstock.types import attrs_name, is_attrs_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock import Packet, Registry

_NAME = "RunCalculatorTarget"


@attrs.frozen
class CalculatorRun:
    """The outputs of a calculator."""

    #: Port as given → its packets, in order.
    outputs: dict[PortKey, list[Packet]]
    #: Port as given → payload of the stream's header, or None.
    headers: dict[PortKey, Any]
    #: Port as given → payload, of those that were made.
    output_side_packets: dict[PortKey, Any]
    #: Counter → value, without the node's name.
    counters: dict[str, int]
    #: Reason → how many elements the calculator has cut from lists, of all inputs together.
    cuts: dict[str, int] = attrs.field(factory=dict)


class _HeaderProbe(Calculator):
    """Reads the header of a stream, which can be read inside of a graph only."""

    seen: Any = None

    @classmethod
    def get_contract(cls, cc: Any) -> None:
        for port in cc.inputs:
            port.set_any()
        cc.input_side_packets["SINK"].set(list)

    def open(self, cc: Any) -> None:
        cc.input_side_packets["SINK"].payload.append(cc.input.header.payload)

    def process(self, cc: Any) -> None:
        """Do nothing: packets are observed elsewhere."""


def run_calculator(  # noqa: PLR0913  # each is one thing that a node can have
    calculator: type[Calculator] | str,
    inputs: Mapping[PortKey, Iterable[Packet | tuple[int, object]]] | None = None,
    *,
    outputs: Iterable[PortKey] | None = None,
    options: object = None,
    side_packets: Mapping[PortKey, object] | None = None,
    headers: Mapping[PortKey, object] | None = None,
    output_side_packets: Iterable[PortKey] | None = None,
    registry: Registry | None = None,
    max_in_flight: int = 1,
    timeout: float = 60.0,
) -> CalculatorRun:
    """Run a calculator in a graph of its own, on the calling thread, and return its outputs.

    Inputs are fed in order of their timestamps, all packets of one timestamp before the run goes on;
    then they are closed.

    Args:
        calculator: the class, or a registered name.
        inputs: port → packets, or pairs of timestamp and payload. A port is an index, a "TAG", a
            `"TAG:1"` or a ("TAG", 1).
        outputs: the output ports to connect.
        options: an options message, or an instance of an attrs class.
        side_packets: port → payload.
        headers: input port → payload of the stream's header.
        output_side_packets: the output side packet ports to connect.
        registry: for names and option messages; None for the default one, or for an empty one where
            `calculator` is a class.
        max_in_flight: how many calls of `process` may overlap; above 1 they still take turns here.
        timeout: seconds after which a run that does not end is abandoned.

    Raises:
        GraphConfigError: the contract does not fit the ports, or side packets are missing.
        GraphRunError: the calculator failed, or wrote what its contract forbids.
        WaitTimeoutError: the run did not end; says why.
    """
    from penstock import CalculatorGraph  # brings config
    from penstock_testing.registry import testing_registry

    base = registry if registry is not None else _registry_for(calculator, testing_registry())
    own = base.child()
    if isinstance(calculator, str):
        name = calculator
    else:
        name = calculator.__name__
        own.add("calculator", name, calculator)
    own.add("calculator", "HeaderProbe", _HeaderProbe)
    ports_in = {key: _port(key, f"in_{i}") for i, key in enumerate(inputs or {})}
    ports_out = {key: _port(key, f"out_{i}") for i, key in enumerate(outputs or ())}
    sides_in = {key: _port(key, f"side_{i}") for i, key in enumerate(side_packets or {})}
    sides_out = {key: _port(key, f"made_{i}") for i, key in enumerate(output_side_packets or ())}
    sinks: dict[str, list[Any]] = {_stream(port): [] for port in ports_out.values()}
    options = as_message(options, own)
    config = _config(name, ports_in, ports_out, sides_in, sides_out, options, max_in_flight)
    given = {_stream(sides_in[key]): value for key, value in (side_packets or {}).items()}
    given.update({f"sink_{stream}": sink for stream, sink in sinks.items()})
    graph = CalculatorGraph(config, side_packets=given, registry=own)
    graph.set_executor("", _inline())
    seen: dict[str, list[Packet]] = {stream: [] for stream in sinks}
    for stream in seen:
        graph.observe_output_stream(stream, lambda name, packet: seen[name].append(packet))
    graph.start_run(stream_headers={_stream(ports_in[k]): v for k, v in (headers or {}).items()})
    try:
        _feed(graph, {_stream(ports_in[key]): value for key, value in (inputs or {}).items()}, timeout)
        graph.close_all_input_streams()
        graph.wait_until_done(timeout)
    except BaseException:
        _abandon(graph, timeout)
        raise
    return CalculatorRun(
        outputs={key: seen[_stream(port)] for key, port in ports_out.items()},
        headers={key: next(iter(sinks[_stream(port)]), None) for key, port in ports_out.items()},
        output_side_packets=_made(graph, sides_out),
        counters={key.removeprefix(f"{name}-"): value for key, value in graph.counters.items()},
        cuts=_cuts(graph),
    )


def _feed(graph: Any, inputs: Mapping[str, Iterable[Packet | tuple[int, object]]], timeout: float) -> None:
    from penstock.functions import Feed, feed_packet

    packets = {
        stream: sorted((feed_packet(stream, n, item) for n, item in enumerate(items)), key=lambda p: p.stamp)
        for stream, items in inputs.items()
    }
    Feed(graph, packets, promises=False, paced=True, left=lambda: timeout).run()


def _cuts(graph: Any) -> dict[str, int]:
    cuts: dict[str, int] = {}
    for cut in graph.ledger().cuts:
        cuts[cut.reason] = cuts.get(cut.reason, 0) + cut.count
    return cuts


def _abandon(graph: Any, timeout: float) -> None:
    """End a run whose error is already on its way to the caller."""
    from penstock.errors import GraphRunError

    graph.cancel()
    try:
        graph.wait_until_done(timeout)
    except GraphRunError:
        return


def _made(graph: Any, ports: Mapping[PortKey, str]) -> dict[PortKey, Any]:
    from penstock.errors import UnavailableError

    made: dict[PortKey, Any] = {}
    for key, port in ports.items():
        try:
            made[key] = graph.get_output_side_packet(_stream(port)).payload
        except UnavailableError:
            continue
    return made


def _port(key: PortKey, name: str) -> str:
    """Return the config entry of a port: `"TAG:1:name"`, or for an untagged one just the name."""
    if isinstance(key, str):
        if key in ("", ":0"):
            return name
        return f"{key}:{name}" if ":" in key else f"{key}:0:{name}"
    tag, index = port_id(key)
    return f"{tag}:{index}:{name}" if tag else name


def _stream(port: str) -> str:
    return port.rpartition(":")[2]


def _untagged_in_order(ports: Mapping[PortKey, str]) -> list[str]:
    indexes = [key for key in ports if isinstance(key, int)]
    if indexes != sorted(indexes):
        raise InvalidArgumentError(
            f"run_calculator: ports {indexes} without a tag must be given in ascending order"
        )
    return list(ports.values())


def _config(  # noqa: PLR0913, PLR0917  # the parts of a node
    name: str,
    inputs: Mapping[PortKey, str],
    outputs: Mapping[PortKey, str],
    sides_in: Mapping[PortKey, str],
    sides_out: Mapping[PortKey, str],
    options: object,
    max_in_flight: int,
) -> Any:
    from penstock.config import CalculatorGraphConfig  # brings protobuf

    config = CalculatorGraphConfig(input_stream=[_stream(port) for port in inputs.values()])
    node = config.node.add(
        calculator=name,
        input_stream=_untagged_in_order(inputs),
        output_stream=_untagged_in_order(outputs),
        input_side_packet=_untagged_in_order(sides_in),
        output_side_packet=_untagged_in_order(sides_out),
        max_in_flight=max_in_flight,
    )
    if options is not None:
        set_options(node, options)
    for port in outputs.values():
        stream = _stream(port)
        config.node.add(
            calculator="HeaderProbe", input_stream=[stream], input_side_packet=[f"SINK:sink_{stream}"]
        )
    return config


def as_message(options: object, registry: Registry) -> object:
    """Return options as a message; the class of an attrs instance is declared where it is not yet."""
    if not is_attrs_options(type(options)):
        return options
    from penstock.types import message_class  # brings protobuf
    from penstock_builder.api import message_of

    cls = type(options)
    registry.add_option(attrs_name(cls), None, None, cls)
    return message_of(options, message_class(cls)())


def set_options(node: Any, options: Any) -> None:
    """Give a node its options: by their extension of CalculatorOptions, else as a packed message."""
    for field in type(options).DESCRIPTOR.extensions:
        if field.containing_type == type(node.options).DESCRIPTOR:
            node.options.Extensions[getattr(type(options), field.name)].CopyFrom(options)
            return
    node.node_options.add().Pack(options)


def _registry_for(calculator: type[Calculator] | str, bare: Registry) -> Registry:
    if not isinstance(calculator, str):
        return bare
    from penstock.packs import default_registry  # loads the plugins

    return default_registry()


def _inline() -> object:
    from penstock_testing.inline import InlineExecutor

    return InlineExecutor()
