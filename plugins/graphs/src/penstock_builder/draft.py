"""`Draft`: nodes, streams and side packets of a graph that is being written."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from penstock.config.calculator_pb2 import CalculatorGraphConfig, ExecutorConfig
from penstock.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError
from penstock.packs import calculator_of_entry
from penstock.ports import is_name
from penstock_builder.interfaces import check_type, component
from penstock_builder.loops import LoopStream
from penstock_builder.names import Names
from penstock_builder.node import Node
from penstock_builder.node_options import set_extension
from penstock_builder.option_messages import as_message, messages_of
from penstock_builder.ports import PortTable, by_port
from penstock_builder.wires import SidePacket, Stream, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from penstock import Registry
    from penstock.types import PayloadType
    from penstock_builder.ports import Wires

W = TypeVar("W", bound=Wire)


class Draft:
    """A graph that is being written, without the ways in and out of a config; see `Graph`.

    A base class of `Graph` alone: `feedback`, `reading` and `writing` work on it, and `Graph` calls them.
    """

    #: Type of a thing that is no wire → how to get the wire that is meant.
    _hints: ClassVar[Mapping[type, str]] = {
        Node: "; take one of its outputs: .outputs['TAG'], .outputs[0] or .output"
    }

    def __init__(  # noqa: PLR0913  # each is a field of the config
        self,
        registry: Registry | None = None,
        *,
        max_queue_size: int = 0,
        num_threads: int = 0,
        report_deadlock: bool = False,
        package: str = "",
        type: str = "",  # noqa: A002  # the field's name
    ) -> None:
        if registry is None:
            from penstock.packs import default_registry  # loads the plugins

            registry = default_registry()
        self.registry = registry
        self.nodes: list[Node] = []
        self.settings: Any = CalculatorGraphConfig(
            max_queue_size=max_queue_size,
            num_threads=num_threads,
            report_deadlock=report_deadlock,
            package=package,
            type=type,
        )
        self.inputs = PortTable[Stream]("graph input")
        self.outputs = PortTable[Stream]("graph output")
        self.input_side_packets = PortTable[SidePacket]("graph input side packet")
        self.output_side_packets = PortTable[SidePacket]("graph output side packet")
        self.stream_names = Names[Stream]("stream")
        self.side_packet_names = Names[SidePacket]("side packet")
        self._prefix = ""

    # --- the graph's own streams and side packets ---------------------------------------------

    def input(self, name: str, type: PayloadType | None = None, *, tag: str = "") -> Stream:  # noqa: A002  # as contracts say
        """Return a new stream that the application writes.

        Args:
            name: of the stream.
            type: of its payloads, so that what reads it can be checked; the config does not keep it.
            tag: under which a graph that uses this one as a node connects it.

        Raises:
            InvalidArgumentError: the name or tag does not follow the grammar.
            AlreadyExistsError: the name is taken.
        """
        stream = Stream(self, declared=type)
        place = self.inputs.next_place(tag)
        self.stream_names.give(stream, self.prefixed(name))
        self.inputs.connect(place, stream)
        return stream

    def side_packet(self, name: str, type: PayloadType | None = None, *, tag: str = "") -> SidePacket:  # noqa: A002
        """Return a new side packet that the application gives. Arguments and errors as `input`."""
        side_packet = SidePacket(self, declared=type)
        place = self.input_side_packets.next_place(tag)
        self.side_packet_names.give(side_packet, self.prefixed(name))
        self.input_side_packets.connect(place, side_packet)
        return side_packet

    def output(self, stream: Stream, name: str | None = None, *, tag: str = "") -> Stream:
        """Make a stream one that the application reads; return it.

        Args:
            stream: of this graph, no loop.
            name: chosen for it; None keeps the one it has.
            tag: under which a graph that uses this one as a node connects it.

        Raises:
            InvalidArgumentError: it is no stream of this graph, or the name or tag is none.
            FailedPreconditionError: it was given another name before, or is a loop.
            AlreadyExistsError: the name is taken.
        """
        self.check_own(stream, Stream)
        if isinstance(stream, LoopStream):
            raise FailedPreconditionError(
                "a loop is no graph output of the builder's draft; take the stream that the loop is "
                "connected with"
            )
        place = self.outputs.next_place(tag)
        if name is not None:
            self.stream_names.give_once(stream, self.prefixed(name))
        self.outputs.connect(place, stream)
        return stream

    def output_side_packet(
        self, side_packet: SidePacket, name: str | None = None, *, tag: str = ""
    ) -> SidePacket:
        """Make a side packet one that the application reads. Arguments and errors as `output`."""
        self.check_own(side_packet, SidePacket)
        place = self.output_side_packets.next_place(tag)
        if name is not None:
            self.side_packet_names.give_once(side_packet, self.prefixed(name))
        self.output_side_packets.connect(place, side_packet)
        return side_packet

    # --- nodes --------------------------------------------------------------------------------

    def node(  # noqa: PLR0913  # each is a field of the config
        self,
        calculator: str | Callable[..., Any],
        inputs: Wires[Stream] = (),
        side_packets: Wires[SidePacket] = (),
        *,
        outputs: Mapping[Any, str] | None = None,
        name: str = "",
        executor: str = "",
        max_in_flight: int = 0,
        source_layer: int = 0,
        buffer_size_hint: int = 0,
        input_stream_handler: str = "",
        failure: Mapping[str, Any] | None = None,
        options: object = None,
        **option_fields: object,
    ) -> Node:
        """Add a node.

        Args:
            calculator: registered name of a calculator or subgraph; or a calculator, class or function,
                that is registered under its own name.
            inputs: port → stream; or one stream, or several in order, for inputs without a tag.
            side_packets: likewise, for its input side packets.
            outputs: port → name, for streams whose name matters. Others are connected by taking them:
                `node.outputs["TAG"]`.
            name: under the prefix that is in force; "" lets the node be called after its calculator.
            executor: that runs it.
            max_in_flight: calls of `process` that may run at once; 0 means 1.
            source_layer: sources of a lower one run dry first.
            buffer_size_hint: packets that each of the graph's queues holds at least; it is also their limit
                if `max_queue_size` is -1 and no hint is larger.
            input_stream_handler: registered name of the policy; see `Node.set_input_stream_handler`.
            failure: what happens when a call fails: arguments of `Node.set_failure_policy`, by name.
            options: an options message, or an instance of an attrs class.
            option_fields: of the calculator's options, by name: numbers, str, bool; a `dict` for
                a message, a list for what repeats. A field named as an argument goes through `options`.

        Raises:
            UnknownNameError: no such calculator or handler; says what is near and what to install.
            InvalidArgumentError: no such port or option, a type that does not agree, a stream of another
                graph.
            AlreadyExistsError: a name of `outputs` is taken.
            NameClashError, PluginError: the calculator cannot be used.
        """
        message = CalculatorGraphConfig.Node(
            calculator=self.registered(calculator),
            name=f"{self._prefix}{name}",
            executor=executor,
            max_in_flight=max_in_flight,
            source_layer=source_layer,
            buffer_size_hint=buffer_size_hint,
        )
        if self._prefix and not name:
            message.name += message.calculator.rpartition(".")[2]
        known = component(message.calculator, self.registry, self.settings.package)
        node = Node(self, message, known)
        if options is not None or option_fields:
            node.set_options(options, **option_fields)
        if input_stream_handler:
            node.set_input_stream_handler(input_stream_handler)
        if failure is not None:
            node.set_failure_policy(**failure)
        node.connect("inputs", by_port(inputs))
        node.connect("input_side_packets", by_port(side_packets))
        if outputs:
            node.name_outputs("outputs", outputs)
        self.nodes.append(node)
        return node

    @contextmanager
    def prefix(self, prefix: str) -> Iterator[None]:
        """Put a prefix before every name that is given or made inside of the `with`.

        Nodes, streams, side packets, those of the graph itself included; executors are shared. Prefixes
        inside of prefixes add up: "left__eye__frames".

        Raises:
            InvalidArgumentError: it does not follow the grammar of stream names.
        """
        if not is_name(prefix):
            raise InvalidArgumentError(
                f"prefix {prefix!r} of names in the builder's draft: must be lower case letters, digits and _"
            )
        outer = self._prefix
        self._prefix = f"{outer}{prefix}__"
        try:
            yield
        finally:
            self._prefix = outer

    # --- how it runs --------------------------------------------------------------------------

    def executor(self, name: str, type: str = "", options: object = None, **fields: object) -> str:  # noqa: A002
        """Declare an executor; return its name, for nodes.

        Args:
            name: "" for the default one.
            type: registered name; "" where the application hands the executor in.
            options: its options: a message, or an instance of an attrs class.
            fields: of that message, instead.

        Raises:
            AlreadyExistsError: the graph has an executor of that name.
            UnknownNameError: no such type.
            InvalidArgumentError: the options are not what they must be.
        """
        if any(one.name == name for one in self.settings.executor):
            raise AlreadyExistsError(f"executor {name!r} is in the builder's draft already")
        if type:
            self.registry.find("executor", type, self.settings.package)
        made = ExecutorConfig(name=name, type=type)
        self._write_options(made, "executor", type, options, fields, f"executor {name!r}")
        self.settings.executor.append(made)
        return name

    def set_input_stream_handler(self, name: str, options: object = None, **fields: object) -> None:
        """Choose the policy of nodes that name none. Arguments and errors as `Node`'s."""
        self.write_handler(self.settings.input_stream_handler, name, options, fields, "the graph")

    def __repr__(self) -> str:
        return f"<Graph of {len(self.nodes)} nodes>"

    # --- for nodes and wires ------------------------------------------------------------------

    def name_stream(self, stream: Stream, name: str) -> None:
        """Give a stream a chosen name; as `Stream.named`, which calls it."""
        self.stream_names.give(stream, self.prefixed(name))

    def name_side_packet(self, side_packet: SidePacket, name: str) -> None:
        """Give a side packet a chosen name; as `SidePacket.named`, which calls it."""
        self.side_packet_names.give(side_packet, self.prefixed(name))

    def prefixed(self, name: str) -> str:
        """Return a name under the prefix that is in force."""
        return f"{self._prefix}{name}"

    def check_own(self, wire: object, wanted: type[Wire]) -> None:
        """Accept a stream or side packet of this graph.

        Raises:
            InvalidArgumentError: it is something else, or of another graph.
        """
        if not isinstance(wire, wanted):
            given = (
                f"{wire.what} {wire.name!r}"
                if isinstance(wire, Wire)
                else f"a {type(wire).__name__}, {wire!r}"
            )
            raise InvalidArgumentError(f"{given} is no {wanted.what}{self._hints.get(type(wire), '')}")
        wire.check_graph(self)

    def check_readers(self, loop: Stream, stream: Stream) -> None:
        """Refuse a stream whose type a reader of a loop does not take.

        Raises:
            InvalidArgumentError: there is such a reader.
        """
        for node in self.nodes:
            for place, wire in node.table("inputs").items():
                if wire is loop:
                    check_type(node, "inputs", place, stream, node.contract)

    def write_handler(
        self,
        config: Any,
        name: str,
        options: object,
        fields: Mapping[str, object],
        who: str,
    ) -> None:
        """Write a choice of an input stream handler into its part of a config. Raises as `Node`'s method."""
        self.registry.find("input stream handler", name, self.settings.package)
        chosen = type(config)(input_stream_handler=name)
        who = f"{who}: input stream handler {name!r}"
        self._write_options(chosen, "input stream handler", name, options, fields, who)
        config.CopyFrom(chosen)

    def _write_options(  # noqa: PLR0913, PLR0917  # one component, and what it is given
        self,
        holder: Any,
        kind: str,
        name: str,
        options: object,
        fields: Mapping[str, object],
        who: str,
    ) -> None:
        messages = messages_of((kind, name), fields, self.registry, who)
        if options is not None:
            messages.insert(0, as_message(options, self.registry, who))
        for message in messages:
            set_extension(holder, message, who)

    def registered(self, calculator: str | Callable[..., Any]) -> str:
        """Return the registered name of a calculator. Raises as `node`."""
        if isinstance(calculator, str):
            return calculator
        made = calculator_of_entry(calculator)
        name = str(getattr(made, "__name__", ""))
        found = self.registry.has("calculator", name) and self.registry.find("calculator", name)
        if found is not made:
            raise InvalidArgumentError(
                f"the builder's draft: {calculator!r} is not registered under {name!r}; register it with "
                "penstock.register_calculator, and pass the name where it has another"
            )
        return name
