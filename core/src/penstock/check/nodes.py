"""The checks of each node alone: its ports, its calculator, and whether its contract fits the ports.

A node with a fault stays in the graph as one whose ports take anything, so that the nodes connected with it
can still be checked.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from penstock.check.asking import ASYNC, CLASSES, CONTRACT, TOUCH, ask_contract
from penstock.check.faults import cause_words
from penstock.contract import CalculatorContract
from penstock.errors import OptionError, PenstockError, StatusCode, code_of
from penstock.near_names import did_you_mean, near_names
from penstock.port_tags import TagMap, parse_tag_index, parse_tag_index_name, port_name
from penstock.shown import clipped, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.check.faults import Faults
    from penstock.check.name_lookups import Names
    from penstock.check.spec import NodeSpec, Text
    from penstock.contract import PortSpec, PortSpecs
    from penstock.plan import FailurePlan
    from penstock.port_tags import TaggedPort

_NO_PORTS: Final = TagMap(())

_INSTEAD: Final = {"external_input": "is the old name of input_side_packet; rename the field"}

#: Kinds of ports: attribute of the draft and the contract → field of the file, and the word for one.
_KINDS: Final = {
    "inputs": ("input_stream", "input"),
    "outputs": ("output_stream", "output"),
    "input_side_packets": ("input_side_packet", "input side packet"),
    "output_side_packets": ("output_side_packet", "output side packet"),
}


class Draft:
    """A node while it is checked; it notes its own faults."""

    def __init__(self, spec: NodeSpec, name: str, names: Names) -> None:
        self.spec: Final = spec
        #: Canonical.
        self.name: Final = name
        self._names = names
        self._faults = names.faults
        #: The calculator class, or None where there is a fault.
        self.factory: Any = None
        #: Whether the contract is the calculator's own.
        self.is_whole = False
        #: Positions in `inputs` that close a cycle.
        self.back_edges: frozenset[int] = frozenset()
        #: See `NodePlan.failure`.
        self.failure: FailurePlan | None = None
        #: `error_streams`, `error_ports`: the stream that carries its failures, and its type; empty without
        #: one.
        self.error_streams = _NO_PORTS
        self.error_ports: list[PortSpec] = []
        inputs, inputs_right = self._ports(spec.input_streams, "input_stream")
        outputs, outputs_right = self._ports(spec.output_streams, "output_stream")
        side_inputs, side_inputs_right = self._ports(spec.input_side_packets, "input_side_packet")
        side_outputs, side_outputs_right = self._ports(spec.output_side_packets, "output_side_packet")
        #: `inputs`, `outputs`, `input_side_packets`, `output_side_packets`: the ports that the file connects.
        self.inputs, self.outputs = inputs, outputs
        self.input_side_packets, self.output_side_packets = side_inputs, side_outputs
        ports = (inputs, outputs, side_inputs, side_outputs)
        #: Filled in by the calculator; where that failed, every port takes anything.
        self.contract = CalculatorContract(name, *ports, spec.options)
        self._fields()
        if spec.input_stream_info and inputs_right:
            self.back_edges = self._back_edges(inputs)
        self.factory = self._calculator()
        are_right = inputs_right and outputs_right and side_inputs_right and side_outputs_right
        if self.factory is not None and are_right and spec.at not in self._faults.unread:
            self.is_whole = self._fills_in() and self._fits()
            if spec.options.are_given():
                self._own_options()
        if not self.is_whole:
            self.contract = _open_contract(CalculatorContract(name, *ports, spec.options))

    @property
    def who(self) -> str:
        """How messages name the node: "node 'crop' (ImageCroppingCalculator)"."""
        return who(self.name, self.spec.calculator.text)

    @property
    def is_source(self) -> bool:
        """Whether the node writes streams and reads none."""
        return bool(self.outputs) and not self.inputs

    def _ports(self, entries: Sequence[Text], field: str) -> tuple[TagMap, bool]:
        return tag_map(entries, self._faults, field, self.name, self) if entries else (_NO_PORTS, True)

    def _fault(
        self,
        at: int,
        words: str,
        code: StatusCode = StatusCode.INVALID_ARGUMENT,
        stream: str | None = None,
        cause: BaseException | None = None,
    ) -> None:
        self._faults.add(at, f"{self.who}: {words}", code=code, node=self.name, stream=stream, cause=cause)

    # --- what the file says ---------------------------------------------------------------------

    def _fields(self) -> None:
        spec = self.spec
        for field in spec.refused:
            self._fault(field.at, f"{field.text} {_INSTEAD[field.text]}", StatusCode.UNIMPLEMENTED)
        for repeated in spec.repeated_options:
            words = f"node_options has {quoted(repeated.text)} more than once; merge them"
            self._fault(repeated.at, words, StatusCode.INTERNAL)
        if spec.max_in_flight.value < 0:
            words = f"max_in_flight {spec.max_in_flight.value}: must be 1 or more, or 0 for 1"
            self._fault(spec.max_in_flight.at, words)

    def _back_edges(self, inputs: TagMap) -> frozenset[int]:
        position = {place: i for i, place in enumerate(inputs.ids())}
        seen = set[tuple[str, int]]()
        back = set[int]()
        for info in self.spec.input_stream_info:
            try:
                place = parse_tag_index(info.tag_index)
            except PenstockError as error:
                self._fault(info.at, f"input_stream_info: tag_index {error}", error.code, cause=error)
                continue
            if place not in position:
                spelled = {f"{tag}:{index}" if index else tag: (tag, index) for tag, index in position}
                meant = near_names(info.tag_index, spelled)
                if meant and info.back_edge:  # else its cycle would be a second fault
                    back.add(position[spelled[meant[0]]])
                connected = ", ".join(port_name(*one) for one in position) or "none"
                words = f"tag_index {quoted(info.tag_index)} is no input of this node"
                words += f"{did_you_mean(info.tag_index, spelled)}; its inputs are: {connected}"
                self._fault(info.at, f"input_stream_info: {words}")
            elif place in seen:
                words = f"input {port_name(*place)} has more than one; merge them"
                self._fault(info.at, f"input_stream_info: {words}")
            elif info.back_edge:
                back.add(position[place])
            seen.add(place)
        return frozenset(back)

    # --- what the calculator says ---------------------------------------------------------------

    def _calculator(self) -> Any:
        name = self.spec.calculator
        known = self._names.calculators.get(name.text)
        if known is not None:
            return known
        if not name.text:
            self._fault(name.at, 'has no calculator; add calculator: "Name"')
            return None
        if self._names.is_subgraph(name.text):
            # A node that `expand` could not replace; the fault is noted already.
            return None
        found = self._names.find("calculator", name.text, name.at, f"{self.who}: ", self.name)
        if found is not None and not callable(getattr(found, "get_contract", None)):
            words = f"{found!r} is no calculator: it has no get_contract"
            self._fault(name.at, f"{words}; subclass penstock.Calculator")
            return None
        self._names.calculators[name.text] = found
        return found

    def _own_options(self) -> None:
        """Refuse options that another calculator reads, and this one does not."""
        given = self.spec.options.names()
        if not given or not isinstance(self.factory, type):
            return
        short = self.spec.calculator.text.rpartition(".")[2]
        others = [name for name in given if name.rpartition(".")[2] != f"{short}Options"]
        if not others:
            return
        from penstock.check.foreign_options import foreign_options  # few nodes have such options

        self._names.is_settled = False  # the answer depends on the modules that are imported

        found = foreign_options(others, self.factory, self._names.registry)
        if found is not None:
            at = self.spec.option_places.at(found[0], ())
            words = (
                f"{quoted(found[0])} are options of {found[1]}, and {short} does not read them; take them out"
            )
            self._fault(at, words, cause=None)

    def _fills_in(self) -> bool:
        """Let the calculator fill in its contract; return whether it could."""
        could = True
        for asked, error in ask_contract(self.factory, self.spec.options, self.contract):
            at = self.spec.calculator.at if asked == CLASSES else self.spec.at
            if isinstance(error, OptionError):
                at = self.spec.option_places.at(error.options, error.path)
            if asked == ASYNC:
                words = "get_contract() is async; declare it as a plain classmethod"
            elif asked == CONTRACT:
                words = f"get_contract() failed: {cause_words(error)}"
                if _is_of_instances(self.factory) and not isinstance(error, OptionError):
                    words += "; write @classmethod above it"
            else:
                words = str(error)
            code = StatusCode.INVALID_ARGUMENT if error is None else code_of(error)
            self._fault(at, words, code, cause=error)
            could = could and asked == TOUCH  # a node that may not touch something is whole all the same
        return could

    def _fits(self) -> bool:
        """Compare what the calculator declares with what the file connects."""
        kinds = self.contract.ports()
        undeclared = [one for specs in kinds for one in specs.items if not (one.types or one.same_as)]
        if not undeclared and not [specs for specs in kinds if specs.unconnected]:  # as nearly always
            return True
        fits = True
        for specs, (attribute, (field, word)) in zip(kinds, _KINDS.items(), strict=True):
            entries: Sequence[Text] = getattr(self.spec, f"{field}s")
            ports = zip(getattr(self, attribute), specs, strict=True)
            unknown = [port for port, spec in ports if not spec.is_declared()]
            missing = [place for place, spec in specs.unconnected.items() if not spec.is_optional]
            meant = _meant(unknown, specs, missing)
            for port in unknown:
                words = f"has no {word} {port_name(port.tag, port.index)}"
                if port in meant:  # one slip is one fault
                    words += f' (did you mean "{_entry(*meant[port], port.name)}"?)'
                words = f"{words}; {_declared_words(specs, word)}"
                self._fault(entries[port.entry].at, words, stream=port.name)
            missing = [place for place in missing if place not in meant.values()]
            for tag, index in missing:
                words = f"needs {word} {port_name(tag, index)}, but nothing is connected to it"
                words += f'; add {field}: "{_entry(tag, index, "name")}"'
                self._fault(self.spec.calculator.at, words)
            fits = fits and not unknown and not missing
        return fits


def who(name: str, calculator: str) -> str:
    """Return how messages name a node."""
    return f"node {quoted(name)}" if name == calculator else f"node {quoted(name)} ({clipped(calculator)})"


def numbered_nodes(bases: Sequence[str]) -> list[str]:
    """Return each name, those that occur more than once with "_1", "_2" and so on after them."""
    count: dict[str, int] = {}
    for base in bases:
        count[base] = count.get(base, 0) + 1
    given = {base for base in bases if count[base] == 1}
    last: dict[str, int] = {}
    names = []
    for base in bases:
        name = base
        while count[base] > 1 and (name == base or name in given):
            last[base] = last.get(base, 0) + 1
            name = f"{base}_{last[base]}"
        names.append(name)
    return names


def tag_map(
    entries: Sequence[Text], faults: Faults, what: str, node: str | None = None, draft: Draft | None = None
) -> tuple[TagMap, bool]:
    """Return the ports of one list of the file, and whether it is right.

    Where it is not, the faults are noted, and the ports are those names that can be read. Messages begin
    with the draft, where there is one, and with `what`.
    """
    if not entries:
        return _NO_PORTS, True
    try:
        return TagMap([entry.text for entry in entries]), True
    except PenstockError as error:
        whole = error
    prefix = what if draft is None else f"{draft.who}: {what}"
    readable = []
    for entry in entries:
        try:
            readable.append(parse_tag_index_name(entry.text)[2])
        except PenstockError as error:
            faults.add(entry.at, f"{prefix}: {error}", code=error.code, node=node, cause=error)
    if len(readable) == len(entries):
        faults.add(entries[0].at, f"{prefix}: {whole}", code=whole.code, node=node, cause=whole)
    return TagMap(readable), False


def _declared_words(specs: PortSpecs, word: str) -> str:
    known = [(spec.tag, spec.index) for spec in specs if spec.is_declared()]
    known += [place for place, spec in specs.unconnected.items() if spec.is_declared()]
    listed = ", ".join(port_name(*place) for place in sorted(known))
    return f"its {word}s are: {listed}" if listed else f"it has no {word}s"


def _meant(
    unknown: Iterable[TaggedPort], specs: PortSpecs, missing: Iterable[tuple[str, int]]
) -> dict[TaggedPort, tuple[str, int]]:
    """Return the port that each unknown one may mean: one of a similar tag, else one that is missing."""
    free = {place[0]: place for place, spec in reversed(specs.unconnected.items()) if spec.is_declared()}
    near = {port: free[tag] for port in unknown for tag in near_names(port.tag, filter(None, free), 1)}
    left = [place for place in missing if place not in near.values()]
    return near | dict(zip([port for port in unknown if port not in near], left, strict=False))


def _is_of_instances(factory: object) -> bool:
    """Return whether `get_contract` is a method of instances: the decorator was forgotten."""
    kinds = factory.__mro__ if isinstance(factory, type) else ()
    found = next((vars(kind)["get_contract"] for kind in kinds if "get_contract" in vars(kind)), None)
    return isinstance(found, FunctionType)


def _entry(tag: str, index: int, name: str) -> str:
    """Return how the file would connect a port."""
    if not tag:
        return name
    return f"{tag}:{index}:{name}" if index else f"{tag}:{name}"


def _open_contract(contract: CalculatorContract) -> CalculatorContract:
    """Let every port take anything."""
    for attribute in _KINDS:
        for spec in getattr(contract, attribute):
            spec.set_any()
    return contract
