"""One node of a graph that is being written: its ports, its options, and how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.ports import port_name
from penstock_builder.interfaces import (
    KINDS,
    NOTHING_KNOWN,
    Component,
    check_ports,
    check_type,
    contract_with,
)
from penstock_builder.names import readable
from penstock_builder.node_options import set_node_options
from penstock_builder.option_messages import as_message, messages_of
from penstock_builder.ports import InputPorts, OutputPorts, PortTable, by_place, place_of
from penstock_builder.wires import FAILURES, Namer, SidePacket, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock import CalculatorContract, Registry
    from penstock.ports import PortKey
    from penstock_builder.interfaces import NewPorts, Place
    from penstock_builder.names import Names
    from penstock_builder.ports import ByPort
    from penstock_builder.wires import Wire


class Owner(Namer, Protocol):
    """What a node uses of the graph that it belongs to."""

    @property
    def registry(self) -> Registry:
        """Where names are looked up."""

    @property
    def stream_names(self) -> Names[Stream]:
        """The name of each stream of the graph."""

    @property
    def side_packet_names(self) -> Names[SidePacket]:
        """The name of each side packet of the graph."""

    def prefixed(self, name: str) -> str:
        """Return a name under the prefix that is in force."""

    def registered(self, calculator: str | Callable[..., Any]) -> str:
        """Return the registered name of a calculator."""

    def write_handler(
        self, config: Any, name: str, options: object, fields: Mapping[str, object], who: str
    ) -> None:
        """Write a choice of an input stream handler into its part of a config."""


class Node:
    """A calculator or subgraph in a graph. Made by `Graph.node`."""

    def __init__(self, graph: Owner, message: Any, component: Component = NOTHING_KNOWN) -> None:
        #: The `Graph` that it belongs to.
        self.graph = graph
        #: The node's part of the config, without its ports: fields without a name here may be set.
        self.message = message
        #: What its name stands for.
        self.component = component
        self._contract: CalculatorContract | None = None
        self._is_asked = False
        self._streams = PortTable[Stream](KINDS["inputs"][0]), PortTable[Stream](KINDS["outputs"][0])
        self._sides = (
            PortTable[SidePacket](KINDS["input_side_packets"][0]),
            PortTable[SidePacket](KINDS["output_side_packets"][0]),
        )
        #: `inputs`, `outputs`, `input_side_packets`, `output_side_packets`: its ports.
        self.inputs = InputPorts[Stream](self._streams[0], self._connect_stream)
        self.outputs = OutputPorts[Stream](self._streams[1], self._take_stream)
        self.input_side_packets = InputPorts[SidePacket](self._sides[0], self._connect_side)
        #: What `failures` returns, once it was asked for.
        self.error_stream: Stream | None = None
        self.output_side_packets = OutputPorts[SidePacket](self._sides[1], self._take_side)

    @property
    def calculator(self) -> str:
        """The registered name."""
        name: str = self.message.calculator
        return name

    @property
    def name(self) -> str:
        """The name that the node was given, with its prefix; "" for none."""
        name: str = self.message.name
        return name

    @property
    def who(self) -> str:
        """How errors name the node."""
        return f"node {self.name!r} ({self.calculator})" if self.name else f"node {self.calculator!r}"

    def __repr__(self) -> str:
        return f"<{self.who}>"

    @property
    def output(self) -> Stream:
        """The stream of the only output.

        Raises:
            InvalidArgumentError: the calculator has several, or none that is known.
        """
        places = {place for place, _ in self._streams[1].items()}
        if not places:
            places = self._possible_outputs()
        if len(places) != 1:
            listed = ", ".join(port_name(*place) for place in sorted(places)) or "not known"
            raise InvalidArgumentError(
                f"the builder's {self.who} has {len(places)} outputs ({listed}), so node.output does not say "
                "which; write node.outputs['TAG'] or node.outputs[0]",
                node=self.name or self.calculator,
            )
        return self.outputs[places.pop()]

    @property
    def failures(self) -> Stream:
        """The stream of the node's failures: `penstock_failures.Failure`s at the timestamps of its inputs.

        Raises:
            FailedPreconditionError: the node has no failure policy yet.
        """
        if not self.message.HasField("failure"):
            raise FailedPreconditionError(
                f"the builder's {self.who} has no failure policy; call the node's set_failure_policy first",
                node=self.name,
            )
        if self.error_stream is None:
            self.error_stream = Stream(self.graph, (self, FAILURES))
            self.graph.stream_names.make(self.error_stream, self._base(("FAILURES", 0)))
        return self.error_stream

    @property
    def contract(self) -> CalculatorContract | None:
        """What the calculator declares for the ports that are connected; None where it cannot be known."""
        if not self._is_asked:
            self._contract = contract_with(self, {})
            self._is_asked = True
        return self._contract

    def set_options(self, options: object = None, **fields: object) -> None:
        """Give options, which replace those of their type, and fields, which join those that are set.

        Args:
            options: a message, or an instance of an attrs class.
            fields: of the calculator's options.

        Raises:
            InvalidArgumentError: `options` is neither; there is no such field, or the value does not
                fit. Nothing changes.
        """
        registry = self.registry
        made = type(self.message)()
        made.CopyFrom(self.message)
        if options is not None:
            set_node_options(made, as_message(options, registry, self.who))
        for message in messages_of(("calculator", self.calculator), fields, registry, self.who, made):
            set_node_options(made, message)
        self.message.CopyFrom(made)
        self._is_asked = False

    def set_input_stream_handler(self, name: str, options: object = None, **fields: object) -> None:
        """Choose the policy that reads the inputs.

        Args:
            name: registered.
            options: the handler's options: a message, or an instance of an attrs class.
            fields: of that message, instead.

        Raises:
            UnknownNameError: no such handler; says what is near.
            InvalidArgumentError: as `set_options`. Nothing changes.
        """
        self.graph.write_handler(self.message.input_stream_handler, name, options, fields, self.who)

    def set_failure_policy(  # noqa: PLR0913  # each is a field of the config
        self,
        on_error: str = "FAIL",
        *,
        retry: int = 0,
        max_restarts: int = 0,
        within_s: int = 0,
        backoff_ms: int = 0,
        then: str = "FAIL",
        timeout_ms: int = 0,
        open_timeout_ms: int = 0,
        close_timeout_ms: int = 0,
        fallback: str | Callable[..., Any] = "",
        fallback_options: object = None,
    ) -> None:
        """Say what happens when a call of the calculator fails; `failures` is then the stream of them.

        Args:
            on_error: "FAIL", "SKIP", "RESTART" or "FALL_BACK".
            retry: how often a call is made again for one input set.
            max_restarts: new objects in any `within_s` seconds; 0 means 3.
            within_s: 0 means 60.
            backoff_ms: the first pause before a further try; it doubles with each failure that follows.
            then: what happens when no restart is left, or the fallback fails: "FAIL", "SKIP", "FALL_BACK".
            timeout_ms: of a call of process(), for nodes elsewhere and asynchronous ones; 0 for none.
            open_timeout_ms: of a call of open().
            close_timeout_ms: of a call of close().
            fallback: the calculator of FALL_BACK: registered name, class or function.
            fallback_options: its options: a message, or an instance of an attrs class.

        Raises:
            InvalidArgumentError: there is no such action, or `fallback_options` are no options. Nothing
                changes.
            UnknownNameError: `fallback` is not registered. Nothing changes.
        """
        made = type(self.message)()
        policy = made.failure
        policy.SetInParent()
        for field, action in (("on_error", on_error), ("then", then)):
            actions = policy.DESCRIPTOR.fields_by_name[field].enum_type.values_by_name
            if action not in actions:
                raise InvalidArgumentError(
                    f"the builder's {self.who}: {field} of the node's set_failure_policy is {action!r}, but "
                    f"must be one of {', '.join(actions)}"
                )
            setattr(policy, field, actions[action].number)
        policy.retry, policy.backoff_ms, policy.timeout_ms = retry, backoff_ms, timeout_ms
        policy.open_timeout_ms, policy.close_timeout_ms = open_timeout_ms, close_timeout_ms
        policy.max_restarts, policy.within_s = max_restarts, within_s
        if fallback:
            policy.fallback.calculator = self.graph.registered(fallback)
            self.registry.find("calculator", policy.fallback.calculator)
            if fallback_options is not None:
                set_node_options(policy.fallback, as_message(fallback_options, self.registry, self.who))
        self.message.failure.CopyFrom(policy)

    @property
    def registry(self) -> Registry:
        """Where names of the graph are looked up."""
        return self.graph.registry

    def wire_at(self, kind: str, place: Place) -> Wire | None:
        """Return what a port of one kind of `KINDS` is connected to."""
        wire: Wire | None = self.table(kind).get(place)
        return wire

    def table(self, kind: str) -> PortTable[Any]:
        """Return the ports of one kind of `KINDS`."""
        streams, sides = self._streams, self._sides
        if kind in ("inputs", "outputs"):
            return streams[kind == "outputs"]
        return sides[kind == "output_side_packets"]

    def connect(self, kind: str, wires: ByPort[Any]) -> None:
        """Connect inputs of one kind: all of them, or none where one is refused. See `InputPorts`."""
        table, wanted = self.table(kind), Stream if kind == "inputs" else SidePacket
        places = by_place(wires, table.what, self.who)
        for place, wire in places.items():
            self.graph.check_own(wire, wanted)
            table.check_free(place, self.who, self.name or self.calculator)
        contract = self._check_new({kind: list(places)})
        for place, wire in places.items():
            check_type(self, kind, place, wire, contract)
        for place, wire in places.items():
            table.connect(place, wire)
        self._is_asked = False

    def name_outputs(
        self, kind: str, names: Mapping[str, str] | Mapping[int, str] | Mapping[PortKey, str]
    ) -> None:
        """Connect outputs of one kind under chosen names: all of them, or none where one is refused."""
        places = {place_of(key): name for key, name in names.items()}
        self._check_new({kind: list(places)})
        taken: Any = self.graph.stream_names if kind == "outputs" else self.graph.side_packet_names
        full_names = [self.graph.prefixed(name) for name in names.values()]
        taken.check_all_free(full_names, self.who)
        for place, full_name in zip(places, full_names, strict=True):
            ports: Any = getattr(self, kind)
            taken.give(ports[place], full_name)

    # --- inside -------------------------------------------------------------------------------

    def _connect_stream(self, place: Place, stream: Stream) -> None:
        self.connect("inputs", {place: stream})

    def _connect_side(self, place: Place, side_packet: SidePacket) -> None:
        self.connect("input_side_packets", {place: side_packet})

    def _take_stream(self, place: Place) -> Stream:
        self._check_new({"outputs": [place]})
        stream = Stream(self.graph, (self, place))
        self.graph.stream_names.make(stream, self._base(place))
        self._streams[1].connect(place, stream)
        self._is_asked = False
        return stream

    def _take_side(self, place: Place) -> SidePacket:
        self._check_new({"output_side_packets": [place]})
        side_packet = SidePacket(self.graph, (self, place))
        self.graph.side_packet_names.make(side_packet, self._base(place))
        self._sides[1].connect(place, side_packet)
        self._is_asked = False
        return side_packet

    def _possible_outputs(self) -> set[Place]:
        """Return the outputs that `output` could mean while no output is connected."""
        if self.component.ports is not None:
            return set(self.component.ports["outputs"])
        contract = self.contract
        declared = (
            {}
            if contract is None
            else {place: spec for place, spec in contract.outputs.unconnected.items() if spec.is_declared()}
        )
        required = {place for place, spec in declared.items() if not spec.is_optional}
        if declared:
            return required if len(required) == 1 else set(declared)
        # Some contracts declare the connected ports alone: ask with the plainest output connected.
        plain = ("", 0)
        asked = contract_with(self, {"outputs": [plain]})
        return {plain} if asked is not None and asked.outputs[plain].is_declared() else set()

    def _base(self, place: Place) -> str:
        return readable(self.name or self.calculator, *place)

    def _check_new(self, new: NewPorts) -> CalculatorContract | None:
        contract = contract_with(self, new)
        check_ports(self, new, contract)
        return contract
