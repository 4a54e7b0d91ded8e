"""The ports of a calculator as data, from the contract that it fills in for a node of its example."""

from __future__ import annotations

import sys
import typing
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs

from penstock import CalculatorContract
from penstock.ports import TagMap, port_name
from penstock.types import payload_type_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.ports import PortSpec, PortSpecs

#: Attribute of a contract → what an error, and `same as`, call one such port.
KINDS: Final = {
    "inputs": "input",
    "outputs": "output",
    "input_side_packets": "input side packet",
    "output_side_packets": "output side packet",
}


class _Declares(Protocol):
    """The part of a calculator class that is used here."""

    def get_contract(self, cc: CalculatorContract) -> object: ...


@attrs.frozen
class NodePorts:
    """The ports of a node: entries as graph files have them, `"TAG:index:name"`, for each kind of `KINDS`."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    input_side_packets: tuple[str, ...] = ()
    output_side_packets: tuple[str, ...] = ()
    #: Has `get(MessageType)`.
    options: Any = None


@attrs.frozen
class PortInfo:
    """One port."""

    #: "" where it has none.
    tag: str
    #: Within the tag.
    index: int
    #: As a user reads it; "same as input 0" where it has that of another.
    type: str
    #: Whether a graph may leave it unconnected.
    optional: bool
    #: Whether more ports of the tag can be connected.
    repeats: bool = False
    #: The calculator's words on it, or "".
    description: str = ""

    @property
    def name(self) -> str:
        """The port as graph files write it: "TAG", `"TAG:1"`, or the index alone."""
        return port_name(self.tag, self.index).strip("'")


def contract_of(calculator: _Declares, name: str, node: NodePorts) -> CalculatorContract:
    """Return the contract that a calculator fills in for a node.

    Raises:
        PenstockError: the entries are no ports.
        Exception: whatever `get_contract` raises.
    """
    inputs, outputs, side_inputs, side_outputs = (TagMap(getattr(node, kind)) for kind in KINDS)
    contract = CalculatorContract(name, inputs, outputs, side_inputs, side_outputs, node.options)
    calculator.get_contract(contract)
    return contract


def describe_ports(
    calculator: _Declares, name: str, node: NodePorts
) -> tuple[CalculatorContract, Mapping[str, tuple[PortInfo, ...]]]:
    """Return the contract of a calculator, and kind of `KINDS` → its ports, those not connected too.

    Raises:
        PenstockError: the entries are no ports.
        Exception: whatever `get_contract` raises.
    """
    contract = contract_of(calculator, name, node)
    repeated = _Repeated(calculator, name, node)
    words = _names_of(contract)
    found: dict[str, tuple[PortInfo, ...]] = {}
    for kind in KINDS:
        specs: PortSpecs = getattr(contract, kind)
        all_specs = [*specs, *specs.unconnected.values()]
        all_specs.sort(key=lambda spec: (spec.tag, spec.index))
        last = {spec.tag: spec for spec in all_specs}
        found[kind] = tuple(
            _port(spec, words, repeats=spec is last[spec.tag] and repeated.has_more(kind, spec.tag))
            for spec in all_specs
        )
    return contract, found


def _names_of(contract: CalculatorContract) -> dict[int, str]:
    names = {}
    for kind, word in KINDS.items():
        specs: PortSpecs = getattr(contract, kind)
        for spec in (*specs, *specs.unconnected.values()):
            names[id(spec)] = f"{word} {port_name(spec.tag, spec.index)}".replace("'", "")
    return names


def _port(spec: PortSpec, words: Mapping[int, str], *, repeats: bool) -> PortInfo:
    root = spec.root()
    if root is not spec:
        kind = f"same as {words.get(id(root), 'another port')}"
    elif not spec.types:
        kind = "undeclared"
    else:
        kind = "any type" if spec.is_any() else " | ".join(map(type_words, spec.types))
    return PortInfo(spec.tag, spec.index, kind, spec.is_optional, repeats, spec.description)


def type_words(declared: object) -> str:
    """Return a declared type as one writes it that is imported from its package, not from its module."""
    arguments = typing.get_args(declared)
    if arguments:
        inner = ", ".join("..." if one is ... else type_words(one) for one in arguments)
        return f"{type_words(typing.get_origin(declared))}[{inner}]"
    if not isinstance(declared, type):
        return payload_type_name(declared)
    package, _, module = declared.__module__.partition(".")
    home = sys.modules.get(package)
    is_public = bool(module) and getattr(home, declared.__name__, None) is declared
    return f"{package}.{declared.__name__}" if is_public else payload_type_name(declared)


class _Repeated:
    """Finds out whether a calculator accepts one more port of a tag, by asking for its contract."""

    def __init__(self, calculator: _Declares, name: str, node: NodePorts) -> None:
        self._calculator = calculator
        self._name = name
        self._node = node
        self._maps = {kind: TagMap(getattr(node, kind)) for kind in KINDS}

    def has_more(self, kind: str, tag: str) -> bool:
        """Return whether one more port is taken: alone, or with one of each kind that has the tag."""
        if not self._count(kind, tag):
            return False
        with_tag = [other for other in KINDS if self._count(other, tag)]
        streams = [other for other in with_tag if other in ("inputs", "outputs")]
        return any(kind in kinds and self._takes(kinds, tag) for kinds in ([kind], streams, with_tag))

    def _count(self, kind: str, tag: str) -> int:
        return sum(port.tag == tag for port in self._maps[kind])

    def _takes(self, kinds: Iterable[str], tag: str) -> bool:
        more: dict[str, Any] = {kind: self._with_more(kind, tag) for kind in kinds}
        try:
            contract = contract_of(self._calculator, self._name, attrs.evolve(self._node, **more))
        except Exception:  # noqa: BLE001  # foreign code: whatever it raises, it does not accept that port
            return False
        return all(getattr(contract, kind)[tag, self._count(kind, tag)].is_declared() for kind in more)

    def _with_more(self, kind: str, tag: str) -> Sequence[str]:
        count = self._count(kind, tag)
        entries = tuple(
            f"{port.tag}:{port.index}:{port.name}" if port.tag else port.name for port in self._maps[kind]
        )
        return (*entries, f"{tag}:{count}:one_more" if tag else "one_more")
