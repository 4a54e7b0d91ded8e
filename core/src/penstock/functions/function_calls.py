"""The calculator classes behind decorated functions: one for each form of call.

Invariant: which form a definition needs is decided once, when it is decorated; a step looks up
nothing by name. `Plain` exists beside `Called` because most functions have one input and one output.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.engine.calculator import Calculator, CalculatorContext
from penstock.engine.outcome import STOP
from penstock.engine.packet import NO_PAYLOAD, Packet
from penstock.errors import InvalidArgumentError
from penstock.functions.definition import Definition, keys_of
from penstock.functions.parameters import REQUIRED
from penstock.functions.result_annotations import Timing
from penstock.timestamp import Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.contract import CalculatorContract
    from penstock.engine.outcome import Outcome, Stop

#: For `graph.snapshot()`: a call stands in the function, not in this module's method.
__penstock_calls_functions__: Final = True
#: Why the ledger counts packets as dropped.
INCOMPLETE: Final = "another required input has no packet at this timestamp"
_END: Final = object()
_PAIR: Final = 2


def make(definition: Definition) -> type[Calculator]:
    """Return the calculator class of a definition."""
    form = _form(definition)
    target = definition.target
    return type(
        definition.name,
        (form,),
        {
            "__doc__": target.__doc__,
            "__module__": target.__module__,
            "__qualname__": f"{target.__qualname__}.calculator",
            "definition": definition,
            "Options": definition.options,
        },
    )


def _form(definition: Definition) -> type[Made]:
    results = definition.results
    if results.side is not None:
        return AsyncSideMaker if definition.is_async else SideMaker
    if not definition.parameters.inputs:
        return AsyncSource if results.is_async else Source
    if definition.is_async:
        return AsyncCalled
    only = definition.parameters.inputs[0]
    is_plain = (
        len(definition.parameters.inputs) == len(results.outputs) == 1
        and not definition.parameters.extras
        and not results.is_fields
        and not only.is_optional
    )
    return Plain if is_plain else Called


class Made(Calculator):
    """What all forms have in common: the contract, and the call with what a run gives by name.

    A class is instantiated in `open`, when its side packets are there.
    """

    definition: ClassVar[Definition]

    def __init__(self) -> None:
        self._instance: Any = None
        self._call: Callable[..., Any]

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare what the annotations say."""
        cls.definition.declare(cc)

    def open(self, cc: CalculatorContext) -> Outcome:
        """Find the ports, instantiate the class, and call its `open`."""
        definition = self.definition
        call: Callable[..., Any] = definition.target
        if definition.is_class:
            self._instance = call(**definition.given(cc, definition.own))
            call = self._instance.process
        by_name = definition.given(cc, definition.parameters)
        self._call = partial(call, **by_name) if by_name else call
        self._find_ports(cc)
        opening = getattr(self._instance, "open", None)
        outcome: Outcome = None if opening is None else opening(cc)
        return outcome

    def close(self, cc: CalculatorContext) -> Outcome:
        """Call the class's `close`."""
        closing = getattr(self._instance, "close", None)
        outcome: Outcome = None if closing is None else closing(cc)
        return outcome

    def _find_ports(self, cc: CalculatorContext) -> None:
        """Find the connected ports; do nothing where they are known."""


class Plain(Made):
    """One required input, one output: both are connected, and the only ones."""

    def process(self, cc: CalculatorContext) -> Outcome:
        """Call the function with the payload, and write what it returns."""
        value = cc.inputs.items[0].packet.value
        if value is NO_PAYLOAD:
            return None
        result: object = self._call(value)
        if result is None:
            return None
        if result is STOP:
            return STOP
        cc.outputs.items[0].add_packet(Packet(result, cc.stamp))
        return None


class _Writing(Made):
    """Writes to whichever outputs are connected."""

    def _find_ports(self, cc: CalculatorContext) -> None:
        results = self.definition.results
        keys = keys_of(cc.outputs, [output.tag for output in results.outputs])
        ports = list(cc.outputs)
        #: Position of the field (None for the whole value), and of the port in the context.
        self._writes: list[tuple[int | None, int]] = [
            (field if results.is_fields else None, ports.index(cc.outputs[key]))
            for field, key in enumerate(keys)
            if key in cc.outputs
        ]

    def _write(self, cc: CalculatorContext, result: Any, stamp: int) -> Stop | None:
        """Write what a call returned; None writes nothing."""
        if result is None:
            return None
        if result is STOP:
            stop: Stop = result
            return stop
        for field, port in self._writes:
            value = result if field is None else result[field]
            if value is not None:
                cc.outputs.items[port].add_packet(Packet(value, stamp))
        return None


class Called(_Writing):
    """Any number of inputs and outputs."""

    def process(self, cc: CalculatorContext) -> Outcome:
        """Call the function with the payloads, unless a required one is missing."""
        arguments = self._arguments(cc)
        if arguments is None:
            return None
        return self._write(cc, self._call(*arguments), cc.stamp)

    def _find_ports(self, cc: CalculatorContext) -> None:
        super()._find_ports(cc)
        parameters = self.definition.parameters
        keys = keys_of(cc.inputs, [parameter.tag for parameter in parameters.inputs])
        ports = list(cc.inputs)
        #: Position of the port in the context (None for none), and what is given without a packet.
        self._reads: list[tuple[int | None, object]] = [
            (ports.index(cc.inputs[key]) if key in cc.inputs else None, parameter.default)
            for key, parameter in zip(keys, parameters.inputs, strict=True)
        ]
        self._extras: tuple[tuple[int, type], ...] = parameters.extras

    def _arguments(self, cc: CalculatorContext) -> list[Any] | None:
        """Return the arguments of the function; None where a required packet is missing."""
        ports = cc.inputs.items
        arguments: list[Any] = []
        for port, default in self._reads:
            value = NO_PAYLOAD if port is None else ports[port].packet.value
            if value is NO_PAYLOAD:
                if default is REQUIRED:
                    _give_up(cc)
                    return None
                value = default
            arguments.append(value)
        for position, kind in self._extras:
            arguments.insert(position, Timestamp.of(cc.stamp) if kind is Timestamp else cc)
        return arguments


class AsyncCalled(Called):
    """A function that is awaited."""

    async def process(self, cc: CalculatorContext) -> Stop | None:
        """Await the function, unless a required input is missing."""
        arguments = self._arguments(cc)
        if arguments is None:
            return None
        return self._write(cc, await self._call(*arguments), cc.stamp)


class _Items(_Writing):
    """Writes the items of a source, at timestamps as the annotation says."""

    def __init__(self) -> None:
        super().__init__()
        self._items: Any = None
        self._running = 0

    def _write_item(self, cc: CalculatorContext, item: Any) -> Stop | None:
        timing = self.definition.results.timing
        if timing is Timing.PACKETS:
            if not isinstance(item, Packet):
                raise InvalidArgumentError(
                    f"a call of {self.definition.target.__qualname__}, a function that yields packets, gave "
                    f"{item!r}"
                )
            cc.output.add_packet(item)
            return None
        if timing is Timing.RUNNING:
            stamp, value = self._running, item
            self._running += 1
        else:
            if not (isinstance(item, tuple) and len(item) == _PAIR):
                who = self.definition.target.__qualname__
                raise InvalidArgumentError(
                    f"a call of {who}, a function that yields pairs of timestamp and value, gave {item!r}"
                )
            stamp, value = item
        outcome = self._write(cc, value, stamp)
        following = Timestamp(stamp).next_allowed_in_stream()
        for output in cc.outputs:
            if output.bound < following and not output.is_closed():
                output.set_next_timestamp_bound(following)
        return outcome


class Source(_Items):
    """A generator."""

    def process(self, cc: CalculatorContext) -> Outcome:
        """Take one item and write it; the end of the items is the end of the source."""
        if self._items is None:
            self._items = iter(self._call())
        item = next(self._items, _END)
        return STOP if item is _END else self._write_item(cc, item)

    def close(self, cc: CalculatorContext) -> Outcome:
        """Let the generator leave its `finally` and `with` blocks."""
        closing = getattr(self._items, "close", None)
        if closing is not None:
            closing()
        return super().close(cc)


class AsyncSource(_Items):
    """An async generator."""

    async def process(self, cc: CalculatorContext) -> Stop | None:
        """Await one item and write it; the end of the items is the end of the source."""
        if self._items is None:
            self._items = aiter(self._call())
        item = await anext(self._items, _END)
        return STOP if item is _END else self._write_item(cc, item)

    async def close(self, cc: CalculatorContext) -> None:
        """Let the generator leave its `finally` and `with` blocks."""
        closing = getattr(self._items, "aclose", None)
        if closing is not None:
            await closing()
        outcome = super().close(cc)
        if inspect.isawaitable(outcome):
            await outcome


class SideMaker(Made):
    """Called once in a run, in `open`; what it returns is the side packet."""

    def open(self, cc: CalculatorContext) -> Outcome:
        """Make the side packet."""
        super().open(cc)
        _set_side(cc, self._call())
        return None


class AsyncSideMaker(Made):
    """As `SideMaker`, awaited."""

    async def open(self, cc: CalculatorContext) -> None:
        """Make the side packet."""
        super().open(cc)
        _set_side(cc, await self._call())


def _set_side(cc: CalculatorContext, value: object) -> None:
    (port,) = cc.output_side_packets
    if value is None:
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: the call of its function made None of side packet {port.name!r}; "
            "return a value"
        )
    port.set(value)


def _give_up(cc: CalculatorContext) -> None:
    """Count the packets that came without a required one."""
    for port in cc.inputs.items:
        if not port.is_empty():
            port.count_dropped(INCOMPLETE)
