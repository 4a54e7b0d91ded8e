"""What a calculator declares before anything runs: its ports, types, policy, services.

A contract is made once for each node when a graph is loaded, from the ports that the graph
connects. `Calculator.get_contract` fills it in; validation then compares it with the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from penstock.errors import InvalidArgumentError
from penstock.payload_types import PayloadType, is_any_payload, is_type, payload_type_names, payload_types_in
from penstock.port_collection import Ports
from penstock.port_tags import PortKey, port_id, port_name
from penstock.record import NamedTuple
from penstock.timestamp import check_offset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from penstock.port_tags import TagMap
    from penstock.services import ServiceKey
    from penstock.touches import SearchedPort, Touch

M = TypeVar("M")


class PortSpec:
    """What one port accepts. The last `set...` call wins; each returns the port, for chaining."""

    __slots__ = ("description", "index", "is_optional", "name", "same_as", "tag", "types")

    def __init__(self, tag: str = "", index: int = 0, name: str = "") -> None:
        #: `tag`, `index`: the port's place.
        self.tag = tag
        self.index = index
        #: The name of the connected stream or side packet; "" where nothing is connected.
        self.name = name
        #: The alternatives; (object,) for any; () while undeclared, or when same as another.
        self.types: tuple[PayloadType, ...] = ()
        #: The port whose type this one has, or None.
        self.same_as: PortSpec | None = None
        #: Whether a graph may leave the port unconnected.
        self.is_optional = False
        #: For people.
        self.description = ""

    def set(self, declared: PayloadType, description: str = "") -> PortSpec:
        """Accept payloads of a type: a class, an alias such as `list[int]`, or a union.

        Raises:
            InvalidArgumentError: `declared` is no type.
        """
        return self._declare((declared,), description)

    def set_any(self, description: str = "") -> PortSpec:
        """Accept payloads of every type: the stream has that of what is connected."""
        self.types = (object,)
        self.same_as = None
        self.description = description or self.description
        return self

    def set_one_of(self, *declared: PayloadType, description: str = "") -> PortSpec:
        """Accept payloads of any of several types.

        Raises:
            InvalidArgumentError: one of them is no type, or none is given.
        """
        if not declared:
            raise InvalidArgumentError(
                f"port {port_name(self.tag, self.index)}: the contract's set_one_of needs a type"
            )
        return self._declare(declared, description)

    def set_same_as(self, other: PortSpec, description: str = "") -> PortSpec:
        """Have the type of another port of this node, whatever it turns out to be."""
        root = other.root()
        if root is self:
            return self._declare((object,), description)
        self.types = ()
        self.same_as = root
        self.description = description or self.description
        return self

    def optional(self) -> PortSpec:
        """Let graphs leave this port unconnected."""
        self.is_optional = True
        return self

    def root(self) -> PortSpec:
        """Return the port at the end of the chain of `same_as`."""
        spec = self
        while spec.same_as is not None:
            spec = spec.same_as
        return spec

    def is_declared(self) -> bool:
        """Return whether the calculator said anything about this port's type."""
        return bool(self.types) or self.same_as is not None

    def is_any(self) -> bool:
        """Return whether every type is accepted."""
        return any(is_any_payload(member) for member in self.root().types)

    def type_name(self) -> str:
        """Return the type as a user should read it."""
        root = self.root()
        if not root.types:
            return "undeclared"
        return "any type" if root.is_any() else payload_type_names(root.types)

    def _declare(self, declared: tuple[PayloadType, ...], description: str) -> PortSpec:
        for kind in declared:
            if not is_type(kind):
                raise InvalidArgumentError(
                    f"port {port_name(self.tag, self.index)}: {kind!r} is no type for a contract; declare a "
                    "class, an alias such as list[int], or a union"
                )
        self.types = tuple(member for kind in declared for member in payload_types_in(kind))
        self.same_as = None
        self.description = description or self.description
        return self


class PortSpecs:
    """The ports of one kind: `specs[0]`, `specs["TAG"]`, `specs["TAG", 1]`.

    Asking for a port that the graph does not connect gives one that belongs to nothing; unless it
    is then made optional, validation reports it as missing.
    """

    __slots__ = ("_found", "_what", "items", "ports", "unconnected")

    def __init__(self, what: str, ports: TagMap) -> None:
        self._what = what
        #: What the graph connects.
        self.ports = ports
        #: The ports in id order.
        self.items = tuple([PortSpec(port.tag, port.index, port.name) for port in ports.ports])
        self._found: Ports[PortSpec] | None = None
        #: Ports that the calculator asked for and the graph does not connect.
        self.unconnected: dict[tuple[str, int], PortSpec] = {}

    @property
    def _ports(self) -> Ports[PortSpec]:
        """The ports by their keys, made when one is looked for."""
        if self._found is None:
            self._found = Ports(self._what, self.ports.ids(), self.items)
        return self._found

    def __getitem__(self, key: PortKey) -> PortSpec:
        if key in self._ports:
            return self._ports[key]
        tag, index = port_id(key)
        return self.unconnected.setdefault((tag, index), PortSpec(tag, index))

    def __contains__(self, key: object) -> bool:
        return key in self._ports

    def __iter__(self) -> Iterator[PortSpec]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def ids(self) -> tuple[tuple[str, int], ...]:
        """Return the (tag, index) of each connected port, in id order."""
        return self.ports.ids()

    def tags(self) -> tuple[str, ...]:
        """Return the tags of the connected ports, each once; "" where untagged ones exist."""
        return self._ports.tags()

    def count(self, tag: str = "") -> int:
        """Return how many connected ports have `tag`."""
        return self._ports.count(tag)


class HandlerRequest(NamedTuple):
    """The input stream handler that a calculator is written for, and its options message."""

    name: str
    options: Any = None


class Declared(NamedTuple):
    """What `declare` said of a calculator; None where it said nothing."""

    may_skip: bool | None = None
    stateless: bool | None = None
    is_live: bool | None = None
    cost: Literal["low", "high"] | None = None
    #: What it touches outside of the graph; None: it was not said.
    touches: tuple[Touch, ...] | None = None


#: What is declared of a calculator that has said nothing.
_NOTHING: Final = Declared()


class CalculatorContract:
    """What `get_contract` fills in. All ports that the graph connects must get a type."""

    # Here where they are not set: a graph makes one for each node, and most leave most of these as they are.
    #: See `set_timestamp_offset`; None where none was set.
    timestamp_offset: int | None = None
    #: See `set_process_timestamp_bounds`.
    process_timestamp_bounds = False
    #: See `declare`.
    declared = _NOTHING
    #: What `set_input_stream_handler` asked for, or None.
    input_stream_handler: HandlerRequest | None = None
    #: The service that `run_on` asked for, or None.
    runs_on: ServiceKey[Any] | None = None
    #: The argument of `run_on`.
    runs_if_there = False
    #: Where there; "" where it was not said.
    place = ""

    def __init__(  # noqa: PLR0913, PLR0917  # one for each kind of port
        self,
        node_name: str,
        inputs: TagMap,
        outputs: TagMap,
        input_side_packets: TagMap,
        output_side_packets: TagMap,
        options: Any,
    ) -> None:
        #: The node's canonical name.
        self.node_name = node_name
        #: `inputs`, `outputs`, `input_side_packets`, `output_side_packets`: the ports.
        self.inputs = PortSpecs("input", inputs)
        self.outputs = PortSpecs("output", outputs)
        self.input_side_packets = PortSpecs("input side packet", input_side_packets)
        self.output_side_packets = PortSpecs("output side packet", output_side_packets)
        self._options = options
        #: Key → whether it is optional.
        self.services: dict[ServiceKey[Any], bool] = {}

    def again(self, options: Any) -> CalculatorContract:
        """Return a contract of the same node in an equal graph, which is still to be filled in."""
        inputs, outputs, sides, made = [one.ports for one in self.ports()]
        return CalculatorContract(self.node_name, inputs, outputs, sides, made, options)

    def ports(self) -> tuple[PortSpecs, PortSpecs, PortSpecs, PortSpecs]:
        """Return the ports of each kind: inputs, outputs, input and output side packets."""
        return self.inputs, self.outputs, self.input_side_packets, self.output_side_packets

    def options(self, message_type: type[M]) -> M:
        """Return the node's options of a class, defaults where the graph gives none.

        Args:
            message_type: a protobuf message class, whose copy is yours, or an attrs class, whose instance
                is made once for each node.

        Raises:
            InvalidArgumentError: it is neither; or the attrs class refuses what the graph gives.
        """
        options: M = self._options.get(message_type)
        return options

    def has_options(self, message_type: type[Any]) -> bool:
        """Return whether the graph gives options of a class, were they empty.

        Raises:
            InvalidArgumentError: it is neither a protobuf message class nor an attrs class.
        """
        found: bool = self._options.has(message_type)
        return found

    def set_timestamp_offset(self, offset: int) -> None:
        """Promise that outputs come at or after the input's timestamp plus `offset` (microseconds).

        With it bounds flow through the node even when it emits nothing. A node with an offset
        cannot write in `close`.

        Raises:
            InvalidArgumentError: no int, or 2**61 and more in size.
        """
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise InvalidArgumentError(
                f"timestamp offset {offset!r} of the contract: must be an int (microseconds)"
            )
        check_offset(offset)
        self.timestamp_offset = int(offset)

    def set_process_timestamp_bounds(self, process: bool = True) -> None:  # noqa: FBT001, FBT002
        """Ask for `process` also at newly settled timestamps without any packet."""
        self.process_timestamp_bounds = bool(process)

    def declare(  # noqa: PLR0913  # keywords, each with a default
        self,
        *,
        may_skip: bool | None = None,
        stateless: bool | None = None,
        is_live: bool | None = None,
        cost: Literal["low", "high"] | None = None,
        reads: Iterable[str | PortSpec | SearchedPort] = (),
        writes: Iterable[str | PortSpec] = (),
        connects: Iterable[str | PortSpec] = (),
        devices: Iterable[str | PortSpec] = (),
        runs: Iterable[str | PortSpec] = (),
    ) -> None:
        """Say how the calculator behaves, for executors and for `penstock lint`. None leaves a thing unsaid.

        What it touches outside of the graph is a list of paths, addresses and names that its options say, and
        of ports whose payloads say them. It then has the service `penstock.access.ACCESS`, and opens what it
        touches through that. "" and ports that are not connected say nothing.

        Args:
            may_skip: whether a call may leave an output without a packet where the inputs have one.
            stateless: whether a call depends on nothing that earlier calls have left in the object. Then an
                executor may work with several objects of one node, where the graph says `max_in_flight`.
            is_live: whether it is a source whose packets come with real time and cannot wait: a camera.
            cost: "high": a call usually takes a millisecond or more, or waits for a device.
            reads: files that are read; `penstock.access.Searched` for a name that is searched in several
                places, `penstock.access.SearchedPort` for a port with such a name.
            writes: files that are written.
            connects: addresses, "HOST:PORT" or with a scheme.
            devices: names, such as "camera 0".
            runs: programs, and what else runs code.

        Raises:
            InvalidArgumentError: `cost` is another word; what is touched is neither a str nor a port.
        """
        if cost not in (None, "low", "high"):
            raise InvalidArgumentError(f"the contract's cost {cost!r}: must be 'low' or 'high'")
        before = self.declared
        self.declared = Declared(
            before.may_skip if may_skip is None else may_skip,
            before.stateless if stateless is None else stateless,
            before.is_live if is_live is None else is_live,
            before.cost if cost is None else cost,
            before.touches,
        )
        if reads or writes or connects or devices or runs:
            given = {"reads": reads, "writes": writes, "connects": connects, "devices": devices, "runs": runs}
            self._declare_touches(given)

    def _declare_touches(self, given: Mapping[str, Iterable[Any]]) -> None:
        from penstock.touches import touches  # few calculators touch anything

        places = (("side packet", self.input_side_packets), ("input", self.inputs))
        found = [touch for kind, some in given.items() for touch in touches(kind, some, places)]
        self.declared = self.declared._replace(touches=(*(self.declared.touches or ()), *found))

    def set_input_stream_handler(self, name: str, options: object = None) -> None:
        """Name the input stream handler that this calculator is written for."""
        self.input_stream_handler = HandlerRequest(name, options)

    def use_service(self, key: ServiceKey[Any], *, optional: bool = False) -> None:
        """Ask for a graph service; a run does not start without it unless it is optional."""
        self.services[key] = optional

    def run_on(self, key: ServiceKey[Any], place: str = "", *, if_there: bool = False) -> None:
        """Ask to run where a service says (its `executor_for(node)`); implies `use_service`.

        Args:
            key: of the service. Where it is optional and absent, the node runs on the executor that it
                has anyhow.
            place: which of the service's threads, where it has several; what it may be is for the
                service to say. "": the service chooses.
            if_there: asks for no service: the node runs there only where the application has set it, or
                another node uses it, and the graph names no executor for the node. For a node that works
                anywhere, and has neighbours there.
        """
        self.runs_if_there = if_there
        if not if_there:
            self.services.setdefault(key, False)
        self.runs_on = key
        self.place = place
